//! Monitor of rows: the native part of `eigenhedge/_monitor.py`.

use crate::alarms::{Answers, NUMBERS, event_dict, pairs};
use crate::arrays::{Rows, as_table, numbers};
use crate::errors::{check_room, refused};
use crate::interrupt::each;
use crate::options::Named;
use crate::pages::{RowTimes, column_names, write_page};
use crate::state::lock;
use eigenhedge::{Choose, Kept, Missing, Monitor, MonitorOptions, Verdict};
use eigenhedge_io::write_whole;
use eigenhedge_pages::monitor::Journal;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard};

/// Native part of :class:`eigenhedge.Monitor`, with data of the Python side.
#[pyclass(frozen, name = "Monitor", module = "eigenhedge._core")]
pub struct PyMonitor {
    state: Mutex<State>,
}

struct State {
    monitor: Monitor,
    /// Record of all events, drifts and changes that the monitor reported in `update`.
    journal: Journal,
    /// Data of the Python side as JSON (see `eigenhedge/_snapshot.py`). The next row clears it.
    resume_state: Vec<u8>,
}

impl PyMonitor {
    /// Creates the object from a monitor and the saved data of the Python side.
    pub fn of(monitor: Monitor, resume_state: Vec<u8>) -> Self {
        let journal = Journal::default().with_monitor("", &monitor).with_charts(monitor.width(), false);
        Self { state: Mutex::new(State { monitor, journal, resume_state }) }
    }

    /// Returns a copy of the monitor.
    pub fn monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.state(py)?.monitor.clone())
    }

    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        lock(py, &self.state)
    }
}

/// Parses an option value by its name.
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

    /// Adds rows to the warm-up, and ends it if there are enough rows. Returns true if the monitor is ready.
    fn fit(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<bool> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut state = self.state(py)?;
        let State { monitor, journal, resume_state } = &mut *state;
        resume_state.clear();
        each(py, rows.count(), |i| monitor.add_to_warm_up(rows.row(i)))?;
        match py.detach(|| monitor.end_warm_up()) {
            Ok(()) => monitor.begin_table(),
            Err(eigenhedge::Error::TooFewRows { .. }) => {}
            Err(error) => return Err(refused(&error)),
        }
        *journal = Journal::default().with_monitor("", monitor).with_charts(monitor.width(), false);
        Ok(monitor.is_ready())
    }

    /// Scores rows and learns from them. Returns a dictionary of arrays by name.
    fn update<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        with_contributions: bool,
        times: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut times = RowTimes::of(times)?;
        let count = rows.count();
        let mut state = self.state(py)?;
        let State { monitor, journal, resume_state } = &mut *state;
        let names = column_names(monitor);
        let width = monitor.width();
        check_room("the answers to the rows", &[count, NUMBERS + if with_contributions { 2 * width } else { 0 }])?;
        let mut answers = Answers::default();
        each(py, count, |i| {
            let row = times.row(i, monitor.totals().rows, rows.row(i));
            let seen = journal.step((0, ""), monitor, &row, (&names, false))?;
            answers.enter(monitor, seen.verdict, with_contributions.then_some(width));
            resume_state.clear();
            Ok(())
        })?;
        answers.into_dict(py, with_contributions.then_some(width), None)
    }

    /// Makes the most recent rows the new reference.
    fn accept(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let State { monitor, journal, resume_state } = &mut *state;
        py.detach(|| monitor.accept()).map_err(|error| refused(&error))?;
        journal.accepted(0, monitor, monitor.totals().rows);
        resume_state.clear();
        Ok(())
    }

    /// Writes the HTML page of the monitor.
    fn report(&self, py: Python<'_>, path: PathBuf, title: String) -> PyResult<()> {
        let state = self.state(py)?;
        write_page(&path, &state.journal, &state.monitor, (title, None), 1)
    }

    /// Returns the scores of rows, computed without learning, and their limit. The score of a skipped row is NaN.
    /// Before the warm-up has ended, all scores are NaN and the limit is None. The first row has no previous rows, so
    /// copies of the row itself are its lags.
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

    /// Returns verdicts on rows as arrays by name, as in `update`, without learning. The monitor must have neither
    /// lags nor differences, so that the order of the rows does not matter.
    fn judge<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let frozen = self.state(py)?.monitor.frozen();
        check_room("the answers to the rows", &[rows.count(), NUMBERS])?;
        let mut monitor = frozen.clone();
        let mut answers = Answers::default();
        each(py, rows.count(), |i| {
            let row = rows.row(i);
            let mut verdict = monitor.step(row)?;
            // Whether a column is stuck depends on earlier rows, and the order of these rows has no meaning.
            if verdict.stuck.is_some() {
                monitor = frozen.clone();
                verdict = monitor.step(row)?;
            }
            answers.enter(&monitor, verdict, None);
            Ok(())
        })?;
        answers.into_dict(py, None, None)
    }

    /// Returns the score that a row would have as the next row, and the score needed for an alarm. Returns None if the
    /// row would have no score. If a column would be stuck, the score is at least the limit.
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

    /// Ends the ongoing event and returns it. Returns None if there is no event.
    fn close_event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut state = self.state(py)?;
        let State { monitor, journal, .. } = &mut *state;
        let event = monitor.open_event().copied();
        journal.close(0, monitor, &column_names(monitor));
        event.as_ref().map(|event| event_dict(py, event)).transpose()
    }

    #[getter]
    fn open_event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.state(py)?.monitor.open_event().map(|event| event_dict(py, event)).transpose()
    }

    /// Returns the ongoing drift, or None.
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

    /// Returns the score that the requested share of rows like the reference exceeds, or None before the warm-up has
    /// ended.
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

    /// Returns the number of rows that `update` uses for the warm-up.
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

/// Returns the score, rescaled to `limit` if it comes from the differences. An alarm then always exceeds the limit.
fn scaled(verdict: &Verdict, limit: f64) -> f64 {
    if verdict.of_differences && verdict.score > 0.0 { verdict.score / verdict.limit * limit } else { verdict.score }
}
