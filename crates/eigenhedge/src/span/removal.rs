//! Successive removal of atoms from a dictionary with the Gram matrix K.
//! Update: with `P = K⁻¹`, `1/P_jj` is the squared distance of atom j from the span of the others, and `-P_lj/P_jj` are
//! the coefficients of its projection on them. Without j the inverse is `P - q qᵀ` with `q = P e_j/√P_jj`. The vectors
//! q are stored, and P is never changed, because only its diagonal and one column per removed atom are read.
//! Cost: O(M³) for one inverse of M atoms, and O(M s) for the s-th removed atom.
//! Numerics: [`RIDGE`] times the largest diagonal entry is added to the diagonal, so that atoms may be equal. This
//! increases a squared distance by at most the ridge times `1 + |c|²`, with the coefficients c of the projection.

use crate::error::{Error, at_least_one, require};
use crate::linalg::Matrix;
use crate::scratch::refill;
use crate::state::{energy, ensure};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::{factor, inverse};
use faer::{Auto, Par, Spec};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default)]
pub(super) struct Removal {
    factor: Matrix,
    inverse: Matrix,
    /// Diagonal of the inverse Gram matrix of the remaining atoms, infinite for removed atoms.
    diagonal: Vec<f64>,
    pub gone: Vec<usize>,
    taken: Matrix,
    share: Vec<f64>,
    memory: FactorMemory,
}

#[derive(Default)]
struct FactorMemory(Option<(usize, MemBuffer)>);

impl Clone for FactorMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for FactorMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FactorMemory")
    }
}

const RIDGE: f64 = 1e-10;

impl Removal {
    pub fn begin(&mut self, gram: &Matrix) {
        let size = gram.columns();
        let largest = (0..size).fold(0f64, |largest, j| largest.max(gram.column(j)[j]));
        let ridge = RIDGE * largest;
        self.factor.clone_from(gram);
        (0..size).for_each(|j| self.factor.column_mut(j)[j] += ridge);
        self.inverse.resize(size, size);
        let params: Spec<factor::LltParams, f64> = Spec::new(<factor::LltParams as Auto<f64>>::auto());
        let need = StackReq::any_of(&[
            factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, params),
            inverse::inverse_scratch::<f64>(size, Par::Seq),
        ]);
        if self.memory.0.as_ref().is_none_or(|(had, _)| *had < size) {
            self.memory.0 = Some((size, MemBuffer::new(need)));
        }
        let Some((_, memory)) = &mut self.memory.0 else { return };
        let stack = MemStack::new(memory);
        // Pivots can be nonpositive if the kernel is not positive definite. They are raised to the ridge.
        let lift = factor::LltRegularization {
            dynamic_regularization_delta: ridge,
            dynamic_regularization_epsilon: 0.5 * ridge,
        };
        let done = factor::cholesky_in_place(self.factor.view_mut(), lift, Par::Seq, stack, params);
        assert!(done.is_ok(), "no pivot is left that is not positive");
        inverse::inverse(self.inverse.view_mut(), self.factor.view(), Par::Seq, stack);
        refill(&mut self.diagonal, (0..size).map(|j| self.inverse.column(j)[j]));
        self.gone.clear();
        self.taken.resize(size, 0);
    }

    pub fn left(&self) -> usize {
        self.diagonal.len() - self.gone.len()
    }

    /// Returns the inverse squared distance of an atom from the span of the others; infinite for a removed atom.
    pub fn inverse_distance(&self, atom: usize) -> f64 {
        self.diagonal[atom]
    }

    /// Removes an atom. Returns the share of its coefficient that each other atom takes over, and -1 for the atom
    /// itself.
    pub fn take(&mut self, atom: usize) -> &[f64] {
        let Self { inverse, diagonal, gone, taken, share, .. } = self;
        let size = diagonal.len();
        share.clear();
        // Only the lower triangle of the inverse is stored.
        share.extend((0..atom).map(|i| inverse.column(i)[atom]));
        share.extend_from_slice(&inverse.column(atom)[atom..]);
        for j in 0..taken.columns() {
            let q = taken.column(j);
            let amount = q[atom];
            share.iter_mut().zip(q).for_each(|(entry, q)| *entry -= amount * q);
        }
        let own = diagonal[atom];
        taken.resize(size, gone.len() + 1);
        let root = own.sqrt();
        let q = taken.column_mut(gone.len());
        q.iter_mut().zip(&*share).for_each(|(q, entry)| *q = entry / root);
        // The exact entries are positive. Rounding must not make one zero or negative.
        diagonal.iter_mut().zip(&*q).for_each(|(d, q)| *d = (*d - q * q).max(f64::EPSILON * *d));
        gone.push(atom);
        share.iter_mut().for_each(|entry| *entry /= -own);
        for past in &*gone {
            diagonal[*past] = f64::INFINITY;
            share[*past] = 0.0;
        }
        share[atom] = -1.0;
        share
    }
}

pub(super) fn give_up(coefficients: &mut [f64], atom: usize, share: &[f64]) {
    let amount = coefficients[atom];
    coefficients.iter_mut().zip(share).for_each(|(c, s)| *c += amount * s);
    coefficients[atom] = 0.0;
}

/// Budget of a dictionary. A row becomes an atom unless a single atom represents all but a share `novelty` of its
/// energy. Above the budget, a part of it is evicted at once, so that many rows share the work. The norms of the
/// discarded parts are summed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AtomBudget {
    pub atoms: usize,
    novelty: f64,
    pub error: f64,
}

/// Divisor of the budget: an eviction removes the budget divided by this number, but at least one atom.
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

    /// Returns the atom that represents a row best, and the coefficient of the row's projection on it, from the kernels
    /// of the row with each atom and with itself and of each atom with itself. Returns `None` for a novel row.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{multiply, symmetric_eigen};

    const POINTS: [f64; 9] = [0.0, 0.4, 1.1, 1.3, 2.0, 2.9, 3.1, 4.0, 5.5];

    fn gram(points: &[f64]) -> Matrix {
        let mut gram = Matrix::zeros(points.len(), points.len());
        for (j, a) in points.iter().enumerate() {
            gram.column_mut(j).iter_mut().zip(points).for_each(|(g, b)| *g = (-(a - b) * (a - b)).exp());
        }
        gram
    }

    fn inverse_of(gram: &Matrix) -> Matrix {
        let eigen = symmetric_eigen(gram);
        let (mut scaled, mut inverse) = (eigen.vectors.clone(), Matrix::default());
        for (j, value) in eigen.values.iter().enumerate() {
            scaled.column_mut(j).iter_mut().for_each(|x| *x /= value);
        }
        multiply(&mut inverse, scaled.view(), eigen.vectors.view().transpose());
        inverse
    }

    #[test]
    fn distances_and_shares_equal_those_of_a_fresh_inverse_of_the_atoms_that_are_left() {
        let mut removal = Removal::default();
        // Runs twice, to check that no state of the first run remains.
        for order in [[4, 0, 8, 3], [3, 2, 1, 0]] {
            removal.begin(&gram(&POINTS));
            let mut left: Vec<usize> = (0..POINTS.len()).collect();
            for atom in order {
                let points: Vec<f64> = left.iter().map(|i| POINTS[*i]).collect();
                let wanted = inverse_of(&gram(&points));
                for (j, i) in left.iter().enumerate() {
                    let (found, wanted) = (removal.inverse_distance(*i), wanted.column(j)[j]);
                    assert!((found / wanted - 1.0).abs() < 1e-6, "atom {i}: {found} against {wanted}");
                }
                let place = left.iter().position(|i| *i == atom).unwrap();
                let share = removal.take(atom);
                for (j, i) in left.iter().enumerate() {
                    let wanted = -wanted.column(place)[j] / wanted.column(place)[place];
                    assert!((share[*i] - wanted).abs() < 1e-6, "atom {i}: {} against {wanted}", share[*i]);
                }
                left.remove(place);
                assert!((0..POINTS.len()).all(|i| left.contains(&i) || i == atom || share[i] == 0.0));
                assert_eq!(removal.left(), left.len());
            }
            assert_eq!(removal.gone, order);
        }
    }

    #[test]
    fn of_two_equal_atoms_either_costs_nothing_and_the_other_takes_all() {
        let mut removal = Removal::default();
        removal.begin(&gram(&[0.0, 1.5, 1.5, 3.0]));
        assert!(1.0 / removal.inverse_distance(2) < 1e-9);
        let share = removal.take(2);
        assert!((share[1] - 1.0).abs() < 1e-6 && share[0].abs() < 1e-6 && share[3].abs() < 1e-6, "{share:?}");
        assert!(1.0 / removal.inverse_distance(1) > 0.1);
    }
}
