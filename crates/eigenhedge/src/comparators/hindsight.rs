//! Choice of the comparator for the best loss in hindsight.

use super::best::BestSubspace;
use super::best::{Best, BestMethod};
use super::feature_rows::FeatureRows;
use super::leading_directions::LeadingDirections;
use super::running_scatter::Mean;
use super::sketch::Sketch;
use super::{best_loss, best_losses};
use crate::error::Error;
use crate::kernel::VectorKernel;
use crate::linalg::Matrix;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Best subspace of all rows in hindsight: exact for short rows, a sketch for long rows, kernel values for features.
///
/// ```
/// use eigenhedge::comparators::{Best, Hindsight};
/// let mut short = Hindsight::new(3, false, 1)?;
/// short.add(&[2.0, 0.0, 0.0]);
/// short.add(&[0.0, 1.0, 0.0]);
/// assert!((short.best(1).unwrap().exact().unwrap() - 1.0).abs() < 1e-12);
/// let mut long = Hindsight::new(5000, false, 1)?;
/// long.add(&[1.0; 5000]);
/// assert!(matches!(long.best(1), Some(Best::Between { .. })));
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Hindsight {
    /// Exact scatter matrix, by default for rows of at most [`BestSubspace::LONGEST`] numbers.
    Exact(Box<BestSubspace>),
    /// Sketch, by default for longer rows.
    Sketched(Box<Sketch>),
    /// Stored rows, for learners in a feature space.
    Features(Box<FeatureRows>),
}

impl Hindsight {
    /// Creates an exact comparator up to [`BestSubspace::LONGEST`] numbers, and otherwise a sketch, whose interval for
    /// `kept` directions is at most a seventh of the best loss wide.
    pub fn new(length: usize, centered: bool, kept: usize) -> Result<Self, Error> {
        match BestSubspace::new(length, centered) {
            Some(exact) => Ok(Self::Exact(Box::new(exact))),
            None => Ok(Self::Sketched(Box::new(Sketch::new(length, retained(kept), centered)?))),
        }
    }

    /// Creates a comparator, or `None` for [`BestMethod::None`]. Fails beyond the memory limit.
    pub fn by(method: BestMethod, length: usize, centered: bool, kept: usize) -> Result<Option<Self>, Error> {
        Ok(Some(match method {
            BestMethod::Auto => Self::new(length, centered, kept)?,
            BestMethod::Exact => Self::Exact(Box::new(BestSubspace::of_any_length(length, centered)?)),
            BestMethod::Sketch => Self::Sketched(Box::new(Sketch::new(length, retained(kept), centered)?)),
            BestMethod::None => return Ok(None),
        }))
    }

    pub(crate) fn method(&self, length: usize) -> BestMethod {
        match self {
            Self::Exact(_) if length > BestSubspace::LONGEST => BestMethod::Exact,
            Self::Sketched(_) if length <= BestSubspace::LONGEST => BestMethod::Sketch,
            _ => BestMethod::Auto,
        }
    }

    pub(crate) fn of_features(kernel: VectorKernel, length: usize, centered: bool) -> Self {
        Self::Features(Box::new(FeatureRows::new(kernel, length, centered)))
    }

    pub(crate) fn check_state(
        &self,
        kernel: Option<&VectorKernel>,
        length: usize,
        centered: bool,
        kept: usize,
    ) -> Result<(), Error> {
        match (self, kernel) {
            (Self::Exact(best), None) => best.check_state(length, centered),
            (Self::Sketched(sketch), None) => sketch.check_state(length, retained(kept), centered),
            (Self::Features(rows), Some(kernel)) => rows.check_state(kernel, length, centered),
            _ => Err(Error::State("the comparator must be of the kind that the rows call for")),
        }
    }

    /// Sets the base point of the running mean to a row whose loss does not count, before the first row. Has no effect
    /// without centering.
    pub fn begin_at(&mut self, row: &[f64]) {
        match self {
            Self::Exact(best) => best.charged.mean.iter_mut().for_each(|mean| mean.begin_at(row)),
            Self::Sketched(sketch) => sketch.begin_at(row),
            Self::Features(rows) => rows.begin_at(row),
        }
    }

    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        match self {
            Self::Exact(best) => best.charged.mean.iter_mut().for_each(|mean| mean.begin_column(column, value)),
            Self::Sketched(sketch) => sketch.begin_column(column, value),
            Self::Features(_) => {}
        }
    }

    /// Returns an upper bound on the squared distance of the mean from the base point, if known.
    pub(crate) fn squared_way(&self) -> Option<f64> {
        match self {
            Self::Features(rows) => rows.squared_way(),
            _ => self.running_mean().map(|mean| mean.squared_way()),
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        self.add_weighted(row, 1.0);
    }

    /// For kernel features, the weight is ignored.
    pub(crate) fn add_weighted(&mut self, row: &[f64], weight: f64) {
        match self {
            Self::Exact(best) => _ = best.charged.add_weighted(row, weight),
            Self::Sketched(sketch) => _ = sketch.add_weighted(row, weight),
            Self::Features(rows) => rows.add(row),
        }
    }

    /// Cells that `filled` does not list must be zero.
    pub(crate) fn add_filled(&mut self, row: &[f64], filled: Option<&[u32]>, weight: f64) {
        match (self, filled) {
            (Self::Sketched(sketch), Some(filled)) => sketch.add_filled(row, filled, weight),
            (hindsight, _) => hindsight.add_weighted(row, weight),
        }
    }

    pub(crate) fn merge(self, other: Self) -> Result<Self, Error> {
        match (self, other) {
            (Self::Exact(mut best), Self::Exact(other)) => {
                best.merge(*other);
                Ok(Self::Exact(best))
            }
            (Self::Sketched(sketch), Self::Sketched(other)) => Ok(Self::Sketched(Box::new(sketch.merge(*other)?))),
            _ => Err(Error::Merge("comparators must be over plain rows of one length".to_owned())),
        }
    }

    /// Returns the total loss of the best subspace of dimension `kept`, or `None` if there were too many rows of
    /// features to store or a kernel value is invalid.
    pub fn best(&self, kept: usize) -> Option<Best> {
        match self {
            Self::Exact(best) => Some(Best::Exact(best.loss(kept))),
            Self::Sketched(sketch) => Some(sketch.best(kept)),
            Self::Features(rows) => rows.best(kept),
        }
    }

    pub(crate) fn best_unpredicted(&self, kept: usize) -> Option<Best> {
        match self {
            Self::Exact(best) => best.uncharged.as_ref().map(|rows| Best::Exact(best_loss(&rows.whole(), kept))),
            Self::Sketched(_) | Self::Features(_) => None,
        }
    }

    /// Returns [`Self::best`] for dimensions 0 to `most`, by one decomposition if exact.
    pub fn best_up_to(&self, most: usize) -> Option<Vec<Best>> {
        match self {
            Self::Exact(best) => Some(best_losses(&best.charged.whole(), most).into_iter().map(Best::Exact).collect()),
            _ => (0..=most).map(|kept| self.best(kept)).collect(),
        }
    }

    /// Returns an interval for the best loss during a run, or `None` for kernel features. No n × n matrix is
    /// decomposed, unless squares overflow: the search starts from the directions of the previous call, `leading`.
    pub(crate) fn best_on_the_way(&self, kept: usize, leading: &mut LeadingDirections) -> Option<Best> {
        match self {
            // `whole` makes no copy directly after a full block of rows.
            Self::Exact(best) => Some(leading.best(&best.charged.whole(), kept)),
            Self::Sketched(sketch) => Some(sketch.best(kept)),
            Self::Features(_) => None,
        }
    }

    /// Returns the energy of all rows along each of these unit vectors, and in total, or `None` if not known exactly.
    pub fn energies(&self, directions: &Matrix) -> Option<(Vec<f64>, f64)> {
        match self {
            Self::Exact(best) => Some(best.energies(directions)),
            Self::Sketched(_) | Self::Features(_) => None,
        }
    }

    pub(crate) fn column_energies(&self) -> Option<Vec<f64>> {
        match self {
            Self::Exact(best) => Some(best.charged.column_energies()),
            Self::Sketched(_) | Self::Features(_) => None,
        }
    }

    /// Returns the mean of the rows whose losses count, or `None` without centering, for kernel features, or before the
    /// first row.
    pub fn mean(&self) -> Option<Vec<f64>> {
        self.running_mean()?.value()
    }

    fn running_mean(&self) -> Option<Cow<'_, Mean>> {
        match self {
            Self::Exact(best) => best.charged.mean.as_ref().map(Cow::Borrowed),
            Self::Sketched(sketch) => sketch.whole_mean(),
            Self::Features(_) => None,
        }
    }
}

pub(crate) fn retained(kept: usize) -> usize {
    8 * kept + 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_best_loss_is_read_back_from_either_form() {
        for best in [Best::Exact(2.5), Best::between(0.0, 3.0)] {
            let text = serde_json::to_string(&best).unwrap();
            assert_eq!(serde_json::from_str::<Best>(&text).unwrap(), best);
        }
    }

    #[test]
    fn the_longest_rows_that_are_exact_are_those_of_the_comparator() {
        let kind = |length| matches!(Hindsight::new(length, false, 1).unwrap(), Hindsight::Exact(_));
        assert!(kind(64) && !kind(BestSubspace::LONGEST + 1));
    }
}
