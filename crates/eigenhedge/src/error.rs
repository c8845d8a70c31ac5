//! The one error type: what was wrong, the rule it broke, and the value that broke it.

use crate::num::LARGEST_TOTAL;
use std::{fmt, io, sync::Arc};

/// Everything that user data or parameters can do wrong.
///
/// Whoever returns one of these has left its state unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter breaks its rule.
    #[error("{name} must be {rule}, got {value}")]
    Parameter {
        /// Name of the parameter as users know it.
        name: &'static str,
        /// What it must be, e.g. "positive and finite".
        rule: &'static str,
        /// The value given.
        value: f64,
    },
    /// k does not fit the dimension.
    #[error("k must be at least 1 and less than the dimension {dimension}, got {kept}")]
    Kept {
        /// The k given.
        kept: usize,
        /// The dimension of the space.
        dimension: usize,
    },
    /// A row, weight vector or matrix has the wrong length.
    #[error("{what} must have {expected} entries, got {found}")]
    Length {
        /// What was measured, e.g. "row".
        what: &'static str,
        /// Entries required.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A matrix has the wrong shape.
    #[error("{what} must be {} × {}, got {} × {}", expected.0, expected.1, found.0, found.1)]
    Shape {
        /// The thing that was measured, e.g. "basis".
        what: &'static str,
        /// Rows and columns required.
        expected: (usize, usize),
        /// Rows and columns found.
        found: (usize, usize),
    },
    /// One entry of a row, weight vector or matrix breaks a rule.
    #[error("entry {index} of the {what} must be {rule}, got {value}")]
    Entry {
        /// What holds the entry, e.g. "row".
        what: &'static str,
        /// Zero-based position of the entry.
        index: usize,
        /// What it must be, e.g. "finite".
        rule: &'static str,
        /// The value found.
        value: f64,
    },
    /// The row is longer than the bound the user promised.
    #[error("the norm of the row must not exceed the norm bound {bound}, got {norm}")]
    Norm {
        /// Euclidean norm of the row (after centering, when the learner centers).
        norm: f64,
        /// The bound given.
        bound: f64,
    },
    /// The squared norm of the row is not representable.
    #[error("the squared norm of the row must be finite, got a row whose largest entry is {largest}")]
    Overflow {
        /// Largest absolute entry of the row.
        largest: f64,
    },
    /// The row is not zero, but its squared norm is, or has lost its digits.
    #[error(
        "the squared norm of the row must be zero or at least 2.3e-308, got a row (less the center, if there is one) whose \
         largest entry is {largest:e}: multiply all rows by a constant"
    )]
    Underflow {
        /// Largest absolute entry of the row, after centering.
        largest: f64,
    },
    /// The squared norms of all rows together are not representable.
    #[error("the squared norms of all rows must add up to less than 4.4e304, got {square:e} more than {total:e}")]
    Total {
        /// Squared norm of the row (after centering, when the learner centers).
        square: f64,
        /// Sum of those before it.
        total: f64,
    },
    /// A kernel value that no inner product can have.
    #[error("the kernel of the row with {} must be {rule}, got {value}", partner(atom))]
    KernelValue {
        /// The other argument: an atom, or none for the row itself.
        atom: Option<usize>,
        /// What the value must be, e.g. "finite".
        rule: &'static str,
        /// The value found.
        value: f64,
    },
    /// One entry of a matrix breaks a rule.
    #[error("entry ({row}, {column}) of the {what} must be {rule}, got {value}")]
    MatrixEntry {
        /// What holds the entry, e.g. "Gram matrix".
        what: &'static str,
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// What it must be, e.g. "finite".
        rule: &'static str,
        /// The value found.
        value: f64,
    },
    /// A point that is an index lies outside its range.
    #[error("the index must be less than {size}, got {index}")]
    Index {
        /// The index given.
        index: usize,
        /// Number of points there are.
        size: usize,
    },
    /// Too few rows to begin with.
    #[error("the warm-up must have at least {least} rows, got {rows}")]
    TooFewRows {
        /// Rows there are.
        rows: usize,
        /// Rows there must be.
        least: usize,
    },
    /// A combination of choices that has no meaning.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Two states that do not fit together, or one that depends on the order of its rows.
    #[error("cannot be merged: {0}")]
    Merge(String),
    /// The learner of a key could not be put away, or not be fetched. The reason is the [source](std::error::Error::source).
    #[error("a learner that was put away cannot be read or written")]
    Store(#[source] StoreError),
    /// A text that is none of the names there are.
    #[error("{what} must be {rule}, got '{text}'")]
    Name {
        /// What the text should name, e.g. "mode".
        what: &'static str,
        /// The names there are.
        rule: String,
        /// The text given.
        text: String,
    },
    /// Something does not fit into memory.
    #[error("{what} would take {gigabytes:.3} GB of memory, more than there is")]
    Memory {
        /// The thing that would take it.
        what: &'static str,
        /// Units of 10⁹ bytes.
        gigabytes: f64,
    },
    /// The computation was asked to end.
    #[error("the computation was cancelled")]
    Cancelled,
    /// A saved state that nothing can have come to.
    #[error("{0}")]
    State(&'static str),
    /// One of many points is wrong.
    #[error("point {point}: {error}")]
    At {
        /// Zero-based position of the point.
        point: usize,
        /// The error. It is part of the sentence, so it is not the source as well.
        error: Box<Error>,
    },
}

/// Why a [`Store`](crate::Store) failed.
#[derive(Debug, Clone)]
pub struct StoreError(Arc<io::Error>);

impl StoreError {
    /// The error of the store.
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

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Error {
    /// The same error, with the position of the point that caused it; no point causes [`Self::Cancelled`].
    pub fn at(self, point: usize) -> Self {
        if self == Self::Cancelled {
            return self;
        }
        Self::At { point, error: Box::new(self) }
    }

    /// The error about a text that is none of these names.
    pub(crate) fn name(what: &'static str, names: &[&str], text: &str) -> Self {
        let rule = match names {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            names => names.concat(),
        };
        Self::Name { what, rule, text: text.to_owned() }
    }
}

/// Implements `Display` and `FromStr` for an enum whose `ALL` lists its values and whose `name` gives their names.
macro_rules! by_name {
    ($type:ty, $what:literal) => {
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
pub(crate) use by_name;

fn partner(atom: &Option<usize>) -> String {
    atom.map_or_else(|| "itself".into(), |atom| format!("atom {atom}"))
}

/// `Ok` when the value is positive and finite; NaN fails.
pub fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::Parameter { name, rule: "positive and finite", value })
    }
}

/// `Ok` when the count is not zero.
pub(crate) fn at_least_one(name: &'static str, count: usize) -> Result<(), Error> {
    if count > 0 { Ok(()) } else { Err(Error::Parameter { name, rule: "at least 1", value: 0.0 }) }
}

/// `Ok` when every entry of a list satisfies the rule; names the first that does not.
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

/// `Ok` when the square of a bound on norms is a normal number; NaN fails.
pub fn norm_bound(bound: f64) -> Result<f64, Error> {
    if positive("norm-bound", bound)?.powi(2).is_normal() {
        Ok(bound)
    } else {
        let rule = "a number whose square is between 2.3e-308 and 1.7e308";
        Err(Error::Parameter { name: "norm-bound", rule, value: bound })
    }
}

/// The square of a row added to the total of those before it, unless sums over all rows could overflow; NaN fails.
pub(crate) fn add_square(total: f64, square: f64) -> Result<f64, Error> {
    if total + square < LARGEST_TOTAL { Ok(total + square) } else { Err(Error::Total { square, total }) }
}

/// `Ok` when the value is finite and not negative; NaN fails.
pub fn not_negative(name: &'static str, value: f64) -> Result<f64, Error> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::Parameter { name, rule: "finite and not negative", value })
    }
}

/// `Ok` when the value lies in `(0, 1]`; NaN fails.
pub fn factor(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value <= 1.0 {
        Ok(value)
    } else {
        Err(Error::Parameter { name, rule: "greater than 0 and at most 1", value })
    }
}

/// `Ok` when the value lies in `[0, 1)`; NaN fails.
pub fn fraction(name: &'static str, value: f64) -> Result<f64, Error> {
    if (0.0..1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Error::Parameter { name, rule: "at least 0 and less than 1", value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    /// The sentence with those of its sources, as programs print it.
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
