//! State of a stream, shared with the thread that builds pages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Value of a stream that another thread may read between two blocks of rows. A stream that never waits for rows would
/// take the lock again before the reader could, so [`Self::lock`] lets a waiting reader go first.
#[derive(Debug, Default)]
pub struct Shared<T> {
    value: Mutex<T>,
    is_wanted: AtomicBool,
    turn: Condvar,
    version: AtomicU64,
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        let (is_wanted, version) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { value: Mutex::new(value), is_wanted, turn: Condvar::new(), version }
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        let value = self.hold();
        match self.is_wanted.load(Ordering::SeqCst) {
            false => value,
            true => {
                let waited = self.turn.wait_while(value, |_| self.is_wanted.load(Ordering::SeqCst));
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    pub fn hold(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn touch(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let _wish = Wish::of(self);
        let value = self.hold();
        let seen = look(&value);
        drop(value);
        seen
    }

    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }
}

/// A reader is waiting. The mark is removed on drop, even after a panic.
struct Wish<'a, T>(&'a Shared<T>);

impl<'a, T> Wish<'a, T> {
    fn of(shared: &'a Shared<T>) -> Self {
        shared.is_wanted.store(true, Ordering::SeqCst);
        Self(shared)
    }
}

impl<T> Drop for Wish<'_, T> {
    fn drop(&mut self) {
        self.0.is_wanted.store(false, Ordering::SeqCst);
        // With the lock taken, the stream has not checked the mark yet or waits to be notified.
        drop(self.0.hold());
        self.0.turn.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    #[test]
    fn a_stream_that_never_waits_gives_turns() {
        let shared = Arc::new(Shared::new(0_u64));
        let (other, is_over) = (Arc::clone(&shared), Arc::new(AtomicBool::new(false)));
        let ending = Arc::clone(&is_over);
        let stream = std::thread::spawn(move || {
            while !ending.load(Ordering::Relaxed) {
                *other.lock() += 1;
                other.touch();
            }
        });
        let began = Instant::now();
        let mut seen = Vec::new();
        while seen.len() < 1000 {
            seen.push(shared.look(|value| *value));
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(seen.is_sorted(), "{seen:?}");
        is_over.store(true, Ordering::Relaxed);
        stream.join().unwrap();
        assert_eq!(shared.version(), *shared.hold());
    }

    #[test]
    fn a_look_that_panics_does_not_stop_the_stream() {
        let shared = Arc::new(Shared::new(1));
        let other = Arc::clone(&shared);
        assert!(std::thread::spawn(move || other.look(|_| panic!("no page"))).join().is_err());
        *shared.lock() += 1;
        assert_eq!(*shared.lock(), 2);
    }
}
