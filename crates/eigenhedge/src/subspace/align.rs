//! Coordinates of a learner's rows that are comparable from row to row ([`super::aligned`]).

use super::Subspace;
use crate::linalg::Matrix;
use crate::span::Span;

impl<S: Span> Subspace<S> {
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

    pub(crate) fn basis_of(&mut self, other: &mut Self) -> Matrix {
        let (mut theirs, mut basis) = (other.aligned.basis.clone(), Matrix::default());
        theirs.resize(other.span.columns(), other.kept);
        self.span.transfer(&mut other.span, &theirs, &mut basis);
        basis
    }

    /// Returns the basis for the next aligned coordinates, in coordinates of the columns, and the probabilities of the
    /// k directions from which it is rotated. `last` replaces the learner's own basis of the most recent row.
    pub(crate) fn next_basis(&mut self, last: Option<Matrix>) -> (Matrix, Vec<f64>) {
        self.gather_directions(self.kept);
        let mut aligned = self.aligned.clone();
        last.into_iter().for_each(|last| aligned.basis = last);
        aligned.align(&self.scratch.0.directions, self.kept);
        aligned.basis.resize(self.span.columns(), self.kept);
        (aligned.basis, self.scratch.0.importance.clone())
    }

    pub(crate) fn way_from_center_of(&mut self, other: &Self, way: &mut Vec<f64>) {
        self.span.way_from_origin_of(&other.span, way);
    }

    pub(crate) fn observe_aligned(&mut self, offset: &[f64]) {
        let working = &self.scratch.0;
        self.aligned.observe(&working.columns, working.observed.unit_square.sqrt(), offset);
    }

    pub(crate) fn aligned_coordinates(&self) -> &[f64] {
        self.aligned.coordinates()
    }
}
