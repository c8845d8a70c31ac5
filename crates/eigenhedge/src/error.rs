//! Error type of the crate. Errors about values name the item, the rule that it violates and the value.

use crate::num::LARGEST_TOTAL;
use std::{io, sync::Arc};

/// Error caused by user data, parameters or storage.
///
/// Unless documented otherwise, a function that returns an error leaves its state unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the fields")]
pub enum Error {
    /// A parameter violates its rule.
    #[error("{name} must be {rule}, got {value}")]
    Parameter { name: &'static str, rule: &'static str, value: f64 },
    /// The number k of directions or experts to keep is out of range.
    #[error("k must be at least 1 and less than the dimension {dimension}, got {kept}")]
    Kept { kept: usize, dimension: usize },
    /// A row, weight vector or matrix has the wrong length.
    #[error("{what} must have {expected} entries, got {found}")]
    Length { what: &'static str, expected: usize, found: usize },
    /// A matrix has the wrong shape.
    #[error("{what} must be {} × {}, got {} × {}", expected.0, expected.1, found.0, found.1)]
    Shape { what: &'static str, expected: (usize, usize), found: (usize, usize) },
    /// An entry of a row, weight vector or matrix violates a rule.
    #[error("entry {index} of the {what} must be {rule}, got {value}")]
    Entry { what: &'static str, index: usize, rule: &'static str, value: f64 },
    /// The norm of the row, after centering if the learner centers, or of its features exceeds the given norm bound.
    #[error("the norm of the row must not exceed the norm bound {bound}, got {norm}")]
    Norm { norm: f64, bound: f64 },
    /// The squared norm of the row or of its features overflows.
    #[error("the squared norm of the row must be finite, got a row whose largest entry is {largest}")]
    Overflow { largest: f64 },
    /// The row is not zero, but its squared norm underflows to zero or to a subnormal number.
    #[error(
        "the squared norm of the row must be zero or at least 2.3e-308, got a row (less the center, if there is one) whose \
         largest entry is {largest:e}: multiply all rows by a constant"
    )]
    Underflow { largest: f64 },
    /// The sum of the squared norms of all rows overflows.
    #[error("the squared norms of all rows must add up to less than 4.4e304, got {square:e} more than {total:e}")]
    Total { square: f64, total: f64 },
    /// The kernel of the row with an atom, or with itself, returned a value that is impossible for an inner product.
    #[error("the kernel of the row with {} must be {rule}, got {value}", partner(atom))]
    KernelValue { atom: Option<usize>, rule: &'static str, value: f64 },
    /// An entry of a matrix violates a rule.
    #[error("entry ({row}, {column}) of the {what} must be {rule}, got {value}")]
    MatrixEntry { what: &'static str, row: usize, column: usize, rule: &'static str, value: f64 },
    /// The index of a point is out of range.
    #[error("the index must be less than {size}, got {index}")]
    Index { index: usize, size: usize },
    /// There are too few rows for a warm-up, a reference or a model.
    #[error("there must be at least {least} rows, got {rows}")]
    TooFewRows { rows: usize, least: usize },
    /// A combination of settings is unsupported.
    #[error("{0}")]
    Unsupported(&'static str),
    /// States cannot be merged: they differ in their settings, or their result depends on the order of rows.
    #[error("cannot be merged: {0}")]
    Merge(String),
    /// The store of a fleet could not save or load a learner. The cause is the [source](std::error::Error::source).
    #[error("a learner that was put away cannot be read or written")]
    Store(#[source] StoreError),
    /// A string is not a known name.
    #[error("{what} must be {rule}, got '{text}'")]
    Name { what: &'static str, rule: String, text: String },
    /// An object does not fit into memory, or exceeds the limit set by [`set_max_memory`](crate::set_max_memory).
    #[error("{what} would take {gigabytes:.3} GB of memory, more than there is")]
    Memory { what: &'static str, gigabytes: f64 },
    /// The computation was cancelled.
    #[error("the computation was cancelled")]
    Cancelled,
    /// A state was not saved, because its saved form cannot be read. The text gives the reason.
    #[error("a state that cannot be read again is not saved: its file {0}")]
    Unreadable(String),
    /// A saved state is invalid.
    #[error("{0}")]
    State(&'static str),
    /// One point of a list is invalid. `Display` includes the message of its error, so `source` does not return it.
    #[error("point {point}: {error}")]
    At { point: usize, error: Box<Error> },
}

/// I/O error of a [`Store`](crate::Store).
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Arc<io::Error>);

impl StoreError {
    /// Returns the I/O error.
    pub fn io(&self) -> &io::Error {
        &self.0
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind() == other.0.kind() && self.0.to_string() == other.0.to_string()
    }
}

impl Error {
    /// Adds the index of the point that caused the error, except to [`Self::Cancelled`].
    pub fn at(self, point: usize) -> Self {
        if self == Self::Cancelled {
            return self;
        }
        Self::At { point, error: Box::new(self) }
    }

    pub(crate) fn name(what: &'static str, names: &[&str], text: &str) -> Self {
        let rule = match names {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            names => names.concat(),
        };
        Self::Name { what, rule, text: text.to_owned() }
    }
}

/// Adds `ALL`, `name`, `Display` and `FromStr` to an enum, from the names of its values.
macro_rules! by_name {
    ($type:ty, $what:literal, $count:literal, $($value:ident => $name:literal),+) => {
        impl $type {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; $count] = [$(Self::$value),+];

            /// Returns the name that users type.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|value| value.name() == text);
                found.ok_or_else(|| $crate::error::Error::name($what, &Self::ALL.map(Self::name), text))
            }
        }
    };
}

/// Adds `Display` and `FromStr` to an enum, from the names of its values. The last value contains a
/// number of rows and is written `name:ROWS`.
macro_rules! by_name_or_rows {
    ($type:ty, $what:literal, $($value:ident => $name:literal),+; $last:ident => $word:literal) => {
        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = match text.split_once(':') {
                    $(None if text == $name => Some(Self::$value),)+
                    Some(($word, rows)) => rows.parse().ok().filter(|rows| *rows > 0).map(Self::$last),
                    _ => None,
                };
                found.ok_or_else(|| $crate::error::Error::name($what, &[$($name,)+ concat!($word, ":ROWS")], text))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$value => out.write_str($name),)+
                    Self::$last(rows) => write!(out, concat!($word, ":{}"), rows),
                }
            }
        }
    };
}
pub(crate) use {by_name, by_name_or_rows};

fn partner(atom: &Option<usize>) -> String {
    atom.map_or_else(|| "itself".into(), |atom| format!("atom {atom}"))
}

pub(crate) fn require(holds: bool, name: &'static str, rule: &'static str, value: f64) -> Result<f64, Error> {
    if holds { Ok(value) } else { Err(Error::Parameter { name, rule, value }) }
}

pub fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    require(value > 0.0 && value.is_finite(), name, "positive and finite", value)
}

pub(crate) fn at_least_one(name: &'static str, count: usize) -> Result<(), Error> {
    require(count > 0, name, "at least 1", 0.0).map(drop)
}

pub(crate) fn every(
    what: &'static str,
    list: &[f64],
    rule: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    match list.iter().position(|value| !holds(*value)) {
        Some(index) => Err(Error::Entry { what, index, rule, value: list[index] }),
        None => Ok(()),
    }
}

/// Returns the norm bound if it is positive and its square is a normal number. Otherwise returns `Err`.
pub fn norm_bound(bound: f64) -> Result<f64, Error> {
    let is_normal = positive("norm-bound", bound)?.powi(2).is_normal();
    require(is_normal, "norm-bound", "a number whose square is between 2.3e-308 and 1.7e308", bound)
}

/// Returns the total plus the squared norm of a row. Returns `Err` for NaN, or if sums over all rows could overflow.
pub(crate) fn add_square(total: f64, square: f64) -> Result<f64, Error> {
    if total + square < LARGEST_TOTAL { Ok(total + square) } else { Err(Error::Total { square, total }) }
}

pub fn not_negative(name: &'static str, value: f64) -> Result<f64, Error> {
    require(value >= 0.0 && value.is_finite(), name, "finite and not negative", value)
}

pub fn factor(name: &'static str, value: f64) -> Result<f64, Error> {
    require(value > 0.0 && value <= 1.0, name, "greater than 0 and at most 1", value)
}

pub fn fraction(name: &'static str, value: f64) -> Result<f64, Error> {
    require((0.0..1.0).contains(&value), name, "at least 0 and less than 1", value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    /// Joins the message of an error with the messages of its sources, as programs print it.
    fn chain(error: &Error) -> String {
        let sources = std::iter::successors(error.source(), |error| (*error).source());
        sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
    }

    #[test]
    fn a_chain_of_sources_repeats_nothing() {
        let at = Error::Index { index: 3, size: 2 }.at(7);
        assert_eq!(chain(&at), "point 7: the index must be less than 2, got 3");
        let store = Error::Store(io::Error::new(io::ErrorKind::StorageFull, "the disk is full").into());
        assert_eq!(chain(&store), "a learner that was put away cannot be read or written: the disk is full");
        assert_eq!(store, store.clone());
        let Error::Store(reason) = &store else { panic!("{store}") };
        assert_eq!(reason.io().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn an_unknown_name_is_told_with_those_there_are() {
        assert_eq!(Error::name("mode", &["a", "b", "c"], "d").to_string(), "mode must be a, b or c, got 'd'");
        assert_eq!(Error::name("mode", &["a"], "d").to_string(), "mode must be a, got 'd'");
    }
}
