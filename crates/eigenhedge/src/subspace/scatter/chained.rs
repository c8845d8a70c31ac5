//! All eigenpairs of a running scatter matrix, exact up to rounding after every row.
//!
//! Update: the state is an older eigenbasis R and the factors E_1 … E_b of the rank-one updates since then, as Cauchy
//! matrices. The coordinates of a row z are `E_bᵀ … E_1ᵀ Rᵀ z`. With w columns, the matrix is decomposed again every
//! `√w` rows, which costs O(w^2.5) per row. With at most [`TURNED`] columns, every factor is multiplied into R at once,
//! and a new decomposition every [`TURNS`] rows only removes rounding.
//! Numerics: the solution of the secular equation does not depend on the gaps between eigenvalues, so neither does the
//! accuracy. Eigenvalues that forgetting has reduced to rounding become zero instead of subnormal, which is slow.

use super::super::rule::{Directions, Observed};
use super::row_sum::{ROUNDING, RowSum};
use crate::error::Error;
use crate::linalg::checks::{orthonormal, shape};
use crate::linalg::{Eigen, Factor, FactorScratch, Matrix, multiply};
use crate::scratch::{Scratch, zero};
use crate::state::{State, ensure};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(in super::super) struct Chained {
    pub(super) sum: RowSum,
    /// At the most recent decomposition, with the factors multiplied into them since then.
    basis: Matrix,
    pub values: Vec<f64>,
    chain: Chain,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

/// Factors since the most recent decomposition. Only the first `used` are valid. The others keep their memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Chain {
    factors: Vec<Factor>,
    used: usize,
}

impl PartialEq for Chain {
    fn eq(&self, other: &Self) -> bool {
        self.factors[..self.used] == other.factors[..other.used]
    }
}

#[derive(Debug, Clone, Default)]
struct Working {
    eigen: Eigen,
    working: FactorScratch,
    coordinates: Vec<f64>,
    of_directions: Matrix,
    product: Matrix,
    image: Vec<f64>,
    keep: Vec<bool>,
}

const TURNED: usize = 128;
/// Number of dyads above which one decomposition adds them, or half of [`longest_chain`] if that is more.
const AT_ONCE: usize = 8;
const TURNS: usize = 256;

impl State for Chained {
    fn check_state(&self, _: &Self) -> Result<(), Error> {
        let columns = self.values.len();
        ensure(self.basis.columns() <= columns, "a decomposition must be of columns that are there")?;
        self.sum.check_state(columns)?;
        shape("the eigenvectors", &self.basis, self.basis.columns(), self.basis.columns())?;
        orthonormal("the eigenvectors", &self.basis)?;
        let Chain { factors, used } = &self.chain;
        let used =
            factors.get(..*used).ok_or(Error::State("the changes since the last decomposition must be there"))?;
        let mut least = self.basis.columns();
        for factor in used {
            let fits = (least..=columns).contains(&factor.size);
            ensure(fits, "changes since the last decomposition must be of columns that were there")?;
            factor.check_state()?;
            least = factor.size;
        }
        Ok(())
    }
}

/// The directions span all columns, so no part of a point is outside them.
impl Directions for Chained {
    fn columns(&self) -> usize {
        self.values.len()
    }

    fn observe(&mut self, columns: &[f64]) -> f64 {
        let Working { working, coordinates, image, .. } = &mut self.scratch.0;
        let size = self.basis.columns();
        self.basis.transpose_times(&columns[..size], coordinates);
        coordinates.extend_from_slice(&columns[size..]);
        for factor in &self.chain.factors[..self.chain.used] {
            zero(image, factor.size);
            factor.apply_transpose(&coordinates[..factor.size], image, working);
            coordinates[..factor.size].copy_from_slice(image);
        }
        0.0
    }

    fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    fn select(&mut self, order: &[usize], out: &mut Matrix) {
        let Working { working, of_directions: coordinates, product, .. } = &mut self.scratch.0;
        coordinates.reset(self.values.len(), order.len());
        order.iter().enumerate().for_each(|(c, i)| coordinates.column_mut(c)[*i] = 1.0);
        for factor in self.chain.factors[..self.chain.used].iter().rev() {
            factor.apply_to_columns(coordinates, working);
        }
        let size = self.basis.columns();
        out.resize(self.values.len(), order.len());
        if size == 0 || order.is_empty() {
            return out.clone_from(coordinates);
        }
        multiply(product, self.basis.view(), coordinates.view().subrows(0, size));
        for c in 0..order.len() {
            let (known, new) = out.column_mut(c).split_at_mut(size);
            known.copy_from_slice(product.column(c));
            new.copy_from_slice(&coordinates.column(c)[size..]);
        }
    }
}

impl Chained {
    pub fn grow(&mut self, columns: usize) {
        self.values.resize(columns, 0.0);
        self.sum.grow(columns);
    }

    pub fn add(&mut self, forget: f64, instance: &Observed) {
        fade(&mut self.values, forget);
        self.sum.fade(forget);
        if instance.weights.len() > AT_ONCE.max(longest_chain(self.values.len()) / 2) {
            for (j, weight) in instance.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                self.sum.push(instance.coordinates.column(j), *weight * instance.unit_square);
            }
            return self.decompose();
        }
        for (j, weight) in instance.weights.iter().enumerate().rev().filter(|(_, weight)| **weight > 0.0) {
            let point = instance.coordinates.column(j);
            if j + 1 < instance.weights.len() {
                self.observe(point);
            }
            self.add_dyad(point, *weight * instance.unit_square);
        }
    }

    fn add_dyad(&mut self, point: &[f64], weight: f64) {
        if self.chain.used == self.chain.factors.len() {
            self.chain.factors.push(Factor::default());
        }
        let size = self.values.len();
        let Working { coordinates, working, keep, .. } = &mut self.scratch.0;
        let factor = &mut self.chain.factors[self.chain.used];
        factor.solve(&mut self.values, weight, coordinates, working);
        if size <= TURNED {
            for j in self.basis.columns()..size {
                self.basis.resize(size, j + 1);
                self.basis.column_mut(j)[j] = 1.0;
            }
            keep.resize(size, true);
            factor.rotate(&mut self.basis, keep, working);
        } else {
            self.chain.used += 1;
        }
        self.sum.push(point, weight);
        if self.sum.recent() >= if size <= TURNED { TURNS } else { longest_chain(size) } {
            self.decompose();
        }
    }

    pub fn reduce(&mut self, rotation: &Matrix) {
        self.sum.reduce(rotation);
        self.values.truncate(rotation.columns());
        self.decompose();
    }

    pub(super) fn of(sum: RowSum) -> Self {
        let mut all = Self { values: vec![0.0; sum.columns()], sum, ..Self::default() };
        all.decompose();
        all
    }

    /// Returns `None` if a row was added since the decomposition or there are few columns.
    pub(super) fn decomposed(&self) -> Option<(&Matrix, &RowSum)> {
        let is_long = self.values.len() > TURNED && self.basis.columns() == self.values.len();
        (is_long && self.sum.recent() == 0 && self.chain.used == 0).then_some((&self.basis, &self.sum))
    }

    fn decompose(&mut self) {
        self.chain.used = 0;
        self.scratch.0.eigen.compute_graded(self.sum.collect());
        self.basis.clone_from(&self.scratch.0.eigen.vectors);
        for (value, fresh) in self.values.iter_mut().zip(&self.scratch.0.eigen.values) {
            *value = fresh.max(0.0);
        }
    }
}

fn fade(values: &mut [f64], factor: f64) {
    if factor != 1.0 {
        let gone = ROUNDING * values.iter().fold(0f64, |a, v| a.max(*v));
        values.iter_mut().for_each(|v| *v = if *v > gone { *v * factor } else { 0.0 });
    }
}

/// About `√w`: applying so many factors to all rows since the last decomposition costs as much as a new one, O(w³).
fn longest_chain(size: usize) -> usize {
    ((size as f64).sqrt() as usize).max(4)
}
