use crate::error::{Error, require};
use serde::{Deserialize, Serialize};

/// Running center: a weighted mean of the rows so far, which is subtracted from the next row. After row t, row s has
/// the weight `forget^(t-s)`. A learned center is the mean of all rows plus a learned combination of recent rows and
/// forgetting means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunningCenter {
    /// Weight of the initial center, as a number of imaginary rows (`1/η̃` in JMLR Algorithm 6). With 0, the first row
    /// sets the center.
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

    /// Returns the share of the way from a center of weight `weight` to a row of weight `own` by which the center
    /// moves.
    pub(crate) fn step(self, weight: f64, own: f64) -> f64 {
        own / self.next_weight(weight, own)
    }

    /// Returns [`Self::step`] for a later row (0: the next one) if all rows until then have weight 1.
    pub(crate) fn later_step(self, weight: f64, later: usize) -> f64 {
        self.step((0..later).fold(weight, |weight, _| self.next_weight(weight, 1.0)), 1.0)
    }

    /// Returns the factor of a row of weight `own`: `weight / (weight + own)` for the mean (JMLR Theorem 8), otherwise
    /// 1.
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
