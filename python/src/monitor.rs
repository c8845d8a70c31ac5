//! Native part of `eigenhedge/_monitor.py`.

use crate::alarms::{Answers, NUMBERS, report};
use crate::arrays::{Array1, Names, Object, Rows, as_table, numbers};
use crate::classes::{attributes, model_file};
use crate::errors::{check_room, file_refused, refused};
use crate::interrupt::each;
use crate::options::Named;
use crate::pages::{RowTimes, write_page};
use crate::spelling::{spelling, to_python};
use crate::state::lock;
use eigenhedge::options::exact;
use eigenhedge::{MONITOR_OPTIONS, Monitor, MonitorOptions, Verdict};
use eigenhedge_io::write_private;
use eigenhedge_pages::monitor::{Journal, Occurrence, Times, Told, column_names};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Native part of :class:`eigenhedge.Monitor`.
#[pyclass(frozen, name = "Monitor", module = "eigenhedge._core")]
pub struct PyMonitor {
    state: Mutex<State>,
}

struct State {
    core: Monitor,
    journal: Journal,
}

impl PyMonitor {
    pub fn of(core: Monitor) -> Self {
        let journal = Journal::default().with_monitor("", &core).with_charts(core.width(), false);
        Self { state: Mutex::new(State { core, journal }) }
    }

    pub fn monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.state(py)?.core.clone())
    }

    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        lock(py, &self.state)
    }
}

/// Options whose values are texts: name, valid forms for messages, and prefix for a plain number, if one is accepted.
const FORMS: [(&str, &str, Option<&str>); 3] = [
    ("limit", "auto:ALPHA, conformal:P or a number", Some("auto:")),
    ("rebaseline", "never, after:ROWS or a number of rows", Some("after:")),
    ("mode", "adapt or freeze:ROWS", None),
];

fn form_of(name: &str) -> Option<&'static (&'static str, &'static str, Option<&'static str>)> {
    FORMS.iter().find(|(option, ..)| *option == name)
}

fn text_of(name: &str, value: &Object<'_>) -> PyResult<String> {
    let flag = value.extract::<bool>().ok();
    let number = value.extract::<f64>().ok().filter(|_| flag.is_none());
    let count = value.extract::<u64>().map(|count| count.to_string()).ok();
    let form = form_of(name);
    let text = value.extract::<String>().ok().or_else(|| match form {
        // Python formats the number, because messages quote it.
        Some((.., short)) => short.filter(|_| number.is_some()).map(|short| format!("{short}{value}")),
        None => flag.map(|flag| flag.to_string()).or(count).or_else(|| number.map(exact)),
    });
    text.ok_or_else(|| Named { name, value }.wrong(form.map_or("a text or a number", |(_, rule, _)| *rule)))
}

/// Converts keyword arguments to the options of a monitor. None means the default, except for options of [`FORMS`].
fn monitor_options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<MonitorOptions> {
    let mut given = HashMap::new();
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let Some(option) = MONITOR_OPTIONS.iter().find(|option| spelling(option.name) == name) else {
            return Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'")));
        };
        if !value.is_none() || form_of(&name).is_some() {
            given.insert(option.name, text_of(&name, &value)?);
        }
    }
    let mut options = MonitorOptions::default();
    for option in MONITOR_OPTIONS {
        let Some(text) = given.get(option.name) else { continue };
        option.read(&mut options, text).map_err(refused)?;
    }
    Ok(options)
}

#[pyfunction]
#[pyo3(name = "_check_monitor_options", signature = (**options))]
pub fn check_monitor_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    monitor_options(options).map(drop)
}

#[pymethods]
impl PyMonitor {
    #[new]
    #[pyo3(signature = (dim, *, names, **options))]
    fn new(dim: usize, names: Option<Vec<String>>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = monitor_options(options)?;
        let monitor = Monitor::new(options, dim).map_err(refused)?;
        Ok(Self::of(monitor.with_names(names)))
    }

    /// Adds rows to the warm-up, and ends it if there are enough rows. Returns true if the monitor is ready.
    fn fit(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut state = self.state(py)?;
        let State { core: monitor, journal } = &mut *state;
        monitor.resume_state.clear();
        each(py, rows.count(), |i| monitor.add_to_warm_up(rows.row(i)))?;
        match py.detach(|| monitor.end_warm_up()) {
            Ok(()) => monitor.begin_table(),
            Err(eigenhedge::Error::TooFewRows { .. }) => {}
            Err(error) => return Err(refused(&error)),
        }
        *journal = Journal::default().with_monitor("", monitor).with_charts(monitor.width(), false);
        Ok(monitor.is_ready())
    }

    fn update<'py>(
        &self,
        py: Python<'py>,
        rows: &Object<'py>,
        with_contributions: bool,
        times: Option<&Object<'py>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut times = RowTimes::of(times)?;
        let count = rows.count();
        let mut state = self.state(py)?;
        let State { core: monitor, journal } = &mut *state;
        let names = column_names(monitor);
        let width = with_contributions.then_some(monitor.width());
        check_room("the answers to the rows", &[count, NUMBERS + 2 * width.unwrap_or(0)])?;
        let mut answers = Answers::default();
        each(py, count, |i| {
            let row = times.row(i, monitor.totals().rows, rows.row(i));
            let seen = journal.step((0, ""), monitor, &row, (&names, false))?;
            answers.enter(monitor, seen.verdict, seen.found, width);
            monitor.resume_state.clear();
            Ok(())
        })?;
        answers.enter_incidents(journal, &names);
        answers.into_dict(py, monitor.limit(), width, (&names, false))
    }

    fn accept(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let State { core: monitor, journal } = &mut *state;
        let (next, names) = (monitor.totals().rows, column_names(monitor));
        py.detach(|| journal.accept(0, monitor, next, &names)).map_err(refused)?;
        monitor.resume_state.clear();
        Ok(())
    }

    fn report(&self, py: Python<'_>, path: PathBuf, title: String) -> PyResult<()> {
        let state = self.state(py)?;
        write_page(&path, &state.journal, &state.core, (title, None), 1)
    }

    /// Returns the scores of rows, computed without learning, and their limit. The score of a skipped row is NaN.
    /// Until the warm-up has ended, all scores are NaN and the limit is None. For lags, copies of the first row
    /// replace the rows before it.
    fn score<'py>(&self, py: Python<'py>, rows: &Object<'py>) -> PyResult<(Array1<'py>, Option<f64>)> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut monitor = self.state(py)?.core.frozen();
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
            // The score of a difference has another limit. It is rescaled, so that `limit` applies to it.
            let is_rescaled = verdict.of_differences && verdict.score > 0.0;
            scores.push(if is_rescaled { verdict.score / verdict.limit * limit } else { verdict.score });
            Ok(())
        })?;
        Ok((scores.into_pyarray(py), Some(limit)))
    }

    /// Returns verdicts on rows, without learning, of a monitor without lags and differences.
    fn judge<'py>(&self, py: Python<'py>, rows: &Object<'py>) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let frozen = self.state(py)?.core.frozen();
        check_room("the answers to the rows", &[rows.count(), NUMBERS])?;
        let mut monitor = frozen.clone();
        let mut answers = Answers::default();
        each(py, rows.count(), |i| {
            let row = rows.row(i);
            let mut verdict = monitor.step(row)?;
            // A column is stuck compared with earlier rows, whose order has no meaning here.
            if verdict.stuck.is_some() {
                monitor = frozen.clone();
                verdict = monitor.step(row)?;
            }
            answers.enter(&monitor, verdict, Vec::new(), None);
            Ok(())
        })?;
        answers.into_dict(py, monitor.limit(), None, (&[], false))
    }

    /// Returns the score that a row would have as the next row, if any, and the score above which it would be an
    /// alarm. If a column would be stuck, the score is at least the limit.
    fn look(&self, py: Python<'_>, row: &Object<'_>) -> PyResult<Option<(f64, f64)>> {
        let row = numbers(row)?;
        let state = self.state(py)?;
        if !state.core.is_ready() {
            return Ok(None);
        }
        let Verdict { score, limit, stuck, .. } = state.core.clone().step(&row).map_err(refused)?;
        let score = if stuck.is_some() { score.max(limit) } else { score };
        Ok(Some((score, limit)).filter(|(score, _)| !score.is_nan()))
    }

    #[pyo3(name = "_options")]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (state, defaults) = (self.state(py)?, MonitorOptions::default());
        let found = PyDict::new(py);
        for option in MONITOR_OPTIONS {
            let value = (option.get)(state.core.options()).or_else(|| (option.get)(&defaults));
            found.set_item(spelling(option.name), to_python(py, &value)?)?;
        }
        Ok(found)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let refused = |refusal| PyValueError::new_err(format!("the file {refusal}"));
        Monitor::from_bytes(data).map(Self::of).map_err(refused)
    }

    #[pyo3(name = "_set_feature_names")]
    fn set_feature_names(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<()> {
        let mut state = self.state(py)?;
        state.core = state.core.clone().with_names(names);
        Ok(())
    }
}

model_file!(PyMonitor);

attributes! { PyMonitor, |object, py| {
    open_event: Option<Bound<'py, PyDict>> = {
        let monitor = &object.state(py)?.core;
        let names = column_names(monitor);
        let entry = |event| report(py, &Occurrence::of_event(event, "", Times::default(), &names), &names);
        monitor.open_event().map(entry).transpose()?
    };
    open_incidents: Vec<Bound<'py, PyDict>> = {
        let monitor = &object.state(py)?.core;
        let names = column_names(monitor);
        let entry = |incident| Occurrence::of_incident(incident, "", &Told::default(), &names);
        let open = monitor.open_incident().map(|incident| report(py, &entry(incident), &names));
        open.into_iter().collect::<PyResult<_>>()?
    };
    limit: Option<f64> = object.state(py)?.core.limit();
    dim: usize = object.state(py)?.core.width();
    lags: usize = object.state(py)?.core.lags();
    warm_up_rows: u64 = {
        let state = object.state(py)?;
        state.core.options().warm_up_rows(state.core.width())
    };
    directions: Option<usize> = object.state(py)?.core.directions();
    has_differences: bool = object.state(py)?.core.has_differences();
    totals: Object<'py> = to_python(py, &object.state(py)?.core.totals())?;
    feature_names: Names = object.state(py)?.core.columns().names.clone();
}}
