//! Mean, scatter and leading directions of the rows, with a memory; the statistics of a row.
//!
//! Setting: rows x of d numbers. With weights that fade, `mean` and `C = scatter/weight` are mean and covariance of the rows
//! that were learned. The k leading directions P of C have the variances s².
//!
//! Statistics of a row, with `c = x - mean`, `t = Pᵀc`, `e = c - P t`: `Q = |e|²`, `T² = Σ t²/s²`, `M = max_j e_j²/r_j²` with
//! r_j² the energy of column j outside the directions, at least [`LEAST_RESIDUAL`] of its mean over the columns.
//!
//! Cost: O(d²) for a row that is learned, O(dk) for its statistics, O(d³) for new directions.
//!
//! Not done: more than [`LARGEST`] numbers, lags included; the matrix would take too much memory and time.

use super::factor_model::FactorModel;
use crate::error::Error;
use crate::impute::{Imputation, ridge};
use crate::linalg::{Eigen, Matrix, add_lower_product};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::state::{self, energy, ensure, entries, length};
use serde::{Deserialize, Serialize};

/// Rows that count in the scatter, about, and in the mean. A level moves more often than the way in which columns go together.
const MEMORY: f64 = 500.0;
const MEMORY_OF_MEAN: f64 = 200.0;
/// Least energy of a column outside the directions, as a share of the mean.
const LEAST_RESIDUAL: f64 = 0.03;
/// Share of the energy of a row under which everything is rounding.
const ROUNDING: f64 = 1e-9;
/// Most numbers in a row, lags included.
pub(super) const LARGEST: usize = 4096;

/// Number of directions that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Kept {
    /// This many.
    Count(usize),
    /// As many as hold this share of the energy.
    Share(f64),
}

/// Mean, scatter and leading directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Directions {
    kept: Kept,
    mean: Vec<f64>,
    /// Lower triangle, divided by `scale`.
    scatter: Matrix,
    scale: f64,
    weight: f64,
    /// True if a row was learned after the directions were found.
    is_stale: bool,
    pub basis: Matrix,
    pub variances: Vec<f64>,
    pub residual_energy: Vec<f64>,
    /// Directions and residual energies as a factor model.
    factors: FactorModel,
    /// Smallest number that counts as an energy.
    pub floor: f64,
    #[serde(skip)]
    eigen: Scratch<Eigen>,
    #[serde(skip)]
    working: Scratch<Matrix>,
    #[serde(skip)]
    imputation: Scratch<Imputation>,
}

/// A row as the directions see it.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    /// The row from the mean.
    pub centered: Vec<f64>,
    pub coordinates: Vec<f64>,
    /// The part outside the directions.
    pub residual: Vec<f64>,
}

impl Directions {
    /// Fitted to rows in the columns of a matrix, without those in the range.
    pub fn fit(rows: &Matrix, without: std::ops::Range<usize>, kept: Kept) -> Self {
        let d = rows.rows();
        let used = || (0..rows.columns()).filter(|t| !without.contains(t));
        let weight = used().count().max(1) as f64;
        let mut mean = vec![0.0; d];
        used().for_each(|t| mean.iter_mut().zip(rows.column(t)).for_each(|(m, x)| *m += x / weight));
        let mut centered = Matrix::zeros(d, 0);
        let mut column = vec![0.0; d];
        for t in used() {
            column.iter_mut().zip(rows.column(t)).zip(&mean).for_each(|((c, x), m)| *c = x - m);
            centered.push_column(&column);
        }
        let mut scatter = Matrix::zeros(d, d);
        if centered.columns() > 0 {
            add_lower_product(&mut scatter, centered.view(), centered.view().transpose());
        }
        let mut directions = Self {
            kept,
            mean,
            scatter,
            scale: 1.0,
            weight,
            is_stale: true,
            basis: Matrix::zeros(d, 0),
            variances: Vec::new(),
            residual_energy: vec![0.0; d],
            factors: FactorModel::default(),
            floor: f64::MIN_POSITIVE,
            eigen: Scratch::default(),
            working: Scratch::default(),
            imputation: Scratch::default(),
        };
        directions.refresh();
        directions
    }

    /// Numbers in a row.
    pub fn length(&self) -> usize {
        self.mean.len()
    }

    /// The row from the mean, along the directions and outside them; returns Q, T² and M.
    pub fn look(&self, row: &[f64], parts: &mut Parts) -> [f64; 3] {
        let Parts { centered, coordinates, residual } = parts;
        centered.clear();
        centered.extend(row.iter().zip(&self.mean).map(|(x, m)| x - m));
        self.basis.transpose_times(centered, coordinates);
        residual.clone_from(centered);
        self.basis.subtract_times(coordinates, residual);
        let q = dot(residual, residual);
        let t2 = coordinates.iter().zip(&self.variances).map(|(t, s)| t * t / s).sum();
        let m = residual.iter().zip(&self.residual_energy).fold(0.0, |most: f64, (e, r)| most.max(e * e / r));
        [q, t2, m]
    }

    /// Writes how far each number of a row is from what the others tell, as a squared number of deviations.
    pub fn squared_deviations(&self, parts: &Parts, coordinates: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.factors.squared_deviations(&parts.centered, &self.residual_energy, coordinates, out);
    }

    /// Mean of the rows that were learned.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Fills in the cells of a row that are NaN.
    pub fn fill(&mut self, row: &mut [f64]) {
        let noise = self.residual_energy.iter().sum::<f64>() / row.len().max(1) as f64;
        let ridges: Vec<f64> = self.variances.iter().map(|variance| ridge(noise, *variance)).collect();
        row.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x -= mean);
        self.imputation.0.fill(&self.basis, &ridges, row);
        row.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x += mean);
    }

    /// Learns from a row, moved to this share of its distance from the mean; the directions stay until they are refreshed.
    pub fn learn(&mut self, row: &[f64], share: f64) {
        let forget = 1.0 - 1.0 / MEMORY;
        let before = forget * self.weight;
        self.weight = before + 1.0;
        self.scale *= forget;
        let step = (1.0 / self.weight).max(1.0 / MEMORY_OF_MEAN);
        let factor = (1.0 - step) / self.scale;
        let centered = &mut self.working.0;
        centered.resize(self.mean.len(), 1);
        let centered = centered.column_mut(0);
        for ((c, m), x) in centered.iter_mut().zip(&mut self.mean).zip(row) {
            *c = share * (x - *m);
            *m += step * *c;
        }
        for j in 0..centered.len() {
            let times = factor * centered[j];
            let column = &mut self.scatter.column_mut(j)[j..];
            column.iter_mut().zip(&centered[j..]).for_each(|(entry, c)| *entry += times * c);
        }
        self.is_stale = true;
    }

    /// Finds the directions of what has been learned.
    pub fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let d = self.mean.len();
        for j in 0..d {
            self.scatter.column_mut(j)[j..].iter_mut().for_each(|entry| *entry *= self.scale);
        }
        self.scale = 1.0;
        let covariance = &mut self.working.0;
        covariance.resize(d, d);
        for j in 0..d {
            let to = &mut covariance.column_mut(j)[j..];
            to.iter_mut().zip(&self.scatter.column(j)[j..]).for_each(|(to, from)| *to = from / self.weight);
        }
        let eigen = &mut self.eigen.0;
        eigen.compute(covariance.view());
        let trace: f64 = eigen.values.iter().map(|value| value.max(0.0)).sum();
        self.floor = (ROUNDING * trace / d.max(1) as f64).max(f64::MIN_POSITIVE.sqrt());
        let most = d.saturating_sub(1);
        let k = match self.kept {
            Kept::Count(k) => k.min(most),
            Kept::Share(share) => {
                let mut held = 0.0;
                let descending = eigen.values.iter().rev();
                1 + descending
                    .take_while(|value| {
                        held += value.max(0.0);
                        held < share * trace
                    })
                    .count()
            }
        };
        let k = k.min(most);
        self.basis.resize(d, k);
        self.variances.clear();
        for (j, energy) in self.residual_energy.iter_mut().enumerate() {
            *energy = covariance.column(j)[j];
        }
        for a in 0..k {
            let direction = eigen.vectors.column(d - 1 - a);
            let variance = eigen.values[d - 1 - a].max(0.0);
            self.basis.column_mut(a).copy_from_slice(direction);
            self.variances.push(variance.max(self.floor));
            self.residual_energy.iter_mut().zip(direction).for_each(|(energy, p)| *energy -= variance * p * p);
        }
        let mean = self.residual_energy.iter().map(|energy| energy.max(0.0)).sum::<f64>() / d.max(1) as f64;
        let least = (LEAST_RESIDUAL * mean).max(self.floor);
        self.residual_energy.iter_mut().for_each(|energy| *energy = energy.max(least));
        self.factors.fit(&self.basis, &self.variances, &self.residual_energy, &mut self.eigen.0);
    }

    /// Checks what was read from bytes, for rows of d numbers.
    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        length("the mean of a monitor", self.mean.len(), d)?;
        ensure(self.scatter.rows() == d && self.scatter.columns() == d, "the scatter of a monitor must be square")?;
        let k = self.basis.columns();
        ensure(self.basis.rows() == d && k <= d, "the directions of a monitor must fit its rows")?;
        length("the variances of a monitor", self.variances.len(), k)?;
        length("the residual energies of a monitor", self.residual_energy.len(), d)?;
        entries("the mean of a monitor", &self.mean, -state::LARGEST..=state::LARGEST)?;
        for j in 0..d {
            entries("the scatter of a monitor", self.scatter.column(j), -state::LARGEST..=state::LARGEST)?;
        }
        for j in 0..k {
            entries("the directions of a monitor", self.basis.column(j), -1.001..=1.001)?;
        }
        entries("the variances of a monitor", &self.variances, f64::MIN_POSITIVE..=state::LARGEST)?;
        entries("the residual energies of a monitor", &self.residual_energy, f64::MIN_POSITIVE..=state::LARGEST)?;
        self.factors.check_state(d, k)?;
        energy("the floor of a monitor", self.floor)?;
        state::within("the scale of the scatter", self.scale, 1e-100..=1.0)?;
        state::within("the weight of the rows of a monitor", self.weight, 1.0..=state::LARGEST)?;
        match self.kept {
            Kept::Count(_) => Ok(()),
            Kept::Share(share) => state::within("the share of the energy", share, 0.0..=1.0),
        }
    }
}
