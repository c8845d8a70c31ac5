//! Earlier rows beside each row: the past of a process helps to say if its present is normal.

use crate::error::Error;
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

/// The last rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Lags {
    /// Numbers in a row, and earlier rows beside it.
    width: usize,
    lags: usize,
    /// The last row, the row before it, and so on.
    cells: Vec<f64>,
    /// Rows that are there.
    rows: usize,
}

impl Lags {
    /// No rows yet.
    pub fn new(width: usize, lags: usize) -> Self {
        Self { width, lags, cells: vec![0.0; width * (lags + 1)], rows: 0 }
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[f64]) {
        let kept = self.width * self.lags;
        self.cells.copy_within(..kept, self.width);
        self.cells[..self.width].copy_from_slice(row);
        self.rows = (self.rows + 1).min(self.lags + 1);
    }

    /// The last row with the rows before it; none until there are enough.
    pub fn row(&self) -> Option<&[f64]> {
        (self.rows > self.lags).then_some(&self.cells[..])
    }

    /// The same, to fill in cells of the last row.
    pub fn row_mut(&mut self) -> Option<&mut [f64]> {
        (self.rows > self.lags).then_some(&mut self.cells[..])
    }

    /// The last row alone.
    pub fn last_mut(&mut self) -> &mut [f64] {
        &mut self.cells[..self.width]
    }

    /// Checks what was read from bytes.
    pub fn check_state(&self, width: usize, lags: usize) -> Result<(), Error> {
        let fits = self.width == width && self.lags == lags && self.cells.len() == width * (lags + 1);
        ensure(fits && self.rows <= lags + 1, "earlier rows must be as many as there are lags")?;
        entries("earlier rows", &self.cells, -LARGEST..=LARGEST)
    }
}
