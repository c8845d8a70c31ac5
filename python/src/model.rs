//! The Python class `Model`: a learner with its summary, and the names and scale of its columns.

use crate::arrays::{Array1, Array2, Names, Object, table, transposed};
use crate::classes::{attributes, model_file};
use crate::errors::{file_refused, refused};
use crate::interrupt::alone;
use crate::options::{self, Named, given};
use crate::spelling::{from_json, spelling, to_python};
use crate::state::{State, lock};
use eigenhedge::comparators::BestMethod;
use eigenhedge::{Columns, Model as CoreModel, Standardize, Standardizer};
use eigenhedge_io::{write_linear_map, write_private};
use eigenhedge_pages::run::json;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Online PCA of rows of ``dim`` numbers with ``k`` directions.
///
/// Before each row, the model commits to a k-dimensional subspace. The row arrives, its loss is recorded, and the
/// model learns from it. :class:`OnlinePCA` is the scikit-learn estimator.
///
/// Parameters
/// ----------
/// dim : int or None
///     Length of a row. It is ignored and may be None if rows are texts, sets or objects.
/// k : int
///     Number of directions kept, less than the dimension of the space: ``dim`` without a kernel, or
///     the option ``feature_dim``.
/// hindsight : bool, default=True
///     True to also compute the best fixed subspace in hindsight, so that the summary has a regret.
/// standardize : str, default="none"
///     Standardization of the columns to mean 0 and standard deviation 1: ``"none"``, ``"running"`` (by the previous
///     rows) or ``"warmup:ROWS"`` (by the first ROWS rows of the first table). Losses and coordinates are then in
///     standard units.
/// **options
///     Options of :func:`eigenhedge.run`.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from eigenhedge import Model
/// >>> model = Model(3, 1, learner="tracking", center=False)
/// >>> trial = model.step(np.array([2.0, 0.0, 0.0]))
/// >>> round(trial.expected_loss, 3)  # nothing is learned yet: two of three directions are dropped
/// 2.667
/// >>> model.step([2.0, 0.0, 0.0]).expected_loss < trial.expected_loss
/// True
/// >>> model.summary["rows"]
/// 2
#[pyclass(frozen, name = "Model", module = "eigenhedge")]
pub struct PyModel {
    pub state: Mutex<State>,
}

impl PyModel {
    /// Locks the model after it has learned the collected rows.
    pub fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        let mut state = lock(py, &self.state)?;
        if state.moments.is_some() {
            let state = &mut *state;
            py.detach(|| state.settle()).map_err(refused)?;
        }
        Ok(state)
    }

    /// Locks the model after its embedding includes the collected rows.
    pub fn embeddable(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        let mut state = lock(py, &self.state)?;
        if state.moments.is_some() && state.principal.is_none() {
            let state = &mut *state;
            py.detach(|| state.embed()).map_err(refused)?;
        }
        Ok(state)
    }

    pub fn of(state: State) -> Self {
        Self { state: Mutex::new(state) }
    }
}

#[pymethods]
impl PyModel {
    #[new]
    #[pyo3(
        signature = (dim, k, *, hindsight=true, standardize=Standardize::None, **options),
        text_signature = "(dim, k, *, hindsight=True, standardize='none', **options)"
    )]
    fn new(
        dim: &Object<'_>,
        k: &Object<'_>,
        hindsight: bool,
        #[pyo3(from_py_with = options::standardize)] standardize: Standardize,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let k = Named { name: "k", value: k }.whole()?;
        let (options, objects) = given(k, options)?;
        let mut setup = options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?;
        if !hindsight {
            setup.best = BestMethod::None;
        }
        // Texts, sets and objects are rows with one column.
        let dim = match objects.is_some() || setup.text_items().is_some() {
            true => 1,
            false => Named { name: "dim", value: dim }.whole()?,
        };
        let core = CoreModel::of(&setup, dim).map_err(refused)?;
        let mut state = State::new(core.with_columns(Columns::new(None, Standardizer::new(standardize, dim))));
        if let Some(objects) = objects {
            state.points = objects;
        }
        if state.points.are_items() && standardize != Standardize::None {
            return Err(PyValueError::new_err(format!(
                "standardize must be none for texts, sets and objects, got '{standardize}'"
            )));
        }
        Ok(Self::of(state))
    }

    #[pyo3(name = "_set_feature_names")]
    fn set_feature_names(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let expected = state.core.length();
        if let Some(found) = names.as_ref().map(Vec::len).filter(|found| *found != expected) {
            return Err(refused(eigenhedge::Error::Length { what: "feature_names", expected, found }));
        }
        state.core.set_names(names);
        Ok(())
    }

    /// Returns the options whose values differ from the learner's defaults.
    #[pyo3(name = "_changed_options")]
    fn changed_options<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        let changed = self.state(py)?.core.setup().changed();
        let changed = changed.into_iter().map(|(option, value)| (spelling(option.name), value));
        to_python(py, &changed.collect::<BTreeMap<_, _>>())
    }

    /// Returns (components, mean, scale), or None for a kernel.
    #[pyo3(name = "_linear_map")]
    fn linear_map<'py>(&self, py: Python<'py>) -> PyResult<Option<Map<'py>>> {
        let Some(map) = self.embeddable(py)?.embedding().linear_map(None) else { return Ok(None) };
        let components = table(py, map.components.concat(), map.components.len(), map.mean.len())?;
        Ok(Some((components, map.mean.into_pyarray(py), map.scale.into_pyarray(py))))
    }

    /// Writes the linear map and the column names to a file, or returns false for a kernel.
    #[pyo3(name = "_export")]
    fn export(&self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        let mut state = self.embeddable(py)?;
        let names = state.core.columns().names.clone();
        let Some(map) = state.embedding().linear_map(names.as_deref()) else { return Ok(false) };
        py.detach(|| write_linear_map(&path, &map)).map_err(file_refused)?;
        Ok(true)
    }

    /// Return a model of all rows of several models, as :func:`eigenhedge.merge` does.
    #[pyo3(signature = (*others))]
    fn merge(&self, py: Python<'_>, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let mut merged = self.state(py)?.core.clone();
        for other in &others {
            let other = other.state(py)?.core.clone();
            merged = py.detach(|| merged.merge(other)).map_err(refused)?;
        }
        Ok(Self::of(State::new(merged)))
    }

    /// Load a model from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let model = CoreModel::from_bytes(data);
        model.map(State::new).map(Self::of).map_err(|refusal| PyValueError::new_err(format!("the model {refusal}")))
    }

    /// Read the model from a model file, also from that of an estimator.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Object<'_>> {
        let kind = py.get_type::<Self>();
        py.import("eigenhedge._snapshot")?.call_method1("load", (path, kind))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Self::from_bytes(self.to_bytes(py)?.as_bytes())
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Object<'_>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.state(py)?;
        let run = &state.core;
        let (spec, rows) = (run.spec(), run.totals().rows);
        Ok(format!("<Model {}, dim={}, k={}, rows={rows}>", spec.label(), run.length(), spec.kept))
    }
}

model_file!(PyModel);

attributes! { PyModel, |object, py| {
    /// ndarray of shape (k, dim), or None for a kernel: directions most likely to be kept, in standard units.
    components: Option<Array2<'py>> = {
        object.embeddable(py)?.embedding().components().map(|components| transposed(py, components)).transpose()?
    };
    /// ndarray of shape (dim,), or None for a kernel: center that is subtracted from a row.
    center: Option<Array1<'py>> = object.embeddable(py)?.embedding().mean().map(|mean| mean.into_pyarray(py));
    /// ndarray of shape (dim,): divisor of each centered column, or 0 for a constant column, which is ignored.
    scale: Array1<'py> = {
        let mut state = object.embeddable(py)?;
        let length = state.core.length();
        state.embedding().scale(length).into_pyarray(py)
    };
    /// str: standardization of the columns: ``"none"``, ``"running"`` or ``"warmup:ROWS"``.
    standardize: String = lock(py, &object.state)?.core.columns().standardizer.how().to_string();
    /// list of str, or None: names of the columns.
    feature_names: Names = lock(py, &object.state)?.core.columns().names.clone();
    /// ndarray of shape (k,): probability that each direction of ``components`` is kept.
    inclusion: Array1<'py> = PyArray1::from_slice(py, &object.state(py)?.embedding().inclusion);
    /// ndarray: probability of being kept for each direction that the learner stores, in descending order.
    probabilities: Array1<'py> = object.state(py)?.core.learner().probabilities().into_pyarray(py);
    /// tuple (ndarray of shape (k,), float), or None: energy along each direction and in total, if known exactly.
    energies: Option<(Array1<'py>, f64)> = {
        object.embeddable(py)?.energies().map(|(energies, total)| (energies.into_pyarray(py), total))
    };
    /// int: length of a row.
    dim: usize = lock(py, &object.state)?.core.length();
    /// int: number of directions kept.
    k: usize = lock(py, &object.state)?.core.spec().kept;
    /// int: number of rows learned.
    rows: u64 = lock(py, &object.state)?.rows();
    /// dict: losses, best loss, regret and bound so far, with the keys of the command-line summary. Values that do not
    /// exist are None. Computing the summary costs one or two eigendecompositions, and more with ``segments``.
    summary: Object<'py> = {
        let (run, seconds) = {
            let state = object.state(py)?;
            (state.core.clone(), state.spent.as_secs_f64())
        };
        from_json(py, alone(py, move || json(&run.summary().timed(seconds)))?)?
    };
}}

type Map<'py> = (Array2<'py>, Array1<'py>, Array1<'py>);
