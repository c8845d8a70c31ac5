//! Summary of a monitor as text and as JSON.

use super::headline::{fleet_headline, headline};
use super::occurrence::Occurrence;
use super::track::Track;
use super::{Facts, Journal};
use crate::counted;
use crate::number::readable;
use eigenhedge::{Limit, MonitorTotals};
use eigenhedge_io::printable;
use serde_json::{Value, json};

/// Width of the column of line names, in characters.
const NAMES: usize = 11;
/// Maximum number of events shown. If there are more, the strongest are shown.
const SHOWN: usize = 12;
/// Maximum number of keys shown. If there are more, those with the most alarms are shown.
const SHOWN_KEYS: usize = 20;
/// Multiple of the requested alarm rate above which advice is shown.
const OFTEN: f64 = 3.0;
const ADVICE: &str = "more than three times the asked share. Either much is wrong in this table, or the first rows are not like \
                      the rest: try --train with known-good rows, or a longer --warm-up";

const CONSTANT: &str = "every column was constant in the first rows, so only a change of a value is an alarm; a longer --warm-up may \
                        show how they vary";

const SINGLE: &str = "one column has no directions: each value is compared with those of the first rows";

/// Returns the summary as lines of text, each with a name of at most ten characters.
pub fn text(journal: &Journal, facts: &Facts) -> String {
    let Journal { totals, tracks, listed, rows, .. } = journal;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<NAMES$}{value}\n");
    let width = facts.columns.len() as u64;
    let over = match totals.passed_over + facts.skipped {
        0 => String::new(),
        over => format!("; {} passed over", counted(over, "row")),
    };
    let filled = match journal.filled_rows {
        0 => String::new(),
        filled => format!("; {} with missing cells filled in", counted(filled, "row")),
    };
    line("read", format!("{} of {}{over}{filled}", counted(*rows, "row"), counted(width, "number")));
    let names = &facts.columns;
    let now = journal.listed_now(names);
    let state = match (&facts.by, tracks.first()) {
        (Some(_), _) => fleet_headline(journal, facts),
        (None, Some(track)) => headline(journal, facts, track, &now.iter().collect::<Vec<_>>()),
        (None, None) => String::new(),
    };
    line("state", state);
    let Some(first) = tracks.iter().find(|track| track.is_ready) else { return text };
    let warm_up = first.totals.warm_up;
    let normal = match &facts.reference {
        Some(reference) => reference.clone(),
        None if first.is_borrowed => "the first rows of all keys".to_owned(),
        None => format!("the first {}", counted(warm_up, "row")),
    };
    line("normal", normal);
    let lags = match first.lags {
        0 => String::new(),
        lags => format!(", {} appended to each row", counted(lags as u64, "earlier row")),
    };
    let also = if first.has_differences { "; differences between rows are watched too" } else { "" };
    if facts.by.is_some() {
        line("monitors", by_key(tracks, facts.in_memory));
    }
    line("model", format!("{}{lags}{also}", counted(first.directions.unwrap_or(0) as u64, "direction")));
    if first.directions == Some(0) {
        line("", if facts.columns.len() == 1 { SINGLE } else { CONSTANT }.to_owned());
    }
    let rule: Limit = facts.limit;
    line("limit", format!("{} ({rule})", limit_in_words(rule)));
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
    going_on(tracks, &mut line);
    line("changes", format!("{} of the level of the score", totals.changes));
    occurrences("change", listed.iter().filter(|one| one.is_change()), &mut line);
    if facts.by.is_some() {
        keys(tracks, &mut line);
    }
    text
}

/// Adds a line about drifts that are still ongoing at the end of the table.
fn going_on(tracks: &[Track], line: &mut impl FnMut(&str, String)) {
    let open: Vec<(&String, u64)> =
        tracks.iter().filter_map(|track| track.drift_since.map(|since| (&track.key, since))).collect();
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

/// Describes the number of monitors: in total, in memory, with a pooled reference, and without a reference.
fn by_key(tracks: &[Track], in_memory: usize) -> String {
    let count = |is: &dyn Fn(&Track) -> bool| tracks.iter().filter(|track| is(track)).count() as u64;
    let (short, pooled) = (count(&|track| !track.is_ready), count(&|track| track.is_borrowed));
    let mut text = format!("{} by key", counted(tracks.len() as u64, "monitor"));
    if in_memory < tracks.len() {
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

/// Adds lines about the strongest of these entries, in the order of rows.
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

fn keys(tracks: &[Track], line: &mut impl FnMut(&str, String)) {
    let mut worst: Vec<&Track> = tracks.iter().collect();
    worst.sort_by_key(|track| std::cmp::Reverse(track.in_table.alarms));
    for Track { key, in_table, .. } in worst.iter().take(SHOWN_KEYS).filter(|track| track.in_table.alarms > 0) {
        let (alarms, rows) = (counted(in_table.alarms, "alarm"), counted(in_table.rows, "row"));
        line("", format!("{}: {alarms} in {rows}", printable(key)));
    }
}

/// Returns the names and values of all named lines of a summary.
pub(super) fn entries(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().map(|line| line.split_at(line.len().min(NAMES)));
    let named = lines.map(|(name, value)| vec![name.trim().to_owned(), value.to_owned()]);
    named.filter(|entry| !entry[0].is_empty()).collect()
}

/// Returns the summary as a JSON object. `skipped` is the number of rows that the reader skipped.
pub fn json(journal: &Journal, skipped: u64) -> Value {
    let MonitorTotals { passed_over, scored, alarms, events, changes, drift_rows, drifts, accepted, .. } =
        journal.totals;
    json!({
        "rows": journal.rows,
        "skipped_rows": skipped + passed_over,
        "filled_rows": journal.filled_rows,
        "scored_rows": scored,
        "alarms": alarms,
        "events": events,
        "changes": changes,
        "drift_rows": drift_rows,
        "drifts": drifts,
        "accepted": accepted,
        "monitors": journal.tracks.iter().map(monitor_json).collect::<Vec<_>>(),
        "listed": journal.listed,
    })
}

pub fn monitor_json(track: &Track) -> Value {
    json!({
        "key": track.key,
        "warm_up": track.totals.warm_up,
        "waiting_rows": track.waiting_rows,
        "rows": track.in_table.rows,
        "alarms": track.in_table.alarms,
        "directions": track.directions,
        "lags": track.lags,
        "differences": track.has_differences,
        "limit": track.limit,
        "borrowed_reference": track.is_borrowed,
        "drift_rows": track.in_table.drift_rows,
        "drift_since": track.drift_since,
    })
}

pub fn limit_in_words(limit: Limit) -> String {
    format!("about {} % of normal rows exceed it", 100.0 * limit.rate())
}
