//! Accuracy of columns that are combinations of atoms.
//! Setting: the rounding error of a kernel value `k(x, y)` is the machine epsilon times `√(k(x, x) k(y, y))`. The
//! *size* of a combination of atoms x_i with coefficients a is `Σ a_i² k(x_i, x_i)`, and its *image* is `K a` with the
//! Gram matrix K of the atoms. The error of a recomputed image is the machine epsilon times the square root of the
//! size, and that of the squared norm of the combination is the machine epsilon times the size.
//! State: the size of every column, and the inner products of the errors of the images, relative to the atoms.
//! Update: errors are linear. A column made of the residual `(z - B c)/ρ` of a point z inherits `-c/ρ` times the errors
//! of the columns B, which may cancel. Rounding errors are assumed to be independent.
//! Cost: O(w²) to add a column to w others, and O(w³) to combine columns.

use crate::error::Error;
use crate::linalg::checks::shape;
use crate::linalg::{Matrix, multiply};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, list};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Accuracy {
    sizes: Vec<f64>,
    errors: Matrix,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    along: Vec<f64>,
    rounded: Vec<f64>,
    product: Matrix,
}

pub(super) const ROUNDING: f64 = f64::EPSILON * f64::EPSILON;

/// Returns the size of a combination of atoms. `squares` contains the kernel of each atom with itself.
pub(super) fn size(coefficients: &[f64], squares: &[f64]) -> f64 {
    coefficients.iter().zip(squares).map(|(a, square)| a * a * square).sum()
}

impl Accuracy {
    pub fn check_state(&self, columns: usize) -> Result<(), Error> {
        list("the sizes of the basis", &self.sizes, columns, 0.0..=LARGEST)?;
        shape("the errors of the images", &self.errors, columns, columns)
    }

    pub fn largest_size(&self) -> f64 {
        self.sizes.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the squared error of the image of a residual with the current images of the columns, and with recomputed
    /// ones.
    pub fn of_residual(&mut self, coordinates: &[f64], own: f64) -> (f64, f64) {
        let along = &mut self.scratch.0.along;
        self.errors.transpose_times(coordinates, along);
        let rounding = ROUNDING * (own + size(coordinates, &self.sizes));
        (dot(along, coordinates).max(0.0) + rounding, 2.0 * rounding)
    }

    /// Adds the residual of the last [`Self::of_residual`], of this size and squared error, divided by `norm`.
    pub fn push(&mut self, size: f64, error: f64, norm: f64) {
        let along = &self.scratch.0.along;
        let last = self.sizes.len();
        self.errors.resize(last + 1, last + 1);
        for (j, overlap) in along.iter().enumerate() {
            self.errors.column_mut(j)[last] = -overlap / norm;
            self.errors.column_mut(last)[j] = -overlap / norm;
        }
        self.errors.column_mut(last)[last] = error / (norm * norm);
        self.sizes.push(size / (norm * norm));
    }

    pub fn combine(&mut self, change: &Matrix, sizes: impl Iterator<Item = f64>) {
        let Working { rounded, product, .. } = &mut self.scratch.0;
        multiply(product, self.errors.view(), change.view());
        multiply(&mut self.errors, change.view().transpose(), product.view());
        refill(rounded, (0..change.columns()).map(|j| ROUNDING * size(change.column(j), &self.sizes)));
        rounded.iter().enumerate().for_each(|(j, more)| self.errors.column_mut(j)[j] += more);
        refill(&mut self.sizes, sizes);
    }

    pub fn refresh(&mut self, sizes: impl Iterator<Item = f64>) {
        refill(&mut self.sizes, sizes);
        let columns = self.sizes.len();
        self.errors.reset(columns, columns);
        self.sizes.iter().enumerate().for_each(|(j, size)| self.errors.column_mut(j)[j] = ROUNDING * size);
    }
}
