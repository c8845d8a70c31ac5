//! The account of a run, for people and for programs.

use crate::number::{exact, readable};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Mixing, NormBound, Run, Spec};
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
    best_loss: Option<f64>,
    regret: Option<f64>,
    bound: Option<f64>,
    bound_holds: Option<bool>,
    certificate: Option<f64>,
    rank_mean: f64,
    rank_max: usize,
    seconds: f64,
    rows_per_second: Option<f64>,
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
    pub fn new(run: &Run, length: usize, skipped_rows: u64, elapsed: Duration) -> Self {
        let (spec, ledger) = (run.spec(), run.ledger());
        let entry = spec.learner.entry();
        let best_loss = run.best_loss();
        let bound = best_loss.and_then(|best| run.bound(best));
        let seconds = elapsed.as_secs_f64();
        Self {
            rows: ledger.rows,
            skipped_rows,
            dim: length,
            k: spec.kept,
            learner: entry.name,
            eta: entry.reads.eta.then_some(spec.eta),
            expected_loss: ledger.expected,
            loss: ledger.realised,
            best_loss,
            regret: best_loss.map(|best| ledger.expected - best),
            bound,
            bound_holds: bound.map(|bound| ledger.expected <= bound),
            certificate: None,
            rank_mean: ledger.rank_mean(),
            rank_max: ledger.rank_max,
            seconds,
            rows_per_second: (seconds > 0.0).then_some(ledger.rows as f64 / seconds),
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
                line("best", format!("{} by the best fixed subspace in hindsight", readable(best)));
                line("regret", format!("{} (expected less best)", readable(regret)));
            }
            _ => line("best", format!("unknown: {} numbers a row are too many to follow", self.dim)),
        }
        line("bound", self.bound.map_or_else(|| self.why_no_bound(spec), |bound| self.against(bound)));
        line("directions", format!("{:.1} in use on average, at most {}", self.rank_mean, self.rank_max));
        if let Some(speed) = self.rows_per_second {
            line("speed", format!("{} rows per second", readable(speed)));
        }
        text
    }

    fn against(&self, bound: f64) -> String {
        let verdict = if self.expected_loss <= bound { "it holds" } else { "IT DOES NOT HOLD" };
        format!("{} on the expected loss: {verdict}", readable(bound))
    }

    fn why_no_bound(&self, spec: &Spec) -> String {
        let reason = if spec.learner.entry().guarantee.starts_with("none") {
            return format!("none: no theorem covers {}", self.learner);
        } else if spec.mixing != Mixing::None {
            "the theorem needs --mixing none"
        } else if spec.center.is_some() {
            "the theorem needs --center none"
        } else if spec.norm_bound == NormBound::Running {
            "the theorem needs a --norm-bound"
        } else if spec.dimension == Some(Multiplicity::Infinite) {
            "the theorem needs a finite --feature-dim"
        } else {
            "the best loss is unknown"
        };
        format!("none: {reason}")
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The learner with the options it reads.
fn describe(spec: &Spec) -> String {
    let entry = spec.learner.entry();
    let mut text = entry.name.to_owned();
    if entry.reads.eta {
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
