//! Columns that cause a score.
//!
//! A column is *ranked* by its squared deviation from what the other columns of the row predict (`factor_model`). That names the right
//! sensor more often than contributions to Q or T² do: those of T² spread a fault over all columns that go with it. A column with
//! lags has the sum over its lags. Its *share* is its part of the sum over all columns, so that shares are positive, sorted, and add
//! up to at most 1.
//!
//! Contributions to Q (`Σ c_j e_j`, which sum to it exactly) are kept for pictures; a single one can be negative.

use super::shape::{Parts, Shape};
use crate::error::Error;
use crate::scratch::Scratch;
use crate::state::{LARGEST, entries, length};
use serde::{Deserialize, Serialize};

/// Causes that are named for each row.
pub(super) const NAMED: usize = 3;

/// A column and its share of the squared deviations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Position of the column.
    pub column: usize,
    /// Its share of the squared deviations of all columns, over the rows of an event or of one row.
    pub share: f64,
}

/// Causes by column, of one row or of several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Causes {
    /// Squared deviations, given the other columns.
    pub ranks: Vec<f64>,
    /// Contributions to Q.
    pub contributions: Vec<f64>,
    #[serde(skip)]
    coordinates: Scratch<Vec<f64>>,
    #[serde(skip)]
    deviations: Scratch<Vec<f64>>,
}

impl Causes {
    /// None yet.
    pub fn new(width: usize) -> Self {
        Self { ranks: vec![0.0; width], contributions: vec![0.0; width], ..Self::default() }
    }

    /// Begins again.
    pub fn clear(&mut self) {
        self.ranks.fill(0.0);
        self.contributions.fill(0.0);
    }

    /// Begins again with room for this many columns.
    pub fn reset(&mut self, width: usize) {
        self.clear();
        self.ranks.resize(width, 0.0);
        self.contributions.resize(width, 0.0);
    }

    /// Takes those of a row, which has any number of lags.
    pub fn load(&mut self, shape: &Shape, parts: &Parts) {
        self.rank(shape, parts);
        self.contributions.fill(0.0);
        let width = self.ranks.len();
        for (j, (c, e)) in (0..width).cycle().zip(parts.centered.iter().zip(&parts.residual)) {
            self.contributions[j] += c * e;
        }
    }

    /// Takes the ranks of a row alone.
    pub fn rank(&mut self, shape: &Shape, parts: &Parts) {
        self.ranks.fill(0.0);
        let width = self.ranks.len();
        let deviations = &mut self.deviations.0;
        shape.squared_deviations(parts, &mut self.coordinates.0, deviations);
        for (rank, deviation) in (0..width).cycle().zip(&*deviations) {
            self.ranks[rank] += deviation;
        }
    }

    /// Puts a column before all others.
    pub fn blame(&mut self, column: usize) {
        let largest = self.ranks.iter().copied().fold(1.0, f64::max);
        self.ranks[column] += largest;
    }

    /// Adds those of a row.
    pub fn add(&mut self, row: &Self) {
        self.ranks.iter_mut().zip(&row.ranks).for_each(|(sum, rank)| *sum += rank);
        self.contributions.iter_mut().zip(&row.contributions).for_each(|(sum, part)| *sum += part);
    }

    /// The first three, fewer if fewer columns deviate.
    pub fn named(&self) -> [Option<Cause>; NAMED] {
        let mut named = [None; NAMED];
        let sum: f64 = self.ranks.iter().sum();
        for place in 0..NAMED {
            let is_named = |j: usize| named.iter().flatten().any(|cause: &Cause| cause.column == j);
            let rest = (0..self.ranks.len()).filter(|j| self.ranks[*j] > 0.0 && !is_named(*j));
            let best = rest.max_by(|a, b| self.ranks[*a].total_cmp(&self.ranks[*b]).then(b.cmp(a)));
            named[place] = best.map(|column| Cause { column, share: self.ranks[column] / sum });
        }
        named
    }

    /// Checks causes that were read from bytes.
    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("causes of an event", self.ranks.len(), width)?;
        length("causes of an event", self.contributions.len(), width)?;
        entries("causes of an event", &self.ranks, 0.0..=LARGEST)?;
        entries("causes of an event", &self.contributions, -LARGEST..=LARGEST)
    }
}

/// Contributions of the numbers of a row, lags included, to Q and to T²: they sum to them.
pub(super) fn contributions(shape: &Shape, parts: &Parts) -> (Vec<f64>, Vec<f64>) {
    let of_q = parts.centered.iter().zip(&parts.residual).map(|(c, e)| c * e).collect();
    let mut of_t2 = vec![0.0; parts.centered.len()];
    for (a, (t, s)) in parts.coordinates.iter().zip(&shape.variances).enumerate() {
        of_t2.iter_mut().zip(shape.basis.column(a)).for_each(|(sum, p)| *sum += p * t / s);
    }
    of_t2.iter_mut().zip(&parts.centered).for_each(|(sum, c)| *sum *= c);
    (of_q, of_t2)
}
