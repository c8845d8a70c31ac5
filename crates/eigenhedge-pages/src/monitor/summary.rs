//! Summary of a monitor as text and as JSON.

use super::headline::{most_severe, sentence, state};
use super::occurrence::Occurrence;
use super::track::Track;
use super::{Facts, Journal};
use crate::counted;
use eigenhedge::{Limit, MonitorTotals, grade};
use eigenhedge_io::printable;
use serde_json::{Value, json};

const NAMES: usize = 11;
const SHOWN: usize = 12;
const SHOWN_KEYS: usize = 20;
/// Factor over the requested alarm rate from which advice is given, with more than ten alarms.
const OFTEN: f64 = 3.0;
const ADVICE: &str = "more than three times the asked share. Either much is wrong in this table, or the first rows are not like \
                      the rest: try --train with known-good rows, or a longer --warm-up";

/// Percentage of rows in incidents and number of incidents from which modes are suggested.
const IN_MODES: (f64, u64) = (20.0, 5);
const MODES: &str = "the table changes between states: if a column names the mode of the machine, --group-by gives each mode its own \
                     reference, and --settle leaves out the rows after a change";

/// Rows after which a column is reported as rounded. Fewer values may be round by chance.
const ROUNDED: u64 = 20;

const CONSTANT: &str = "every column was constant in the first rows, so only a change of a value is an alarm; a longer --warm-up may \
                        show how they vary";

const SHORT: &str = "too few rows to tell normal wandering from faults, so the reference follows the rows slowly; --train with \
                     more normal rows, or a longer --warm-up, finds more";

const SINGLE: &str = "one column has no directions: each value is compared with those of the first rows";

/// Formats the summary as lines of text. A line without a name continues the line above.
pub fn text(journal: &Journal, facts: &Facts) -> String {
    let Journal { totals, tracks, rows, .. } = journal;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<NAMES$}{value}\n");
    let width = facts.columns.len() as u64;
    let over = also(totals.passed_over + facts.skipped, "row", "passed over");
    let filled = also(journal.filled_rows, "row", "with missing cells filled in");
    line("read", format!("{} of {}{over}{filled}", counted(*rows, "row"), counted(width, "number")));
    let names = &facts.columns;
    let now = journal.listed_now(names);
    let now: Vec<&Occurrence> = now.iter().collect();
    line("state", state(journal, facts, &now).join(" "));
    let Some(first) = tracks.iter().find(|track| track.is_ready) else { return text };
    let warm_up = first.totals.warm_up;
    let normal = match &facts.reference {
        Some(reference) => reference.clone(),
        None if first.is_borrowed => "the first rows of all keys".to_owned(),
        None => format!("the first {}", counted(warm_up, "row")),
    };
    line("normal", normal);
    if tracks.iter().any(|track| track.is_short) {
        line("", SHORT.to_owned());
    }
    let is_long = |since: &u64| facts.by.is_none() && rows.saturating_sub(*since) > ROUNDED;
    let rounded: Vec<(&usize, &u64)> = first.rounded.iter().filter(|(_, since)| is_long(since)).collect();
    if let Some((j, since)) = rounded.first() {
        let others = if rounded.len() > 1 { format!(" and {} more", rounded.len() - 1) } else { String::new() };
        let (name, what) = (printable(&names[**j]), "fewer decimals than in the reference, which is not a fault");
        line("rounded", format!("{name} from row {since} on{others}: {what}"));
    }
    let lags = also(first.lags as u64, "earlier row", "appended to each row").replacen(';', ",", 1);
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
    let share = percent(totals.incident_rows);
    line("incidents", format!("{}, {share:.2} % of {rows} with a score", totals.incidents));
    if facts.by.is_none() && share > IN_MODES.0 && totals.incidents >= IN_MODES.1 {
        line("", MODES.to_owned());
    }
    for one in most_severe(&now, SHOWN) {
        let others: Vec<String> = one.causes.iter().skip(1).map(|(name, _)| printable(name)).collect();
        let others = if others.is_empty() { String::new() } else { format!("; then {}", others.join(", ")) };
        line("", format!("{}, severity {:.1}, known at row {}{others}", sentence(one), one.strength, reported(one)));
    }
    if let more @ 1.. = (totals.incidents as usize).saturating_sub(SHOWN) {
        line("", format!("and {}", counted(more as u64, "more incident")));
    }
    if tracks.iter().any(|track| track.incident.is_some()) && facts.by.is_none() {
        line("", "--accept ROW makes the state at a row the new reference".to_owned());
    }
    line("changes", format!("{} of the level of the score", totals.changes));
    if facts.by.is_some() {
        keys(tracks, &mut line);
    }
    text
}

fn also(count: u64, noun: &str, what: &str) -> String {
    if count == 0 { String::new() } else { format!("; {} {what}", counted(count, noun)) }
}

fn reported(one: &Occurrence) -> u64 {
    one.incident.as_ref().map_or(one.start, |facts| facts.reported)
}

fn by_key(tracks: &[Track], in_memory: usize) -> String {
    let count = |is: &dyn Fn(&Track) -> bool| tracks.iter().filter(|track| is(track)).count() as u64;
    let (short, pooled) = (count(&|track| !track.is_ready), count(&|track| track.is_borrowed));
    let stored = if in_memory < tracks.len() { format!(", {in_memory} in memory") } else { String::new() };
    let pooled = also(pooled, "key", "with few rows used a reference pooled over all keys");
    let short = also(short, "key", "ended before there was a reference");
    format!("{} by key{stored}{pooled}{short}", counted(tracks.len() as u64, "monitor"))
}

fn keys(tracks: &[Track], line: &mut impl FnMut(&str, String)) {
    let mut worst: Vec<&Track> = tracks.iter().collect();
    worst.sort_by_key(|track| std::cmp::Reverse((track.in_table.incidents, track.in_table.alarms)));
    for Track { key, in_table, .. } in worst.iter().take(SHOWN_KEYS).filter(|track| track.in_table.incidents > 0) {
        let (incidents, alarms) = (counted(in_table.incidents, "incident"), counted(in_table.alarms, "alarm"));
        line("", format!("{}: {incidents}, {alarms} in {}", printable(key), counted(in_table.rows, "row")));
    }
}

pub(super) fn entries(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().map(|line| line.split_at(line.len().min(NAMES)));
    let named = lines.map(|(name, value)| vec![name.trim().to_owned(), value.to_owned()]);
    named.filter(|entry| !entry[0].is_empty()).collect()
}

pub fn json(journal: &Journal, skipped: u64, names: &[String]) -> Value {
    let MonitorTotals { passed_over, scored, alarms, events, changes, incident_rows, incidents, accepted, .. } =
        journal.totals;
    let now = journal.listed_now(names);
    let reference = journal.tracks.iter().find(|track| track.is_ready);
    json!({
        "rows": journal.rows,
        "skipped_rows": skipped + passed_over,
        "filled_rows": journal.filled_rows,
        "scored_rows": scored,
        "alarms": alarms,
        "alarm_share": alarms as f64 / scored.max(1) as f64,
        "events": events,
        "changes": changes,
        "incident_rows": incident_rows,
        "incidents_total": incidents,
        "incidents": most_severe(&now.iter().collect::<Vec<_>>(), 10).into_iter().map(incident_json).collect::<Vec<_>>(),
        "open_incidents": journal.open_incidents(names).iter().map(incident_json).collect::<Vec<_>>(),
        "reference": reference.map(|track| json!({"rows": track.totals.warm_up, "long_enough": !track.is_short})),
        "accepted": accepted,
        "monitors": journal.tracks.iter().map(monitor_json).collect::<Vec<_>>(),
    })
}

/// Most fields are named like the columns of `--events`.
pub fn incident_json(one: &Occurrence) -> Value {
    let facts = one.incident.as_ref();
    let is_over = facts.is_none_or(|facts| facts.is_over);
    json!({
        "incident": facts.map(|facts| facts.number),
        "key": one.key,
        "start": one.start,
        "reported": facts.map(|facts| facts.reported),
        "end": is_over.then_some(one.end),
        "start_time": one.start_time,
        "reported_time": facts.map(|facts| &facts.reported_time),
        "end_time": if is_over { &one.end_time } else { "" },
        "severity": one.strength,
        "grade": grade(one.strength),
        "signs": facts.map(|facts| facts.signs.split(' ').collect::<Vec<_>>()),
        "rows": facts.map(|facts| facts.rows),
        "alarms": one.alarms,
        "peak": one.peak,
        "peak_time": facts.map(|facts| &facts.peak_time),
        "causes": one.causes,
        "sentence": sentence(one),
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
        "incident_rows": track.in_table.incident_rows,
        "incidents": track.in_table.incidents,
        "incident_since": track.reported().map(|incident| incident.start),
    })
}

pub fn limit_in_words(limit: Limit) -> String {
    format!("about {} % of normal rows exceed it", 100.0 * limit.rate())
}
