//! Running centers.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Weighted mean of the rows so far, which is subtracted from the next row.
///
/// At row t, row s has the weight `forget^(t-s)`. With `forget` 1 the center is the mean of all rows; with 0
/// it is the last row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunningCenter {
    /// Number of prior rows at the initial center (JMLR Algorithm 6: `1/η̃`).
    pub prior: f64,
    /// Factor by which the weights of earlier rows are multiplied at each row.
    pub forget: f64,
}

/// Smallest positive prior. The second row is multiplied by it and must not underflow.
const SMALLEST_PRIOR: f64 = 1e-100;

impl RunningCenter {
    /// Mean of all rows.
    pub const MEAN: Self = Self { prior: 0.0, forget: 1.0 };

    /// Creates a forgetting mean. At each row, the weights of earlier rows are multiplied by this factor.
    pub const fn forgetting(forget: f64) -> Self {
        Self { prior: 0.0, forget }
    }

    /// Returns true if no row is forgotten.
    pub fn is_mean(self) -> bool {
        self.forget == 1.0
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        check_center_prior("center-prior", self.prior)?;
        if self.is_mean() { Ok(()) } else { check_center_memory("center", self.forget).map(drop) }
    }

    /// Returns the total weight after one more row of weight `own`.
    pub(crate) fn next_weight(self, weight: f64, own: f64) -> f64 {
        self.forget * weight + own
    }

    /// Returns the share by which the center moves towards the next row, given the total weight so far and
    /// the weight `own` of the row.
    pub(crate) fn step(self, weight: f64, own: f64) -> f64 {
        own / self.next_weight(weight, own)
    }

    /// Returns the step for one of the following rows, all of weight 1. `later` is 0 for the next row.
    pub(crate) fn later_step(self, weight: f64, later: usize) -> f64 {
        self.step((0..later).fold(weight, |weight, _| self.next_weight(weight, 1.0)), 1.0)
    }

    /// Returns the share of a row of weight `own` that is learned: JMLR's factor for an estimated mean, and 1
    /// for a forgetting center.
    pub(crate) fn learned_share(self, weight: f64, own: f64) -> f64 {
        if self.is_mean() { weight / (weight + own) } else { 1.0 }
    }
}

/// Returns `Ok` if the number of prior rows is valid. NaN fails.
pub(crate) fn check_center_prior(name: &'static str, prior: f64) -> Result<f64, Error> {
    if prior == 0.0 || prior >= SMALLEST_PRIOR && prior.is_finite() {
        Ok(prior)
    } else {
        Err(Error::Parameter { name, rule: "0, or finite and at least 1e-100", value: prior })
    }
}

/// Returns `Ok` if the forgetting factor is valid. NaN fails.
pub(crate) fn check_center_memory(name: &'static str, forget: f64) -> Result<f64, Error> {
    if (0.0..1.0).contains(&forget) {
        Ok(forget)
    } else {
        Err(Error::Parameter { name, rule: "forget:F with F at least 0 and less than 1", value: forget })
    }
}
