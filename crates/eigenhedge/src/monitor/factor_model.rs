//! Deviation of each column from its prediction by the other columns of the row.
//!
//! Setting: a centered row `c` has the covariance `S = P diag(s²) Pᵀ + diag(r²)`, with directions P of variances s² and
//! noise r_j² in each column (a factor model). Given all other columns, the squared standardized deviation of column j
//! is `z_j² = (S⁻¹c)_j² / (S⁻¹)_jj`.
//!
//! Guarantee: a fault of size f in column j adds `f S⁻¹e_j` to S⁻¹c, where e_j is the unit vector of column j. Without
//! noise, z_j² is then `f² (S⁻¹)_jj`. Any other z_i² is `f² (S⁻¹)_ij²/(S⁻¹)_ii`, which is at most as large
//! (Cauchy–Schwarz; Alcala and Qin 2009 prove it for any quadratic form). A fault that is large compared with the noise
//! of its row is therefore ranked first, whether or not its column is correlated with others.
//!
//! Cost: O(d k) per row and O(d k²) for new directions, with d columns and k directions. `S⁻¹ = diag(1/r²) - B Bᵀ` with
//! `B = diag(1/r²) P V diag(λ)^(-1/2)`, where V and λ are the eigenvectors and eigenvalues of `diag(1/s²) + Pᵀ
//! diag(1/r²) P`.

use crate::error::Error;
use crate::linalg::{Eigen, Matrix, add_lower_square, multiply};
use crate::num::dot;
use crate::scratch::{Scratch, refill};
use crate::state::{ensure, entries, length};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct FactorModel {
    factors: Matrix,
    precision: Vec<f64>,
    #[serde(skip)]
    scaled: Scratch<Matrix>,
    #[serde(skip)]
    working: Scratch<Matrix>,
}

impl FactorModel {
    pub fn fit(&mut self, basis: &Matrix, variances: &[f64], noise: &[f64], eigen: &mut Eigen) {
        let Self { factors, precision, scaled, working } = self;
        let (scaled, working) = (&mut scaled.0, &mut working.0);
        let (d, k) = (basis.rows(), basis.columns());
        scaled.resize(d, k);
        for a in 0..k {
            let columns = scaled.column_mut(a).iter_mut().zip(basis.column(a));
            columns.zip(noise).for_each(|((to, p), r)| *to = p / r.sqrt());
        }
        working.resize(k, k);
        (0..k).for_each(|a| working.column_mut(a).fill(0.0));
        add_lower_square(working, scaled.view().transpose());
        for (a, variance) in variances.iter().enumerate() {
            working.column_mut(a)[a] += 1.0 / variance;
        }
        eigen.compute(working.view());
        for (b, value) in eigen.values.iter().enumerate() {
            let root = value.max(f64::MIN_POSITIVE).sqrt();
            let columns = working.column_mut(b).iter_mut().zip(eigen.vectors.column(b));
            columns.for_each(|(to, v)| *to = v / root);
        }
        for a in 0..k {
            scaled.column_mut(a).iter_mut().zip(noise).for_each(|(entry, r)| *entry /= r.sqrt());
        }
        multiply(factors, scaled.view(), working.view());
        refill(precision, noise.iter().map(|r| 1.0 / r));
        for b in 0..k {
            precision.iter_mut().zip(factors.column(b)).for_each(|(entry, f)| *entry -= f * f);
        }
        // For a column almost inside the directions, 1/r² may cancel to a rounding error.
        precision.iter_mut().zip(noise).for_each(|(entry, r)| *entry = entry.max(f64::EPSILON / r));
    }

    /// Computes the squared standardized deviation z_j² of each column of a centered row from its prediction by the
    /// other columns.
    pub fn squared_deviations(&self, centered: &[f64], noise: &[f64], coordinates: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.factors.transpose_times(centered, coordinates);
        refill(out, centered.iter().zip(noise).map(|(c, r)| c / r));
        self.factors.subtract_times(coordinates, out);
        out.iter_mut().zip(&self.precision).for_each(|(entry, p)| *entry *= *entry / p);
    }

    pub fn check_state(&self, d: usize, k: usize) -> Result<(), Error> {
        ensure(
            self.factors.rows() == d && self.factors.columns() == k,
            "the factors of a monitor must fit its directions",
        )?;
        length("the precisions of a monitor", self.precision.len(), d)?;
        for b in 0..k {
            let column = self.factors.column(b);
            ensure(dot(column, column).is_finite(), "the factors of a monitor must be finite")?;
        }
        entries("the precisions of a monitor", &self.precision, f64::MIN_POSITIVE..=f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::random::Random;

    /// Solves `S x = b` by elimination with partial pivoting.
    fn solve(mut s: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let d = b.len();
        for i in 0..d {
            let pivot = (i..d).max_by(|p, q| s[*p][i].abs().total_cmp(&s[*q][i].abs())).unwrap();
            s.swap(i, pivot);
            b.swap(i, pivot);
            for r in i + 1..d {
                let factor = s[r][i] / s[i][i];
                (i..d).for_each(|c| s[r][c] -= factor * s[i][c]);
                b[r] -= factor * b[i];
            }
        }
        for i in (0..d).rev() {
            b[i] = (b[i] - (i + 1..d).map(|c| s[i][c] * b[c]).sum::<f64>()) / s[i][i];
        }
        b
    }

    #[test]
    fn deviations_are_those_of_the_inverse_covariance() {
        let mut random = Random::seeded(3);
        for (d, k) in [(1, 0), (4, 1), (7, 3), (12, 11)] {
            let mut basis = Matrix::zeros(d, k);
            (0..k).for_each(|a| basis.column_mut(a).iter_mut().for_each(|entry| *entry = random.normal()));
            basis.orthonormalise();
            let variances: Vec<f64> = (0..k).map(|a| 3.0 + a as f64).collect();
            let noise: Vec<f64> = (0..d).map(|j| 0.05 + 0.1 * j as f64).collect();
            let row: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let covariance: Vec<Vec<f64>> = (0..d)
                .map(|i| {
                    let along =
                        |j: usize| (0..k).map(|a| basis.column(a)[i] * variances[a] * basis.column(a)[j]).sum::<f64>();
                    (0..d).map(|j| along(j) + if i == j { noise[i] } else { 0.0 }).collect()
                })
                .collect();
            let mut model = FactorModel::default();
            model.fit(&basis, &variances, &noise, &mut Eigen::default());
            let (mut coordinates, mut found) = (Vec::new(), Vec::new());
            model.squared_deviations(&row, &noise, &mut coordinates, &mut found);
            let solved = solve(covariance.clone(), row.clone());
            for j in 0..d {
                let unit = (0..d).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
                let expected = solved[j] * solved[j] / solve(covariance.clone(), unit)[j];
                assert!((found[j] - expected).abs() <= 1e-9 * (1.0 + expected), "{d} {k} {j}: {} {expected}", found[j]);
            }
            model.check_state(d, k).unwrap();
        }
    }
}
