//! Weight, mean and scatter matrix of rows, accumulated in blocks at the speed of a matrix product. Merging is exact:
//! with weights s and t and means m and m', the scatter is the sum of both plus `s t/(s + t) (m - m')(m - m')ᵀ`.

use crate::error::Error;
use crate::linalg::checks::{energies, scatter, shape};
use crate::linalg::{Matrix, add_lower_square};
use crate::num::dot;
use crate::state::{self, energy, ensure};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunningScatter {
    pub mean: Option<Mean>,
    scatter: Matrix,
    /// Centered and weighted rows that the matrix does not include yet.
    block: Matrix,
}

fn block_rows(length: usize) -> usize {
    if length > 256 { 256 } else { 64 }
}

impl RunningScatter {
    pub fn new(length: usize, centered: bool) -> Self {
        let (scatter, block) = (Matrix::zeros(length, length), Matrix::zeros(length, 0));
        Self { mean: centered.then(Mean::default), scatter, block }
    }

    /// Only the lower triangle is read.
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

    /// Returns the increase of the trace.
    pub fn add_weighted(&mut self, row: &[f64], weight: f64) -> f64 {
        let at = self.block.columns();
        self.block.push_column(row);
        let column = self.block.column_mut(at);
        weigh(column, weight, self.mean.as_mut());
        let square = dot(column, column);
        self.flush_full();
        square
    }

    pub fn merge(&mut self, other: &Self) {
        self.merge_mean(other.mean.as_ref());
        let scatter = other.whole();
        for j in 0..scatter.columns() {
            let own = &mut self.scatter.column_mut(j)[j..];
            own.iter_mut().zip(&scatter.column(j)[j..]).for_each(|(own, more)| *own += more);
        }
    }

    /// Adds rows with this mean and the scatter matrix `X Xᵀ` for X = `factor`.
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
            add_lower_square(&mut self.scatter, self.block.view());
            self.block.resize(self.scatter.rows(), 0);
        }
    }

    pub fn whole(&self) -> Cow<'_, Matrix> {
        if self.block.columns() == 0 {
            return Cow::Borrowed(&self.scatter);
        }
        let mut scatter = self.scatter.clone();
        add_lower_square(&mut scatter, self.block.view());
        Cow::Owned(scatter)
    }

    pub fn column_energies(&self) -> Vec<f64> {
        let recent = |i: usize| (0..self.block.columns()).map(|j| self.block.column(j)[i].powi(2)).sum::<f64>();
        (0..self.scatter.rows()).map(|i| self.scatter.column(i)[i] + recent(i)).collect()
    }

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
        (energies, scatter.trace())
    }
}

/// Running mean as a base point plus a displacement, so that a large offset of the rows costs precision only once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mean {
    /// Usually the first row. Empty before it.
    base: Vec<f64>,
    way: Vec<f64>,
    pub weight: f64,
    left_out: bool,
}

impl Mean {
    pub const NONE: Self = Self { base: Vec::new(), way: Vec::new(), weight: 0.0, left_out: false };

    pub fn at_zero(&self, length: usize) -> Self {
        Self { base: vec![0.0; length], way: vec![0.0; length], weight: self.weight, left_out: false }
    }

    pub fn begin_at(&mut self, base: &[f64]) {
        self.base = base.to_vec();
        self.way = vec![0.0; base.len()];
        self.left_out = true;
    }

    /// Creates the mean of other rows with the same base point.
    pub fn beside(&self, way: Vec<f64>, weight: f64) -> Self {
        Self { base: self.base.clone(), way, weight, left_out: self.left_out }
    }

    /// All previous rows must have been equal to the base point in this column.
    pub fn begin_column(&mut self, column: usize, value: f64) {
        self.base[column] = value;
    }

    /// Adds a row of weight w and replaces it by its contribution to the scatter matrix: `√(w W/(W + w))` times its
    /// displacement from the mean of the previous rows, whose weight is W.
    pub fn add(&mut self, row: &mut [f64], own: f64) {
        if self.base.is_empty() {
            self.begin_at(row);
            self.left_out = false;
        }
        let before = self.weight;
        self.weight += own;
        let root = (own * before / self.weight).sqrt();
        let step = own / self.weight;
        for ((x, base), way) in row.iter_mut().zip(&self.base).zip(&mut self.way) {
            let z = (*x - base) - *way;
            *way += step * z;
            *x = root * z;
        }
    }

    fn way_to(&self, other: &Self) -> Option<Vec<f64>> {
        let way = |i: usize| (other.base[i] - self.base[i]) + (other.way[i] - self.way[i]);
        (self.weight > 0.0 && other.weight > 0.0).then(|| (0..self.way.len()).map(way).collect())
    }

    /// Returns what two means add to the scatter of all rows: `√(s t/(s + t)) (m' - m)` for weights s, t > 0.
    pub fn between(&self, other: &Self) -> Option<Vec<f64>> {
        let root = (self.weight * (other.weight / (self.weight + other.weight))).sqrt();
        let mut way = self.way_to(other)?;
        way.iter_mut().for_each(|x| *x *= root);
        Some(way)
    }

    pub fn merge(&mut self, other: &Self) -> Option<Vec<f64>> {
        let between = self.between(other);
        match self.way_to(other) {
            Some(step) => {
                let share = other.weight / (self.weight + other.weight);
                self.way.iter_mut().zip(&step).for_each(|(way, step)| *way += share * step);
                self.weight += other.weight;
            }
            None if other.weight > 0.0 => self.clone_from(other),
            None => {}
        }
        between
    }

    /// Returns the vector that the base row would add to the scatter, unless it counts in the mean.
    pub fn between_left_out(&self) -> Option<Vec<f64>> {
        let root = (self.weight / (self.weight + 1.0)).sqrt();
        self.left_out.then(|| self.way.iter().map(|x| root * x).collect())
    }

    /// Returns the base row if the mean does not include it, and marks it as included.
    pub fn take_left_out(&mut self) -> Option<Vec<f64>> {
        std::mem::take(&mut self.left_out).then(|| self.base.clone())
    }

    pub fn parts(&self) -> (&[f64], &[f64]) {
        (&self.base, &self.way)
    }

    pub fn value(&self) -> Option<Vec<f64>> {
        (self.weight > 0.0).then(|| self.base.iter().zip(&self.way).map(|(base, way)| base + way).collect())
    }

    pub fn squared_way(&self) -> f64 {
        dot(&self.way, &self.way)
    }
}

pub(super) fn weigh(row: &mut [f64], weight: f64, mean: Option<&mut Mean>) {
    match mean {
        Some(mean) => mean.add(row, weight),
        None if weight == 1.0 => {}
        None => row.iter_mut().for_each(|x| *x *= weight.sqrt()),
    }
}

pub(super) fn check_mean(mean: Option<&Mean>, length: usize, centered: bool) -> Result<(), Error> {
    ensure(mean.is_some() == centered, "the comparator must be centered if the learner is")?;
    let Some(Mean { base, way, weight, left_out: _ }) = mean else { return Ok(()) };
    energy("the weight of the rows", *weight)?;
    state::length("the way to the mean of the rows", way.len(), base.len())?;
    if *weight > 0.0 || !base.is_empty() {
        state::length("the mean of the rows", base.len(), length)?;
    }
    energy("the squared norm of the first row", dot(base, base))?;
    energy("the squared way to the mean", dot(way, way))
}
