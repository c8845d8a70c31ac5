//! Leave-one-out errors of the members on observed cells, and the combination of their fills.
//!
//! The combination is `Σ w_i x_i`, where x_i is the row as filled in by member i. The weights sum to 1 and minimize `wᵀ
//! E w`, where E contains the products of the members' leave-one-out errors (Bates and Granger's combination of
//! forecasts). Errors of different members partly cancel. E decays by [`MEMORY`] per row with missing cells. Its
//! diagonal is raised slightly, so that members with nearly equal errors get nearly equal weights. None is negative.
//! The standard error of a filled cell is that of a ridge regression on the observed cells. The noise variance of a
//! column is the mean of `(1 - h) e²`, where e is the leave-one-out error of an observed cell and h its leverage.
//! While a column stays empty, members with short memories lose their advantage. Let N be the squared standard error of
//! the combination right after a value, F the mean squared error of the leader (whose center is the mean of all rows),
//! at least N, D the difference between both fills, and g the number of rows since the last value. The squared error
//! grows from N towards `L = 2F + D²` as `L (1 - r^(g+1))` with `r = 1 - N/L`: the mean squared difference of two
//! values, g + 1 rows apart, of an autoregressive process with the autocorrelation r.

use crate::error::Error;
use crate::impute::solve;
use crate::linalg::{Matrix, multiply};
use crate::state::ensure;
use crate::subspace::Fill;
use serde::{Deserialize, Serialize};

const MEMORY: f64 = 0.98;
const NOISE_ROWS: f64 = 50.0;
const RAISED: f64 = 0.01;

/// Empty until a cell is missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct FillErrors {
    products: Matrix,
    noise: Vec<Noise>,
    weights: Vec<Weight>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Noise {
    /// Without the part that is due to the other cells.
    combination: f64,
    leader: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Weight {
    rows: f64,
    gap: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Filling {
    pub working: Fill,
    pub own: Vec<f64>,
    /// As filled in by each member, one column per member.
    pub rows: Matrix,
    pub errors: Matrix,
    /// In units of the noise, one column per member.
    pub variances: Matrix,
    /// Noise `(1 - h) e²` of the combination in each observed cell, NaN for missing cells.
    pub squares: Vec<f64>,
    pub far_squares: Vec<f64>,
    pub deviations: Vec<f64>,
    pub products: Matrix,
    pub normal: Matrix,
    pub weights: Vec<f64>,
    pub losses: Vec<f64>,
}

impl FillErrors {
    pub fn with_row(&self, errors: &Matrix, out: &mut Matrix) {
        multiply(out, errors.view().transpose(), errors.view());
        for j in 0..self.products.columns() {
            let before = self.products.column(j);
            out.column_mut(j).iter_mut().zip(before).for_each(|(entry, before)| *entry += MEMORY * before);
        }
    }

    /// Returns the noise variances of an average column, for the combination (`noise`) and for the leader.
    pub fn usual_noise(&self, noise: f64) -> [f64; 2] {
        let sum = |of: fn(&Noise) -> f64| self.noise.iter().map(of).sum::<f64>();
        [noise, noise * (sum(|noise| noise.leader) / sum(|noise| noise.combination))]
    }

    /// `variance` is that of the cell in units of the noise, and `difference` the combination's fill minus the
    /// leader's. A column without errors so far has the `usual` noise.
    pub fn squared_deviation(&self, column: usize, variance: f64, difference: f64, usual: [f64; 2]) -> f64 {
        let Weight { rows, gap } = self.weights.get(column).copied().unwrap_or_default();
        let own = self.noise.get(column).filter(|_| rows > 0.0).map(|noise| [noise.combination, noise.leader]);
        let [noise, far] = own.unwrap_or(usual);
        let near = noise * variance;
        let most = 2.0 * far.max(near) + difference * difference;
        if near > 0.0 { most * (1.0 - (1.0 - near / most).powf(1.0 + f64::from(gap))) } else { 0.0 }
    }

    pub fn commit(&mut self, filling: &Filling) {
        if filling.losses.is_empty() {
            return self.weights.iter_mut().for_each(|weight| weight.gap = 0);
        }
        self.products.clone_from(&filling.products);
        self.noise.resize(filling.squares.len(), Noise::default());
        self.weights.resize(filling.squares.len(), Weight::default());
        let squares = filling.squares.iter().zip(&filling.far_squares);
        for ((noise, weight), (near, far)) in self.noise.iter_mut().zip(&mut self.weights).zip(squares) {
            weight.gap = weight.gap.saturating_add(1);
            if near.is_finite() {
                *weight = Weight { rows: weight.rows + 1.0, gap: 0 };
                noise.combination += (near - noise.combination) / weight.rows.min(NOISE_ROWS);
                noise.leader += (far - noise.leader) / weight.rows;
            }
        }
    }

    pub fn lengthen_gaps(&mut self) {
        self.weights.iter_mut().for_each(|weight| weight.gap = weight.gap.saturating_add(1));
    }

    pub fn check(&self, members: usize) -> Result<(), Error> {
        let Self { products, noise, weights } = self;
        let size = products.columns();
        let fits = size == 0 || size == members && products.rows() == members;
        ensure(fits, "the errors of fills must be those of all members")?;
        let is_finite = (0..size).all(|j| products.column(j).iter().all(|entry| entry.is_finite()));
        ensure(is_finite, "the errors of fills must be finite")?;
        ensure(noise.len() == weights.len(), "the errors of fills must be those of all columns")?;
        let numbers = noise.iter().flat_map(|noise| [noise.combination, noise.leader]);
        let is_valid = numbers.chain(weights.iter().map(|weight| weight.rows)).all(|x| x >= 0.0 && x.is_finite());
        ensure(is_valid, "the noise of fills must be finite and not negative")
    }
}

/// Computes the weights with sum 1 that minimize `wᵀ E w`, for E = `products` with a raised diagonal, none negative.
pub(super) fn combination(products: &Matrix, normal: &mut Matrix, weights: &mut Vec<f64>) {
    let count = products.columns();
    normal.clone_from(products);
    let least = (0..count).map(|i| normal.column(i)[i]).fold(f64::INFINITY, f64::min);
    (0..count).for_each(|i| normal.column_mut(i)[i] += RAISED * least);
    weights.clear();
    weights.resize(count, 1.0);
    if least > 0.0 {
        solve(normal, weights);
    }
    weights.iter_mut().for_each(|weight| *weight = weight.max(0.0));
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        weights.fill(1.0 / count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(entries: &[&[f64]]) -> Matrix {
        let mut matrix = Matrix::zeros(entries.len(), entries.len());
        for (i, row) in entries.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, entry)| matrix.column_mut(j)[i] = *entry);
        }
        matrix
    }

    #[test]
    fn better_members_and_different_ones_weigh_more() {
        let (mut normal, mut weights) = (Matrix::default(), Vec::new());
        combination(&matrix(&[&[1.0, 0.0], &[0.0, 4.0]]), &mut normal, &mut weights);
        // The diagonal is raised by 0.01.
        assert!((weights[0] - 4.01 / (1.01 + 4.01)).abs() <= 1e-15, "{weights:?}");
        // Two members with equal errors count as one compared with a third.
        combination(&matrix(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]), &mut normal, &mut weights);
        assert!((weights[0] - weights[1]).abs() <= 1e-12 && (weights[2] - 0.5).abs() < 0.02, "{weights:?}");
        combination(&Matrix::zeros(3, 3), &mut normal, &mut weights);
        assert_eq!(weights, [1.0 / 3.0; 3]);
        // A member that is worse than a correlated one gets a negative weight and is left out.
        combination(&matrix(&[&[1.0, 2.0], &[2.0, 4.0]]), &mut normal, &mut weights);
        assert_eq!(weights, [1.0, 0.0]);
    }
}
