//! The account of a run: what was lost, what the best in hindsight would have lost, what was promised, what
//! approximations cost.

use super::{BoundInputs, Guarantee, Reason, Run, Verdict};
use crate::comparators::{Best, Hindsight, Partition};
use crate::registry::Spec;
use serde::Serialize;

/// An account. Losses are in squared input units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statement {
    /// Rows seen.
    pub rows: u64,
    /// Expected loss of the first row, when all it did was to fix the center; it is part of nothing else here.
    pub first_row: Option<f64>,
    /// Total expected loss.
    pub expected: f64,
    /// Total loss of the choices made.
    pub realised: f64,
    /// Loss of the best fixed subspace in hindsight; none when it was not followed.
    pub best: Option<Best>,
    /// The bound on the expected loss, and the theorem it comes from.
    pub guarantee: Option<Guarantee>,
    /// Whether the bound holds.
    pub verdict: Verdict,
    /// What approximations and mixing have added to the constant of the theorem; zero when everything was exact.
    pub price: f64,
    /// What Hedge may have added to the loss of the best member.
    pub hedge_term: f64,
    /// What a budget on atoms has cost in norms of features.
    pub budget_error: f64,
    /// Rows before which directions were orthonormalised, because the parts of the row did not add up to it.
    pub healed_rows: u64,
    /// The members of a portfolio.
    pub members: Vec<Member>,
    /// The best partitions into 1, 2, … segments, when they were followed.
    pub partitions: Vec<Partition>,
    /// Mean number of explicit directions in use.
    pub rank_mean: f64,
    /// Largest number of explicit directions in use.
    pub rank_max: usize,
}

/// A member of a portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Its name and parameters.
    pub name: String,
    /// Its present weight.
    pub weight: f64,
    /// Its total expected loss.
    #[serde(rename = "expected_loss")]
    pub expected: f64,
}

impl Statement {
    pub(super) fn of(run: &Run, segments: usize) -> Self {
        let (spec, ledger) = (&run.spec, &run.ledger);
        let best = run.hindsight.as_ref().and_then(|hindsight| hindsight.best(spec.kept));
        let inputs = bound_inputs(run);
        let bound = |best: f64| run.learner.guarantee(&inputs, best).map(|guarantee| guarantee.bound);
        let verdict = match best {
            Some(best) => Verdict::judge(ledger.expected, best, bound),
            None => Verdict::NotApplicable(bound(0.0).err().unwrap_or(Reason::UnknownBest)),
        };
        let members = run.learner.members().into_iter().map(|(spec, weight, expected)| {
            let name = spec.label();
            Member { name, weight, expected }
        });
        Self {
            rows: ledger.rows,
            first_row: ledger.first_row,
            expected: ledger.expected,
            realised: ledger.realised,
            best,
            guarantee: best.and_then(|best| run.learner.guarantee(&inputs, best.high()).ok()),
            verdict,
            price: run.learner.price(),
            hedge_term: run.learner.hedge_term(),
            budget_error: run.learner.budget_error(),
            healed_rows: run.learner.healed(),
            members: members.collect(),
            partitions: match &run.blocks {
                Some(blocks) if segments > 0 => blocks.best(spec.kept, segments),
                _ => Vec::new(),
            },
            rank_mean: ledger.rank_mean(),
            rank_max: ledger.rank_max,
        }
    }

    /// Expected loss less that of the best fixed subspace; a bracket when the latter is one.
    pub fn regret(&self) -> Option<Best> {
        self.best.map(|best| match best {
            Best::Exact(best) => Best::Exact(self.expected - best),
            Best::Between { low, high } => Best::between(self.expected - high, self.expected - low),
        })
    }

    /// The member that lost least.
    pub fn best_member(&self) -> Option<&Member> {
        self.members.iter().min_by(|a, b| a.expected.total_cmp(&b.expected))
    }
}

fn bound_inputs(run: &Run) -> BoundInputs {
    let squared_distance = |mean: &[f64], spec: &Spec| match &spec.start {
        Some(start) => mean.iter().zip(start).map(|(m, s)| (m - s) * (m - s)).sum(),
        None => mean.iter().map(|m| m * m).sum(),
    };
    let hindsight = run.hindsight.as_ref();
    let offset = match run.spec.center {
        Some(0.0) => hindsight.and_then(Hindsight::squared_way),
        _ => hindsight.and_then(Hindsight::mean).map(|mean| squared_distance(&mean, &run.spec)),
    };
    BoundInputs { rows: run.ledger.rows, offset }
}
