//! Methods of `Model` that compute coordinates of rows, and rows from coordinates, without learning.
#![expect(non_snake_case, reason = "a table is called X in Python")]

use crate::arrays::{Array1, Array2, Given, Names, Object, Rows, as_table, table};
use crate::errors::check_room;
use crate::interrupt::each_lot;
use crate::items::Points;
use crate::model::PyModel;
use crate::state::lock;
use eigenhedge::Embedding;
use numpy::IntoPyArray;
use pyo3::prelude::*;

type Embedded<'py> = (Array2<'py>, Array1<'py>);

impl PyModel {
    pub fn takes(&self, py: Python<'_>) -> PyResult<(Points, Names)> {
        let state = lock(py, &self.state)?;
        Ok((state.points.clone(), state.core.columns().names.clone()))
    }
}

#[pymethods]
impl PyModel {
    /// Return the coordinates (n_rows, k) of the rows of ``X`` in the directions most likely to be kept.
    fn transform<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array2<'py>> {
        Ok(self.embed(py, X, false)?.0)
    }

    /// Return the squared reconstruction error of each row of ``X`` by the directions most likely to be kept.
    fn losses<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array1<'py>> {
        Ok(self.embed(py, X, true)?.1)
    }

    /// Returns the coordinates and losses that each row would have as the next row in `step`.
    #[pyo3(name = "_embed_next")]
    fn embed_next<'py>(&self, py: Python<'py>, rows: &Object<'py>) -> PyResult<Embedded<'py>> {
        let (points, names) = self.takes(py)?;
        let rows = Given::new(rows, &points, names.as_deref())?;
        embedded(py, self.state(py)?.next_embedding(), &rows, &points, true)
    }

    #[pyo3(name = "_embed")]
    fn embed<'py>(&self, py: Python<'py>, rows: &Object<'py>, losses: bool) -> PyResult<Embedded<'py>> {
        let (points, names) = self.takes(py)?;
        let rows = Given::new(rows, &points, names.as_deref())?;
        embedded(py, self.embeddable(py)?.embedding(), &rows, &points, losses)
    }

    /// Return the rows with the coordinates ``X`` of shape (n_rows, k), or their pre-images with a kernel.
    fn reconstruct<'py>(&self, py: Python<'py>, X: &Object<'py>) -> PyResult<Array2<'py>> {
        let given = as_table(X)?;
        let mut coordinates = Rows::of(&given)?;
        let count = coordinates.count();
        let mut state = self.embeddable(py)?;
        let length = state.core.length();
        let model = state.embedding();
        check_room("the rows", &[2, count, length])?;
        let mut rows = Vec::with_capacity(count.saturating_mul(length));
        each_lot(py, count, |lot| model.reconstruct_block(&coordinates.lot(lot), &mut rows))?;
        table(py, rows, count, length)
    }
}

fn embedded<'py>(
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
