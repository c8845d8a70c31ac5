//! Sparse rows of a sketch, summarized by a small sketch of their own.
//!
//! Setting: as in [`sketch`](super::sketch). The columns of the small sketch, and its mean, are combinations of the
//! rows, which are stored as they are ([`Combinations`]). It is merged into the large one from time to time, like that
//! of another stream. O(v ℓ) per row of any length, with v stored rows and ℓ retained directions.
//! Numerics: rows are centered in terms of their products, so the error is the rounding of the squared norms of the
//! rows themselves. A row that nearly equals the mean is left to the large sketch.

use crate::error::Error;
use crate::linalg::{CANCELLED, Cells, Combinations, Eigen, Matrix};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, count, energy, ensure, entries, length, list};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingRows {
    pub columns: Combinations,
    weights: Vec<f64>,
    pub weight: f64,
    mean: Vec<f64>,
    mean_products: Vec<f64>,
    pub energy: f64,
    pub shrinkage: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    products: Vec<f64>,
    coefficients: Vec<f64>,
    with_columns: Vec<f64>,
    none: Matrix,
    gram: Matrix,
    eigen: Eigen,
    rotation: Matrix,
}

impl PendingRows {
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    pub fn rows(&self) -> impl Iterator<Item = (Cells, f64)> {
        (0..self.count()).map(|j| (self.columns.sparse.row(j), self.weights[j]))
    }

    /// A full sketch is first reduced to `retained` directions. Returns false without adding a row that nearly equals
    /// the mean, because products would cancel.
    pub fn add(&mut self, cells: &Cells, row_length: usize, weight: f64, is_centered: bool, retained: usize) -> bool {
        let Self { columns, mean, mean_products, scratch, .. } = self;
        let Working { products, none, .. } = &mut scratch.0;
        none.resize(row_length, 0);
        columns.times_cells(none, cells, products);
        let (before, square, along) = (self.weight, cells.square(), dot(mean, products));
        let (mean_square, is_full) = (dot(mean, mean_products), columns.columns() == 2 * retained);
        let centered = square - 2.0 * along + mean_square;
        if is_centered && !(centered >= CANCELLED * (square + mean_square)) {
            return false;
        }
        if is_full {
            self.shrink(retained);
        }
        let Self { columns, mean, mean_products, scratch, .. } = self;
        let Working { products, coefficients, with_columns, .. } = &mut scratch.0;
        columns.coordinates(products, with_columns);
        columns.push_sparse(cells, square, with_columns);
        self.weight += weight;
        self.weights.push(weight);
        let factor = if is_centered { (weight * before / self.weight).sqrt() } else { weight.sqrt() };
        refill(coefficients, mean.iter().map(|a| -factor * a));
        coefficients.push(factor);
        self.energy += factor * factor * centered.max(0.0);
        let step = if is_centered { weight / self.weight } else { 0.0 };
        for (g, h) in products.iter_mut().zip(&mut *mean_products) {
            let z = *g - *h;
            *h += step * z;
            *g = factor * z;
        }
        products.push(factor * (square - along));
        mean_products.push(along + step * (square - along));
        mean.iter_mut().for_each(|a| *a -= step * *a);
        mean.push(step);
        if factor > 0.0 {
            columns.push_column(coefficients, products);
        }
        true
    }

    pub fn shrink(&mut self, retained: usize) {
        if self.columns.columns() <= retained {
            return;
        }
        let Working { gram, eigen, rotation, .. } = &mut self.scratch.0;
        self.columns.gram(gram);
        eigen.compute(gram.view());
        self.shrinkage += shrinking_rotation(eigen, retained, rotation);
        self.columns.combine(rotation);
    }

    pub fn times_vectors(&self, vectors: &Matrix, out: &mut Matrix) {
        out.resize(vectors.columns(), self.columns.columns());
        for i in 0..vectors.columns() {
            let with_columns = self.times_vector(vectors.column(i));
            with_columns.iter().enumerate().for_each(|(j, x)| out.column_mut(j)[i] = *x);
        }
    }

    pub fn times_vector(&self, vector: &[f64]) -> Vec<f64> {
        let (mut products, mut out) = (Vec::new(), Vec::new());
        self.columns.times_dense(&Matrix::zeros(vector.len(), 0), vector, &mut products);
        self.columns.coordinates(&products, &mut out);
        out
    }

    pub fn add_mean(&self, vector: &mut [f64]) {
        self.columns.add_to(&Matrix::zeros(vector.len(), 0), &self.mean, vector);
    }

    pub fn add_energies(&self, is_centered: bool, energies: &mut [f64]) {
        let (mut center, mut empty) = (vec![0.0; energies.len()], vec![self.weight; energies.len()]);
        if is_centered {
            self.add_mean(&mut center);
        }
        for (cells, weight) in self.rows() {
            for (i, x) in cells.iter() {
                energies[i] += weight * (x - center[i]).powi(2);
                empty[i] -= weight;
            }
        }
        for (i, weight) in empty.iter().enumerate() {
            energies[i] += weight.max(0.0) * center[i] * center[i];
        }
    }

    pub fn clear(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        *self = Self { scratch, ..Self::default() };
    }

    pub fn check_state(&self, row_length: usize, retained: usize) -> Result<(), Error> {
        self.columns.check_state(&Matrix::zeros(row_length, 0), LARGEST)?;
        let rows = self.count();
        length("the rows that wait", self.columns.vectors(), rows)?;
        ensure(self.columns.columns() <= 2 * retained, "the sketch must be no wider than twice what it retains")?;
        entries("weights of the rows that wait", &self.weights, 0.0..=LARGEST)?;
        list("coefficients of the mean", &self.mean, rows, 0.0..=1.0)?;
        list("products of the mean", &self.mean_products, rows, -LARGEST..=LARGEST)?;
        energy("the weight of the rows that wait", self.weight)?;
        energy("the energy of the rows that wait", self.energy)?;
        energy("the shrinkage of the rows that wait", self.shrinkage)?;
        count("the number of rows that wait", rows as u64)
    }
}

/// Reduces a sketch to the retained directions by a scaled rotation. Returns the eigenvalue that is subtracted.
pub(super) fn shrinking_rotation(eigen: &Eigen, retained: usize, rotation: &mut Matrix) -> f64 {
    let columns = eigen.values.len();
    let taken = if columns > retained { eigen.values[columns - retained - 1].max(0.0) } else { 0.0 };
    let left = eigen.values.iter().rev().take(retained).take_while(|v| **v > taken).count();
    rotation.resize(columns, left);
    for j in 0..left {
        let from = columns - 1 - j;
        let factor = (1.0 - taken / eigen.values[from]).sqrt();
        let source = eigen.vectors.column(from);
        rotation.column_mut(j).iter_mut().zip(source).for_each(|(r, v)| *r = factor * v);
    }
    taken
}
