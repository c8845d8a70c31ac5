//! Descriptions of the keys of the summary, for the page.

use crate::number::readable;
use eigenhedge::{Member, Summary};
use eigenhedge_report::{Fact, Table};
use serde_json::{Value, json};

/// Keys of the summary and their meanings, in the order of the page. Keys that depend on the clock are left
/// out.
const MEANINGS: &[(&str, &str)] = &[
    ("rows", "rows that were read and learned"),
    ("skipped_rows", "rows that were passed over: bad ones, and those that miss cells if they are skipped"),
    ("dim", "numbers in a row"),
    ("feature_dim", "dimension of the space that rows or their features lie in"),
    ("k", "directions kept at each row"),
    ("learner", "who learned"),
    ("eta", "learning rate, when it is a fixed one"),
    ("uncharged_rows", "rows that taught and were charged to nobody, such as a first one that fixes the center"),
    ("first_row_loss", "expected loss of the first row, which fixes the center and is part of no total"),
    ("expected_loss", "total loss, averaged over the learner's own draws"),
    ("loss", "total loss of the choices that were drawn"),
    ("kept_energy", "total squared length of the coordinates that were kept"),
    ("best_loss", "total loss of the best fixed subspace, chosen with all rows known"),
    ("regret", "expected loss less that of the best"),
    ("bound", "what theory promises the expected loss not to exceed"),
    ("bound_holds", "whether it did not"),
    ("bound_reason", "the theorem, or why there is none"),
    ("shifting_bound.bound", "the same beside a comparator that changes its subspace from segment to segment"),
    ("shifting_bound.segments", "the segments that make this bound least"),
    ("shifting_bound.best_loss", "what the best subspaces of these segments lose"),
    ("shifting_bound.holds", "whether the expected loss is within this bound"),
    ("certificate.price", "added to the theorem's constant by mixing, caps and merges"),
    ("certificate.hedge_term", "added to the best member's loss by the portfolio, at most; negative if it lost less"),
    ("certificate.budget_error", "norms of features that a budget gave up"),
    ("certificate.healed_rows", "rows before which directions were orthonormalised"),
    ("certificate.clipped_rows", "rows learned from a shorter copy, the most of any member"),
    ("certificate.filled_rows", "rows learned with missing cells filled in, and charged for the others"),
    ("certificate.missing_cells", "cells filled in"),
    ("rank_mean", "explicit directions in use, on average"),
    ("rank_max", "explicit directions in use, at most"),
];

/// Returns the lines of the summary, each with a rounded value and with all digits of the JSON summary.
pub fn facts(summary: &Summary) -> Vec<Fact> {
    let summary = serde_json::to_value(summary).unwrap_or_default();
    let line = |(key, meaning): &(&str, &str)| {
        let value = key.split('.').try_fold(&summary, |value, part| value.get(part))?;
        Some(Fact {
            key: (*key).into(),
            value: spoken(value, rounded),
            exact: if value.is_f64() || value.is_object() { spoken(value, Value::to_string) } else { String::new() },
            explanation: (*meaning).into(),
        })
    };
    MEANINGS.iter().filter_map(line).collect()
}

/// Returns the table of the members of a portfolio; `None` if there are none.
pub fn members(members: &[Member]) -> Option<Table> {
    let number = |value: f64| (readable(value), json!(value).to_string());
    let cells = |member: &Member| (member.name.clone(), number(member.weight), number(member.expected_loss));
    let (rows, exact) = members
        .iter()
        .map(cells)
        .map(|(name, weight, loss)| (vec![name, weight.0, loss.0], vec![String::new(), weight.1, loss.1]))
        .unzip();
    let columns = ["member", "weight at the end", "expected loss"].map(String::from).to_vec();
    let table = Table { title: "Members".into(), columns, rows, exact, ..Table::default() };
    (!members.is_empty()).then_some(table)
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
