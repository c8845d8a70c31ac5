//! Running totals of a run.

use crate::error::Error;
use crate::learner::Loss;
use crate::state::{count, energy, ensure};
use serde::{Deserialize, Serialize};

/// What has been lost so far, in squared input units. A first row that fixes the center is counted and told by itself; it
/// is part of no total.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Rows seen.
    pub rows: u64,
    /// Expected loss of the first row, when all it did was to fix the center.
    pub first_row: Option<f64>,
    /// Total expected loss.
    pub expected: f64,
    /// Total loss of the choices made.
    pub realised: f64,
    /// Sum and largest of the directions in use at each row.
    rank_sum: u64,
    /// Largest number of directions in use.
    pub rank_max: usize,
}

impl Ledger {
    /// Checks what was read from bytes.
    pub(crate) fn check_state(&self) -> Result<(), Error> {
        count("the number of rows", self.rows)?;
        ensure(self.first_row.is_none() || self.rows > 0, "the first row must be counted")?;
        energy("the loss of the first row", self.first_row.unwrap_or(0.0))?;
        energy("the expected loss", self.expected)?;
        energy("the loss", self.realised)?;
        let most = (self.rank_max as u64).saturating_mul(self.rows);
        ensure(self.rank_sum <= most, "the directions in use must be at most the largest number of them")?;
        count("the number of directions in use", self.rank_sum)
    }

    /// Enters one trial.
    pub fn enter(&mut self, loss: Loss, rank: usize) {
        self.rows += 1;
        self.expected += loss.expected;
        self.realised += loss.realised;
        self.rank_sum += rank as u64;
        self.rank_max = self.rank_max.max(rank);
    }

    /// Enters a first row that fixes the center.
    pub fn enter_first(&mut self, loss: Loss) {
        self.rows += 1;
        self.first_row = Some(loss.expected);
    }

    /// Rows whose losses are part of the totals.
    pub fn charged(&self) -> u64 {
        self.rows - u64::from(self.first_row.is_some())
    }

    /// Mean number of directions in use.
    pub fn rank_mean(&self) -> f64 {
        if self.charged() == 0 { 0.0 } else { self.rank_sum as f64 / self.charged() as f64 }
    }
}
