//! The best loss in hindsight, exact or as a bracket.

use serde::{Deserialize, Serialize};

/// Method for computing the best subspace in hindsight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BestMethod {
    /// Exact for rows of at most [`BestSubspace::LONGEST`](super::BestSubspace::LONGEST) numbers, a sketch for longer
    /// rows.
    #[default]
    Auto,
    /// The scatter matrix of all rows. It costs n² operations per row and n² numbers of memory.
    Exact,
    /// A sketch of a few directions, which gives a bracket. It costs O(nk) per row.
    Sketch,
    /// No computation, so no best loss, no regret and no bound.
    None,
}

impl BestMethod {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Exact, Self::Sketch, Self::None];

    /// Returns the name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Sketch => "sketch",
            Self::None => "none",
        }
    }
}

crate::error::by_name!(BestMethod, "best");

/// The total loss of the best fixed subspace: a number, or a lower and an upper end.
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
