//! Aligned coordinates, which are comparable from row to row.
//!
//! Setting: before each row, the columns of B are the r ≤ k directions most likely to be kept, defined only up to a
//! rotation. P is the basis of the previous row.
//! Update: `P ← B W`, where W has orthonormal rows and is nearest to `BᵀP`, so `B W` is the basis nearest to P.
//! Directions outside the span of the previous P take the first free coordinates. The rest are zero.
//! Cost: O(w k² + k³) with w columns of the span, if coordinates are requested.
//! References: Schönemann, *A generalized solution of the orthogonal Procrustes problem*, Psychometrika 1966.

use crate::error::Error;
use crate::linalg::checks::shape;
use crate::linalg::{Matrix, Polar, multiply, multiply_small};
use crate::scratch::{Scratch, refill};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Aligned {
    /// One column per coordinate, empty if none are requested. New columns of the span have no row yet.
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
