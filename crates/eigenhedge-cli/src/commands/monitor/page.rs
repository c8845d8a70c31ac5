//! HTML pages of one monitor and of a fleet of monitors.

use super::account::{Account, TableFacts};
use super::key_state::KeyState;
use super::occurrence::Occurrence;
use super::record::Records;
use crate::args::MonitorArgs;
use crate::files::file_name;
use crate::summary::counted;
use eigenhedge_io::{CAUSES, printable};
use eigenhedge_report::{FleetReport, MonitorReport, Overview, OverviewLine, Page, Tile};
use std::collections::BTreeSet;

/// Minimum share of an unusual column, relative to the largest share.
const FAIR_SHARE: f64 = 1.0 / 3.0;

/// Maximum number of keys on the live page of a fleet.
const LINES: usize = 300;

/// Keys whose charts are drawn.
pub enum Inside<'a> {
    /// All keys with a record.
    All,
    /// Keys that are open in a browser. Only the first [`LINES`] keys are listed.
    Open(&'a BTreeSet<String>),
}

/// Builds the report page.
pub fn page(account: &Account, records: &Records, args: &MonitorArgs, summary: &str, inside: Inside<'_>) -> Page {
    match &args.group_by {
        None => one(account, records, summary).page(),
        Some(column) => fleet(account, records, column, inside).page(),
    }
}

/// Builds the page of one monitor.
fn one(account: &Account, records: &Records, summary: &str) -> MonitorReport {
    let listed: Vec<&Occurrence> = account.listed.iter().collect();
    let TableFacts { source, columns, time, .. } = &account.table;
    let record = records.get(0).map(|record| record.report(columns, time.as_deref(), &listed, true));
    let facts = summary.lines().map(|line| line.split_at(line.len().min(11)));
    let state = account.keys.first();
    MonitorReport {
        title: file_name(source).to_owned(),
        subtitle: format!("eigenhedge monitor: {}", counted(account.rows, "row")),
        summary: vec![state.map_or(String::new(), |state| headline(account, state, &listed)), rows(account)],
        tiles: tiles(account),
        facts: facts
            .filter(|(name, _)| !["", "next", "report", "list"].contains(&name.trim()))
            .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
            .collect(),
        ..record.unwrap_or_default()
    }
}

/// Builds the page of a fleet of monitors.
fn fleet(account: &Account, records: &Records, column: &str, inside: Inside<'_>) -> FleetReport {
    let TableFacts { source, columns, time, .. } = &account.table;
    let of_key = |key: &str| account.listed.iter().filter(|one| one.key == key).collect::<Vec<&Occurrence>>();
    // Monitors in drift come first, then those with the most alarms.
    let mut order: Vec<usize> = (0..account.keys.len()).collect();
    order.sort_by_key(|i| {
        let state = &account.keys[*i];
        std::cmp::Reverse((state.drift_since.is_some(), state.in_table.alarms))
    });
    if let Inside::Open(_) = inside {
        order.truncate(LINES);
    }
    let line = |i: &usize| {
        let state = &account.keys[*i];
        let listed = of_key(&state.key);
        let (values, is_alarm) = records.get(*i).map(|record| record.scores()).unwrap_or_default();
        OverviewLine {
            name: printable(&state.key),
            place: records.get(*i).map_or(String::new(), |_| format!("key-{i}")),
            state: state_of(state).to_owned(),
            rows: state.in_table.rows.to_string(),
            alarms: state.in_table.alarms.to_string(),
            drifts: state.in_table.drifts.to_string(),
            causes: listed.iter().rev().find(|one| !one.causes.is_empty()).map_or(String::new(), |one| causes(one)),
            values,
            is_alarm,
        }
    };
    let charts = order.iter().filter_map(|i| {
        let state = &account.keys[*i];
        let listed = of_key(&state.key);
        let (record, place) = (records.get(*i)?, format!("key-{i}"));
        let report = match inside {
            Inside::Open(open) if !open.contains(&place) => MonitorReport::default(),
            _ => record.report(columns, time.as_deref(), &listed, false),
        };
        let title = format!("{}: {}", printable(&state.key), headline(account, state, &listed));
        Some((place, MonitorReport { title, ..report }))
    });
    let count = |is: &dyn Fn(&KeyState) -> bool| account.keys.iter().filter(|state| is(state)).count();
    let (drifting, keys) = (count(&|state| state.drift_since.is_some()), account.keys.len());
    let with_alarms = count(&|state| state.in_table.alarms > 0);
    let when = if account.running.is_some() { "now" } else { "at the end" };
    let (unlisted, without) = (keys - order.len(), order.len().saturating_sub(charts.clone().count()));
    let unlisted = if unlisted > 0 { format!(" {unlisted} more keys are not listed.") } else { String::new() };
    let left_out = if without > 0 { format!(" The last {without} keys have no charts.") } else { String::new() };
    FleetReport {
        title: file_name(source).to_owned(),
        subtitle: format!("eigenhedge monitor: {} by {column}", counted(account.rows, "row")),
        summary: vec![
            match drifting {
                0 => format!("None of {keys} is in drift {when}; {with_alarms} had alarms."),
                drifting => format!("{drifting} of {keys} are in drift {when}; {with_alarms} had alarms."),
            },
            rows(account),
        ],
        tiles: tiles(account),
        overview: Overview {
            title: "Keys, those in drift and those with the most alarms first".into(),
            noun: column.to_owned(),
            lines: order.iter().map(line).collect(),
            caption: format!(
                "A name leads to its charts. The small picture is the score; red points are alarms.{left_out}{unlisted}"
            ),
        },
        keys: charts.collect(),
    }
}

/// Returns the state of a monitor.
fn state_of(state: &KeyState) -> &'static str {
    match state {
        KeyState { is_ready: false, .. } => "too few rows",
        KeyState { drift_since: Some(_), .. } => "drift",
        KeyState { in_table, .. } if in_table.alarms > 0 => "alarms",
        _ => "normal",
    }
}

/// Returns a sentence about the state, at the end of the table or now.
fn headline(account: &Account, state: &KeyState, listed: &[&Occurrence]) -> String {
    let columns = account.table.columns.len();
    if account.running.is_some() && state.in_table.rows == 0 {
        return "No rows yet.".to_owned();
    }
    if let Some(warm_up) = account.running.filter(|_| !state.is_ready) {
        return format!("Learning what is normal: {} of {warm_up} rows.", state.in_table.rows);
    }
    if !state.is_ready {
        return format!("{} were too few for a reference.", counted(state.in_table.rows, "row"));
    }
    let drift = listed.iter().rev().find(|one| one.kind == "drift" && Some(one.start) == state.drift_since);
    if let (Some(since), drift) = (state.drift_since, drift) {
        let when = drift.map_or_else(|| format!("row {since}"), |one| moment(one));
        let named = drift.map_or(0, |one| unusual_columns(&one.causes));
        let first = drift
            .and_then(|one| one.causes.first())
            .map_or(String::new(), |(name, _)| format!("; first {}", printable(name)));
        return match named {
            0 => format!("Unusual since {when}."),
            named => {
                // Only the first `CAUSES` columns are named.
                let least = if named == CAUSES && columns > CAUSES { "At least " } else { "" };
                format!("{least}{named} of {} unusual since {when}{first}.", counted(columns as u64, "column"))
            }
        };
    }
    let events = listed.iter().filter(|one| !one.is_change() && !one.is_drift());
    match events.max_by_key(|one| one.end) {
        None => format!("Nothing unusual in {}.", counted(state.in_table.scored, "row")),
        Some(last) => {
            let of = if last.causes.is_empty() { String::new() } else { format!(" ({})", causes(last)) };
            let (alarms, events) = (counted(state.in_table.alarms, "alarm"), counted(state.in_table.events, "event"));
            let (events, state) = match account.running {
                None => (events, "Normal at the end."),
                // A current event is not in the totals yet.
                Some(_) if is_open(account, last) => (counted(state.in_table.events + 1, "event"), "Alarm now."),
                Some(_) => (events, "Normal now."),
            };
            format!("{state} {alarms} in {events}; the last at {}{of}.", moment(last))
        }
    }
}

/// Returns true for a current event.
fn is_open(account: &Account, one: &Occurrence) -> bool {
    account.open.iter().any(|(key, start)| (key, *start) == (&one.key, one.start))
}

/// Counts the causes with a share of at least `FAIR_SHARE` times the largest, which comes first.
fn unusual_columns(causes: &[(String, f64)]) -> usize {
    let largest = causes.first().map_or(0.0, |(_, share)| *share);
    causes.iter().filter(|(_, share)| *share >= FAIR_SHARE * largest).count()
}

fn moment(one: &Occurrence) -> String {
    match one.start_time.as_str() {
        "" => format!("row {}", one.start),
        time => printable(time),
    }
}

fn causes(one: &Occurrence) -> String {
    one.causes.iter().map(|(name, _)| printable(name)).collect::<Vec<_>>().join(", ")
}

/// Explains how rows are numbered.
fn rows(account: &Account) -> String {
    let header = match account.table.first_line {
        Some(line) => format!(": row 0 is line {line} of the file"),
        None => String::new(),
    };
    format!("Rows are counted from 0{header}.")
}

fn tiles(account: &Account) -> Vec<Tile> {
    let totals = &account.totals;
    let tile = |value: u64, label: &str, tone: &str| Tile {
        value: value.to_string(),
        label: label.to_owned(),
        tone: if value > 0 { tone.to_owned() } else { String::new() },
        ..Tile::default()
    };
    let share = 100.0 * totals.alarms as f64 / totals.scored.max(1) as f64;
    let mut alarms = tile(totals.alarms, "", "alarm");
    let (asked, events) = (100.0 * account.limit.rate(), counted(totals.events, "event"));
    alarms.label = format!("alarms in {events}: {share:.2} % of the rows, {asked} % asked");
    vec![
        tile(totals.scored, "rows with a score", ""),
        alarms,
        tile(totals.drifts, "drifts", "drift"),
        tile(totals.changes, "changes of the level of the score", ""),
    ]
}

#[cfg(test)]
mod tests {
    use super::unusual_columns;

    #[test]
    fn columns_with_a_small_share_are_not_called_unusual() {
        let causes = |shares: &[f64]| shares.iter().map(|share| (String::new(), *share)).collect::<Vec<_>>();
        assert_eq!(unusual_columns(&causes(&[0.8, 0.15, 0.05])), 1);
        assert_eq!(unusual_columns(&causes(&[0.5, 0.4, 0.1])), 2);
        assert_eq!(unusual_columns(&causes(&[])), 0);
    }
}
