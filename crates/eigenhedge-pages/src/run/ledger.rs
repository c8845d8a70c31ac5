//! Tables of the collapsed part of the page of a run.

use crate::number::{readable, significant};
use crate::page::Table;
use crate::top_k::Entry;
use eigenhedge::{Member, Summary};
use serde_json::{Value, json};

/// Keys of the summary and their meanings, without those that depend on the clock.
const MEANINGS: &[(&str, &str)] = &[
    ("rows", "number of rows that were read and learned"),
    ("skipped_rows", "number of skipped rows: bad rows, and rows with missing cells if these are skipped"),
    ("dim", "number of columns"),
    ("feature_dim", "dimension of the space of the rows or their features"),
    ("k", "number of directions kept"),
    ("learner", "learning algorithm"),
    ("eta", "learning rate, if it is fixed"),
    ("uncharged_rows", "number of learned rows whose loss does not count, such as a row that sets the center"),
    ("first_row_loss", "expected loss of the first row, which sets the center; not included in any total"),
    ("expected_loss", "total loss, averaged over the learner's own draws"),
    ("loss", "total loss of the choices that were drawn"),
    ("kept_energy", "total squared length of the coordinates that were kept"),
    ("best_loss", "total loss of the best fixed subspace, chosen with all rows known"),
    ("regret", "expected loss minus the best loss"),
    ("bound", "upper bound on the expected loss, from a theorem"),
    ("bound_holds", "true if the expected loss is within the bound"),
    ("bound_reason", "the theorem, or the reason why there is no bound"),
    ("shifting_bound.bound", "bound against a comparator that changes its subspace from segment to segment"),
    ("shifting_bound.segments", "number of segments for which this bound is smallest"),
    ("shifting_bound.best_loss", "loss of the best subspaces of these segments"),
    ("shifting_bound.holds", "true if the expected loss is within this bound"),
    ("certificate.price", "cost of mixing, rank caps and merges, included in the constant of the theorem"),
    ("certificate.hedge_term", "largest possible excess over the loss of the best member; negative if less was lost"),
    ("certificate.budget_error", "total norm of the features that the budget discarded"),
    ("certificate.healed_rows", "number of rows before which the directions were orthonormalized again"),
    ("certificate.clipped_rows", "number of rows that were shortened before learning; the maximum over the members"),
    ("certificate.filled_rows", "number of rows with missing cells filled in; their loss covers the observed cells"),
    ("certificate.missing_cells", "number of cells filled in"),
    ("advice", "advice about the input"),
    ("rank_mean", "mean number of explicit directions"),
    ("rank_max", "largest number of explicit directions"),
];

pub fn account(summary: &Summary) -> Table {
    let summary = serde_json::to_value(summary).unwrap_or_default();
    let line = |(key, meaning): &(&str, &str)| {
        let value = key.split('.').try_fold(&summary, |value, part| value.get(part))?;
        let exact = if value.is_f64() || value.is_object() { spoken(value, Value::to_string) } else { String::new() };
        Some((vec![(*key).into(), spoken(value, rounded), (*meaning).into()], vec![String::new(), exact]))
    };
    let (rows, exact) = MEANINGS.iter().filter_map(line).unzip();
    Table {
        title: "Account".into(),
        columns: ["key", "value", "meaning"].map(String::from).to_vec(),
        rows,
        exact,
        caption: "Numbers are rounded; point at one to see all its digits.".into(),
        ..Table::default()
    }
}

pub fn largest(entries: &[Entry]) -> Table {
    let width = if entries.iter().all(|entry| entry.label.is_empty()) { 2 } else { 3 };
    let row = |entry: &Entry| {
        let cells = [entry.row.to_string(), significant(entry.value, 4), entry.label.clone()];
        cells[..width].to_vec()
    };
    Table {
        title: "Largest losses".into(),
        columns: ["row", "loss", "label"].map(String::from)[..width].to_vec(),
        rows: entries.iter().map(row).collect(),
        exact: entries.iter().map(|entry| vec![String::new(), entry.value.to_string()]).collect(),
        ..Table::default()
    }
}

pub fn members(members: &[Member]) -> Table {
    let cells = |member: &Member| {
        let [weight, loss] = [member.weight, member.expected_loss];
        let exact = |value: f64| json!(value).to_string();
        (vec![member.name.clone(), readable(weight), readable(loss)], vec![String::new(), exact(weight), exact(loss)])
    };
    let (rows, exact) = members.iter().map(cells).unzip();
    let columns = ["member", "weight at the end", "expected loss"].map(String::from).to_vec();
    Table { title: "Members".into(), columns, rows, exact, ..Table::default() }
}

fn rounded(value: &Value) -> String {
    value.as_f64().filter(|_| value.is_f64()).map_or_else(|| value.to_string(), readable)
}

fn spoken(value: &Value, number: fn(&Value) -> String) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Object(_) => format!("{} to {}", number(&value["low"]), number(&value["high"])),
        other => number(other),
    }
}
