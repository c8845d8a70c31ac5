//! Running center: a weighted mean of the rows so far, or a learned center, the mean of all rows plus a learned
//! combination of recent rows and forgetting means.
//!
//! Setting: m is the mean of all rows. The sources are the last row, the row before it, and forgetting means
//! ([`Sources`](crate::span::Sources)). With the offsets d_j of the sources from m, the center is `m + Σ b_j d_j`.
//! Update: b solves a forgetting ridge regression of the part of a row x that the learner expects to lose. With the
//! expected projection P, `A = I - (1 - ε) P` and the matrix D of the offsets, all before the row is learned:
//! `G ← f G + a Dᵀ A D`, `h ← f h + a Dᵀ A (x - m)`, `b = (G + r tr(G)/5 I)⁻¹ h`, with f = [`FORGET`], ε = [`EXPLAINED`]
//! and r = [`RIDGE`]. The weight ε > 0 keeps the center from diverging along the kept directions.
//! Outliers: the factor a is the weight of the row, reduced so that its size (the larger of the energies in A of the
//! row and of the mean offset) is at most [`LARGEST_SIZE`] times the median of recent sizes. With `--clip`, a row
//! enters the sources at a limited distance from the mean: otherwise, the center would follow its own predictions.
//! Guarantee: none. The loss of a row is relative to the center before that row.
//! Cost: that of the sources, and O(u) for u explicit directions.

use crate::error::{Error, require};
use crate::impute::solve;
use crate::linalg::Matrix;
use crate::recent_median::RecentMedian;
use crate::scratch::Scratch;
use crate::span::SOURCES;
use crate::state::{LARGEST, ensure, entries};
use serde::{Deserialize, Serialize};

/// Running center: a weighted mean of the rows so far, which is subtracted from the next row. After row t, row s has
/// the weight `forget^(t-s)`. A learned center is the mean of all rows plus a learned combination of recent ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunningCenter {
    /// Weight of the initial center in imaginary rows (`1/η̃` in JMLR Algorithm 6). With 0, the first row sets the
    /// center.
    pub prior: f64,
    /// Factor in `[0, 1]` by which each row multiplies the weights of all earlier rows.
    pub forget: f64,
    /// True for a learned center. `forget` must then be 1, and `prior` 0.
    #[serde(default)]
    pub learned: bool,
}

const SMALLEST_PRIOR: f64 = 1e-100;

impl RunningCenter {
    /// Mean of all rows.
    pub const MEAN: Self = Self::forgetting(1.0);
    /// Learned center.
    pub const LEARNED: Self = Self { learned: true, ..Self::MEAN };

    /// Creates a forgetting mean without a prior.
    pub const fn forgetting(forget: f64) -> Self {
        Self { prior: 0.0, forget, learned: false }
    }

    pub(crate) fn is_mean(self) -> bool {
        self.forget == 1.0 && !self.learned
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        check_center_prior("center-prior", self.prior)?;
        if self.learned {
            let rule = "0 with a learned center, which starts at the first row";
            return require(self.prior == 0.0 && self.forget == 1.0, "center-prior", rule, self.prior).map(drop);
        }
        if self.is_mean() { Ok(()) } else { check_center_memory("center", self.forget).map(drop) }
    }

    pub(crate) fn next_weight(self, weight: f64, own: f64) -> f64 {
        self.forget * weight + own
    }

    /// Returns the share of the way to a row of weight `own` by which a center of weight `weight` moves.
    pub(crate) fn step(self, weight: f64, own: f64) -> f64 {
        own / self.next_weight(weight, own)
    }

    /// Returns [`Self::step`] for a later row (0: the next one) if all rows until then have weight 1.
    pub(crate) fn later_step(self, weight: f64, later: usize) -> f64 {
        self.step((0..later).fold(weight, |weight, _| self.next_weight(weight, 1.0)), 1.0)
    }

    /// Returns the factor of a row of weight `own`: `weight / (weight + own)` for the mean (JMLR Theorem 8), else 1.
    pub(crate) fn learned_share(self, weight: f64, own: f64) -> f64 {
        if self.is_mean() { weight / (weight + own) } else { 1.0 }
    }
}

pub(crate) fn check_center_prior(name: &'static str, prior: f64) -> Result<f64, Error> {
    let holds = prior == 0.0 || prior >= SMALLEST_PRIOR && prior.is_finite();
    require(holds, name, "0, or finite and at least 1e-100", prior)
}

pub(crate) fn check_center_memory(name: &'static str, forget: f64) -> Result<f64, Error> {
    require((0.0..1.0).contains(&forget), name, "forget:F with F at least 0 and less than 1", forget)
}

const FORGET: f64 = 0.998;
pub(super) const EXPLAINED: f64 = 1e-3;
const RIDGE: f64 = 1e-3;
const LARGEST_SIZE: f64 = 16.0;
/// Largest absolute coefficient. Larger ones occur only if rows have very different sizes.
const LARGEST_COEFFICIENT: f64 = 16.0;
/// Forgetting factors of the sources. The second source takes the previous value of the first.
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
