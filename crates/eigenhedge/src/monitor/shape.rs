//! Mean and leading directions of the warm-up, and the statistics of a row relative to any level.
//!
//! Setting: weighted rows x of d numbers. `mean` and C are their weighted mean and covariance. The k leading directions P of C
//! have the variances s².
//!
//! Statistics of a row relative to a level l, with `c = x - l`, `t = Pᵀc`, `e = c - P t`: `Q = |e|²`, `T² = Σ t²/s²`, `M =
//! max_j e_j²/r_j²`, where r_j² is the energy of column j outside the directions, at least [`LEAST_RESIDUAL`] of its mean over
//! the columns. M detects a fault in one of many columns, which Q dilutes.
//!
//! The shape never changes after the warm-up, because a model that adapts to its rows learns a fault.
//!
//! Cost: O(dk) for the statistics of a row; O(d³) once.
//!
//! Not done: more than [`LARGEST`] numbers per row, including lags. The eigenproblem would take too much memory and time.

use super::factor_model::FactorModel;
use crate::error::Error;
use crate::impute::{Imputation, ridge};
use crate::linalg::{Eigen, Matrix, add_lower_product};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::state::{self, energy, ensure, entries, length};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Minimum residual energy of a column, as a share of the mean over the columns.
const LEAST_RESIDUAL: f64 = 0.03;
/// Share of the energy of a row below which values count as rounding errors.
const ROUNDING: f64 = 1e-9;
/// Maximum number of values in a row, including lags.
pub(super) const LARGEST: usize = 4096;

/// Rule for the number of directions to keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Kept {
    /// A fixed number of directions.
    Count(usize),
    /// Smallest number of directions that contain this share of the energy.
    Share(f64),
}

/// Warm-up rows, as columns of a matrix, with weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    pub rows: &'a Matrix,
    pub weights: &'a [f64],
    /// Number of values per row that vary. The others are zero in every row.
    pub active: usize,
}

/// Mean and leading directions of the warm-up rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    mean: Vec<f64>,
    pub basis: Matrix,
    pub variances: Vec<f64>,
    pub residual_energy: Vec<f64>,
    /// Factor model of the directions and the residual energies.
    factors: FactorModel,
    /// Smallest energy that is not a rounding error.
    pub floor: f64,
    #[serde(skip)]
    imputation: Scratch<Imputation>,
}

/// Parts of a row, relative to the shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    /// Row minus the level.
    pub centered: Vec<f64>,
    pub coordinates: Vec<f64>,
    /// Part of the row outside the directions.
    pub residual: Vec<f64>,
}

impl Shape {
    /// Fits the shape to the rows that are not in the range `without`.
    pub fn fit(sample: Sample<'_>, without: Range<usize>, kept: Kept) -> Self {
        let (mean, covariance) = moments(sample, without);
        let d = mean.len();
        let mut eigen = Eigen::default();
        eigen.compute(covariance.view());
        let active = sample.active.max(1);
        let trace: f64 = eigen.values.iter().map(|value| value.max(0.0)).sum();
        let floor = (ROUNDING * trace / active as f64).max(f64::MIN_POSITIVE.sqrt());
        let k = match kept {
            Kept::Count(k) => k,
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
        let k = k.min(active - 1);
        let mut basis = Matrix::zeros(d, k);
        let mut variances = Vec::with_capacity(k);
        let mut residual_energy: Vec<f64> = (0..d).map(|j| covariance.column(j)[j]).collect();
        for a in 0..k {
            let direction = eigen.vectors.column(d - 1 - a);
            let variance = eigen.values[d - 1 - a].max(0.0);
            basis.column_mut(a).copy_from_slice(direction);
            variances.push(variance.max(floor));
            residual_energy.iter_mut().zip(direction).for_each(|(energy, p)| *energy -= variance * p * p);
        }
        let mean_energy = residual_energy.iter().map(|energy| energy.max(0.0)).sum::<f64>() / active as f64;
        let least = (LEAST_RESIDUAL * mean_energy).max(floor);
        residual_energy.iter_mut().for_each(|energy| *energy = energy.max(least));
        let mut factors = FactorModel::default();
        factors.fit(&basis, &variances, &residual_energy, &mut eigen);
        Self { mean, basis, variances, residual_energy, factors, floor, imputation: Scratch::default() }
    }

    /// Splits the row minus the level into its parts along and outside the directions. Returns Q, T² and M.
    pub fn look(&self, row: &[f64], level: &[f64], parts: &mut Parts) -> [f64; 3] {
        let Parts { centered, coordinates, residual } = parts;
        centered.clear();
        centered.extend(row.iter().zip(level).map(|(x, l)| x - l));
        self.basis.transpose_times(centered, coordinates);
        residual.clone_from(centered);
        self.basis.subtract_times(coordinates, residual);
        let q = dot(residual, residual);
        let t2 = coordinates.iter().zip(&self.variances).map(|(t, s)| t * t / s).sum();
        let m = residual.iter().zip(&self.residual_energy).fold(0.0, |most: f64, (e, r)| most.max(e * e / r));
        [q, t2, m]
    }

    /// Returns the smallest values of Q, T² and M that are not rounding errors.
    pub fn floors(&self) -> [f64; 3] {
        [self.floor, ROUNDING, ROUNDING]
    }

    /// Writes the squared deviation of each value from its prediction by the other values of the row.
    pub fn squared_deviations(&self, parts: &Parts, coordinates: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.factors.squared_deviations(&parts.centered, &self.residual_energy, coordinates, out);
    }

    /// Returns the mean of the warm-up.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Sets the mean to these column means, for every lag.
    pub fn move_to(&mut self, means: &[f64]) {
        self.mean.iter_mut().zip(means.iter().cycle()).for_each(|(mean, moved)| *mean = *moved);
    }

    /// Fills in the NaN cells of a row, relative to the current level.
    pub fn fill(&mut self, row: &mut [f64], level: &[f64]) {
        let noise = self.residual_energy.iter().sum::<f64>() / row.len().max(1) as f64;
        let ridges: Vec<f64> = self.variances.iter().map(|variance| ridge(noise, *variance)).collect();
        row.iter_mut().zip(level).for_each(|(x, l)| *x -= l);
        self.imputation.0.fill(&self.basis, &ridges, row);
        row.iter_mut().zip(level).for_each(|(x, l)| *x += l);
    }

    /// Checks a deserialized state for rows of d numbers.
    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        length("the mean of a monitor", self.mean.len(), d)?;
        let k = self.basis.columns();
        ensure(self.basis.rows() == d && k <= d, "the directions of a monitor must fit its rows")?;
        length("the variances of a monitor", self.variances.len(), k)?;
        length("the residual energies of a monitor", self.residual_energy.len(), d)?;
        entries("the mean of a monitor", &self.mean, -state::LARGEST..=state::LARGEST)?;
        for j in 0..k {
            entries("the directions of a monitor", self.basis.column(j), -1.001..=1.001)?;
        }
        entries("the variances of a monitor", &self.variances, f64::MIN_POSITIVE..=state::LARGEST)?;
        entries("the residual energies of a monitor", &self.residual_energy, f64::MIN_POSITIVE..=state::LARGEST)?;
        self.factors.check_state(d, k)?;
        energy("the floor of a monitor", self.floor)
    }
}

/// Computes the weighted mean and covariance of the rows that are not in the range `without`. The covariance is in the
/// lower triangle.
fn moments(sample: Sample<'_>, without: Range<usize>) -> (Vec<f64>, Matrix) {
    let Sample { rows, weights, .. } = sample;
    let d = rows.rows();
    let used = || (0..rows.columns()).filter(|t| !without.contains(t) && weights[*t] > 0.0);
    let total = used().map(|t| weights[t]).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut mean = vec![0.0; d];
    used().for_each(|t| mean.iter_mut().zip(rows.column(t)).for_each(|(m, x)| *m += weights[t] / total * x));
    let mut centered = Matrix::zeros(d, 0);
    let mut column = vec![0.0; d];
    for t in used() {
        let root = (weights[t] / total).sqrt();
        column.iter_mut().zip(rows.column(t)).zip(&mean).for_each(|((c, x), m)| *c = root * (x - m));
        centered.push_column(&column);
    }
    let mut covariance = Matrix::zeros(d, d);
    if centered.columns() > 0 {
        add_lower_product(&mut covariance, centered.view(), centered.view().transpose());
    }
    (mean, covariance)
}
