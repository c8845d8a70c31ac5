//! Checks of rows of numbers.

use crate::error::Error;

/// Rejects a row of the wrong length or with an entry that is not finite.
pub(crate) fn check_row(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    if row.len() != length {
        return Err(Error::Length { what, expected: length, found: row.len() });
    }
    match row.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::Entry { what, index, rule: "finite", value: row[index] }),
        None => Ok(()),
    }
}
