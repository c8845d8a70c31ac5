//! Deferred columns: combinations of stored vectors that are not written out yet.
//! The stored vectors V are the written columns, followed by one vector for each deferred column: the point from which
//! the column was made, or the column itself. The columns are `V C` with an upper triangular C, which refers to vectors
//! scaled to unit length. Points are stored unscaled, together with their scale factors.
//! The entries of the Gram matrix G of the stored vectors are needed anyway, so Gram–Schmidt can be repeated without
//! another pass over the vectors ([`Deferred::refine`]). The columns are orthonormal up to the rounding of G times the
//! squared norm of the coefficients. The deviation of the written columns from orthonormality (their defect) does not
//! grow, because C corrects it at the next combination.
//! Cost: O(d w) per point for d deferred columns among w columns.

use crate::linalg::Matrix;
use crate::num::dot;
use crate::scratch::refill;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Deferred {
    pub(super) combinations: Matrix,
    /// Gram matrix of the stored vectors minus the identity. Column j belongs to deferred column j.
    pub(super) gram: Matrix,
    pub(super) factors: Vec<f64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Refinement {
    left: Vec<f64>,
    more: Vec<f64>,
}

impl Deferred {
    pub fn columns(&self) -> usize {
        self.combinations.columns()
    }

    /// Converts inner products with the stored vectors (at unit length) to coordinates in the columns.
    pub fn resolve(&self, products: &mut [f64]) {
        let written = products.len() - self.columns();
        // Runs backwards, because a combination needs the unchanged products of the earlier vectors.
        for j in (0..self.columns()).rev() {
            let end = written + j + 1;
            products[end - 1] = dot(&self.combinations.column(j)[..end], &products[..end]);
        }
    }

    /// Converts inner products with stored vectors to those with the vectors at unit length, and coefficients of
    /// vectors at unit length to those of stored vectors.
    pub fn scale(&self, numbers: &mut [f64]) {
        let written = numbers.len() - self.columns();
        numbers[written..].iter_mut().zip(&self.factors).for_each(|(number, factor)| *number *= factor);
    }

    /// Converts coordinates in the columns to coefficients of the stored vectors (at unit length).
    pub fn expand(&self, coordinates: &[f64], coefficients: &mut Vec<f64>) {
        coordinates.clone_into(coefficients);
        self.write_out(coordinates, coefficients);
    }

    fn write_out(&self, coordinates: &[f64], coefficients: &mut [f64]) {
        let written = coordinates.len() - self.columns();
        coefficients[written..].fill(0.0);
        for (j, coordinate) in coordinates[written..].iter().enumerate() {
            let combination = &self.combinations.column(j)[..=written + j];
            coefficients.iter_mut().zip(combination).for_each(|(out, c)| *out += coordinate * c);
        }
    }

    /// Writes the inner products of `z - V x` with the stored vectors to `left`, for the products of z and x =
    /// `coefficients`.
    fn products_left(&self, products: &[f64], coefficients: &[f64], left: &mut Vec<f64>) {
        let written = products.len() - self.columns();
        refill(left, products.iter().zip(coefficients).map(|(product, x)| product - x));
        for j in 0..self.columns() {
            let own = written + j;
            let gram = &self.gram.column(j)[..=own];
            let amount = coefficients[own];
            left[own] -= dot(gram, &coefficients[..=own]);
            left[..own].iter_mut().zip(gram).for_each(|(left, g)| *left -= amount * g);
        }
    }

    /// Runs the second pass of Gram–Schmidt from the inner products of a point with the stored vectors and its squared
    /// norm. Returns the squared norm of the residual.
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
        // |z - V x|² = |z|² - x·(Vᵀz) - x·(Vᵀ(z - V x)) for every x.
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

    /// Appends the normalized residual of a point of this norm that is stored after all other vectors, from the
    /// coefficients of its projection and its inner products with the other vectors.
    pub fn push(&mut self, explained: &[f64], products: &[f64], norm: f64, residual_norm: f64) {
        let (j, own) = (self.columns(), explained.len());
        self.resize(own + 1, j + 1);
        let combination = self.combinations.column_mut(j);
        combination.iter_mut().zip(explained).for_each(|(out, c)| *out = -c / residual_norm);
        combination[own] = norm / residual_norm;
        self.gram.column_mut(j).iter_mut().zip(products).for_each(|(out, product)| *out = product / norm);
        self.factors.push(1.0 / norm);
    }

    /// Appends a column that is the last of `vectors` stored vectors. Does nothing if no column is deferred.
    pub fn push_whole(&mut self, vectors: usize) {
        let j = self.columns();
        if j > 0 {
            self.resize(vectors, j + 1);
            self.combinations.column_mut(j)[vectors - 1] = 1.0;
            self.factors.push(1.0);
        }
    }

    /// Starts with the columns written out. Unless their defect is negligible, all become deferred combinations that
    /// correct it.
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
            // First-order inverse of the Cholesky factor of I + E, where E is the defect.
            let combination = self.combinations.column_mut(j);
            combination.iter_mut().zip(&defect[..j]).for_each(|(out, e)| *out = -e);
            combination[j] = 1.0 - 0.5 * defect[j];
        }
        self.factors.resize(size, 1.0);
    }

    pub fn clear(&mut self) {
        self.resize(0, 0);
        self.factors.clear();
    }

    fn resize(&mut self, rows: usize, columns: usize) {
        self.combinations.resize(rows, columns);
        self.gram.resize(rows, columns);
    }

    /// Converts combinations of the columns, one per column of `rotation`, to combinations of the stored vectors.
    pub fn expand_all(&self, rotation: &Matrix, out: &mut Matrix) {
        out.clone_from(rotation);
        for i in 0..rotation.columns() {
            self.write_out(rotation.column(i), out.column_mut(i));
            self.scale(out.column_mut(i));
        }
    }
}

const ORTHOGONAL: f64 = 4e-15;
/// Largest ignored defect. Deferred columns amplify it by at most the squared norm of their coefficients.
const NEGLIGIBLE: f64 = 4e-15;
