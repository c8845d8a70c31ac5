//! Conversion of errors to Python exceptions.

use crate::spelling::spelling;
use eigenhedge::Error;
use eigenhedge::internals::{check_numbers, product};
use eigenhedge::options::{exact, spelled};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::{PyErr, PyResult};
use std::borrow::Borrow;
use std::fmt::Display;

pub fn refused(error: impl Borrow<Error>) -> PyErr {
    match error.borrow() {
        error @ Error::Memory { .. } => PyMemoryError::new_err(sentence(error)),
        error => PyValueError::new_err(sentence(error)),
    }
}

pub fn file_refused(error: impl Display) -> PyErr {
    PyOSError::new_err(format!("{error:#}"))
}

/// Returns a `MemoryError` if an array of this shape does not fit into memory.
pub fn check_room(what: &'static str, sizes: &[usize]) -> PyResult<()> {
    check_numbers(what, product(sizes)).map_err(refused)
}

pub fn refused_row(row: usize, error: &Error) -> PyErr {
    PyValueError::new_err(format!("row {row}: {}", sentence(error)))
}

/// Splits an error about one of several rows into the index of the row and the cause.
pub fn apart(error: Error) -> (usize, Error) {
    match error {
        Error::At { point, error } => (point, *error),
        error => (0, error),
    }
}

fn sentence(error: &Error) -> String {
    match error {
        // The message contains scikit-learn's phrase for such an error.
        Error::Entry { what: "row", index, rule: "finite", value } => {
            let name = if value.is_nan() { "NaN" } else { "infinity" };
            format!("entry {index} of the row must be finite, got {value} (Input X contains {name})")
        }
        Error::At { point, error } => format!("row {point}: {}", sentence(error)),
        Error::Store(reason) => format!("{error}: {reason}"),
        Error::Parameter { .. } | Error::Name { .. } => spelled(error, spelling),
        Error::Norm { norm, bound } => {
            format!("the norm of the row must not exceed the norm bound {}, got {}", exact(*bound), exact(*norm))
        }
        Error::Overflow { largest } => {
            format!("the squared norm of the row must be finite, got a largest entry of {}", exact(*largest))
        }
        other => other.to_string(),
    }
}
