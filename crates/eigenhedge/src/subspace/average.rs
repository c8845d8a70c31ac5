//! Average of the distributions of a learner over a run, as a fixed hypothesis.
//!
//! Update: `sum ← sum + P̄`, where `P̄ = I - V` is the current expected projection. A learner that is added before each
//! of T trials and once at the end gives the average over V_0 … V_T.
//! Guarantee: the loss is linear in V, so the loss of the average is the average of the losses. For independent rows,
//! the expected loss of the average of V_0 … V_{T-1} on a new row is that of the run divided by T, and its excess over
//! the best subspace is at most the regret bound divided by T (JMLR section 6.3). The perturbed leader is added without
//! noise. Learners that subtract a center are refused: their losses are quadratic in it.
//! Cost: O(n² u + n w u) per learner added, with rows of length n and u explicit directions in w columns.
//! References: Warmuth & Kuzmin, JMLR 2008, section 6.3.

use super::{AnyRule, Subspace};
use crate::error::{Error, require};
use crate::linalg::{Matrix, add_product, multiply, symmetric_eigen};
use crate::num::{dot, kept};
use crate::row::check_row;
use crate::scratch::{Scratch, refill};
use crate::span::{Ambient, Span};
use crate::state::length;
use serde::{Deserialize, Serialize};

/// Average of the expected projections of a learner over plain rows.
///
/// ```
/// use eigenhedge::{Average, Instance, Kind, Random, Spec, streams, trial};
///
/// let mut learner = Spec::bare(Kind::Tracking, 2).plain(5)?;
/// let (mut average, mut random) = (Average::new(5)?, Random::seeded(1));
/// for row in streams::signal_and_noise(5, 2, 0.1, 2).take(100) {
///     average.add(&mut learner)?;
///     trial(&mut learner, &Instance::from(&row[..]), &mut random)?;
/// }
/// average.add(&mut learner)?;
/// assert_eq!(average.terms(), 101);
/// assert!(average.loss(&[1.0, 0.0, 0.0, 0.0, 0.0])? < 1.0);
/// assert_eq!(average.subspace(2).columns(), 2);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Average {
    /// Sum `Σ (P̄ - p I)`, where p is the probability that a direction of the complement is kept.
    sum: Matrix,
    common: f64,
    terms: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    order: Vec<usize>,
    directions: Matrix,
    vectors: Matrix,
    scaled: Matrix,
}

impl Average {
    /// Maximum row length. The sum then takes 128 MiB.
    pub const LONGEST: usize = 4096;

    /// Creates an empty average for rows of `length` numbers. Returns `Err` unless `1 ≤ length ≤ 4096`.
    pub fn new(length: usize) -> Result<Self, Error> {
        let fits = (1..=Self::LONGEST).contains(&length);
        require(fits, "the length of a row", "at least 1 and at most 4096", length as f64)?;
        let sum = Matrix::zeros(length, length);
        Ok(Self { sum, common: 0.0, terms: 0, scratch: Scratch::default() })
    }

    /// Returns the number of distributions added.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds the current distribution of the learner. Returns `Err` for a center or another row length.
    pub fn add(&mut self, learner: &mut Subspace<Ambient>) -> Result<(), Error> {
        length("a row of the learner", learner.span.length(), self.sum.rows())?;
        if learner.options.center.is_some() || learner.span.origin().is_some() {
            return Err(Error::Unsupported("the average of learners that center does not have their average loss"));
        }
        let Working { order, directions, vectors, scaled } = &mut self.scratch.0;
        let common = kept(learner.rule.complement().log_weight);
        let change = |rule: &AnyRule, i: usize| kept(rule.log_weights()[i]) - common;
        refill(order, (0..learner.rule.log_weights().len()).filter(|i| change(&learner.rule, *i) != 0.0));
        learner.rule.directions_mut().select(order, directions);
        directions.resize(learner.span.columns(), order.len());
        multiply(vectors, learner.span.vectors().view(), directions.view());
        scaled.clone_from(vectors);
        scaled.scale_columns(|j| change(&learner.rule, order[j]));
        add_product(&mut self.sum, scaled.view(), vectors.view().transpose());
        self.common += common;
        self.terms += 1;
        Ok(())
    }

    /// Returns the expected loss of the average projection on a row. Returns `Err` for an invalid row.
    pub fn loss(&self, row: &[f64]) -> Result<f64, Error> {
        check_row("row", row, self.sum.rows())?;
        let square = dot(row, row);
        let mut explained = self.common * square;
        for (j, x) in row.iter().enumerate() {
            explained += x * dot(self.sum.column(j), row);
        }
        Ok(square - explained / self.count())
    }

    /// Returns the average expected projection: eigenvalues in `[0, 1]`, trace k, or less if kept directions may lie
    /// outside the space of the rows.
    pub fn projection(&self) -> Matrix {
        let mut projection = self.sum.clone();
        for j in 0..projection.columns() {
            projection.column_mut(j).iter_mut().for_each(|x| *x /= self.count());
            projection.column_mut(j)[j] += self.common / self.count();
        }
        projection
    }

    /// Returns the `count` directions most likely to be kept on average, at most n, as orthonormal columns in
    /// descending order of probability.
    pub fn subspace(&self, count: usize) -> Matrix {
        let eigen = symmetric_eigen(&self.sum);
        let size = eigen.values.len();
        let mut directions = Matrix::zeros(size, count.min(size));
        directions.for_each_column(|j, column| column.copy_from_slice(eigen.vectors.column(size - 1 - j)));
        directions
    }

    fn count(&self) -> f64 {
        self.terms.max(1) as f64
    }
}
