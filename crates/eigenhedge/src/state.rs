//! Checks of deserialized states. They reject states that no learner can reach by learning rows.
//!
//! A file with a valid checksum can still contain any numbers. Each type with a state therefore checks the invariants
//! that hold between two rows ([`State`]), at the cost of a few rows, plus O(n w²) for a basis of w columns of length n.

use crate::error::{Error, every, require};
use std::ops::RangeInclusive;

pub(crate) trait State {
    /// Checks the state. `built` is a newly built object with the same parameters.
    fn check_state(&self, built: &Self) -> Result<(), Error>;

    /// Compares the state with that of the first member of a portfolio.
    fn check_beside(&self, _first: &Self) -> Result<(), Error> {
        Ok(())
    }
}

/// Largest energy of a valid state. Sums of several such energies are still finite.
pub(crate) const LARGEST: f64 = 1e306;
/// Largest absolute value of a log-weight in a valid state.
pub(crate) const LARGEST_LOG: f64 = 1e100;
/// Largest accepted number of rows. Floating-point numbers represent all integers up to it exactly.
const MOST_ROWS: u64 = 1 << 53;
/// Largest relative error that rounding can cause in a sum of probabilities or a trace.
pub(crate) const TRACE: f64 = 1e-6;

/// Saved form of a number for which `usize::MAX` means no limit, equal on 32-bit and 64-bit machines.
pub(crate) mod no_limit {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(number: &usize, serializer: S) -> Result<S::Ok, S::Error> {
        if *number == usize::MAX { u64::MAX } else { *number as u64 }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
        u64::deserialize(deserializer).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }
}

/// Compares with a tolerance for rounding differences between math libraries.
pub(crate) fn nearly(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= 1e-12 * other.abs()
}

pub(crate) fn ensure(condition: bool, sentence: &'static str) -> Result<(), Error> {
    if condition { Ok(()) } else { Err(Error::State(sentence)) }
}

/// Checks that the number is in the range. NaN fails.
pub(crate) fn within(name: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), Error> {
    require(range.contains(&value), name, "within its range", value).map(drop)
}

pub(crate) fn energy(name: &'static str, value: f64) -> Result<(), Error> {
    require((0.0..=LARGEST).contains(&value), name, "finite and not negative", value).map(drop)
}

pub(crate) fn count(name: &'static str, value: u64) -> Result<(), Error> {
    require(value <= MOST_ROWS, name, "at most 2^53", value as f64).map(drop)
}

pub(crate) fn length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

pub(crate) fn entries(what: &'static str, list: &[f64], range: RangeInclusive<f64>) -> Result<(), Error> {
    every(what, list, "within its range", |x| range.contains(&x))
}

pub(crate) fn list(what: &'static str, list: &[f64], expected: usize, range: RangeInclusive<f64>) -> Result<(), Error> {
    length(what, list.len(), expected)?;
    entries(what.strip_prefix("the ").unwrap_or(what), list, range)
}
