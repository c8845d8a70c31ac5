//! The curves of a stream's page, in bounded memory.

use eigenhedge_report::{Downsampler, Keep};
use serde::{Deserialize, Serialize};

/// Maximum number of points per curve.
const POINTS: usize = 400;

/// Curves over the rows of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Model: loss per row. Monitor: score and limit.
    pub rows: Downsampler,
    /// Model: mean loss so far, and the share of energy kept.
    pub totals: Downsampler,
    /// Sums that `totals` is computed from.
    loss: f64,
    kept: f64,
    count: u64,
}

impl Default for Record {
    fn default() -> Self {
        let (rows, totals) = (Downsampler::new(Keep::Largest, POINTS, 2), Downsampler::new(Keep::First, POINTS, 2));
        Self { rows, totals, loss: 0.0, kept: 0.0, count: 0 }
    }
}

impl Record {
    /// Records a model's row: its expected loss and the squared length of its coordinates.
    pub fn enter_loss(&mut self, row: u64, loss: f64, coordinates: &[f64]) {
        self.loss += loss;
        self.kept += coordinates.iter().map(|z| z * z).sum::<f64>();
        self.count += 1;
        self.rows.push(row, &[loss, f64::NAN]);
        let share = self.kept / (self.kept + self.loss);
        self.totals.push(row, &[self.loss / self.count as f64, share]);
    }

    /// Records a monitor's row.
    pub fn enter_score(&mut self, row: u64, score: f64, limit: f64) {
        if score.is_finite() {
            self.rows.push(row, &[score, limit]);
        }
    }
}
