//! Sums of losses and counts over the rows of a model.

use crate::error::Error;
use crate::learner::Loss;
use crate::num::dot;
use crate::state::{count, energy, ensure};
use serde::{Deserialize, Serialize};

/// Sums over the rows so far, in squared units of the learned rows (see [`Summary`](super::Summary)).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Totals {
    /// Number of learned rows.
    pub rows: u64,
    /// Number of rows whose losses are not included: first rows that only set the center, and rows not predicted.
    pub uncharged: u64,
    /// Number of merges.
    pub merges: u64,
    /// Number of batches of several rows that were learned around a fixed center.
    pub frozen: u64,
    /// Total expected loss of the first rows that only set the center.
    pub first_row_loss: Option<f64>,
    /// Total expected loss.
    pub expected_loss: f64,
    /// Total loss of the drawn choices.
    pub loss: f64,
    /// Total squared length of the kept coordinates.
    pub kept_energy: f64,
    /// Number of rows skipped because of missing cells, which `rows` does not include.
    pub passed_over: u64,
    /// Number of rows learned with missing cells filled in.
    pub filled_rows: u64,
    /// Number of cells filled in.
    pub missing_cells: u64,
    /// Square root of the sum of the fourth powers of the norms of rows, after centering.
    pub squares_norm: f64,
    rank_sum: u64,
    /// Largest number of explicit directions with a positive probability of being kept.
    pub rank_max: usize,
}

impl Totals {
    pub(super) fn check_state(&self) -> Result<(), Error> {
        count("the number of rows", self.rows)?;
        ensure(self.uncharged <= self.rows, "the rows that are not charged must be counted")?;
        ensure(self.first_row_loss.is_none() || self.uncharged > 0, "the first row must be counted, and not charged")?;
        count("the number of merges", self.merges)?;
        ensure(self.frozen <= self.rows, "the batches must be batches of rows")?;
        energy("the loss of the first row", self.first_row_loss.unwrap_or(0.0))?;
        energy("the expected loss", self.expected_loss)?;
        energy("the loss", self.loss)?;
        energy("the energy that was kept", self.kept_energy)?;
        energy("the root of the sum of the squared energies", self.squares_norm)?;
        count("the number of rows passed over", self.passed_over)?;
        count("the number of missing cells", self.missing_cells)?;
        let filled = self.filled_rows <= self.rows.min(self.missing_cells);
        ensure(filled, "the rows that were filled in must be rows with missing cells")?;
        let most = (self.rank_max as u64).saturating_mul(self.rows);
        ensure(self.rank_sum <= most, "the directions in use must be at most the largest number of them")?;
        count("the number of directions in use", self.rank_sum)
    }

    pub(super) fn enter(&mut self, loss: Loss, coordinates: &[f64], rank: usize, square: f64) {
        self.enter_batch(loss, dot(coordinates, coordinates), rank, 1, square);
    }

    /// `norm` is an upper bound on the Frobenius norm of the instance.
    pub(super) fn enter_batch(&mut self, loss: Loss, kept_energy: f64, rank: usize, rows: u64, norm: f64) {
        self.rows += rows;
        self.expected_loss += loss.expected;
        self.loss += loss.realised;
        self.kept_energy += kept_energy;
        self.squares_norm = self.squares_norm.hypot(norm);
        self.rank_sum += rank as u64 * rows;
        self.rank_max = self.rank_max.max(rank);
    }

    pub(super) fn enter_first(&mut self, loss: Loss) {
        self.rows += 1;
        self.uncharged += 1;
        self.first_row_loss = Some(loss.expected);
    }

    pub(super) fn enter_unpredicted(&mut self, rows: u64, passed_over: u64) {
        self.rows += rows;
        self.uncharged += rows;
        self.passed_over += passed_over;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.merges += other.merges + u64::from(self.rows > 0 && other.rows > 0);
        self.rows += other.rows;
        self.frozen += other.frozen;
        self.uncharged += other.uncharged;
        self.first_row_loss = match (self.first_row_loss, other.first_row_loss) {
            (Some(own), Some(more)) => Some(own + more),
            (own, more) => own.or(more),
        };
        self.expected_loss += other.expected_loss;
        self.loss += other.loss;
        self.kept_energy += other.kept_energy;
        self.passed_over += other.passed_over;
        self.filled_rows += other.filled_rows;
        self.missing_cells += other.missing_cells;
        self.squares_norm = self.squares_norm.hypot(other.squares_norm);
        self.rank_sum += other.rank_sum;
        self.rank_max = self.rank_max.max(other.rank_max);
    }

    /// Returns the number of rows whose losses are included.
    pub fn charged(&self) -> u64 {
        self.rows - self.uncharged
    }

    /// Returns the mean number of explicit directions with a positive probability of being kept.
    pub fn rank_mean(&self) -> f64 {
        if self.charged() == 0 { 0.0 } else { self.rank_sum as f64 / self.charged() as f64 }
    }
}
