//! Trials of a model with symmetric matrices.

use super::Model;
use crate::error::Error;
use crate::learner::{Loss, trial_with};
use crate::linalg::Matrix;
use crate::state::length;
use crate::subspace::{Instance, Symmetric};

impl Model {
    /// Returns true if the model accepts matrices: plain rows, no center, no segments.
    pub(super) fn takes_matrices(&self) -> bool {
        self.spec.kernel.is_none() && self.spec.center.is_none() && self.segments == 0
    }

    /// Runs one trial with a symmetric positive semidefinite matrix S, such as a daily covariance matrix. The loss is
    /// `tr(S V)`, the part of S along the dropped directions, where the eigenvalues of V are the probabilities that
    /// directions are dropped. A row z corresponds to the matrix `z zᵀ`, and a norm bound Q allows eigenvalues up to
    /// Q². With k = n - 1 this is the variance minimizer.
    ///
    /// The matrix counts as `rows` rows: one, or the number of rows whose dyads were summed. The coordinates are zero.
    /// On an error nothing changes.
    ///
    /// Requires plain rows and no center. Partitions are not supported, because their cuts are between rows.
    ///
    /// ```
    /// use eigenhedge::{Kind, Matrix, Model, Spec};
    ///
    /// let mut model = Model::new(Spec::bare(Kind::Tracking, 1), 2, 0)?;
    /// let loss = model.step_matrix(&Matrix::identity(2), 1)?;
    /// assert!((loss.expected - 1.0).abs() < 1e-12);
    /// assert!((model.summary().best_loss.unwrap().low() - 1.0).abs() < 1e-12);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn step_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        self.check_plain()?;
        self.step_scaled_matrix(matrix, rows)
    }

    /// Runs one trial with a matrix in standard units. The caller must have scaled its rows.
    pub fn step_scaled_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        if !self.takes_matrices() {
            return Err(Error::Unsupported("a matrix needs a learner over plain rows without center and segments"));
        }
        length("a row of the symmetric matrix", matrix.columns(), self.length)?;
        let symmetric = Symmetric::new(matrix)?;
        let dyads = symmetric.dyads();
        self.learner.inside_mut().set_aligns(false);
        let loss = trial_with(&mut self.learner, &Instance::Dyads(&dyads), &mut self.random, |_| ())?;
        let trace: f64 = dyads.iter().map(|(weight, _)| weight).sum();
        let frobenius = dyads.iter().map(|(weight, _)| weight * weight).sum::<f64>().sqrt();
        let (kept, rank) = ((trace - loss.realised).max(0.0), self.learner.inside().last_row().rank);
        self.totals.enter_batch(loss, kept, rank, rows, frobenius);
        self.scratch.0.coordinates.clear();
        self.scratch.0.coordinates.resize(self.spec.kept, 0.0);
        for (weight, vector) in dyads.into_iter().filter(|(weight, _)| *weight > 0.0) {
            self.compare(vector, weight);
        }
        self.has_changed();
        Ok(loss)
    }
}
