//! Centers that follow the rows.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// A weighted mean of the rows so far, which is subtracted from the next one.
///
/// Row s has the weight `forget^(t-s)` at row t. With `forget` 1 the center is the mean of all rows, with 0 the last row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunningCenter {
    /// Imaginary rows at the first origin (JMLR Algorithm 6: `1/η̃`).
    pub prior: f64,
    /// Factor on the weights of earlier rows at each row.
    pub forget: f64,
}

/// Fewest imaginary rows: the second row is scaled by their number, and must not vanish.
const SMALLEST_PRIOR: f64 = 1e-100;

impl RunningCenter {
    /// The mean of all rows.
    pub const MEAN: Self = Self { prior: 0.0, forget: 1.0 };

    /// A mean that forgets: earlier rows lose weight by this factor at each row.
    pub const fn forgetting(forget: f64) -> Self {
        Self { prior: 0.0, forget }
    }

    /// True if no row is forgotten.
    pub fn is_mean(self) -> bool {
        self.forget == 1.0
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        check_center_prior("center-prior", self.prior)?;
        if self.is_mean() { Ok(()) } else { check_center_memory("center", self.forget).map(drop) }
    }

    /// Total weight of the rows after one more of weight `own`, given what it was.
    pub(crate) fn next_weight(self, weight: f64, own: f64) -> f64 {
        self.forget * weight + own
    }

    /// By how much of the next row, of weight `own`, the center moves, given the total weight of the rows so far.
    pub(crate) fn step(self, weight: f64, own: f64) -> f64 {
        own / self.next_weight(weight, own)
    }

    /// The same for row `later` of those that follow (0 for the next one), all of weight one.
    pub(crate) fn later_step(self, weight: f64, later: usize) -> f64 {
        self.step((0..later).fold(weight, |weight, _| self.next_weight(weight, 1.0)), 1.0)
    }

    /// How much of a row of weight `own` is learned: JMLR's factor for a mean that is itself estimated. Around a center that
    /// forgets, rows are learned as they are charged.
    pub(crate) fn learned_share(self, weight: f64, own: f64) -> f64 {
        if self.is_mean() { weight / (weight + own) } else { 1.0 }
    }
}

/// `Ok` when this many imaginary rows can begin a mean; NaN fails.
pub(crate) fn check_center_prior(name: &'static str, prior: f64) -> Result<f64, Error> {
    if prior == 0.0 || prior >= SMALLEST_PRIOR && prior.is_finite() {
        Ok(prior)
    } else {
        Err(Error::Parameter { name, rule: "0, or finite and at least 1e-100", value: prior })
    }
}

/// `Ok` when a center can forget by this factor; NaN fails.
pub(crate) fn check_center_memory(name: &'static str, forget: f64) -> Result<f64, Error> {
    if (0.0..1.0).contains(&forget) {
        Ok(forget)
    } else {
        Err(Error::Parameter { name, rule: "forget:F with F at least 0 and less than 1", value: forget })
    }
}
