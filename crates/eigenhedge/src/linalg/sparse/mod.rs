//! Sparse vectors, and columns that are combinations of dense and sparse vectors.

mod cells;
mod combinations;
mod rows;

pub(crate) use cells::{Cells, filled_cells};
pub(crate) use combinations::{Combinations, add_multiple};
use rows::SparseRows;
