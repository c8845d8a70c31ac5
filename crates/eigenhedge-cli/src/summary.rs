//! The account of a run, for people and for programs.

use crate::number::readable;
use eigenhedge::Spec;
use eigenhedge::comparators::Best;
use eigenhedge::options::Setup;
pub use eigenhedge::summary::Summary;
use std::fmt::Write;
use std::time::Duration;

/// Width of the names of the lines.
const NAMES: usize = 11;

/// What only the text mentions.
#[derive(Debug, Default)]
pub struct Notes {
    /// Total squared length of the coordinates that were kept, of the rows that were charged.
    pub kept: f64,
    /// Whether the rows were standardized, and so the losses are.
    pub standardized: bool,
    /// Time spent before the run was resumed.
    pub before: Duration,
}

/// A few lines for people.
pub trait Text {
    /// The lines.
    fn text(&self, spec: &Spec, notes: &Notes) -> String;
}

impl Text for Summary {
    fn text(&self, spec: &Spec, notes: &Notes) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<NAMES$}{value}");
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
        if let Some(first) = self.first_row_loss {
            line("", format!("without the first row, which fixes the center ({} expected)", readable(first)));
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
        line("bound", promise(self));
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
        if self.certificate.healed_rows > 0 {
            line("healed", format!("{} rows found directions that were not orthonormal", self.certificate.healed_rows));
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
}

/// The same lines as sentences of a page; none of them depends on a clock.
pub fn sentences(summary: &Summary, spec: &Spec, notes: &Notes) -> Vec<String> {
    let silent = Summary { rows_per_second: None, seconds: 0.0, ..summary.clone() };
    let mut sentences: Vec<String> = Vec::new();
    for line in silent.text(spec, notes).lines() {
        let (name, value) = line.split_at(line.len().min(NAMES));
        match (name.trim(), sentences.last_mut()) {
            ("", Some(last)) => *last += &format!("; {value}"),
            (name, _) => sentences.push(format!("{name}: {value}")),
        }
    }
    sentences
}

/// What was promised, and whether it was kept.
fn promise(summary: &Summary) -> String {
    let Some(bound) = summary.bound.filter(|_| summary.bound_holds.is_some()) else {
        return format!("none: {}", summary.bound_reason);
    };
    let verdict = if summary.bound_holds == Some(true) { "it holds" } else { "IT DOES NOT HOLD" };
    let price = summary.certificate.price.filter(|price| *price > 0.0 && summary.members.is_empty());
    let price =
        price.map_or(String::new(), |price| format!(", {} of its constant for mixing and caps", readable(price)));
    format!("{} on the expected loss ({}{price}): {verdict}", readable(bound), summary.bound_reason)
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

/// The learner with the options that are not at their defaults.
fn describe(spec: &Spec) -> String {
    let changed = Setup::of(spec.clone(), 0).changed();
    let options = changed.into_iter().map(|(option, value)| format!(", {} {value}", option.name));
    options.fold(spec.learner.entry().name.to_owned(), |text, option| text + &option)
}
