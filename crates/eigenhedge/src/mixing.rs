//! Mixing: after each trial, a share of another distribution is mixed in, so that a learner can follow changes.
//!
//! Let `v` be the probabilities of being dropped, with sum `d` over `N` directions or experts. After trial `t`:
//!
//! - fixed share: `v ← (1-α) v + α d/N`,
//! - past average: `v ← (1-α) v + α · mean(v_0 … v_{t-1})`, where `v_0` is the initial distribution and `v_s` is the
//!   distribution after trial s.
//!
//! Both keep `v` in the capped simplex. The rate `α` bounds the weights from below, so they recover.
//! References: Herbster & Warmuth 1998 (fixed share); Bousquet & Warmuth 2002 (mixing past posteriors); Warmuth &
//! Kuzmin, JMLR 2008, section 8.

use serde::{Deserialize, Serialize};

use crate::error::{self, Error};
use crate::num;

/// Mixing rule and its rate. The default is no mixing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mixing {
    /// No mixing.
    #[default]
    None,
    /// Mixing with the uniform distribution.
    FixedShare {
        /// Share of the uniform distribution, in `[0, 1)`.
        alpha: f64,
    },
    /// Mixing with the mean of all earlier distributions.
    PastAverage {
        /// Share of the mean, in `[0, 1)`.
        alpha: f64,
    },
}

impl Mixing {
    /// Returns the rule if its rate is in `[0, 1)`, and otherwise `Err`.
    pub fn checked(self) -> Result<Self, Error> {
        error::fraction("alpha", self.alpha()).map(|_| self)
    }

    /// Returns the name of the rule in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FixedShare { .. } => "fixed-share",
            Self::PastAverage { .. } => "past-average",
        }
    }

    /// Returns the rate α, or 0 for no mixing.
    pub fn alpha(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::FixedShare { alpha } | Self::PastAverage { alpha } => alpha,
        }
    }
}

/// Mixing of a share α of the weight `e^b` into other weights: `of(a)` is `log((1-α) e^a + α e^b)` for `a, b ≤ 0`, with
/// full precision of `1 - e^result` if both weights are near 1 and of `e^result` otherwise. Exactly `a` for `α = 0`,
/// and exactly zero if `a` and `b` are zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blend {
    b: f64,
    alpha: f64,
    kept: f64,
    dropped: f64,
}

impl Blend {
    pub fn with(b: f64, alpha: f64) -> Self {
        Self { b, alpha, kept: alpha * num::kept(b), dropped: alpha * b.exp() }
    }

    pub fn of(&self, a: f64) -> f64 {
        let Self { b, alpha, kept, dropped } = *self;
        if alpha == 0.0 {
            return a;
        }
        let kept = (1.0 - alpha) * num::kept(a) + kept;
        if kept < 0.5 {
            return (-kept).ln_1p() + 0.0;
        }
        // Both terms are positive and one is a normal number, so no digits are lost.
        if dropped > f64::MIN_POSITIVE {
            return ((1.0 - alpha) * a.exp() + dropped).ln();
        }
        num::log_sum_exp([a + (-alpha).ln_1p(), b + alpha.ln()].into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blend(a: f64, b: f64, alpha: f64) -> f64 {
        Blend::with(b, alpha).of(a)
    }

    #[test]
    fn blend_of_two_capped_weights_is_exactly_capped() {
        assert_eq!(blend(0.0, 0.0, 0.3).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn blend_keeps_relative_precision_at_both_ends() {
        let near_one = num::kept(blend(-1e-12, -3e-12, 0.5));
        assert!((near_one / 2e-12 - 1.0).abs() < 1e-11, "{near_one}");
        let tiny = blend(-2000.0, -1000.0, 0.25);
        assert!((tiny - (-1000.0 + 0.25f64.ln())).abs() < 1e-12 * 1000.0, "{tiny}");
        assert_eq!(blend(f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5), f64::NEG_INFINITY);
    }

    #[test]
    fn rates_outside_the_half_open_interval_are_refused() {
        for alpha in [-1e-9, 1.0, f64::NAN, f64::INFINITY] {
            assert!(Mixing::FixedShare { alpha }.checked().is_err());
            assert!(Mixing::PastAverage { alpha }.checked().is_err());
        }
        assert_eq!(Mixing::None.checked(), Ok(Mixing::None));
    }
}
