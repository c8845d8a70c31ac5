//! The rows of a block, owned by all threads that work on them.

use std::sync::Arc;

/// Rows at hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub rows: Arc<Vec<Vec<f64>>>,
    /// Position of the present row.
    pub at: usize,
}
