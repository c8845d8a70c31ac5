//! The one error type: what was wrong, the rule it broke, and the value that broke it.

use crate::num::LARGEST_TOTAL;

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
    /// The learner of a key could not be put away, or not be fetched.
    #[error("a learner that was put away cannot be read or written: {0}")]
    Store(String),
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
    #[error("point {point}: {source}")]
    At {
        /// Zero-based position of the point.
        point: usize,
        /// What is wrong with it.
        source: Box<Error>,
    },
}

impl Error {
    /// The same error, with the position of the point that caused it; no point causes [`Self::Cancelled`].
    pub fn at(self, point: usize) -> Self {
        if self == Self::Cancelled {
            return self;
        }
        Self::At { point, source: Box::new(self) }
    }
}

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
