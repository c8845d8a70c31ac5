//! Learned center: the mean of all rows plus a combination of recent levels, with learned coefficients.
//!
//! Setting: the mean m of all rows, and the offsets d_j from it of the last row, the row before it, and forgetting means with
//! factors 0.5, 0.8 and 0.95 ([`Sources`](crate::span::Sources)). The center is `m + Σ b_j d_j`.
//!
//! Update: b is a forgetting ridge regression of the part of a row that the learner expects to lose. With P the expected
//! projection on the kept directions, `Q² = I - (1 - ε) P` and the matrix D of the offsets, before the row is learned:
//! `G ← f G + w Dᵀ Q² D`, `h ← f h + w Dᵀ Q² (x - m)`, `b = (G + r tr(G)/5 I)⁻¹ h`, with f = [`FORGET`], ε = [`EXPLAINED`]
//! and r = [`RIDGE`]. The kept directions count a little (ε > 0), because a center that is free along them diverges.
//!
//! Outliers: the factor w is the weight of the row, reduced so that its size in the regression, the larger of its own energy and
//! the mean energy of the offsets, is at most [`LARGEST_SIZE`] times the median of the recent sizes. `--clip` limits
//! the distance from the mean at which a row enters the sources. With rows clipped around the center itself, the center would
//! follow its own predictions.
//!
//! Guarantee: none. The loss is that of the center that was used.
//!
//! Cost: that of the sources, and O(w) for w directions.

use super::{Rule, Subspace};
use crate::error::Error;
use crate::impute::solve;
use crate::linalg::Matrix;
use crate::num::exp;
use crate::recent_median::RecentMedian;
use crate::scratch::Scratch;
use crate::span::{Ambient, SOURCES, SourceMove, Span};
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

/// Factor by which the sums of the regression decay per row.
const FORGET: f64 = 0.998;
/// Weight of the kept directions in the regression.
const EXPLAINED: f64 = 1e-3;
/// Ridge, as a share of the mean diagonal entry.
const RIDGE: f64 = 1e-3;
/// Largest size of a row in the regression, as a multiple of the median of the recent sizes.
const LARGEST_SIZE: f64 = 16.0;
/// Largest absolute value of a coefficient. Larger ones only occur if rows have very different sizes.
const LARGEST_COEFFICIENT: f64 = 16.0;
/// Forgetting factors of the sources. The last row forgets all others, and the row before it follows the last row.
const MEMORIES: [f64; SOURCES] = [0.0, 0.0, 0.5, 0.8, 0.95];

/// Coefficients of a learned center and their regression.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct LearnedCenter {
    gram: [[f64; SOURCES]; SOURCES],
    moments: [f64; SOURCES],
    coefficients: [f64; SOURCES],
    /// Weights of the rows in the sources.
    weights: [f64; SOURCES],
    sizes: RecentMedian,
    /// Distances of recent rows from the mean, if rows are clipped.
    distances: RecentMedian,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// Coordinates of the offsets and of the row, relative to the mean, in the explicit directions.
    along: [Vec<f64>; SOURCES],
    row: Vec<f64>,
    /// Excess of the weight of the complement over that of each direction.
    excess: Vec<f64>,
    normal: Matrix,
}

impl LearnedCenter {
    /// Starts the center at a row of this weight.
    pub fn begin(&mut self, weight: f64) {
        self.weights = [weight; SOURCES];
    }

    /// Adds a row to the regression, and solves it.
    fn learn(&mut self, gram: &[[f64; SOURCES]; SOURCES], moments: &[f64; SOURCES], size: f64, weight: f64) {
        let weight = weight * self.sizes.shortening(size, LARGEST_SIZE);
        self.sizes.push(size);
        for (own, more) in self.gram.iter_mut().flatten().zip(gram.iter().flatten()) {
            *own = FORGET * *own + weight * more;
        }
        self.moments.iter_mut().zip(moments).for_each(|(own, more)| *own = FORGET * *own + weight * more);
        let trace: f64 = (0..SOURCES).map(|j| self.gram[j][j]).sum();
        self.coefficients = [0.0; SOURCES];
        if trace > 0.0 && trace <= LARGEST {
            self.coefficients = self.moments;
            let normal = &mut self.scratch.0.normal;
            normal.resize(SOURCES, SOURCES);
            for (j, column) in self.gram.iter().enumerate() {
                normal.column_mut(j).copy_from_slice(column);
                normal.column_mut(j)[j] += RIDGE * trace / SOURCES as f64;
            }
            solve(normal, &mut self.coefficients);
            let largest = self.coefficients.iter().fold(LARGEST_COEFFICIENT, |most, b| most.max(b.abs()));
            self.coefficients.iter_mut().for_each(|b| *b *= LARGEST_COEFFICIENT / largest);
        }
        if !self.coefficients.iter().all(|b| b.is_finite()) || !(trace <= LARGEST) {
            (self.gram, self.moments, self.coefficients) = Default::default();
        }
    }

    /// Records the distance of a row from the mean. Returns the factor that limits it to `times` the median, or 1 without `times`.
    fn shorten(&mut self, distance: f64, times: Option<f64>) -> f64 {
        times.map_or(1.0, |times| {
            let factor = self.distances.shortening(distance, times);
            self.distances.push(distance);
            factor
        })
    }

    /// Moves the weights of the sources by a row of weight `own`. Returns the steps of the sources.
    fn steps(&mut self, own: f64) -> [f64; SOURCES] {
        let next = |j: usize| MEMORIES[j] * self.weights[j] + own;
        self.weights = std::array::from_fn(next);
        self.weights.map(|weight| own / weight)
    }

    /// Checks a deserialized state.
    pub fn check_state(&self) -> Result<(), Error> {
        for list in self.gram.iter().chain([&self.moments, &self.coefficients]) {
            entries("the regression of the center", list, -LARGEST..=LARGEST)?;
        }
        ensure(self.weights.iter().all(|w| (0.0..=LARGEST).contains(w)), "the weights of sources must be finite")?;
        self.sizes.check_state()?;
        self.distances.check_state()
    }
}

impl<S: Span, R: Rule> Subspace<S, R> {
    /// Computes the coordinates of the sources in the directions, before the current point is observed.
    pub(super) fn observe_sources(&mut self) {
        let Some(learned) = self.learned.as_mut().filter(|_| self.options.center.is_some()) else { return };
        self.span.project_sources(&self.scratch.0.columns, self.scratch.0.observed.unit_square.sqrt());
        let Some(sources) = self.span.sources() else { return };
        let directions = self.rule.directions_mut();
        for (j, along) in learned.scratch.0.along.iter_mut().enumerate() {
            directions.coordinates_of(sources.coordinates(j), along);
        }
    }

    /// Learns the coefficients of the center from the current point. Returns the change of the center. The spectrum must be
    /// that of the trial.
    pub(super) fn learn_coefficients(&mut self) -> Option<SourceMove> {
        let learned = self.learned.as_mut().filter(|_| self.options.center.is_some())?;
        let (sources, before) = (self.span.sources()?, learned.coefficients);
        let (with_row, square) = sources.with_row(&before);
        let Working { along, row, excess, .. } = &mut learned.scratch.0;
        let common = self.rule.complement().log_weight.exp();
        let (whole, factor) = (EXPLAINED + (1.0 - EXPLAINED) * common, 1.0 - EXPLAINED);
        excess.clear();
        excess.extend(self.scratch.0.dropped.iter().map(|dropped| factor * (common - dropped)));
        let scale = self.scratch.0.observed.unit_square.sqrt();
        row.clear();
        row.extend(self.rule.directions().coordinates().iter().map(|a| scale * a));
        for (b, along) in before.iter().zip(&*along) {
            row.iter_mut().zip(along).for_each(|(a, more)| *a += b * more);
        }
        let lost = |product: f64, a: &[f64], b: &[f64]| {
            let kept: f64 = a.iter().zip(b).zip(&*excess).map(|((a, b), excess)| excess * a * b).sum();
            whole * product - kept
        };
        let mut gram = [[0.0; SOURCES]; SOURCES];
        for i in 0..SOURCES {
            for j in 0..=i {
                gram[i][j] = lost(sources.gram()[i][j], &along[i], &along[j]);
                gram[j][i] = gram[i][j];
            }
        }
        let moments = std::array::from_fn(|j| lost(with_row[j], &along[j], row));
        let mean_size = (0..SOURCES).map(|j| gram[j][j]).sum::<f64>() / SOURCES as f64;
        let size = lost(square, row, row).max(mean_size).clamp(0.0, LARGEST);
        let own = self.scratch.0.row_weight;
        learned.learn(&gram, &moments, size, own);
        let shortening = learned.shorten(square.sqrt().min(LARGEST), self.options.clip);
        let (steps, mean_step) = (learned.steps(own), own / (self.center_weight + own));
        Some(SourceMove { shortening, mean_step, steps, before, after: learned.coefficients })
    }
}

impl<R: Rule> Subspace<Ambient, R> {
    /// Moves a learned center along the rows of a batch, after the batch was learned. Other centers stay.
    pub(crate) fn advance_learned_center(&mut self, rows: &[&[f64]]) {
        if self.learned.is_none() {
            return;
        }
        let square = self.scratch.0.square;
        self.span.renew_sources();
        for row in rows {
            let Ok(square) = self.or_negligible(|span| span.load_point(row)) else { continue };
            self.scratch.0.row_weight = 1.0;
            self.admit(square);
            self.project(row, square);
            let to_unit = self.to_unit();
            self.scratch.0.columns.iter_mut().for_each(|c| *c *= to_unit);
            self.observe_sources();
            self.observe();
            self.rule.log_weights().clone_into(&mut self.scratch.0.dropped);
            exp(&mut self.scratch.0.dropped);
            let change = self.learn_coefficients();
            self.move_center(1.0, change);
        }
        self.scratch.0.square = square;
    }
}
