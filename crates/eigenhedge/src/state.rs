//! Checks of a state that was read from bytes: nothing is used that no learner could have become.
//!
//! Whoever makes the checksum of a snapshot fit can write any number where a number was. So every type with a state says,
//! next to its definition, what holds for it between two rows ([`State`]): shapes agree with each other and with the
//! parameters, numbers are finite and in range, probabilities total k, bases are orthonormal. Parameters are not judged
//! again: they must be those of a twin that is built afresh, by the functions that judge them.
//!
//! Cost: that of a few rows, and O(n w²) for a basis of w columns.

use crate::error::Error;
use crate::linalg::{Matrix, symmetric_eigenvalues};
use crate::num::{dot, kept};
use crate::simplex::{Complement, Multiplicity};
use std::ops::RangeInclusive;

/// A state that can be checked.
pub(crate) trait State {
    /// Checks the state of something that was built like `built`, which is as it was built.
    fn check_state(&self, built: &Self) -> Result<(), Error>;
}

/// Largest energy: sums of several are still finite.
pub(crate) const LARGEST: f64 = 1e306;
/// Largest logarithm of a weight, in size.
pub(crate) const LARGEST_LOG: f64 = 1e100;
/// Numbers of rows that are exact as floating-point numbers.
const MOST_ROWS: u64 = 1 << 53;
/// Deviation of a basis from an orthonormal one that rounding can cause.
pub(crate) const DRIFT: f64 = 1e-6;
/// Deviation of a total of probabilities, as a share.
const TRACE: f64 = 1e-6;

/// `Ok` when the condition holds; the sentence says what must be.
pub(crate) fn ensure(condition: bool, sentence: &'static str) -> Result<(), Error> {
    if condition { Ok(()) } else { Err(Error::State(sentence)) }
}

/// `Ok` when the number lies in the range; NaN fails.
pub(crate) fn within(name: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), Error> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "within its range", value })
}

/// `Ok` when the energy is finite and not negative.
pub(crate) fn energy(name: &'static str, value: f64) -> Result<(), Error> {
    if (0.0..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "finite and not negative", value })
}

/// `Ok` when the number of rows, or of events that rows cause, is one that can be counted further.
pub(crate) fn count(name: &'static str, value: u64) -> Result<(), Error> {
    if value <= MOST_ROWS {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "at most 2^53", value: value as f64 })
}

/// `Ok` when the list has this many entries.
pub(crate) fn length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// `Ok` when the matrix has this many rows and columns.
pub(crate) fn shape(what: &'static str, matrix: &Matrix, rows: usize, columns: usize) -> Result<(), Error> {
    let (expected, found) = ((rows, columns), (matrix.rows(), matrix.columns()));
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

/// `Ok` when every entry lies in the range; NaN fails.
pub(crate) fn entries(what: &'static str, list: &[f64], range: RangeInclusive<f64>) -> Result<(), Error> {
    match list.iter().position(|x| !range.contains(x)) {
        None => Ok(()),
        Some(index) => Err(Error::Entry { what, index, rule: "within its range", value: list[index] }),
    }
}

/// `Ok` when every entry of the matrix lies in the range; NaN fails.
pub(crate) fn matrix_entries(what: &'static str, matrix: &Matrix, range: RangeInclusive<f64>) -> Result<(), Error> {
    (0..matrix.columns()).try_for_each(|j| entries(what, matrix.column(j), range.clone()))
}

/// `Ok` when the squared lengths of all columns have a finite total.
pub(crate) fn energies(what: &'static str, matrix: &Matrix) -> Result<(), Error> {
    energy(what, (0..matrix.columns()).map(|j| dot(matrix.column(j), matrix.column(j))).sum())
}

/// `Ok` when the columns are orthonormal, as far as rounding lets them.
pub(crate) fn orthonormal(what: &'static str, matrix: &Matrix) -> Result<(), Error> {
    matrix_entries(what, matrix, -2.0..=2.0)?;
    let value = matrix.drift();
    if value <= DRIFT {
        return Ok(());
    }
    Err(Error::Parameter { name: what, rule: "orthonormal: it deviates too far", value })
}

/// `Ok` when the lower triangle can be that of a scatter matrix: a trace that is finite, and no entry beyond what its
/// row and column allow.
pub(crate) fn scatter(what: &'static str, matrix: &Matrix) -> Result<f64, Error> {
    shape(what, matrix, matrix.columns(), matrix.columns())?;
    let diagonal = |j: usize| matrix.column(j)[j];
    let trace: f64 = (0..matrix.columns()).map(diagonal).sum();
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

/// The same of the whole of a small matrix, which must be symmetric and have no negative eigenvalue.
pub(crate) fn whole_scatter(what: &'static str, matrix: &Matrix) -> Result<f64, Error> {
    let trace = scatter(what, matrix)?;
    let slack = TRACE * trace;
    for j in 0..matrix.columns() {
        for (row, value) in matrix.column(j)[..j].iter().enumerate() {
            if !((value - matrix.column(row)[j]).abs() <= slack) {
                return Err(Error::MatrixEntry { what, row, column: j, rule: "that of its mirror", value: *value });
            }
        }
    }
    let least = symmetric_eigenvalues(matrix.view()).first().copied().unwrap_or(0.0);
    within("the least eigenvalue of a scatter matrix", least, -slack..=LARGEST)?;
    Ok(trace)
}

/// The number of directions that are left when so many are explicit.
pub(crate) fn others(dimension: Multiplicity, explicit: usize) -> Result<Multiplicity, Error> {
    match dimension {
        Multiplicity::Infinite => Ok(Multiplicity::Infinite),
        Multiplicity::Finite(n) => match n.checked_sub(explicit as u64) {
            Some(left) => Ok(Multiplicity::Finite(left)),
            None => Err(Error::State("there must be no more directions than dimensions")),
        },
    }
}

/// A spectrum: `log v` of the explicit directions and of the rest of a space.
pub(crate) struct Spectrum<'a> {
    pub log_weights: &'a [f64],
    pub complement: &'a Complement,
    pub kept: usize,
    pub dimension: Multiplicity,
}

impl Spectrum<'_> {
    /// Checks that these are logarithms of probabilities, and that as many directions are kept as must be.
    pub fn check(&self) -> Result<(), Error> {
        self.check_weights()?;
        let explicit: f64 = self.log_weights.iter().map(|w| kept(*w)).sum();
        let (name, kept_count) = ("the total probability of being kept", self.kept as f64);
        let slack = TRACE * kept_count;
        match self.complement.multiplicity {
            // The rest of k is spread infinitely thin.
            Multiplicity::Infinite => within(name, explicit, 0.0..=kept_count + slack),
            Multiplicity::Finite(others) => {
                let total = explicit + others as f64 * kept(self.complement.log_weight);
                within(name, total, kept_count - slack..=kept_count + slack)
            }
        }
    }

    /// The same without a look at the total.
    pub fn check_weights(&self) -> Result<(), Error> {
        let not_positive = |w: &f64| *w <= 0.0;
        if let Some(index) = self.log_weights.iter().position(|w| !not_positive(w)) {
            let (what, rule) = ("logarithms of probabilities", "at most 0");
            return Err(Error::Entry { what, index, rule, value: self.log_weights[index] });
        }
        let Complement { log_weight, multiplicity } = *self.complement;
        within("the common logarithm of the other probabilities", log_weight, -LARGEST_LOG..=0.0)?;
        let expected = others(self.dimension, self.log_weights.len())?;
        ensure(multiplicity == expected, "the directions that are not explicit must be all the others")
    }
}
