//! Columns that are not written out yet: each is a combination of stored vectors.
//!
//! The stored vectors V are the columns that were written out and behind them, for each deferred column, the point it came
//! from, or the column itself when that was computed after all. The columns are `V C` with C upper triangular: nothing
//! refers to what came later. Combinations are of stored vectors at unit length; the points are stored as they came, with
//! the factors that bring them there.
//!
//! The Gram matrix G of the stored vectors is known, because every product in it was needed anyway: those of a point when
//! its coordinates were computed, those of the written columns when they were written. So Gram–Schmidt can be repeated
//! without another pass over the vectors ([`Deferred::refine`]), and the columns are orthonormal up to the rounding of G times
//! the squared norm of the coefficients. The defect of the written columns does not multiply from one combination to the
//! next: it is part of G, and C takes it out.
//!
//! Cost: O(d w) for d deferred of w columns; nothing when there are none.

use crate::linalg::Matrix;
use crate::num::dot;
use serde::{Deserialize, Serialize};

/// Combinations, one for each of the last columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Deferred {
    /// Column j: the coefficients of the j-th deferred column, over the stored vectors up to its own.
    pub(super) combinations: Matrix,
    /// Column j: products of its stored vector with those before it, and the excess of its own square over one.
    pub(super) gram: Matrix,
    /// What brings the stored vectors behind the columns that are written out to unit length.
    pub(super) factors: Vec<f64>,
}

/// Working space of [`Deferred::refine`].
#[derive(Debug, Clone, Default)]
pub(super) struct Refinement {
    left: Vec<f64>,
    more: Vec<f64>,
}

impl Deferred {
    /// Number of deferred columns.
    pub fn columns(&self) -> usize {
        self.combinations.columns()
    }

    /// From products with the stored vectors at unit length to coordinates in the columns.
    pub fn resolve(&self, products: &mut [f64]) {
        let written = products.len() - self.columns();
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

    /// Products of the residual `z - V x` with the stored vectors, from the products of z and the coefficients x.
    fn products_left(&self, products: &[f64], coefficients: &[f64], left: &mut Vec<f64>) {
        let written = products.len() - self.columns();
        left.clear();
        left.extend(products.iter().zip(coefficients).map(|(product, x)| product - x));
        for j in 0..self.columns() {
            let own = written + j;
            let gram = &self.gram.column(j)[..=own];
            let amount = coefficients[own];
            left[own] -= dot(gram, &coefficients[..=own]);
            left[..own].iter_mut().zip(gram).for_each(|(left, g)| *left -= amount * g);
        }
    }

    /// The second pass of Gram–Schmidt, in the Gram matrix. Takes the products of a point of this squared norm with the stored
    /// vectors, improves its coordinates and their coefficients, and returns the squared norm of the residual.
    pub fn refine(
        &self,
        products: &[f64],
        square: f64,
        coordinates: &mut [f64],
        coefficients: &mut [f64],
        working: &mut Refinement,
    ) -> f64 {
        let Refinement { left, more } = working;
        self.products_left(products, coefficients, left);
        // |z - V x|² = |z|² - x·(Vᵀz) - x·(Vᵀ(z - V x)), whatever C is.
        let residual = square - dot(coefficients, products) - dot(coefficients, left);
        if dot(left, left) <= ORTHOGONAL * ORTHOGONAL * residual {
            return residual;
        }
        self.resolve(left);
        coordinates.iter_mut().zip(&*left).for_each(|(c, more)| *c += more);
        self.expand(left, more);
        coefficients.iter_mut().zip(&*more).for_each(|(x, more)| *x += more);
        residual - dot(left, left)
    }

    /// A new column: a point of this norm, stored after all others, minus what the others at unit length explain of it,
    /// over the norm of that residual. `products` are those of the point with the others.
    pub fn push(&mut self, explained: &[f64], products: &[f64], norm: f64, residual_norm: f64) {
        let (j, own) = (self.columns(), explained.len());
        self.resize(own + 1, j + 1);
        let combination = self.combinations.column_mut(j);
        combination.iter_mut().zip(explained).for_each(|(out, c)| *out = -c / residual_norm);
        combination[own] = norm / residual_norm;
        self.gram.column_mut(j).iter_mut().zip(products).for_each(|(out, product)| *out = product / norm);
        self.factors.push(1.0 / norm);
    }

    /// A new column, the last of `vectors`, that is written out although others before it may not be.
    pub fn push_whole(&mut self, vectors: usize) {
        let j = self.columns();
        if j > 0 {
            self.resize(vectors, j + 1);
            self.combinations.column_mut(j)[vectors - 1] = 1.0;
            self.factors.push(1.0);
        }
    }

    /// All columns are written out, with this Gram matrix less the identity (its upper triangle). Takes the defect into
    /// account if it is worth it.
    pub fn restart(&mut self, defect: &Matrix) {
        self.resize(0, 0);
        self.factors.clear();
        let size = defect.columns();
        let largest = (0..size).flat_map(|j| &defect.column(j)[..=j]).fold(0f64, |a, x| a.max(x.abs()));
        if largest <= NEGLIGIBLE {
            return;
        }
        self.resize(size, size);
        for j in 0..size {
            let defect = &defect.column(j)[..=j];
            self.gram.column_mut(j)[..=j].copy_from_slice(defect);
            // To first order the inverse of the Cholesky factor of 1 + E.
            let combination = self.combinations.column_mut(j);
            combination.iter_mut().zip(&defect[..j]).for_each(|(out, e)| *out = -e);
            combination[j] = 1.0 - 0.5 * defect[j];
        }
        self.factors.resize(size, 1.0);
    }

    /// All columns are written out and orthonormal.
    pub fn clear(&mut self) {
        self.resize(0, 0);
        self.factors.clear();
    }

    fn resize(&mut self, rows: usize, columns: usize) {
        self.combinations.resize(rows, columns);
        self.gram.resize(rows, columns);
    }

    /// Combinations of the columns as combinations of the vectors as they are stored.
    pub fn expand_all(&self, rotation: &Matrix, out: &mut Matrix) {
        out.clone_from(rotation);
        for i in 0..rotation.columns() {
            self.write_out(rotation.column(i), out.column_mut(i));
            self.scale(out.column_mut(i));
        }
    }
}

/// A residual whose products with the stored vectors are under this share of it is orthogonal to them.
const ORTHOGONAL: f64 = 4e-15;
/// Defects of written columns that are left alone until the next combination, which multiplies them by at most the square of
/// the coefficients.
const NEGLIGIBLE: f64 = 4e-15;
