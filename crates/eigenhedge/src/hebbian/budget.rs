//! Limit on the number of atoms, which is enforced by merging atoms.
//! When there is one atom too many, an atom m is merged into its nearest neighbor n: in every weight vector, φ(x_m) is
//! replaced by its projection `g φ(x_n)` with `g = k(m,n)/k(n,n)`. The squared displacements of the vectors sum to `Σ_p
//! (ψ_p α_pm)² · (k(m,m) - k(m,n)²/k(n,n))`, and a center counts as one more vector. The atom m that minimizes this sum
//! is merged, so a point that the other atoms already represent costs nothing, and vectors keep their length even when
//! steps are small.
//! Cost per trial with M atoms and P vectors: O(MP), and O(M) for every atom whose nearest neighbor was removed. The M²
//! kernel values are stored.

use crate::error::Error;
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::scratch::refill;
use crate::state::{ensure, length, list, no_limit};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub most: usize,
    kernel: Matrix,
    squares: Vec<f64>,
    nearest: Vec<Neighbour>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Neighbour {
    #[serde(with = "no_limit")]
    atom: usize,
    share: f64,
}

const NOBODY: Neighbour = Neighbour { atom: usize::MAX, share: f64::NEG_INFINITY };

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Merge {
    pub atom: usize,
    pub into: usize,
    /// Factor g by which `into` is multiplied to approximate `atom`.
    pub factor: f64,
    /// Squared error `|g φ(into) - φ(atom)|²`.
    pub square: f64,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Self { most, kernel: Matrix::zeros(0, 0), squares: Vec::new(), nearest: Vec::new() }
    }

    pub(super) fn check_state(&self, built: &Self, atoms: usize) -> Result<(), Error> {
        ensure(self.most == built.most && atoms <= self.most, "the atoms must be within the budget of the learner")?;
        shape("the kernel of the atoms", &self.kernel, atoms, atoms)?;
        length("the neighbours of the atoms", self.nearest.len(), atoms)?;
        list("the squares of the atoms", &self.squares, atoms, f64::MIN_POSITIVE..=f64::MAX)?;
        let is_other = |(atom, near): (usize, &Neighbour)| near.atom < atoms && near.atom != atom || atoms == 1;
        let there = self.nearest.iter().enumerate().all(is_other);
        ensure(there, "the neighbour of an atom must be another atom")
    }

    fn find_nearest(&self, atom: usize) -> Neighbour {
        let mut nearest = NOBODY;
        for (other, value) in self.kernel.column(atom).iter().enumerate() {
            // Two quotients are used, because the square of a kernel value may overflow.
            let share = (value / self.squares[atom]) * (value / self.squares[other]);
            if share > nearest.share && other != atom {
                nearest = Neighbour { atom: other, share };
            }
        }
        nearest
    }

    pub(super) fn admit(&mut self, row: &[f64], square: f64) {
        let new = row.len();
        self.kernel.resize(new + 1, new + 1);
        self.kernel.column_mut(new)[..new].copy_from_slice(row);
        self.kernel.column_mut(new)[new] = square;
        self.squares.push(square);
        for (atom, value) in row.iter().enumerate() {
            self.kernel.column_mut(atom)[new] = *value;
            let share = (value / self.squares[atom]) * (value / square);
            if share > self.nearest[atom].share {
                self.nearest[atom] = Neighbour { atom: new, share };
            }
        }
        self.nearest.push(self.find_nearest(new));
    }

    pub(super) fn cheapest(&self, coefficients: &Matrix, shrink: &[f64], center: &[f64]) -> Option<Merge> {
        if self.nearest.len() <= self.most {
            return None;
        }
        let distance = |atom: usize| self.squares[atom] * (1.0 - self.nearest[atom].share).max(0.0);
        let cost = |atom: usize| {
            let weight = |(p, shrink): (usize, &f64)| (shrink * coefficients.column(p)[atom]).powi(2);
            let of_center = center.get(atom).map_or(0.0, |mu| mu * mu);
            distance(atom) * (of_center + shrink.iter().enumerate().map(weight).sum::<f64>())
        };
        let costs = (0..self.nearest.len()).map(|atom| (cost(atom), atom));
        let (_, atom) = costs.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let into = self.nearest[atom].atom;
        let factor = self.kernel.column(atom)[into] / self.squares[into];
        Some(Merge { atom, into, factor, square: distance(atom) })
    }

    pub(super) fn displacement(&self, merge: &Merge, products: &mut Vec<f64>) {
        let pairs = self.kernel.column(merge.into).iter().zip(self.kernel.column(merge.atom));
        refill(products, pairs.map(|(into, atom)| merge.factor * into - atom));
    }

    pub(super) fn remove(&mut self, atom: usize) {
        let last = self.nearest.len() - 1;
        self.kernel.swap_remove_column(atom);
        for j in 0..last {
            let column = self.kernel.column_mut(j);
            column[atom] = column[last];
        }
        self.kernel.resize(last, last);
        self.squares.swap_remove(atom);
        self.nearest.swap_remove(atom);
        for i in 0..last {
            if self.nearest[i].atom == atom {
                self.nearest[i] = self.find_nearest(i);
            } else if self.nearest[i].atom == last {
                self.nearest[i].atom = atom;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::dot;
    use crate::random::Random;

    #[test]
    fn kernel_and_neighbours_stay_right_when_atoms_come_and_go() {
        let mut random = Random::seeded(3);
        let mut budget = Budget::new(6);
        let mut atoms: Vec<Vec<f64>> = Vec::new();
        for _ in 0..300 {
            let atom: Vec<f64> = (0..3).map(|_| random.normal()).collect();
            let row: Vec<f64> = atoms.iter().map(|other| dot(other, &atom)).collect();
            budget.admit(&row, dot(&atom, &atom));
            atoms.push(atom);
            if atoms.len() > 6 {
                let gone = random.below(atoms.len());
                budget.remove(gone);
                atoms.swap_remove(gone);
            }
            for i in 0..atoms.len() {
                for j in 0..atoms.len() {
                    assert_eq!(budget.kernel.column(j)[i], dot(&atoms[j], &atoms[i]));
                }
                let share = |j: usize| dot(&atoms[i], &atoms[j]).powi(2) / budget.squares[i] / budget.squares[j];
                let best = (0..atoms.len()).filter(|j| *j != i).map(share).fold(0.0, f64::max);
                let Neighbour { atom, share: found } = budget.nearest[i];
                assert_eq!(atoms.len() == 1, atom == NOBODY.atom);
                assert!(atoms.len() == 1 || (found - best).abs() <= 1e-14 && (share(atom) - best).abs() <= 1e-14);
            }
        }
    }
}
