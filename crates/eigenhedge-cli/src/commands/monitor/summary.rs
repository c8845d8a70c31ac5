//! The account of a monitor, for people and for programs.

use super::occurrence::Occurrence;
use super::session::Finished;
use super::{Limit, MonitorArgs, in_words};
use crate::number::readable;
use crate::summary::counted;
use anyhow::Result;
use eigenhedge::{Monitor, SavedMonitors};
use eigenhedge_io::{printable, printable_path};
use serde_json::{Value, json};
use std::fmt::Write;

/// Events that are shown, the strongest.
const SHOWN: usize = 12;
/// Keys that are shown, those with the most alarms.
const SHOWN_KEYS: usize = 20;
/// Alarms over the asked share from which there is advice.
const OFTEN: f64 = 3.0;
const ADVICE: &str = "more than three times the asked share. Either much is wrong in this table, or the first rows are not like \
                      the rest: try --train with known-good rows, or a longer --warm-up";

/// A few lines for people.
pub fn text(finished: &Finished, args: &MonitorArgs) -> String {
    let Finished { totals, monitors, listed, stream, rows, .. } = finished;
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
    line("read", format!("{} of {}{over}", counted(*rows, "row"), counted(width, "number")));
    let ready: Vec<&Monitor> =
        monitors.iter().map(|(_, monitor)| monitor).filter(|monitor| monitor.is_ready()).collect();
    let Some(first) = ready.first() else { return text };
    let warm_up = first.totals().warm_up;
    let normal = match (&args.train, &args.start_from) {
        (Some(path), _) => format!("{} of {}", counted(warm_up, "row"), printable_path(path)),
        (_, Some(path)) => format!("as in {}", printable_path(path)),
        _ if first.is_borrowed() => "the first rows of all keys".to_owned(),
        _ => format!("the first {}", counted(warm_up, "row")),
    };
    line("normal", normal);
    let lags = match first.lags() {
        0 => String::new(),
        lags => format!(", {} appended to each row", counted(lags as u64, "earlier row")),
    };
    let also = if first.has_differences() { "; differences between rows are watched too" } else { "" };
    if args.group_by.is_some() {
        line("monitors", by_key(monitors));
    }
    line("model", format!("{}{lags}{also}", counted(first.directions().unwrap_or(0) as u64, "direction")));
    let rule: Limit = first.options().limit;
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
    going_on(monitors, &mut line);
    line("changes", format!("{} of the level of the score", totals.changes));
    occurrences("change", listed.iter().filter(|one| one.is_change()), &mut line);
    if args.group_by.is_some() {
        keys(monitors, &mut line);
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

/// Drifts that go on at the end.
fn going_on(monitors: &[(String, Monitor)], line: &mut impl FnMut(&str, String)) {
    let open: Vec<(&String, u64)> =
        monitors.iter().filter_map(|(key, monitor)| monitor.open_drift().map(|report| (key, report.since))).collect();
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

/// The monitors by key, and how many of them had a reference of their own.
fn by_key(monitors: &[(String, Monitor)]) -> String {
    let count = |is: &dyn Fn(&Monitor) -> bool| monitors.iter().filter(|(_, monitor)| is(monitor)).count() as u64;
    let (short, pooled) = (count(&|monitor| !monitor.is_ready()), count(&Monitor::is_borrowed));
    let mut text = format!("{} by key", counted(monitors.len() as u64, "monitor"));
    if pooled > 0 {
        text += &format!("; {} with few rows used a reference pooled over all keys", counted(pooled, "key"));
    }
    if short > 0 {
        text += &format!("; {} ended before there was a reference", counted(short, "key"));
    }
    text
}

/// The strongest events or changes, in the order of their rows.
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

/// The keys with the most alarms.
fn keys(monitors: &[(String, Monitor)], line: &mut impl FnMut(&str, String)) {
    let mut worst: Vec<&(String, Monitor)> = monitors.iter().collect();
    worst.sort_by_key(|(_, monitor)| std::cmp::Reverse(monitor.totals().alarms));
    for (key, monitor) in worst.iter().take(SHOWN_KEYS).filter(|(_, monitor)| monitor.totals().alarms > 0) {
        let totals = monitor.totals();
        let (alarms, rows) = (counted(totals.alarms, "alarm"), counted(totals.rows, "row"));
        line("", format!("{}: {alarms} in {rows}", printable(key)));
    }
}

/// A monitor, for programs.
fn of((key, monitor): &(String, Monitor)) -> Value {
    json!({
        "key": key,
        "warm_up": monitor.totals().warm_up,
        "rows": monitor.totals().rows,
        "alarms": monitor.totals().alarms,
        "directions": monitor.directions(),
        "lags": monitor.lags(),
        "differences": monitor.has_differences(),
        "limit": monitor.limit(),
        "borrowed_reference": monitor.is_borrowed(),
        "drift_rows": monitor.totals().drift_rows,
        "drift_since": monitor.open_drift().map(|report| report.since),
    })
}

/// The contents of saved monitors.
pub fn inspect(saved: &SavedMonitors, as_json: bool) -> Result<String> {
    let first = saved.monitors.first().map(|(_, monitor)| monitor);
    let names = first.and_then(|first| first.columns().names.as_deref()).unwrap_or_default();
    if as_json {
        let monitors: Vec<Value> = saved.monitors.iter().map(of).collect();
        let object = json!({ "monitors": monitors, "options": first.map(Monitor::options), "columns": names });
        return Ok(serde_json::to_string_pretty(&object)? + "\n");
    }
    let Some(options) = first.map(Monitor::options) else { return Ok("no monitor\n".to_owned()) };
    let mut text = String::new();
    for (key, monitor) in &saved.monitors {
        let totals = monitor.totals();
        let key = if key.is_empty() { "monitor".to_owned() } else { printable(key) };
        let state = match (monitor.directions(), monitor.limit()) {
            (Some(directions), Some(limit)) => {
                format!("{}, limit {}", counted(directions as u64, "direction"), readable(limit))
            }
            _ => "still warming up".to_owned(),
        };
        let rows = counted(totals.rows, "row");
        let (alarms, events) = (counted(totals.alarms, "alarm"), counted(totals.events, "event"));
        let changes = counted(totals.changes, "change");
        writeln!(text, "{key:<11}{rows}; {state}; {alarms} in {events}, {changes}")?;
    }
    writeln!(text, "{:<11}{} ({})", "limit", in_words(options.limit), options.limit)?;
    if !names.is_empty() {
        writeln!(text, "{:<11}{}", "columns", printable(&names.join(", ")))?;
    }
    Ok(text)
}

/// One object for programs.
pub fn json(finished: &Finished) -> Value {
    let Finished { totals, monitors, listed, stream, rows, .. } = finished;
    json!({
        "rows": rows,
        "skipped_rows": stream.skipped() + totals.passed_over,
        "scored_rows": totals.scored,
        "alarms": totals.alarms,
        "events": totals.events,
        "changes": totals.changes,
        "drift_rows": totals.drift_rows,
        "drifts": totals.drifts,
        "accepted": totals.accepted,
        "monitors": monitors.iter().map(of).collect::<Vec<_>>(),
        "listed": listed,
    })
}
