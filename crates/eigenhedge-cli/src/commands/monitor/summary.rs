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
        _ => format!("the first {}", counted(warm_up, "row")),
    };
    line("normal", normal);
    let lags = match first.lags() {
        0 => String::new(),
        lags => format!(", {} beside each row", counted(lags as u64, "earlier row")),
    };
    let also = if first.has_differences() { "; differences between rows are watched too" } else { "" };
    if args.group_by.is_some() {
        let short = monitors.len() - ready.len();
        let still = if short > 0 { format!("; {short} had too few rows") } else { String::new() };
        line("monitors", format!("{} by key{still}", counted(monitors.len() as u64, "monitor")));
    }
    line("model", format!("{}{lags}{also}", counted(first.directions().unwrap_or(0) as u64, "direction")));
    let rule: Limit = first.options().limit;
    line("limit", format!("{} at the end, {} ({rule})", readable(first.limit().unwrap_or(0.0)), in_words(rule)));
    let scored =
        totals.rows.saturating_sub(if args.train.is_some() || args.start_from.is_some() { 0 } else { totals.warm_up });
    let share = 100.0 * totals.alarms as f64 / scored.max(1) as f64;
    let events = counted(totals.events, "event");
    let scored = counted(scored, "row");
    line("alarms", format!("{} in {events}, {share:.2} % of {scored} with a score", totals.alarms));
    occurrences("event", listed.iter().filter(|one| !one.is_change()), &mut line);
    line("changes", format!("{} of the level of the score", totals.changes));
    occurrences("change", listed.iter().filter(|one| one.is_change()), &mut line);
    if totals.renewals > 0 {
        let again = counted(totals.renewals, "new warm-up");
        line("renewed", format!("{again}: a thousand rows in a row looked unusual, so that they are the new normal"));
    }
    if args.group_by.is_some() {
        keys(monitors, &mut line);
    }
    if let Some(path) = &args.report {
        line("report", format!("{}: open it in a browser", printable_path(path)));
    }
    match (&args.events, listed.is_empty()) {
        (Some(path), _) => line("list", printable_path(path)),
        (None, false) => line("next", "--events FILE lists events and changes, --out FILE has each row's score".into()),
        (None, true) => {}
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
            "rise" | "fall" => format!("row {}{time}: {}, strength {}", one.start, one.kind, readable(one.strength)),
            _ if one.start == one.end => format!("row {}{time}: score {}", one.start, readable(one.strength)),
            _ => format!("rows {} to {}{time}: score up to {}", one.start, one.end, readable(one.strength)),
        };
        line("", format!("{key}{what}; {}", causes.join(", ")));
    }
    if more > 0 {
        line("", format!("and {}", counted(more as u64, &format!("weaker {noun}"))));
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
        "alarms": totals.alarms,
        "events": totals.events,
        "changes": totals.changes,
        "renewals": totals.renewals,
        "monitors": monitors.iter().map(of).collect::<Vec<_>>(),
        "listed": listed,
    })
}
