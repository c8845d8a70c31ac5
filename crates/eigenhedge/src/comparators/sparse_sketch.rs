//! Sparse rows in a sketch: they are collected first and then absorbed together.

use super::best::Best;
use super::pending_rows::{PendingRows, shrinking_rotation};
use super::running_scatter::Mean;
use super::sketch::{Sketch, Working, add_squares, bracket_of, fill_gram};
use crate::linalg::{Cells, Matrix, STREAK};
use crate::num::dot;
use std::borrow::Cow;

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
        let Working { eigen, rotation, .. } = &mut self.scratch.0;
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

    /// Lower triangle of the Gram matrix of the buffer, the displacement between means, and the pending columns.
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
