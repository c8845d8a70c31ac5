//! Events and changes as they are listed.

use eigenhedge::{Cause, Change, DriftReport, Event};
use eigenhedge_io::{Cell, CellKind};
use serde::{Deserialize, Serialize};

/// Times of the first and the last row, as the table has them, and the first in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub start: String,
    pub end: String,
    pub seconds: Option<f64>,
}

/// An event or a change, with names and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// `alarms`, `stuck` or `moved` for an event, `rise` or `fall` for a change, `drift` or `returned` for a drift, `accepted` for
    /// a new reference.
    pub kind: String,
    /// Key of its monitor; empty if there is one monitor.
    pub key: String,
    /// First and last row; those of a change are its first row and the row at which it was reported.
    pub start: u64,
    pub end: u64,
    /// Their times, as the table has them.
    pub start_time: String,
    pub end_time: String,
    /// The first of these in seconds since 1970.
    pub start_seconds: Option<f64>,
    /// Row of the largest score.
    pub peak: u64,
    /// The score there; the strength of a change; nothing for a drift.
    pub strength: f64,
    /// Rows with an alarm.
    pub alarms: u64,
    /// Columns and their shares of the squared deviations.
    pub causes: Vec<(String, f64)>,
}

impl Occurrence {
    /// An event.
    pub fn of_event(event: &Event, key: &str, times: Times, names: &[String]) -> Self {
        Self {
            kind: match (event.is_stuck(), event.is_moved()) {
                (true, _) => "stuck",
                (false, true) => "moved",
                (false, false) => "alarms",
            }
            .to_owned(),
            key: key.to_owned(),
            start: event.start,
            end: event.end,
            start_time: times.start,
            end_time: times.end,
            start_seconds: times.seconds,
            peak: event.peak,
            strength: event.peak_score,
            alarms: event.alarms,
            causes: named(&event.causes, names),
        }
    }

    /// A drift: when it is reported (`drift`), or when its level has returned at row `end` (`returned`).
    pub fn of_drift(kind: &str, report: &DriftReport, end: u64, key: &str, times: Times, names: &[String]) -> Self {
        Self {
            kind: kind.to_owned(),
            key: key.to_owned(),
            start: report.since,
            end,
            start_time: times.start,
            end_time: times.end,
            start_seconds: times.seconds,
            peak: report.reported,
            strength: 0.0,
            alarms: 0,
            causes: named(&report.causes, names),
        }
    }

    /// A reference that was accepted after a row.
    pub fn of_acceptance(row: u64, key: &str, times: Times) -> Self {
        Self {
            kind: "accepted".to_owned(),
            key: key.to_owned(),
            start: row,
            end: row,
            start_time: times.start,
            end_time: times.end,
            start_seconds: times.seconds,
            peak: row,
            strength: 0.0,
            alarms: 0,
            causes: Vec::new(),
        }
    }

    /// A change.
    pub fn of_change(change: &Change, key: &str, times: Times, names: &[String]) -> Self {
        Self {
            kind: if change.is_rise { "rise" } else { "fall" }.to_owned(),
            key: key.to_owned(),
            start: change.start,
            end: change.reported,
            start_time: times.start,
            end_time: times.end,
            start_seconds: times.seconds,
            peak: change.reported,
            strength: change.strength,
            alarms: 0,
            causes: named(&change.columns, names),
        }
    }

    /// True if it is a change.
    pub fn is_change(&self) -> bool {
        self.kind == "rise" || self.kind == "fall"
    }

    /// True if it is about drift: a report, a return, or a new reference.
    pub fn is_drift(&self) -> bool {
        ["drift", "returned", "accepted"].contains(&self.kind.as_str())
    }

    /// The columns of the list.
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

    /// The cells of the list.
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

/// Causes in each row of answers.
pub const CAUSES: usize = 3;

/// The columns of causes.
pub fn cause_columns() -> impl Iterator<Item = (String, CellKind)> {
    let pair = |i| [(format!("cause_{i}"), CellKind::Text), (format!("share_{i}"), CellKind::Number)];
    (1..=CAUSES).flat_map(pair)
}

fn named(causes: &[Option<Cause>], names: &[String]) -> Vec<(String, f64)> {
    causes.iter().flatten().map(|cause| (names[cause.column].clone(), cause.share)).collect()
}
