//! Fleet of monitors, one per key.

use crate::alarms::{Answers, NUMBERS};
use crate::arrays::{Rows, as_table};
use crate::errors::{check_room, refused};
use crate::fleet::{cannot, with_room};
use crate::interrupt::each;
use crate::monitor::PyMonitor;
use crate::pages::{RowTimes, column_names, write_page};
use crate::state::lock;
use eigenhedge::{Error, Fleet, Monitor, POOL_PARTS};
use eigenhedge_io::{open_fleet, save_fleet};
use eigenhedge_pages::monitor::{Journal, Track};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Native part of :class:`eigenhedge.Fleet` for monitors.
#[pyclass(frozen, module = "eigenhedge")]
pub struct MonitorGroups {
    state: Mutex<State>,
}

struct State {
    fleet: Fleet<Monitor>,
    /// Number of rows of all keys since this fleet was created or opened.
    rows: u64,
    /// Record of all events, drifts and changes that the monitors reported about these rows.
    journal: Journal,
}

impl MonitorGroups {
    fn of(fleet: Fleet<Monitor>) -> Self {
        let journal = Journal::new(fleet.keys()).with_charts(fleet.fresh().width(), true);
        Self { state: Mutex::new(State { fleet, rows: 0, journal }) }
    }

    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        lock(py, &self.state)
    }
}

#[pymethods]
impl MonitorGroups {
    /// Creates a fleet whose monitors are copies of this one.
    #[new]
    fn new(py: Python<'_>, monitor: &PyMonitor, max_groups: Option<usize>) -> PyResult<Self> {
        let fleet = Fleet::of_monitors(monitor.monitor(py)?).map_err(|error| refused(&error))?;
        Ok(Self::of(with_room(fleet, max_groups)))
    }

    /// Scores rows with the monitors of their keys. Returns arrays by name, as for a single monitor.
    fn update<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<String>,
        rows: &Bound<'py, PyAny>,
        with_contributions: bool,
        times: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut times = RowTimes::of(times)?;
        let count = rows.count();
        if keys.len() != count {
            return Err(refused(&Error::Length { what: "the list of keys", expected: count, found: keys.len() }));
        }
        let mut state = self.state(py)?;
        let State { fleet, rows: number, journal } = &mut *state;
        let names = column_names(fleet.fresh());
        let width = with_contributions.then_some(fleet.fresh().width());
        check_room("the answers to the rows", &[count, NUMBERS + 2 * width.unwrap_or(0)])?;
        let mut answers = Answers::default();
        each(py, count, |i| {
            let (key, row) = (keys[i].as_str(), times.row(i, *number, rows.row(i)));
            let place = fleet.position(key).unwrap_or(fleet.keys().len());
            fleet.with_pool(key, POOL_PARTS, |monitor| {
                let seen = journal.step((place, key), monitor, &row, (&names, false))?;
                answers.enter(monitor, seen.verdict, width);
                Ok(())
            })?;
            *number += 1;
            Ok(())
        })?;
        answers.into_dict(py, width, Some(&keys))
    }

    /// Makes the most recent rows of a key its reference. Returns false for an unknown key.
    fn accept(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        let mut state = self.state(py)?;
        let State { fleet, journal, rows } = &mut *state;
        let Some(place) = fleet.position(key) else { return Ok(false) };
        let accept = |monitor: &mut Monitor| {
            monitor.accept()?;
            journal.accepted(place, monitor, *rows);
            Ok(())
        };
        py.detach(|| fleet.with(key, accept)).map_err(|error| refused(&error)).map(|()| true)
    }

    /// Writes the HTML page of all keys. `by` is the name of the key column.
    fn report(&self, py: Python<'_>, path: PathBuf, title: String, by: String) -> PyResult<()> {
        let state = self.state(py)?;
        let State { fleet, journal, .. } = &*state;
        write_page(&path, journal, fleet.fresh(), (title, Some(by)), fleet.in_memory())
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.state(py)?.fleet.keys().map(str::to_owned).collect())
    }

    /// Returns a copy of the monitor of a key, or None for an unknown key.
    fn get(&self, py: Python<'_>, key: &str) -> PyResult<Option<PyMonitor>> {
        let found = self.state(py)?.fleet.get(key).map_err(|error| refused(&error))?;
        Ok(found.map(|monitor| PyMonitor::of(monitor, Vec::new())))
    }

    /// Returns the monitor with which every key starts.
    #[getter]
    fn fresh_monitor(&self, py: Python<'_>) -> PyResult<PyMonitor> {
        Ok(PyMonitor::of(self.state(py)?.fleet.fresh().clone(), Vec::new()))
    }

    /// Returns a fleet without keys, whose new monitors start as in this fleet.
    fn fresh(&self, py: Python<'_>, max_groups: Option<usize>) -> PyResult<Self> {
        let fresh = self.state(py)?.fleet.fresh().clone();
        let fleet = Fleet::of_monitors(fresh).map_err(|error| refused(&error))?;
        Ok(Self::of(with_room(fleet, max_groups)))
    }

    /// Adds the monitors of another fleet.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("a fleet must not be merged with itself"));
        }
        let (mut state, mut other) = (self.state(py)?, other.state(py)?);
        let (fleet, other) = (&mut state.fleet, &mut other.fleet);
        py.detach(|| fleet.merge(other)).map_err(|error| refused(&error))?;
        let State { fleet, journal, .. } = &mut *state;
        let known = journal.tracks.len();
        journal.tracks.extend(fleet.keys().skip(known).map(Track::new));
        Ok(())
    }

    #[getter]
    fn in_memory(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.state(py)?.fleet.in_memory())
    }

    #[getter]
    fn feature_names(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        Ok(self.state(py)?.fleet.fresh().columns().names.clone())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut state = self.state(py)?;
        let fleet = &mut state.fleet;
        py.detach(|| save_fleet(&path, fleet, &[])).map_err(|error| cannot(&error))
    }

    #[staticmethod]
    fn open(path: PathBuf, max_groups: Option<usize>) -> PyResult<Self> {
        let (fleet, _) = open_fleet(&path, max_groups.unwrap_or(usize::MAX))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self::of(fleet))
    }
}
