//! Largest eigenvalues of a symmetric matrix, with their eigenvectors.
//! Setting: a positive semidefinite matrix A of size n, of which k ≪ n eigenpairs are needed.
//! Method: a basis V and its image AV are stored. Rayleigh–Ritz on V gives the k + [`EXTRA`] largest Ritz pairs (θ, y).
//! Their orthonormalized residuals Ay - θy extend V. A full basis is reduced to its best vectors (a thick restart). In
//! exact arithmetic this is a restarted block Lanczos method. A block as wide as the number of pairs finds multiple
//! eigenvalues.
//! Guarantee: every pair satisfies `|Ay - θy| ≤` [`RESIDUAL`] `· θ₁`, where θ₁ is the largest Ritz value. A larger
//! eigenvalue is missed only if a random block is orthogonal to its eigenvector.
//! Cost: 2n²(k + [`EXTRA`]) operations per step. If unwanted eigenvalues are close to the wanted ones, as in noise, the
//! residuals after [`LOOK`] steps predict more steps than allowed, and [`largest_pairs`] uses the tridiagonal form
//! ([`reduced_pairs`]).
//! Reference: Wu and Simon, *Thick-restart Lanczos method for large symmetric eigenvalue problems*, 2000.

use super::Eigen;
use super::dense::orthonormal_to;
use super::tridiagonal::reduced_pairs;
use crate::linalg::{Matrix, multiplied, multiply, symmetric_times};
use crate::num::{dot, unit};
use crate::random::Random;

const EXTRA: usize = 8;
const BLOCKS: usize = 5;
const FEW_STEPS: usize = 16;
/// Minimum matrix size for [`separate_pairs`] in blocks, for which the steps cost much less than a full decomposition.
const FEW_BLOCKS: usize = 12;
const LOOK: usize = 6;
const RESIDUAL: f64 = 1e-13;
/// Error of a sum of eigenvalues that counts as rounding, relative to the largest one.
const ROUNDING: f64 = 1e-15;

/// Returns the `kept` largest eigenpairs in descending order, from the lower triangle. Returns `None` if a full
/// decomposition is faster, or if the pairs are not accurate enough.
pub(crate) fn largest_pairs(matrix: &Matrix, kept: usize) -> Option<(Vec<f64>, Matrix)> {
    if 4 * kept > matrix.rows() {
        return None;
    }
    let steps = FEW_STEPS.max(matrix.rows() / (4 * (kept + EXTRA)));
    search(matrix, kept, steps, RESIDUAL, |values, squares| are_small(&squares[..kept], values[0]))
        .or_else(|| reduced_pairs(matrix, kept))
}

/// Returns the pairs of [`largest_pairs`] if the matrix is large and few steps suffice.
pub(crate) fn separate_pairs(matrix: &Matrix, kept: usize) -> Option<(Vec<f64>, Matrix)> {
    if FEW_BLOCKS * (kept + EXTRA) > matrix.rows() {
        return None;
    }
    search(matrix, kept, FEW_STEPS, RESIDUAL, |values, squares| are_small(&squares[..kept], values[0]))
}

/// Returns the sum of the `kept` largest eigenvalues with about the rounding error of the largest one, or `None` if a
/// full decomposition is faster or the sum does not converge.
pub(crate) fn largest_sum(matrix: &Matrix, kept: usize) -> Option<f64> {
    let steps = matrix.rows() / (2 * (kept + EXTRA));
    let (values, _) = search(matrix, kept, steps, ROUNDING.sqrt(), |values, squares| {
        // A Ritz value's error is at most its squared residual over the eigenvalue gap.
        let beyond = values[values.len() - 1];
        let error: f64 = squares[..kept].iter().zip(values).map(|(square, value)| share(*square, value - beyond)).sum();
        error <= ROUNDING * values[0].abs() || are_small(&squares[..kept], values[0])
    })?;
    Some(values.iter().sum())
}

fn are_small(squares: &[f64], largest: f64) -> bool {
    squares.iter().all(|square| square.sqrt() <= RESIDUAL * largest.abs())
}

fn share(square: f64, distance: f64) -> f64 {
    if square == 0.0 { 0.0 } else { square / distance.max(0.0) }
}

/// Runs at most `steps` Rayleigh–Ritz steps, until `is_done` accepts the Ritz values and the squared norms of their
/// residuals. Returns `None` if the matrix is small, or if more steps are predicted to be needed for residuals of
/// `goal` times the largest value.
fn search(
    matrix: &Matrix,
    kept: usize,
    steps: usize,
    goal: f64,
    is_done: impl Fn(&[f64], &[f64]) -> bool,
) -> Option<(Vec<f64>, Matrix)> {
    let n = matrix.rows();
    let width = kept + EXTRA;
    if kept == 0 || BLOCKS * width > n {
        return None;
    }
    // Residuals are squared, so very large or very small entries are first divided by a power of two.
    let diagonal = (0..n).map(|i| matrix.column(i)[i].abs()).fold(0f64, f64::max);
    let unit = unit(diagonal);
    if unit != 1.0 {
        let mut scaled = matrix.clone();
        (0..n).for_each(|j| scaled.column_mut(j).iter_mut().for_each(|entry| *entry /= unit));
        let (values, vectors) = search(&scaled, kept, steps, goal, is_done)?;
        return Some((values.into_iter().map(|value| value * unit).collect(), vectors));
    }
    let mut basis = Basis::new(n);
    let mut random = Random::seeded(0x5eed);
    let mut block = Matrix::zeros(n, width);
    for j in 0..width {
        block.column_mut(j).iter_mut().for_each(|x| *x = random.normal());
    }
    for step in 1..=steps {
        if basis.extend(&block, matrix) == 0 {
            return None;
        }
        let (values, mut vectors, images) = basis.ritz(width);
        let squares = residuals(&values, &vectors, images, &mut block);
        if values.len() > kept && is_done(&values, &squares) {
            vectors.resize(n, kept);
            return Some((values[..kept].to_vec(), vectors));
        }
        // Residuals decrease by about the same factor from step to step.
        let share = squares.iter().take(kept).fold(0f64, |a, b| a.max(*b)).sqrt() / values[0].abs();
        if step == LOOK && !(share < 1.0 && goal.ln() / share.ln() * (LOOK as f64) <= steps as f64) {
            return None;
        }
        if basis.vectors.columns() + width > BLOCKS * width {
            basis.shrink(2 * width);
        }
    }
    None
}

fn residuals(values: &[f64], vectors: &Matrix, images: Matrix, block: &mut Matrix) -> Vec<f64> {
    let largest = values.iter().fold(0f64, |a, v| a.max(v.abs()));
    let (mut squares, mut open) = (Vec::with_capacity(values.len()), 0);
    *block = images;
    for (j, value) in values.iter().enumerate() {
        let column = block.column_mut(j);
        column.iter_mut().zip(vectors.column(j)).for_each(|(image, y)| *image -= value * y);
        let square = dot(column, column);
        squares.push(square);
        if square.sqrt() > RESIDUAL * largest {
            if open != j {
                let (to, from) = block.column_pair_mut(open, j);
                to.copy_from_slice(from);
            }
            open += 1;
        }
    }
    block.resize(block.rows(), open);
    squares
}

struct Basis {
    vectors: Matrix,
    images: Matrix,
    eigen: Eigen,
    product: Matrix,
}

impl Basis {
    fn new(n: usize) -> Self {
        Self {
            vectors: Matrix::zeros(n, 0),
            images: Matrix::zeros(n, 0),
            eigen: Eigen::default(),
            product: Matrix::default(),
        }
    }

    fn extend(&mut self, block: &Matrix, matrix: &Matrix) -> usize {
        let n = self.vectors.rows();
        let mut column = vec![0.0; n];
        let mut added = Matrix::zeros(n, 0);
        for j in 0..block.columns() {
            column.copy_from_slice(block.column(j));
            if orthonormal_to(&self.vectors, &mut column) {
                self.vectors.push_column(&column);
                added.push_column(&column);
            }
        }
        if added.columns() > 0 {
            symmetric_times(&mut self.product, matrix, &added);
            (0..added.columns()).for_each(|j| self.images.push_column(self.product.column(j)));
        }
        added.columns()
    }

    fn ritz(&mut self, width: usize) -> (Vec<f64>, Matrix, Matrix) {
        multiply(&mut self.product, self.vectors.view().transpose(), self.images.view());
        self.eigen.compute(self.product.view());
        let (values, coordinates) = top(&self.eigen.values, &self.eigen.vectors, width);
        let vectors = multiplied(self.vectors.view(), coordinates.view());
        let images = multiplied(self.images.view(), coordinates.view());
        (values, vectors, images)
    }

    fn shrink(&mut self, size: usize) {
        let (_, coordinates) = top(&self.eigen.values, &self.eigen.vectors, size);
        for part in [&mut self.vectors, &mut self.images] {
            multiply(&mut self.product, part.view(), coordinates.view());
            std::mem::swap(part, &mut self.product);
        }
    }
}

pub(crate) fn top(values: &[f64], vectors: &Matrix, kept: usize) -> (Vec<f64>, Matrix) {
    let n = values.len();
    let kept = kept.min(n);
    let mut columns = Matrix::zeros(vectors.rows(), kept);
    columns.for_each_column(|j, column| column.copy_from_slice(vectors.column(n - 1 - j)));
    (values.iter().rev().take(kept).copied().collect(), columns)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::linalg::symmetric_eigen;

    /// Returns `Q diag(values) Qᵀ` for a random orthonormal Q.
    pub fn with_spectrum(values: &[f64], seed: u64) -> Matrix {
        let n = values.len();
        let mut random = Random::seeded(seed);
        let mut q = Matrix::zeros(n, n);
        for j in 0..n {
            q.column_mut(j).iter_mut().for_each(|x| *x = random.normal());
        }
        q.orthonormalise();
        let mut scaled = q.clone();
        for j in 0..n {
            scaled.column_mut(j).iter_mut().for_each(|x| *x *= values[j]);
        }
        multiplied(scaled.view(), q.view().transpose())
    }

    /// Checks the pairs and the sum against the full decomposition. If `declines` is true, `largest_sum` may return
    /// `None`.
    fn agrees_with_the_full_decomposition(values: &[f64], kept: usize, declines: bool) {
        let matrix = with_spectrum(values, 4);
        let (found, vectors) = largest_pairs(&matrix, kept).expect("converges");
        let all = symmetric_eigen(&matrix).values;
        for (j, value) in found.iter().enumerate() {
            let wanted = all[all.len() - 1 - j];
            assert!((value - wanted).abs() <= 1e-12 * found[0], "pair {j}: {value} against {wanted}");
        }
        assert!(vectors.drift() < 1e-13);
        let (sum, wanted) = (largest_sum(&matrix, kept), all.iter().rev().take(kept).sum::<f64>());
        let Some(sum) = sum else { return assert!(declines, "the sum must converge") };
        assert!((sum - wanted).abs() <= 1e-12 * found[0], "{sum} against {wanted}");
    }

    #[test]
    fn partial_equals_full_on_a_decaying_spectrum() {
        let values: Vec<f64> = (0..200).map(|i| 0.8f64.powi(i)).collect();
        agrees_with_the_full_decomposition(&values, 6, false);
    }

    #[test]
    fn partial_equals_full_when_eigenvalues_repeat() {
        let values: Vec<f64> = (0..200).map(|i| if i < 5 { 3.0 } else { 2.0 - 0.005 * i as f64 }).collect();
        agrees_with_the_full_decomposition(&values, 5, true);
        agrees_with_the_full_decomposition(&[1.0; 150], 3, true);
    }

    #[test]
    fn partial_equals_full_on_a_matrix_of_low_rank() {
        let values: Vec<f64> = (0..120).map(|i| if i < 4 { 1.0 + i as f64 } else { 0.0 }).collect();
        agrees_with_the_full_decomposition(&values, 7, false);
    }

    #[test]
    fn partial_declines_when_many_pairs_are_wanted() {
        assert!(largest_pairs(&Matrix::identity(60), 20).is_none());
    }
}
