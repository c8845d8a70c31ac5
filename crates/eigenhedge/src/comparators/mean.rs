//! A running mean, and how rows are weighed around it.

use crate::error::Error;
use crate::num::dot;
use crate::state::{self, energy, ensure};
use serde::{Deserialize, Serialize};

/// Running mean, as a fixed point and the way from there: a row less the fixed point is rounded once, and what follows does
/// not depend on where the rows lie.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mean {
    /// A row; empty before the first one.
    base: Vec<f64>,
    way: Vec<f64>,
    /// Total weight of the rows.
    weight: f64,
    /// True if the fixed point is a row that was left out.
    left_out: bool,
}

impl Mean {
    /// No rows.
    pub const NONE: Self = Self { base: Vec::new(), way: Vec::new(), weight: 0.0, left_out: false };

    /// The same rows, moved to the mean 0.
    pub fn at_zero(&self, length: usize) -> Self {
        Self { base: vec![0.0; length], way: vec![0.0; length], weight: self.weight, left_out: false }
    }

    /// Measures rows from a row that is left out. Must come before the first row, which is the fixed point otherwise.
    pub fn begin_at(&mut self, base: &[f64]) {
        self.base = base.to_vec();
        self.way = vec![0.0; base.len()];
        self.left_out = true;
    }

    /// Moves the fixed point of a column in which all rows so far were at it.
    pub fn begin_column(&mut self, column: usize, value: f64) {
        self.base[column] = value;
    }

    /// Adds a row of weight w, and turns it into what it adds to the scatter matrix: `√(w W/(W + w))` times its distance from the
    /// mean of the rows before it, of weight W in all.
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

    /// The way to the mean of other rows; none if there are no rows on one side.
    fn way_to(&self, other: &Self) -> Option<Vec<f64>> {
        let way = |i: usize| (other.base[i] - self.base[i]) + (other.way[i] - self.way[i]);
        (self.weight > 0.0 && other.weight > 0.0).then(|| (0..self.way.len()).map(way).collect())
    }

    /// The part that the distance between the two means adds to the scatter of all rows, as one vector: `√(s t/(s + t)) (m' - m)` for
    /// rows of weights s and t; none if there are no rows on one side.
    pub fn between(&self, other: &Self) -> Option<Vec<f64>> {
        let root = (self.weight * (other.weight / (self.weight + other.weight))).sqrt();
        let mut way = self.way_to(other)?;
        way.iter_mut().for_each(|x| *x *= root);
        Some(way)
    }

    /// Moves to the mean of the rows of both; returns what the distance between the two adds to the scatter.
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

    /// The part that the distance between the mean and the row left out adds to the scatter of all, as one vector.
    pub fn between_left_out(&self) -> Option<Vec<f64>> {
        let root = (self.weight / (self.weight + 1.0)).sqrt();
        self.left_out.then(|| self.way.iter().map(|x| root * x).collect())
    }

    /// The row that was left out, if there is one. It is forgotten.
    pub fn take_left_out(&mut self) -> Option<Vec<f64>> {
        std::mem::take(&mut self.left_out).then(|| self.base.clone())
    }

    /// The fixed point, and the way from there to the mean.
    pub fn parts(&self) -> (&[f64], &[f64]) {
        (&self.base, &self.way)
    }

    /// Total weight of the rows.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean; none before the first row.
    pub fn value(&self) -> Option<Vec<f64>> {
        (self.weight > 0.0).then(|| self.base.iter().zip(&self.way).map(|(base, way)| base + way).collect())
    }

    /// Squared distance of the mean from the fixed point.
    pub fn squared_way(&self) -> f64 {
        dot(&self.way, &self.way)
    }
}

/// Turns a row that counts `weight` times into what it adds to the scatter matrix.
pub(super) fn weigh(row: &mut [f64], weight: f64, mean: Option<&mut Mean>) {
    match mean {
        Some(mean) => mean.add(row, weight),
        None if weight == 1.0 => {}
        None => row.iter_mut().for_each(|x| *x *= weight.sqrt()),
    }
}

/// Checks a mean that was read from bytes.
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
