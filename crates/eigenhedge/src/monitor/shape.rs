//! Mean and leading directions of the warm-up, and the statistics of a row relative to any level.
//!
//! Setting: weighted rows x of d numbers. `mean` and C are their weighted mean and covariance. P
//! are the k leading directions of C, with variances s².
//!
//! Statistics of a row relative to a level l, with `c = x - l`, `t = Pᵀc` and `e = c - P t`: Q is the squared length of
//! e, `T² = Σ t²/s²` and `M = max_j e_j²/r_j²`. Here r_j² is the energy of column j outside the directions, at least
//! [`LEAST_RESIDUAL`] of its mean over the columns. M detects a fault in one of many columns, which Q dilutes.
//!
//! The shape is not updated after the warm-up, because a model that adapts to its rows learns a fault.
//!
//! Cost: O(dk) for the statistics of a row. O(min(d, n)³) for the directions of n rows. If there are fewer rows than
//! columns, these come from the Gram matrix of the rows, unless they are inaccurate.
//!
//! Not done: more than [`LARGEST`] numbers per row, including lags.

use super::factor_model::FactorModel;
use crate::error::Error;
use crate::impute::{Imputation, ridge};
use crate::linalg::checks::matrix_entries;
use crate::linalg::{Eigen, Matrix, lower_square, multiply, separate_pairs, top};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::state::{self, energy, ensure, list};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Minimum residual energy of a column, as a share of the mean over the columns.
const LEAST_RESIDUAL: f64 = 0.03;
/// Share of the mean energy of the columns below which an energy, T² or M is a rounding error.
const ROUNDING: f64 = 1e-9;
/// Smallest accurate variance from the Gram matrix of the rows, as a share of the largest.
const LEAST_VARIANCE: f64 = 1e-6;
const BLOCK: usize = 256;
const FOLDS: usize = 5;
/// Minimum problem size for which repeated full decompositions are avoided.
pub(super) const LARGE: usize = 512;
/// Partial decompositions give at most the problem size divided by this many directions.
const FEW: usize = 12;
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

impl Kept {
    /// `values` are the largest eigenvalues, in descending order, and `trace` is the sum of all eigenvalues.
    fn among(self, values: impl Iterator<Item = f64>, trace: f64) -> usize {
        let share = match self {
            Self::Count(k) => return k,
            Self::Share(share) => share,
        };
        let mut held = 0.0;
        let is_before = |value: &f64| {
            held += value.max(0.0);
            held < share * trace
        };
        1 + values.take_while(is_before).count()
    }
}

pub(super) type Gaps = (usize, Vec<usize>);

/// Warm-up rows, as columns of a matrix, with weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    pub rows: &'a Matrix,
    pub weights: &'a [f64],
    /// Number of values per row that vary. The others are zero in every row.
    pub active: usize,
    /// Number of directions of a similar fit, which speeds up the fit if their variances are much larger.
    pub near: Option<usize>,
    /// Directions to keep, so that only their variances are fitted.
    pub within: Option<&'a Matrix>,
}

/// Shape of the warm-up, and for each contiguous fold the shape of the rows outside it.
#[derive(Debug, Clone)]
pub(super) struct Folds {
    pub shape: Shape,
    pub others: Vec<(Range<usize>, Shape)>,
}

impl Folds {
    /// The `gap` rows before and after a fold, which share lagged cells with it, are left out too.
    pub fn fit(sample: Sample<'_>, shape: Shape, gap: usize, kept: Kept) -> Self {
        let count = sample.rows.columns();
        let sample = Sample { near: Some(shape.basis.columns()), ..sample };
        let fold = |i: usize| i * count / FOLDS..(i + 1) * count / FOLDS;
        let others = |fold: Range<usize>| {
            let without = fold.start.saturating_sub(gap)..(fold.end + gap).min(count);
            (fold, Shape::fit(sample, without, kept))
        };
        let others = (0..FOLDS).map(fold).map(others).collect();
        Self { shape: shape.with_factors(), others }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub mean: Vec<f64>,
    pub basis: Matrix,
    pub variances: Vec<f64>,
    pub residual_energy: Vec<f64>,
    /// Factor model of directions and residual energies, empty until [`Self::with_factors`].
    factors: FactorModel,
    /// Smallest energy that is not a rounding error.
    pub floor: f64,
    #[serde(skip)]
    imputation: Scratch<Imputation>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    pub centered: Vec<f64>,
    pub coordinates: Vec<f64>,
    pub residual: Vec<f64>,
}

impl Shape {
    /// Fits the shape, without its factor model, to the rows that are not in the range `without`.
    pub fn fit(sample: Sample<'_>, without: Range<usize>, kept: Kept) -> Self {
        let (mean, centered) = centered(sample, without);
        let active = sample.active.max(1);
        let mut residual_energy = vec![0.0; mean.len()];
        for t in 0..centered.columns() {
            residual_energy.iter_mut().zip(centered.column(t)).for_each(|(energy, x)| *energy += x * x);
        }
        let trace: f64 = residual_energy.iter().sum();
        let floor = (ROUNDING * trace / active as f64).max(f64::MIN_POSITIVE.sqrt());
        let near = if let Kept::Count(k) = kept { Some(k) } else { sample.near };
        let count = |values: &mut dyn Iterator<Item = f64>| kept.among(values, trace).min(active - 1);
        let (mut variances, basis) = match sample.within {
            Some(basis) => (split_energies(&centered, basis, &mut residual_energy), basis.clone()),
            None => {
                let (variances, basis) = leading(&centered, near, &count);
                for (variance, a) in variances.iter().zip(0..) {
                    let energies = residual_energy.iter_mut().zip(basis.column(a));
                    energies.for_each(|(energy, p)| *energy -= *variance * p * p);
                }
                (variances, basis)
            }
        };
        variances.iter_mut().for_each(|variance| *variance = variance.max(floor));
        let mean_energy = residual_energy.iter().map(|energy| energy.max(0.0)).sum::<f64>() / active as f64;
        let least = (LEAST_RESIDUAL * mean_energy).max(floor);
        residual_energy.iter_mut().for_each(|energy| *energy = energy.max(least));
        let (factors, imputation) = (FactorModel::default(), Scratch::default());
        Self { mean, basis, variances, residual_energy, factors, floor, imputation }
    }

    #[must_use]
    pub fn with_factors(mut self) -> Self {
        self.factors.fit(&self.basis, &self.variances, &self.residual_energy, &mut Eigen::default());
        self
    }

    /// Returns Q, T² and M of rows minus a level. The rows are the columns of `centered`.
    pub fn statistics(&self, centered: &Matrix) -> Vec<[f64; 3]> {
        let mut statistics = Vec::with_capacity(centered.columns());
        let (mut coordinates, mut along, mut residual) = (Matrix::default(), Matrix::default(), Vec::new());
        for start in (0..centered.columns()).step_by(BLOCK) {
            let count = BLOCK.min(centered.columns() - start);
            let block = centered.view().subcols(start, count);
            multiply(&mut coordinates, self.basis.view().transpose(), block);
            multiply(&mut along, self.basis.view(), coordinates.view());
            for t in 0..count {
                let cells = centered.column(start + t).iter().zip(along.column(t));
                refill(&mut residual, cells.map(|(c, p)| c - p));
                statistics.push(self.statistics_of(coordinates.column(t), &residual));
            }
        }
        statistics
    }

    /// Splits the row minus the level into its parts along and outside the directions. Returns Q, T² and M.
    pub fn look(&self, row: &[f64], level: &[f64], parts: &mut Parts) -> [f64; 3] {
        let Parts { centered, coordinates, residual } = parts;
        refill(centered, row.iter().zip(level).map(|(x, l)| x - l));
        self.basis.transpose_times(centered, coordinates);
        residual.clone_from(centered);
        self.basis.subtract_times(coordinates, residual);
        self.statistics_of(coordinates, residual)
    }

    pub fn statistics_of(&self, coordinates: &[f64], residual: &[f64]) -> [f64; 3] {
        statistics_of(coordinates, residual, &self.variances, &self.residual_energy)
    }

    /// Returns the smallest values of Q, T² and M that are not rounding errors.
    pub fn floors(&self) -> [f64; 3] {
        [self.floor, ROUNDING, ROUNDING]
    }

    pub fn squared_deviations(&self, parts: &Parts, coordinates: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.factors.squared_deviations(&parts.centered, &self.residual_energy, coordinates, out);
    }

    pub fn move_to(&mut self, means: &[f64]) {
        self.mean.iter_mut().zip(means.iter().cycle()).for_each(|(mean, moved)| *mean = *moved);
    }

    pub fn fill(&mut self, row: &mut [f64], level: &[f64]) {
        let missing: Vec<usize> = (0..row.len()).filter(|j| row[*j].is_nan()).collect();
        row.iter_mut().zip(level).for_each(|(x, l)| *x = if x.is_nan() { 0.0 } else { *x - l });
        let mut products = Vec::new();
        self.basis.transpose_times(row, &mut products);
        let ridges = self.ridges();
        self.fill_centered(&ridges, &missing, &products, row);
        row.iter_mut().zip(level).for_each(|(x, l)| *x += l);
    }

    /// Fills in cells. Returns the largest change, as a share of the root mean square deviation of the varying cells.
    pub fn fill_all(&mut self, rows: &mut Matrix, gaps: &[Gaps]) -> f64 {
        let ridges = self.ridges();
        let (mut centered, mut products, mut change) = (Matrix::default(), Matrix::default(), 0f64);
        for block in gaps.chunks(BLOCK) {
            centered.resize(rows.rows(), block.len());
            for (i, (t, missing)) in block.iter().enumerate() {
                let row = centered.column_mut(i);
                row.iter_mut().zip(rows.column(*t)).zip(&self.mean).for_each(|((to, x), m)| *to = x - m);
                missing.iter().for_each(|j| row[*j] = 0.0);
            }
            multiply(&mut products, self.basis.view().transpose(), centered.view());
            for (i, (t, missing)) in block.iter().enumerate() {
                self.fill_centered(&ridges, missing, products.column(i), centered.column_mut(i));
                for j in missing {
                    let filled = centered.column(i)[*j] + self.mean[*j];
                    change = change.max((filled - rows.column(*t)[*j]).abs());
                    rows.column_mut(*t)[*j] = filled;
                }
            }
        }
        change / (self.floor / ROUNDING).sqrt()
    }

    /// Fills in the missing cells, which must be zero, of a centered row with these products with the directions.
    fn fill_centered(&mut self, ridges: &[f64], missing: &[usize], products: &[f64], row: &mut [f64]) {
        let imputation = &mut self.imputation.0;
        if !imputation.fill_few(&self.basis, ridges, missing, products, row) {
            missing.iter().for_each(|j| row[*j] = f64::NAN);
            imputation.fill(&self.basis, ridges, row);
        }
    }

    fn ridges(&self) -> Vec<f64> {
        let noise = self.residual_energy.iter().sum::<f64>() / self.mean.len().max(1) as f64;
        self.variances.iter().map(|variance| ridge(noise, *variance)).collect()
    }

    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        let (k, positive) = (self.basis.columns(), f64::MIN_POSITIVE..=state::LARGEST);
        ensure(self.basis.rows() == d && k <= d, "the directions of a monitor must fit its rows")?;
        matrix_entries("directions of a monitor", &self.basis, -1.001..=1.001)?;
        list("the mean of a monitor", &self.mean, d, -state::LARGEST..=state::LARGEST)?;
        list("the variances of a monitor", &self.variances, k, positive.clone())?;
        list("the residual energies of a monitor", &self.residual_energy, d, positive)?;
        self.factors.check_state(d, k)?;
        energy("the floor of a monitor", self.floor)
    }
}

/// Returns Q, T² and M of a row with these parts along and outside the directions.
pub(super) fn statistics_of(along: &[f64], residual: &[f64], variances: &[f64], energies: &[f64]) -> [f64; 3] {
    let q = dot(residual, residual);
    let t2 = along.iter().zip(variances).map(|(t, s)| t * t / s).sum();
    let m = residual.iter().zip(energies).fold(0.0, |most: f64, (e, r)| most.max(e * e / r));
    [q, t2, m]
}

/// Returns the weighted mean of the rows that are not in the range `without`, and a factor A of their covariance `A Aᵀ`.
fn centered(sample: Sample<'_>, without: Range<usize>) -> (Vec<f64>, Matrix) {
    let Sample { rows, weights, .. } = sample;
    let used: Vec<usize> = (0..rows.columns()).filter(|t| !without.contains(t) && weights[*t] > 0.0).collect();
    let total = used.iter().map(|t| weights[*t]).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut mean = vec![0.0; rows.rows()];
    for t in &used {
        mean.iter_mut().zip(rows.column(*t)).for_each(|(m, x)| *m += weights[*t] / total * x);
    }
    let mut centered = Matrix::zeros(rows.rows(), used.len());
    for (i, t) in used.iter().enumerate() {
        let root = (weights[*t] / total).sqrt();
        let column = centered.column_mut(i).iter_mut().zip(rows.column(*t));
        column.zip(&mean).for_each(|((c, x), m)| *c = root * (x - m));
    }
    (mean, centered)
}

/// Returns the energy along each direction. Writes the energy of each column outside them to `outside`.
fn split_energies(centered: &Matrix, basis: &Matrix, outside: &mut [f64]) -> Vec<f64> {
    let (mut along, mut explained) = (Matrix::default(), Matrix::default());
    multiply(&mut along, basis.view().transpose(), centered.view());
    multiply(&mut explained, basis.view(), along.view());
    outside.fill(0.0);
    let mut energies = vec![0.0; basis.columns()];
    for t in 0..centered.columns() {
        energies.iter_mut().zip(along.column(t)).for_each(|(energy, x)| *energy += x * x);
        let cells = centered.column(t).iter().zip(explained.column(t));
        outside.iter_mut().zip(cells).for_each(|(energy, (x, p))| *energy += (x - p).powi(2));
    }
    energies
}

/// Returns true if the smaller of rows and columns is large, with too many directions for partial decompositions.
pub(super) fn is_dense(size: usize, directions: usize) -> bool {
    size >= LARGE && FEW * directions > size
}

/// Function that returns the number of eigenvalues to keep from a descending list.
type Count<'a> = &'a dyn Fn(&mut dyn Iterator<Item = f64>) -> usize;

/// Returns the largest eigenvalues of `A Aᵀ`, in descending order, and their eigenvectors. `count`
/// chooses their number, of which `near` is an estimate.
fn leading(a: &Matrix, near: Option<usize>, count: Count<'_>) -> (Vec<f64>, Matrix) {
    let (d, n) = (a.rows(), a.columns());
    if n < d {
        let (values, mut coordinates) = pairs(&lower_square(a.view().transpose()), near, count);
        let is_accurate = values.iter().all(|value| *value > LEAST_VARIANCE * values[0]);
        if is_accurate && values.len() == count(&mut values.iter().copied()) {
            for (j, value) in values.iter().enumerate() {
                coordinates.column_mut(j).iter_mut().for_each(|x| *x /= value.sqrt());
            }
            let mut basis = Matrix::default();
            multiply(&mut basis, a.view(), coordinates.view());
            return (values, basis);
        }
    }
    let (mut values, basis) = pairs(&lower_square(a.view()), near, count);
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    (values, basis)
}

/// Like [`leading`], for a symmetric matrix, of which only the lower triangle is read.
fn pairs(matrix: &Matrix, near: Option<usize>, count: Count<'_>) -> (Vec<f64>, Matrix) {
    if let Some((mut values, mut vectors)) = near.and_then(|k| separate_pairs(matrix, k)) {
        let k = count(&mut values.iter().copied());
        if k <= values.len() {
            values.truncate(k);
            vectors.resize(matrix.rows(), k);
            return (values, vectors);
        }
    }
    let mut eigen = Eigen::default();
    eigen.compute(matrix.view());
    top(&eigen.values, &eigen.vectors, count(&mut eigen.values.iter().rev().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Draws rows near three directions, as columns of a matrix.
    fn rows(d: usize, count: usize, random: &mut Random) -> Matrix {
        let mut rows = Matrix::zeros(d, count);
        for t in 0..count {
            let factors = [random.normal(), random.normal(), random.normal()];
            for (j, x) in rows.column_mut(t).iter_mut().enumerate() {
                *x = factors[j % 3] * (1.0 + 0.1 * j as f64) + 0.5 * factors[(j / 3) % 3] + 0.2 * random.normal() + 3.0;
            }
        }
        rows
    }

    #[test]
    fn directions_of_few_rows_are_those_of_the_covariance() {
        let mut random = Random::seeded(2);
        for (d, n) in [(9, 6), (40, 20), (40, 39), (12, 30), (150, 200), (200, 140)] {
            let a = rows(d, n, &mut random);
            let covariance = lower_square(a.view());
            let mut eigen = Eigen::default();
            eigen.compute(covariance.view());
            // The last two numbers of directions are as many as the rows allow, and more.
            for (k, near) in
                [(1, None), (3, None), (3, Some(3)), (2, Some(3)), (4, Some(3)), (n.min(d) - 1, None), (d - 1, None)]
            {
                let (values, basis) = leading(&a, near, &|_| k);
                let (wanted, vectors) = top(&eigen.values, &eigen.vectors, k);
                assert_eq!((values.len(), basis.columns()), (k, k), "{d} {n}");
                assert!(basis.drift() < 1e-9, "{d} {n} {k}: {}", basis.drift());
                for j in 0..k {
                    assert!((values[j] - wanted[j]).abs() <= 1e-12 * wanted[0], "{d} {n} {k}: {j}");
                    let along = dot(basis.column(j), vectors.column(j)).abs();
                    assert!(wanted[j] < 1e-6 * wanted[0] || along > 1.0 - 1e-9, "{d} {n} {k}: {j} {along}");
                }
            }
        }
    }

    #[test]
    fn a_fit_within_its_own_directions_is_the_same_fit() {
        let rows = rows(12, 80, &mut Random::seeded(4));
        let weights: Vec<f64> = (0..80).map(|t| f64::from(u8::from(t % 7 != 0))).collect();
        let sample = Sample { rows: &rows, weights: &weights, active: 12, near: None, within: None };
        let wanted = Shape::fit(sample, 0..0, Kept::Count(4));
        let found = Shape::fit(Sample { within: Some(&wanted.basis), ..sample }, 0..0, Kept::Count(4));
        let pairs = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()));
        assert!(pairs(&found.variances, &wanted.variances), "{:?} {:?}", found.variances, wanted.variances);
        assert!(pairs(&found.residual_energy, &wanted.residual_energy));
        assert_eq!((found.mean, found.basis), (wanted.mean, wanted.basis));
    }

    #[test]
    fn statistics_of_many_rows_are_those_of_each() {
        let mut random = Random::seeded(3);
        for (d, kept) in [(7, Kept::Count(3)), (20, Kept::Share(0.9)), (2, Kept::Count(1)), (1, Kept::Share(0.5))] {
            let rows = rows(d, BLOCK + 5, &mut random);
            let weights = vec![1.0; rows.columns()];
            let shape =
                Shape::fit(Sample { rows: &rows, weights: &weights, active: d, near: None, within: None }, 3..9, kept);
            let (found, mut parts, level) = (shape.statistics(&rows), Parts::default(), vec![0.0; d]);
            assert_eq!(found.len(), rows.columns());
            for (t, found) in found.iter().enumerate() {
                let wanted = shape.look(rows.column(t), &level, &mut parts);
                let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-10 * (1.0 + b.abs());
                assert!(found.iter().zip(&wanted).all(is_near), "{d} {t}: {found:?} {wanted:?}");
            }
        }
    }

    /// The oracle fills in each row by the normal equations.
    #[test]
    fn rows_filled_in_together_are_those_filled_in_one_by_one() {
        let mut random = Random::seeded(5);
        let mut table = rows(12, 300, &mut random);
        let gaps: Vec<Gaps> = (0..300).step_by(2).map(|t| (t, (0..12).step_by(1 + t % 11).collect())).collect();
        let weights = vec![1.0; 300];
        for kept in [Kept::Count(2), Kept::Count(6), Kept::Share(0.99)] {
            let sample = Sample { rows: &table, weights: &weights, active: 12, near: None, within: None };
            let mut shape = Shape::fit(sample, 0..0, kept);
            let (before, ridges) = (table.clone(), shape.ridges());
            let change = shape.fill_all(&mut table, &gaps);
            let mut largest = 0f64;
            for (t, missing) in &gaps {
                let mut row: Vec<f64> = before.column(*t).iter().zip(&shape.mean).map(|(x, m)| x - m).collect();
                missing.iter().for_each(|j| row[*j] = f64::NAN);
                let (mut alone, level) = (before.column(*t).to_vec(), shape.mean.clone());
                missing.iter().for_each(|j| alone[*j] = f64::NAN);
                shape.fill(&mut alone, &level);
                Imputation::default().fill(&shape.basis, &ridges, &mut row);
                for j in 0..12 {
                    let wanted = row[j] + shape.mean[j];
                    largest = largest.max((wanted - before.column(*t)[j]).abs());
                    assert!((table.column(*t)[j] - wanted).abs() <= 1e-9, "{t} {j}");
                    assert!((alone[j] - wanted).abs() <= 1e-9, "{t} {j}");
                }
            }
            let rms = (shape.floor / ROUNDING).sqrt();
            assert!(change > 0.0 && (change * rms - largest).abs() <= 1e-9, "{change} {largest}");
        }
    }
}
