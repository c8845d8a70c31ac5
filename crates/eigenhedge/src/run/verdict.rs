//! Whether a bound holds.

use crate::comparators::Best;
use serde::{Deserialize, Serialize};

/// What comes of holding a total expected loss against a theorem.
///
/// ```
/// use eigenhedge::comparators::Best;
/// use eigenhedge::run::{Reason, Verdict};
/// let judge = |best| Verdict::judge(7.0, best, |best| Ok(best + 3.0));
/// assert_eq!(judge(Best::Exact(5.0)), Verdict::Holds);
/// assert_eq!(judge(Best::Exact(3.5)), Verdict::Fails);
/// assert_eq!(judge(Best::between(3.0, 5.0)), Verdict::NotApplicable(Reason::WideBracket));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The loss is within the bound.
    Holds,
    /// The loss exceeds the bound: the implementation or the theorem is wrong.
    Fails,
    /// No bound can be stated.
    NotApplicable(Reason),
}

/// Why no bound can be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No theorem covers the learner.
    NoTheorem,
    /// No theorem covers the learner with a running center.
    Centering,
    /// The bound on the norm of rows was not known from the start.
    RunningNormBound,
    /// The space has no finite dimension.
    InfiniteDimension,
    /// A budget on atoms changes directions, not only weights.
    Budget,
    /// An approximation whose price is not known.
    Unpriced,
    /// A rate that changes.
    ChangingRate,
    /// The best loss is not known.
    UnknownBest,
    /// The best loss is not known well enough to tell.
    WideBracket,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoTheorem => "no theorem covers this learner",
            Self::Centering => "no theorem covers this learner with a running center",
            Self::RunningNormBound => "the theorem needs a norm bound given in advance",
            Self::InfiniteDimension => "no theorem covers a space of infinite dimension",
            Self::Budget => "no theorem covers a budget on atoms",
            Self::Unpriced => "an approximation was made whose price is not known",
            Self::ChangingRate => "no theorem covers this learner with a rate that changes",
            Self::UnknownBest => "the best loss is unknown",
            Self::WideBracket => "the best loss is not known well enough to tell",
        })
    }
}

/// What sums over a long run may lose to rounding, as a share of the bound.
const ROUNDING: f64 = 1e-10;

impl Verdict {
    /// Holds a total expected loss against a bound that grows with the best loss.
    pub fn judge(expected: f64, best: Best, bound: impl Fn(f64) -> Result<f64, Reason>) -> Self {
        let within = |best: f64| bound(best).map(|bound| expected <= bound * (1.0 + ROUNDING));
        match (within(best.low()), within(best.high())) {
            (Ok(true), _) => Self::Holds,
            (Ok(false), Ok(false)) => Self::Fails,
            (Ok(false), Ok(true)) => Self::NotApplicable(Reason::WideBracket),
            (Err(reason), _) | (_, Err(reason)) => Self::NotApplicable(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_saved_and_restored() {
        for verdict in [Verdict::Holds, Verdict::Fails, Verdict::NotApplicable(Reason::InfiniteDimension)] {
            let text = serde_json::to_string(&verdict).unwrap();
            assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
            let bytes = postcard::to_stdvec(&verdict).unwrap();
            assert_eq!(postcard::from_bytes::<Verdict>(&bytes).unwrap(), verdict);
        }
        let reason = serde_json::to_string(&Verdict::NotApplicable(Reason::Centering)).unwrap();
        assert_eq!(reason, r#"{"not_applicable":"centering"}"#);
    }

    #[test]
    fn a_loss_that_is_not_a_number_never_holds() {
        assert_eq!(Verdict::judge(f64::NAN, Best::Exact(1.0), |_| Ok(5.0)), Verdict::Fails);
    }
}
