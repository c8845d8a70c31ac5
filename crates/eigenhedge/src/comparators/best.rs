//! The best loss in hindsight, exact or as a bracket.

use serde::{Deserialize, Serialize};

/// Total loss of the best fixed subspace: a number, or a bracket.
///
/// ```
/// use eigenhedge::comparators::Best;
/// assert_eq!(serde_json::to_string(&Best::Exact(2.5)).unwrap(), "2.5");
/// assert_eq!(serde_json::to_string(&Best::between(1.0, 2.0)).unwrap(), r#"{"low":1.0,"high":2.0}"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Best {
    /// Exact up to rounding.
    Exact(f64),
    /// A bracket that contains the loss.
    Between {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
}

impl Best {
    /// Creates a bracket.
    pub fn between(low: f64, high: f64) -> Self {
        Self::Between { low, high }
    }

    /// Returns the lower end.
    pub fn low(self) -> f64 {
        match self {
            Self::Exact(loss) => loss,
            Self::Between { low, .. } => low,
        }
    }

    /// Returns the upper end.
    pub fn high(self) -> f64 {
        match self {
            Self::Exact(loss) => loss,
            Self::Between { high, .. } => high,
        }
    }

    /// Returns the number if it is exact.
    pub fn exact(self) -> Option<f64> {
        match self {
            Self::Exact(loss) => Some(loss),
            Self::Between { .. } => None,
        }
    }
}
