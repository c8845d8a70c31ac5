//! Fleets: one model or monitor per key.

use crate::alarms::{Answers, NUMBERS};
use crate::arrays::{Object, Rows, as_table, table};
use crate::errors::{check_room, file_refused, refused};
use crate::interrupt::each;
use crate::model::PyModel;
use crate::monitor::PyMonitor;
use crate::pages::{RowTimes, write_page};
use crate::state::{State, lock};
use eigenhedge::{Error, Fleet, FleetMember, Model, Monitor, POOL_PARTS};
use eigenhedge_io::{GroupStore, open_fleet, save_fleet};
use eigenhedge_pages::monitor::{Journal, column_names};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

#[pyclass(frozen, module = "eigenhedge._core")]
pub struct Groups {
    members: Mutex<Members>,
}

#[expect(clippy::large_enum_variant, reason = "there is one value per fleet")]
enum Members {
    Models(Fleet<Model>),
    Monitors(Monitors),
}

struct Monitors {
    fleet: Fleet<Monitor>,
    /// Number of the next row.
    rows: u64,
    journal: Journal,
}

macro_rules! either {
    ($members:expr, $fleet:ident => $result:expr) => {
        match &mut *$members {
            Members::Models($fleet) => $result,
            Members::Monitors(Monitors { fleet: $fleet, .. }) => $result,
        }
    };
}

impl Groups {
    fn members(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Members>> {
        lock(py, &self.members)
    }

    fn of(members: Members) -> Self {
        Self { members: Mutex::new(members) }
    }
}

impl Members {
    fn of_monitors(fleet: Fleet<Monitor>) -> Result<Self, Error> {
        let journal = Journal::default().with_charts(fleet.fresh().width(), true);
        let mut monitors = Monitors { fleet, rows: 0, journal };
        monitors.enter_members()?;
        Ok(Self::Monitors(monitors))
    }

    fn monitors(&mut self) -> PyResult<&mut Monitors> {
        match self {
            Self::Monitors(monitors) => Ok(monitors),
            Self::Models(_) => Err(PyValueError::new_err("the members of the fleet must be monitors, got models")),
        }
    }
}

/// Limits the number of members in memory. Other members are stored in a temporary file.
fn with_room<T: FleetMember>(fleet: Result<Fleet<T>, Error>, max_groups: Option<usize>) -> PyResult<Fleet<T>> {
    let fleet = fleet.map_err(refused)?;
    Ok(match max_groups {
        Some(most) => fleet.with_store(most, Box::new(GroupStore::new(&std::env::temp_dir()))),
        None => fleet,
    })
}

#[pymethods]
impl Groups {
    #[new]
    fn new(member: &Object<'_>, max_groups: Option<usize>) -> PyResult<Self> {
        let py = member.py();
        if let Ok(monitor) = member.cast::<PyMonitor>() {
            let fleet = Fleet::of_monitors(monitor.get().monitor(py)?);
            return Ok(Self::of(Members::of_monitors(with_room(fleet, max_groups)?).map_err(refused)?));
        }
        let state = member.cast::<PyModel>()?.get().state(py)?;
        if state.points.are_items() {
            return Err(PyValueError::new_err(
                "the rows of a fleet must be rows of numbers: texts, sets and functions need a Model for each key",
            ));
        }
        Ok(Self::of(Members::Models(with_room(Fleet::new(state.core.clone()), max_groups)?)))
    }

    fn update<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<String>,
        rows: &Object<'py>,
        times: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        if keys.len() != rows.count() {
            let (expected, found) = (rows.count(), keys.len());
            return Err(refused(Error::Length { what: "the list of keys", expected, found }));
        }
        match &mut *self.members(py)? {
            Members::Models(fleet) => step_each(py, fleet, &keys, &mut rows),
            Members::Monitors(monitors) => monitors.update(py, &keys, &mut rows, RowTimes::of(times)?),
        }
    }

    /// Returns false for an unknown key.
    fn accept(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        let mut members = self.members(py)?;
        let Monitors { fleet, rows, journal } = members.monitors()?;
        let Some(place) = fleet.position(key) else { return Ok(false) };
        let names = column_names(fleet.fresh());
        let accept = |monitor: &mut Monitor| journal.accept(place, monitor, *rows, &names);
        py.detach(|| fleet.with(key, accept)).map_err(refused).map(|_| true)
    }

    fn report(&self, py: Python<'_>, path: PathBuf, title: String, by: String) -> PyResult<()> {
        let mut members = self.members(py)?;
        let Monitors { fleet, journal, .. } = members.monitors()?;
        write_page(&path, journal, fleet.fresh(), (title, Some(by)), fleet.in_memory())
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(either!(self.members(py)?, fleet => fleet.keys().map(str::to_owned).collect()))
    }

    fn get<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Object<'py>>> {
        match &mut *self.members(py)? {
            Members::Models(fleet) => fleet.get(key).map_err(refused)?.map(|model| of_model(py, model)),
            Members::Monitors(monitors) => monitors.fleet.get(key).map_err(refused)?.map(|one| of_monitor(py, one)),
        }
        .transpose()
    }

    #[getter]
    fn fresh<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        match &*self.members(py)? {
            Members::Models(fleet) => of_model(py, fleet.fresh().clone()),
            Members::Monitors(monitors) => of_monitor(py, monitors.fleet.fresh().clone()),
        }
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("a fleet must not be merged with itself"));
        }
        // Locked in the order of addresses, so that two threads that merge two fleets into each other cannot deadlock.
        let is_first = std::ptr::from_ref(self) < std::ptr::from_ref(other);
        let first = if is_first { self } else { other }.members(py)?;
        let second = if is_first { other } else { self }.members(py)?;
        let (mut members, mut others) = if is_first { (first, second) } else { (second, first) };
        let merged = match (&mut *members, &mut *others) {
            (Members::Models(fleet), Members::Models(other)) => py.detach(|| fleet.merge(other)),
            (Members::Monitors(monitors), Members::Monitors(other)) => py.detach(|| {
                let merged = monitors.fleet.merge(&mut other.fleet);
                merged.and(monitors.enter_members())
            }),
            _ => return Err(PyValueError::new_err("a fleet of models cannot be merged with a fleet of monitors")),
        };
        merged.map_err(refused)
    }

    #[getter]
    fn feature_names(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        Ok(either!(self.members(py)?, fleet => fleet.fresh().columns().names.clone()))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut members = self.members(py)?;
        let saved = either!(members, fleet => py.detach(|| save_fleet(&path, fleet, &[])));
        saved.map_err(file_refused)
    }

    #[staticmethod]
    fn open(path: PathBuf, max_groups: Option<usize>, are_monitors: bool) -> PyResult<Self> {
        let most = max_groups.unwrap_or(usize::MAX);
        let unread = |error: eigenhedge_io::Error| PyValueError::new_err(error.to_string());
        let members = match are_monitors {
            true => Members::of_monitors(open_fleet(&path, most).map_err(unread)?.0).map_err(refused)?,
            false => Members::Models(open_fleet(&path, most).map_err(unread)?.0),
        };
        Ok(Self::of(members))
    }
}

fn of_model(py: Python<'_>, model: Model) -> PyResult<Object<'_>> {
    PyModel::of(State::new(model)).into_bound_py_any(py)
}

fn of_monitor(py: Python<'_>, monitor: Monitor) -> PyResult<Object<'_>> {
    PyMonitor::of(monitor).into_bound_py_any(py)
}

fn step_each<'py>(
    py: Python<'py>,
    fleet: &mut Fleet<Model>,
    keys: &[String],
    rows: &mut Rows<'_>,
) -> PyResult<Object<'py>> {
    fleet.ask_for_coordinates(true);
    let (count, kept) = (keys.len(), fleet.fresh().spec().kept);
    check_room("the coordinates of the rows", &[2, count, kept])?;
    let (mut expected, mut losses) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut coordinates = Vec::with_capacity(count.saturating_mul(kept));
    each(py, count, |i| {
        let (loss, model) = fleet.step(&keys[i], rows.row(i))?;
        expected.push(loss.expected);
        losses.push(loss.realised);
        coordinates.extend_from_slice(model.coordinates());
        Ok(())
    })?;
    let coordinates = table(py, coordinates, count, kept)?;
    (expected.into_pyarray(py), losses.into_pyarray(py), coordinates).into_bound_py_any(py)
}

impl Monitors {
    /// Enters members that the journal does not have yet. Row numbers continue after their rows.
    fn enter_members(&mut self) -> Result<(), Error> {
        let Self { fleet, rows, journal } = self;
        let before = fleet.fresh().totals().rows;
        let keys: Vec<String> = fleet.keys().skip(journal.tracks.len()).map(str::to_owned).collect();
        for key in keys {
            let Some(monitor) = fleet.get(&key)? else { continue };
            *rows += monitor.totals().rows.saturating_sub(before);
            *journal = std::mem::take(journal).with_monitor(&key, &monitor);
        }
        Ok(())
    }

    fn update<'py>(
        &mut self,
        py: Python<'py>,
        keys: &[String],
        rows: &mut Rows<'_>,
        mut times: RowTimes,
    ) -> PyResult<Object<'py>> {
        let Self { fleet, rows: number, journal } = self;
        let names = column_names(fleet.fresh());
        check_room("the answers to the rows", &[keys.len(), NUMBERS])?;
        let mut answers = Answers::default();
        each(py, keys.len(), |i| {
            let (key, row) = (keys[i].as_str(), times.row(i, *number, rows.row(i)));
            let place = fleet.position(key).unwrap_or(fleet.keys().len());
            fleet.with_pool(key, POOL_PARTS, |monitor| {
                let seen = journal.step((place, key), monitor, &row, (&names, false))?;
                answers.enter(monitor, seen.verdict, seen.found, None);
                Ok(())
            })?;
            *number += 1;
            Ok(())
        })?;
        answers.enter_incidents(journal, &names);
        Ok(answers.into_dict(py, fleet.fresh().limit(), None, (&names, true))?.into_any())
    }
}
