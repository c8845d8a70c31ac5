//! Results of monitors as arrays and dictionaries.

use crate::arrays::table;
use eigenhedge::{Cause, Change, DriftReport, Event, Monitor, Verdict};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Number of causes per row.
const CAUSES: usize = 3;
/// Code that marks a missing drift, change or cause.
const NONE: i64 = -1;
/// Upper bound on the number of values per row in the result, without contributions.
pub const NUMBERS: usize = 18;

/// Results for rows, stored column by column.
#[derive(Default)]
pub struct Answers {
    row: Vec<u64>,
    score: Vec<f64>,
    q: Vec<f64>,
    t2: Vec<f64>,
    limit: Vec<f64>,
    alarm: Vec<bool>,
    drift_since: Vec<i64>,
    change: Vec<i64>,
    causes: Vec<i64>,
    shares: Vec<f64>,
    statistic_limits: Vec<f64>,
    contributions: Vec<f64>,
    /// Changes, each with the position of the row that reported it.
    changes: Vec<(usize, Change)>,
    events: Vec<(usize, Event)>,
    drifts: Vec<(usize, DriftEvent)>,
}

impl Answers {
    /// Appends the verdict on the most recent row of the monitor. If `contributions` contains the number of columns,
    /// also appends the contribution of each column.
    pub fn enter(&mut self, monitor: &Monitor, verdict: Verdict, contributions: Option<usize>) {
        self.row.push(verdict.row);
        self.score.push(verdict.score);
        self.q.push(verdict.q);
        self.t2.push(verdict.t2);
        self.limit.push(verdict.limit);
        self.alarm.push(verdict.alarm);
        self.drift_since.push(verdict.drift_since.map_or(NONE, |row| row as i64));
        self.change.push(verdict.change.map_or(NONE, |change| change.start as i64));
        for i in 0..CAUSES {
            let cause = verdict.causes.get(i).copied().flatten();
            self.causes.push(cause.map_or(NONE, |cause| cause.column as i64));
            self.shares.push(cause.map_or(f64::NAN, |cause| cause.share));
        }
        self.statistic_limits.extend(monitor.statistic_limits(&verdict));
        let place = self.row.len() - 1;
        self.changes.extend(verdict.change.map(|change| (place, change)));
        self.events.extend(verdict.event.map(|event| (place, event)));
        let drift = verdict.drift.map(|report| DriftEvent::of("drift", &report, report.reported));
        let returned = verdict.returned.map(|report| DriftEvent::of("returned", &report, verdict.row));
        let accepted = verdict.accepted.then(|| DriftEvent::accepted(verdict.row));
        self.drifts.extend([drift, returned, accepted].into_iter().flatten().map(|drift| (place, drift)));
        if let Some(width) = contributions {
            self.contributions.extend(contributions_to_q(monitor, &verdict, width));
        }
    }

    /// Returns a dictionary of arrays by name and of lists of events, drifts and changes. With keys, each list entry
    /// contains the key of its row.
    pub fn into_dict<'py>(
        self,
        py: Python<'py>,
        width: Option<usize>,
        keys: Option<&[String]>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let count = self.row.len();
        let found = PyDict::new(py);
        let numbers = [("score", self.score), ("q", self.q), ("t2", self.t2), ("limit", self.limit)];
        found.set_item("row", self.row.into_pyarray(py))?;
        numbers.into_iter().try_for_each(|(name, column)| found.set_item(name, column.into_pyarray(py)))?;
        found.set_item("alarm", self.alarm.into_pyarray(py))?;
        found.set_item("drift_since", self.drift_since.into_pyarray(py))?;
        found.set_item("change", self.change.into_pyarray(py))?;
        found.set_item("causes", self.causes.into_pyarray(py))?;
        found.set_item("shares", table(py, self.shares, count, CAUSES)?)?;
        found.set_item("statistic_limits", table(py, self.statistic_limits, count, 2)?)?;
        let contributions = width.map(|width| table(py, self.contributions, count, width)).transpose()?;
        found.set_item("contributions", contributions)?;
        let with_key = |place: usize, one: Bound<'py, PyDict>| {
            keys.map_or(Ok(()), |keys| one.set_item("key", &keys[place])).map(|()| one)
        };
        let changes = self.changes.iter().map(|(place, change)| with_key(*place, change_dict(py, change)?));
        found.set_item("changes", changes.collect::<PyResult<Vec<_>>>()?)?;
        let events = self.events.iter().map(|(place, event)| with_key(*place, event_dict(py, event)?));
        found.set_item("events", events.collect::<PyResult<Vec<_>>>()?)?;
        let drifts = self.drifts.iter().map(|(place, drift)| with_key(*place, drift.to_dict(py)?));
        found.set_item("drifts", drifts.collect::<PyResult<Vec<_>>>()?)?;
        Ok(found)
    }
}

/// Returns the contribution of each column, summed over lags, to the Q statistic of the most recent row. Returns NaN
/// for each column if the row has no score.
fn contributions_to_q(monitor: &Monitor, verdict: &Verdict, width: usize) -> Vec<f64> {
    if verdict.score.is_nan() {
        return vec![f64::NAN; width];
    }
    let (of_cells, _) = monitor.contributions();
    (0..width).map(|j| of_cells.iter().skip(j).step_by(width).sum()).collect()
}

/// Report of a drift, of its end, or of a new reference.
struct DriftEvent {
    kind: &'static str,
    start: u64,
    end: u64,
    reported: u64,
    causes: Vec<(usize, f64)>,
}

impl DriftEvent {
    fn of(kind: &'static str, report: &DriftReport, end: u64) -> Self {
        Self { kind, start: report.since, end, reported: report.reported, causes: pairs(&report.causes) }
    }

    fn accepted(row: u64) -> Self {
        Self { kind: "accepted", start: row, end: row, reported: row, causes: Vec::new() }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        found.set_item("kind", self.kind)?;
        found.set_item("start", self.start)?;
        found.set_item("end", self.end)?;
        found.set_item("peak", self.reported)?;
        found.set_item("strength", f64::NAN)?;
        found.set_item("alarms", 0)?;
        found.set_item("causes", self.causes.clone())?;
        Ok(found)
    }
}

/// Returns the causes as pairs of column position and share.
pub fn pairs(causes: &[Option<Cause>]) -> Vec<(usize, f64)> {
    causes.iter().flatten().map(|cause| (cause.column, cause.share)).collect()
}

/// Returns an event of alarms as a dictionary.
pub fn event_dict<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let kind = match (event.is_stuck(), event.is_moved()) {
        (true, _) => "stuck",
        (_, true) => "moved",
        _ => "alarms",
    };
    found.set_item("kind", kind)?;
    found.set_item("start", event.start)?;
    found.set_item("end", event.end)?;
    found.set_item("peak", event.peak)?;
    found.set_item("strength", event.peak_score)?;
    found.set_item("alarms", event.alarms)?;
    found.set_item("causes", pairs(&event.causes))?;
    Ok(found)
}

fn change_dict<'py>(py: Python<'py>, change: &Change) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("kind", if change.is_rise { "rise" } else { "fall" })?;
    found.set_item("start", change.start)?;
    found.set_item("end", change.reported)?;
    found.set_item("peak", change.reported)?;
    found.set_item("strength", change.strength)?;
    found.set_item("alarms", 0)?;
    found.set_item("causes", pairs(&change.columns))?;
    Ok(found)
}
