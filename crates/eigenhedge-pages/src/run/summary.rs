//! Summary of a run as text.

use crate::counted;
use crate::number::readable;
use eigenhedge::comparators::Best;
use eigenhedge::options::Setup;
use eigenhedge::simplex::Select;
use eigenhedge::{Kind, Missing, Spec, Summary};

const NAMES: usize = 11;
const NO_PREDICTION: &str = "unknown: the rows were learned without a prediction";

/// If `standardized` is true, losses are in squared standard deviations.
pub fn text(summary: &Summary, spec: &Spec, standardized: bool) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<NAMES$}{value}\n");
    let total = summary.kept_energy + summary.loss;
    let share = (total > 0.0).then(|| format!(", {:.1} % of the energy", 100.0 * summary.kept_energy / total));
    line("learner", describe(spec));
    let skipped = match summary.skipped_rows {
        0 => String::new(),
        bad if spec.missing == Missing::Fail => format!("; {} passed over", counted(bad, "bad row")),
        bad => format!("; {} passed over", counted(bad, "row")),
    };
    line("read", format!("{} of {}{skipped}", counted(summary.rows, "row"), counted(summary.dim as u64, "number")));
    if standardized {
        line("", "standardized: losses are in squared standard deviations".to_owned());
    }
    line("kept", counted(summary.k as u64, "direction") + &share.unwrap_or_default());
    // The perturbed leader draws its noise first. The mean over the noise has no closed form.
    let expected = if spec.learner == Kind::PerturbedLeader { "expected, given its noise" } else { "expected" };
    let chosen = if spec.select == Select::Top { "by the surest choices" } else { "by the choices drawn" };
    if summary.is_predicted() {
        line("lost", format!("{} {expected}, {} {chosen}", readable(summary.expected_loss), readable(summary.loss)));
    }
    match (summary.uncharged_rows, summary.first_row_loss) {
        (1, Some(first)) => {
            line("", format!("without the first row, which fixes the center ({} expected)", readable(first)));
        }
        (0, _) => {}
        (rows, Some(first)) => {
            let rows = counted(rows, "first row");
            let first = readable(first);
            line("", format!("without {rows}, each of which fixes the center of a part ({first} expected)"));
        }
        (_, None) if !summary.is_predicted() => line("lost", NO_PREDICTION.into()),
        (rows, None) => line("", format!("without {}, which taught without a prediction", counted(rows, "row"))),
    }
    match (summary.best_loss, summary.regret) {
        (Some(best), None) => line("best", format!("{} by the best fixed subspace in hindsight", within(best))),
        (Some(best), Some(regret)) => {
            let method = if best.exact().is_none() { ", from a sketch" } else { "" };
            line("best", format!("{} by the best fixed subspace in hindsight{method}", within(best)));
            if let Some(partition) = summary.partitions.last().filter(|partition| !partition.cuts.is_empty()) {
                let cuts: Vec<String> = partition.cuts.iter().map(ToString::to_string).collect();
                let (segments, cuts) = (counted(cuts.len() as u64 + 1, "segment"), cuts.join(", "));
                let loss = readable(partition.loss);
                line("", format!("{loss} by the best subspaces for {segments}, cut before rows {cuts}"));
            }
            line("regret", format!("{} (expected less best)", within(regret)));
        }
        _ if summary.certificate.filled_rows > 0 => line("best", "unknown: cells of the rows are missing".into()),
        _ if summary.options.get("best").is_some_and(|best| best.to_string() == "none") => {
            line("best", "unknown: it was not followed (--best none)".into());
        }
        _ => line("best", "unknown: there were more rows than can be remembered".into()),
    }
    line("bound", bound(summary));
    if let Some(shifting) = summary.shifting_bound.as_ref().filter(|shifting| shifting.segments > 1) {
        let (segments, bound) = (shifting.segments, readable(shifting.bound));
        let (theorem, verdict) = (&shifting.theorem, verdict(shifting.holds));
        line("", format!("{bound} against a subspace for each of {segments} segments ({theorem}): {verdict}"));
    }
    if let Some(member) = summary.best_member() {
        let (best, name) = (readable(member.expected_loss), &member.name);
        let term = summary.certificate.hedge_term;
        let beyond = if term >= 0.0 { "at most {} more" } else { "at least {} less" };
        let beyond = beyond.replace("{}", &readable(term.abs()));
        line("member", format!("{best} by the best one, {name} (and {beyond})"));
        if let Some(heaviest) = summary.members.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)) {
            line("", format!("{} is the heaviest now, weight {:.2}", heaviest.name, heaviest.weight));
        }
    }
    if summary.certificate.healed_rows > 0 {
        line("healed", format!("{} rows found directions that were not orthonormal", summary.certificate.healed_rows));
    }
    if summary.certificate.clipped_rows > 0 {
        let rows = counted(summary.certificate.clipped_rows, "row");
        line("clipped", format!("{rows} learned from a shorter copy, and charged in full"));
    }
    if summary.certificate.filled_rows > 0 {
        let (rows, cells) = (summary.certificate.filled_rows, summary.certificate.missing_cells);
        let (rows, cells) = (counted(rows, "row"), counted(cells, "missing cell"));
        line("filled", format!("{rows} with {cells}: filled in to be learned, and charged for the others"));
    }
    if summary.certificate.budget_error > 0.0 {
        line("budget", format!("{} of features given up in all", readable(summary.certificate.budget_error)));
    }
    if summary.is_predicted() {
        line("directions", format!("{:.1} in use on average, at most {}", summary.rank_mean, summary.rank_max));
    }
    if let Some(advice) = &summary.advice {
        line("advice", advice.clone());
    }
    if let Some(speed) = summary.rows_per_second {
        line("speed", format!("{} rows per second", readable(speed)));
    }
    text
}

/// If no row was predicted, the losses, the kept energy and the ranks are null.
pub fn json(summary: &Summary) -> serde_json::Result<String> {
    if summary.is_predicted() {
        return serde_json::to_string(summary);
    }
    let mut value = serde_json::to_value(summary)?;
    for name in ["expected_loss", "loss", "kept_energy", "rank_mean", "rank_max"] {
        value[name] = serde_json::Value::Null;
    }
    serde_json::to_string(&value)
}

/// Values that depend on the clock are left out.
pub fn sentences(summary: &Summary, spec: &Spec, standardized: bool) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for line in text(&summary.clone().timed(0.0), spec, standardized).lines() {
        let (name, value) = line.split_at(line.len().min(NAMES));
        match (name.trim(), sentences.last_mut()) {
            ("", Some(last)) => *last += &format!("; {value}"),
            (name, _) => sentences.push(format!("{name}: {value}")),
        }
    }
    sentences
}

fn bound(summary: &Summary) -> String {
    let Some(bound) = summary.bound.filter(|_| summary.bound_holds.is_some()) else {
        return format!("none: {}", summary.bound_reason);
    };
    let verdict = verdict(summary.bound_holds == Some(true));
    let price = match summary.certificate.price {
        Some(price) if price > 0.0 => format!(", {} of its constant for mixing, caps and merges", readable(price)),
        _ => String::new(),
    };
    format!("{} on the expected loss ({}{price}): {verdict}", readable(bound), summary.bound_reason)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "it holds" } else { "IT DOES NOT HOLD" }
}

fn within(best: Best) -> String {
    match best {
        Best::Exact(value) => readable(value),
        Best::Between { low, high } => format!("between {} and {}", readable(low), readable(high)),
    }
}

fn describe(spec: &Spec) -> String {
    let changed = Setup::of(spec.clone(), 0).changed();
    let options = changed.into_iter().map(|(option, value)| format!(", {} {value}", option.name));
    options.fold(spec.learner.entry().name.to_owned(), |text, option| text + &option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::options::Options;
    use eigenhedge::{Moments, streams};

    #[test]
    fn a_model_that_predicted_nothing_states_no_losses() {
        let rows = streams::three_subspaces(1);
        let mut moments = Moments::new(20, 2, Missing::Fail).unwrap();
        moments.update(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
        let setup = Options::new(Kind::Leader, 2).resolve(str::to_owned).unwrap();
        let mut model = moments.finish(&setup, false).unwrap();
        let told = |summary: &Summary| {
            let value: serde_json::Value = serde_json::from_str(&json(summary).unwrap()).unwrap();
            (text(summary, &setup.spec, false), value)
        };
        let (shown, value) = told(&model.summary());
        assert!(shown.contains("lost       unknown") && !shown.contains("directions "), "{shown}");
        assert!(shown.contains("by the best fixed subspace in hindsight"), "{shown}");
        assert!(value["expected_loss"].is_null() && value["rank_max"].is_null() && value["best_loss"].is_number());
        model.step(&rows[0]).unwrap();
        let (shown, value) = told(&model.summary());
        assert!(shown.contains("expected, ") && shown.contains("directions "), "{shown}");
        assert!(value["expected_loss"].is_number(), "{value}");
    }
}
