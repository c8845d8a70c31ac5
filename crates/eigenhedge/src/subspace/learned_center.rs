//! Learned center: the mean of all rows plus a learned combination of recent rows and forgetting means.
//!
//! Setting: m is the mean of all rows. The sources are the last row, the row before it, and forgetting means
//! ([`Sources`](crate::span::Sources)). With the offsets d_j of the sources from m, the center is `m + Σ b_j d_j`.
//! Update: b solves a forgetting ridge regression of the part of a row x that the learner expects to lose. With the
//! expected projection P, `A = I - (1 - ε) P` and the matrix D of the offsets, all before the row is learned: `G ← f G
//! + a Dᵀ A D`, `h ← f h + a Dᵀ A (x - m)`, `b = (G + r tr(G)/5 I)⁻¹ h`, with f = [`FORGET`], ε = [`EXPLAINED`] and r =
//! [`RIDGE`]. The weight ε > 0 keeps the center from diverging along the kept directions.
//! Outliers: the factor a is the weight of the row, reduced so that its size (the larger of the energies in A of the
//! row and of the mean offset) is at most [`LARGEST_SIZE`] times the median of recent sizes. With `--clip`, a row
//! enters the sources at a limited distance from the mean: around the center itself, the center would follow its own
//! predictions.
//! Guarantee: none. The loss of a row is relative to the center before that row.
//! Cost: that of the sources, and O(u) for u explicit directions.

use crate::error::Error;
use crate::impute::solve;
use crate::linalg::Matrix;
use crate::recent_median::RecentMedian;
use crate::scratch::Scratch;
use crate::span::SOURCES;
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

const FORGET: f64 = 0.998;
pub(super) const EXPLAINED: f64 = 1e-3;
const RIDGE: f64 = 1e-3;
const LARGEST_SIZE: f64 = 16.0;
/// Largest absolute coefficient. Larger ones occur only if rows have very different sizes.
const LARGEST_COEFFICIENT: f64 = 16.0;
/// Forgetting factors of the sources. The second source takes the previous value of the first, so its factor has no
/// effect.
const MEMORIES: [f64; SOURCES] = [0.0, 0.0, 0.5, 0.8, 0.95];

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct LearnedCenter {
    gram: [[f64; SOURCES]; SOURCES],
    moments: [f64; SOURCES],
    pub coefficients: [f64; SOURCES],
    weights: [f64; SOURCES],
    sizes: RecentMedian,
    distances: RecentMedian,
    #[serde(skip)]
    pub scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    pub along: [Vec<f64>; SOURCES],
    /// Coordinates of the row relative to the mean.
    pub row: Vec<f64>,
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

    /// Returns the factor that limits the distance of a row to `times` the median of recent ones, and records it.
    pub fn shorten(&mut self, distance: f64, times: Option<f64>) -> f64 {
        times.map_or(1.0, |times| {
            let factor = self.distances.shortening(distance, times);
            self.distances.push(distance);
            factor
        })
    }

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
