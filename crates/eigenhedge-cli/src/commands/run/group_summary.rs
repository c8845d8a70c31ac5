//! Summary of the models of `run --group-by`, as text and as JSON.

use anyhow::{Context, Result};
use eigenhedge::{Fleet, Model, Summary};
use eigenhedge_io::{open_fleet, printable};
use eigenhedge_pages::counted;
use eigenhedge_pages::number::readable;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

const MOST_LINES: usize = 40;

pub fn inspect(path: &Path, as_json: bool) -> Result<String> {
    let (mut fleet, _) = open_fleet(path, usize::MAX)?;
    let groups = summaries(&mut fleet)?;
    let total = Total::of(&groups, 0, 0.0);
    if as_json {
        return json(&groups, &total);
    }
    let model: &Model = fleet.fresh();
    let options: Vec<String> =
        model.setup().values().map(|(option, value)| format!("{} {value}", option.name)).collect();
    let names = model.columns().names.as_deref().unwrap_or_default();
    let models = counted(groups.len() as u64, "model");
    Ok(format!(
        "{}{models} of {}\noptions    {}\ncolumns    {}\n",
        text(&groups, &total),
        counted(model.length() as u64, "number"),
        options.join(", "),
        printable(&names.join(", "))
    ))
}

pub fn summaries(fleet: &mut Fleet<Model>) -> Result<Vec<Group>> {
    let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
    let summary = |key: String| {
        let summary = fleet.get(&key)?.context("each key has a model")?.summary();
        Ok(Group { key, summary })
    };
    keys.into_iter().map(summary).collect()
}

pub fn json(groups: &[Group], total: &Total) -> Result<String> {
    Ok(serde_json::to_string(&serde_json::json!({ "total": total, "groups": groups }))? + "\n")
}

#[derive(Serialize)]
pub struct Group {
    key: String,
    #[serde(flatten)]
    summary: Summary,
}

#[derive(Serialize)]
pub struct Total {
    groups: usize,
    pub rows: u64,
    skipped_rows: u64,
    expected_loss: f64,
    loss: f64,
    kept_energy: f64,
    /// `None` if that of a key is unknown.
    best_loss: Option<f64>,
    seconds: f64,
}

impl Total {
    pub fn of(groups: &[Group], skipped_rows: u64, seconds: f64) -> Self {
        let sum = |of: fn(&Summary) -> f64| groups.iter().map(|group| of(&group.summary)).sum();
        Self {
            groups: groups.len(),
            rows: groups.iter().map(|group| group.summary.rows).sum(),
            skipped_rows,
            expected_loss: sum(|summary| summary.expected_loss),
            loss: sum(|summary| summary.loss),
            kept_energy: sum(|summary| summary.kept_energy),
            best_loss: groups.iter().map(|group| Some(group.summary.best_loss?.low())).sum(),
            seconds,
        }
    }
}

/// Of more than [`MOST_LINES`] keys, only those with the largest losses are listed.
pub fn text(groups: &[Group], total: &Total) -> String {
    let mut text = String::new();
    let mut shown: Vec<&Group> = groups.iter().collect();
    if shown.len() > MOST_LINES {
        shown.sort_by(|a, b| b.summary.expected_loss.total_cmp(&a.summary.expected_loss));
        shown.truncate(MOST_LINES);
    }
    let width = shown.iter().map(|group| printable(&group.key).chars().count()).max().unwrap_or(0).clamp(5, 40);
    let mut line = |key: &str, rows: String, lost: String, best: String, kept: String| {
        let _ = writeln!(text, "{key:<width$}  {rows:>10}  {lost:>14}  {best:>14}  {kept:>7}");
    };
    let share = |kept: f64, lost: f64| match kept + lost {
        whole if whole > 0.0 => format!("{:.1} %", 100.0 * kept / whole),
        _ => "-".to_owned(),
    };
    let known = |best: Option<f64>| best.map_or("unknown".to_owned(), readable);
    line("key", "rows".into(), "lost, expected".into(), "best".into(), "kept".into());
    for Group { key, summary } in &shown {
        let best = known(summary.best_loss.map(|best| best.low()));
        let kept = share(summary.kept_energy, summary.loss);
        line(&printable(key), summary.rows.to_string(), readable(summary.expected_loss), best, kept);
    }
    let lost = readable(total.expected_loss);
    line("total", total.rows.to_string(), lost, known(total.best_loss), share(total.kept_energy, total.loss));
    if groups.len() > shown.len() {
        let more = groups.len() - shown.len();
        let _ = writeln!(text, "{} that lost less are not listed; --summary json has all", counted(more as u64, "key"));
    }
    text
}
