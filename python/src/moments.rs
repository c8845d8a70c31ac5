//! Moments of rows: count, mean and scatter matrix.

use crate::arrays::{Rows, as_named_table, column_names, numbers, transposed};
use crate::errors::{apart, check_room, refused};
use crate::interrupt::each_lot;
use crate::model::PyModel;
use crate::options::{Named, given};
use crate::spelling::spelling;
use crate::state::{State, lock};
use eigenhedge::{Missing, Moments};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};

/// Native part of :class:`eigenhedge.Moments`.
#[pyclass(frozen, module = "eigenhedge")]
pub struct Folded {
    moments: Mutex<Moments>,
}

impl Folded {
    fn moments(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Moments>> {
        lock(py, &self.moments)
    }

    fn of(moments: Moments) -> Self {
        Self { moments: Mutex::new(moments) }
    }
}

#[pymethods]
impl Folded {
    #[new]
    #[pyo3(signature = (dim, k, *, names, missing))]
    fn new(dim: &Bound<'_, PyAny>, k: &Bound<'_, PyAny>, names: Option<Vec<String>>, missing: &str) -> PyResult<Self> {
        let (dim, k) = (Named { name: "dim", value: dim }.whole()?, Named { name: "k", value: k }.whole()?);
        let policy = [Missing::Fail, Missing::Skip].into_iter().find(|policy| policy.name() == missing);
        let policy =
            policy.ok_or_else(|| PyValueError::new_err(format!("missing must be fail or skip, got '{missing}'")))?;
        check_room("the scatter matrix of the rows", &[dim, dim.min(4096)])?;
        let mut moments = Moments::new(dim, k, policy).map_err(|error| refused(&error))?;
        let named = names.map_or(Ok(()), |names| moments.set_names(names));
        named.map(|()| Self::of(moments)).map_err(|error| refused(&error))
    }

    fn update(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let names = self.moments(py)?.names().map(<[String]>::to_vec);
        let given = as_named_table(rows, names.as_deref())?;
        let found = if names.is_none() { column_names(rows)? } else { None };
        let mut rows = Rows::of(&given)?;
        let (count, weights) = (rows.count(), sample_weight.map(|given| numbers(given)).transpose()?);
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != count) {
            let text = format!("sample_weight must have one number for each of {count} rows, got {}", weights.len());
            return Err(PyValueError::new_err(text));
        }
        if let Some((i, weight)) =
            weights.iter().flatten().enumerate().find(|(_, weight)| !(**weight >= 0.0 && weight.is_finite()))
        {
            let text = format!("entry {i} of sample_weight must be finite and not negative, got {weight}");
            return Err(PyValueError::new_err(text));
        }
        let mut moments = self.moments(py)?;
        let moments = &mut *moments;
        // All rows are checked before any is added.
        each_lot(py, count, |lot| moments.check(&rows.lot(lot)).map_err(apart))?;
        let is_new = moments.rows() == 0;
        each_lot(py, count, |lot| {
            let weights = weights.as_ref().map(|weights| &weights[lot.clone()]);
            moments.update(&rows.lot(lot), weights).map_err(apart)
        })?;
        if let Some(names) = found.filter(|_| is_new && count > 0) {
            moments.set_names(names).map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let other = other.moments(py)?.clone();
        let mut moments = self.moments(py)?;
        let merged = py.detach(|| moments.clone().merge(other)).map_err(|error| refused(&error))?;
        *moments = merged;
        Ok(())
    }

    #[pyo3(signature = (k, standardize, **options))]
    fn finish(
        &self,
        py: Python<'_>,
        k: &Bound<'_, PyAny>,
        standardize: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyModel> {
        let k = Named { name: "k", value: k }.whole()?;
        let (options, _) = given(k, options)?;
        let setup = options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?;
        let moments = self.moments(py)?;
        let moments = &*moments;
        let finished = py.detach(|| moments.finish(&setup, standardize)).map_err(|error| refused(&error))?;
        Ok(PyModel::of(State::new(finished)))
    }

    fn best_loss(&self, py: Python<'_>, k: usize, center: bool, standardize: bool) -> PyResult<(f64, f64)> {
        let moments = self.moments(py)?;
        let moments = &*moments;
        let best = py.detach(|| moments.best(k, center, standardize));
        Ok((best.low(), best.high()))
    }

    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.moments(py)?.length())
    }

    #[getter]
    fn k(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.moments(py)?.kept())
    }

    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.moments(py)?.rows())
    }

    #[getter]
    fn skipped_rows(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.moments(py)?.passed_over())
    }

    #[getter]
    fn weight(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.moments(py)?.weight())
    }

    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        Ok(self.moments(py)?.names().map(<[String]>::to_vec))
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.moments(py)?.mean().map(|mean| mean.into_pyarray(py)))
    }

    #[getter]
    fn scatter<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.moments(py)?.scatter().map(|scatter| transposed(py, &scatter)).transpose()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.moments(py)?.to_bytes().map_err(|error| refused(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let moments = Moments::from_bytes(data);
        moments.map(Self::of).map_err(|refusal| PyValueError::new_err(format!("the state {refusal}")))
    }
}
