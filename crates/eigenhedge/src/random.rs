//! The generator that every choice draws from: seedable, and part of a saved state.

use crate::error::Error;
use crate::state::ensure;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// A small fast generator with a state that can be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Random(Pcg64Mcg);

/// A generator when it is saved.
#[derive(Deserialize)]
struct Saved {
    state: u128,
}

impl TryFrom<Saved> for Random {
    type Error = Error;

    /// Refuses an even state: such a generator repeats itself soon, and that of zero at once.
    fn try_from(Saved { state }: Saved) -> Result<Self, Error> {
        ensure(state & 1 == 1, "the state of a generator must be odd")?;
        Ok(Self(Pcg64Mcg::new(state)))
    }
}

impl Random {
    /// The same seed gives the same draws, everywhere.
    pub fn seeded(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        self.0.sample(rand_distr::StandardNormal)
    }

    /// The sum of squares of this many standard normal numbers.
    pub(crate) fn chi_squared(&mut self, degrees: f64) -> f64 {
        rand_distr::ChiSquared::new(degrees).map_or(0.0, |distribution| self.0.sample(distribution))
    }

    /// A generator of its own, for draws that are made later or not at all.
    pub fn split(&mut self) -> Self {
        Self::seeded(self.0.random())
    }

    /// A whole number uniform in `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }
}
