//! Live pages of running streams, and an HTTP service that holds models and monitors.

pub mod live;
pub mod service;
