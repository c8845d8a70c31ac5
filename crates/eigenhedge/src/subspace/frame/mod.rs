//! A few explicit directions with values, under rank-one changes: what the rules with small spectra share.
//!
//! Setting: a symmetric matrix with eigenvalues `values` along `rotation` (in the coordinates of the span's columns) and
//! one common value everywhere else.
//!
//! Update: `+ σ z zᵀ` makes what of z lies outside a direction of its own (with the common value) and then changes the
//! explicit block only. The eigenvectors wait in the factor until the rule has decided which directions it keeps.
//!
//! Cost: O(w u) for coordinates, O(w u²) for the rotation, with u directions in w columns, w ≤ u + max(p, u/3) + 1 for a span of
//! max_pending p.
//!
//! Numerics: coordinates are computed twice when little lies outside ("twice is enough"), and what a second pass halves again is
//! rounding. The rotation's drift is measured every [`LOOK_EVERY`] changes and removed past [`REFRESH`].

mod state;

use super::rule::Observed;
use crate::linalg::{Factor, FactorScratch, Matrix, multiply, symmetric_eigen};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};

/// Explicit directions with values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    dimension: Multiplicity,
    columns: usize,
    rotation: Matrix,
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
}

/// What lies outside by less than this share is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Less than this share outside is computed twice.
const REPEAT: f64 = 0.75;
/// A part outside that overlaps the directions by less than this share of it is orthogonal to them.
const ORTHOGONAL: f64 = 4e-15;
/// A second pass that leaves less than this share of the first has found rounding.
const HALVED: f64 = 0.5;
/// Changes between two looks at the drift of the rotation, and the drift that calls for a fresh one.
const LOOK_EVERY: u64 = 256;
const REFRESH: f64 = 1e-13;

impl Frame {
    /// No explicit directions yet in a space of this dimension.
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

    /// Number of directions that are not explicit.
    pub fn others(&self) -> Multiplicity {
        self.others_beyond(self.values.len())
    }

    /// Explicit directions, in the coordinates of the span's columns.
    pub fn rotation(&self) -> &Matrix {
        &self.rotation
    }

    /// Number of directions that would not be explicit if there were this many explicit ones.
    pub fn others_beyond(&self, explicit: usize) -> Multiplicity {
        match self.dimension {
            Multiplicity::Finite(n) => Multiplicity::Finite(n - explicit as u64),
            Multiplicity::Infinite => Multiplicity::Infinite,
        }
    }

    /// Dimension of the space.
    pub fn dimension(&self) -> Multiplicity {
        self.dimension
    }

    /// Replaces directions and values: the first columns of the matrix, one for each value.
    pub fn replace(&mut self, directions: &Matrix, values: impl Iterator<Item = f64>) {
        self.values.clear();
        self.values.extend(values);
        self.rotation.resize(directions.rows(), self.values.len());
        for j in 0..self.values.len() {
            self.rotation.column_mut(j).copy_from_slice(directions.column(j));
        }
    }

    /// The span has this many columns now.
    pub fn grow(&mut self, columns: usize) {
        self.columns = columns;
        self.rotation.resize(columns, self.rotation.columns());
    }

    /// Splits a point into coordinates and what lies outside; returns the squared length of the latter.
    pub fn observe(&mut self, columns: &[f64]) -> f64 {
        let Working { coordinates, correction, outside, outside_square, .. } = &mut self.scratch.0;
        self.rotation.transpose_times(columns, coordinates);
        outside.clear();
        outside.extend_from_slice(columns);
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

    /// Makes the directions orthonormal again.
    pub fn heal(&mut self) {
        self.rotation.orthonormalise();
    }

    /// Coordinates of the point observed last.
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    /// What of it lies outside, in the coordinates of the span's columns.
    pub fn outside(&self) -> &[f64] {
        &self.scratch.0.outside
    }

    /// Adds `sigma` times the dyad of the point observed last. What lies outside becomes explicit with the value `common`.
    /// The values are new at once; the directions follow in [`Self::retain`].
    pub fn change(&mut self, sigma: f64, common: f64) {
        if self.scratch.0.outside_square > 0.0 {
            self.append_outside(common);
        }
        let Working { factor, working, coordinates, .. } = &mut self.scratch.0;
        factor.solve(&mut self.values, sigma, coordinates, working);
    }

    /// Adds `rate` times an instance whose dyads were just observed, in order; false when it teaches nothing. The last
    /// turn of the directions is left to [`Self::retain`].
    pub fn change_by_dyads(&mut self, instance: &Observed, rate: f64, common: f64) -> bool {
        let mut changed = false;
        // From the last dyad, whose coordinates are at hand, to the first.
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

    /// Turns the directions to the last change and keeps those whose place and value pass. The places ascend by value
    /// after a positive change and descend after a negative one.
    pub fn retain(&mut self, pass: impl Fn(usize, f64) -> bool) {
        let Working { factor, working, keep, .. } = &mut self.scratch.0;
        keep.clear();
        keep.extend(self.values.iter().enumerate().map(|(i, value)| pass(i, *value)));
        factor.rotate(&mut self.rotation, keep, working);
        let mut kept = keep.iter();
        self.values.retain(|_| kept.next().is_some_and(|keep| *keep));
        self.changes += 1;
        if self.changes.is_multiple_of(LOOK_EVERY) && self.rotation.drift() > REFRESH {
            self.rotation.orthonormalise();
        }
    }

    /// The combination the span should apply to its columns, when there are so many more of them than directions. Every
    /// one makes the coordinates of a row more and the combination of u directions rarer: a share of u costs least when
    /// there are many.
    pub fn due(&self, max_pending: usize) -> Option<&Matrix> {
        let directions = self.values.len();
        (self.columns >= directions + max_pending.max(directions / 3)).then_some(&self.rotation)
    }

    /// The span has combined: directions are columns now.
    pub fn combined(&mut self) {
        let directions = self.rotation.columns();
        self.columns = directions;
        self.rotation.resize(0, 0);
        self.rotation.resize(directions, directions);
        for i in 0..directions {
            self.rotation.column_mut(i)[i] = 1.0;
        }
    }

    /// The span has lost columns: the matrix is compressed to those that are left. Directions that then have the
    /// value `common` (to rounding) are explicit no more.
    pub fn reduce(&mut self, rotation: &Matrix, common: f64) {
        let (mut reduced, mut scaled, mut compressed) = (Matrix::default(), Matrix::default(), Matrix::default());
        multiply(&mut reduced, rotation.view().transpose(), self.rotation.view());
        scaled.clone_from(&reduced);
        for (j, value) in self.values.iter().enumerate() {
            scaled.column_mut(j).iter_mut().for_each(|x| *x *= value - common);
        }
        multiply(&mut compressed, scaled.view(), reduced.view().transpose());
        let eigen = symmetric_eigen(&compressed);
        let largest = eigen.values.iter().fold(0f64, |a, v| a.max(v.abs()));
        self.columns = rotation.columns();
        self.rotation.resize(0, 0);
        self.values.clear();
        for (j, value) in eigen.values.iter().enumerate().filter(|(_, value)| value.abs() > ROUNDING * largest) {
            let column = self.values.len();
            self.rotation.resize(self.columns, column + 1);
            self.rotation.column_mut(column).copy_from_slice(eigen.vectors.column(j));
            self.values.push(common + value);
        }
    }
}
