//! The loss of the best fixed subspace in hindsight: an exact value, or a lower and an upper bound.

use serde::{Deserialize, Serialize};

/// Method for computing the best fixed subspace in hindsight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BestMethod {
    /// [`Self::Exact`] up to [`BestSubspace::LONGEST`](super::BestSubspace::LONGEST) columns, else [`Self::Sketch`].
    #[default]
    Auto,
    /// Scatter matrix of all rows. It costs n² operations per row and stores n² numbers.
    Exact,
    /// Sketch of a few directions, which gives an interval for the loss. It costs O(nk) operations per row.
    Sketch,
    /// Nothing is computed. The best loss, the regret and the bound are then not available.
    None,
}

crate::error::by_name!(BestMethod, "best", 4, Auto => "auto", Exact => "exact", Sketch => "sketch", None => "none");

/// Total loss of the best fixed subspace: a number, or an interval that contains the loss.
///
/// ```
/// use eigenhedge::comparators::Best;
/// assert_eq!(serde_json::to_string(&Best::Exact(2.5)).unwrap(), "2.5");
/// assert_eq!(serde_json::to_string(&Best::between(1.0, 2.0)).unwrap(), r#"{"low":1.0,"high":2.0}"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Best {
    /// Loss that is exact up to rounding.
    Exact(f64),
    /// Interval that contains the loss.
    Between {
        /// Lower bound on the loss.
        low: f64,
        /// Upper bound on the loss.
        high: f64,
    },
}

impl Best {
    /// Creates an interval from its lower and upper bound.
    pub fn between(low: f64, high: f64) -> Self {
        Self::Between { low, high }
    }

    /// Returns the lower bound on the loss, or the exact loss.
    pub fn low(self) -> f64 {
        match self {
            Self::Exact(loss) => loss,
            Self::Between { low, .. } => low,
        }
    }

    /// Returns the upper bound on the loss, or the exact loss.
    pub fn high(self) -> f64 {
        match self {
            Self::Exact(loss) => loss,
            Self::Between { high, .. } => high,
        }
    }

    /// Returns the loss if it is exact, or `None` for an interval.
    pub fn exact(self) -> Option<f64> {
        match self {
            Self::Exact(loss) => Some(loss),
            Self::Between { .. } => None,
        }
    }
}
