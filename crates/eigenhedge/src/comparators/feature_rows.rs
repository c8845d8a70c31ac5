//! The best fixed subspace of a feature space in hindsight.
//!
//! Setting: all rows x, read once, and a kernel. Result: the least total `|φ(x) - m - P(φ(x) - m)|²` over k-dimensional
//! projections P (and centers m), the sum of all but the k largest eigenvalues of the (centered) kernel matrix.
//! Cost: memory for the rows, up to [`FeatureRows::MOST`] numbers and [`FeatureRows::MOST_ROWS`] rows. Beyond that the
//! result is unknown. Up to [`FeatureRows::EXACT`] rows, an evaluation takes one eigendecomposition. For more, a
//! pivoted Cholesky factor L of low rank gives bounds: `K - L Lᵀ` is positive semidefinite with a known trace δ, so the
//! sum of the k largest eigenvalues of K is at least that of `L Lᵀ`, and at most δ larger, also with centering.

use super::best::Best;
use super::best_loss;
use crate::batch::{PivotedCholesky, center_gram, gram};
use crate::error::Error;
use crate::kernel::{VectorKernel, Vectors};
use crate::linalg::{multiplied, symmetric_eigenvalues};
use crate::state::{self, energy, ensure, entries};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureRows {
    kernel: VectorKernel,
    centered: bool,
    length: usize,
    rows: Vec<Vec<f64>>,
    full: bool,
    numbers: usize,
    base: Option<Vec<f64>>,
}

impl FeatureRows {
    pub(super) fn check_state(&self, kernel: &VectorKernel, length: usize, centered: bool) -> Result<(), Error> {
        let parameters = (&self.kernel, self.centered) == (kernel, centered);
        ensure(parameters, "the comparator must have the kernel and the centering of the learner")?;
        state::length("a row to compare with", self.length, length)?;
        self.rows.iter().chain(&self.base).try_for_each(|row| {
            if !kernel.takes_items() {
                state::length("a row to compare with", row.len(), length)?;
            }
            entries("entries of a row to compare with", row, f64::MIN..=f64::MAX)?;
            energy("the kernel of a row with itself", kernel.value(row, row))
        })
    }

    pub const EXACT: usize = 1500;
    pub const MOST: usize = 1 << 24;
    pub const MOST_ROWS: usize = 1 << 14;

    pub fn new(kernel: VectorKernel, length: usize, centered: bool) -> Self {
        Self { kernel, centered, length, rows: Vec::new(), full: false, numbers: 0, base: None }
    }

    pub fn begin_at(&mut self, row: &[f64]) {
        self.base = self.centered.then(|| row.to_vec());
    }

    /// Returns the mean squared distance of the features of the rows from those of the base row, an upper bound on that
    /// of their mean. Returns `None` without a base row, or if there were too many rows to store.
    pub(crate) fn squared_way(&self) -> Option<f64> {
        let base = self.base.as_ref().filter(|_| !self.full)?;
        let (count, own) = (self.rows.len(), self.kernel.value(base, base));
        let distance = |row: &Vec<f64>| {
            (own - 2.0 * self.kernel.value(base, row) + self.kernel.value(row, row)).max(0.0) / count as f64
        };
        Some(self.rows.iter().map(distance).sum())
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.iter().chain(&self.base).map(Vec::as_slice)
    }

    pub fn add(&mut self, row: &[f64]) {
        self.numbers = self.numbers.saturating_add(row.len());
        let most_rows = if self.kernel.takes_items() { Self::EXACT } else { Self::MOST_ROWS };
        self.full |= self.numbers > Self::MOST || self.rows.len() >= most_rows;
        if self.full {
            self.rows = Vec::new();
        } else {
            self.rows.push(row.to_vec());
        }
    }

    pub fn best(&self, kept: usize) -> Option<Best> {
        if self.full {
            return None;
        }
        if self.rows.is_empty() {
            return Some(Best::Exact(0.0));
        }
        let points: Vec<&[f64]> = self.rows.iter().map(Vec::as_slice).collect();
        let mut dictionary = Vectors::new(self.kernel.clone(), self.length).ok()?;
        if points.len() <= Self::EXACT {
            let mut gram = gram(&mut dictionary, &points).ok()?;
            if self.centered {
                center_gram(&mut gram);
            }
            if (0..gram.columns()).any(|j| gram.column(j).iter().any(|value| !value.is_finite())) {
                return None;
            }
            return Some(Best::Exact(best_loss(&gram, kept)));
        }
        self.bracket(&mut dictionary, &points, kept, 16 * kept + 256)
    }

    fn bracket(&self, dictionary: &mut Vectors, points: &[&[f64]], kept: usize, rank: usize) -> Option<Best> {
        let cholesky = PivotedCholesky::new(dictionary, points, 1e-6, rank).ok()?;
        if !cholesky.trace.is_finite() {
            return None;
        }
        let mut factor = cholesky.factor.clone();
        let count = points.len() as f64;
        let mut energy = cholesky.trace;
        if self.centered {
            // The squared norm of the mean needs the whole kernel matrix. The factor bounds it up to the trace error.
            for j in 0..factor.columns() {
                let mean = factor.column(j).iter().sum::<f64>() / count;
                factor.column_mut(j).iter_mut().for_each(|x| *x -= mean);
                energy -= count * mean * mean;
            }
        }
        let small = multiplied(factor.view().transpose(), factor.view());
        let values = symmetric_eigenvalues(small.view());
        let top: f64 = values.iter().rev().take(kept).map(|v| v.max(0.0)).sum();
        let error = cholesky.trace_error().max(0.0);
        // The true centered energy can be smaller by at most one more trace error.
        let low = energy - top - if self.centered { 2.0 * error } else { error };
        Some(Best::between(low.max(0.0), (energy - top).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, streams};

    fn rows(count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::seeded(seed);
        (0..count).map(|_| (0..3).map(|_| random.normal()).collect()).collect()
    }

    #[test]
    fn the_linear_kernel_gives_the_best_subspace_of_the_rows() {
        for centered in [false, true] {
            let mut features = FeatureRows::new(VectorKernel::Linear, 20, centered);
            let mut plain = crate::comparators::BestSubspace::new(20, centered).unwrap();
            for row in streams::three_subspaces(1).iter().step_by(5) {
                features.add(row);
                plain.add(row);
            }
            let (a, b) = (features.best(2).unwrap().exact().unwrap(), plain.loss(2));
            assert!((a - b).abs() < 1e-9 * b, "{a} {b}");
        }
    }

    #[test]
    fn memory_does_not_grow_beyond_the_rows_that_are_remembered() {
        let mut features = FeatureRows::new(VectorKernel::Rbf { gamma: 0.3 }, 2, false);
        (0..=FeatureRows::MOST_ROWS).for_each(|_| features.add(&[1.0, 2.0]));
        assert!(features.rows.is_empty() && features.best(1).is_none());
    }

    #[test]
    fn a_bracket_encloses_the_exact_loss() {
        let kernel = VectorKernel::Rbf { gamma: 0.3 };
        for centered in [false, true] {
            let mut features = FeatureRows::new(kernel.clone(), 3, centered);
            let rows = rows(400, 7);
            rows.iter().for_each(|row| features.add(row));
            let exact = features.best(4).unwrap().exact().unwrap();
            let points: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
            for rank in [5, 20, 80] {
                let mut dictionary = Vectors::new(kernel.clone(), 3).unwrap();
                let bracket = features.bracket(&mut dictionary, &points, 4, rank).unwrap();
                let slack = 1e-9 * exact;
                assert!(rank < 80 || bracket.high() < 1.1 * exact, "{rank}: {bracket:?} {exact}");
                assert!(bracket.low() <= exact + slack && exact <= bracket.high() + slack, "{bracket:?} {exact}");
            }
        }
    }
}
