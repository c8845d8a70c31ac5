//! What requests need.

use super::core::Core;
use super::metrics::Metrics;
use crate::live::{Guard, Shutdown};
use std::sync::Arc;

/// What requests need.
#[derive(Clone)]
pub struct App {
    pub core: Arc<Core>,
    pub metrics: Arc<Metrics>,
    pub guard: Guard,
    pub shutdown: Shutdown,
}
