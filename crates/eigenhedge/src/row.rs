//! Checks of rows of numbers.

use crate::error::{Error, every};
use crate::state;

/// Returns `Err` for a wrong length or a non-finite entry. `what` names the row in the error.
pub(crate) fn check_row(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    state::length(what, row.len(), length)?;
    every(what, row, "finite", f64::is_finite)
}

/// Returns `Err` for a wrong length or an infinite entry. NaN entries are allowed as missing cells.
pub(crate) fn check_cells(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    state::length(what, row.len(), length)?;
    every(what, row, "finite or missing", |x| x.is_finite() || x.is_nan())
}
