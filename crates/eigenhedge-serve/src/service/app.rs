//! State that all requests share.

use super::core::Core;
use super::metrics::Metrics;
use crate::live::{Guard, Shutdown};
use std::sync::Arc;

#[derive(Clone)]
pub struct App {
    pub core: Arc<Core>,
    pub metrics: Arc<Metrics>,
    pub guard: Guard,
    pub shutdown: Shutdown,
}
