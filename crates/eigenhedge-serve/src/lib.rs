//! Pages of streams while they run, and a service that holds models and monitors.

pub mod live;
pub mod service;
