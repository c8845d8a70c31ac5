//! Tracking: mirror descent over subspaces.
//!
//! Setting: instances z with `|z|² ≤ Q²`, or symmetric matrices with eigenvalues in `[0, Q²]`.
//!
//! Update: `log V ← cap(log V - (η/Q²) z zᵀ)`, then mixing. State: the eigenvectors of V that differ from the
//! complement (`rotation`, in the coordinates of the span), their `log v` (`log_weights`), and the common `log v`
//! of everything else (`complement`).
//!
//! Guarantee: without mixing, total expected loss ≤ `(η L* + Q² d log(N/d)) / (1 - e^{-η})` for every sequence,
//! where L* is the loss of the best fixed subspace (JMLR Theorem 6). With mixing it follows changes; the papers
//! prove that for experts only.
//!
//! Cost: O(n u) for the coordinates and O(w u²) for the rotation, with u the uncapped directions, u ≤ w ≤ u + 9.
//! The paper's own count is O(n²). Past-average mixing: one dense eigendecomposition for each trial.
//!
//! Numerics: all weights are logarithms. A direction that reaches the cap together with the complement is equal
//! to it bit for bit and is merged away; nothing is approximated.
//!
//! References: Warmuth & Kuzmin, JMLR 2008, Algorithm 5 and section 8; Kuzmin & Warmuth, ICML 2007, Algorithm 3.

use super::past::PastAverage;
use super::rule::{Observed, Rule};
use crate::eigen::{Factor, FactorScratch, symmetric_eigen};
use crate::error::{self, Error};
use crate::matrix::{Matrix, multiply};
use crate::mixing::{Mixing, blend};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::simplex::{CapScratch, Complement, Multiplicity, cap};
use serde::{Deserialize, Serialize};

/// The tracking rule with its spectrum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracking {
    eta: f64,
    mixing: Mixing,
    kept: usize,
    /// `log(d/N)`, the weight of every direction at the start.
    uniform: f64,
    columns: usize,
    /// Explicit directions, in the coordinates of the span's columns.
    rotation: Matrix,
    log_weights: Vec<f64>,
    complement: Complement,
    past: Option<PastAverage>,
    updates: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    factor: Factor,
    working: FactorScratch,
    cap: CapScratch,
    coordinates: Vec<f64>,
    correction: Vec<f64>,
    outside: Vec<f64>,
    outside_square: f64,
    keep: Vec<bool>,
}

/// Rows between two combinations of the span's columns: the pass over them is paid once for all.
const DELAY: usize = 8;
/// What lies outside the explicit directions by less than this share is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Updates between two looks at the drift of the rotation, and the drift that calls for a fresh one.
const LOOK_EVERY: u64 = 256;
const REFRESH: f64 = 1e-12;

impl Tracking {
    /// A rule with learning rate `eta` that keeps `kept` of the directions of a space of the given dimension.
    pub fn new(eta: f64, mixing: Mixing, kept: usize, dimension: Multiplicity) -> Result<Self, Error> {
        let eta = error::positive("eta", eta)?;
        let mixing = mixing.checked()?;
        super::check_kept(kept, dimension)?;
        let complement = super::uniform(kept, dimension);
        let past = matches!(mixing, Mixing::PastAverage { .. }).then(|| PastAverage::new(complement.log_weight));
        Ok(Self {
            eta,
            mixing,
            kept,
            uniform: complement.log_weight,
            columns: 0,
            rotation: Matrix::default(),
            log_weights: Vec::new(),
            complement,
            past,
            updates: 0,
            scratch: Scratch::default(),
        })
    }

    /// The learning rate.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// Splits a point into coordinates in the explicit directions and the rest, which goes to `outside`.
    fn split(&mut self, columns: &[f64]) -> f64 {
        let Working { coordinates, correction, outside, .. } = &mut self.scratch.0;
        self.rotation.transpose_times(columns, coordinates);
        outside.clear();
        outside.extend_from_slice(columns);
        let square = dot(columns, columns);
        let mut left = self.rotation.subtract_times(coordinates, outside);
        if left < 0.01 * square {
            self.rotation.transpose_times(outside, correction);
            left = self.rotation.subtract_times(correction, outside);
            coordinates.iter_mut().zip(correction).for_each(|(c, more)| *c += *more);
        }
        let complete = self.rotation.columns() == self.rotation.rows();
        if complete || left <= ROUNDING * ROUNDING * square { 0.0 } else { left }
    }

    /// Makes what lies outside an explicit direction with the weight of the complement.
    fn append_outside(&mut self, square: f64) {
        let j = self.rotation.columns();
        self.rotation.resize(self.columns, j + 1);
        let norm = square.sqrt();
        for (entry, x) in self.rotation.column_mut(j).iter_mut().zip(&self.scratch.0.outside) {
            *entry = x / norm;
        }
        self.log_weights.push(self.complement.log_weight);
        self.scratch.0.coordinates.push(norm);
        if let Multiplicity::Finite(n) = &mut self.complement.multiplicity {
            *n -= 1;
        }
    }

    /// Subtracts `rate` times the dyad of the point last split from `log V`; the eigenvectors wait in the factor.
    fn absorb(&mut self, rate: f64) {
        let outside = self.scratch.0.outside_square;
        if outside > 0.0 {
            self.append_outside(outside);
        }
        let Working { factor, working, coordinates, .. } = &mut self.scratch.0;
        factor.solve(&mut self.log_weights, -rate, coordinates, working);
    }

    fn rotate(&mut self) {
        let Working { factor, working, keep, .. } = &mut self.scratch.0;
        factor.rotate(&mut self.rotation, keep, working);
    }

    fn mix(&mut self) {
        if let Mixing::FixedShare { alpha } = self.mixing {
            for weight in &mut self.log_weights {
                *weight = blend(*weight, self.uniform, alpha);
            }
            self.complement.log_weight = blend(self.complement.log_weight, self.uniform, alpha);
        }
    }

    /// Marks the directions that differ from the complement; the others merge into it.
    fn merge(&mut self) {
        let common = self.complement.log_weight;
        let keep = &mut self.scratch.0.keep;
        keep.clear();
        keep.extend(self.log_weights.iter().map(|w| *w != common));
        let before = self.log_weights.len();
        self.log_weights.retain(|w| *w != common);
        if let Multiplicity::Finite(n) = &mut self.complement.multiplicity {
            *n += (before - self.log_weights.len()) as u64;
        }
    }

    /// Keeps the rotation orthonormal over very long runs.
    fn look_at_drift(&mut self) {
        self.updates += 1;
        if self.updates.is_multiple_of(LOOK_EVERY) && self.rotation.drift() > REFRESH {
            self.rotation.orthonormalise();
        }
    }
}

impl Rule for Tracking {
    fn grow(&mut self, columns: usize) {
        self.columns = columns;
        self.rotation.resize(columns, self.rotation.columns());
        if let Some(past) = &mut self.past {
            past.grow(columns);
        }
    }

    fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    fn complement(&self) -> &Complement {
        &self.complement
    }

    fn observe(&mut self, columns: &[f64]) -> f64 {
        self.scratch.0.outside_square = self.split(columns);
        self.scratch.0.outside_square
    }

    fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    fn outside(&self) -> &[f64] {
        &self.scratch.0.outside
    }

    fn direction(&mut self, i: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.rotation.column(i));
    }

    fn update(&mut self, instance: &Observed, norm_square: f64) {
        let rate = self.eta / norm_square;
        let mut absorbed = false;
        // From the last dyad, whose coordinates are at hand, to the first.
        for (j, weight) in instance.weights.iter().enumerate().rev().filter(|(_, weight)| **weight > 0.0) {
            if absorbed {
                self.scratch.0.keep.clear();
                self.scratch.0.keep.resize(self.log_weights.len(), true);
                self.rotate();
            }
            if j + 1 < instance.weights.len() {
                self.scratch.0.outside_square = self.split(instance.coordinates.column(j));
            }
            self.absorb(rate * weight);
            absorbed = true;
        }
        if absorbed {
            cap(&mut self.log_weights, &mut self.complement, self.kept, &mut self.scratch.0.cap);
        }
        self.mix();
        if absorbed {
            self.merge();
            self.rotate();
            self.look_at_drift();
        }
        if let (Some(past), Mixing::PastAverage { alpha }) = (&mut self.past, self.mixing) {
            past.mix(alpha, &mut self.rotation, &mut self.log_weights, &mut self.complement);
        }
    }

    fn rotation(&mut self) -> Option<&Matrix> {
        let due = self.past.is_none() && self.columns >= self.log_weights.len() + DELAY;
        due.then_some(&self.rotation)
    }

    fn rotated(&mut self) {
        let directions = self.rotation.columns();
        self.columns = directions;
        self.rotation.resize(0, 0);
        self.rotation.resize(directions, directions);
        for i in 0..directions {
            self.rotation.column_mut(i)[i] = 1.0;
        }
    }

    fn reduce(&mut self, rotation: &Matrix) {
        // log V compressed to the columns that are left, without the common weight of the complement.
        let common = self.complement.log_weight;
        let (mut reduced, mut scaled) = (Matrix::default(), Matrix::default());
        multiply(&mut reduced, rotation.view().transpose(), self.rotation.view());
        scaled.clone_from(&reduced);
        for (j, weight) in self.log_weights.iter().enumerate() {
            scaled.column_mut(j).iter_mut().for_each(|x| *x *= weight - common);
        }
        let mut compressed = Matrix::default();
        multiply(&mut compressed, scaled.view(), reduced.view().transpose());
        let eigen = symmetric_eigen(compressed.view());
        let largest = eigen.values.iter().fold(0f64, |a, v| a.max(v.abs()));
        let explicit = self.log_weights.len();
        self.columns = rotation.columns();
        self.rotation.resize(0, 0);
        self.log_weights.clear();
        for (j, value) in eigen.values.iter().enumerate().filter(|(_, value)| value.abs() > ROUNDING * largest) {
            let column = self.log_weights.len();
            self.rotation.resize(self.columns, column + 1);
            self.rotation.column_mut(column).copy_from_slice(eigen.vectors.column(j));
            self.log_weights.push((common + value).min(0.0));
        }
        if let Multiplicity::Finite(n) = &mut self.complement.multiplicity {
            *n = *n + explicit as u64 - self.log_weights.len() as u64;
        }
        cap(&mut self.log_weights, &mut self.complement, self.kept, &mut self.scratch.0.cap);
        if let Some(past) = &mut self.past {
            past.reduce(rotation);
        }
    }
}
