//! Live pages of running streams, and an HTTP service that holds models and monitors.
#![deny(unsafe_code)]

pub mod live;
pub mod service;
