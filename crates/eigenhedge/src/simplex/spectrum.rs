//! Checks of deserialized spectra: log-probabilities that the directions are dropped.

use super::{Complement, Multiplicity};
use crate::error::{Error, every};
use crate::num::kept;
use crate::state::{TRACE, ensure, within};

/// Returns the number of directions other than the `explicit` ones. Returns `Err` if `explicit` exceeds the dimension.
pub(crate) fn others(dimension: Multiplicity, explicit: usize) -> Result<Multiplicity, Error> {
    match dimension {
        Multiplicity::Infinite => Ok(Multiplicity::Infinite),
        Multiplicity::Finite(n) => match n.checked_sub(explicit as u64) {
            Some(left) => Ok(Multiplicity::Finite(left)),
            None => Err(Error::State("there must be no more directions than dimensions")),
        },
    }
}

/// Spectrum: `log v` of the explicit directions and of their complement, where `v` is the probability of being dropped.
pub(crate) struct Spectrum<'a> {
    pub log_weights: &'a [f64],
    pub complement: &'a Complement,
    pub kept: usize,
    pub dimension: Multiplicity,
}

impl Spectrum<'_> {
    pub fn check(&self) -> Result<(), Error> {
        self.check_weights()?;
        let explicit: f64 = self.log_weights.iter().map(|w| kept(*w)).sum();
        let (name, kept_count) = ("the total probability of being kept", self.kept as f64);
        let slack = TRACE * kept_count;
        match self.complement.multiplicity {
            // The complement keeps the rest of k.
            Multiplicity::Infinite => within(name, explicit, 0.0..=kept_count + slack),
            Multiplicity::Finite(others) => {
                let total = explicit + others as f64 * kept(self.complement.log_weight);
                within(name, total, kept_count - slack..=kept_count + slack)
            }
        }
    }

    /// Checks the entries without their total.
    pub fn check_weights(&self) -> Result<(), Error> {
        every("logarithms of probabilities", self.log_weights, "at most 0", |weight| weight <= 0.0)?;
        let Complement { log_weight, multiplicity } = *self.complement;
        // The value -∞ is valid: the directions are never dropped.
        within("the common logarithm of the other probabilities", log_weight, f64::NEG_INFINITY..=0.0)?;
        let expected = others(self.dimension, self.log_weights.len())?;
        ensure(multiplicity == expected, "the directions that are not explicit must be all the others")
    }
}
