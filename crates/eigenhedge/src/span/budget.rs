//! A bound on the number of atoms: who is admitted, who goes.
//!
//! Setting: a dictionary with Gram matrix K. State: `K⁻¹`.
//!
//! Update: a row is admitted when the squared distance of its features from the dictionary, `k(x,x) - κᵀK⁻¹κ`, exceeds
//! a share `novelty` of `k(x,x)` (approximate linear dependence). Past the budget the atom goes whose removal changes the
//! kept directions least: atom j has the part `1/(K⁻¹)_jj` of its energy for itself, so the cost is
//! `Σ_i p_i a_ji² / (K⁻¹)_jj` over directions i that are kept with probability p_i. Its coefficients are spread over the others as `-(K⁻¹)_lj / (K⁻¹)_jj`.
//!
//! Guarantee: none; losses stay true, and the norms of all that was given up are summed.
//!
//! Cost: O(M²) for each row with M atoms. Numerics: `K⁻¹` is bordered and reduced in place; the novelty threshold bounds
//! its condition number.
//!
//! References: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE Trans. Signal Processing 2004.

use crate::eigen::Eigen;
use crate::error::Error;
use crate::matrix::{Matrix, multiply};
use crate::num::dot;
use crate::scratch::Scratch;
use serde::{Deserialize, Serialize};

/// The state of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Budget {
    atoms: usize,
    novelty: f64,
    inverse: Matrix,
    error: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// `K⁻¹ κ` of the row examined last, and its squared distance from the dictionary.
    expansion: Vec<f64>,
    distance: f64,
    share: Vec<f64>,
    costs: Vec<f64>,
    scaled: Matrix,
}

impl Budget {
    pub fn new(atoms: usize, novelty: f64) -> Result<Self, Error> {
        if atoms == 0 {
            return Err(Error::Parameter { name: "budget", rule: "at least 1", value: 0.0 });
        }
        if !(novelty > 0.0 && novelty < 1.0) {
            return Err(Error::Parameter { name: "novelty", rule: "between 0 and 1", value: novelty });
        }
        Ok(Self { atoms, novelty, inverse: Matrix::default(), error: 0.0, scratch: Scratch::default() })
    }

    pub fn atoms(&self) -> usize {
        self.atoms
    }

    pub fn error(&self) -> f64 {
        self.error
    }

    /// Squared distance of a row's features from the dictionary.
    pub fn novelty(&mut self, row: &[f64], own: f64) -> f64 {
        let Working { expansion, distance, .. } = &mut self.scratch.0;
        self.inverse.transpose_times(row, expansion);
        *distance = (own - dot(expansion, row)).max(0.0);
        *distance
    }

    pub fn admits(&self, distance: f64, own: f64) -> bool {
        distance > self.novelty * own
    }

    /// The row examined last in terms of the atoms.
    pub fn expansion(&self) -> &[f64] {
        &self.scratch.0.expansion
    }

    /// Takes in the row examined last.
    pub fn admit(&mut self, own: f64) {
        let Working { expansion, distance, .. } = &mut self.scratch.0;
        let (size, inverse) = (self.inverse.columns(), 1.0 / distance.max(f64::EPSILON * own));
        self.inverse.resize(size + 1, size + 1);
        for j in 0..size {
            let factor = inverse * expansion[j];
            let column = self.inverse.column_mut(j);
            column.iter_mut().zip(&*expansion).for_each(|(x, e)| *x += factor * e);
            column[size] = -factor;
            self.inverse.column_mut(size)[j] = -factor;
        }
        self.inverse.column_mut(size)[size] = inverse;
    }

    /// Drops the atom whose removal changes the directions and the mean least (the last atom takes its place).
    /// Returns which it was, and what each other atom takes over of its coefficient.
    ///
    /// `directions` are coefficients of the directions that matter, `importance` how much each does.
    pub fn evict(&mut self, directions: &Matrix, importance: &[f64], mean: Option<&[f64]>) -> (usize, &[f64]) {
        let size = self.inverse.columns();
        let Working { share, costs, .. } = &mut self.scratch.0;
        costs.clear();
        costs.resize(size, 0.0);
        for (j, weight) in importance.iter().enumerate() {
            costs.iter_mut().zip(directions.column(j)).for_each(|(cost, a)| *cost += weight * a * a);
        }
        if let Some(mean) = mean {
            costs.iter_mut().zip(mean).for_each(|(cost, m)| *cost += m * m);
        }
        for (atom, cost) in costs.iter_mut().enumerate() {
            *cost /= self.inverse.column(atom)[atom];
        }
        let atom = (0..size).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).unwrap_or(0);
        self.error += costs[atom].sqrt();
        let own = self.inverse.column(atom)[atom];
        share.clear();
        share.extend(self.inverse.column(atom).iter().map(|x| -x / own));
        for j in 0..size {
            let factor = own * share[j];
            self.inverse.column_mut(j).iter_mut().zip(&*share).for_each(|(x, s)| *x -= factor * s);
        }
        let last = size - 1;
        for j in 0..size {
            let column = self.inverse.column_mut(j);
            column[atom] = column[last];
        }
        if atom != last {
            let (to, from) = self.inverse.column_pair_mut(atom, last);
            to.copy_from_slice(from);
        }
        self.inverse.resize(last, last);
        share[atom] = 0.0;
        (atom, share)
    }

    /// Computes the inverse afresh from the Gram matrix of the atoms.
    pub fn refresh(&mut self, gram: &Matrix, eigen: &mut Eigen) {
        eigen.compute(gram.view());
        let size = gram.columns();
        let scaled = &mut self.scratch.0.scaled;
        scaled.resize(size, size);
        let smallest = f64::EPSILON * eigen.values.last().copied().unwrap_or(1.0);
        for j in 0..size {
            let factor = 1.0 / eigen.values[j].max(smallest);
            scaled.column_mut(j).iter_mut().zip(eigen.vectors.column(j)).for_each(|(s, u)| *s = factor * u);
        }
        multiply(&mut self.inverse, scaled.view(), eigen.vectors.view().transpose());
    }
}
