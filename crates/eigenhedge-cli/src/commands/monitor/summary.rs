//! Summary of a monitor as text and as JSON.

use super::key_state::KeyState;
use super::occurrence::Occurrence;
use super::session::Finished;
use super::{Limit, MonitorArgs, in_words};
use crate::files::{kind_of, read_monitor};
use crate::number::readable;
use crate::summary::counted;
use anyhow::Result;
use eigenhedge::{Monitor, SavedKind};
use eigenhedge_io::{open_fleet, printable, printable_path};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Maximum number of events shown; the strongest are shown.
const SHOWN: usize = 12;
/// Maximum number of keys shown; those with the most alarms are shown.
const SHOWN_KEYS: usize = 20;
/// Ratio of the alarm rate to the requested rate above which advice is shown.
const OFTEN: f64 = 3.0;
const ADVICE: &str = "more than three times the asked share. Either much is wrong in this table, or the first rows are not like \
                      the rest: try --train with known-good rows, or a longer --warm-up";

const CONSTANT: &str = "every column was constant in the first rows, so only a change of a value is an alarm; a longer --warm-up may \
                        show how they vary";

/// Returns the summary as text.
pub fn text(finished: &Finished, args: &MonitorArgs) -> String {
    let Finished { totals, keys: states, listed, stream, rows, .. } = finished;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<11}{value}");
    };
    let width = stream.columns().len() as u64;
    let over = match totals.passed_over + stream.skipped() {
        0 => String::new(),
        over => format!("; {} passed over", counted(over, "row")),
    };
    let filled = match finished.filled_rows {
        0 => String::new(),
        filled => format!("; {} with missing cells filled in", counted(filled, "row")),
    };
    line("read", format!("{} of {}{over}{filled}", counted(*rows, "row"), counted(width, "number")));
    let Some(first) = states.iter().find(|state| state.is_ready) else { return text };
    let warm_up = first.totals.warm_up;
    let normal = match (&args.train, &args.start_from) {
        (Some(path), _) => format!("{} of {}", counted(warm_up, "row"), printable_path(path)),
        (_, Some(path)) => format!("as in {}", printable_path(path)),
        _ if first.is_borrowed => "the first rows of all keys".to_owned(),
        _ => format!("the first {}", counted(warm_up, "row")),
    };
    line("normal", normal);
    let lags = match first.lags {
        0 => String::new(),
        lags => format!(", {} appended to each row", counted(lags as u64, "earlier row")),
    };
    let also = if first.has_differences { "; differences between rows are watched too" } else { "" };
    if args.group_by.is_some() {
        line("monitors", by_key(states, finished.in_memory));
    }
    line("model", format!("{}{lags}{also}", counted(first.directions.unwrap_or(0) as u64, "direction")));
    if first.directions == Some(0) {
        line("", CONSTANT.to_owned());
    }
    let rule: Limit = finished.limit;
    line("limit", format!("{} ({rule})", in_words(rule)));
    let scored = totals.scored;
    let percent = |part: u64| 100.0 * part as f64 / scored.max(1) as f64;
    let asked = 100.0 * rule.rate();
    let events = counted(totals.events, "event");
    let rows = counted(scored, "row");
    let share = percent(totals.alarms);
    line("alarms", format!("{} in {events}, {share:.2} % of {rows} with a score ({asked} % asked)", totals.alarms));
    if share > OFTEN * asked && totals.alarms > 10 {
        line("", ADVICE.to_owned());
    }
    occurrences("event", listed.iter().filter(|one| !one.is_change() && !one.is_drift()), &mut line);
    let share = percent(totals.drift_rows);
    line("drift", format!("{}, {share:.2} % of {rows} with a score", counted(totals.drifts, "report")));
    occurrences("report", listed.iter().filter(|one| one.is_drift()), &mut line);
    going_on(states, &mut line);
    line("changes", format!("{} of the level of the score", totals.changes));
    occurrences("change", listed.iter().filter(|one| one.is_change()), &mut line);
    if args.group_by.is_some() {
        keys(states, &mut line);
    }
    if let Some(path) = &args.report {
        line("report", format!("{}: open it in a browser", printable_path(path)));
    }
    match (&args.events, listed.is_empty()) {
        (Some(path), _) => line("list", printable_path(path)),
        (None, false) => {
            line("next", "--events FILE lists events, drifts and changes; --out FILE has each row's score".into())
        }
        (None, true) => {}
    }
    text
}

/// Adds lines about drifts that continue at the end of the table.
fn going_on(states: &[KeyState], line: &mut impl FnMut(&str, String)) {
    let open: Vec<(&String, u64)> =
        states.iter().filter_map(|state| state.drift_since.map(|since| (&state.key, since))).collect();
    match open.as_slice() {
        [] => {}
        [(key, since)] if key.is_empty() => {
            line("", format!("not over: since row {since}; --accept ROW makes the state at a row the new reference"));
        }
        _ => {
            let keys: Vec<String> = open.iter().take(SHOWN).map(|(key, _)| printable(key)).collect();
            let more = open.len().saturating_sub(SHOWN);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            line("", format!("not over in {}: {}{rest}", counted(open.len() as u64, "key"), keys.join(", ")));
        }
    }
}

/// Returns the number of monitors, and how many of them have their own reference.
fn by_key(states: &[KeyState], in_memory: usize) -> String {
    let count = |is: &dyn Fn(&KeyState) -> bool| states.iter().filter(|state| is(state)).count() as u64;
    let (short, pooled) = (count(&|state| !state.is_ready), count(&|state| state.is_borrowed));
    let mut text = format!("{} by key", counted(states.len() as u64, "monitor"));
    if in_memory < states.len() {
        text += &format!(", {in_memory} in memory");
    }
    if pooled > 0 {
        text += &format!("; {} with few rows used a reference pooled over all keys", counted(pooled, "key"));
    }
    if short > 0 {
        text += &format!("; {} ended before there was a reference", counted(short, "key"));
    }
    text
}

/// Adds lines for the strongest events or changes, ordered by row.
fn occurrences<'a>(noun: &str, all: impl Iterator<Item = &'a Occurrence>, line: &mut impl FnMut(&str, String)) {
    let mut shown: Vec<&Occurrence> = all.collect();
    let more = shown.len().saturating_sub(SHOWN);
    if more > 0 {
        shown.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        shown.truncate(SHOWN);
        shown.sort_by_key(|one| one.start);
    }
    for one in shown {
        let key = if one.key.is_empty() { String::new() } else { format!("{}: ", printable(&one.key)) };
        let time = if one.start_time.is_empty() { String::new() } else { format!(" ({})", printable(&one.start_time)) };
        let causes: Vec<String> = one.causes.iter().map(|(name, _)| printable(name)).collect();
        let what = match one.kind.as_str() {
            "stuck" => format!("rows {} to {}{time}: the value repeats", one.start, one.end),
            "moved" => format!("rows {} to {}{time}: a column that was constant moved", one.start, one.end),
            "drift" => format!("since row {}{time}, reported at row {}", one.start, one.end),
            "returned" => format!("rows {} to {}{time}: returned", one.start, one.end),
            "accepted" => format!("row {}{time}: the last rows are the new reference", one.start),
            "rise" | "fall" => format!("row {}{time}: {}, strength {}", one.start, one.kind, readable(one.strength)),
            _ if one.start == one.end => format!("row {}{time}: score {}", one.start, readable(one.strength)),
            _ => format!("rows {} to {}{time}: score up to {}", one.start, one.end, readable(one.strength)),
        };
        let causes = if causes.is_empty() { String::new() } else { format!("; {}", causes.join(", ")) };
        line("", format!("{key}{what}{causes}"));
    }
    if more > 0 {
        line("", format!("and {}", counted(more as u64, &format!("more {noun}"))));
    }
}

/// Adds lines for the keys with the most alarms.
fn keys(states: &[KeyState], line: &mut impl FnMut(&str, String)) {
    let mut worst: Vec<&KeyState> = states.iter().collect();
    worst.sort_by_key(|state| std::cmp::Reverse(state.in_table.alarms));
    for KeyState { key, in_table, .. } in worst.iter().take(SHOWN_KEYS).filter(|state| state.in_table.alarms > 0) {
        let (alarms, rows) = (counted(in_table.alarms, "alarm"), counted(in_table.rows, "row"));
        line("", format!("{}: {alarms} in {rows}", printable(key)));
    }
}

/// Describes the monitors in a saved file.
pub fn inspect(path: &Path, as_json: bool) -> Result<String> {
    let mut states = Vec::new();
    let first = if kind_of(path)? == SavedKind::Monitors {
        let (mut fleet, _) = open_fleet::<Monitor>(path, usize::MAX)?;
        let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
        for key in &keys {
            states.extend(fleet.get(key)?.map(|monitor| KeyState::of(key, &monitor)));
        }
        fleet.fresh().clone()
    } else {
        let monitor = read_monitor(path)?;
        states.push(KeyState::of("", &monitor));
        monitor
    };
    let names = first.columns().names.as_deref().unwrap_or_default();
    if as_json {
        let monitors: Vec<Value> = states.iter().map(KeyState::json).collect();
        let object = json!({ "monitors": monitors, "options": first.options(), "columns": names });
        return Ok(serde_json::to_string_pretty(&object)? + "\n");
    }
    let mut text = String::new();
    for KeyState { key, totals, directions, limit, .. } in &states {
        let key = if key.is_empty() { "monitor".to_owned() } else { printable(key) };
        let state = match (directions, limit) {
            (Some(directions), Some(limit)) => {
                format!("{}, limit {}", counted(*directions as u64, "direction"), readable(*limit))
            }
            _ => "still warming up".to_owned(),
        };
        let rows = counted(totals.rows, "row");
        let (alarms, events) = (counted(totals.alarms, "alarm"), counted(totals.events, "event"));
        let changes = counted(totals.changes, "change");
        writeln!(text, "{key:<11}{rows}; {state}; {alarms} in {events}, {changes}")?;
    }
    let limit = first.options().limit;
    writeln!(text, "{:<11}{} ({limit})", "limit", in_words(limit))?;
    if !names.is_empty() {
        writeln!(text, "{:<11}{}", "columns", printable(&names.join(", ")))?;
    }
    Ok(text)
}

/// Returns the summary as a JSON object.
pub fn json(finished: &Finished) -> Value {
    let Finished { totals, keys, listed, stream, rows, .. } = finished;
    json!({
        "rows": rows,
        "skipped_rows": stream.skipped() + totals.passed_over,
        "filled_rows": finished.filled_rows,
        "scored_rows": totals.scored,
        "alarms": totals.alarms,
        "events": totals.events,
        "changes": totals.changes,
        "drift_rows": totals.drift_rows,
        "drifts": totals.drifts,
        "accepted": totals.accepted,
        "monitors": keys.iter().map(KeyState::json).collect::<Vec<_>>(),
        "listed": listed,
    })
}
