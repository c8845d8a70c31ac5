//! The account of a run, for people and for programs.

use crate::number::{exact, readable};
use eigenhedge::regret::{Best, Partition, Verdict};
use eigenhedge::run::Member;
use eigenhedge::{Mixing, Run, Spec};
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// What a run amounted to. The names are those of the JSON object; what does not exist is null.
#[derive(Debug, Serialize)]
pub struct Summary {
    rows: u64,
    skipped_rows: u64,
    dim: usize,
    k: usize,
    learner: &'static str,
    eta: Option<f64>,
    expected_loss: f64,
    loss: f64,
    best_loss: Option<Best>,
    regret: Option<Best>,
    bound: Option<f64>,
    bound_holds: Option<bool>,
    /// The theorem behind the bound, or why there is none.
    bound_reason: String,
    certificate: Certificate,
    members: Vec<Member>,
    partitions: Vec<Partition>,
    rank_mean: f64,
    rank_max: usize,
    seconds: f64,
    rows_per_second: Option<f64>,
}

/// What approximations cost.
#[derive(Debug, Serialize)]
struct Certificate {
    /// Added to the constant of the theorem by mixing and rank caps; null when it is not known.
    price: Option<f64>,
    /// Added to the loss of the best member by Hedge, at most.
    hedge_term: f64,
    /// Norms of features that a budget on atoms gave up.
    budget_error: f64,
}

/// What only the text mentions.
#[derive(Debug, Default)]
pub struct Notes {
    /// Total squared length of the coordinates that were kept.
    pub kept: f64,
    /// Expected loss of the first row.
    pub first: f64,
    /// Whether the rows were standardized, and so the losses are.
    pub standardized: bool,
}

impl Summary {
    /// Closes the account.
    pub fn new(run: &Run, skipped_rows: u64, elapsed: Duration) -> Self {
        let spec = run.spec();
        let statement = run.statement();
        let entry = spec.learner.entry();
        let seconds = elapsed.as_secs_f64();
        let bound_reason = match (statement.verdict, &statement.promise) {
            (Verdict::NotApplicable(reason), _) => reason.to_string(),
            (_, Some(promise)) => promise.theorem.to_owned(),
            (_, None) => String::new(),
        };
        Self {
            rows: statement.rows,
            skipped_rows,
            dim: run.length(),
            k: spec.kept,
            learner: entry.name,
            eta: (entry.reads.eta && !spec.self_confident).then_some(spec.eta),
            expected_loss: statement.expected,
            loss: statement.realised,
            best_loss: statement.best,
            regret: statement.regret(),
            bound: statement.promise.map(|promise| promise.bound),
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
            },
            rank_mean: statement.rank_mean,
            rank_max: statement.rank_max,
            seconds,
            rows_per_second: (seconds > 0.0).then_some(statement.rows as f64 / seconds),
            members: statement.members,
            partitions: statement.partitions,
        }
    }

    /// A few lines for people.
    pub fn text(&self, spec: &Spec, notes: &Notes) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<11}{value}");
        };
        let total = notes.kept + self.loss;
        let share = (total > 0.0).then(|| format!(", {:.1} % of the energy", 100.0 * notes.kept / total));
        line("learner", describe(spec));
        let skipped = match self.skipped_rows {
            0 => String::new(),
            bad => format!("; {} passed over", counted(bad, "bad row")),
        };
        line("read", format!("{} of {}{skipped}", counted(self.rows, "row"), counted(self.dim as u64, "number")));
        if notes.standardized {
            line("", "standardized: losses are in squared standard deviations".to_owned());
        }
        line("kept", counted(self.k as u64, "direction") + &share.unwrap_or_default());
        line(
            "lost",
            format!("{} expected, {} by the choices drawn", readable(self.expected_loss), readable(self.loss)),
        );
        if spec.center.is_some() && self.rows > 1 && notes.first > 0.1 * self.expected_loss {
            line("", format!("{} of that at the first row, before a mean was known", readable(notes.first)));
        }
        match (self.best_loss, self.regret) {
            (Some(best), Some(regret)) => {
                line("best", format!("{} by the best fixed subspace in hindsight", within(best)));
                line("regret", format!("{} (expected less best)", within(regret)));
            }
            _ => line("best", "unknown: there were more rows than can be remembered".into()),
        }
        if let Some(partition) = self.partitions.last().filter(|partition| !partition.cuts.is_empty()) {
            let cuts: Vec<String> = partition.cuts.iter().map(ToString::to_string).collect();
            let segments = counted(partition.cuts.len() as u64 + 1, "segment");
            let loss = readable(partition.loss);
            line("", format!("{loss} by the best subspaces for {segments}, cut before rows {}", cuts.join(", ")));
        }
        line("bound", self.promise());
        if let Some(member) = self.members.iter().min_by(|a, b| a.expected.total_cmp(&b.expected)) {
            let most = readable(self.certificate.hedge_term);
            line(
                "member",
                format!("{} by the best one, {} (and at most {most} more)", readable(member.expected), member.name),
            );
            let heaviest = self.members.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
            if let Some(heaviest) = heaviest {
                line("", format!("{} is the heaviest now, weight {:.2}", heaviest.name, heaviest.weight));
            }
        }
        if self.certificate.budget_error > 0.0 {
            line("budget", format!("{} of features given up in all", readable(self.certificate.budget_error)));
        }
        line("directions", format!("{:.1} in use on average, at most {}", self.rank_mean, self.rank_max));
        if let Some(speed) = self.rows_per_second {
            line("speed", format!("{} rows per second", readable(speed)));
        }
        text
    }

    fn promise(&self) -> String {
        let Some(bound) = self.bound.filter(|_| self.bound_holds.is_some()) else {
            return format!("none: {}", self.bound_reason);
        };
        let verdict = if self.bound_holds == Some(true) { "it holds" } else { "IT DOES NOT HOLD" };
        let price = self.certificate.price.filter(|price| *price > 0.0 && self.members.is_empty());
        let price =
            price.map_or(String::new(), |price| format!(", {} of its constant for mixing and caps", readable(price)));
        format!("{} on the expected loss ({}{price}): {verdict}", readable(bound), self.bound_reason)
    }
}

/// A number, or the two ends it lies between.
fn within(best: Best) -> String {
    match best {
        Best::Exact(value) => readable(value),
        Best::Between { low, high } => format!("between {} and {}", readable(low), readable(high)),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The learner with the options it reads.
fn describe(spec: &Spec) -> String {
    let entry = spec.learner.entry();
    let mut text = entry.name.to_owned();
    if let Some(kernel) = &spec.kernel {
        text += &format!(" over the {} kernel", kernel.name());
    }
    if entry.reads.eta && spec.self_confident {
        text += ", eta auto";
    } else if entry.reads.eta {
        text += &format!(", eta {}", exact(spec.eta));
    }
    match spec.mixing {
        Mixing::None => {}
        Mixing::FixedShare { alpha } => text += &format!(", fixed share {}", exact(alpha)),
        Mixing::PastAverage { alpha } => text += &format!(", past average {}", exact(alpha)),
    }
    if entry.reads.forget {
        text += &format!(", forget {}", exact(spec.forget));
    }
    text + if spec.center.is_some() { ", centered" } else { ", not centered" }
}
