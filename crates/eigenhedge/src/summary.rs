//! The account of a run under the names that programs read.

use crate::comparators::{Best, Partition};
use crate::registry::options::Value;
use crate::run::{Member, Run, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a run amounted to. The names are those of the JSON object and of the Python ledger; what does not exist is null.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Rows read.
    pub rows: u64,
    /// Rows left out because they were bad.
    pub skipped_rows: u64,
    /// Length of a row.
    pub dim: usize,
    /// Number of directions kept.
    pub k: usize,
    /// Name of the learner.
    pub learner: &'static str,
    /// Its rate; null when it has none, or tunes it.
    pub eta: Option<f64>,
    /// The options in effect, by name, with underscores.
    pub options: BTreeMap<String, Value>,
    /// Expected loss of the first row, when all it did was to fix the center: no other number here has a part of it.
    pub first_row_loss: Option<f64>,
    /// Total expected loss.
    pub expected_loss: f64,
    /// Total loss of the choices drawn.
    pub loss: f64,
    /// Loss of the best fixed subspace in hindsight.
    pub best_loss: Option<Best>,
    /// Expected loss less the best loss.
    pub regret: Option<Best>,
    /// The bound on the expected loss.
    pub bound: Option<f64>,
    /// Whether it holds.
    pub bound_holds: Option<bool>,
    /// The theorem behind the bound, or why there is none.
    pub bound_reason: String,
    /// What approximations cost.
    pub certificate: Certificate,
    /// Members of a portfolio.
    pub members: Vec<Member>,
    /// The best partitions.
    pub partitions: Vec<Partition>,
    /// Mean number of explicit directions.
    pub rank_mean: f64,
    /// Largest number of explicit directions.
    pub rank_max: usize,
    /// How long it took.
    pub seconds: f64,
    /// How fast it was.
    pub rows_per_second: Option<f64>,
}

/// What approximations cost.
#[derive(Debug, Clone, Serialize)]
pub struct Certificate {
    /// Added to the constant of the theorem by mixing and rank caps; null when it is not known.
    pub price: Option<f64>,
    /// Added to the loss of the best member by Hedge, at most.
    pub hedge_term: f64,
    /// Norms of features that a budget on atoms gave up.
    pub budget_error: f64,
    /// Rows before which directions were orthonormalised, because the parts of the row did not add up to it.
    pub healed_rows: u64,
}

impl Summary {
    /// The account of a run that took this long. Costs an eigendecomposition or two.
    pub fn new(run: &Run, seconds: f64) -> Self {
        let spec = run.spec();
        let statement = run.statement();
        let entry = spec.learner.entry();
        let bound_reason = match (statement.verdict, &statement.guarantee) {
            (Verdict::NotApplicable(reason), _) => reason.to_string(),
            (_, Some(guarantee)) => guarantee.theorem.to_owned(),
            (_, None) => String::new(),
        };
        Self {
            rows: statement.rows,
            skipped_rows: 0,
            dim: run.length(),
            k: spec.kept,
            learner: entry.name,
            eta: (spec.learner.reads("eta") && !spec.self_confident).then_some(spec.eta),
            options: run.setup().values().map(|(option, value)| (option.name.replace('-', "_"), value)).collect(),
            first_row_loss: statement.first_row,
            expected_loss: statement.expected,
            loss: statement.realised,
            best_loss: statement.best,
            regret: statement.regret(),
            bound: statement.guarantee.map(|guarantee| guarantee.bound),
            bound_holds: match statement.verdict {
                Verdict::Holds => Some(true),
                Verdict::Fails => Some(false),
                Verdict::NotApplicable(_) => None,
            },
            bound_reason,
            certificate: Certificate {
                price: Some(statement.price).filter(|price| price.is_finite()),
                hedge_term: statement.hedge_term,
                budget_error: statement.budget_error,
                healed_rows: statement.healed_rows,
            },
            rank_mean: statement.rank_mean,
            rank_max: statement.rank_max,
            seconds,
            rows_per_second: (seconds > 0.0).then_some(statement.rows as f64 / seconds),
            members: statement.members,
            partitions: statement.partitions,
        }
    }
}
