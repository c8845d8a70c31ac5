//! Principal component analysis of features.
//!
//! Setting: t points of any type, their features φ(x), and μ, the mean of the features or zero.
//!
//! Result: orthonormal `b_j = Σ_i A_ij φ(x_i)` (`coefficients`) that minimise `Σ |φ(x) - μ - projection|²`. With the
//! (centered) kernel matrix `K̄ = U Λ Uᵀ`:
//!
//! ```text
//! A = (I - 11ᵀ/t) U Λ^{-1/2}           scores of the points: U Λ^{1/2}
//! <b_j, φ(x) - μ> = A_jᵀ κ(x) - A_jᵀ K 1/t      κ(x) = (k(x_i, x))_i
//! ```
//!
//! The Cholesky view: rows of a factor L of `K = L Lᵀ` are the features in coordinates, so kernel PCA is plain PCA of
//! the rows of L, and scores are an orthogonal projection of them. With the pivoted factor this never forms K, and the
//! components are combinations of the pivots alone.
//!
//! Guarantee: the least total loss of any k-dimensional (affine) subspace of the space of features, for the exact solvers.
//! For [`Solver::Cholesky`] it exceeds the least by at most the trace error.
//!
//! Cost: dense, t²/2 kernel values and an eigendecomposition of size t; partial, t²/2 kernel values and a few products of
//! the matrix with k columns; Cholesky of rank r, t·r kernel values and t·r² operations. A projection takes one kernel
//! value for each atom: t, or r after Cholesky.
//!
//! Numerics: an eigenvalue under `1e-12` of the largest, or under rounding of the trace of K, counts as zero; its
//! component is the zero vector, with scores zero. The loss of a point is a difference of squares: its error is rounding of
//! `k(x, x)`, and it is returned as zero when rounding makes it negative.
//!
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
use crate::state::{LARGEST, energy, entries, length};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// How the components are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// All eigenvalues of the kernel matrix.
    Dense,
    /// Only the largest ones; falls back to all of them when that is faster or the iteration is slow. Does not notice
    /// that a kernel is not positive semidefinite, because it does not see the small eigenvalues.
    Partial,
    /// A pivoted Cholesky factor instead of the kernel matrix: for many points.
    Cholesky {
        /// Stops when this share of the trace is left.
        tolerance: f64,
        /// Largest number of pivots, at least k.
        max_rank: usize,
    },
}

impl Solver {
    /// Default for this many points: all eigenvalues while that is cheap.
    pub fn auto(points: usize) -> Self {
        if points <= 500 { Self::Dense } else { Self::Partial }
    }
}

/// The best subspace for the features of a set of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelPca<D> {
    dictionary: D,
    coefficients: Matrix,
    /// `<b_j, μ>`.
    offsets: Vec<f64>,
    mean: Option<Expansion>,
    eigenvalues: Vec<f64>,
    scores: Matrix,
    losses: Vec<f64>,
    total: f64,
    trace_error: f64,
}

impl<D: Dictionary> KernelPca<D> {
    /// Fits k components, k at most the number of points. The dictionary must be empty: it names the kernel.
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
                cholesky.pivots().iter().for_each(|pivot| dictionary.push(points[*pivot].borrow()));
                Ok(Self::of_factor(dictionary, &cholesky, kept, center))
            }
        }
    }

    /// The model itself when it is one that a fit can give: asked of what was read from bytes.
    pub fn checked(self) -> Result<Self, Error> {
        let (atoms, kept, points) = (self.dictionary.len(), self.eigenvalues.len(), self.losses.len());
        check_kept(kept, points, "at least 1 and at most the number of points")?;
        shape("the coefficients of the components", &self.coefficients, atoms, kept)?;
        let largest = check_parts(&self.dictionary, &self.coefficients)?;
        length("the offsets of the components", self.offsets.len(), kept)?;
        entries("offsets of the components", &self.offsets, -largest..=largest)?;
        entries("eigenvalues", &self.eigenvalues, 0.0..=LARGEST)?;
        entries("losses of the points", &self.losses, 0.0..=LARGEST)?;
        shape("the scores of the points", &self.scores, points, kept)?;
        matrix_entries("scores of the points", &self.scores, -LARGEST..=LARGEST)?;
        entries("totals", &[self.total, self.trace_error], -LARGEST..=LARGEST)?;
        if let Some(mean) = &self.mean {
            length("the weights of the mean", mean.weights().len(), atoms)?;
            entries("weights of the mean", mean.weights(), -LARGEST_PART..=LARGEST_PART)?;
            energy("the squared norm of the mean", mean.square())?;
        }
        Ok(self)
    }

    /// The atoms that components are written in: all points, or the pivots.
    pub fn dictionary(&self) -> &D {
        &self.dictionary
    }

    /// The atoms, for calls that need scratch space (pre-images).
    pub fn dictionary_mut(&mut self) -> &mut D {
        &mut self.dictionary
    }

    /// One column of weights on the atoms for each component.
    pub fn coefficients(&self) -> &Matrix {
        &self.coefficients
    }

    /// The k largest eigenvalues of the (centered) kernel matrix, descending; zero when there is no such direction.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Number of components that are no zero vectors.
    pub fn rank(&self) -> usize {
        self.eigenvalues.iter().filter(|value| **value > 0.0).count()
    }

    /// Coordinates of the points of the fit, one row for each.
    pub fn scores(&self) -> &Matrix {
        &self.scores
    }

    /// Mean of the features, when deviations from it are analysed. After [`Solver::Cholesky`], its projection on the
    /// pivots.
    pub fn mean(&self) -> Option<&Expansion> {
        self.mean.as_ref()
    }

    /// Variance along each component: its eigenvalue over t - 1 when centered, over t otherwise.
    pub fn explained_variance(&self) -> Vec<f64> {
        let t = self.losses.len();
        let divisor = t - usize::from(self.mean.is_some() && t > 1);
        self.eigenvalues.iter().map(|value| value / divisor as f64).collect()
    }

    /// Share of the total that each component explains; zero when there is nothing to explain.
    pub fn explained_ratio(&self) -> Vec<f64> {
        shares(&self.eigenvalues, self.total)
    }

    /// Squared distance of each point's features from the subspace, in the order of the fit.
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// Trace of the kernel matrix outside of the pivots' span; zero for the exact solvers.
    pub fn trace_error(&self) -> f64 {
        self.trace_error
    }

    /// Coordinates of any point.
    pub fn transform(&mut self, point: &D::Point) -> Result<Vec<f64>, Error> {
        Ok(self.look(point)?.0)
    }

    /// Squared distance of the features of any point from the subspace: the compression loss.
    pub fn loss(&mut self, point: &D::Point) -> Result<f64, Error> {
        let (coordinates, square) = self.look(point)?;
        Ok((square - dot(&coordinates, &coordinates)).max(0.0))
    }

    /// The element `μ + Σ c_j b_j` of the subspace, for a pre-image.
    pub fn expand(&self, coordinates: &[f64]) -> Result<Expansion, Error> {
        check_row("coordinates", coordinates, self.eigenvalues.len())?;
        let atoms = self.coefficients.rows();
        let (mut weights, mut square) = match &self.mean {
            None => (vec![0.0; atoms], 0.0),
            Some(mean) => (mean.weights().to_vec(), mean.square()),
        };
        let negative: Vec<f64> = coordinates.iter().map(|c| -c).collect();
        self.coefficients.subtract_times(&negative, &mut weights);
        for ((c, offset), value) in coordinates.iter().zip(&self.offsets).zip(&self.eigenvalues) {
            // A component without energy is the zero vector.
            square += 2.0 * c * offset + if *value > 0.0 { c * c } else { 0.0 };
        }
        Ok(Expansion::from_parts(weights, square))
    }

    /// Projection of a point's features on the subspace.
    pub fn project(&mut self, point: &D::Point) -> Result<Expansion, Error> {
        let coordinates = self.transform(point)?;
        self.expand(&coordinates)
    }

    /// Coordinates and `|φ(x) - μ|²`.
    fn look(&mut self, point: &D::Point) -> Result<(Vec<f64>, f64), Error> {
        let (mut row, mut coordinates) = (Vec::new(), Vec::new());
        let own = checked_row(&mut self.dictionary, point, &mut row)?;
        self.coefficients.transpose_times(&row, &mut coordinates);
        coordinates.iter_mut().zip(&self.offsets).for_each(|(c, offset)| *c -= offset);
        let square = match &self.mean {
            None => own,
            Some(mean) => own - 2.0 * dot(mean.weights(), &row) + mean.square(),
        };
        Ok((coordinates, square))
    }
}
