//! The loss of the best fixed subspace in hindsight: an exact value, or a lower and an upper bound.

use super::best_loss;
use super::running_scatter::{Mean, RunningScatter};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::memory::{check_numbers, product};
use crate::num::dot;
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

/// The best fixed subspace in hindsight, of all rows read once: the least total `|x - m - P(x - m)|²` over
/// k-dimensional projections P (and centers m), the sum of the n-k smallest eigenvalues of the (centered) scatter
/// matrix. n² operations per row, memory for n² numbers, and one eigendecomposition per evaluation. Scatter matrix of
/// all rows, for the best fixed subspace in hindsight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestSubspace {
    pub(super) charged: RunningScatter,
    /// Rows that count for energies but not for losses, if any, without a single first row that only sets the center:
    /// that is the base point of the mean.
    pub(super) uncharged: Option<Box<RunningScatter>>,
}

impl BestSubspace {
    pub(super) fn check_state(&self, length: usize, centered: bool) -> Result<(), Error> {
        self.charged.check_state(length, centered)?;
        self.uncharged.as_ref().map_or(Ok(()), |rows| rows.check_state(length, centered))
    }

    /// Maximum length of rows for [`Self::new`]. The scatter matrix then takes 128 MiB.
    pub const LONGEST: usize = 4096;

    /// Creates a comparator for rows of `length` numbers, or returns `None` above [`Self::LONGEST`].
    pub fn new(length: usize, centered: bool) -> Option<Self> {
        let charged = || RunningScatter::new(length, centered);
        (length <= Self::LONGEST).then(|| Self { charged: charged(), uncharged: None })
    }

    pub(super) fn of_any_length(length: usize, centered: bool) -> Result<Self, Error> {
        check_numbers("the scatter matrix of all rows", product(&[length, length]))?;
        Ok(Self { charged: RunningScatter::new(length, centered), uncharged: None })
    }

    pub(crate) fn after(uncharged: RunningScatter, length: usize) -> Self {
        let charged = RunningScatter::new(length, uncharged.mean.is_some());
        Self { charged, uncharged: Some(Box::new(uncharged)) }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        self.charged.add_weighted(row, 1.0);
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        let (own, others) = (self.take_uncharged(), other.take_uncharged());
        self.uncharged = match (own, others) {
            (Some(mut own), Some(others)) => {
                own.merge(&others);
                Some(own)
            }
            (own, others) => own.or(others),
        };
        self.charged.merge(&other.charged);
    }

    fn take_uncharged(&mut self) -> Option<Box<RunningScatter>> {
        let base = self.charged.mean.as_mut().and_then(Mean::take_left_out);
        let mut uncharged = self.uncharged.take();
        if let Some(base) = base {
            let fresh = || Box::new(RunningScatter::new(base.len(), true));
            uncharged.get_or_insert_with(fresh).add_weighted(&base, 1.0);
        }
        uncharged
    }

    /// Returns the energy (after centering) of all rows, also those whose losses do not count, along each of these unit
    /// vectors, and in total.
    pub fn energies(&self, directions: &Matrix) -> (Vec<f64>, f64) {
        let mut found = self.charged.energies(directions);
        let mut add = |vector: &[f64]| {
            found.0.iter_mut().enumerate().for_each(|(j, energy)| *energy += dot(vector, directions.column(j)).powi(2));
            found.1 += dot(vector, vector);
        };
        if let Some(between) = self.charged.mean.as_ref().and_then(Mean::between_left_out) {
            add(&between);
        }
        let Some(uncharged) = &self.uncharged else { return found };
        if let (Some(mean), Some(others)) = (&self.charged.mean, &uncharged.mean)
            && let Some(between) = mean.between(others)
        {
            add(&between);
        }
        let (energies, total) = uncharged.energies(directions);
        found.0.iter_mut().zip(energies).for_each(|(own, more)| *own += more);
        (found.0, found.1 + total)
    }

    /// Returns the total loss of the best subspace of dimension `kept`.
    pub fn loss(&self, kept: usize) -> f64 {
        best_loss(&self.charged.whole(), kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::linalg::symmetric_eigen;

    #[test]
    fn energies_are_those_of_all_rows_whether_the_first_is_left_out_of_the_loss_or_not() {
        let mut random = Random::seeded(4);
        let rows: Vec<Vec<f64>> = (0..90).map(|_| (0..5).map(|i| i as f64 + random.normal()).collect()).collect();
        let (mut all, mut others) = (BestSubspace::new(5, true).unwrap(), BestSubspace::new(5, true).unwrap());
        rows.iter().for_each(|row| all.add(row));
        others.charged.mean.iter_mut().for_each(|mean| mean.begin_at(&rows[0]));
        rows[1..].iter().for_each(|row| others.add(row));
        let directions = Matrix::identity(5);
        let ((a, in_all), (b, in_others)) = (all.energies(&directions), others.energies(&directions));
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * in_all, "{a} against {b}"));
        assert!((in_all - in_others).abs() <= 1e-12 * in_all);
        assert!(all.loss(2) > others.loss(2));
    }

    #[test]
    fn best_loss_equals_the_loss_of_the_projection_on_the_top_directions() {
        let mut random = Random::seeded(3);
        for centered in [false, true] {
            let rows: Vec<Vec<f64>> =
                (0..150).map(|_| (0..7).map(|i| (i as f64) * random.normal() + 2.0).collect()).collect();
            let mut best = BestSubspace::new(7, centered).expect("short rows");
            rows.iter().for_each(|row| best.add(row));
            let mean: Vec<f64> = (0..7)
                .map(|i| if centered { rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64 } else { 0.0 })
                .collect();
            let moved: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().zip(&mean).map(|(x, m)| x - m).collect()).collect();
            let mut scatter = Matrix::zeros(7, 7);
            for row in &moved {
                for j in 0..7 {
                    scatter.column_mut(j).iter_mut().zip(row).for_each(|(s, x)| *s += x * row[j]);
                }
            }
            let eigen = symmetric_eigen(&scatter);
            let (energies, total) = best.energies(&eigen.vectors);
            for (energy, value) in energies.iter().zip(&eigen.values) {
                assert!((energy - value).abs() <= 1e-12 * total, "{energy} against {value}");
            }
            assert!((energies.iter().sum::<f64>() - total).abs() <= 1e-12 * total);
            let kept = 3;
            let direct: f64 = moved
                .iter()
                .map(|r| dot(r, r) - (7 - kept..7).map(|j| dot(eigen.vectors.column(j), r).powi(2)).sum::<f64>())
                .sum();
            assert!((best.loss(kept) - direct).abs() <= 1e-11 * direct, "{} against {direct}", best.loss(kept));
        }
    }
}
