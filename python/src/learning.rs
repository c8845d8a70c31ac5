//! Methods of `Model` that learn from rows.
#![expect(non_snake_case, reason = "a table is called X in Python")]

use crate::arrays::{Array1, Array2, Given, Object, Rows, as_table, named_numbers, numbers, table};
use crate::errors::{apart, check_room, refused, refused_row};
use crate::interrupt::{MOST, alone, each, each_lot};
use crate::model::PyModel;
use crate::pages::write_run;
use crate::sparse::{Csr, CsrRows};
use crate::state::{State, lock};
use crate::trial::Trial;
use eigenhedge::{Error, Loss, Matrix, Model};
use eigenhedge_pages::run::Recorder;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Fewer rows are learned faster one by one.
const LEAST_SET: usize = 32;

/// Expected losses, losses and coordinates.
type Answers<'py> = (Array1<'py>, Array1<'py>, Array2<'py>);

/// Rows whose missing cells are filled in, and the standard errors of these cells.
type Fills<'py> = (Array2<'py>, Array2<'py>);

#[pymethods]
impl PyModel {
    /// Run one trial: choose a subspace, record the loss of the row, learn from the row.
    ///
    /// Parameters
    /// ----------
    /// x : array-like of shape (dim,)
    ///     Row. For a kernel of texts or sets, a text, or a set or list of items. For a kernel function, any object.
    /// matrix : array-like of shape (dim, dim)
    ///     Symmetric positive semidefinite matrix instead of a row, such as the covariance matrix of a day. The loss
    ///     is its trace along the dropped directions. Requires plain rows without a center and without
    ///     standardization. The coordinates are zero.
    /// rows : int, default=1
    ///     Number of rows that the matrix represents. With the sum of ``x xᵀ`` over the rows of a batch, the step is
    ///     that of :meth:`step_batch`.
    ///
    /// Returns
    /// -------
    /// Trial
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

    /// Runs one trial with a symmetric matrix that the caller has divided by the scale of the model.
    #[pyo3(name = "_step_standard_matrix")]
    fn step_standard_matrix(&self, py: Python<'_>, matrix: &Object<'_>, rows: u64) -> PyResult<()> {
        let matrix = square(matrix)?;
        let mut state = self.state(py)?;
        let state = &mut *state;
        state.ask(false, false).map_err(refused)?;
        py.detach(|| state.learn(|model| model.step_scaled_matrix(&matrix, rows))).map(drop).map_err(refused)
    }

    /// Learn from each row, in order. Return nothing.
    ///
    /// This method is faster than :meth:`step_each` and learns the same state. It does not update the basis of aligned
    /// coordinates, so later rows may have coordinates in another basis of the subspace.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, dim)
    ///     Rows. On an error or Control-C, the rows before it have been learned.
    /// sample_weight : array-like of shape (n_rows,), optional
    ///     Weight of each row, from 0 (skip the row) to 1e150. Requires plain rows without standardization.
    #[pyo3(signature = (X, sample_weight=None))]
    fn learn(&self, py: Python<'_>, X: &Object<'_>, sample_weight: Option<&Object<'_>>) -> PyResult<()> {
        self.with_rows(X, |state, rows| {
            let (count, found, expected) = (rows.count(), rows.length(), state.core.length());
            if found != expected && count > 0 {
                return Err(refused(Error::Length { what: "row", expected, found }));
            }
            settle(state, rows)?;
            state.ask(false, false).map_err(refused)?;
            let weights = weights(sample_weight, count)?;
            each_lot(py, count, |lot| match &weights {
                None => state.learn(|model| model.step_all(&rows.lot(lot), |_| ())),
                Some(weights) => state.learn(|model| {
                    let weighted = rows.lot(lot.clone()).into_iter().zip(&weights[lot]);
                    weighted.enumerate().try_for_each(|(i, (row, weight))| {
                        model.step_batch(&[row], Some(&[*weight])).map(drop).map_err(|error| (i, error))
                    })
                }),
            })
        })
    }

    /// Adds rows to the moments of the model, all or none, or returns false if it must learn row by row.
    #[pyo3(name = "_collect")]
    fn collect(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        let given = as_table(rows)?;
        let mut rows = Rows::of(&given)?;
        let mut state = lock(py, &self.state)?;
        let state = &mut *state;
        if !state.core.takes_moments() {
            return Ok(false);
        }
        settle(state, &mut rows)?;
        let count = rows.count();
        let mut moments = state.take_moments().map_err(refused)?;
        let core = &state.core;
        // A single range of rows is added as a whole or not at all, so no copy is needed.
        let before = (count > MOST).then(|| moments.clone());
        let outcome = match &before {
            None => moments.update_for(core, &rows.lot(0..count)).map_err(apart).map_err(|(i, e)| refused_row(i, &e)),
            Some(_) => each_lot(py, count, |lot| moments.update_for(core, &rows.lot(lot)).map_err(apart)),
        };
        state.moments = Some(match (&outcome, before) {
            (Err(_), Some(before)) => before,
            _ => moments,
        });
        outcome.map(|()| true)
    }

    /// Learns all rows at once, or returns false for too few rows or a model that depends on their order.
    #[pyo3(name = "_learn_set")]
    fn learn_set(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        self.with_rows(rows, |state, rows| {
            if rows.count() < LEAST_SET || !state.core.learns_sets() {
                return Ok(false);
            }
            settle(state, rows)?;
            let (mut core, rows) = (state.core.clone(), rows.all());
            let outcome = alone(py, move || {
                let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
                core.learn_set(&rows).map(|()| core)
            })?;
            let core = outcome.map_err(|(row, error)| refused_row(row, &error))?;
            state.learn(|model| *model = core);
            Ok(true)
        })
    }

    #[pyo3(name = "_learn_sparse")]
    fn learn_sparse(&self, py: Python<'_>, table: Csr<'_>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let state = &mut *state;
        let points = state.points.clone();
        let mut rows = CsrRows::new(&table, state.core.length())?;
        state.ask(false, false).map_err(refused)?;
        let outcome = each(py, rows.count(), |i| rows.step(i, state));
        points.forget(&state.core);
        points.told(outcome)
    }

    /// Run one trial for all rows: choose a subspace, sum the losses of the rows, update once.
    ///
    /// Without a center, bounds depend on the largest eigenvalue of the sum of ``x xᵀ`` over the rows of a batch,
    /// instead of the squared norm of a row. A given ``norm_bound`` must be at least the square root of this
    /// eigenvalue. With a center, all rows are learned around the present center, and there is no bound. If the model
    /// has learned fewer rows than the batch has, a batch with a center is learned row by row.
    ///
    /// Parameters
    /// ----------
    /// X : array-like of shape (n_rows, dim)
    ///     Rows of the batch, without standardization. On an error, nothing is learned.
    /// sample_weight : array-like of shape (n_rows,), optional
    ///     Weight of each row, from 0 to 1e150. Not possible with a center.
    ///
    /// Returns
    /// -------
    /// expected_loss, loss : float
    ///     Sums over the rows of the batch.
    #[pyo3(signature = (X, sample_weight=None))]
    fn step_batch(&self, py: Python<'_>, X: &Object<'_>, sample_weight: Option<&Object<'_>>) -> PyResult<(f64, f64)> {
        self.with_rows(X, |state, rows| {
            let count = rows.count();
            let weights = weights(sample_weight, count)?;
            state.ask(false, false).map_err(refused)?;
            let outcome = py.detach(|| state.learn(|model| model.step_batch(&rows.lot(0..count), weights.as_deref())));
            outcome.map(|loss| (loss.expected, loss.realised)).map_err(refused)
        })
    }

    /// Run one trial per row of ``X``, in order.
    ///
    /// On an error or Control-C, the rows before it have been learned.
    ///
    /// Returns
    /// -------
    /// expected_losses, losses, coordinates : ndarrays of shape (n_rows,), (n_rows,) and (n_rows, k)
    ///     Results of the rows, as in :class:`Trial`.
    fn step_each<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Answers<'py>> {
        Ok(self.step_each_with(py, X, false, false, None)?.0)
    }

    /// Runs one trial per row, and writes the page of the run to `report`. With `filled`, also returns the rows with
    /// their missing cells filled in, or zeros for complete rows, and the standard errors of these cells.
    #[pyo3(name = "_step_each")]
    fn step_each_with<'py>(
        &self,
        py: Python<'py>,
        rows: &Object<'py>,
        reconstructions: bool,
        filled: bool,
        report: Option<PathBuf>,
    ) -> PyResult<(Answers<'py>, Option<Array2<'py>>, Option<Fills<'py>>)> {
        self.with_rows(rows, |state, rows| {
            let (count, length) = (rows.count(), rows.length());
            state.ask(true, reconstructions).map_err(refused)?;
            let kept = state.core.spec().kept;
            let projected = if reconstructions { length } else { 0 } + if filled { 2 * length } else { 0 };
            check_room("the coordinates of the rows", &[2, count, kept.saturating_add(projected)])?;
            let (mut expected, mut losses) = (Vec::with_capacity(count), Vec::with_capacity(count));
            let mut coordinates = Vec::with_capacity(count.saturating_mul(kept));
            let (mut projections, mut cells, mut errors) = (Vec::new(), Vec::new(), Vec::new());
            let zeros = vec![0.0; length];
            let mut recorder = report.as_ref().map(|_| Recorder::new(&state.core, false));
            let mut tell = |run: &Model, loss: Loss| {
                recorder.iter_mut().for_each(|recorder| recorder.enter(expected.len() as u64, None, loss, run));
                expected.push(loss.expected);
                losses.push(loss.realised);
                coordinates.extend_from_slice(run.coordinates());
                if reconstructions {
                    projections.extend_from_slice(run.reconstruction());
                }
                if filled {
                    let fill = run.filled();
                    cells.extend_from_slice(fill.map_or(&zeros[..], |fill| &fill.row));
                    errors.extend_from_slice(fill.map_or(&zeros[..], |fill| &fill.errors));
                }
            };
            settle(state, rows)?;
            each_lot(py, count, |lot| state.learn(|model| model.step_each(&rows.lot(lot), &mut tell)))?;
            if let (Some(path), Some(recorder)) = (&report, &mut recorder) {
                write_run(path, recorder, &state.core)?;
            }
            let answers = (expected.into_pyarray(py), losses.into_pyarray(py), table(py, coordinates, count, kept)?);
            let projections = reconstructions.then(|| table(py, projections, count, length)).transpose()?;
            let fills = || PyResult::Ok((table(py, cells, count, length)?, table(py, errors, count, length)?));
            Ok((answers, projections, filled.then(fills).transpose()?))
        })
    }

    /// Estimates the scale of the columns from warm-up rows. Returns true if more rows are needed.
    #[pyo3(name = "_warm_up")]
    fn warm_up(&self, py: Python<'_>, rows: &Object<'_>) -> PyResult<bool> {
        let given = as_table(rows)?;
        warm_up(&mut *self.state(py)?, &mut Rows::of(&given)?)
    }

    /// Return the rows of ``X`` with missing cells filled in, and the standard errors of these cells.
    ///
    /// Nothing is learned. Each row is treated as the row after those learned. A missing cell stays NaN if its column
    /// had no value in the learned rows. The standard errors of other cells are 0.
    ///
    /// Returns
    /// -------
    /// filled, errors : ndarray of shape (n_rows, n_columns)
    fn filled<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Fills<'py>> {
        self.with_rows(X, |state, rows| {
            let (count, length) = (rows.count(), rows.length());
            check_room("the filled rows", &[2, count, length])?;
            let (mut cells, mut errors) = (Vec::new(), Vec::new());
            each(py, count, |i| {
                let fill = state.core.fill(rows.row(i))?;
                cells.extend_from_slice(&fill.row);
                errors.extend_from_slice(&fill.errors);
                Ok(())
            })?;
            Ok((table(py, cells, count, length)?, table(py, errors, count, length)?))
        })
    }
}

impl PyModel {
    /// Runs `work` with the rows of a call. Then drops unused objects and sets the column names of a first table.
    fn with_rows<T>(
        &self,
        object: &Object<'_>,
        work: impl FnOnce(&mut State, &mut Rows<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let py = object.py();
        let (points, names, is_new) = {
            let state = self.state(py)?;
            (state.points.clone(), state.core.columns().names.clone(), state.core.totals().rows == 0)
        };
        let given = Given::new(object, &points, names.as_deref())?;
        let names = if is_new && names.is_none() { given.names(object)? } else { None };
        let mut state = self.state(py)?;
        let outcome = work(&mut state, &mut Rows::given(&given)?);
        points.forget(&state.core);
        state.name(names);
        points.told(outcome)
    }
}

fn warm_up(state: &mut State, rows: &mut Rows<'_>) -> PyResult<bool> {
    if !state.core.columns().standardizer.is_warming_up() {
        return Ok(false);
    }
    let count = rows.count();
    let each = (0..count).map(|i| rows.row(i).to_vec());
    state.core.warm_up(each).map_err(|(row, error)| refused_row(row, &error))
}

/// Adds rows to the warm-up, if there is one, and ends it even if more rows are needed.
fn settle(state: &mut State, rows: &mut Rows<'_>) -> PyResult<()> {
    if rows.count() > 0 && warm_up(state, rows)? {
        state.core.settle();
    }
    Ok(())
}

pub fn weights(given: Option<&Object<'_>>, count: usize) -> PyResult<Option<Vec<f64>>> {
    let Some(weights) = given.map(|given| numbers(given)).transpose()? else { return Ok(None) };
    if weights.len() != count {
        let text = format!("sample_weight must have one number for each of {count} rows, got {}", weights.len());
        return Err(PyValueError::new_err(text));
    }
    Ok(Some(weights))
}

pub fn square(object: &Object<'_>) -> PyResult<Matrix> {
    let given = as_table(object)?;
    let mut rows = Rows::of(&given)?;
    let (count, length) = (rows.count(), rows.length());
    if count != length {
        return Err(PyValueError::new_err(format!("the matrix must be square, got shape ({count}, {length})")));
    }
    let mut matrix = Matrix::zeros(count, count);
    (0..count).for_each(|i| matrix.column_mut(i).copy_from_slice(rows.row(i)));
    Ok(matrix)
}
