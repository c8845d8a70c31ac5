//! HTML pages of one monitor and of a fleet of monitors.

use super::headline::{causes, fleet_headline, headline};
use super::occurrence::Occurrence;
use super::record::Records;
use super::track::Track;
use super::{Facts, Journal, summary};
use crate::{counted, file_name};
use eigenhedge_io::printable;
use eigenhedge_report::{FleetReport, MonitorReport, Overview, OverviewLine, Page, Tile};
use std::collections::BTreeSet;

/// Maximum number of keys shown while the stream is running.
const LINES: usize = 300;

/// Selection of the keys whose charts are drawn.
pub enum Inside<'a> {
    /// All keys that have a record.
    All,
    /// Only the keys whose sections are open in a browser, given by their anchors. At most 300 keys are listed.
    Open(&'a BTreeSet<String>),
}

/// Journal, facts about its table, and the list of events, including ongoing events.
struct Story<'a> {
    journal: &'a Journal,
    facts: &'a Facts,
    listed: Vec<Occurrence>,
}

/// Returns the page of one monitor or of a fleet, from a journal with charts.
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
            summary: vec![track.map_or(String::new(), |track| headline(journal, facts, track, &listed)), self.rows()],
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
            std::cmp::Reverse((track.drift_since.is_some(), track.open.is_some(), track.in_table.alarms))
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
            let title = format!("{}: {}", printable(&track.key), headline(journal, facts, track, &listed));
            Some((place, MonitorReport { title, ..report }))
        });
        let (unlisted, without) =
            (journal.tracks.len() - order.len(), order.len().saturating_sub(charts.clone().count()));
        let unlisted = if unlisted > 0 { format!(" {unlisted} more keys are not listed.") } else { String::new() };
        let left_out = if without > 0 { format!(" The last {without} keys have no charts.") } else { String::new() };
        FleetReport {
            title: file_name(&facts.source).to_owned(),
            subtitle: format!("eigenhedge monitor: {} by {column}", counted(journal.rows, "row")),
            summary: vec![fleet_headline(journal, facts), self.rows()],
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
    /// Returns a sentence that explains how rows are numbered.
    fn rows(&self) -> String {
        let header = match self.facts.first_line {
            Some(line) => format!(": row 0 is line {line} of the file"),
            None => String::new(),
        };
        format!("Rows are counted from 0{header}.")
    }
    /// Returns the key numbers at the top of the page.
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
            tile(totals.drifts, if totals.drifts == 1 { "drift" } else { "drifts" }, "drift"),
            tile(totals.changes, "changes of the level of the score", ""),
        ]
    }
}

/// Returns the state of a monitor after its most recent row, as a word or phrase.
fn state_of(track: &Track) -> &'static str {
    match track {
        Track { is_ready: false, .. } => "too few rows",
        Track { drift_since: Some(_), .. } => "drift",
        Track { open: Some(_), .. } => "alarm",
        _ => "normal",
    }
}
