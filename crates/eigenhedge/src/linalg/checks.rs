//! Checks of deserialized matrices.

use super::Matrix;
use crate::error::{Error, require};
use crate::state::{TRACE, energy, entries};
use std::ops::RangeInclusive;

pub(crate) const DRIFT: f64 = 1e-6;

pub(crate) fn shape(what: &'static str, matrix: &Matrix, rows: usize, columns: usize) -> Result<(), Error> {
    let (expected, found) = ((rows, columns), (matrix.rows(), matrix.columns()));
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

pub(crate) fn matrix_entries(what: &'static str, matrix: &Matrix, range: RangeInclusive<f64>) -> Result<(), Error> {
    (0..matrix.columns()).try_for_each(|j| entries(what, matrix.column(j), range.clone()))
}

pub(crate) fn energies(what: &'static str, matrix: &Matrix) -> Result<(), Error> {
    energy(what, matrix.energy())
}

pub(crate) fn orthonormal(what: &'static str, matrix: &Matrix) -> Result<(), Error> {
    matrix_entries(what, matrix, -2.0..=2.0)?;
    let value = matrix.drift();
    require(value <= DRIFT, what, "orthonormal: it deviates too far", value).map(drop)
}

/// Checks the lower triangle of a square scatter matrix and returns its trace. Up to rounding, no absolute entry may
/// exceed the mean of the diagonal entries in its row and column.
pub(crate) fn scatter(what: &'static str, matrix: &Matrix) -> Result<f64, Error> {
    shape(what, matrix, matrix.columns(), matrix.columns())?;
    let diagonal = |j: usize| matrix.column(j)[j];
    let trace = matrix.trace();
    energy(what, trace)?;
    let slack = TRACE * trace;
    for j in 0..matrix.columns() {
        for (row, value) in matrix.column(j).iter().enumerate().skip(j) {
            let most = 0.5 * (diagonal(row) + diagonal(j)) + slack;
            if !(value.abs() <= most && diagonal(j) >= -slack) {
                return Err(Error::MatrixEntry { what, row, column: j, rule: "possible there", value: *value });
            }
        }
    }
    Ok(trace)
}
