//! Batch kernel methods: everything at once.

use crate::arrays::{Table, entries, rows, shape, table, transposed};
use crate::errors::{refused, refused_row};
use crate::interrupt::each;
use crate::options::{Named, kernel};
use eigenhedge::Error;
use eigenhedge::batch::{Center, KernelPca, KernelRidge, Solver};
use eigenhedge::kernel::{Dictionary, Vectors};
use eigenhedge::matrix::Matrix;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, MutexGuard};

/// Kernel principal components of rows.
#[pyclass(frozen, module = "eigenhedge._core")]
pub struct KernelComponents {
    state: Mutex<KernelPca<Vectors>>,
}

fn lock<T>(state: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    state.lock().map_err(|_| PyRuntimeError::new_err("the model was broken by an earlier failure"))
}

fn saved<'py, T: Serialize>(py: Python<'py>, state: &T) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = postcard::to_extend(state, Vec::new());
    Ok(PyBytes::new(py, &bytes.map_err(|error| PyRuntimeError::new_err(error.to_string()))?))
}

fn restored<T: DeserializeOwned>(data: &[u8]) -> PyResult<T> {
    postcard::from_bytes(data).map_err(|error| PyValueError::new_err(format!("not a saved model: {error}")))
}

fn solver(name: &Bound<'_, PyAny>, tolerance: f64, max_rank: usize) -> PyResult<Solver> {
    let name = Named { name: "solver", value: name }.one_of(["dense", "partial", "cholesky"].into_iter())?;
    Ok(match name {
        "partial" => Solver::Partial,
        "cholesky" => Solver::Cholesky { tolerance, max_rank },
        _ => Solver::Dense,
    })
}

#[pymethods]
impl KernelComponents {
    #[new]
    #[pyo3(signature = (x, k, kernel_name, gamma, degree, coef0, centered, solver_name, tolerance, max_rank))]
    #[expect(clippy::too_many_arguments, reason = "called by one line of Python only")]
    fn new(
        py: Python<'_>,
        x: Table<'_>,
        k: usize,
        kernel_name: &Bound<'_, PyAny>,
        gamma: Option<f64>,
        degree: Option<u32>,
        coef0: Option<f64>,
        centered: bool,
        solver_name: &Bound<'_, PyAny>,
        tolerance: f64,
        max_rank: usize,
    ) -> PyResult<Self> {
        let length = shape(&x).1;
        let kernel = kernel(kernel_name, gamma, degree, coef0, length)?;
        let solver = solver(solver_name, tolerance, max_rank)?;
        let points = rows(&x)?;
        let center = if centered { Center::Mean } else { Center::None };
        let fit = || KernelPca::fit(Vectors::new(kernel, length)?, &points, k, center, solver);
        let pca = py.detach(fit).map_err(|error| refused(&error))?;
        Ok(Self { state: Mutex::new(pca) })
    }

    /// Coordinates of rows and their losses.
    fn embed<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<WithNumbers<'py>> {
        let (count, length) = shape(&x);
        let entries = entries(&x)?;
        let mut state = lock(&self.state)?;
        let pca = &mut *state;
        let kept = pca.eigenvalues().len();
        let (mut coordinates, mut losses) = (Vec::with_capacity(count * kept), Vec::with_capacity(count));
        let work = |i: usize| -> Result<(), Error> {
            let row = &entries[i * length..(i + 1) * length];
            coordinates.extend_from_slice(&pca.transform(row)?);
            losses.push(pca.loss(row)?);
            Ok(())
        };
        each(py, count, work, |i, error| refused_row(i, &error))?;
        Ok((table(py, coordinates, count, kept)?, losses.into_pyarray(py)))
    }

    /// Weights on the atoms of the elements with these coordinates.
    fn expand<'py>(&self, py: Python<'py>, coordinates: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let state = lock(&self.state)?;
        let rows = rows(&coordinates)?;
        let mut weights = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let expansion = state.expand(row).map_err(|error| refused_row(i, &error))?;
            weights.extend_from_slice(expansion.weights());
        }
        let atoms = state.coefficients().rows();
        table(py, weights, rows.len(), atoms)
    }

    /// Atoms that the components are written in.
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let state = lock(&self.state)?;
        let atoms = state.dictionary();
        let entries = (0..atoms.len()).flat_map(|i| atoms.atom(i)).copied().collect();
        table(py, entries, atoms.len(), atoms.length())
    }

    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, lock(&self.state)?.eigenvalues()))
    }

    /// One row of weights on the atoms for each component.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, lock(&self.state)?.coefficients())
    }

    /// One row of scores of the points for each component.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, lock(&self.state)?.scores())
    }

    #[getter]
    fn explained_ratio<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(lock(&self.state)?.explained_ratio().into_pyarray(py))
    }

    #[getter]
    fn trace_error(&self) -> PyResult<f64> {
        Ok(lock(&self.state)?.trace_error())
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Ok(Self { state: Mutex::new(restored(data)?) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = saved(slf.py(), &*lock(&slf.get().state)?)?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }
}

/// What the library calls rho is alpha in Python, as it is in scikit-learn.
fn with_alpha(error: Error) -> Error {
    match error {
        Error::Parameter { name: "rho", rule, value } if rule.contains("rho") => {
            Error::Parameter { name: "alpha", rule: "large enough to make K + alpha I positive definite", value }
        }
        Error::Parameter { name: "rho", rule, value } => Error::Parameter { name: "alpha", rule, value },
        other => other,
    }
}

/// Kernel ridge regression with the Gaussian-process reading.
#[pyclass(frozen, module = "eigenhedge._core")]
pub struct KernelRegression {
    state: Mutex<KernelRidge<Vectors>>,
}

#[pymethods]
impl KernelRegression {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called by one line of Python only")]
    fn new(
        py: Python<'_>,
        x: Table<'_>,
        y: Table<'_>,
        rho: f64,
        kernel_name: &Bound<'_, PyAny>,
        gamma: Option<f64>,
        degree: Option<u32>,
        coef0: Option<f64>,
    ) -> PyResult<Self> {
        let length = shape(&x).1;
        let kernel = kernel(kernel_name, gamma, degree, coef0, length)?;
        let points = rows(&x)?;
        let targets = rows(&y)?;
        let fit = || {
            let mut columns = Matrix::zeros(targets.len(), targets.first().map_or(0, |row| row.len()));
            for (i, row) in targets.iter().enumerate() {
                row.iter().enumerate().for_each(|(j, value)| columns.column_mut(j)[i] = *value);
            }
            KernelRidge::fit_many(Vectors::new(kernel, length)?, &points, &columns, rho)
        };
        Ok(Self { state: Mutex::new(py.detach(fit).map_err(|error| refused(&with_alpha(error)))?) })
    }

    /// Means, one row for each row, and variances when they are asked for.
    fn predict<'py>(&self, py: Python<'py>, x: Table<'py>, with_variance: bool) -> PyResult<WithNumbers<'py>> {
        let (count, length) = shape(&x);
        let entries = entries(&x)?;
        let mut ridge = lock(&self.state)?;
        let ridge = &mut *ridge;
        let outputs = ridge.coefficients().columns();
        let (mut means, mut variances) = (Vec::with_capacity(count * outputs), Vec::new());
        let work = |i: usize| -> Result<(), Error> {
            let row = &entries[i * length..(i + 1) * length];
            if with_variance {
                let posterior = ridge.posterior(row)?;
                means.extend_from_slice(&posterior.mean);
                variances.push(posterior.variance);
            } else {
                means.extend_from_slice(&ridge.predict(row)?);
            }
            Ok(())
        };
        each(py, count, work, |i, error| refused_row(i, &error))?;
        Ok((table(py, means, count, outputs)?, variances.into_pyarray(py)))
    }

    /// One row of weights on the points for each output.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, lock(&self.state)?.coefficients())
    }

    /// One row of leave-one-out errors for each output.
    fn leave_one_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let state = lock(&self.state)?;
        let ridge = &*state;
        transposed(py, &py.detach(|| ridge.leave_one_out()))
    }

    /// Log marginal likelihood of each output.
    fn log_likelihood<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(lock(&self.state)?.log_likelihood().into_pyarray(py))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Ok(Self { state: Mutex::new(restored(data)?) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = saved(slf.py(), &*lock(&slf.get().state)?)?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }
}

/// A table, and a number for each of its rows.
type WithNumbers<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);
