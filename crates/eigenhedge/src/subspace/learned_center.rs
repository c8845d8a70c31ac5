//! Learned center: the mean of all rows plus a combination of recent rows and forgetting means, with learned
//! coefficients.
//!
//! Setting: m is the mean of all rows. The sources are the last row, the row before it, and
//! forgetting means with factors 0.5, 0.8 and 0.95 ([`Sources`](crate::span::Sources)). The offset
//! d_j of a source is its difference from m. The center is `m + Σ b_j d_j`.
//!
//! Update: b is the solution of a forgetting ridge regression of the part of a row x that the learner expects to lose.
//! With the expected projection P on the kept directions, `A = I - (1 - ε) P` and the matrix D of the offsets, all
//! before the row is learned: `G ← f G + a Dᵀ A D`, `h ← f h + a Dᵀ A (x - m)`, `b = (G + r tr(G)/5 I)⁻¹ h`, with f =
//! [`FORGET`], ε = [`EXPLAINED`] and r = [`RIDGE`]. The weight ε > 0 of the kept directions keeps the center from
//! diverging along them.
//!
//! Outliers: the factor a is the weight of the row, reduced so that its size in the regression is at most
//! [`LARGEST_SIZE`] times the median of the recent sizes. The size is the larger of the row's energy in A and the mean
//! energy of the offsets in A. With `--clip`, a row enters the sources at a limited distance from the mean. If rows
//! were clipped around the center itself, the center would follow its own predictions.
//!
//! Guarantee: none. The loss of a row is relative to the center before that row.
//!
//! Cost: that of the sources, and O(u) for u explicit directions.

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
/// Forgetting factors of the sources. The last row has the factor 0. The entry of the row before it
/// has no effect, because this source takes the previous value of the first source.
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
    /// Coordinates of each offset in the explicit directions.
    pub along: [Vec<f64>; SOURCES],
    /// Coordinates of the row, relative to the mean, in the explicit directions.
    pub row: Vec<f64>,
    /// Weight of the complement in the regression minus that of each explicit direction.
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

    /// Returns the factor that limits the distance of a row from the mean to `times` the median of recent distances.
    /// Records the distance. Without `times`, returns 1 and records nothing.
    pub fn shorten(&mut self, distance: f64, times: Option<f64>) -> f64 {
        times.map_or(1.0, |times| {
            let factor = self.distances.shortening(distance, times);
            self.distances.push(distance);
            factor
        })
    }

    /// Adds a row of weight `own` to the weights of the sources. Returns the steps of the sources toward the row.
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
