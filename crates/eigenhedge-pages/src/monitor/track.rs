//! State of one monitor in a table.

use super::least::Least;
use super::occurrence::{Occurrence, Times, Told};
use eigenhedge::{Event, Incident, Monitor, MonitorTotals};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Track {
    pub key: String,
    pub has_begun: bool,
    pub totals: MonitorTotals,
    pub in_table: MonitorTotals,
    pub filled_rows: u64,
    pub is_ready: bool,
    pub waiting_rows: u64,
    pub is_borrowed: bool,
    pub directions: Option<usize>,
    pub lags: usize,
    pub has_differences: bool,
    pub limit: Option<f64>,
    /// True if the reference is too short to tell faults from normal wandering.
    pub is_short: bool,
    /// Columns with fewer decimals than in the reference, with the first such row of each.
    pub rounded: BTreeMap<usize, u64>,
    pub incident: Option<Incident>,
    /// Incident that is over but could still reopen.
    pub over: Option<Incident>,
    pub open: Option<Event>,
    /// Number of an incident of an earlier table, and number of the first row of this table.
    pub(super) carried: Option<(u64, u64)>,
    pub(super) told: Told,
    /// Recent rows: number, time as written, and time in seconds.
    pub(super) recent: VecDeque<(u64, String, Option<f64>)>,
    pub(super) event: Times,
}

impl Track {
    pub fn new(key: &str) -> Self {
        Self { key: key.to_owned(), ..Self::default() }
    }

    /// All earlier rows of the monitor count as rows of this table.
    pub fn of(key: &str, monitor: &Monitor) -> Self {
        let told = Told { is_told: true, ..Told::default() };
        let (has_begun, in_table) = (monitor.totals().rows > 0, monitor.totals());
        let mut track = Self { has_begun, in_table, told, ..Self::new(key) };
        track.update(monitor);
        track
    }

    pub(super) fn update(&mut self, monitor: &Monitor) {
        self.totals = monitor.totals();
        self.is_ready = monitor.is_ready();
        self.waiting_rows = monitor.waiting_rows();
        self.is_borrowed = monitor.is_borrowed();
        self.directions = monitor.directions();
        self.lags = monitor.lags();
        self.has_differences = monitor.has_differences();
        self.limit = monitor.limit();
        self.is_short = monitor.short_reference().is_some();
        self.incident = monitor.open_incident().map(|incident| self.here(incident));
        self.over = monitor.closing_incident().map(|incident| self.here(&incident));
        self.open = monitor.open_event().copied();
    }

    pub(super) fn round(&mut self, row: u64, columns: impl Iterator<Item = usize>) {
        let now: Vec<usize> = columns.collect();
        self.rounded.retain(|column, _| now.binary_search(column).is_ok());
        now.into_iter().for_each(|column| _ = self.rounded.entry(column).or_insert(row));
    }

    /// Returns the incident with row numbers of this table.
    pub(super) fn here(&self, incident: &Incident) -> Incident {
        let mut here = *incident;
        if let Some((_, first)) = self.carried.filter(|(number, _)| *number == incident.incident) {
            (here.start, here.reported) = (first, first);
            here.peak = if incident.peak < first || incident.peak > incident.end { first } else { incident.peak };
        }
        here
    }

    pub(super) fn open_occurrences(&self, names: &[String]) -> impl Iterator<Item = Occurrence> {
        let event = self.open.map(|event| Occurrence::of_event(&event, &self.key, self.event.clone(), names));
        self.open_incident(names).or_else(|| self.closing_incident(names)).into_iter().chain(event)
    }

    pub(super) fn open_incident(&self, names: &[String]) -> Option<Occurrence> {
        self.going_on(names).filter(Occurrence::is_incident)
    }

    pub(super) fn closing_incident(&self, names: &[String]) -> Option<Occurrence> {
        self.over.as_ref().map(|over| self.entry(over, names)).filter(Occurrence::is_incident)
    }

    /// Also returns an incident that has not been reported.
    pub(super) fn going_on(&self, names: &[String]) -> Option<Occurrence> {
        self.incident.map(|incident| self.entry(&incident, names))
    }

    pub(super) fn entry(&self, incident: &Incident, names: &[String]) -> Occurrence {
        Occurrence::of_incident(&self.here(incident), &self.key, &self.told, names)
    }

    pub fn reported(&self) -> Option<Incident> {
        self.incident.filter(|_| self.told.is_told)
    }

    /// Returns true if the incident now reaches the minimum severity and duration for the first time.
    pub(super) fn tell(&mut self, least: &Least, incident: &Incident, now: Option<f64>) -> bool {
        let lasted = now.zip(self.told.times.seconds).map(|(now, start)| (now - start).abs());
        let is_new = !self.told.is_told && least.is_reached(incident, lasted);
        self.told.is_told |= is_new;
        self.in_table.incidents += u64::from(is_new);
        is_new
    }

    pub(super) fn remember(&mut self, row: u64, time: &str, seconds: Option<f64>, most: usize) {
        self.recent.push_back((row, time.to_owned(), seconds));
        while self.recent.len() > most {
            self.recent.pop_front();
        }
    }

    pub(super) fn times(&self, first: u64, last: u64) -> Times {
        let time = |row: u64| self.recent.iter().find(|(number, ..)| *number == row);
        let text = |row: u64| time(row).map_or(String::new(), |(_, text, _)| text.clone());
        Times { start: text(first), end: text(last), seconds: time(first).and_then(|(.., seconds)| *seconds) }
    }
}
