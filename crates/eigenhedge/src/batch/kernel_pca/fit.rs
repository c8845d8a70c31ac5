//! Eigenvectors of the kernel matrix, or PCA of the rows of its factor.

use super::KernelPca;
use crate::batch::cholesky::PivotedCholesky;
use crate::batch::gram::center;
use crate::batch::{Center, Expansion, fix_sign};
use crate::error::{Error, require};
use crate::linalg::{Matrix, largest_pairs, multiplied, multiply, symmetric_eigen, top};
use crate::num::dot;
use faer::Par;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;

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
