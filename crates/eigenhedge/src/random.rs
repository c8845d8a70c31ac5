//! Seedable random generator for all draws. Its state is saved with a learner.

use crate::error::Error;
use crate::state::ensure;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// Small, fast random generator whose state can be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Random(Pcg64Mcg);

#[derive(Deserialize)]
struct Saved {
    state: u128,
}

impl TryFrom<Saved> for Random {
    type Error = Error;

    /// Rejects even states, whose period is short. From state zero the generator only returns zeros.
    fn try_from(Saved { state }: Saved) -> Result<Self, Error> {
        ensure(state & 1 == 1, "the state of a generator must be odd")?;
        Ok(Self(Pcg64Mcg::new(state)))
    }
}

impl Random {
    /// Creates a generator from a seed. A seed gives the same sequence on every platform.
    pub fn seeded(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Returns a uniform number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    /// Returns a normal random number with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        self.0.sample(rand_distr::StandardNormal)
    }

    pub(crate) fn chi_squared(&mut self, degrees: f64) -> f64 {
        rand_distr::ChiSquared::new(degrees).map_or(0.0, |distribution| self.0.sample(distribution))
    }

    /// Returns a new generator, seeded from this one, for draws that may happen later or not at all.
    pub fn split(&mut self) -> Self {
        Self::seeded(self.0.random())
    }

    /// Returns a uniform integer in `0..bound`. Panics if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }
}
