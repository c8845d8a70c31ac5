//! Checks of rows of numbers.

use crate::error::{Error, every};

/// Rejects a row of the wrong length or with an entry that is not finite.
pub(crate) fn check_row(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    if row.len() != length {
        return Err(Error::Length { what, expected: length, found: row.len() });
    }
    every(what, row, "finite", f64::is_finite)
}

/// Rejects a row of the wrong length or with an entry that is infinite: one that is NaN is a missing cell.
pub(crate) fn check_cells(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    if row.len() != length {
        return Err(Error::Length { what, expected: length, found: row.len() });
    }
    every(what, row, "finite or missing", |x| x.is_finite() || x.is_nan())
}
