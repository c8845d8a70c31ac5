//! Live pages of running streams, and an HTTP service that holds models and monitors.
#![deny(unsafe_code)]
#![allow(missing_docs)]

pub mod live;
pub mod service;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while holding it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
