//! The model: a learner with its summary, and the names and scales of its columns.
#![expect(non_snake_case, reason = "a table is called X in Python")]

use crate::arrays::{Array1, Array2, Given, Names, Object, Rows, as_table, named_numbers, table, transposed};
use crate::classes::attributes;
use crate::embedding::{Embedded, embedded, reconstructed};
use crate::errors::refused;
use crate::interrupt::alone;
use crate::items::Points;
use crate::learning::{self, Answers, Fills, square, warm_up};
use crate::options::{Named, given};
use crate::sparse::Csr;
use crate::spelling::{from_json, spelling, to_python};
use crate::state::{Reduced, State, embeddable, lock, reduced, settled};
use crate::trial::Trial;
use eigenhedge::{Columns, Model as CoreModel, Standardize, Standardizer};
use eigenhedge_io::{write_linear_map, write_private};
use eigenhedge_pages::run::json;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Online PCA over rows of ``dim`` numbers that keeps ``k`` directions.
///
/// Before each row, the model commits to a k-dimensional subspace. The row arrives, its loss is recorded, and the model
/// learns from it. This class learns row by row with little overhead. :class:`OnlinePCA` is the scikit-learn estimator.
///
/// Parameters
/// ----------
/// dim : int or None
///     Length of a row. None, or any number, if rows are texts, sets or objects.
/// k : int
///     Number of directions kept, less than ``dim`` (or than ``feature_dim``).
/// hindsight : bool, default=True
///     True to also compute the best fixed subspace in hindsight, so that the summary has a regret.
/// standardize : str, default="none"
///     Standardization of the columns to mean 0 and standard deviation 1: ``"none"``, ``"running"`` (by the previous
///     rows) or ``"warmup:ROWS"`` (by the first ROWS rows of the first table). Losses and coordinates are then in
///     standard units. Reconstructed rows are in units of the input.
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
    state: Mutex<State>,
}

impl PyModel {
    pub fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        settled(py, &self.state)
    }

    fn embeddable(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        embeddable(py, &self.state)
    }

    /// Returns the type of rows that the model takes, and the names of its columns.
    fn takes(&self, py: Python<'_>) -> PyResult<(Points, Names)> {
        let state = lock(py, &self.state)?;
        Ok((state.points.clone(), state.core.columns().names.clone()))
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        eigenhedge::checked_bytes(&self.state(py)?.core).map_err(refused)
    }

    pub fn of(state: State) -> Self {
        Self { state: Mutex::new(state) }
    }
}

#[pymethods]
impl PyModel {
    #[new]
    #[pyo3(signature = (dim, k, *, hindsight=true, standardize="none", **options))]
    fn new(
        dim: &Object<'_>,
        k: &Object<'_>,
        hindsight: bool,
        standardize: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let k = Named { name: "k", value: k }.whole()?;
        let (options, objects) = given(k, options)?;
        let setup = options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?;
        // A text, a set or an object is one column.
        let dim = match objects.is_some() || setup.text_items().is_some() {
            true => 1,
            false => Named { name: "dim", value: dim }.whole()?,
        };
        let core = CoreModel::of(&setup, dim, hindsight).map_err(refused)?;
        let how = standardize.parse::<Standardize>().map_err(refused)?;
        let mut state = State::new(core.with_columns(Columns::new(None, Standardizer::new(how, dim))));
        if let Some(objects) = objects {
            state.points = objects;
        }
        if state.points.are_items() && how != Standardize::None {
            return Err(PyValueError::new_err(format!(
                "standardize must be none for texts, sets and objects, got '{how}'"
            )));
        }
        Ok(Self::of(state))
    }

    /// Run one trial: choose a subspace, record the loss, learn.
    ///
    /// Parameters
    /// ----------
    /// x : array-like of shape (dim,)
    ///     Row. For a kernel of texts or sets: a text, or a set or list of items. For a kernel given as a function: any
    ///     object.
    /// matrix : array-like of shape (dim, dim)
    ///     Symmetric positive semidefinite matrix instead of a row, such as the covariance matrix of a day. The loss is
    ///     the trace along the dropped directions. With k = dim - 1, this is variance minimization. Requires plain rows
    ///     without a center. The coordinates are zero.
    /// rows : int, default=1
    ///     Number of rows that the matrix represents. The sum of ``x xᵀ`` over a batch is learned as by
    ///     :meth:`step_batch`.
    ///
    /// Returns
    /// -------
    /// Trial
    ///     Losses and coordinates.
    #[pyo3(signature = (x=None, *, matrix=None, rows=1))]
    fn step(&self, py: Python<'_>, x: Option<&Object<'_>>, matrix: Option<&Object<'_>>, rows: u64) -> PyResult<Trial> {
        let (points, names) = self.takes(py)?;
        let (row, matrix) = match (x, matrix) {
            (Some(x), None) => (points.row(x)?.map_or_else(|| named_numbers(x, names.as_deref()), Ok)?, None),
            (None, Some(matrix)) => (Vec::new(), Some(square(matrix)?)),
            _ => return Err(PyTypeError::new_err("step takes a row or a matrix, and not both")),
        };
        if rows == 0 || rows > 1 && matrix.is_none() {
            let rule = "rows must be at least 1 for a matrix, and 1 for a row";
            return Err(PyValueError::new_err(format!("{rule}, got {rows}")));
        }
        let mut state = self.state(py)?;
        if state.core.columns().standardizer.is_warming_up() {
            return Err(PyValueError::new_err("a warm-up needs many rows at once: learn from a table of them first"));
        }
        state.ask(true, false).map_err(refused)?;
        let outcome = state.learn(|model| match &matrix {
            Some(matrix) => model.step_matrix(matrix, rows),
            None => model.step(&row),
        });
        let loss = points.told(outcome.map_err(refused))?;
        points.forget(&state.core);
        let coordinates = state.core.coordinates().to_vec();
        Ok(Trial { expected_loss: loss.expected, loss: loss.realised, coordinates })
    }

    /// Runs one trial with a symmetric matrix in standard units. The caller must have standardized the rows of the
    /// matrix by the scale of the model.
    #[pyo3(name = "_step_standard_matrix")]
    fn step_standard_matrix(&self, py: Python<'_>, matrix: &Object<'_>, rows: u64) -> PyResult<()> {
        let matrix = square(matrix)?;
        let mut state = self.state(py)?;
        state.ask(false, false).map_err(refused)?;
        state.learn(|model| model.step_scaled_matrix(&matrix, rows)).map(drop).map_err(refused)
    }

    /// Learn from every row, in order, without returning anything.
    ///
    /// This method is faster than :meth:`step_each`, with the same losses and the same learned state. The basis of
    /// aligned coordinates does not follow these rows, so later rows may get another basis of the same subspace.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, dim)
    ///     Rows. On an error, or on Control-C, the previous rows have been learned.
    /// sample_weight : array-like of shape (n_rows,)
    ///     Weight of each row, finite and not negative. A row of weight 0 is skipped.
    #[pyo3(signature = (X, sample_weight=None))]
    fn learn(&self, py: Python<'_>, X: &Object<'_>, sample_weight: Option<&Object<'_>>) -> PyResult<()> {
        learning::learn(py, &self.state, X, sample_weight)
    }

    #[pyo3(name = "_collect")]
    fn collect(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        learning::collect(py, &self.state, rows)
    }

    /// Learns from the rows of a sparse table, given the starts of its rows, and the columns and values of its cells.
    #[pyo3(name = "_learn_sparse")]
    fn learn_sparse(&self, py: Python<'_>, table: Csr<'_>) -> PyResult<()> {
        learning::learn_sparse(py, &self.state, &table)
    }

    /// Run one trial for all rows: one choice, the sum of its losses, one update.
    ///
    /// Use this method for rows that arrive in batches, or late. The bounds then depend on the largest eigenvalue of
    /// the sum of ``x xᵀ`` over the batch instead of the squared norm of a row. A ``norm_bound`` must bound its square
    /// root. A center stays until all rows are learned, and there is no bound. Rows are learned one by one until the model has
    /// learned as many rows as the batch has.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, dim)
    /// sample_weight : array-like of shape (n_rows,)
    ///
    /// Returns
    /// -------
    /// expected_loss, loss : float
    #[pyo3(signature = (X, sample_weight=None))]
    fn step_batch(&self, py: Python<'_>, X: &Object<'_>, sample_weight: Option<&Object<'_>>) -> PyResult<(f64, f64)> {
        let loss = learning::step_batch(py, &self.state, X, sample_weight)?;
        Ok((loss.expected, loss.realised))
    }

    /// Run one trial per row of ``X``, in order.
    ///
    /// Returns
    /// -------
    /// expected_losses, losses : ndarray of shape (n_rows,)
    /// coordinates : ndarray of shape (n_rows, k)
    fn step_each<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Answers<'py>> {
        Ok(self.step_each_with(py, X, false, false, None)?.0)
    }

    #[pyo3(name = "_step_each")]
    fn step_each_with<'py>(
        &self,
        py: Python<'py>,
        rows: &Object<'py>,
        reconstructions: bool,
        filled: bool,
        report: Option<PathBuf>,
    ) -> PyResult<(Answers<'py>, Option<Array2<'py>>, Option<Fills<'py>>)> {
        learning::step_each(py, &self.state, rows, reconstructions, filled, report.as_deref())
    }

    #[pyo3(name = "_learn_set")]
    fn learn_set(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        learning::learn_set(py, &self.state, rows)
    }

    /// Estimates the scale from warm-up rows, without learning. Returns True if more rows are needed.
    #[pyo3(name = "_warm_up")]
    fn warm_up(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut state = self.state(py)?;
        warm_up(&mut state, &mut rows)
    }

    /// Return the coordinates of the rows of ``X`` in the directions most likely to be kept, an ndarray of shape
    /// (n_rows, k), without learning.
    fn transform<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array2<'py>> {
        Ok(self.embed(py, X, false)?.0)
    }

    /// Return the squared reconstruction error of each row of ``X`` for the directions most likely to be kept, an ndarray
    /// of shape (n_rows,), without learning.
    fn losses<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array1<'py>> {
        Ok(self.embed(py, X, true)?.1)
    }

    /// Return the rows of ``X`` with their missing cells filled in, and the standard errors of these cells, without learning.
    ///
    /// Each row is treated as the next row. A cell of a column without any value so far is NaN.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, n_columns)
    ///     Rows. NaN cells are missing.
    ///
    /// Returns
    /// -------
    /// filled, errors : ndarray of shape (n_rows, n_columns)
    ///     Rows without missing cells, and standard errors, which are 0 for cells that were not missing.
    fn filled<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Fills<'py>> {
        learning::filled(py, &self.state, X)
    }

    /// Return the coordinates that each row would get as the next row in :meth:`step`, and its loss, without learning.
    #[pyo3(name = "_embed_next")]
    fn embed_next<'py>(&self, py: Python<'py>, rows: &Object<'py>) -> PyResult<Embedded<'py>> {
        let (points, names) = self.takes(py)?;
        embedded(py, self.state(py)?.next_embedding(), &Given::new(rows, &points, names.as_deref())?, &points, true)
    }

    #[pyo3(name = "_embed")]
    fn embed<'py>(&self, py: Python<'py>, rows: &Object<'py>, losses: bool) -> PyResult<Embedded<'py>> {
        let (points, names) = self.takes(py)?;
        embedded(py, self.embeddable(py)?.embedding(), &Given::new(rows, &points, names.as_deref())?, &points, losses)
    }

    /// Return the rows, of shape (n_rows, dim), with the coordinates ``X``, of shape (n_rows, k).
    ///
    /// For a kernel, they are pre-images: rows whose features are near the points with these coordinates.
    fn reconstruct<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array2<'py>> {
        reconstructed(py, &self.state, X)
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

    /// dict: options whose values differ from the learner's defaults.
    #[pyo3(name = "_changed_options")]
    fn changed_options<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        let changed = self.state(py)?.core.setup().changed();
        let changed = changed.into_iter().map(|(option, value)| (spelling(option.name), value));
        to_python(py, &changed.collect::<BTreeMap<_, _>>())
    }

    /// tuple (components, mean, scale), or None for a kernel: the coordinates of x are components @ ((x - mean) / scale).
    #[pyo3(name = "_linear_map")]
    fn linear_map<'py>(&self, py: Python<'py>) -> PyResult<Option<Map<'py>>> {
        let Some(map) = self.embeddable(py)?.embedding().linear_map(None) else { return Ok(None) };
        let components = table(py, map.components.concat(), map.components.len(), map.mean.len())?;
        Ok(Some((components, map.mean.into_pyarray(py), map.scale.into_pyarray(py))))
    }

    /// Writes components, mean, scale and column names to a file and returns True. For a kernel, writes nothing and
    /// returns False.
    #[pyo3(name = "_export")]
    fn export(&self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        let mut state = self.embeddable(py)?;
        let names = state.core.columns().names.clone();
        let Some(map) = state.embedding().linear_map(names.as_deref()) else { return Ok(false) };
        py.detach(|| write_linear_map(&path, &map)).map_err(|error| PyOSError::new_err(format!("{error:#}")))?;
        Ok(true)
    }

    /// Merge models fitted to parts of a table into the model of all rows.
    ///
    /// The learner must not depend on the order of rows (``"leader"``, ``"anchored"`` or ``"product-sets"``), and
    /// options and columns must match. No model is modified.
    #[pyo3(signature = (*others))]
    fn merge(&self, py: Python<'_>, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let mut merged = self.state(py)?.core.clone();
        for other in &others {
            let other = other.state(py)?.core.clone();
            merged = py.detach(|| merged.merge(other)).map_err(refused)?;
        }
        Ok(Self::of(State::new(merged)))
    }

    /// bytes: data stored by the calling program, as a JSON object. It is empty if there is no such data.
    #[pyo3(name = "_resume_state")]
    fn resume_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.state(py)?.core.resume_state))
    }

    #[pyo3(name = "_set_resume_state")]
    fn set_resume_state(&self, py: Python<'_>, resume_state: Vec<u8>) -> PyResult<()> {
        self.state(py)?.core.resume_state = resume_state;
        Ok(())
    }

    /// Return the model as the bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    /// Load a model from the bytes of a model file. Raise a ``ValueError`` for other or damaged bytes.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let model = CoreModel::from_bytes(data);
        model.map(State::new).map(Self::of).map_err(|refusal| PyValueError::new_err(format!("the model {refusal}")))
    }

    /// Write a model file. An existing file is replaced atomically.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = self.bytes(py)?;
        py.detach(|| write_private(&path, &bytes)).map_err(|error| PyOSError::new_err(format!("{error:#}")))
    }

    /// Read a model file written by :meth:`save`, an estimator or the command line. :func:`eigenhedge.load` returns the
    /// estimator that was saved.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Object<'_>> {
        let kind = py.get_type::<Self>();
        py.import("eigenhedge._snapshot")?.call_method1("load", (path, kind))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, "from_bytes", slf.get().to_bytes(slf.py())?)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Self::from_bytes(&self.bytes(py)?)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Object<'_>) -> PyResult<Self> {
        self.__copy__(py)
    }

    /// Returns the size of the model in bytes: parameters, state, random generator and summary, without scratch space.
    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(size_of::<Self>() + self.bytes(py).map_or(0, |bytes| bytes.len()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.state(py)?;
        let run = &state.core;
        let (spec, rows) = (run.spec(), run.totals().rows);
        Ok(format!("<Model {}, dim={}, k={}, rows={rows}>", spec.label(), run.length(), spec.kept))
    }
}

attributes! { PyModel, |object, py| {
    /// ndarray of shape (k, dim), or None: directions most likely to be kept, in standard units if columns are
    /// standardized. The value is None for a kernel.
    components: Option<Array2<'py>> = {
        object.embeddable(py)?.embedding().components().map(|components| transposed(py, components)).transpose()?
    };
    /// ndarray of shape (dim,), or None: center that is subtracted from a row. The value is None for a kernel.
    center: Option<Array1<'py>> = object.embeddable(py)?.embedding().mean().map(|mean| mean.into_pyarray(py));
    /// ndarray of shape (dim,): divisor of each column. It is 0 for a column that has been constant so far, which is
    /// ignored.
    scale: Array1<'py> = {
        let mut state = object.embeddable(py)?;
        let length = state.core.length();
        state.embedding().scale(length).into_pyarray(py)
    };
    /// str: method of scaling the columns, as on the command line.
    standardize: String = lock(py, &object.state)?.core.columns().standardizer.how().to_string();
    /// list of str, or None: names of the columns.
    feature_names: Names = lock(py, &object.state)?.core.columns().names.clone();
    /// ndarray of shape (k,): probability that each direction of ``components`` is kept.
    inclusion: Array1<'py> = PyArray1::from_slice(py, &object.state(py)?.embedding().inclusion);
    /// ndarray: probability that each direction stored by the learner is kept, in descending order.
    probabilities: Array1<'py> = object.state(py)?.core.learner().probabilities().into_pyarray(py);
    /// tuple (ndarray of shape (k,), float), or None: sum of squares of all rows along each direction, and in total.
    /// The value is None if the sums are not known exactly.
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
    /// exist are None: losses, regret and bound if no row was predicted. Computing them costs one or two
    /// eigendecompositions.
    summary: Object<'py> = {
        let (run, seconds) = {
            let state = object.state(py)?;
            (state.core.clone(), state.spent.as_secs_f64())
        };
        from_json(py, alone(py, move || json(&run.summary().timed(seconds)))?)?
    };
}}

type Map<'py> = (Array2<'py>, Array1<'py>, Array1<'py>);
