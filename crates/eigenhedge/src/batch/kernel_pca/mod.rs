//! Kernel principal component analysis.
//!
//! Setting: t points of any type, their features φ(x), and μ, the mean of the features or zero.
//! Result: orthonormal `b_j = Σ_i A_ij φ(x_i)` (`coefficients`) that minimize `Σ |φ(x) - μ - projection|²`. With the
//! (centered) kernel matrix `K̄ = U Λ Uᵀ`:
//!
//! ```text
//! A = (I - 11ᵀ/t) U Λ^{-1/2}           scores of the points: U Λ^{1/2}
//! <b_j, φ(x) - μ> = A_jᵀ κ(x) - A_jᵀ K 1/t      κ(x) = (k(x_i, x))_i
//! ```
//!
//! Cholesky method: the rows of a factor L of `K = L Lᵀ` are coordinates of the features, so kernel PCA is PCA of the
//! rows of L. With the pivoted factor, K is never formed, and the components are combinations of the pivots.
//! Guarantee: the exact solvers attain the least total loss of any k-dimensional (affine) subspace of the feature
//! space. The loss of [`Solver::Cholesky`] exceeds it by at most the trace of `K - L Lᵀ`.
//! Cost: t²/2 kernel values and an eigendecomposition of size t (`Dense`) or a few products of the matrix with k
//! columns, or a tridiagonal form (`Partial`); t·r kernel values and t·r² operations for `Cholesky` of rank r. A
//! projection takes one kernel value per atom: t, or r after `Cholesky`.
//! Numerics: an eigenvalue below `1e-12` times the largest, or below the rounding error of the trace of K, counts as
//! zero, with the zero vector as component. The loss of a point is a difference of squares, at least zero.
//! References: Schölkopf, Smola and Müller, *Nonlinear component analysis as a kernel eigenvalue problem*, 1998.

mod fit;

use super::cholesky::PivotedCholesky;
use super::gram::{checked_row, gram};
use super::{Center, Expansion, LARGEST_PART, check_kept, check_parts, shares};
use crate::error::Error;
use crate::kernel::Dictionary;
use crate::linalg::Matrix;
use crate::linalg::checks::{matrix_entries, shape};
use crate::num::dot;
use crate::row::check_row;
use crate::state::{LARGEST, energy, entries, list};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Method to compute the components.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// Full eigendecomposition of the kernel matrix.
    Dense,
    /// Only the k largest eigenpairs, or `Dense` if that is faster or more accurate. A kernel that is not positive
    /// semidefinite may go undetected.
    Partial,
    /// Pivoted Cholesky factor instead of the kernel matrix, for many points.
    Cholesky {
        /// Relative residual trace at which the factorization stops, in [0, 1).
        tolerance: f64,
        /// Maximum number of pivots. It must be at least k.
        max_rank: usize,
    },
}

impl Solver {
    /// Returns the default solver for this number of points: `Dense` up to 500, `Partial` above.
    pub fn auto(points: usize) -> Self {
        if points <= 500 { Self::Dense } else { Self::Partial }
    }
}

/// Kernel PCA model: the best subspace for the features of a set of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelPca<D> {
    /// All points, or only the pivots.
    pub dictionary: D,
    /// Coefficients of the components, one column per component and one row per atom.
    pub coefficients: Matrix,
    /// Inner products `<b_j, μ>` of the components with the mean.
    offsets: Vec<f64>,
    mean: Option<Expansion>,
    /// The k largest of the (centered) kernel matrix, in descending order. Those beyond its rank are zero.
    pub eigenvalues: Vec<f64>,
    /// Coordinates of the fitted points, one row per point and one column per component.
    pub scores: Matrix,
    /// For each fitted point, the squared distance of its features from the subspace.
    pub losses: Vec<f64>,
    total: f64,
    /// Unexplained part of the trace of the kernel matrix. Zero for the exact solvers.
    pub trace_error: f64,
}

impl<D: Dictionary> KernelPca<D> {
    /// Fits `kept` components, at least 1 and at most the number of points. With [`Solver::Cholesky`], `kept` must not
    /// exceed `max_rank`. The dictionary must be empty and provides the kernel.
    pub fn fit<P: Borrow<D::Point>>(
        mut dictionary: D,
        points: &[P],
        kept: usize,
        center: Center,
        solver: Solver,
    ) -> Result<Self, Error> {
        check_kept(kept, points.len(), "at least 1 and at most the number of points")?;
        match solver {
            Solver::Dense | Solver::Partial => {
                let gram = gram(&mut dictionary, points)?;
                Self::of_gram(dictionary, gram, kept, center, solver == Solver::Partial)
            }
            Solver::Cholesky { tolerance, max_rank } => {
                check_kept(kept, max_rank, "at least 1 and at most max-rank")?;
                let cholesky = PivotedCholesky::new(&mut dictionary, points, tolerance, max_rank)?;
                while !dictionary.is_empty() {
                    dictionary.swap_remove(dictionary.len() - 1);
                }
                cholesky.pivots.iter().for_each(|pivot| dictionary.push(points[*pivot].borrow()));
                Ok(Self::of_factor(dictionary, &cholesky, kept, center))
            }
        }
    }

    /// Returns the deserialized model, or `Err` if its shapes do not match or a number is out of range.
    pub fn checked(self) -> Result<Self, Error> {
        let (atoms, kept, points) = (self.dictionary.len(), self.eigenvalues.len(), self.losses.len());
        check_kept(kept, points, "at least 1 and at most the number of points")?;
        shape("the coefficients of the components", &self.coefficients, atoms, kept)?;
        let largest = check_parts(&self.dictionary, &self.coefficients)?;
        list("the offsets of the components", &self.offsets, kept, -largest..=largest)?;
        entries("eigenvalues", &self.eigenvalues, 0.0..=LARGEST)?;
        entries("losses of the points", &self.losses, 0.0..=LARGEST)?;
        shape("the scores of the points", &self.scores, points, kept)?;
        matrix_entries("scores of the points", &self.scores, -LARGEST..=LARGEST)?;
        entries("totals", &[self.total, self.trace_error], -LARGEST..=LARGEST)?;
        if let Some(mean) = &self.mean {
            list("the weights of the mean", &mean.weights, atoms, -LARGEST_PART..=LARGEST_PART)?;
            energy("the squared norm of the mean", mean.square)?;
        }
        Ok(self)
    }

    /// Returns the number of nonzero components.
    pub fn rank(&self) -> usize {
        self.eigenvalues.iter().filter(|value| **value > 0.0).count()
    }

    /// Returns the mean of the features (after [`Solver::Cholesky`], projected on the pivots), or `None` without
    /// centering.
    pub fn mean(&self) -> Option<&Expansion> {
        self.mean.as_ref()
    }

    /// Returns the eigenvalues divided by the number of points, or by that number minus 1 for several centered points.
    pub fn explained_variance(&self) -> Vec<f64> {
        let t = self.losses.len();
        let divisor = t - usize::from(self.mean.is_some() && t > 1);
        self.eigenvalues.iter().map(|value| value / divisor as f64).collect()
    }

    /// Returns the explained variance ratio of each component, or zero if the total is zero.
    pub fn explained_ratio(&self) -> Vec<f64> {
        shares(&self.eigenvalues, self.total)
    }

    /// Returns the coordinates of a point along the components.
    pub fn transform(&mut self, point: &D::Point) -> Result<Vec<f64>, Error> {
        Ok(self.look(point)?.0)
    }

    /// Returns the loss of a point: the squared distance of its features from the subspace.
    pub fn loss(&mut self, point: &D::Point) -> Result<f64, Error> {
        let (coordinates, square) = self.look(point)?;
        Ok((square - dot(&coordinates, &coordinates)).max(0.0))
    }

    /// Returns the element of the subspace with these coordinates, for example for a pre-image.
    pub fn expand(&self, coordinates: &[f64]) -> Result<Expansion, Error> {
        check_row("coordinates", coordinates, self.eigenvalues.len())?;
        let atoms = self.coefficients.rows();
        let (mut weights, mut square) = match &self.mean {
            None => (vec![0.0; atoms], 0.0),
            Some(mean) => (mean.weights.clone(), mean.square),
        };
        self.coefficients.add_times(coordinates, &mut weights);
        for ((c, offset), value) in coordinates.iter().zip(&self.offsets).zip(&self.eigenvalues) {
            // A component with eigenvalue zero is the zero vector.
            square += 2.0 * c * offset + if *value > 0.0 { c * c } else { 0.0 };
        }
        Ok(Expansion::from_parts(weights, square))
    }

    /// Returns the projection of the features of a point onto the subspace.
    pub fn project(&mut self, point: &D::Point) -> Result<Expansion, Error> {
        let coordinates = self.transform(point)?;
        self.expand(&coordinates)
    }

    fn look(&mut self, point: &D::Point) -> Result<(Vec<f64>, f64), Error> {
        let (mut row, mut coordinates) = (Vec::new(), Vec::new());
        let own = checked_row(&mut self.dictionary, point, &mut row)?;
        self.coefficients.transpose_times(&row, &mut coordinates);
        coordinates.iter_mut().zip(&self.offsets).for_each(|(c, offset)| *c -= offset);
        let square = match &self.mean {
            None => own,
            Some(mean) => own - 2.0 * dot(&mean.weights, &row) + mean.square,
        };
        Ok((coordinates, square))
    }
}
