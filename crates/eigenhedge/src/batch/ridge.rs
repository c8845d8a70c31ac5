//! Kernel ridge regression, and its interpretation as a Gaussian process.
//!
//! Setting: t points x of any type with targets y, and a regularization weight `ρ > 0`.
//! Result: `f = Σ_i α_i φ(x_i)` with `α = (K + ρI)^{-1} y`, the minimizer of `Σ (y_i - f(x_i))² + ρ |f|²`. For a
//! Gaussian process with covariance k, prior mean zero and noise of variance ρ, f(x) is the posterior mean, and
//!
//! ```text
//! variance of f(x)      k(x, x) - κᵀ (K + ρI)^{-1} κ = k(x, x) - |L^{-1} κ|²
//! log likelihood of y   -½ yᵀα - Σ log L_ii - (t/2) log 2π
//! ```
//!
//! with the Cholesky factor `L Lᵀ = K + ρI`. The leave-one-out error at x_i is `α_i / ((K + ρI)^{-1})_ii`.
//! Cost: t²/2 kernel values and t³/3 operations to fit; t kernel values for a mean, t² operations for a variance; t³/3
//! operations for all leave-one-out errors. Points are predicted in blocks.
//! Numerics: the relative error of α is about the condition number `(λ₁ + ρ)/ρ` times the machine epsilon, with the
//! largest eigenvalue λ₁ of K. Negative variances become zero. The variance of a new observation is larger by ρ.
//! References: Rasmussen and Williams, *Gaussian processes for machine learning*, 2006, sections 2.2 and 5.4.2.

use super::gram::{BLOCK, each_block, gram};
use crate::error::{Error, at_least_one, positive, require};
use crate::kernel::Dictionary;
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Matrix, multiply};
use crate::num::dot;
use crate::row::check_row;
use crate::state::{LARGEST, ensure, entries};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Auto, Par, Spec};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Kernel ridge regression model with one or more outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelRidge<D> {
    /// Dictionary of the fitted points.
    pub dictionary: D,
    /// Regularization weight ρ.
    pub alpha: f64,
    /// Cholesky factor L of `K + ρI`. The upper triangle is not read.
    factor: Matrix,
    /// Coefficients α, one column per output.
    pub coefficients: Matrix,
    /// Value of `yᵀα` for each output with targets y.
    fits: Vec<f64>,
}

/// Posterior means and variances of a Gaussian process at some points.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Posterior {
    /// Posterior means, one row per point and one column per output.
    pub means: Matrix,
    /// Posterior variance at each point, without noise. It is equal for all outputs.
    pub variances: Vec<f64>,
}

impl<D> KernelRidge<D> {
    /// Number of points that are predicted at once. The rounding of a prediction may depend on its block.
    pub const BLOCK: usize = BLOCK;
}

impl<D: Dictionary> KernelRidge<D> {
    /// Fits one output with regularization weight ρ = `alpha`. The dictionary must be empty and provides the kernel.
    pub fn fit<P: Borrow<D::Point>>(dictionary: D, points: &[P], targets: &[f64], alpha: f64) -> Result<Self, Error> {
        let mut columns = Matrix::zeros(targets.len(), 1);
        columns.column_mut(0).copy_from_slice(targets);
        Self::fit_many(dictionary, points, &columns, alpha)
    }

    /// Fits several outputs, one column of targets per output.
    pub fn fit_many<P: Borrow<D::Point>>(
        mut dictionary: D,
        points: &[P],
        targets: &Matrix,
        alpha: f64,
    ) -> Result<Self, Error> {
        positive("alpha", alpha)?;
        at_least_one("the number of outputs", targets.columns())?;
        for j in 0..targets.columns() {
            check_row("targets", targets.column(j), points.len())?;
        }
        let mut factor = gram(&mut dictionary, points)?;
        factor.for_each_column(|i, column| column[i] += alpha);
        let is_definite = factorise(&mut factor);
        require(is_definite, "alpha", "large enough to make K + alpha I positive definite", alpha)?;
        let mut coefficients = targets.clone();
        solve_lower_triangular_in_place(factor.view(), coefficients.view_mut(), Par::Seq);
        solve_upper_triangular_in_place(factor.view().transpose(), coefficients.view_mut(), Par::Seq);
        let fits = (0..targets.columns()).map(|j| dot(targets.column(j), coefficients.column(j))).collect();
        Ok(Self { dictionary, alpha, factor, coefficients, fits })
    }

    /// Returns the deserialized model, or `Err` if its shapes do not match or a number is out of range.
    pub fn checked(self) -> Result<Self, Error> {
        positive("alpha", self.alpha)?;
        let (points, outputs) = (self.dictionary.len(), self.fits.len());
        ensure(points > 0 && outputs > 0, "a regression must have points and outputs")?;
        shape("the factor of the regression", &self.factor, points, points)?;
        shape("the coefficients of the regression", &self.coefficients, points, outputs)?;
        matrix_entries("coefficients of the regression", &self.coefficients, -LARGEST..=LARGEST)?;
        entries("fits of the outputs", &self.fits, -LARGEST..=LARGEST)?;
        for i in 0..points {
            entries("factor of the regression", &self.factor.column(i)[i..], -LARGEST..=LARGEST)?;
            positive("the diagonal of the factor", self.factor.column(i)[i])?;
        }
        Ok(self)
    }

    /// Returns the predicted outputs at `points`, one row per point and one column per output.
    pub fn predict<P: Borrow<D::Point>>(&mut self, points: &[P]) -> Result<Matrix, Error> {
        self.predict_blocks(points, |_, _, _| {})
    }

    /// Returns the posterior means and variances at `points`, for noise of variance `alpha`.
    pub fn posterior<P: Borrow<D::Point>>(&mut self, points: &[P]) -> Result<Posterior, Error> {
        let mut variances = Vec::with_capacity(points.len());
        let means = self.predict_blocks(points, |factor, rows, own| {
            solve_lower_triangular_in_place(factor.view(), rows.view_mut(), Par::Seq);
            let explained = (0..own.len()).map(|j| dot(rows.column(j), rows.column(j)));
            variances.extend(own.iter().zip(explained).map(|(own, explained)| (own - explained).max(0.0)));
        })?;
        Ok(Posterior { means, variances })
    }

    fn predict_blocks<P: Borrow<D::Point>>(
        &mut self,
        points: &[P],
        mut take: impl FnMut(&Matrix, &mut Matrix, &[f64]),
    ) -> Result<Matrix, Error> {
        let Self { dictionary, factor, coefficients, .. } = self;
        let (mut means, mut block) = (Matrix::zeros(points.len(), coefficients.columns()), Matrix::default());
        each_block(dictionary, points, |first, _, rows, own| {
            multiply(&mut block, rows.view().transpose(), coefficients.view());
            for j in 0..block.columns() {
                means.column_mut(j)[first..][..own.len()].copy_from_slice(block.column(j));
            }
            take(factor, rows, own);
            Ok(())
        })?;
        Ok(means)
    }

    /// Returns targets minus predictions of a model fitted without the point, a row per point and a column per output.
    pub fn leave_one_out(&self) -> Matrix {
        let t = self.factor.columns();
        let mut inverse = Matrix::zeros(t, t);
        invert_lower_triangular(inverse.view_mut(), self.factor.view(), Par::Seq);
        let mut errors = self.coefficients.clone();
        // Column i of L^{-1} starts at its diagonal, and its squared norm is entry (i, i) of the inverse of L Lᵀ.
        let squares: Vec<f64> = (0..t).map(|i| dot(&inverse.column(i)[i..], &inverse.column(i)[i..])).collect();
        errors
            .for_each_column(|_, errors| errors.iter_mut().zip(&squares).for_each(|(error, square)| *error /= square));
        errors
    }

    /// Returns the log marginal likelihood of each output under the Gaussian process.
    pub fn log_likelihood(&self) -> Vec<f64> {
        let t = self.factor.columns();
        let half_log_determinant: f64 = (0..t).map(|i| self.factor.column(i)[i].ln()).sum();
        let constant = 0.5 * t as f64 * (2.0 * std::f64::consts::PI).ln();
        self.fits.iter().map(|fit| -0.5 * fit - half_log_determinant - constant).collect()
    }
}

fn factorise(matrix: &mut Matrix) -> bool {
    let params: Spec<LltParams, f64> = Spec::new(<LltParams as Auto<f64>>::auto());
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(matrix.columns(), Par::Seq, params));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(matrix.view_mut(), Default::default(), Par::Seq, stack, params).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::kernel::{VectorKernel, Vectors};

    const KERNEL: VectorKernel = VectorKernel::Rbf { gamma: 0.4 };

    fn data(t: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut random = Random::seeded(seed);
        let points: Vec<Vec<f64>> = (0..t).map(|_| (0..3).map(|_| random.normal()).collect()).collect();
        let targets = points.iter().map(|x| x[0].sin() + x[1] * x[2] + 0.1 * random.normal()).collect();
        (points, targets)
    }

    fn empty() -> Vectors {
        Vectors::new(KERNEL, 3).unwrap()
    }

    #[test]
    fn leave_one_out_errors_equal_explicit_refits() {
        let (points, targets) = data(25, 1);
        for alpha in [1e-4, 0.3] {
            let errors = KernelRidge::fit(empty(), &points, &targets, alpha).unwrap().leave_one_out();
            for i in 0..points.len() {
                let (mut rest, mut others) = (points.clone(), targets.clone());
                rest.remove(i);
                others.remove(i);
                let mut refit = KernelRidge::fit(empty(), &rest, &others, alpha).unwrap();
                let wanted = targets[i] - refit.predict(&points[i..=i]).unwrap().column(0)[0];
                let found = errors.column(0)[i];
                // Rounding times the condition number, which is at most 25/ρ.
                let slack = 100.0 * f64::EPSILON * 25.0 / alpha;
                assert!((found - wanted).abs() < slack, "{i}: {found} against {wanted}");
            }
        }
    }

    #[test]
    fn posterior_equals_the_formula_with_the_explicit_inverse() {
        let (points, targets) = data(20, 2);
        let alpha = 0.05;
        let mut model = KernelRidge::fit(empty(), &points, &targets, alpha).unwrap();
        // Independent inverse, from the eigendecomposition.
        let mut kernel = gram(&mut empty(), &points).unwrap();
        for i in 0..20 {
            kernel.column_mut(i)[i] += alpha;
        }
        let eigen = crate::linalg::symmetric_eigen(&kernel);
        let form = |a: &[f64], b: &[f64]| -> f64 {
            (0..20).map(|i| dot(eigen.vectors.column(i), a) * dot(eigen.vectors.column(i), b) / eigen.values[i]).sum()
        };
        // More queries than one block.
        let queries = [data(300, 3).0, points.clone()].concat();
        let found = model.posterior(&queries).unwrap();
        assert_eq!(found.means, model.predict(&queries).unwrap());
        for (i, query) in queries.iter().enumerate() {
            let row: Vec<f64> = points.iter().map(|x| KERNEL.value(x, query)).collect();
            assert!((found.variances[i] - (1.0 - form(&row, &row))).abs() < 1e-12);
            assert!((found.means.column(0)[i] - form(&row, &targets)).abs() < 1e-12);
        }
        let determinant: f64 = eigen.values.iter().map(|value| value.ln()).sum();
        let wanted = -0.5 * (form(&targets, &targets) + determinant + 20.0 * (2.0 * std::f64::consts::PI).ln());
        assert!((model.log_likelihood()[0] - wanted).abs() < 1e-11);
    }

    #[test]
    fn variance_is_never_negative() {
        // One point, evaluated at itself with almost no noise: the result is rounding of k(x, x) of either sign.
        for i in 1..200 {
            let point = [0.01 * f64::from(i)];
            let linear = Vectors::new(VectorKernel::Linear, 1).unwrap();
            let mut model = KernelRidge::fit(linear, &[point], &[1.0], 1e-300).unwrap();
            let variance = model.posterior(&[point]).unwrap().variances[0];
            assert!((0.0..1e-14).contains(&variance), "{point:?}: {variance}");
        }
    }

    #[test]
    fn outputs_are_fitted_as_if_alone() {
        let (points, targets) = data(12, 5);
        let mut both = Matrix::zeros(12, 2);
        both.column_mut(0).copy_from_slice(&targets);
        both.column_mut(1).iter_mut().zip(&targets).for_each(|(b, y)| *b = y * y);
        let mut model = KernelRidge::fit_many(empty(), &points, &both, 0.1).unwrap();
        let (errors, likelihoods) = (model.leave_one_out(), model.log_likelihood());
        for j in 0..2 {
            let mut alone = KernelRidge::fit(empty(), &points, both.column(j), 0.1).unwrap();
            let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0f64, |g, (a, b)| g.max((a - b).abs()));
            assert!(gap(alone.coefficients.column(0), model.coefficients.column(j)) < 1e-13);
            assert!(gap(alone.leave_one_out().column(0), errors.column(j)) < 1e-12);
            assert!((alone.log_likelihood()[0] - likelihoods[j]).abs() < 1e-12);
            let at = [[0.1; 3]];
            let (alone, both) = (alone.predict(&at).unwrap(), model.predict(&at).unwrap());
            assert!((alone.column(0)[0] - both.column(j)[0]).abs() < 1e-13);
        }
    }

    #[test]
    fn bad_input_is_named() {
        let (points, targets) = data(4, 6);
        let refused = |targets: &[f64], alpha: f64, message: &str| {
            assert_eq!(KernelRidge::fit(empty(), &points, targets, alpha).unwrap_err().to_string(), message);
        };
        for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            refused(&targets, alpha, &format!("alpha must be positive and finite, got {alpha}"));
        }
        refused(&targets[..3], 1.0, "targets must have 4 entries, got 3");
        refused(&[1.0, f64::NAN, 0.0, 0.0], 1.0, "entry 1 of the targets must be finite, got NaN");
        let none: [Vec<f64>; 0] = [];
        let error = KernelRidge::fit(empty(), &none, &[], 1.0).unwrap_err().to_string();
        assert_eq!(error, "the number of points must be at least 1, got 0");
        let mut model = KernelRidge::fit(empty(), &points, &targets, 1.0).unwrap();
        let error = model.predict(&[[1.0]]).unwrap_err().to_string();
        assert_eq!(error, "point 0: row must have 3 entries, got 1");
    }
}
