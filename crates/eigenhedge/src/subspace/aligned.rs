//! Aligned coordinates, which are comparable from row to row.
//!
//! Setting: before each row, the columns of B are the r ≤ k directions most likely to be kept, defined only up to a
//! rotation. P is the basis of the previous row.
//! Update: `P ← B W`, where W has orthonormal rows and is nearest to `BᵀP`, so `B W` is the basis nearest to P.
//! Directions outside the span of the previous P take the first free coordinates. Coordinates without a direction are
//! zero.
//! Cost: O(w k² + k³) with w columns of the span, if coordinates are requested.
//! References: Schönemann, *A generalized solution of the orthogonal Procrustes problem*, Psychometrika 1966.

use super::{Rule, Subspace};
use crate::error::Error;
use crate::linalg::checks::shape;
use crate::linalg::{Matrix, Polar, multiply, multiply_small};
use crate::scratch::{Scratch, refill};
use crate::span::Span;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Aligned {
    /// One column per coordinate, empty if none are requested. Rows for columns gained since the last alignment are
    /// missing.
    pub basis: Matrix,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    overlaps: Matrix,
    rotation: Matrix,
    polar: Polar,
    product: Matrix,
    transposed: Matrix,
    part: Vec<f64>,
    coordinates: Vec<f64>,
}

impl Aligned {
    pub fn check_state(&self, kept: usize, columns: usize) -> Result<(), Error> {
        if self.basis.columns() == 0 {
            return Ok(());
        }
        shape("the basis of the coordinates", &self.basis, self.basis.rows().min(columns), kept)
    }

    pub fn align(&mut self, directions: &Matrix, kept: usize) {
        let Working { overlaps, rotation, polar, product, transposed, .. } = &mut self.scratch.0;
        self.basis.resize(directions.rows(), kept);
        if directions.columns() == 0 {
            self.basis.resize(0, kept);
            return;
        }
        transposed.transpose_of(directions);
        multiply_small(overlaps, transposed, &self.basis);
        polar.nearest_rows(overlaps, rotation);
        multiply_small(product, directions, rotation);
        std::mem::swap(product, &mut self.basis);
    }

    pub fn follow(&mut self, rotation: &Matrix) {
        if self.basis.columns() == 0 {
            return;
        }
        let product = &mut self.scratch.0.product;
        self.basis.resize(rotation.rows(), self.basis.columns());
        multiply(product, rotation.view().transpose(), self.basis.view());
        std::mem::swap(product, &mut self.basis);
    }

    pub fn observe(&mut self, columns: &[f64], unit: f64, offset: &[f64]) {
        let Working { coordinates, part, .. } = &mut self.scratch.0;
        let known = self.basis.rows();
        refill(part, columns[..known].iter().map(|c| c * unit));
        part.iter_mut().zip(offset).for_each(|(c, more)| *c += more);
        self.basis.transpose_times(part, coordinates);
    }

    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }
}

impl<S: Span, R: Rule> Subspace<S, R> {
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
