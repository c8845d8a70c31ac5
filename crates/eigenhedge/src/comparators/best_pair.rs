//! The best fixed directions in hindsight for pairs of rows.
//!
//! Setting: all pairs x, y, seen once. Result: the largest total `tr(P D)` over k-dimensional projections P, with D the
//! dilation of `x yᵀ`: the sum of the k largest eigenvalues of the dilation of `Σ x yᵀ`, which are its singular values,
//! `|n - m|` zeros, and the negative singular values.
//!
//! Cost: n m for each pair, n m memory; one singular value decomposition when asked.

use crate::linalg::Matrix;
use serde::{Deserialize, Serialize};

/// Collects the sum of all `x yᵀ`.
///
/// ```
/// use eigenhedge::comparators::BestPair;
/// let mut best = BestPair::new(2, 3).unwrap();
/// best.add(&[3.0, 0.0], &[0.0, 1.0, 0.0]);
/// best.add(&[0.0, 2.0], &[1.0, 0.0, 0.0]);
/// let gains = [1, 2, 3, 4].map(|kept| best.gain(kept).round());
/// assert_eq!(gains, [3.0, 5.0, 5.0, 3.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestPair {
    sum: Matrix,
}

impl BestPair {
    /// Most entries that are followed: 128 MiB.
    pub const MOST: usize = 4096 * 4096;

    /// No pairs yet. None when the rows are too long.
    pub fn new(left: usize, right: usize) -> Option<Self> {
        let entries = left.checked_mul(right)?;
        (entries <= Self::MOST).then(|| Self { sum: Matrix::zeros(left, right) })
    }

    /// Adds a pair.
    pub fn add(&mut self, x: &[f64], y: &[f64]) {
        assert_eq!((x.len(), y.len()), (self.sum.rows(), self.sum.columns()), "rows of the lengths given");
        for (j, y) in y.iter().enumerate() {
            self.sum.column_mut(j).iter_mut().zip(x).for_each(|(s, x)| *s += x * y);
        }
    }

    /// Total gain of the best k-dimensional subspace.
    pub fn gain(&self, kept: usize) -> f64 {
        let (left, right) = (self.sum.rows(), self.sum.columns());
        let Ok(singular) = self.sum.view().singular_values() else {
            unreachable!("the singular values of a finite matrix converge");
        };
        let first: f64 = singular.iter().take(kept).sum();
        // Past the singular values come the zeros, and then what costs least: the smallest singular values.
        let negative = kept.saturating_sub(singular.len() + left.abs_diff(right));
        first - singular.iter().rev().take(negative).sum::<f64>()
    }
}
