//! Eviction of atoms from a dictionary above its budget.
//! First, unused atoms are removed, whose coefficients in all columns and in the origin are at rounding level. A
//! learner that forgets produces many. If they are too few, atoms are removed one by one, each time the one whose
//! removal changes the kept directions least. The part of atom j outside the span of the others has energy `1/(K⁻¹)_jj`
//! with the Gram matrix K, so the cost of its removal is `Σ_i p_i a_ji² / (K⁻¹)_jj` over the directions i, where p_i is
//! the probability that direction i is kept and a_ji is its coefficient of atom j. The origin adds a term of this form.
//! The other atoms take over the coefficients of a removed atom.
//! Cost for M atoms and w columns: O(M w) if enough atoms are unused, otherwise O(M³ + M² w), for about a sixteenth of
//! the budget or more.
//! Numerics: the images are recomputed from K, so that they match the coefficients for any condition number of K.
//! Reference: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE Trans. Signal Processing 2004.

use super::{Feature, Working, descend};
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, multiply};
use crate::scratch::zero;
use crate::span::removal::give_up;

/// Relative norm of an atom's parts in all columns and in the origin, up to which the atom counts as unused.
const IDLE: f64 = f64::EPSILON;

impl<D: Dictionary> Feature<D> {
    pub(super) fn shrink(&mut self, directions: &Matrix, importance: &[f64]) -> bool {
        self.drop_idle();
        let Some(low) = self.budget.as_ref().map(|budget| budget.low()) else { return false };
        if self.dictionary.len() <= low {
            return false;
        }
        self.form_gram();
        self.weigh(directions, importance);
        self.drop_cheapest(low);
        self.image_afresh();
        self.remove_drift()
    }

    fn drop_idle(&mut self) {
        self.know_squares();
        let Some(budget) = &mut self.budget else { return };
        let Working { costs, going, .. } = &mut self.scratch.0;
        zero(costs, self.dictionary.len());
        for j in 0..self.coefficients.columns() {
            costs.iter_mut().zip(self.coefficients.column(j)).for_each(|(cost, a)| *cost += a * a);
        }
        if let Some(origin) = &self.origin {
            let scale = if origin.square > 0.0 { 1.0 / origin.square } else { 0.0 };
            costs.iter_mut().zip(&origin.coefficients).for_each(|(cost, m)| *cost += scale * m * m);
        }
        costs.iter_mut().zip(&self.squares.0).for_each(|(cost, square)| *cost *= square);
        going.clear();
        going.reserve(costs.len());
        going.extend((0..costs.len()).rev().filter(|atom| costs[*atom] <= IDLE * IDLE));
        going.iter().for_each(|atom| budget.charge(costs[*atom].sqrt()));
        self.drop_going();
    }

    fn form_gram(&mut self) {
        let atoms = self.dictionary.len();
        let Working { row, gram, .. } = &mut self.scratch.0;
        gram.resize(atoms, atoms);
        for atom in 0..atoms {
            self.dictionary.atom_row(atom, row);
            gram.column_mut(atom).copy_from_slice(row);
        }
    }

    /// Computes the coefficients of the atoms in the directions, scaled by the importance, and in the origin.
    fn weigh(&mut self, directions: &Matrix, importance: &[f64]) {
        let Working { parts, .. } = &mut self.scratch.0;
        multiply(parts, self.coefficients.view(), directions.view());
        parts.scale_columns(|j| importance[j].max(0.0).sqrt());
        self.origin.iter().for_each(|origin| parts.push_column(&origin.coefficients));
    }

    fn drop_cheapest(&mut self, low: usize) {
        let Some(budget) = &mut self.budget else { return };
        let Working { parts, costs, going, gram, removal, .. } = &mut self.scratch.0;
        removal.begin(gram);
        while removal.left() > low {
            zero(costs, gram.columns());
            for j in 0..parts.columns() {
                costs.iter_mut().zip(parts.column(j)).for_each(|(cost, part)| *cost += part * part);
            }
            let cost = |atom: &usize| costs[*atom] / removal.inverse_distance(*atom);
            let there = (0..costs.len()).filter(|atom| removal.inverse_distance(*atom).is_finite());
            let Some(atom) = there.min_by(|a, b| cost(a).total_cmp(&cost(b))) else { break };
            budget.charge(cost(&atom).sqrt());
            let share = removal.take(atom);
            // The other atoms take over the coefficient of the removed one in every combination.
            (0..parts.columns()).for_each(|j| give_up(parts.column_mut(j), atom, share));
            (0..self.coefficients.columns()).for_each(|j| give_up(self.coefficients.column_mut(j), atom, share));
            if let Some(origin) = &mut self.origin {
                give_up(&mut origin.coefficients, atom, share);
            }
        }
        going.clone_from(&removal.gone);
        going.sort_unstable_by(|a, b| b.cmp(a));
        gram.for_each_column(|_, column| swap_remove_all(column, going));
        for (dropped, atom) in going.iter().enumerate() {
            let last = gram.columns() - 1 - dropped;
            if *atom != last {
                let (to, from) = gram.column_pair_mut(*atom, last);
                to.copy_from_slice(from);
            }
        }
        let left = gram.columns() - going.len();
        gram.resize(left, left);
        self.drop_going();
    }

    /// Removes the atoms listed in `going`, which must be in descending order.
    fn drop_going(&mut self) {
        let going = &self.scratch.0.going;
        let (left, columns) = (self.dictionary.len() - going.len(), self.coefficients.columns());
        for j in 0..columns {
            swap_remove_all(self.coefficients.column_mut(j), going);
            swap_remove_all(self.images.column_mut(j), going);
        }
        self.coefficients.resize(left, columns);
        self.images.resize(left, columns);
        if let Some(origin) = &mut self.origin {
            swap_remove_all(&mut origin.coefficients, going);
            swap_remove_all(&mut origin.image, going);
            origin.coefficients.truncate(left);
            origin.image.truncate(left);
        }
        for atom in going {
            self.dictionary.swap_remove(*atom);
            self.lineage = descend(self.lineage, !(*atom as u64));
            self.squares.0.swap_remove(*atom);
        }
    }

    fn image_afresh(&mut self) {
        let gram = &self.scratch.0.gram;
        multiply(&mut self.images, gram.view(), self.coefficients.view());
        if let Some(origin) = &mut self.origin {
            gram.transpose_times(&origin.coefficients, &mut origin.image);
        }
        self.take_for_fresh();
    }
}

/// Replaces each of these entries, at descending positions, by the last remaining one. The caller shortens the list.
fn swap_remove_all(entries: &mut [f64], places: &[usize]) {
    let mut last = entries.len();
    for place in places {
        last -= 1;
        entries[*place] = entries[last];
    }
}
