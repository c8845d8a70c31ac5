//! Coordinates of rows, and rows from coordinates, without learning.

use crate::arrays::{Array1, Array2, Given, Object, Rows, as_table, table};
use crate::errors::check_room;
use crate::interrupt::each_lot;
use crate::items::Points;
use crate::state::{State, embeddable};
use eigenhedge::Embedding;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use std::sync::Mutex;

pub type Embedded<'py> = (Array2<'py>, Array1<'py>);

pub fn embedded<'py>(
    py: Python<'py>,
    model: &mut Embedding,
    rows: &Given<'py>,
    points: &Points,
    with_losses: bool,
) -> PyResult<Embedded<'py>> {
    let mut rows = Rows::given(rows)?;
    let (count, kept) = (rows.count(), model.kept());
    check_room("the coordinates of the rows", &[2, count, kept])?;
    let mut losses = Vec::with_capacity(if with_losses { count } else { 0 });
    let mut coordinates = Vec::with_capacity(count.saturating_mul(kept));
    let work = |lot| model.transform_block(&rows.lot(lot), &mut coordinates, with_losses, |loss| losses.push(loss));
    points.told(each_lot(py, count, work))?;
    Ok((table(py, coordinates, count, kept)?, losses.into_pyarray(py)))
}

pub fn reconstructed<'py>(py: Python<'py>, state: &Mutex<State>, coordinates: &Object<'py>) -> PyResult<Array2<'py>> {
    let given = as_table(coordinates)?;
    let mut coordinates = Rows::of(&given)?;
    let count = coordinates.count();
    let mut state = embeddable(py, state)?;
    let length = state.core.length();
    let model = state.embedding();
    check_room("the rows", &[2, count, length])?;
    let mut rows = Vec::with_capacity(count.saturating_mul(length));
    each_lot(py, count, |lot| model.reconstruct_block(&coordinates.lot(lot), &mut rows))?;
    table(py, rows, count, length)
}
