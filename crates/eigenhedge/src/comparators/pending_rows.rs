//! Sparse rows of a sketch, summarized by a small sketch of their own.
//!
//! Setting: as in [`sketch`](super::sketch). The columns of the small sketch, and its mean, are combinations of the
//! rows, which are stored as they are ([`Combinations`]). It is merged into the large one from time to time, like that
//! of another stream. O(v ℓ) per row of any length, with v stored rows and ℓ retained directions.
//! Numerics: rows are centered in terms of their products, so the error is the rounding of the squared norms of the
//! rows themselves. A row that nearly equals the mean is left to the large sketch.

use super::best::Best;
use super::running_scatter::Mean;
use super::sketch::{Sketch, add_squares, bracket_of, fill_gram};
use crate::error::Error;
use crate::linalg::{CANCELLED, Cells, Combinations, Eigen, Matrix, STREAK};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, count, energy, ensure, entries, length};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
        length("the mean of the rows that wait", self.mean.len(), rows)?;
        length("the products of the mean of the rows that wait", self.mean_products.len(), rows)?;
        ensure(self.columns.columns() <= 2 * retained, "the sketch must be no wider than twice what it retains")?;
        entries("weights of the rows that wait", &self.weights, 0.0..=LARGEST)?;
        entries("coefficients of the mean", &self.mean, 0.0..=1.0)?;
        entries("products of the mean", &self.mean_products, -LARGEST..=LARGEST)?;
        energy("the weight of the rows that wait", self.weight)?;
        energy("the energy of the rows that wait", self.energy)?;
        energy("the shrinkage of the rows that wait", self.shrinkage)?;
        count("the number of rows that wait", rows as u64)
    }
}

/// Computes the scaled rotation that reduces a sketch to the retained directions. Returns the eigenvalue that is
/// subtracted.
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

impl Sketch {
    pub(super) fn add_filled(&mut self, row: &[f64], filled: &[u32], weight: f64) {
        self.sparse_streak = (self.sparse_streak + 1).min(STREAK);
        let is_known = self.mean.as_ref().is_none_or(|mean| !mean.parts().0.is_empty());
        if self.sparse_streak < STREAK || !is_known {
            self.settle();
            self.add_dense(row, weight);
            return;
        }
        let mut cells = std::mem::take(&mut self.scratch.0.cells);
        let shift = self.scratch.0.shift.take().unwrap_or_else(|| self.shift());
        cells.take_difference(row, filled, &shift);
        self.scratch.0.shift = Some(shift);
        let is_added = self.pending.add(&cells, row.len(), weight, self.mean.is_some(), self.retained);
        self.scratch.0.cells = cells;
        if !is_added {
            self.settle();
            self.add_dense(row, weight);
            return;
        }
        self.rows += 1;
        let limit = (3 * row.len().isqrt()).clamp(4 * self.retained, 4096.max(4 * self.retained));
        if self.pending.count() >= limit {
            self.absorb();
        }
    }

    /// Returns what is subtracted from the pending rows: the largest cells of the mean of all other rows. Without it,
    /// products cancel if a column is far from zero in all rows.
    fn shift(&self) -> Cells {
        let parts = self.mean.as_ref().map(Mean::parts);
        parts.map_or_else(Cells::default, |(base, way)| Cells::largest_of_sum(base, way))
    }

    fn mean_of(&self, pending: &PendingRows) -> Option<Mean> {
        let mean = self.mean.as_ref()?;
        let mut way: Vec<f64> = mean.parts().0.iter().map(|base| -base).collect();
        self.shift().iter().for_each(|(i, shift)| way[i] += shift);
        pending.add_mean(&mut way);
        Some(mean.beside(way, pending.weight))
    }

    pub(super) fn begin_at(&mut self, row: &[f64]) {
        self.scratch.0.shift = None;
        self.mean.iter_mut().for_each(|mean| mean.begin_at(row));
    }

    pub(super) fn begin_column(&mut self, column: usize, value: f64) {
        self.settle();
        self.scratch.0.shift = None;
        self.mean.iter_mut().for_each(|mean| mean.begin_column(column, value));
    }

    pub(super) fn settle(&mut self) {
        if self.pending.count() >= self.retained {
            return self.absorb();
        }
        if self.pending.count() == 0 {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.rows -= pending.count() as u64;
        let length = self.buffer.rows();
        let shift = self.shift();
        for (cells, weight) in pending.rows() {
            let mut row = vec![0.0; length];
            shift.iter().chain(cells.iter()).for_each(|(i, x)| row[i] += x);
            self.add_dense(&row, weight);
        }
        pending.clear();
        self.pending = pending;
        self.scratch.0.shift = None;
    }

    fn absorb(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.shrink(self.retained);
        let between = self.between(&pending);
        let gram = self.whole_gram(&pending, between.as_deref());
        pending.add_energies(self.mean.is_some(), &mut self.energies);
        if let (Some(theirs), Some(mean)) = (self.mean_of(&pending), &mut self.mean) {
            mean.merge(&theirs);
        }
        self.scratch.0.shift = None;
        if let Some(between) = &between {
            add_squares(&mut self.energies, between);
            self.buffer.push_column(between);
        }
        let super::sketch::Working { eigen, rotation, .. } = &mut self.scratch.0;
        eigen.compute(gram.view());
        let mut whole = Matrix::default();
        self.shrinkage += pending.shrinkage + shrinking_rotation(eigen, self.retained, &mut whole);
        // The first rows of the rotation belong to the buffer, the others to the pending columns.
        let (dense, left) = (self.buffer.columns(), whole.columns());
        let mut of_pending = Matrix::zeros(pending.columns.columns(), left);
        rotation.reset(dense.max(left), left);
        for j in 0..left {
            let (own, theirs) = whole.column(j).split_at(dense);
            rotation.column_mut(j)[..dense].copy_from_slice(own);
            of_pending.column_mut(j).copy_from_slice(theirs);
        }
        self.buffer.resize(self.buffer.rows(), dense.max(left));
        self.rotate();
        pending.columns.add_sparse_to(&of_pending, &mut self.buffer);
        pending.clear();
        self.pending = pending;
    }

    fn between(&self, pending: &PendingRows) -> Option<Vec<f64>> {
        self.mean.as_ref()?.between(&self.mean_of(pending)?)
    }

    /// Computes the lower triangle of the Gram matrix of the buffer, the displacement between the means, and the
    /// pending columns.
    fn whole_gram(&self, pending: &PendingRows, between: Option<&[f64]>) -> Matrix {
        let (own, more) = (self.buffer.columns(), pending.columns.columns());
        let first = own + usize::from(between.is_some());
        let (mut gram, mut products) = (Matrix::default(), Matrix::default());
        fill_gram(&mut gram, &self.buffer);
        gram.resize(first + more, first + more);
        pending.times_vectors(&self.buffer, &mut products);
        for j in 0..own {
            (0..more).for_each(|i| gram.column_mut(j)[first + i] = products.column(i)[j]);
        }
        if let Some(between) = between {
            let mut with_own = Vec::new();
            self.buffer.transpose_times(between, &mut with_own);
            with_own.iter().enumerate().for_each(|(j, x)| gram.column_mut(j)[own] = *x);
            gram.column_mut(own)[own] = dot(between, between);
            gram.column_mut(own)[first..].copy_from_slice(&pending.times_vector(between));
        }
        pending.columns.gram(&mut products);
        for j in 0..more {
            gram.column_mut(first + j)[first..].copy_from_slice(products.column(j));
        }
        gram
    }

    pub(super) fn pending_energy(&self) -> f64 {
        if self.pending.count() == 0 {
            return 0.0;
        }
        let between = self.between(&self.pending);
        self.pending.energy + between.map_or(0.0, |between| dot(&between, &between))
    }

    pub(super) fn best_with_pending(&self, kept: usize) -> Best {
        let between = self.between(&self.pending);
        let gram = self.whole_gram(&self.pending, between.as_deref());
        bracket_of(&gram, self.energy(), kept, kept as f64 * (self.shrinkage + self.pending.shrinkage))
    }

    pub(super) fn whole_mean(&self) -> Option<Cow<'_, Mean>> {
        let mean = self.mean.as_ref()?;
        if self.pending.count() == 0 {
            return Some(Cow::Borrowed(mean));
        }
        let mut whole = mean.clone();
        self.mean_of(&self.pending).iter().for_each(|theirs| _ = whole.merge(theirs));
        Some(Cow::Owned(whole))
    }
}
