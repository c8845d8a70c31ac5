//! Columns that are not written out yet: each is a combination of stored vectors.
//!
//! The stored vectors are the columns that are written out (orthonormal) and behind them, for each deferred column, the
//! point it came from, or the column itself when that was computed after all. Combinations are of stored vectors at unit
//! length; the points are stored as they came, with the factors that bring them there. Column by column the combinations
//! form an upper triangle: nothing refers to what came later.
//!
//! Cost: O(d w) for d deferred of w columns; nothing when there are none.

use crate::matrix::Matrix;
use crate::num::dot;
use serde::{Deserialize, Serialize};

/// Combinations, one for each of the last columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Deferred {
    /// Column j: what the j-th deferred column is made of.
    combinations: Matrix,
    /// What brings the stored vectors behind the columns that are written out to unit length.
    factors: Vec<f64>,
}

impl Deferred {
    /// Number of deferred columns.
    pub fn columns(&self) -> usize {
        self.combinations.columns()
    }

    /// From inner products with the stored vectors to coordinates in the columns.
    pub fn resolve(&self, products: &mut [f64]) {
        let written = products.len() - self.columns();
        self.scale(products);
        // From the last: a combination needs the products before it.
        for j in (0..self.columns()).rev() {
            let end = written + j + 1;
            products[end - 1] = dot(&self.combinations.column(j)[..end], &products[..end]);
        }
    }

    /// From products with stored vectors as they are to products with them at unit length; from coefficients of the latter
    /// to coefficients of the former.
    pub fn scale(&self, numbers: &mut [f64]) {
        let written = numbers.len() - self.columns();
        numbers[written..].iter_mut().zip(&self.factors).for_each(|(number, factor)| *number *= factor);
    }

    /// From coordinates in the columns to coefficients of the stored vectors at unit length.
    pub fn expand(&self, coordinates: &[f64], coefficients: &mut Vec<f64>) {
        coefficients.clear();
        coefficients.extend_from_slice(coordinates);
        self.write_out(coordinates, coefficients);
    }

    /// The same into a copy of the coordinates.
    fn write_out(&self, coordinates: &[f64], coefficients: &mut [f64]) {
        let written = coordinates.len() - self.columns();
        coefficients[written..].fill(0.0);
        for (j, coordinate) in coordinates[written..].iter().enumerate() {
            let combination = &self.combinations.column(j)[..=written + j];
            coefficients.iter_mut().zip(combination).for_each(|(out, c)| *out += coordinate * c);
        }
    }

    /// A new column: a point of this norm, stored after all others, minus what the others at unit length explain of it,
    /// over the norm of that residual.
    pub fn push(&mut self, explained: &[f64], norm: f64, residual_norm: f64) {
        let j = self.columns();
        self.combinations.resize(explained.len() + 1, j + 1);
        let combination = self.combinations.column_mut(j);
        combination.iter_mut().zip(explained).for_each(|(out, c)| *out = -c / residual_norm);
        combination[explained.len()] = norm / residual_norm;
        self.push_factor(j, 1.0 / norm);
    }

    fn push_factor(&mut self, j: usize, factor: f64) {
        self.factors.resize(j, 1.0);
        self.factors.push(factor);
    }

    /// A new column, the last of `vectors`, that is written out although others before it may not be.
    pub fn push_whole(&mut self, vectors: usize) {
        let j = self.columns();
        if j > 0 {
            self.combinations.resize(vectors, j + 1);
            self.combinations.column_mut(j)[vectors - 1] = 1.0;
            self.push_factor(j, 1.0);
        }
    }

    /// Combinations of the columns as combinations of the vectors as they are stored.
    pub fn expand_all(&self, rotation: &Matrix, out: &mut Matrix) {
        out.clone_from(rotation);
        for i in 0..rotation.columns() {
            self.write_out(rotation.column(i), out.column_mut(i));
            self.scale(out.column_mut(i));
        }
    }

    /// All columns are written out.
    pub fn clear(&mut self) {
        self.combinations.resize(0, 0);
        self.factors.clear();
    }
}
