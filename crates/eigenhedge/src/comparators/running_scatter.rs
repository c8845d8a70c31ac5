//! Weight, mean and scatter matrix of rows, accumulated in blocks at the speed of a matrix product.
//!
//! Merging is exact: with weights s and t and means m and m', the scatter of all rows is the sum of both plus `s t/(s + t) (m -
//! m')(m - m')ᵀ`.

use super::mean::{Mean, check_mean, weigh};
use crate::error::Error;
use crate::linalg::checks::{energies, scatter, shape};
use crate::linalg::{Matrix, add_lower_product};
use crate::num::dot;
use crate::state::ensure;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunningScatter {
    pub(super) mean: Option<Mean>,
    /// Lower triangle of the scatter matrix.
    scatter: Matrix,
    /// Most recent rows that are not yet in the matrix, one per column. There are fewer than [`block_rows`] of them.
    block: Matrix,
}

/// Returns the number of rows added at once: more for a large matrix, which does not fit into the cache.
fn block_rows(length: usize) -> usize {
    if length > 256 { 256 } else { 64 }
}

impl RunningScatter {
    pub fn new(length: usize, centered: bool) -> Self {
        let (scatter, block) = (Matrix::zeros(length, length), Matrix::zeros(length, 0));
        Self { mean: centered.then(Mean::default), scatter, block }
    }

    /// Creates the state after rows with this mean and scatter matrix. Only the lower triangle is read.
    pub fn of(mean: Option<Mean>, scatter: Matrix) -> Self {
        let block = Matrix::zeros(scatter.rows(), 0);
        Self { mean, scatter, block }
    }

    pub fn check_state(&self, length: usize, centered: bool) -> Result<(), Error> {
        check_mean(self.mean.as_ref(), length, centered)?;
        shape("the scatter matrix of all rows", &self.scatter, length, length)?;
        shape("the last rows", &self.block, length, self.block.columns())?;
        scatter("the scatter matrix of all rows", &self.scatter)?;
        energies("the energy of the last rows", &self.block)?;
        ensure(self.block.columns() < block_rows(length), "the last rows must be fewer than a block")
    }

    pub fn mean(&self) -> Option<&Mean> {
        self.mean.as_ref()
    }

    /// Adds a weighted row. Returns the increase of the trace.
    pub fn add_weighted(&mut self, row: &[f64], weight: f64) -> f64 {
        let at = self.block.columns();
        self.block.push_column(row);
        let column = self.block.column_mut(at);
        weigh(column, weight, self.mean.as_mut());
        let square = dot(column, column);
        self.flush_full();
        square
    }

    /// Adds the rows of another scatter matrix. Centering must match.
    pub fn merge(&mut self, other: &Self) {
        self.merge_mean(other.mean.as_ref());
        let scatter = other.whole();
        for j in 0..scatter.columns() {
            let own = &mut self.scatter.column_mut(j)[j..];
            own.iter_mut().zip(&scatter.column(j)[j..]).for_each(|(own, more)| *own += more);
        }
    }

    /// Adds rows with this mean, whose scatter matrix is `X Xᵀ` for X = `factor`. Centering must match.
    pub fn merge_rows(&mut self, mean: Option<&Mean>, factor: &Matrix) {
        self.merge_mean(mean);
        for j in 0..factor.columns() {
            self.block.push_column(factor.column(j));
            self.flush_full();
        }
    }

    fn merge_mean(&mut self, other: Option<&Mean>) {
        if let (Some(mean), Some(others)) = (&mut self.mean, other)
            && let Some(between) = mean.merge(others)
        {
            self.block.push_column(&between);
            self.flush_full();
        }
    }

    fn flush_full(&mut self) {
        if self.block.columns() == block_rows(self.scatter.rows()) {
            add_lower_product(&mut self.scatter, self.block.view(), self.block.view().transpose());
            self.block.resize(self.scatter.rows(), 0);
        }
    }

    /// Returns the scatter matrix of all rows, in the lower triangle.
    pub fn whole(&self) -> Cow<'_, Matrix> {
        if self.block.columns() == 0 {
            return Cow::Borrowed(&self.scatter);
        }
        let mut scatter = self.scatter.clone();
        add_lower_product(&mut scatter, self.block.view(), self.block.view().transpose());
        Cow::Owned(scatter)
    }

    pub fn column_energies(&self) -> Vec<f64> {
        let recent = |i: usize| (0..self.block.columns()).map(|j| self.block.column(j)[i].powi(2)).sum::<f64>();
        (0..self.scatter.rows()).map(|i| self.scatter.column(i)[i] + recent(i)).collect()
    }

    /// Returns the energy (after centering) of the rows along each of these unit vectors, and in total.
    pub fn energies(&self, directions: &Matrix) -> (Vec<f64>, f64) {
        let scatter = self.whole();
        let length = scatter.rows();
        let along = |direction: &[f64]| {
            let column = |j: usize| {
                let below = dot(&scatter.column(j)[j + 1..], &direction[j + 1..]);
                direction[j] * (scatter.column(j)[j] * direction[j] + 2.0 * below)
            };
            (0..length).map(column).sum::<f64>().max(0.0)
        };
        let energies = (0..directions.columns()).map(|j| along(directions.column(j))).collect();
        (energies, (0..length).map(|j| scatter.column(j)[j]).sum::<f64>())
    }
}
