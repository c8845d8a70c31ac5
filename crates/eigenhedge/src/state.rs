//! Checks of a state that was read from bytes: nothing is used that no learner could have become.
//!
//! Whoever makes the checksum of a snapshot fit can write any number where a number was. So every type with a state says,
//! next to its definition, what holds for it between two rows ([`State`]): shapes agree with each other and with the
//! parameters, numbers are finite and in range, probabilities total k, bases are orthonormal. Parameters are not judged
//! again: they must be those of a twin that is built afresh, by the functions that judge them.
//!
//! Cost: that of a few rows, and O(n w²) for a basis of w columns.

use crate::error::{Error, every};
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
/// Deviation of a total of probabilities or of a trace that rounding can cause, as a share.
pub(crate) const TRACE: f64 = 1e-6;

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

/// `Ok` when every entry lies in the range; NaN fails.
pub(crate) fn entries(what: &'static str, list: &[f64], range: RangeInclusive<f64>) -> Result<(), Error> {
    every(what, list, "within its range", |x| range.contains(&x))
}
