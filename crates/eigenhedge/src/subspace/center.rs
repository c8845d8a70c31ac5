//! Running center: a weighted mean of the rows so far, or a learned combination of such means.

use crate::error::{Error, require};
use serde::{Deserialize, Serialize};

/// Running center: a weighted mean of the rows so far, which is subtracted from the next row.
///
/// After row t, row s has the weight `forget^(t-s)`. A factor of 1 gives the mean of all rows, and
/// 0 gives the most recent row. A learned center is the mean of all rows plus a learned combination
/// of recent rows and forgetting means, relative to this mean (see `subspace/learned_center.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunningCenter {
    /// Weight of the initial center, as a number of imaginary rows (`1/η̃` in JMLR Algorithm 6).
    /// With 0, the first row sets the center.
    pub prior: f64,
    /// Factor in `[0, 1]` by which each row multiplies the weights of all earlier rows.
    pub forget: f64,
    /// True for a learned center. `forget` must then be 1, and `prior` 0.
    #[serde(default)]
    pub learned: bool,
}

/// Smallest positive prior for which no product of a row with the prior underflows.
const SMALLEST_PRIOR: f64 = 1e-100;

impl RunningCenter {
    /// Mean of all rows.
    pub const MEAN: Self = Self::forgetting(1.0);
    /// Learned center.
    pub const LEARNED: Self = Self { learned: true, ..Self::MEAN };

    /// Creates a forgetting mean without a prior. Each row multiplies the weights of all earlier rows by `forget`.
    pub const fn forgetting(forget: f64) -> Self {
        Self { prior: 0.0, forget, learned: false }
    }

    /// Returns true if this is the mean of all rows, with equal weights.
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

    /// Returns the share of the distance from the center to the next row by which the center moves.
    /// The center has the weight `weight`, and the row has the weight `own`.
    pub(crate) fn step(self, weight: f64, own: f64) -> f64 {
        own / self.next_weight(weight, own)
    }

    /// Returns [`Self::step`] for a later row if all rows until then have weight 1. `later` is 0 for the next row.
    pub(crate) fn later_step(self, weight: f64, later: usize) -> f64 {
        self.step((0..later).fold(weight, |weight, _| self.next_weight(weight, 1.0)), 1.0)
    }

    /// Returns the factor with which a row of weight `own` is learned: `weight / (weight + own)`
    /// for the mean (JMLR Theorem 8), otherwise 1.
    pub(crate) fn learned_share(self, weight: f64, own: f64) -> f64 {
        if self.is_mean() { weight / (weight + own) } else { 1.0 }
    }
}

/// Returns the prior if it is 0, or finite and at least 1e-100. Otherwise, including NaN, returns `Err`.
pub(crate) fn check_center_prior(name: &'static str, prior: f64) -> Result<f64, Error> {
    let holds = prior == 0.0 || prior >= SMALLEST_PRIOR && prior.is_finite();
    require(holds, name, "0, or finite and at least 1e-100", prior)
}

/// Returns the forgetting factor if it is in `[0, 1)`. Otherwise, including NaN, returns `Err`.
pub(crate) fn check_center_memory(name: &'static str, forget: f64) -> Result<f64, Error> {
    require((0.0..1.0).contains(&forget), name, "forget:F with F at least 0 and less than 1", forget)
}
