//! Native part of `eigenhedge/_monitor.py`.

use crate::arrays::{Rows, as_table, numbers, table};
use crate::errors::{check_room, refused};
use crate::interrupt::each;
use crate::options::Named;
use crate::state::lock;
use eigenhedge::{Cause, Change, Choose, DriftReport, Event, Kept, Missing, Monitor, MonitorOptions, Verdict};
use eigenhedge_io::write_whole;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard};

/// Number of causes per row.
const CAUSES: usize = 3;
/// Code for a missing drift, change or cause.
const NONE: i64 = -1;

/// Native part of :class:`eigenhedge.Monitor`, with the state of the Python side.
#[pyclass(frozen, name = "Monitor", module = "eigenhedge._core")]
pub struct PyMonitor {
    state: Mutex<State>,
}

struct State {
    monitor: Monitor,
    /// State of the Python side as JSON; see `eigenhedge/_snapshot.py`. The next row clears it.
    resume_state: Vec<u8>,
}

impl PyMonitor {
    fn of(monitor: Monitor, resume_state: Vec<u8>) -> Self {
        Self { state: Mutex::new(State { monitor, resume_state }) }
    }

    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        lock(py, &self.state)
    }
}

/// Parses a value by its name.
fn named<T: FromStr<Err = eigenhedge::Error>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|error| refused(&error))
}

#[pymethods]
impl PyMonitor {
    #[new]
    #[pyo3(signature = (dim, *, k, share, mode, limit, lags, differences, standardize, missing, warm_up, event_gap,
                        change_time, drift_time, rebaseline, names))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of Python's")]
    fn new(
        dim: usize,
        k: Option<usize>,
        share: f64,
        mode: &str,
        limit: &str,
        lags: &Bound<'_, PyAny>,
        differences: &Bound<'_, PyAny>,
        standardize: bool,
        missing: &Bound<'_, PyAny>,
        warm_up: Option<u64>,
        event_gap: u64,
        change_time: f64,
        drift_time: f64,
        rebaseline: &str,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let missing = (Named { name: "missing", value: missing }).one_of(&Missing::ALL.map(Missing::name))?;
        let is_auto = |value: &Bound<'_, PyAny>| value.extract::<String>().is_ok_and(|word| word == "auto");
        let lags = match is_auto(lags) {
            true => Choose::Auto,
            false => Choose::Fixed(Named { name: "lags", value: lags }.whole()?),
        };
        let differences = match is_auto(differences) {
            true => Choose::Auto,
            false => Choose::Fixed(differences.extract()?),
        };
        let options = MonitorOptions::default()
            .with_kept(k.map_or(Kept::Share(share), Kept::Count))
            .with_mode(named(mode)?)
            .with_limit(named(limit)?)
            .with_lags(lags)
            .with_differences(differences)
            .with_standardize(standardize)
            .with_missing(named(missing)?)
            .with_warm_up(warm_up)
            .with_event_gap(event_gap)
            .with_change_time(change_time)
            .with_drift_time(drift_time)
            .with_rebaseline(named(rebaseline)?);
        let monitor = Monitor::new(options, dim).map_err(|error| refused(&error))?;
        Ok(Self::of(monitor.with_names(names), Vec::new()))
    }

    /// Uses rows as the warm-up, and ends it if there are enough. Returns whether there are.
    fn fit(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<bool> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut state = self.state(py)?;
        let State { monitor, resume_state } = &mut *state;
        resume_state.clear();
        each(py, rows.count(), |i| monitor.add_to_warm_up(rows.row(i)))?;
        match py.detach(|| monitor.end_warm_up()) {
            Ok(()) => monitor.begin_table(),
            Err(eigenhedge::Error::TooFewRows { .. }) => {}
            Err(error) => return Err(refused(&error)),
        }
        Ok(monitor.is_ready())
    }

    /// Scores rows and learns from them. Returns arrays by name.
    fn update<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        with_contributions: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let count = rows.count();
        let mut state = self.state(py)?;
        let State { monitor, resume_state } = &mut *state;
        let width = monitor.width();
        check_room("the answers to the rows", &[count, 18 + if with_contributions { 2 * width } else { 0 }])?;
        let mut answers = Answers::default();
        each(py, count, |i| {
            let verdict = monitor.step(rows.row(i))?;
            answers.enter(monitor, verdict, with_contributions.then_some(width));
            resume_state.clear();
            Ok(())
        })?;
        answers.into_dict(py, with_contributions.then_some(width))
    }

    /// Makes the last rows the reference.
    fn accept(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let State { monitor, resume_state } = &mut *state;
        py.detach(|| monitor.accept()).map_err(|error| refused(&error))?;
        resume_state.clear();
        Ok(())
    }

    /// Returns the scores of the rows of a table, computed without learning, and their limit; NaN for skipped rows. A first row
    /// without lags is repeated in their place.
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Option<f64>)> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut monitor = self.state(py)?.monitor.frozen();
        let Some(limit) = monitor.limit() else { return Ok((vec![f64::NAN; rows.count()].into_pyarray(py), None)) };
        let mut scores = Vec::with_capacity(rows.count());
        each(py, rows.count(), |i| {
            let row = rows.row(i);
            let passed_over = monitor.totals().passed_over;
            let mut verdict = monitor.step(row)?;
            for _ in 0..monitor.lags() {
                if verdict.score.is_nan() && monitor.totals().passed_over == passed_over {
                    verdict = monitor.step(row)?;
                }
            }
            scores.push(scaled(&verdict, limit));
            Ok(())
        })?;
        Ok((scores.into_pyarray(py), Some(limit)))
    }

    /// Returns verdicts on rows, each scored independently and without learning: arrays by name, as from `update`.
    fn judge<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let frozen = self.state(py)?.monitor.frozen();
        check_room("the answers to the rows", &[rows.count(), 18])?;
        let mut monitor = frozen.clone();
        let mut answers = Answers::default();
        each(py, rows.count(), |i| {
            let row = rows.row(i);
            let mut verdict = monitor.step(row)?;
            // A column is stuck because of earlier rows, and the order of these rows is unknown.
            if verdict.stuck.is_some() {
                monitor = frozen.clone();
                verdict = monitor.step(row)?;
            }
            answers.enter(&monitor, verdict, None);
            Ok(())
        })?;
        answers.into_dict(py, None)
    }

    /// Returns the score of this row as the next one, and the score needed for an alarm; None if it would have no score. The
    /// score of a stuck column is at least that limit.
    fn look(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<Option<(f64, f64)>> {
        let row = numbers(row)?;
        let state = self.state(py)?;
        if !state.monitor.is_ready() {
            return Ok(None);
        }
        let Verdict { score, limit, stuck, .. } = state.monitor.clone().step(&row).map_err(|error| refused(&error))?;
        let score = if stuck.is_some() { score.max(limit) } else { score };
        Ok(Some((score, limit)).filter(|(score, _)| !score.is_nan()))
    }

    /// Ends the ongoing event.
    fn close_event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.state(py)?.monitor.close_event().map(|event| event_dict(py, &event)).transpose()
    }

    #[getter]
    fn open_event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.state(py)?.monitor.open_event().map(|event| event_dict(py, event)).transpose()
    }

    /// Returns the ongoing drift.
    #[getter]
    fn open_drift<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let state = self.state(py)?;
        let Some(report) = state.monitor.open_drift() else { return Ok(None) };
        let found = PyDict::new(py);
        found.set_item("since", report.since)?;
        found.set_item("reported", report.reported)?;
        found.set_item("causes", pairs(&report.causes))?;
        Ok(Some(found))
    }

    /// Returns the limit that the requested share of reference-like rows exceed.
    #[getter]
    fn limit(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.state(py)?.monitor.limit())
    }

    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.state(py)?.monitor.width())
    }

    #[getter]
    fn lags(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.state(py)?.monitor.lags())
    }

    /// Returns the number of warm-up rows for `update`.
    #[getter]
    fn warm_up_rows(&self, py: Python<'_>) -> PyResult<u64> {
        let state = self.state(py)?;
        Ok(state.monitor.options().warm_up_rows(state.monitor.width()))
    }

    #[getter]
    fn directions(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.state(py)?.monitor.directions())
    }

    #[getter]
    fn has_differences(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.state(py)?.monitor.has_differences())
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let totals = self.state(py)?.monitor.totals();
        let found = PyDict::new(py);
        found.set_item("rows", totals.rows)?;
        found.set_item("warm_up", totals.warm_up)?;
        found.set_item("passed_over", totals.passed_over)?;
        found.set_item("scored", totals.scored)?;
        found.set_item("alarms", totals.alarms)?;
        found.set_item("events", totals.events)?;
        found.set_item("changes", totals.changes)?;
        found.set_item("drift_rows", totals.drift_rows)?;
        found.set_item("drifts", totals.drifts)?;
        found.set_item("accepted", totals.accepted)?;
        Ok(found)
    }

    #[getter]
    fn feature_names(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        Ok(self.state(py)?.monitor.columns().names.clone())
    }

    #[pyo3(name = "_set_feature_names")]
    fn set_feature_names(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<()> {
        let mut state = self.state(py)?;
        state.monitor = state.monitor.clone().with_names(names);
        Ok(())
    }

    /// Returns the options as keyword arguments.
    #[pyo3(name = "_options")]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state(py)?;
        let options = state.monitor.options();
        let found = PyDict::new(py);
        let (k, share) = match options.kept {
            Kept::Share(share) => (None, share),
            Kept::Count(k) => (Some(k), 0.85),
        };
        found.set_item("k", k)?;
        found.set_item("share", share)?;
        found.set_item("mode", options.mode.to_string())?;
        found.set_item("limit", options.limit.to_string())?;
        match options.lags {
            Choose::Auto => found.set_item("lags", "auto")?,
            Choose::Fixed(lags) => found.set_item("lags", lags)?,
        }
        match options.differences {
            Choose::Auto => found.set_item("differences", "auto")?,
            Choose::Fixed(is_on) => found.set_item("differences", is_on)?,
        }
        found.set_item("standardize", options.standardize)?;
        found.set_item("missing", options.missing.name())?;
        found.set_item("warm_up", options.warm_up)?;
        found.set_item("event_gap", options.event_gap)?;
        found.set_item("change_time", options.change_time)?;
        found.set_item("drift_time", options.drift_time)?;
        found.set_item("rebaseline", options.rebaseline.to_string())?;
        Ok(found)
    }

    #[pyo3(name = "_resume_state")]
    fn resume_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.state(py)?.resume_state))
    }

    #[pyo3(name = "_set_resume_state")]
    fn set_resume_state(&self, py: Python<'_>, resume_state: Vec<u8>) -> PyResult<()> {
        self.state(py)?.resume_state = resume_state;
        Ok(())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.state(py)?;
        let mut monitor = state.monitor.clone();
        monitor.resume_state.clone_from(&state.resume_state);
        Ok(PyBytes::new(py, &monitor.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let refused = |refusal| PyValueError::new_err(format!("the file {refusal}"));
        let mut monitor = Monitor::from_bytes(data).map_err(refused)?;
        let resume_state = std::mem::take(&mut monitor.resume_state);
        Ok(Self::of(monitor, resume_state))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = self.to_bytes(py)?;
        write_whole(&path, bytes.as_bytes()).map_err(|error| PyOSError::new_err(format!("{error:#}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(size_of::<Self>() + self.state(py)?.monitor.to_bytes().len())
    }
}

/// Rescales the score to this limit, so that it also exceeds it for an alarm of the differences.
fn scaled(verdict: &Verdict, limit: f64) -> f64 {
    if verdict.of_differences && verdict.score > 0.0 { verdict.score / verdict.limit * limit } else { verdict.score }
}

/// Answers to rows, column by column.
#[derive(Default)]
struct Answers {
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
    changes: Vec<Change>,
    events: Vec<Event>,
    drifts: Vec<DriftEvent>,
}

impl Answers {
    /// Adds the verdict on the last row, with contributions if their number is given.
    fn enter(&mut self, monitor: &Monitor, verdict: Verdict, contributions: Option<usize>) {
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
        self.changes.extend(verdict.change);
        self.events.extend(verdict.event);
        self.drifts.extend(verdict.drift.map(|report| DriftEvent::of("drift", &report, report.reported)));
        self.drifts.extend(verdict.returned.map(|report| DriftEvent::of("returned", &report, verdict.row)));
        self.drifts.extend(verdict.accepted.then(|| DriftEvent::accepted(verdict.row)));
        if let Some(width) = contributions {
            self.contributions.extend(contributions_to_q(monitor, &verdict, width));
        }
    }

    fn into_dict(self, py: Python<'_>, width: Option<usize>) -> PyResult<Bound<'_, PyDict>> {
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
        let changes: PyResult<Vec<_>> = self.changes.iter().map(|change| change_dict(py, change)).collect();
        found.set_item("changes", changes?)?;
        let events: PyResult<Vec<_>> = self.events.iter().map(|event| event_dict(py, event)).collect();
        found.set_item("events", events?)?;
        let drifts: PyResult<Vec<_>> = self.drifts.iter().map(|drift| drift.to_dict(py)).collect();
        found.set_item("drifts", drifts?)?;
        Ok(found)
    }
}

/// Returns the contributions of the columns, summed over lags, to the Q of the last row.
fn contributions_to_q(monitor: &Monitor, verdict: &Verdict, width: usize) -> Vec<f64> {
    if verdict.score.is_nan() {
        return vec![f64::NAN; width];
    }
    let (of_cells, _) = monitor.contributions();
    (0..width).map(|j| of_cells.iter().skip(j).step_by(width).sum()).collect()
}

/// Report of a drift, of its end, or of an acceptance.
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

/// Returns the positions of columns and their shares.
fn pairs(causes: &[Option<Cause>]) -> Vec<(usize, f64)> {
    causes.iter().flatten().map(|cause| (cause.column, cause.share)).collect()
}

fn event_dict<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyDict>> {
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
