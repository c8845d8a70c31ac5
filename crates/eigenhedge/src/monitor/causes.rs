//! Columns that cause a score.
//!
//! Columns are *ranked* by the squared standardized deviation of each from its prediction by the other columns of the
//! row (`factor_model`), summed over lags. This finds the faulty sensor more often than contributions to Q or T², which
//! spread a fault over correlated columns. The *share* of a column is its deviation divided by the sum of all.
//! Contributions to Q, `c_j e_j` with the centered row c and its residual e, are stored for plots.

use super::shape::{Parts, Shape};
use crate::error::Error;
use crate::scratch::Scratch;
use crate::state::{LARGEST, list};
use serde::{Deserialize, Serialize};

pub(super) const NAMED: usize = 3;

/// Column that contributed to a score, and its share of the squared deviations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Index of the column (from 0).
    pub column: usize,
    /// Squared deviation of the column, as a share of the sum over all columns.
    pub share: f64,
}

/// Deviations of the columns, for one row or summed over several rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Causes {
    pub ranks: Vec<f64>,
    pub contributions: Vec<f64>,
    #[serde(skip)]
    coordinates: Scratch<Vec<f64>>,
    #[serde(skip)]
    deviations: Scratch<Vec<f64>>,
}

impl Causes {
    pub fn new(width: usize) -> Self {
        Self { ranks: vec![0.0; width], contributions: vec![0.0; width], ..Self::default() }
    }

    pub fn clear(&mut self) {
        self.ranks.fill(0.0);
        self.contributions.fill(0.0);
    }

    pub fn reset(&mut self, width: usize) {
        self.clear();
        self.ranks.resize(width, 0.0);
        self.contributions.resize(width, 0.0);
    }

    pub fn load(&mut self, shape: &Shape, parts: &Parts) {
        self.rank(shape, parts);
        self.contributions.fill(0.0);
        let width = self.ranks.len();
        for (j, (c, e)) in (0..width).cycle().zip(parts.centered.iter().zip(&parts.residual)) {
            self.contributions[j] += c * e;
        }
    }

    pub fn rank(&mut self, shape: &Shape, parts: &Parts) {
        self.ranks.fill(0.0);
        let width = self.ranks.len();
        let deviations = &mut self.deviations.0;
        shape.squared_deviations(parts, &mut self.coordinates.0, deviations);
        for (rank, deviation) in (0..width).cycle().zip(&*deviations) {
            self.ranks[rank] += deviation;
        }
    }

    pub fn blame(&mut self, column: usize) {
        let largest = self.ranks.iter().copied().fold(1.0, f64::max);
        self.ranks[column] += largest;
    }

    pub fn add(&mut self, row: &Self) {
        self.ranks.iter_mut().zip(&row.ranks).for_each(|(sum, rank)| *sum += rank);
        self.contributions.iter_mut().zip(&row.contributions).for_each(|(sum, part)| *sum += part);
    }

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

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        list("causes of an event", &self.ranks, width, 0.0..=LARGEST)?;
        list("causes of an event", &self.contributions, width, -LARGEST..=LARGEST)
    }
}

/// Returns the contributions of the cells of a row, including lags, to Q and to T². They sum to Q and to T².
pub(super) fn contributions(shape: &Shape, parts: &Parts) -> (Vec<f64>, Vec<f64>) {
    let of_q = parts.centered.iter().zip(&parts.residual).map(|(c, e)| c * e).collect();
    let mut of_t2 = vec![0.0; parts.centered.len()];
    for (a, (t, s)) in parts.coordinates.iter().zip(&shape.variances).enumerate() {
        of_t2.iter_mut().zip(shape.basis.column(a)).for_each(|(sum, p)| *sum += p * t / s);
    }
    of_t2.iter_mut().zip(&parts.centered).for_each(|(sum, c)| *sum *= c);
    (of_q, of_t2)
}
