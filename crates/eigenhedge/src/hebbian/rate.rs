//! Step sizes of Hebbian learners for trials t = 1, 2, ….

use crate::error::{Error, positive};
use serde::{Deserialize, Serialize};

/// Step size γ(t), relative to the square of the norm bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rate {
    /// Constant step `γ(t) = η`. The vectors follow drift, but keep fluctuating around the solution.
    Constant {
        /// Step size η.
        eta: f64,
    },
    /// Decreasing step `γ(t) = η / (1 + (t-1)/half)`. The vectors converge on a stationary stream.
    ///
    /// For large t this is `η·half / t`. The angle to a component then decreases like `t^-½` if `η·half` times the gap below
    /// its eigenvalue exceeds one half, and more slowly otherwise.
    Decreasing {
        /// Initial step size η.
        eta: f64,
        /// Number of trials until the step has halved.
        half: f64,
    },
}

impl Rate {
    /// Returns the step size γ(t) of a trial. Trials are counted from 1.
    pub fn at(&self, trial: u64) -> f64 {
        match self {
            Self::Constant { eta } => *eta,
            Self::Decreasing { eta, half } => eta / (1.0 + (trial as f64 - 1.0) / half),
        }
    }

    /// Returns the step size η of the first trial.
    pub fn eta(&self) -> f64 {
        match self {
            Self::Constant { eta } | Self::Decreasing { eta, .. } => *eta,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        positive("eta", self.eta())?;
        if let Self::Decreasing { half, .. } = self {
            positive("step-half-life", *half)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decreasing_step_starts_at_eta_and_is_halved_after_half() {
        let rate = Rate::Decreasing { eta: 0.4, half: 10.0 };
        assert_eq!((rate.at(1), rate.at(11)), (0.4, 0.2));
        assert!((rate.at(10_001) * 10_000.0 / 4.0 - 1.0).abs() < 2e-3);
    }
}
