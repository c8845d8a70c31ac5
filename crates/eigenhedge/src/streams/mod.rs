//! Synthetic streams with known subspaces, and adversaries.
//!
//! - Stationary: [`iid`], [`signal_and_noise`].
//! - Changing: [`switching`] and [`three_subspaces`], [`recurring`], [`drifting`].
//! - Sensors with faults at known rows: [`faults`], [`plant`].
//! - Adversarial: [`leader_trap`], [`starvation`], [`charge_surest`].
//!
//! Rows have norm at most 1, except those of [`signal_and_noise`], [`faults`] and [`plant`], and those of
//! [`starvation`] with a size above 1. The same seed gives the same rows.
//!
//! ```
//! use eigenhedge::streams;
//!
//! let stream = streams::recurring(10, 2, &[0, 1, 0], 100, 7); // two planes; the first one returns
//! assert_eq!((stream.rows.len(), stream.cuts()), (300, vec![100, 200]));
//! ```

mod adversaries;
mod drift;

mod plant;

use crate::linalg::Matrix;
use crate::num::dot;
use crate::random::Random;
pub use adversaries::{charge_surest, leader_trap, starvation};
pub use drift::{drifting, iid, recurring, signal_and_noise, switching, three_subspaces};
pub use plant::{Plant, PlantFault, faults, plant};

/// Rows, and the subspaces from which they were drawn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stream {
    /// Generated rows.
    pub rows: Vec<Vec<f64>>,
    /// Bases of the subspaces, as orthonormal columns.
    pub subspaces: Vec<Matrix>,
    /// Index of the subspace of each row.
    pub truth: Vec<usize>,
}

impl Stream {
    /// Returns the subspace of a row.
    pub fn subspace(&self, row: usize) -> &Matrix {
        &self.subspaces[self.truth[row]]
    }

    /// Returns the indices of the rows at which the subspace changes.
    pub fn cuts(&self) -> Vec<usize> {
        (1..self.truth.len()).filter(|t| self.truth[*t] != self.truth[t - 1]).collect()
    }

    /// Returns the total loss of a comparator that knows the true subspace of every row.
    pub fn loss_of_the_truth(&self) -> f64 {
        let mut coordinates = Vec::new();
        let losses = self.rows.iter().enumerate().map(|(t, row)| {
            self.subspace(t).transpose_times(row, &mut coordinates);
            (dot(row, row) - dot(&coordinates, &coordinates)).max(0.0)
        });
        losses.sum()
    }
}

/// Scales a row longer than 1 to norm 1.
fn cut(row: &mut [f64]) {
    let norm = dot(row, row).sqrt();
    if norm > 1.0 {
        row.iter_mut().for_each(|x| *x /= norm);
    }
}

fn add(row: &mut [f64], amount: f64, direction: &[f64]) {
    row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
}

/// Draws directions as columns, with independent normal entries and a mean squared norm of 1.
fn directions(length: usize, count: usize, random: &mut Random) -> Matrix {
    let mut directions = Matrix::zeros(length, count);
    for j in 0..count {
        directions.column_mut(j).iter_mut().for_each(|x| *x = random.normal() / (length as f64).sqrt());
    }
    directions
}
