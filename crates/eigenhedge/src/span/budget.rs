//! A bound on the number of atoms: who is admitted, and what evictions have cost.
//!
//! Setting: a dictionary that grows by the rows that have a residual. State: what evictions have cost.
//!
//! Update: a row is admitted unless one atom carries it up to a share `novelty` of its energy. Past the budget, atoms go
//! until a sixteenth of the budget is free ([`Budget::low`]): the work of an eviction is shared by the rows that fill it.
//!
//! Guarantee: none; losses stay true, and the norms of all that was given up are summed.
//!
//! Cost: O(M) for each row with M atoms. The eviction itself is in `feature/evict.rs`.

use crate::error::Error;
use crate::state::{energy, ensure};
use serde::{Deserialize, Serialize};

/// The state of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Budget {
    atoms: usize,
    novelty: f64,
    error: f64,
}

/// Share of the budget that an eviction frees.
const FREED: usize = 16;

impl Budget {
    pub fn new(atoms: usize, novelty: f64) -> Result<Self, Error> {
        if atoms == 0 {
            return Err(Error::Parameter { name: "budget", rule: "at least 1", value: 0.0 });
        }
        if !(novelty > 0.0 && novelty < 1.0) {
            return Err(Error::Parameter { name: "novelty", rule: "between 0 and 1", value: novelty });
        }
        Ok(Self { atoms, novelty, error: 0.0 })
    }

    /// Checks what was read from bytes, for so many atoms.
    pub fn check_state(&self, built: &Self, atoms: usize) -> Result<(), Error> {
        let parameters = (self.atoms, self.novelty) == (built.atoms, built.novelty);
        ensure(parameters && atoms <= self.atoms, "the atoms must be within the budget of the learner")?;
        energy("the cost of the budget", self.error)
    }

    /// Most atoms.
    pub fn atoms(&self) -> usize {
        self.atoms
    }

    /// Atoms that an eviction leaves.
    pub fn low(&self) -> usize {
        self.atoms + 1 - (self.atoms / FREED).max(1)
    }

    pub fn error(&self) -> f64 {
        self.error
    }

    /// The atom that carries a row best, if it carries it up to the share `novelty`, and the row's coefficient on it.
    /// `squares` are the kernels of the atoms with themselves.
    pub fn carrier(&self, row: &[f64], own: f64, squares: &[f64]) -> Option<(usize, f64)> {
        let least = (1.0 - self.novelty) * own;
        let close = |(kernel, square): (&f64, &f64)| kernel * kernel >= least * square;
        // Without a way out of the loop it vectorises; hardly ever is there an atom to look for.
        if !row.iter().zip(squares).fold(false, |any, pair| any | close(pair)) {
            return None;
        }
        let carried = |atom: &usize| row[*atom] * row[*atom] / squares[*atom];
        let atom = (0..row.len()).max_by(|a, b| carried(a).total_cmp(&carried(b)))?;
        Some((atom, row[atom] / squares[atom]))
    }

    /// Takes note of what has been given up.
    pub fn charge(&mut self, norm: f64) {
        self.error += norm;
    }
}
