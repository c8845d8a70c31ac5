//! Frame: a few explicit directions with values that change by rank-one updates.
//!
//! Setting: a symmetric matrix with the eigenvalues `values` along the columns of `rotation` (in coordinates of the
//! columns of the span) and one common eigenvalue elsewhere.
//! Update: to add `σ z zᵀ`, the part of z outside the directions becomes a direction with the common value. Then only
//! the explicit block changes. The rotation stays a factor until the rule has decided which directions to retain.
//! [`AT_ONCE`] dyads are added by one decomposition.
//! Cost: O(w u) for coordinates and O(w u²) for the rotation, with u directions in w ≤ u + max(p, u/3) + 1 columns, p
//! pending.
//! Numerics: coordinates are computed twice if little of the point is outside ("twice is enough"). If the second pass
//! more than halves that part, it is rounding error. The drift of the rotation from orthonormality is measured every
//! [`LOOK_EVERY`] updates and removed above [`REFRESH`].

use super::rule::{Directions, Observed};
use crate::error::Error;
use crate::linalg::checks::{orthonormal, shape};
use crate::linalg::{Factor, FactorScratch, Matrix, multiplied, orthonormal_to, symmetric_eigen};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::simplex::{Multiplicity, others as checked_others};
use crate::state::{LARGEST, State, count, ensure, entries};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub dimension: Multiplicity,
    columns: usize,
    pub rotation: Matrix,
    pub values: Vec<f64>,
    changes: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    factor: Factor,
    working: FactorScratch,
    coordinates: Vec<f64>,
    correction: Vec<f64>,
    outside: Vec<f64>,
    outside_square: f64,
    keep: Vec<bool>,
    is_rotated: bool,
    combination: Matrix,
}

/// Share of the length of a point below which its part outside the directions is rounding error.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Share of the length of a point below which its part outside the directions is computed twice.
const REPEAT: f64 = 0.75;
const ORTHOGONAL: f64 = 4e-15;
/// Share of the first result that the second pass must leave.
const HALVED: f64 = 0.5;
const AT_ONCE: usize = 9;
const LOOK_EVERY: u64 = 256;
const REFRESH: f64 = 1e-13;

/// Returns the number of directions that are not explicit.
pub(super) fn others(dimension: Multiplicity, explicit: usize) -> Multiplicity {
    match dimension {
        Multiplicity::Finite(n) => Multiplicity::Finite(n - explicit as u64),
        Multiplicity::Infinite => Multiplicity::Infinite,
    }
}

impl Directions for Frame {
    fn columns(&self) -> usize {
        self.columns
    }

    fn observe(&mut self, columns: &[f64]) -> f64 {
        let Working { coordinates, correction, outside, outside_square, .. } = &mut self.scratch.0;
        self.rotation.transpose_times(columns, coordinates);
        columns.clone_into(outside);
        let square = dot(columns, columns);
        let mut left = self.rotation.subtract_times(coordinates, outside);
        if left < REPEAT * REPEAT * square {
            let first = left;
            self.rotation.transpose_times(outside, correction);
            if dot(correction, correction) > ORTHOGONAL * ORTHOGONAL * first {
                left = self.rotation.subtract_times(correction, outside);
                coordinates.iter_mut().zip(correction).for_each(|(c, more)| *c += *more);
            }
            if left < HALVED * HALVED * first {
                left = 0.0;
            }
        }
        let complete = self.rotation.columns() == self.rotation.rows();
        *outside_square = if complete || left <= ROUNDING * ROUNDING * square { 0.0 } else { left };
        *outside_square
    }

    fn coordinates_of(&mut self, columns: &[f64], out: &mut Vec<f64>) {
        self.rotation.transpose_times(columns, out);
    }

    fn heal(&mut self) {
        self.rotation.orthonormalise();
    }

    fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    fn outside(&self) -> &[f64] {
        &self.scratch.0.outside
    }

    fn select(&mut self, order: &[usize], out: &mut Matrix) {
        self.rotation.copy_columns(order, out);
    }
}

impl Frame {
    pub fn new(dimension: Multiplicity) -> Self {
        Self {
            dimension,
            columns: 0,
            rotation: Matrix::default(),
            values: Vec::new(),
            changes: 0,
            scratch: Scratch::default(),
        }
    }

    pub fn others(&self) -> Multiplicity {
        others(self.dimension, self.values.len())
    }

    pub fn replace(&mut self, directions: &Matrix, values: impl Iterator<Item = f64>) {
        refill(&mut self.values, values);
        self.rotation.resize(directions.rows(), self.values.len());
        self.rotation.for_each_column(|j, column| column.copy_from_slice(directions.column(j)));
    }

    pub fn grow(&mut self, columns: usize) {
        self.columns = columns;
        self.rotation.resize(columns, self.rotation.columns());
    }

    /// Adds `sigma · z zᵀ` for the point z observed last. Values change at once, the directions by [`Self::retain`].
    pub fn change(&mut self, sigma: f64, common: f64) {
        if self.scratch.0.outside_square > 0.0 {
            self.append_outside(common);
        }
        let Working { factor, working, coordinates, is_rotated, .. } = &mut self.scratch.0;
        *is_rotated = false;
        factor.solve(&mut self.values, sigma, coordinates, working);
    }

    /// Adds `rate` times an instance whose dyads were just observed, in order. Returns false if all weights are zero.
    /// Otherwise [`Self::retain`] must be called next.
    pub fn change_by_dyads(&mut self, instance: &Observed, rate: f64, common: f64) -> bool {
        if instance.weights.iter().filter(|weight| **weight != 0.0).count() >= AT_ONCE {
            self.change_at_once(instance, rate, common);
            return true;
        }
        let mut changed = false;
        // Runs from the last dyad, whose coordinates are available, to the first.
        for (j, weight) in instance.weights.iter().enumerate().rev().filter(|(_, weight)| **weight != 0.0) {
            if changed {
                self.retain(|_, _| true);
            }
            if j + 1 < instance.weights.len() {
                self.observe(instance.coordinates.column(j));
            }
            self.change(rate * weight, common);
            changed = true;
        }
        changed
    }

    fn change_at_once(&mut self, instance: &Observed, rate: f64, common: f64) {
        let coordinates = &instance.coordinates;
        let mut vector = Vec::new();
        for j in (0..coordinates.columns()).filter(|j| instance.weights[*j] != 0.0) {
            coordinates.copy_column(j, &mut vector);
            vector.resize(self.columns, 0.0);
            if self.rotation.columns() < self.columns && orthonormal_to(&self.rotation, &mut vector) {
                self.rotation.push_column(&vector);
                self.values.push(common);
            }
        }
        let rows = coordinates.rows();
        let along = multiplied(self.rotation.view().subrows(0, rows).transpose(), coordinates.view());
        let mut scaled = along.clone();
        scaled.scale_columns(|j| rate * instance.weights[j]);
        let mut sum = multiplied(scaled.view(), along.view().transpose());
        self.values.iter().enumerate().for_each(|(j, value)| sum.column_mut(j)[j] += value);
        let mut eigen = symmetric_eigen(&sum);
        let mut turned = multiplied(self.rotation.view(), eigen.vectors.view());
        if rate < 0.0 {
            eigen.values.reverse();
            turned.reverse_columns();
        }
        (self.rotation, self.values) = (turned, eigen.values);
        self.scratch.0.is_rotated = true;
    }

    fn append_outside(&mut self, common: f64) {
        let Working { outside, outside_square, coordinates, .. } = &mut self.scratch.0;
        let j = self.rotation.columns();
        self.rotation.resize(self.columns, j + 1);
        let norm = outside_square.sqrt();
        for (entry, x) in self.rotation.column_mut(j).iter_mut().zip(&*outside) {
            *entry = x / norm;
        }
        self.values.push(common);
        coordinates.push(norm);
    }

    /// Rotates the directions after an update, and keeps those that pass. Values are ascending after a positive update
    /// and descending after a negative one.
    pub fn retain(&mut self, pass: impl Fn(usize, f64) -> bool) {
        let Working { factor, working, keep, is_rotated, .. } = &mut self.scratch.0;
        refill(keep, self.values.iter().enumerate().map(|(i, value)| pass(i, *value)));
        if std::mem::take(is_rotated) {
            self.rotation.retain_columns(keep);
        } else {
            factor.rotate(&mut self.rotation, keep, working);
        }
        let mut kept = keep.iter();
        self.values.retain(|_| kept.next().is_some_and(|keep| *keep));
        self.changes += 1;
        if self.changes.is_multiple_of(LOOK_EVERY) && self.rotation.drift() > REFRESH {
            self.rotation.orthonormalise();
        }
    }

    /// Makes the directions the columns, and returns the combination that the span must apply. More columns give a row
    /// more coordinates, but make combinations rarer: the best number of extra ones is proportional to the directions.
    pub fn combine(&mut self, max_pending: usize) -> Option<&Matrix> {
        let directions = self.values.len();
        if self.columns < directions + max_pending.max(directions / 3) {
            return None;
        }
        std::mem::swap(&mut self.rotation, &mut self.scratch.0.combination);
        self.columns = directions;
        self.rotation.reset(directions, directions);
        self.rotation.for_each_column(|i, column| column[i] = 1.0);
        Some(&self.scratch.0.combination)
    }

    /// Restricts the matrix after the span has lost columns. Values near `common` are no longer explicit.
    pub fn reduce(&mut self, rotation: &Matrix, common: f64) {
        let reduced = multiplied(rotation.view().transpose(), self.rotation.view());
        let mut scaled = reduced.clone();
        scaled.scale_columns(|j| self.values[j] - common);
        let compressed = multiplied(scaled.view(), reduced.view().transpose());
        let eigen = symmetric_eigen(&compressed);
        let largest = eigen.values.iter().fold(0f64, |a, v| a.max(v.abs()));
        self.columns = rotation.columns();
        self.rotation.resize(self.columns, 0);
        self.values.clear();
        for (j, value) in eigen.values.iter().enumerate().filter(|(_, value)| value.abs() > ROUNDING * largest) {
            self.rotation.push_column(eigen.vectors.column(j));
            self.values.push(common + value);
        }
    }
}

impl State for Frame {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.dimension == built.dimension, "the directions must lie in the space of the learner")?;
        checked_others(self.dimension, self.columns)?;
        shape("the basis of the directions", &self.rotation, self.columns, self.values.len())?;
        entries("values of the directions", &self.values, -LARGEST..=LARGEST)?;
        count("the number of changes", self.changes)?;
        orthonormal("the basis of the directions", &self.rotation)
    }
}
