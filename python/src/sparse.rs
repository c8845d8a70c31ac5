//! Rows of a sparse table in CSR form.

use crate::state::State;
use eigenhedge::Error;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Cells of a sparse table: start of each row and end of the last, column of each cell, value of each cell.
#[derive(FromPyObject)]
pub struct Csr<'py>(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>);

pub struct CsrRows<'a> {
    starts: &'a [i64],
    columns: &'a [u32],
    values: &'a [f64],
    row: Vec<f64>,
}

impl<'a> CsrRows<'a> {
    pub fn new(csr: &'a Csr<'_>, length: usize) -> PyResult<Self> {
        let (starts, columns, values) = (csr.0.as_slice()?, csr.1.as_slice()?, csr.2.as_slice()?);
        let in_order = starts.is_sorted() && starts.first().is_none_or(|first| *first >= 0);
        let fits = starts.last().is_none_or(|end| *end as usize <= columns.len()) && columns.len() == values.len();
        if !(in_order && fits && columns.iter().all(|column| (*column as usize) < length)) {
            return Err(PyValueError::new_err("the cells of a sparse table must lie in its rows and columns"));
        }
        Ok(Self { starts, columns, values, row: vec![0.0; length] })
    }

    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn step(&mut self, i: usize, state: &mut State) -> Result<(), Error> {
        let cells = self.starts[i] as usize..self.starts[i + 1] as usize;
        let (columns, values) = (&self.columns[cells.clone()], &self.values[cells]);
        columns.iter().zip(values).for_each(|(column, value)| self.row[*column as usize] = *value);
        let outcome = state.learn(|model| model.step_filled(&self.row, columns));
        columns.iter().for_each(|column| self.row[*column as usize] = 0.0);
        outcome.map(drop)
    }
}
