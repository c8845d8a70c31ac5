//! Moments of rows: count, mean and scatter matrix.
#![expect(non_snake_case, reason = "a table is called X in Python")]

use crate::arrays::{Array1, Array2, Names, Object, Rows, as_named_table, column_names, transposed};
use crate::classes::attributes;
use crate::errors::{apart, check_room, refused};
use crate::interrupt::each_lot;
use crate::learning::weights;
use crate::model::PyModel;
use crate::options::{Named, setup};
use crate::state::{Reduced, State, lock, reduced};
use eigenhedge::{Missing, Moments};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};

/// Moments of rows: count, mean and scatter matrix.
///
/// Moments of parts of a table can be computed on any machine and merged in any order. The moments of rows of up to
/// 4096 numbers are exact, and those of longer rows are a frequent-directions sketch, whose effect
/// :meth:`best_loss` bounds.
///
/// Parameters
/// ----------
/// dim : int
///     Length of a row.
/// k : int
///     Maximum number of directions kept by models.
/// names : sequence of str, optional
///     Names of the columns. By default, those of the first table. Columns of later tables are matched by name.
/// missing : {"fail", "skip"}, default="fail"
///     Handling of rows with missing cells (NaN, null): raise an error, or skip and count them.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import eigenhedge
/// >>> X = np.random.default_rng(0).normal(size=(1000, 5)) * [5, 4, 1, 1, 1]
/// >>> parts = [eigenhedge.Moments(5, 2).update(part) for part in np.array_split(X, 10)]
/// >>> moments = parts[0].merge(*parts[1:])
/// >>> pca = moments.finish()
/// >>> pca.components_.shape, pca.n_samples_seen_
/// ((2, 5), 1000)
#[pyclass(frozen, name = "Moments", module = "eigenhedge")]
pub struct PyMoments {
    moments: Mutex<Moments>,
}

impl PyMoments {
    fn moments(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Moments>> {
        lock(py, &self.moments)
    }

    fn of(moments: Moments) -> Self {
        Self { moments: Mutex::new(moments) }
    }

    fn k_or_default(&self, py: Python<'_>, k: Option<&Object<'_>>) -> PyResult<usize> {
        k.map_or_else(|| self.k(py), |value| Named { name: "k", value }.whole())
    }
}

#[pymethods]
impl PyMoments {
    #[new]
    #[pyo3(signature = (dim, k, *, names=None, missing="fail"))]
    fn new(dim: &Object<'_>, k: &Object<'_>, names: Option<&Object<'_>>, missing: &str) -> PyResult<Self> {
        let texts = |names: &Object<'_>| names.try_iter()?.map(|name| name?.extract()).collect();
        let names: Option<Vec<String>> = names.map(texts).transpose()?;
        let (dim, k) = (Named { name: "dim", value: dim }.whole()?, Named { name: "k", value: k }.whole()?);
        let policy = [Missing::Fail, Missing::Skip].into_iter().find(|policy| policy.name() == missing);
        let policy =
            policy.ok_or_else(|| PyValueError::new_err(format!("missing must be fail or skip, got '{missing}'")))?;
        check_room("the scatter matrix of the rows", &[dim, dim.min(4096)])?;
        let mut moments = Moments::new(dim, k, policy).map_err(refused)?;
        let named = names.map_or(Ok(()), |names| moments.set_names(names));
        named.map(|()| Self::of(moments)).map_err(refused)
    }

    /// Add rows to the moments, and return this object.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, dim)
    ///     Rows. On an error, nothing is added. After Control-C, some of the rows may have been added.
    /// sample_weight : array-like of shape (n_rows,), optional
    ///     Weight of each row, finite and not negative. By default, weights are 1.
    #[pyo3(signature = (X, sample_weight=None))]
    fn update<'py>(
        slf: &Bound<'py, Self>,
        X: &Object<'py>,
        sample_weight: Option<&Object<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let names = slf.get().names(py)?;
        let given = as_named_table(X, names.as_deref())?;
        let found = if names.is_none() { column_names(X)? } else { None };
        let mut rows = Rows::of(&given)?;
        let count = rows.count();
        let weights = weights(sample_weight, count)?;
        if let Some((i, weight)) =
            weights.iter().flatten().enumerate().find(|(_, weight)| !(**weight >= 0.0 && weight.is_finite()))
        {
            let text = format!("entry {i} of sample_weight must be finite and not negative, got {weight}");
            return Err(PyValueError::new_err(text));
        }
        let mut moments = slf.get().moments(py)?;
        let moments = &mut *moments;
        // All rows are checked before any is added.
        each_lot(py, count, |lot| moments.check(&rows.lot(lot)).map_err(apart))?;
        let is_new = moments.rows() == 0;
        each_lot(py, count, |lot| {
            let weights = weights.as_ref().map(|weights| &weights[lot.clone()]);
            moments.update(&rows.lot(lot), weights).map_err(apart)
        })?;
        if let Some(names) = found.filter(|_| is_new && count > 0) {
            moments.set_names(names).map_err(refused)?;
        }
        Ok(slf.clone())
    }

    /// Add the rows of other moments with the same ``dim``, ``k`` and names, and return this object.
    #[pyo3(signature = (*others))]
    fn merge<'py>(slf: &Bound<'py, Self>, others: Vec<PyRef<'py, Self>>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        for other in others {
            let other = other.moments(py)?.clone();
            let mut moments = slf.get().moments(py)?;
            *moments = py.detach(|| moments.clone().merge(other)).map_err(refused)?;
        }
        Ok(slf.clone())
    }

    /// Return an :class:`OnlinePCA` that is fitted to all rows and can continue learning.
    ///
    /// No row was predicted, so the summary has no losses until the model learns further rows.
    ///
    /// Parameters
    /// ----------
    /// k : int, optional
    ///     Number of directions kept. By default, that of the constructor.
    /// standardize : bool, default=False
    ///     True to standardize columns to mean 0 and standard deviation 1, computed from all rows.
    ///     Learners other than ``"leader"`` then require a ``norm_bound``.
    /// **options
    ///     Options of :func:`eigenhedge.run`, such as ``center="none"``. The default learner is ``"leader"``, which
    ///     keeps the principal components of all rows. ``"anchored"`` and ``"product-sets"`` are also supported.
    #[pyo3(signature = (k=None, *, standardize=false, **options))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Object<'py>>,
        standardize: bool,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>> {
        let k = self.k_or_default(py, k)?;
        let options = options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy())?;
        let is_default = |name| Ok::<_, PyErr>(options.get_item(name)?.is_none_or(|value| value.is_none()));
        if is_default("learner")? {
            options.set_item("learner", "leader")?;
        }
        // At least one direction must be dropped. If all are kept, a direction is added in which all rows are zero.
        if k == self.dim(py)? && is_default("feature_dim")? {
            options.set_item("feature_dim", k + 1)?;
        }
        let (setup, _) = setup(k, Some(&options))?;
        let finished = {
            let moments = self.moments(py)?;
            let moments = &*moments;
            py.detach(|| moments.finish(&setup, standardize)).map_err(refused)?
        };
        let model = PyModel::of(State::new(finished));
        py.import("eigenhedge._snapshot")?.call_method1("estimator", (model, options.get_item("learner")?))
    }

    /// Return a lower and an upper bound on the loss of the best k-dimensional subspace of all rows.
    ///
    /// Parameters
    /// ----------
    /// k : int, optional
    ///     Dimension of the subspace. By default, that of the constructor.
    /// center, standardize : bool, default=True and False
    ///     True for losses around the mean, and for losses in standard units.
    ///
    /// Returns
    /// -------
    /// low, high : float
    ///     No subspace has a loss below ``low``. The loss of a model of :meth:`finish` on these
    ///     rows is at most ``high``. Both are equal if the moments are exact.
    #[pyo3(signature = (k=None, *, center=true, standardize=false))]
    fn best_loss(
        &self,
        py: Python<'_>,
        k: Option<&Object<'_>>,
        center: bool,
        standardize: bool,
    ) -> PyResult<(f64, f64)> {
        let k = self.k_or_default(py, k)?;
        let moments = self.moments(py)?;
        let moments = &*moments;
        let best = py.detach(|| moments.best(k, center, standardize));
        Ok((best.low(), best.high()))
    }

    /// Return the moments as bytes for :meth:`from_bytes`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.moments(py)?.to_bytes().map_err(refused)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Read moments from the result of :meth:`to_bytes`. Raise a ``ValueError`` for other or damaged bytes.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let moments = Moments::from_bytes(data);
        moments.map(Self::of).map_err(|refusal| PyValueError::new_err(format!("the state {refusal}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, "from_bytes", slf.get().to_bytes(slf.py())?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Moments dim={}, rows={}>", self.dim(py)?, self.rows(py)?))
    }
}

attributes! { PyMoments, |object, py| {
    /// int: length of a row.
    dim: usize = object.moments(py)?.length();
    /// int: maximum number of directions kept by models.
    k: usize = object.moments(py)?.kept();
    /// int: number of rows added.
    rows: u64 = object.moments(py)?.rows();
    /// int: number of rows skipped because of missing cells.
    skipped_rows: u64 = object.moments(py)?.passed_over();
    /// float: total weight of the rows.
    weight: f64 = object.moments(py)?.weight();
    /// list of str, or None: names of the columns. The value is None for columns without names.
    names: Names = object.moments(py)?.names().map(<[String]>::to_vec);
    /// ndarray of shape (dim,), or None: weighted mean of the rows.
    mean: Option<Array1<'py>> = object.moments(py)?.mean().map(|mean| mean.into_pyarray(py));
    /// ndarray of shape (dim, dim), or None: weighted sum of d dᵀ over the deviations d of rows of at most 4096 numbers.
    scatter: Option<Array2<'py>> = {
        object.moments(py)?.scatter().map(|scatter| transposed(py, &scatter)).transpose()?
    };
}}
