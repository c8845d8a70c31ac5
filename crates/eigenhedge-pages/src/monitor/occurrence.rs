//! Entries of the list of events, drifts and changes.

use eigenhedge::{Cause, Change, DriftReport, Event};
use eigenhedge_io::{CAUSES, Cell, CellKind, cause_columns};
use serde::{Deserialize, Serialize};

/// Times of the first and last row of an entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Time of the first row, as written in the table. It is empty if unknown.
    pub start: String,
    /// Time of the last row, as written in the table. It is empty if unknown.
    pub end: String,
    /// Time of the first row in seconds since 1970, if known.
    pub seconds: Option<f64>,
}

/// Event, drift, change or new reference, with column names and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// Kind of entry: `alarms`, `stuck` or `moved` for an event, `rise` or `fall` for a change, `drift` or `returned`
    /// for a drift, `accepted` for a new reference.
    pub kind: String,
    /// Key of the monitor. It is empty without `--group-by`.
    pub key: String,
    /// First row. For a change, the first row of the new level.
    pub start: u64,
    /// Last row. For a change, the row at which it was reported.
    pub end: u64,
    /// Time of the first row, as written in the table.
    pub start_time: String,
    /// Time of the last row, as written in the table.
    pub end_time: String,
    /// Time of the first row in seconds since 1970, if known.
    pub start_seconds: Option<f64>,
    /// Row with the largest ratio of score to limit.
    pub peak: u64,
    /// Score at the peak of an event, or strength of a change. The value is 0 for a drift.
    pub strength: f64,
    pub alarms: u64,
    /// Main causes: columns with their shares of the squared deviations.
    pub causes: Vec<(String, f64)>,
}

impl Occurrence {
    /// Creates an entry without strength and alarms. `rows` are its first row, last row and peak.
    fn new(kind: &str, key: &str, rows: [u64; 3], times: Times, causes: Vec<(String, f64)>) -> Self {
        let ([start, end, peak], Times { start: start_time, end: end_time, seconds: start_seconds }) = (rows, times);
        let (kind, key) = (kind.to_owned(), key.to_owned());
        Self { kind, key, start, end, start_time, end_time, start_seconds, peak, strength: 0.0, alarms: 0, causes }
    }

    pub fn of_event(event: &Event, key: &str, times: Times, names: &[String]) -> Self {
        let kind = match (event.is_stuck(), event.is_moved()) {
            (true, _) => "stuck",
            (false, true) => "moved",
            (false, false) => "alarms",
        };
        let rows = [event.start, event.end, event.peak];
        let entry = Self::new(kind, key, rows, times, named(&event.causes, names));
        Self { strength: event.peak_score, alarms: event.alarms, ..entry }
    }

    /// Creates the entry of a drift: `drift` when it is reported, or `returned` when it ends at row `end`.
    pub fn of_drift(kind: &str, report: &DriftReport, end: u64, key: &str, times: Times, names: &[String]) -> Self {
        Self::new(kind, key, [report.since, end, report.reported], times, named(&report.causes, names))
    }

    /// Creates the entry of a new reference that was accepted after a row.
    pub fn of_acceptance(row: u64, key: &str, times: Times) -> Self {
        Self::new("accepted", key, [row; 3], times, Vec::new())
    }

    pub fn of_change(change: &Change, key: &str, times: Times, names: &[String]) -> Self {
        let kind = if change.is_rise { "rise" } else { "fall" };
        let rows = [change.start, change.reported, change.reported];
        Self { strength: change.strength, ..Self::new(kind, key, rows, times, named(&change.columns, names)) }
    }

    pub fn is_change(&self) -> bool {
        self.kind == "rise" || self.kind == "fall"
    }

    /// Returns true for the report of a drift, its end, or a new reference.
    pub fn is_drift(&self) -> bool {
        ["drift", "returned", "accepted"].contains(&self.kind.as_str())
    }

    /// Returns the names and types of the columns of the list. `has_key` is the name of the key column, if there is
    /// one.
    pub fn columns(has_key: Option<&String>, has_times: bool) -> Vec<(String, CellKind)> {
        let mut columns = vec![("kind".to_owned(), CellKind::Text)];
        columns.extend(has_key.map(|name| (name.clone(), CellKind::Text)));
        columns.extend(["start", "end"].map(|name| (name.to_owned(), CellKind::Whole)));
        if has_times {
            columns.extend(["start_time", "end_time"].map(|name| (name.to_owned(), CellKind::Text)));
        }
        columns.push(("peak".to_owned(), CellKind::Whole));
        columns.push(("strength".to_owned(), CellKind::Number));
        columns.push(("alarms".to_owned(), CellKind::Whole));
        columns.extend(cause_columns());
        columns
    }

    pub fn cells(&self, has_key: bool, has_times: bool) -> Vec<Cell<'_>> {
        let mut cells = vec![Cell::Text(&self.kind)];
        cells.extend(has_key.then_some(Cell::Text(&self.key)));
        cells.extend([Cell::Whole(Some(self.start)), Cell::Whole(Some(self.end))]);
        if has_times {
            cells.extend([Cell::Text(&self.start_time), Cell::Text(&self.end_time)]);
        }
        let strength = if self.is_drift() { f64::NAN } else { self.strength };
        cells.extend([Cell::Whole(Some(self.peak)), Cell::Number(strength), Cell::Whole(Some(self.alarms))]);
        for i in 0..CAUSES {
            let (name, share) = self.causes.get(i).map_or(("", f64::NAN), |(name, share)| (name, *share));
            cells.extend([Cell::Text(name), Cell::Number(share)]);
        }
        cells
    }
}

pub(super) fn named(causes: &[Option<Cause>], names: &[String]) -> Vec<(String, f64)> {
    causes.iter().flatten().map(|cause| (names[cause.column].clone(), cause.share)).collect()
}
