//! HTML pages of one monitor and of a fleet of monitors.

use super::occurrence::Occurrence;
use super::record::Records;
use super::track::Track;
use super::{Facts, Journal, summary};
use crate::{counted, file_name};
use eigenhedge_io::{CAUSES, printable};
use eigenhedge_report::{FleetReport, MonitorReport, Overview, OverviewLine, Page, Tile};
use std::collections::BTreeSet;

/// A column is unusual if its share is at least this part of the largest share.
const FAIR_SHARE: f64 = 1.0 / 3.0;

/// Maximum number of keys shown while the stream is running.
const LINES: usize = 300;

/// Selection of the keys whose charts are drawn.
pub enum Inside<'a> {
    /// All keys that have a record.
    All,
    /// Only the keys that are open in a browser. The first [`LINES`] keys are listed.
    Open(&'a BTreeSet<String>),
}

/// Journal, with facts about its table and the list of events, including the ongoing ones.
struct Story<'a> {
    journal: &'a Journal,
    facts: &'a Facts,
    listed: Vec<Occurrence>,
}

/// Returns the page for a journal with charts.
pub fn page(journal: &Journal, facts: &Facts, inside: &Inside<'_>) -> Page {
    let story = Story { journal, facts, listed: journal.listed_now(&facts.columns) };
    let empty = Records::new(facts.columns.len(), facts.by.is_some());
    let records = journal.records.as_ref().unwrap_or(&empty);
    match &facts.by {
        None => story.one(records).page(),
        Some(column) => story.fleet(records, column, inside).page(),
    }
}

impl Story<'_> {
    /// Returns the report of a single monitor.
    fn one(&self, records: &Records) -> MonitorReport {
        let (journal, facts) = (self.journal, self.facts);
        let listed: Vec<&Occurrence> = self.listed.iter().collect();
        let record = records.get(0).map(|record| record.report(&facts.columns, facts.time.as_deref(), &listed, true));
        let text = summary::text(journal, facts);
        let track = journal.tracks.first();
        MonitorReport {
            title: file_name(&facts.source).to_owned(),
            subtitle: format!("eigenhedge monitor: {}", counted(journal.rows, "row")),
            summary: vec![track.map_or(String::new(), |track| self.headline(track, &listed)), self.rows()],
            tiles: self.tiles(),
            facts: summary::entries(&text),
            ..record.unwrap_or_default()
        }
    }

    /// Returns the report of a fleet of monitors.
    fn fleet(&self, records: &Records, column: &str, inside: &Inside<'_>) -> FleetReport {
        let (journal, facts) = (self.journal, self.facts);
        let of_key = |key: &str| self.listed.iter().filter(|one| one.key == key).collect::<Vec<&Occurrence>>();
        // Monitors in drift come first, then those with the most alarms.
        let mut order: Vec<usize> = (0..journal.tracks.len()).collect();
        order.sort_by_key(|i| {
            let track = &journal.tracks[*i];
            std::cmp::Reverse((track.drift_since.is_some(), track.in_table.alarms))
        });
        if let Inside::Open(_) = inside {
            order.truncate(LINES);
        }
        let line = |i: &usize| {
            let track = &journal.tracks[*i];
            let listed = of_key(&track.key);
            let (values, is_alarm) = records.get(*i).map(|record| record.scores()).unwrap_or_default();
            OverviewLine {
                name: printable(&track.key),
                place: records.get(*i).map_or(String::new(), |_| format!("key-{i}")),
                state: state_of(track).to_owned(),
                rows: track.in_table.rows.to_string(),
                alarms: track.in_table.alarms.to_string(),
                drifts: track.in_table.drifts.to_string(),
                causes: listed.iter().rev().find(|one| !one.causes.is_empty()).map_or(String::new(), |one| causes(one)),
                values,
                is_alarm,
            }
        };
        let charts = order.iter().filter_map(|i| {
            let track = &journal.tracks[*i];
            let listed = of_key(&track.key);
            let (record, place) = (records.get(*i)?, format!("key-{i}"));
            let report = match inside {
                Inside::Open(open) if !open.contains(&place) => MonitorReport::default(),
                _ => record.report(&facts.columns, facts.time.as_deref(), &listed, false),
            };
            let title = format!("{}: {}", printable(&track.key), self.headline(track, &listed));
            Some((place, MonitorReport { title, ..report }))
        });
        let (unlisted, without) =
            (journal.tracks.len() - order.len(), order.len().saturating_sub(charts.clone().count()));
        let unlisted = if unlisted > 0 { format!(" {unlisted} more keys are not listed.") } else { String::new() };
        let left_out = if without > 0 { format!(" The last {without} keys have no charts.") } else { String::new() };
        FleetReport {
            title: file_name(&facts.source).to_owned(),
            subtitle: format!("eigenhedge monitor: {} by {column}", counted(journal.rows, "row")),
            summary: vec![self.fleet_headline(), self.rows()],
            tiles: self.tiles(),
            overview: Overview {
                title: "Keys, those in drift and those with the most alarms first".into(),
                noun: column.to_owned(),
                lines: order.iter().map(line).collect(),
                caption: format!(
                    "Click a name to see its charts. The small chart shows the score; red points are alarms.{left_out}{unlisted}"
                ),
            },
            keys: charts.collect(),
        }
    }

    /// Returns a sentence about the states of all keys.
    fn fleet_headline(&self) -> String {
        let tracks = &self.journal.tracks;
        let count = |is: &dyn Fn(&Track) -> bool| tracks.iter().filter(|track| is(track)).count();
        let (drifting, keys) = (count(&|track| track.drift_since.is_some()), tracks.len());
        let with_alarms = count(&|track| track.in_table.alarms > 0);
        let when = if self.facts.running.is_some() { "now" } else { "at the end" };
        match drifting {
            0 => format!("None of {keys} is in drift {when}; {with_alarms} had alarms."),
            drifting => format!("{drifting} of {keys} are in drift {when}; {with_alarms} had alarms."),
        }
    }

    /// Returns a sentence about the state at the end of the table, or now.
    fn headline(&self, track: &Track, listed: &[&Occurrence]) -> String {
        let columns = self.facts.columns.len();
        if self.facts.running.is_some() && track.in_table.rows == 0 {
            return "No rows yet.".to_owned();
        }
        if let Some(warm_up) = self.facts.running.filter(|_| !track.is_ready) {
            return format!("Learning what is normal: {} of {warm_up} rows.", track.in_table.rows);
        }
        if !track.is_ready {
            return format!("{} were too few for a reference.", counted(track.in_table.rows, "row"));
        }
        let drift = listed.iter().rev().find(|one| one.kind == "drift" && Some(one.start) == track.drift_since);
        if let (Some(since), drift) = (track.drift_since, drift) {
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
            None => format!("Nothing unusual in {}.", counted(track.in_table.scored, "row")),
            Some(last) => {
                let of = if last.causes.is_empty() { String::new() } else { format!(" ({})", causes(last)) };
                let (alarms, events) =
                    (counted(track.in_table.alarms, "alarm"), counted(track.in_table.events, "event"));
                let (events, state) = match self.facts.running {
                    None => (events, "Normal at the end."),
                    // An event is counted when it is over.
                    Some(_) if self.journal.is_open(last) => {
                        (counted(track.in_table.events + 1, "event"), "Alarm now.")
                    }
                    Some(_) => (events, "Normal now."),
                };
                format!("{state} {alarms} in {events}; the last at {}{of}.", moment(last))
            }
        }
    }
    /// Explains how rows are numbered.
    fn rows(&self) -> String {
        let header = match self.facts.first_line {
            Some(line) => format!(": row 0 is line {line} of the file"),
            None => String::new(),
        };
        format!("Rows are counted from 0{header}.")
    }
    /// Returns the key numbers in large type.
    fn tiles(&self) -> Vec<Tile> {
        let totals = &self.journal.totals;
        let tile = |value: u64, label: &str, tone: &str| Tile {
            value: value.to_string(),
            label: label.to_owned(),
            tone: if value > 0 { tone.to_owned() } else { String::new() },
            ..Tile::default()
        };
        let share = 100.0 * totals.alarms as f64 / totals.scored.max(1) as f64;
        let mut alarms = tile(totals.alarms, "", "alarm");
        let (asked, events) = (100.0 * self.facts.limit.rate(), counted(totals.events, "event"));
        alarms.label = format!("alarms in {events}: {share:.2} % of the rows, {asked} % asked");
        vec![
            tile(totals.scored, "rows with a score", ""),
            alarms,
            tile(totals.drifts, "drifts", "drift"),
            tile(totals.changes, "changes of the level of the score", ""),
        ]
    }
}

/// Returns the state of a monitor.
fn state_of(track: &Track) -> &'static str {
    match track {
        Track { is_ready: false, .. } => "too few rows",
        Track { drift_since: Some(_), .. } => "drift",
        Track { in_table, .. } if in_table.alarms > 0 => "alarms",
        _ => "normal",
    }
}

/// Returns the number of causes whose share is at least `FAIR_SHARE` times the largest share, which comes
/// first.
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
