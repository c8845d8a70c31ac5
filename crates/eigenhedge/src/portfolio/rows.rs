//! The rows of a block, shared by all threads that work on them.

use std::sync::Arc;

/// Rows of a block.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub rows: Arc<Vec<Vec<f64>>>,
    /// Position of the current row.
    pub at: usize,
}
