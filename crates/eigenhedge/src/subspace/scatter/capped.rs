//! Largest eigenpairs of a running scatter matrix: at most R directions with positive eigenvalues. All others are zero.
//!
//! Update: a rank-one update of the [`Frame`]. Then the smallest eigenvalues beyond R, and those at the rounding level
//! of the largest, are dropped. The stored matrix never exceeds the true one: `0 ≤ C' ≤ C`.
//!
//! Cost: that of the frame, O(w R²), where w is R plus the pending columns, and O(n R) memory in the span.

use super::super::frame::Frame;
use super::super::rule::{Directions, Observed};
use super::row_sum::ROUNDING;
use crate::error::Error;
use crate::linalg::{Eigen, Matrix, multiply};
use crate::simplex::Multiplicity;
use crate::state::{State, ensure};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct CappedScatter {
    /// Directions with their eigenvalues, in ascending order.
    pub(super) frame: Frame,
    max_rank: usize,
}

impl State for CappedScatter {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.max_rank == built.max_rank, "the rank cap must be that of the learner")?;
        self.frame.check_state(&built.frame)
    }
}

impl CappedScatter {
    pub fn new(max_rank: usize, dimension: Multiplicity) -> Self {
        Self { frame: Frame::new(dimension), max_rank }
    }

    /// Computes `C ← forget · C + Σ w z zᵀ`. Returns the sum of the dropped eigenvalues.
    pub fn add(&mut self, forget: f64, instance: &Observed) -> f64 {
        self.frame.values.iter_mut().for_each(|value| *value *= forget);
        if !self.frame.change_by_dyads(instance, instance.unit_square, 0.0) {
            return 0.0;
        }
        let values = &self.frame.values;
        let rounding = ROUNDING * values.last().copied().unwrap_or(0.0);
        // Values are ascending, so the dropped ones come first.
        let faded = values.iter().take_while(|value| **value <= rounding).count();
        let goes = faded.max(values.len().saturating_sub(self.max_rank));
        let dropped = values[..goes].iter().map(|value| value.max(0.0)).sum();
        self.frame.retain(|i, _| i >= goes);
        dropped
    }

    /// Returns the directions in coordinates of the columns, their values, and the largest number of them.
    pub fn pairs(&self) -> (&Matrix, &[f64], usize) {
        (&self.frame.rotation, &self.frame.values, self.max_rank)
    }

    /// Replaces the values, in ascending order. The directions are the columns of the span.
    pub fn replace_pairs(&mut self, values: Vec<f64>) {
        self.frame.replace(&Matrix::identity(values.len()), values.into_iter());
        self.frame.combined();
    }

    pub fn matrix(&self) -> Matrix {
        let (directions, mut product) =
            (&self.frame.rotation, Matrix::zeros(self.frame.columns(), self.frame.columns()));
        let mut scaled = directions.clone();
        scaled.for_each_column(|j, column| column.iter_mut().for_each(|x| *x *= self.frame.values[j]));
        if !self.frame.values.is_empty() {
            multiply(&mut product, scaled.view(), directions.view().transpose());
        }
        product
    }

    pub fn replace(&mut self, matrix: &Matrix) -> f64 {
        let mut eigen = Eigen::default();
        eigen.compute_graded(matrix);
        let Eigen { values, vectors, .. } = eigen;
        let rounding = ROUNDING * values.last().copied().unwrap_or(0.0);
        let faded = values.iter().take_while(|value| **value <= rounding).count();
        let goes = faded.max(values.len().saturating_sub(self.max_rank));
        let mut directions = Matrix::zeros(matrix.rows(), 0);
        (goes..values.len()).for_each(|j| directions.push_column(vectors.column(j)));
        self.frame.grow(matrix.columns());
        self.frame.replace(&directions, values[goes..].iter().copied());
        values[..goes].iter().map(|value| value.max(0.0)).sum()
    }

    pub fn reduce(&mut self, rotation: &Matrix) {
        self.frame.reduce(rotation, 0.0);
        self.frame.values.iter_mut().for_each(|value| *value = value.max(0.0));
    }
}
