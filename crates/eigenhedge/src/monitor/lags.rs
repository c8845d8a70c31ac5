//! Lagged rows: earlier rows appended to each row.

use crate::error::Error;
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Lags {
    width: usize,
    lags: usize,
    /// The most recent row, followed by the earlier rows, newest first.
    cells: Vec<f64>,
    rows: usize,
}

impl Lags {
    pub fn new(width: usize, lags: usize) -> Self {
        Self { width, lags, cells: vec![0.0; width * (lags + 1)], rows: 0 }
    }

    pub fn clear(&mut self) {
        self.rows = 0;
    }

    pub fn push(&mut self, row: &[f64]) {
        let kept = self.width * self.lags;
        self.cells.copy_within(..kept, self.width);
        self.cells[..self.width].copy_from_slice(row);
        self.rows = (self.rows + 1).min(self.lags + 1);
    }

    /// Returns the most recent row followed by its lags, or `None` until there are enough rows.
    pub fn row(&self) -> Option<&[f64]> {
        (self.rows > self.lags).then_some(&self.cells[..])
    }

    pub fn row_mut(&mut self) -> Option<&mut [f64]> {
        (self.rows > self.lags).then_some(&mut self.cells[..])
    }

    /// Returns the most recent row without lags, mutably.
    pub fn last_mut(&mut self) -> &mut [f64] {
        &mut self.cells[..self.width]
    }

    pub fn check_state(&self, width: usize, lags: usize) -> Result<(), Error> {
        let fits = self.width == width && self.lags == lags && self.cells.len() == width * (lags + 1);
        ensure(fits && self.rows <= lags + 1, "earlier rows must be as many as there are lags")?;
        entries("earlier rows", &self.cells, -LARGEST..=LARGEST)
    }
}
