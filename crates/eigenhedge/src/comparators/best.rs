//! The loss of the best fixed subspace in hindsight: an exact value, or a lower and an upper bound.

use crate::linalg::Matrix;
use serde::{Deserialize, Serialize};

/// Method for computing the best fixed subspace in hindsight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BestMethod {
    /// [`Self::Exact`] up to [`BestSubspace::LONGEST`](super::BestSubspace::LONGEST) columns, else [`Self::Sketch`].
    #[default]
    Auto,
    /// Scatter matrix of all rows: n² operations per row and n² numbers for n columns.
    Exact,
    /// Sketch that gives an interval for the loss: O(nk) operations per row for k directions.
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

// The gain is the largest total `tr(P D)` over k-dimensional projections P, with the dilation `D = [0 M; Mᵀ 0]` of `M =
// x yᵀ` for each pair. The eigenvalues of the dilation of `Σ x yᵀ` are its singular values, their negatives, and `|n -
// m|` zeros. The k largest sum to the gain. n m operations per pair, and one singular value decomposition per
// evaluation.
/// Sum of `x yᵀ` over all pairs of rows, for the best directions in hindsight.
///
/// ```
/// use eigenhedge::comparators::BestPair;
/// let mut best = BestPair::new(2, 3).unwrap();
/// best.add(&[3.0, 0.0], &[0.0, 1.0, 0.0]);
/// best.add(&[0.0, 2.0], &[1.0, 0.0, 0.0]);
/// let gains = [1, 2, 3, 4].map(|kept| best.gain(kept).round());
/// assert_eq!(gains, [3.0, 5.0, 5.0, 3.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestPair {
    sum: Matrix,
}

impl BestPair {
    /// Maximum number of matrix entries, which take 128 MiB.
    pub const MOST: usize = 4096 * 4096;

    /// Creates a comparator for pairs of rows. Returns `None` if the matrix would have more than [`Self::MOST`]
    /// entries.
    pub fn new(left: usize, right: usize) -> Option<Self> {
        let entries = left.checked_mul(right)?;
        (entries <= Self::MOST).then(|| Self { sum: Matrix::zeros(left, right) })
    }

    /// Adds `x yᵀ` to the sum.
    pub fn add(&mut self, x: &[f64], y: &[f64]) {
        assert_eq!((x.len(), y.len()), (self.sum.rows(), self.sum.columns()), "rows of the lengths given");
        for (j, y) in y.iter().enumerate() {
            self.sum.column_mut(j).iter_mut().zip(x).for_each(|(s, x)| *s += x * y);
        }
    }

    /// Returns the total gain of the best subspace of dimension `kept`.
    pub fn gain(&self, kept: usize) -> f64 {
        let (left, right) = (self.sum.rows(), self.sum.columns());
        let Ok(singular) = self.sum.view().singular_values() else {
            unreachable!("the singular values of a finite matrix converge");
        };
        let first: f64 = singular.iter().take(kept).sum();
        // In descending order, the zeros and then the negative singular values follow the positive ones.
        let negative = kept.saturating_sub(singular.len() + left.abs_diff(right));
        first - singular.iter().rev().take(negative).sum::<f64>()
    }
}
