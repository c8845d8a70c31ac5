//! Sparse vectors, and columns that are combinations of dense and sparse vectors.

mod combinations;
mod rows;

pub(crate) use combinations::{Combinations, add_multiple};
use rows::SparseRows;
pub(crate) use rows::{Cells, filled_cells};

/// Number of consecutive sparse rows, including the current one, from which on rows are treated as sparse.
pub(crate) const STREAK: usize = 4;
pub(crate) const CANCELLED: f64 = 1e-2;
