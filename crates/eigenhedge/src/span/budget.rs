//! Budget of a dictionary: the maximum number of atoms, the rule for admitting rows, and the cost of evictions.
//!
//! A row is admitted unless a single atom represents all but a share `novelty` of its energy. Above the budget, atoms
//! are evicted (`feature/evict.rs`) until a sixteenth of the budget is free ([`AtomBudget::low`]), so that many rows share
//! the work of an eviction. Losses remain exact. The norms of the discarded parts are summed as a measure of the error.

use crate::error::{Error, at_least_one, require};
use crate::state::{energy, ensure};
use serde::{Deserialize, Serialize};

/// Budget of a dictionary: the maximum number of atoms, the novelty threshold for new atoms, and the accumulated error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AtomBudget {
    pub atoms: usize,
    novelty: f64,
    pub error: f64,
}

/// Divisor of the budget: an eviction frees the budget divided by this number.
const FREED: usize = 16;

impl AtomBudget {
    pub fn new(atoms: usize, novelty: f64) -> Result<Self, Error> {
        at_least_one("budget", atoms)?;
        require(novelty > 0.0 && novelty < 1.0, "novelty", "between 0 and 1", novelty)?;
        Ok(Self { atoms, novelty, error: 0.0 })
    }

    pub fn check_state(&self, built: &Self, atoms: usize) -> Result<(), Error> {
        let parameters = (self.atoms, self.novelty) == (built.atoms, built.novelty);
        ensure(parameters && atoms <= self.atoms, "the atoms must be within the budget of the learner")?;
        energy("the cost of the budget", self.error)
    }

    pub fn low(&self) -> usize {
        self.atoms + 1 - (self.atoms / FREED).max(1)
    }

    /// Returns the atom that represents a row best, and the coefficient of the row's projection on it. Returns `None`
    /// if every atom would lose more than the share `novelty` of the row's energy. `own` is the kernel of the row with
    /// itself, and `squares` contains the kernel of each atom with itself.
    pub fn carrier(&self, row: &[f64], own: f64, squares: &[f64]) -> Option<(usize, f64)> {
        let least = (1.0 - self.novelty) * own;
        let close = |(kernel, square): (&f64, &f64)| kernel * kernel >= least * square;
        // Without an early exit the loop vectorizes. Rows with a matching atom are rare.
        if !row.iter().zip(squares).fold(false, |any, pair| any | close(pair)) {
            return None;
        }
        let carried = |atom: &usize| row[*atom] * row[*atom] / squares[*atom];
        let atom = (0..row.len()).max_by(|a, b| carried(a).total_cmp(&carried(b)))?;
        Some((atom, row[atom] / squares[atom]))
    }

    pub fn charge(&mut self, norm: f64) {
        self.error += norm;
    }
}
