//! Checks of deserialized states. They reject states that no learner can reach.
//!
//! A file with a valid checksum can still contain any numbers. Each type with a state therefore checks the invariants that hold
//! between two rows ([`State`]): shapes match each other and the parameters, numbers are finite and in range, probabilities sum
//! to k, bases are orthonormal. Parameters are not checked again. They must equal those of a newly built learner, whose
//! constructor checks them.
//!
//! Cost: a few rows, plus O(n w²) for a basis of w columns.

use crate::error::{Error, every};
use std::ops::RangeInclusive;

/// A type whose deserialized state can be checked.
pub(crate) trait State {
    /// Checks the state. `built` is a newly built object with the same parameters.
    fn check_state(&self, built: &Self) -> Result<(), Error>;
}

/// Largest energy. Sums of several such energies are still finite.
pub(crate) const LARGEST: f64 = 1e306;
/// Largest absolute value of a log-weight.
pub(crate) const LARGEST_LOG: f64 = 1e100;
/// Largest number of rows that is exact as a floating-point number.
const MOST_ROWS: u64 = 1 << 53;
/// Largest relative error that rounding can cause in a sum of probabilities or a trace.
pub(crate) const TRACE: f64 = 1e-6;

/// Returns `Ok` if the condition holds, and otherwise an error with this sentence, which states the
/// condition.
pub(crate) fn ensure(condition: bool, sentence: &'static str) -> Result<(), Error> {
    if condition { Ok(()) } else { Err(Error::State(sentence)) }
}

/// Returns `Ok` if the number is in the range. NaN fails.
pub(crate) fn within(name: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), Error> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "within its range", value })
}

/// Returns `Ok` if the energy is finite and not negative.
pub(crate) fn energy(name: &'static str, value: f64) -> Result<(), Error> {
    if (0.0..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "finite and not negative", value })
}

/// Returns `Ok` if the number of rows or events is at most 2^53.
pub(crate) fn count(name: &'static str, value: u64) -> Result<(), Error> {
    if value <= MOST_ROWS {
        return Ok(());
    }
    Err(Error::Parameter { name, rule: "at most 2^53", value: value as f64 })
}

/// Returns `Ok` if the list has `expected` entries.
pub(crate) fn length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// Returns `Ok` if every entry is in the range. NaN fails.
pub(crate) fn entries(what: &'static str, list: &[f64], range: RangeInclusive<f64>) -> Result<(), Error> {
    every(what, list, "within its range", |x| range.contains(&x))
}
