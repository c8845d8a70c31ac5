//! Conversion of moments to a scatter matrix and to a learner.

use super::{Held, Moments};
use crate::batch::{of_factor, of_scatter};
use crate::columns::Columns;
use crate::comparators::{Best, BestSubspace, Hindsight, RunningScatter, best_loss, bracket};
use crate::error::Error;
use crate::linalg::lower_square;
use crate::model::{Embedding, Model};
use crate::num::dot;
use crate::registry::Kind;
use crate::registry::options::Setup;
use crate::standardize::{Standardize, Standardizer};
use crate::state::length;
use crate::subspace::{Learned, LearnedScatter, NormBound, SLACK};

pub(super) struct Asked {
    pub scatter: LearnedScatter,
    pub energy: f64,
    /// Energy that the sketch may miss along each column. Empty if the matrix is exact.
    slack: Vec<f64>,
    deviations: Option<Vec<f64>>,
}

impl Moments {
    /// Returns the loss of the best subspace of `kept` dimensions for all rows, exact or a lower and an upper bound,
    /// around their mean or zero, in standard or original units. A model from [`Self::finish`] loses at most the upper
    /// bound.
    pub fn best(&self, kept: usize, centered: bool, standardized: bool) -> Best {
        let Asked { scatter, energy, mut slack, .. } = self.asked(centered, standardized);
        match scatter {
            LearnedScatter::Whole(scatter) => Best::Exact(best_loss(&scatter, kept)),
            LearnedScatter::Factor(sketch) => {
                slack.sort_by(|a, b| b.total_cmp(a));
                bracket(&sketch, energy, kept, slack.iter().take(kept).sum())
            }
        }
    }

    /// Only the lower triangle of a whole matrix is valid.
    pub(super) fn asked(&self, centered: bool, standardized: bool) -> Asked {
        let (weight, mean) = (self.weight(), self.mean());
        // In standard units the mean is zero.
        let offset = mean.filter(|_| !centered && !standardized);
        let offset: Option<Vec<f64>> = offset.map(|mean| mean.iter().map(|m| weight.sqrt() * m).collect());
        let deviation = |energy: &f64| if *energy > 0.0 { (energy / weight).sqrt() } else { 1.0 };
        let is_sketch = matches!(self.held, Held::Sketched(_));
        let energies = if standardized || is_sketch { self.column_energies() } else { Vec::new() };
        let deviations: Option<Vec<f64>> = standardized.then(|| energies.iter().map(deviation).collect());
        let scale = |i: usize, j: usize| deviations.as_ref().map_or(1.0, |s| s[i] * s[j]);
        match &self.held {
            Held::Exact(held) => {
                let mut scatter = held.whole().into_owned();
                for j in (0..self.length).filter(|_| standardized || offset.is_some()) {
                    for i in j..self.length {
                        let added = offset.as_ref().map_or(0.0, |m| m[i] * m[j]);
                        scatter.column_mut(j)[i] = scatter.column(j)[i] / scale(i, j) + added;
                    }
                }
                let energy = scatter.trace();
                Asked { scatter: LearnedScatter::Whole(scatter), energy, slack: Vec::new(), deviations }
            }
            Held::Sketched(held) => {
                let mut sketch = held.buffer.clone();
                if let Some(deviations) = &deviations {
                    sketch.for_each_column(|_, column| column.iter_mut().zip(deviations).for_each(|(x, s)| *x /= s));
                }
                offset.iter().for_each(|offset| sketch.push_column(offset));
                let own: f64 = energies.iter().enumerate().map(|(i, energy)| energy / scale(i, i)).sum();
                let slack = (0..self.length).map(|i| held.shrinkage / scale(i, i)).collect();
                let energy = own + offset.map_or(0.0, |offset| dot(&offset, &offset));
                Asked { scatter: LearnedScatter::Factor(sketch), energy, slack, deviations }
            }
        }
    }

    fn column_energies(&self) -> Vec<f64> {
        match &self.held {
            Held::Exact(held) => {
                let scatter = held.whole();
                (0..self.length).map(|j| scatter.column(j)[j]).collect()
            }
            Held::Sketched(held) => held.energies.clone(),
        }
    }

    /// Returns the learner with these options after all rows, as if it had learned them in one pass, without losses.
    /// Rows of more than 4096 numbers are learned from their sketch. If `standardize` is true, every column that is not
    /// constant is scaled to mean 0 and standard deviation 1.
    ///
    /// Supported learners are `leader`, `anchored` and `product-sets` ([`Model::merge`]). The norm bound is given, or
    /// the largest norm of a row, from the mean of the previous rows if centered. In standard units it is unknown, so
    /// `anchored` and `product-sets` need a given bound. A self-confident rate is tuned to the loss of the best
    /// subspace, or its upper bound.
    pub fn finish(&self, setup: &Setup, standardize: bool) -> Result<Model, Error> {
        let setup = setup.for_rows(self.length)?;
        setup.spec.check_mergeable()?;
        let (model, deviations) = self.taught(Model::of(&setup, self.length)?, standardize)?;
        let standardizer = match (deviations, self.mean()) {
            (Some(deviations), Some(mean)) => {
                // A constant column has the variance 0.
                let pairs = deviations.iter().zip(self.column_energies());
                let variances: Vec<f64> = pairs.map(|(s, energy)| if energy == 0.0 { 0.0 } else { s * s }).collect();
                Standardizer::settled(self.rows, &mean, &variances)
            }
            (Some(_), None) => return Err(Error::TooFewRows { rows: 0, least: 1 }),
            _ => Standardizer::new(Standardize::None, self.length),
        };
        Ok(model.with_columns(Columns::new(self.columns.names.clone(), standardizer)))
    }

    /// Learns all rows, in standard units of the model, without predicting them. Names, scale and random generator
    /// stay. If [`Model::takes_moments`] returns true and rows have at most 4096 numbers, the state is that after the
    /// rows one by one, in any order. Costs one decomposition, and another one if the model has rows.
    pub fn add_to(&self, model: Model) -> Result<Model, Error> {
        length("a row of the model", model.length(), self.length)?;
        model.check_mergeable()?;
        Ok(self.taught(model, false)?.0)
    }

    fn taught(&self, model: Model, standardize: bool) -> Result<(Model, Option<Vec<f64>>), Error> {
        let spec = model.spec();
        let centered = spec.center.is_some();
        let is_short = self.length <= BestSubspace::LONGEST;
        let Asked { mut scatter, energy, deviations, .. } = self.asked(centered, standardize);
        if let LearnedScatter::Whole(scatter) = &mut scatter {
            scatter.mirror();
        }
        let largest_square = match spec.norm_bound {
            NormBound::Running if standardize && spec.learner != Kind::Leader => {
                return Err(Error::Merge(
                    "norm-bound must be given for this learner in standard units: the largest norm is not known from one \
                     pass"
                        .to_owned(),
                ));
            }
            // The mean squared norm, on which the learned state does not depend.
            _ if standardize => energy / self.weight().max(1.0),
            bound => {
                let largest = if centered { self.largest_deviation } else { self.largest_square };
                match bound {
                    NormBound::Given(bound) if largest.sqrt() > bound * (1.0 + SLACK) => {
                        return Err(Error::Norm { norm: largest.sqrt(), bound });
                    }
                    _ => largest,
                }
            }
        };
        let zeros = vec![0.0; self.length];
        let mean = match standardize {
            true => (&zeros[..], &zeros[..]),
            false => self.mean_parts().parts(),
        };
        let own = centered
            .then(|| if standardize { self.mean_parts().at_zero(self.length) } else { self.mean_parts().clone() });
        let hindsight = is_short.then(|| {
            let whole = match &scatter {
                LearnedScatter::Whole(scatter) => scatter.clone(),
                LearnedScatter::Factor(rows) => lower_square(rows.view()),
            };
            Hindsight::Exact(Box::new(BestSubspace::after(RunningScatter::of(own, whole), self.length)))
        });
        let found = match &scatter {
            LearnedScatter::Factor(sketch) if !is_short => sketch.energy(),
            _ => energy,
        };
        let lost = if spec.self_confident { self.best(spec.kept, centered, standardize).high() } else { 0.0 };
        let rows = Learned {
            rows: self.rows,
            weight: self.weight(),
            mean: centered.then_some(mean),
            scatter,
            dropped: (energy - found).max(0.0),
            largest_square,
            lost,
        };
        Ok((model.absorb(rows, self.passed_over, hindsight)?, deviations))
    }
}

/// Relative energy along a kept direction for which it is accurate to 1e-8.
const ACCURATE: f64 = 1e-8;

/// Directions that a new model would keep after all rows, with the energy of the rows along each of them.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The probabilities of the directions are unknown and set to 0.
    pub embedding: Embedding,
    /// Energy of the rows along each direction, and in total. `None` for rows of more than 4096 numbers, and without
    /// the best subspace in hindsight.
    pub energies: Option<(Vec<f64>, f64)>,
}

impl Moments {
    /// Returns the directions of a model without rows after [`Self::add_to`], from the k leading eigenpairs alone, or
    /// `None` if the model has rows or another row length, or the directions would not be accurate.
    pub fn principal(&self, model: &Model) -> Option<Principal> {
        if model.totals().rows > 0 || self.rows == 0 || model.length() != self.length {
            return None;
        }
        let (spec, centered) = (model.spec(), model.spec().center.is_some());
        let Asked { scatter, energy, .. } = self.asked(centered, false);
        let most = spec.kept.min(self.length);
        let (mut energies, directions) = match &scatter {
            LearnedScatter::Whole(scatter) => of_scatter(scatter, most),
            LearnedScatter::Factor(rows) if rows.columns() >= most => of_factor(rows, most),
            LearnedScatter::Factor(_) => return None,
        };
        if !(energies[most - 1] >= ACCURATE * energies[0] && energies[0] > 0.0 && energy.is_finite()) {
            return None;
        }
        energies.resize(spec.kept, 0.0);
        let center = self.mean().filter(|_| centered).unwrap_or_else(|| vec![0.0; self.length]);
        let is_exact = self.length <= BestSubspace::LONGEST && model.has_hindsight();
        let energies = is_exact.then_some((energies, energy));
        Some(Principal { embedding: model.embedding_in(directions, center), energies })
    }
}
