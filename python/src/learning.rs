//! Learning from tables of rows.

use crate::arrays::{Array1, Array2, Given, Names, Object, Rows, as_table, numbers, table};
use crate::errors::{apart, check_room, refused, refused_row};
use crate::interrupt::{MOST, alone, each, each_lot};
use crate::items::Points;
use crate::pages::write_run;
use crate::sparse::{Csr, CsrRows};
use crate::state::{State, lock, settled};
use eigenhedge::{Loss, Matrix, Model};
use eigenhedge_pages::run::Recorder;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::Mutex;

/// Smallest number of rows that are learned as a set. Fewer rows are faster one by one.
const LEAST_SET: usize = 32;

/// Expected losses, losses and coordinates of rows.
pub type Answers<'py> = (Array1<'py>, Array1<'py>, Array2<'py>);

/// Rows whose missing cells are filled in, and the standard errors of these cells.
pub type Fills<'py> = (Array2<'py>, Array2<'py>);

/// Learns from every row, in order. On an error, the previous rows have been learned.
pub fn learn(
    py: Python<'_>,
    state: &Mutex<State>,
    rows: &Object<'_>,
    sample_weight: Option<&Object<'_>>,
) -> PyResult<()> {
    let (points, given, names) = taken(py, state, rows)?;
    let mut rows = Rows::given(&given)?;
    let (count, length) = (rows.count(), rows.length());
    let mut state = settled(py, state)?;
    let state = &mut *state;
    if length != state.core.length() && count > 0 {
        let (expected, found) = (state.core.length(), length);
        return Err(refused(eigenhedge::Error::Length { what: "row", expected, found }));
    }
    settle(state, &mut rows)?;
    state.ask(false, false).map_err(refused)?;
    let weights = weights(sample_weight, count)?;
    let outcome = each_lot(py, count, |lot| match &weights {
        None => state.learn(|model| model.step_all(&rows.lot(lot), |_| ())),
        Some(weights) => state.learn(|model| {
            let weighted = rows.lot(lot.clone()).into_iter().zip(&weights[lot]);
            weighted.enumerate().try_for_each(|(i, (row, weight))| {
                model.step_batch(&[row], Some(&[*weight])).map(drop).map_err(|error| (i, error))
            })
        }),
    });
    points.forget(&state.core);
    state.name(names);
    points.told(outcome)
}

/// Converts the rows that a model learns from. Returns their type, the rows, and the column names of the first table.
fn taken<'py>(py: Python<'py>, state: &Mutex<State>, rows: &Object<'py>) -> PyResult<(Points, Given<'py>, Names)> {
    let (points, names, is_new) = {
        let state = settled(py, state)?;
        (state.points.clone(), state.core.columns().names.clone(), state.core.totals().rows == 0)
    };
    let given = Given::new(rows, &points, names.as_deref())?;
    let found = if is_new && names.is_none() { given.names(rows)? } else { None };
    Ok((points, given, found))
}

/// Adds rows to the moments of a model, if it takes them, and returns true. Nothing is predicted. On an error, no row of
/// this call has been learned. Returns false if the model must learn row by row.
pub fn collect(py: Python<'_>, state: &Mutex<State>, rows: &Object<'_>) -> PyResult<bool> {
    let given = as_table(rows)?;
    let mut rows = Rows::of(&given)?;
    let mut state = lock(py, state)?;
    let state = &mut *state;
    if !state.core.takes_moments() {
        return Ok(false);
    }
    settle(state, &mut rows)?;
    let count = rows.count();
    let mut moments = state.take_moments().map_err(refused)?;
    let core = &state.core;
    // A few rows are added as a whole or not at all.
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

/// Learns a set of rows at once, if the learner depends on the set of rows only and the set is large enough to be faster
/// than single rows. Returns false if nothing was learned.
pub fn learn_set(py: Python<'_>, state: &Mutex<State>, rows: &Object<'_>) -> PyResult<bool> {
    let (points, given, names) = taken(py, state, rows)?;
    let mut rows = Rows::given(&given)?;
    let mut state = settled(py, state)?;
    let state = &mut *state;
    if rows.count() < LEAST_SET || !state.core.learns_sets() {
        return Ok(false);
    }
    settle(state, &mut rows)?;
    let (mut core, rows) = (state.core.clone(), rows.all());
    let outcome = alone(py, move || {
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        core.learn_set(&rows).map(|()| core)
    })?;
    let core = points.told(outcome.map_err(|(row, error)| refused_row(row, &error)))?;
    state.learn(|model| *model = core);
    points.forget(&state.core);
    state.name(names);
    Ok(true)
}

pub fn learn_sparse(py: Python<'_>, state: &Mutex<State>, table: &Csr<'_>) -> PyResult<()> {
    let mut state = settled(py, state)?;
    let state = &mut *state;
    let points = state.points.clone();
    let mut rows = CsrRows::new(table, state.core.length())?;
    state.ask(false, false).map_err(refused)?;
    let outcome = each(py, rows.count(), |i| rows.step(i, state));
    points.forget(&state.core);
    points.told(outcome)
}

pub fn step_batch(
    py: Python<'_>,
    state: &Mutex<State>,
    rows: &Object<'_>,
    sample_weight: Option<&Object<'_>>,
) -> PyResult<Loss> {
    let (points, given, names) = taken(py, state, rows)?;
    let mut rows = Rows::given(&given)?;
    let count = rows.count();
    let weights = weights(sample_weight, count)?;
    let mut state = settled(py, state)?;
    state.ask(false, false).map_err(refused)?;
    let outcome = state.learn(|model| model.step_batch(&rows.lot(0..count), weights.as_deref()));
    let loss = points.told(outcome.map_err(refused))?;
    points.forget(&state.core);
    state.name(names);
    Ok(loss)
}

/// Runs one trial per row. Also returns the reconstructed rows if `reconstructions` is true, and the filled cells with their
/// standard errors if `filled` is true. Rows without missing cells are zero there. Writes the page of the run to `report`.
pub fn step_each<'py>(
    py: Python<'py>,
    state: &Mutex<State>,
    rows: &Object<'py>,
    reconstructions: bool,
    filled: bool,
    report: Option<&Path>,
) -> PyResult<(Answers<'py>, Option<Array2<'py>>, Option<Fills<'py>>)> {
    let (points, given, names) = taken(py, state, rows)?;
    let mut rows = Rows::given(&given)?;
    let (count, length) = (rows.count(), rows.length());
    let mut state = settled(py, state)?;
    let state = &mut *state;
    state.ask(true, reconstructions).map_err(refused)?;
    let kept = state.core.spec().kept;
    let projected = if reconstructions { length } else { 0 } + if filled { 2 * length } else { 0 };
    check_room("the coordinates of the rows", &[2, count, kept.saturating_add(projected)])?;
    let (mut expected, mut losses) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut coordinates = Vec::with_capacity(count.saturating_mul(kept));
    let (mut projections, mut cells, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let zeros = vec![0.0; length];
    let mut recorder = report.map(|_| Recorder::new(&state.core, false));
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
    settle(state, &mut rows)?;
    let outcome = each_lot(py, count, |lot| state.learn(|model| model.step_each(&rows.lot(lot), &mut tell)));
    points.forget(&state.core);
    state.name(names);
    points.told(outcome)?;
    if let (Some(path), Some(recorder)) = (report, &mut recorder) {
        write_run(path, recorder, &state.core)?;
    }
    let answers = (expected.into_pyarray(py), losses.into_pyarray(py), table(py, coordinates, count, kept)?);
    let projections = reconstructions.then(|| table(py, projections, count, length)).transpose()?;
    let filled = filled
        .then(|| PyResult::Ok((table(py, cells, count, length)?, table(py, errors, count, length)?)))
        .transpose()?;
    Ok((answers, projections, filled))
}

pub fn filled<'py>(py: Python<'py>, state: &Mutex<State>, rows: &Object<'py>) -> PyResult<Fills<'py>> {
    let (points, given, _) = taken(py, state, rows)?;
    let mut rows = Rows::given(&given)?;
    let (count, length) = (rows.count(), rows.length());
    let mut state = settled(py, state)?;
    let state = &mut *state;
    check_room("the filled rows", &[2, count, length])?;
    let (mut cells, mut errors) = (Vec::new(), Vec::new());
    let outcome = each(py, count, |i| {
        let fill = state.core.fill(rows.row(i))?;
        cells.extend_from_slice(&fill.row);
        errors.extend_from_slice(&fill.errors);
        Ok(())
    });
    points.told(outcome)?;
    Ok((table(py, cells, count, length)?, table(py, errors, count, length)?))
}

/// Estimates the scale of the columns from warm-up rows. Returns true if more rows are needed.
pub fn warm_up(state: &mut State, rows: &mut Rows<'_>) -> PyResult<bool> {
    if !state.core.columns().standardizer.is_warming_up() {
        return Ok(false);
    }
    let count = rows.count();
    let each = (0..count).map(|i| rows.row(i).to_vec());
    state.core.warm_up(each).map_err(|(row, error)| refused_row(row, &error))
}

/// Adds these rows to the warm-up and ends it. Does nothing without a warm-up.
fn settle(state: &mut State, rows: &mut Rows<'_>) -> PyResult<()> {
    if rows.count() > 0 && warm_up(state, rows)? {
        state.core.settle();
    }
    Ok(())
}

/// Converts the weights of the rows to numbers, if they are given. There must be `count` weights.
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
