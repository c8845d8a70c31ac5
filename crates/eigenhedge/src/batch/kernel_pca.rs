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

use super::cholesky::PivotedCholesky;
use super::gram::center;
use super::gram::{checked_row, gram};
use super::{Center, Expansion, fix_sign};
use super::{LARGEST_PART, check_kept, check_parts, shares};
use crate::error::{Error, require};
use crate::kernel::Dictionary;
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Matrix, largest_pairs, multiplied, multiply, symmetric_eigen, top};
use crate::num::dot;
use crate::row::check_row;
use crate::state::{LARGEST, energy, entries, list};
use faer::Par;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
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

const ZERO: f64 = 1e-12;
const INDEFINITE: f64 = 1e-8;

impl<D> KernelPca<D> {
    pub(super) fn of_gram(
        dictionary: D,
        mut kernel: Matrix,
        kept: usize,
        about: Center,
        partial: bool,
    ) -> Result<Self, Error> {
        let t = kernel.columns();
        let scale = kernel.trace();
        let means = (about == Center::Mean).then(|| center(&mut kernel));
        let found = if partial { largest_pairs(&kernel, kept) } else { None };
        let (values, mut vectors) = match found {
            Some(pairs) => pairs,
            None => {
                let eigen = symmetric_eigen(&kernel);
                check_definite(eigen.values[0], scale)?;
                top(&eigen.values, &eigen.vectors, kept)
            }
        };
        let mut model = Self::empty(dictionary, t, kept);
        model.total = kernel.trace().max(0.0);
        model.eigenvalues = without_rounding(values, &mut vectors, scale);
        for (j, value) in model.eigenvalues.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let column = vectors.column_mut(j);
            fix_sign(column);
            if about == Center::Mean {
                let mean = column.iter().sum::<f64>() / t as f64;
                column.iter_mut().for_each(|u| *u -= mean);
            }
            let root = value.sqrt();
            model.scores.column_mut(j).iter_mut().zip(&*column).for_each(|(score, u)| *score = root * u);
            column.iter_mut().for_each(|u| *u /= root);
        }
        model.coefficients = vectors;
        if let Some(means) = means {
            let square = means.iter().sum::<f64>() / t as f64;
            model.coefficients.transpose_times(&means, &mut model.offsets);
            model.mean = Some(Expansion::from_parts(vec![1.0 / t as f64; t], square));
        }
        model.losses = (0..t).map(|i| kernel.column(i)[i]).collect();
        model.subtract_scores();
        Ok(model)
    }

    pub(super) fn of_factor(dictionary: D, cholesky: &PivotedCholesky, kept: usize, about: Center) -> Self {
        let (t, rank) = (cholesky.factor.rows(), cholesky.rank());
        let mut rows = cholesky.factor.clone();
        let mean = if about == Center::Mean { subtract_means(&mut rows) } else { vec![0.0; rank] };
        let scatter = multiplied(rows.view().transpose(), rows.view());
        let eigen = symmetric_eigen(&scatter);
        let (values, mut directions) = top(&eigen.values, &eigen.vectors, kept.min(rank));
        let mut model = Self::empty(dictionary, t, kept);
        model.eigenvalues = without_rounding(values, &mut directions, cholesky.trace);
        model.eigenvalues.resize(kept, 0.0);
        directions.resize(rank, kept);
        multiply(&mut model.scores, rows.view(), directions.view());
        for j in 0..kept {
            // Scores are scaled eigenvectors of the kernel matrix, so their sign rule applies.
            let sign = fix_sign(model.scores.column_mut(j));
            directions.column_mut(j).iter_mut().for_each(|entry| *entry *= sign);
        }
        directions.transpose_times(&mean, &mut model.offsets);
        model.coefficients = on_pivots(cholesky, directions);
        if about == Center::Mean {
            let mut column = Matrix::zeros(rank, 1);
            column.column_mut(0).copy_from_slice(&mean);
            let weights = on_pivots(cholesky, column).column(0).to_vec();
            model.mean = Some(Expansion::from_parts(weights, dot(&mean, &mean)));
        }
        // Squared distance from the span of the pivots, plus the squared deviation within it.
        model.losses = cholesky.remaining.iter().map(|d| d.max(0.0)).collect();
        for j in 0..rank {
            model.losses.iter_mut().zip(rows.column(j)).for_each(|(loss, entry)| *loss += entry * entry);
        }
        model.total = model.losses.iter().sum();
        model.trace_error = cholesky.trace_error();
        model.subtract_scores();
        model
    }

    fn empty(dictionary: D, t: usize, kept: usize) -> Self {
        Self {
            dictionary,
            coefficients: Matrix::default(),
            offsets: vec![0.0; kept],
            mean: None,
            eigenvalues: Vec::new(),
            scores: Matrix::zeros(t, kept),
            losses: Vec::new(),
            total: 0.0,
            trace_error: 0.0,
        }
    }

    fn subtract_scores(&mut self) {
        for j in 0..self.scores.columns() {
            self.losses.iter_mut().zip(self.scores.column(j)).for_each(|(loss, score)| *loss -= score * score);
        }
        self.losses.iter_mut().for_each(|loss| *loss = loss.max(0.0));
    }
}

fn without_rounding(mut values: Vec<f64>, vectors: &mut Matrix, trace: f64) -> Vec<f64> {
    let zero = values.first().map_or(0.0, |largest| (ZERO * largest).max(f64::EPSILON * trace));
    for (j, value) in values.iter_mut().enumerate() {
        if !(*value > zero) {
            *value = 0.0;
            vectors.column_mut(j).fill(0.0);
        }
    }
    values
}

fn subtract_means(rows: &mut Matrix) -> Vec<f64> {
    let t = rows.rows() as f64;
    (0..rows.columns())
        .map(|j| {
            let mean = rows.column(j).iter().sum::<f64>() / t;
            rows.column_mut(j).iter_mut().for_each(|entry| *entry -= mean);
            mean
        })
        .collect()
}

/// Returns the weights of the pivots for combinations c of coordinates. With the rows L_P of the pivots in the factor,
/// the coordinates ℓ of a point solve `L_P ℓ = κ` for its kernel row κ over the pivots, so `cᵀℓ = (L_P^{-T} c)ᵀ κ`.
fn on_pivots(cholesky: &PivotedCholesky, mut combinations: Matrix) -> Matrix {
    let block = cholesky.pivot_block();
    solve_upper_triangular_in_place(block.view().transpose(), combinations.view_mut(), Par::Seq);
    combinations
}

fn check_definite(smallest: f64, trace: f64) -> Result<(), Error> {
    let rule = "not negative (the kernel must be positive semidefinite)";
    let holds = smallest >= -INDEFINITE * trace;
    require(holds, "the smallest eigenvalue of the kernel matrix", rule, smallest).map(drop)
}
