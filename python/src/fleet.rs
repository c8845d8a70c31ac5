//! Fleet of models, one per key.

use crate::arrays::{Rows, as_table, table};
use crate::errors::{check_room, refused};
use crate::interrupt::each;
use crate::learning::Answers;
use crate::model::PyModel;
use crate::options::{Named, given};
use crate::spelling::spelling;
use crate::state::{State, lock};
use eigenhedge::{Columns, Error, Fleet, FleetMember, Model as CoreModel, Standardizer};
use eigenhedge_io::{GroupStore, open_fleet, save_fleet};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Native part of :class:`eigenhedge.Fleet` for models.
#[pyclass(frozen, module = "eigenhedge")]
pub struct Groups {
    fleet: Mutex<Fleet<CoreModel>>,
}

impl Groups {
    fn fleet(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Fleet<CoreModel>>> {
        lock(py, &self.fleet)
    }
}

/// Limits the number of members in memory to `max_groups`. Other members are stored in a temporary file.
pub fn with_room<T: FleetMember>(fleet: Fleet<T>, max_groups: Option<usize>) -> Fleet<T> {
    match max_groups {
        Some(most) => fleet.with_store(most, Box::new(GroupStore::new(&std::env::temp_dir()))),
        None => fleet,
    }
}

/// Converts an error about a file to a Python `OSError`.
pub fn cannot(error: &impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(format!("{error:#}"))
}

#[pymethods]
impl Groups {
    #[new]
    #[pyo3(signature = (dim, k, *, hindsight, standardize, names, max_groups, **options))]
    fn new(
        dim: usize,
        k: &Bound<'_, PyAny>,
        hindsight: bool,
        standardize: &str,
        names: Option<Vec<String>>,
        max_groups: Option<usize>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let k = Named { name: "k", value: k }.whole()?;
        let (options, points) = given(k, options)?;
        let setup = options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?;
        if points.is_some() || setup.text_items().is_some() {
            return Err(PyValueError::new_err(
                "the rows of a fleet must be rows of numbers: texts, sets and functions need a Model for each key",
            ));
        }
        let model = CoreModel::of(&setup, dim, hindsight).map_err(|error| refused(&error))?;
        let how = standardize
            .parse()
            .map_err(|_| PyValueError::new_err(format!("standardize must be none or running, got '{standardize}'")))?;
        let columns = Columns::new(names, Standardizer::new(how, dim));
        let fleet = Fleet::new(model.with_columns(columns)).map_err(|error| refused(&error))?;
        Ok(Self { fleet: Mutex::new(with_room(fleet, max_groups)) })
    }

    /// Learns each row with the model of its key. Returns expected losses, losses and coordinates.
    fn step_each<'py>(&self, py: Python<'py>, keys: Vec<String>, rows: &Bound<'py, PyAny>) -> PyResult<Answers<'py>> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let count = rows.count();
        if keys.len() != count {
            return Err(refused(&Error::Length { what: "the list of keys", expected: count, found: keys.len() }));
        }
        let mut fleet = self.fleet(py)?;
        let fleet = &mut *fleet;
        fleet.ask_for_coordinates(true);
        let kept = fleet.fresh().spec().kept;
        check_room("the coordinates of the rows", &[2, count, kept])?;
        let (mut expected, mut losses) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut coordinates = Vec::with_capacity(count.saturating_mul(kept));
        each(py, count, |i| {
            let (loss, run) = fleet.step(&keys[i], rows.row(i))?;
            expected.push(loss.expected);
            losses.push(loss.realised);
            coordinates.extend_from_slice(run.coordinates());
            Ok(())
        })?;
        Ok((expected.into_pyarray(py), losses.into_pyarray(py), table(py, coordinates, count, kept)?))
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.fleet(py)?.keys().map(str::to_owned).collect())
    }

    fn get(&self, py: Python<'_>, key: &str) -> PyResult<Option<PyModel>> {
        let found = self.fleet(py)?.get(key).map_err(|error| refused(&error))?;
        Ok(found.map(|model| PyModel::of(State::new(model))))
    }

    /// Returns a fleet without keys, whose new members start as in this fleet.
    fn fresh(&self, py: Python<'_>, max_groups: Option<usize>) -> PyResult<Self> {
        let fresh = self.fleet(py)?.fresh().clone();
        let fleet = Fleet::new(fresh).map_err(|error| refused(&error))?;
        Ok(Self { fleet: Mutex::new(with_room(fleet, max_groups)) })
    }

    /// Adds the members of another fleet. Members with equal keys are merged.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("a fleet must not be merged with itself"));
        }
        let (mut fleet, mut other) = (self.fleet(py)?, other.fleet(py)?);
        let (fleet, other) = (&mut *fleet, &mut *other);
        py.detach(|| fleet.merge(other)).map_err(|error| refused(&error))
    }

    #[getter]
    fn in_memory(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.fleet(py)?.in_memory())
    }

    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.fleet(py)?.fresh().length())
    }

    #[getter]
    fn k(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.fleet(py)?.fresh().spec().kept)
    }

    #[getter]
    fn feature_names(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        Ok(self.fleet(py)?.fresh().columns().names.clone())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut fleet = self.fleet(py)?;
        let fleet = &mut *fleet;
        py.detach(|| save_fleet(&path, fleet, &[])).map_err(|error| cannot(&error))
    }

    #[staticmethod]
    fn open(path: PathBuf, max_groups: Option<usize>) -> PyResult<Self> {
        let (fleet, _) = open_fleet(&path, max_groups.unwrap_or(usize::MAX))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { fleet: Mutex::new(fleet) })
    }
}
