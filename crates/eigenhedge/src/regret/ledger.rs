//! Running totals of a run.

use crate::learner::Loss;
use serde::{Deserialize, Serialize};

/// What has been lost so far, in squared input units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Rows charged.
    pub rows: u64,
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
    /// Enters one trial.
    pub fn enter(&mut self, loss: Loss, rank: usize) {
        self.rows += 1;
        self.expected += loss.expected;
        self.realised += loss.realised;
        self.rank_sum += rank as u64;
        self.rank_max = self.rank_max.max(rank);
    }

    /// Mean number of directions in use.
    pub fn rank_mean(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.rank_sum as f64 / self.rows as f64 }
    }
}
