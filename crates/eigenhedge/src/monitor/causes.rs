//! Columns that make a row unusual.
//!
//! Shares are exact: with `c = x - mean` and e its part outside the directions, `Q = Σ c_j e_j` and
//! `T² = Σ c_j Σ_a P_ja t_a/s_a²`. Columns are *ranked* by how far each is from what the other columns tell (`factor_model`), which names
//! the right sensor more often than shares do: those of T² spread a fault over all columns that go with it. A column with lags
//! has the sum over its lags.

use super::directions::{Directions, Parts};
use crate::scratch::Scratch;
use serde::{Deserialize, Serialize};

/// Causes that are named for each row.
pub(super) const NAMED: usize = 3;

/// A column and its share of Q.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Position of the column.
    pub column: usize,
    /// Its share of Q, or of the sum of Q over an event; a column can have a negative one.
    pub share: f64,
}

/// Causes by column, of one row or of several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Causes {
    /// Squared deviations, given the other columns.
    pub ranks: Vec<f64>,
    /// `Σ c_j e_j`, and their sum Q.
    pub shares: Vec<f64>,
    pub q: f64,
    #[serde(skip)]
    coordinates: Scratch<Vec<f64>>,
    #[serde(skip)]
    deviations: Scratch<Vec<f64>>,
}

impl Causes {
    /// None yet.
    pub fn new(width: usize) -> Self {
        Self { ranks: vec![0.0; width], shares: vec![0.0; width], ..Self::default() }
    }

    /// Begins again.
    pub fn clear(&mut self) {
        self.ranks.fill(0.0);
        self.shares.fill(0.0);
        self.q = 0.0;
    }

    /// Takes those of a row, which has any number of lags.
    pub fn load(&mut self, directions: &Directions, parts: &Parts) {
        self.clear();
        let width = self.ranks.len();
        let deviations = &mut self.deviations.0;
        directions.squared_deviations(parts, &mut self.coordinates.0, deviations);
        for (rank, deviation) in (0..width).cycle().zip(&*deviations) {
            self.ranks[rank] += deviation;
        }
        for (share, (c, e)) in (0..width).cycle().zip(parts.centered.iter().zip(&parts.residual)) {
            self.shares[share] += c * e;
        }
        self.q = self.shares.iter().sum();
    }

    /// Adds those of a row.
    pub fn add(&mut self, row: &Self) {
        self.ranks.iter_mut().zip(&row.ranks).for_each(|(sum, rank)| *sum += rank);
        self.shares.iter_mut().zip(&row.shares).for_each(|(sum, share)| *sum += share);
        self.q += row.q;
    }

    /// The first three, fewer if there are fewer columns; `first` goes before all others.
    pub fn named(&self, first: Option<usize>) -> [Option<Cause>; NAMED] {
        let mut named = [None; NAMED];
        let whole = if self.q > 0.0 { self.q } else { 1.0 };
        let cause = |column: usize| Some(Cause { column, share: self.shares[column] / whole });
        named[0] = first.and_then(cause);
        for place in usize::from(first.is_some())..NAMED {
            let is_named = |j: usize| named.iter().flatten().any(|cause: &Cause| cause.column == j);
            let rest = (0..self.ranks.len()).filter(|j| !is_named(*j));
            let best = rest.max_by(|a, b| self.ranks[*a].total_cmp(&self.ranks[*b]).then(b.cmp(a)));
            named[place] = best.and_then(cause);
        }
        named
    }
}

/// Contributions of the numbers of a row, lags included, to Q and to T²: they sum to them.
pub(super) fn contributions(directions: &Directions, parts: &Parts) -> (Vec<f64>, Vec<f64>) {
    let of_q = parts.centered.iter().zip(&parts.residual).map(|(c, e)| c * e).collect();
    let mut of_t2 = vec![0.0; parts.centered.len()];
    for (a, (t, s)) in parts.coordinates.iter().zip(&directions.variances).enumerate() {
        of_t2.iter_mut().zip(directions.basis.column(a)).for_each(|(sum, p)| *sum += p * t / s);
    }
    of_t2.iter_mut().zip(&parts.centered).for_each(|(sum, c)| *sum *= c);
    (of_q, of_t2)
}
