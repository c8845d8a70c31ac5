//! Coordinates that mean the same from row to row.
//!
//! Setting: before a row, the r ≤ k directions B that are most surely kept. A basis of what they span is defined up to a
//! rotation.
//!
//! Update: `P ← B W`, where W has orthonormal rows and is nearest to `BᵀP`: of all bases the one closest to the basis P of the
//! row before. What P says nothing about takes the first coordinates that are free; what has no direction yet is zero.
//!
//! Cost: O(w k² + k³) with w columns of the span. Nothing when no coordinates are asked for.
//!
//! References: Schönemann, *A generalized solution of the orthogonal Procrustes problem*, Psychometrika 1966.

use crate::error::Error;
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Matrix, Polar, multiply};
use crate::scratch::Scratch;
use serde::{Deserialize, Serialize};

/// The basis that coordinates were given in last, in the coordinates of the span's columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Aligned {
    /// One column for each coordinate; none when no coordinates were asked for. Columns of the span that came later have no
    /// part in it.
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
    part: Vec<f64>,
    /// Coordinates of the last row.
    coordinates: Vec<f64>,
}

impl Aligned {
    /// Checks what was read from bytes, for a span of so many columns.
    pub fn check_state(&self, kept: usize, columns: usize) -> Result<(), Error> {
        if self.basis.columns() == 0 {
            return Ok(());
        }
        let what = "the basis of the coordinates";
        shape(what, &self.basis, self.basis.rows().min(columns), kept)?;
        matrix_entries(what, &self.basis, -1.0001..=1.0001)
    }

    /// Turns the directions, one column for each, to the last basis; they make the new one.
    pub fn align(&mut self, directions: &Matrix, kept: usize) {
        let Working { overlaps, rotation, polar, product, .. } = &mut self.scratch.0;
        self.basis.resize(directions.rows(), kept);
        if directions.columns() == 0 {
            self.basis.resize(0, kept);
            return;
        }
        multiply(overlaps, self.basis.view().transpose(), directions.view());
        polar.nearest(overlaps, rotation);
        multiply(product, directions.view(), rotation.view().transpose());
        std::mem::swap(product, &mut self.basis);
    }

    /// The columns were combined, or some were lost: what had coordinates c has coordinates `rotationᵀ c` now.
    pub fn follow(&mut self, rotation: &Matrix) {
        if self.basis.columns() == 0 {
            return;
        }
        let product = &mut self.scratch.0.product;
        self.basis.resize(rotation.rows(), self.basis.columns());
        multiply(product, rotation.view().transpose(), self.basis.view());
        std::mem::swap(product, &mut self.basis);
    }

    /// Finds the coordinates of a point, given those in the columns of the span with a factor, and of an offset.
    pub fn observe(&mut self, columns: &[f64], unit: f64, offset: &[f64]) {
        let Working { coordinates, part, .. } = &mut self.scratch.0;
        let known = self.basis.rows();
        part.clear();
        part.extend(columns[..known].iter().map(|c| c * unit));
        part.iter_mut().zip(offset).for_each(|(c, more)| *c += more);
        self.basis.transpose_times(part, coordinates);
    }

    /// Coordinates of the point observed last.
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }
}
