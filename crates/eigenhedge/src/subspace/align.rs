//! Coordinates of a learner's rows that are comparable from row to row.

use super::{Rule, Subspace};
use crate::linalg::Matrix;
use crate::span::Span;

impl<S: Span, R: Rule> Subspace<S, R> {
    /// Replaces the basis of [`Self::aligned_coordinates`] by a basis of the k directions now most likely to be kept:
    /// the one nearest to the old basis.
    pub(crate) fn align(&mut self) {
        self.gather_directions(self.kept);
        self.aligned.align(&self.scratch.0.directions, self.kept);
    }

    pub(crate) fn has_basis(&self) -> bool {
        self.aligned.basis.columns() > 0
    }

    pub(crate) fn take_basis(&mut self, other: &mut Self) {
        let (theirs, kept) = (&mut other.aligned.basis, other.kept);
        theirs.resize(other.span.columns(), kept);
        self.span.transfer(&mut other.span, theirs, &mut self.aligned.basis);
        theirs.resize(0, 0);
    }

    /// Returns the aligned basis of another learner, in coordinates of the columns of this learner's span.
    pub(crate) fn basis_of(&mut self, other: &mut Self) -> Matrix {
        let (mut theirs, mut basis) = (other.aligned.basis.clone(), Matrix::default());
        theirs.resize(other.span.columns(), other.kept);
        self.span.transfer(&mut other.span, &theirs, &mut basis);
        basis
    }

    /// Returns the basis for the aligned coordinates of the next row, in coordinates of the columns of the span. Also
    /// returns the probabilities of the k directions from which it is rotated, in descending order. If `last` is given,
    /// it replaces the learner's own basis of the most recent row.
    pub(crate) fn next_basis(&mut self, last: Option<Matrix>) -> (Matrix, Vec<f64>) {
        self.gather_directions(self.kept);
        let mut aligned = self.aligned.clone();
        last.into_iter().for_each(|last| aligned.basis = last);
        aligned.align(&self.scratch.0.directions, self.kept);
        aligned.basis.resize(self.span.columns(), self.kept);
        (aligned.basis, self.scratch.0.importance.clone())
    }

    /// Computes the displacement from the center of another learner to that of this learner, in
    /// coordinates of the columns.
    pub(crate) fn way_from_center_of(&mut self, other: &Self, way: &mut Vec<f64>) {
        self.span.way_from_origin_of(&other.span, way);
    }

    /// Computes the aligned coordinates of the current row plus `offset`, which is in coordinates of the columns.
    pub(crate) fn observe_aligned(&mut self, offset: &[f64]) {
        let working = &self.scratch.0;
        self.aligned.observe(&working.columns, working.observed.unit_square.sqrt(), offset);
    }

    /// Returns the coordinates of the most recent row in the k directions that were most likely to be kept before that
    /// row. The basis is rotated to be nearest to that of the previous row.
    pub(crate) fn aligned_coordinates(&self) -> &[f64] {
        self.aligned.coordinates()
    }
}
