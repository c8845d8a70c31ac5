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

use crate::error::Error;
use crate::impute::solve;
use crate::linalg::Matrix;
use crate::recent_median::RecentMedian;
use crate::scratch::Scratch;
use crate::span::SOURCES;
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

/// Factor by which the sums of the regression decay per row.
const FORGET: f64 = 0.998;
/// Weight of the kept directions in the regression.
pub(super) const EXPLAINED: f64 = 1e-3;
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
    pub coefficients: [f64; SOURCES],
    weights: [f64; SOURCES],
    sizes: RecentMedian,
    /// Distances of recent rows from the mean, if rows are clipped.
    distances: RecentMedian,
    #[serde(skip)]
    pub scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    /// Coordinates of the offsets and of the row, relative to the mean, in the explicit directions.
    pub along: [Vec<f64>; SOURCES],
    pub row: Vec<f64>,
    /// Excess of the weight of the complement over that of each direction.
    pub excess: Vec<f64>,
    normal: Matrix,
}

impl LearnedCenter {
    pub fn begin(&mut self, weight: f64) {
        self.weights = [weight; SOURCES];
    }

    pub fn add(&mut self, gram: &[[f64; SOURCES]; SOURCES], moments: &[f64; SOURCES], size: f64, weight: f64) {
        let weight = weight * self.sizes.shortening(size, LARGEST_SIZE);
        self.sizes.push(size);
        for (own, more) in self.gram.iter_mut().flatten().zip(gram.iter().flatten()) {
            *own = FORGET * *own + weight * more;
        }
        self.moments.iter_mut().zip(moments).for_each(|(own, more)| *own = FORGET * *own + weight * more);
    }

    pub fn solve(&mut self) {
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
    pub fn shorten(&mut self, distance: f64, times: Option<f64>) -> f64 {
        times.map_or(1.0, |times| {
            let factor = self.distances.shortening(distance, times);
            self.distances.push(distance);
            factor
        })
    }

    /// Moves the weights of the sources by a row of weight `own`. Returns the steps of the sources.
    pub fn steps(&mut self, own: f64) -> [f64; SOURCES] {
        let next = |j: usize| MEMORIES[j] * self.weights[j] + own;
        self.weights = std::array::from_fn(next);
        self.weights.map(|weight| own / weight)
    }

    pub fn check_state(&self) -> Result<(), Error> {
        for list in self.gram.iter().chain([&self.moments, &self.coefficients]) {
            entries("the regression of the center", list, -LARGEST..=LARGEST)?;
        }
        ensure(self.weights.iter().all(|w| (0.0..=LARGEST).contains(w)), "the weights of sources must be finite")?;
        self.sizes.check_state()?;
        self.distances.check_state()
    }
}
