//! Summary of a model.

use super::{BoundInputs, Comparator, Model, Reason, bound_holds};
use crate::bounds;
use crate::comparators::{Best, Hindsight, Partition};
use crate::registry::Spec;
use crate::registry::options::{AUTO_SEGMENTS, Value};
use crate::simplex::Multiplicity;
use crate::standardize::Standardize;
use serde::Serialize;
use std::collections::BTreeMap;

/// Summary of a model. Losses are in squared units of the learned rows: units of the input, or standard units if
/// columns are standardized. The JSON output has the same field names, and null for `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Number of learned rows.
    pub rows: u64,
    /// Number of rows skipped because of missing cells, to which the caller adds rows that could not be read.
    pub skipped_rows: u64,
    /// Number of columns.
    pub dim: usize,
    /// Dimension of the space of the rows or their features, or "inf".
    pub feature_dim: Value,
    /// Number of directions kept.
    pub k: usize,
    /// Name of the learner.
    pub learner: &'static str,
    /// Learning rate. The field is `None` if the learner has no rate, or tunes its rate to the loss.
    pub eta: Option<f64>,
    /// Options in effect, by name. Hyphens in names are replaced by underscores.
    pub options: BTreeMap<String, Value>,
    /// Number of learned rows whose loss does not count: first rows that set a center, and rows not predicted.
    pub uncharged_rows: u64,
    /// Expected loss of first rows that only set a center, which no other number includes.
    pub first_row_loss: Option<f64>,
    /// Total expected loss.
    pub expected_loss: f64,
    /// Total loss of the drawn choices.
    pub loss: f64,
    /// Total squared length of the kept coordinates.
    pub kept_energy: f64,
    /// Loss of the best fixed subspace in hindsight for the predicted rows, or for all rows if none was predicted.
    /// `None` if it was not tracked, if cells were filled in, or if a kernel model had too many rows to store.
    pub best_loss: Option<Best>,
    /// Expected loss minus the best loss, or `None` if no row was predicted.
    pub regret: Option<Best>,
    /// Bound on the total expected loss, for the upper end of the best loss.
    pub bound: Option<f64>,
    /// True if the expected loss is at most the bound, or `None` if this is unknown.
    pub bound_holds: Option<bool>,
    /// Name of the theorem if `bound_holds` is known, or else the reason why it is unknown.
    pub bound_reason: String,
    /// Effects of approximations.
    pub certificate: Certificate,
    /// Members of a portfolio. The list is empty for a single learner.
    pub members: Vec<Member>,
    /// Best partitions into 1, 2, … segments. None if they were not tracked, if cells were filled in, or if there were
    /// too many long rows or kernel features to store.
    pub partitions: Vec<Partition>,
    /// Smallest bound relative to one of the partitions, or `None` if no theorem covers changes.
    pub shifting_bound: Option<ShiftingBound>,
    /// Advice to standardize, if the scales of two columns differ by more than a factor of 10⁵.
    pub advice: Option<String>,
    /// Mean number of explicit directions with a positive probability of being kept, of the chosen member.
    pub rank_mean: f64,
    /// Largest number of explicit directions with a positive probability of being kept.
    pub rank_max: usize,
    /// Time spent, in seconds, set by [`Self::timed`].
    pub seconds: f64,
    /// Number of rows per second, set by [`Self::timed`].
    pub rows_per_second: Option<f64>,
}

/// Bound on the loss relative to a comparator that may change its subspace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShiftingBound {
    /// Number of segments of the partition with the least bound.
    pub segments: usize,
    /// Total loss of the partition.
    pub best_loss: f64,
    /// Bound on the expected loss.
    pub bound: f64,
    /// True if the expected loss is within the bound.
    pub holds: bool,
    /// Theorem of the bound.
    pub theorem: &'static str,
}

/// Effects of approximations.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Certificate {
    /// Amount that mixing, rank caps and merging of directions add to the constant of the reported bound, if known.
    pub price: Option<f64>,
    /// Upper bound on the excess of the loss of the portfolio over that of its best member.
    pub hedge_term: f64,
    /// Total norm of the features discarded by a budget on atoms.
    pub budget_error: f64,
    /// Number of rows before which the directions were orthonormalized again because of rounding.
    pub healed_rows: u64,
    /// Number of clipped rows, the maximum over the members.
    pub clipped_rows: u64,
    /// Number of rows learned with missing cells filled in. Their loss covers only the observed cells.
    pub filled_rows: u64,
    /// Number of cells filled in.
    pub missing_cells: u64,
}

/// Member of a portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// Name and parameters of the learner.
    pub name: String,
    /// Current weight of the member in the portfolio.
    pub weight: f64,
    /// Total expected loss of the member.
    pub expected_loss: f64,
}

impl Summary {
    pub(super) fn of(run: &Model, best_loss: Option<Best>, segments: usize) -> Self {
        let Model { spec, totals, .. } = run;
        let learner = run.learner.inside();
        let inputs = bound_inputs(run);
        let guarantee = |best: f64| learner.guarantee(&inputs, Comparator::fixed(best));
        let holds = match best_loss {
            Some(best) => bound_holds(totals.expected_loss, best, |best| Ok(guarantee(best)?.bound)),
            None => Err(guarantee(0.0).err().unwrap_or(Reason::UnknownBest)),
        };
        let guarantee = best_loss.and_then(|best| guarantee(best.high()).ok());
        let (partitions, shifting_bound) = partitions(run, &inputs, segments);
        let costs = learner.certificate();
        Self {
            rows: totals.rows,
            skipped_rows: totals.passed_over,
            dim: run.length,
            feature_dim: match spec.space(run.length) {
                Multiplicity::Finite(n) => Value::Count(n),
                Multiplicity::Infinite => "inf".into(),
            },
            k: spec.kept,
            learner: spec.learner.entry().name,
            eta: (spec.learner.reads("eta") && !spec.self_confident).then_some(spec.eta),
            options: run.setup().values().map(|(option, value)| (option.name.replace('-', "_"), value)).collect(),
            uncharged_rows: totals.uncharged,
            first_row_loss: totals.first_row_loss,
            expected_loss: totals.expected_loss,
            loss: totals.loss,
            kept_energy: totals.kept_energy,
            best_loss,
            regret: best_loss.filter(|_| !run.is_unpredicted()).map(|best| match best {
                Best::Exact(best) => Best::Exact(totals.expected_loss - best),
                Best::Between { low, high } => Best::between(totals.expected_loss - high, totals.expected_loss - low),
            }),
            bound: guarantee.map(|guarantee| guarantee.bound),
            bound_holds: holds.ok(),
            bound_reason: match holds {
                Err(reason) => reason.to_string(),
                Ok(_) => guarantee.map_or("", |guarantee| guarantee.theorem).to_owned(),
            },
            certificate: Certificate {
                price: guarantee.map(|guarantee| guarantee.price).or(costs.price).filter(|price| price.is_finite()),
                filled_rows: totals.filled_rows,
                missing_cells: totals.missing_cells,
                ..costs
            },
            members: learner.members(),
            partitions,
            shifting_bound,
            advice: advice(run),
            rank_mean: totals.rank_mean(),
            rank_max: totals.rank_max,
            seconds: 0.0,
            rows_per_second: None,
        }
    }

    /// Returns the summary with the time spent, in seconds.
    #[must_use]
    pub fn timed(self, seconds: f64) -> Self {
        let rows_per_second = (seconds > 0.0).then_some(self.rows as f64 / seconds);
        Self { seconds, rows_per_second, ..self }
    }

    /// Returns false if rows were learned but none was predicted ([`Moments`](crate::Moments)), so that losses are unknown.
    pub fn is_predicted(&self) -> bool {
        self.rows == 0 || self.uncharged_rows < self.rows || self.first_row_loss.is_some()
    }

    /// Returns the member with the least loss, or `None` if there are no members.
    pub fn best_member(&self) -> Option<&Member> {
        self.members.iter().min_by(|a, b| a.expected_loss.total_cmp(&b.expected_loss))
    }
}

/// Ratio of the root energies of two columns above which the smaller one hardly affects the directions.
const UNEQUAL: f64 = 1e5;

fn advice(run: &Model) -> Option<String> {
    if run.columns.standardizer.how() != Standardize::None {
        return None;
    }
    let energies = run.hindsight.as_ref()?.column_energies()?;
    let scaled = || (0..energies.len()).filter(|j| energies[*j] > 0.0);
    let least = scaled().min_by(|a, b| energies[*a].total_cmp(&energies[*b]))?;
    let most = scaled().max_by(|a, b| energies[*a].total_cmp(&energies[*b]))?;
    let ratio = energies[most].sqrt() / energies[least].sqrt();
    let name = |j: usize| run.columns.names.as_ref().map_or_else(|| j.to_string(), |names| format!("'{}'", names[j]));
    (ratio > UNEQUAL).then(|| {
        let (most, least) = (name(most), name(least));
        format!(
            "the scale of column {most} is {ratio:.1e} times that of column {least}: --standardize running gives all \
             columns the same scale"
        )
    })
}

const MOST_SEGMENTS: usize = 12;

fn partitions(run: &Model, inputs: &BoundInputs, segments: usize) -> (Vec<Partition>, Option<ShiftingBound>) {
    let Some(followed) = run.partitions.as_ref().filter(|_| segments > 0 && inputs.totals.filled_rows == 0) else {
        return (Vec::new(), None);
    };
    let is_chosen = segments == AUTO_SEGMENTS;
    let most = if is_chosen { MOST_SEGMENTS } else { segments };
    let mut partitions = followed.best(run.spec.kept, most);
    let bound = |partition: &Partition| {
        let comparator = Comparator { loss: partition.loss, changes: partition.cuts.len() };
        let guarantee = run.learner.inside().guarantee(inputs, comparator).ok()?;
        Some(ShiftingBound {
            segments: partition.cuts.len() + 1,
            best_loss: partition.loss,
            bound: guarantee.bound,
            holds: bound_holds(run.totals.expected_loss, Best::Exact(partition.loss), |_| Ok(guarantee.bound))
                .unwrap_or(false),
            theorem: guarantee.theorem,
        })
    };
    let covered = partitions.iter().any(|partition| !partition.cuts.is_empty() && bound(partition).is_some());
    let least = partitions.iter().filter_map(bound).min_by(|a, b| a.bound.total_cmp(&b.bound)).filter(|_| covered);
    if is_chosen {
        let chosen = least.as_ref().map_or_else(|| fewest(run, &partitions), |least| least.segments);
        partitions.truncate(chosen);
    }
    (partitions, least)
}

/// Returns the number of segments with the smallest loss plus cost of the changes. The cost of a
/// change is that in the bound of tracking with fixed share of rate α = 1/T, for T counted rows.
fn fewest(run: &Model, partitions: &[Partition]) -> usize {
    let charged = run.totals.charged().max(1) as f64;
    let square = run.totals.squares_norm / charged.sqrt();
    let dimension = run.spec.space(run.length);
    let cost = bounds::shift_cost(run.spec.kept, dimension, charged.recip()).unwrap_or(0.0) * square;
    let total = |partition: &&Partition| partition.loss + cost * partition.cuts.len() as f64;
    let least = partitions.iter().min_by(|a, b| total(a).total_cmp(&total(b)));
    least.map_or(1, |partition| partition.cuts.len() + 1)
}

fn bound_inputs(run: &Model) -> BoundInputs {
    let squared_distance = |mean: &[f64], spec: &Spec| match &spec.start {
        Some(start) => mean.iter().zip(start).map(|(m, s)| (m - s) * (m - s)).sum(),
        None => mean.iter().map(|m| m * m).sum(),
    };
    let hindsight = run.hindsight.as_ref();
    let offset = match run.spec.center {
        Some(center) if center.prior == 0.0 => hindsight.and_then(Hindsight::squared_way),
        _ => hindsight.and_then(Hindsight::mean).map(|mean| squared_distance(&mean, &run.spec)),
    };
    BoundInputs { totals: run.totals, offset }
}
