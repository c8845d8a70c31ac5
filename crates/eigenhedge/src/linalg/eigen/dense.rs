//! Eigendecomposition of a dense symmetric matrix, with reusable scratch space.
//! Numerics: a matrix with very large or very small entries is first divided by a power of two, because the solver
//! squares entries. The error of each eigenvalue is about the rounding error of the largest one.
//! [`Eigen::compute_graded`] recomputes the small eigenvalues of a scatter matrix in the span of their eigenvectors, so
//! that columns in small units keep their precision.

use crate::linalg::{Matrix, multiplied, multiply, symmetric_times};
use crate::num::{dot, unit};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::prelude::ReborrowMut;
use faer::{Auto, MatMut, MatRef, Par, Spec};

#[derive(Default)]
pub struct Eigen {
    /// Eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Eigenvectors. Column `i` belongs to `values[i]`.
    pub vectors: Matrix,
    memory: Option<(usize, MemBuffer)>,
    scaled: Matrix,
}

impl std::fmt::Debug for Eigen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Eigen").field("values", &self.values).field("vectors", &self.vectors).finish()
    }
}

impl Clone for Eigen {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), vectors: self.vectors.clone(), memory: None, scaled: Matrix::default() }
    }
}

impl Eigen {
    pub(crate) fn compute(&mut self, matrix: MatRef<'_, f64>) {
        let n = matrix.nrows();
        self.vectors.resize(n, n);
        self.values.resize(n, 0.0);
        if n == 0 {
            return;
        }
        let (_, memory) = match self.memory.take().filter(|(size, _)| *size >= n) {
            Some(memory) => self.memory.insert(memory),
            None => {
                let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params());
                self.memory.insert((n, MemBuffer::new(need)))
            }
        };
        decompose(matrix, &mut self.values, Some(self.vectors.view_mut()), memory, &mut self.scaled);
    }
}

/// Absolute value of a scaled entry below which its products in the solver may underflow.
const TINY: f64 = 1e-100;

const SMALL: f64 = 1e-8;

impl Eigen {
    /// Decomposes a positive semidefinite matrix whose rows and columns may have very different units. Only the lower
    /// triangle is read. Products of the matrix with the eigenvectors of small eigenvalues are accurate.
    pub(crate) fn compute_graded(&mut self, matrix: &Matrix) {
        self.compute(matrix.view());
        let least = f64::EPSILON * f64::EPSILON * self.values.last().copied().unwrap_or(0.0);
        let (mut count, mut image, mut part) = (self.values.len(), Matrix::default(), Self::default());
        while count > 1 && self.values[count - 1] > least {
            let largest = self.values[count - 1];
            count = self.values[..count].partition_point(|value| *value < SMALL * largest);
            if count == 0 {
                break;
            }
            let mut vectors = self.vectors.clone();
            vectors.resize(matrix.rows(), count);
            symmetric_times(&mut image, matrix, &vectors);
            let inner = multiplied(vectors.view().transpose(), image.view());
            part.compute(inner.view());
            multiply(&mut image, vectors.view(), part.vectors.view());
            (0..count).for_each(|j| self.vectors.column_mut(j).copy_from_slice(image.column(j)));
            self.values[..count].copy_from_slice(&part.values);
        }
    }
}

/// Computes the eigenvalues of a nonempty matrix, and the eigenvectors if `vectors` is given.
/// The solver drops an off-diagonal entry once it is small compared with the adjacent diagonal entries, which may never
/// happen if those are rounding errors or underflow. A multiple of the identity then makes the diagonal large. A
/// failure takes seconds to detect, so a matrix with a nonzero entry below [`TINY`] is shifted at once.
fn decompose(
    matrix: MatRef<'_, f64>,
    values: &mut [f64],
    mut vectors: Option<MatMut<'_, f64>>,
    memory: &mut MemBuffer,
    scaled: &mut Matrix,
) {
    let (comfortable, unit) = comfortable(matrix, scaled);
    let mut solve = |matrix: MatRef<'_, f64>, values: &mut [f64]| {
        let diagonal = faer::diag::DiagMut::from_slice_mut(values);
        let vectors = vectors.as_mut().map(|vectors| vectors.rb_mut());
        self_adjoint_evd(matrix, diagonal, vectors, Par::Seq, MemStack::new(memory), params()).is_ok()
    };
    let mut shift = 0.0;
    let is_tiny = |x: &f64| *x != 0.0 && x.abs() < TINY;
    let has_tiny = (0..values.len()).any(|j| comfortable.col(j).iter().skip(j).any(is_tiny));
    if has_tiny || !solve(comfortable, values) {
        divide(matrix, unit, scaled);
        let square: f64 = (0..values.len()).flat_map(|j| &scaled.column(j)[j..]).map(|x| x * x).sum();
        shift = 2.0 * (2.0 * square).sqrt();
        (0..values.len()).for_each(|i| scaled.column_mut(i)[i] += shift);
        assert!(solve(scaled.view(), values), "the eigendecomposition of a finite symmetric matrix converges");
    }
    values.iter_mut().for_each(|value| *value = (*value - shift) * unit);
}

/// Divides the lower triangle by a power of two to avoid overflow and underflow. Returns the quotient, which is in
/// `scratch` unless the power is 1, and the power.
pub(super) fn comfortable<'a>(matrix: MatRef<'a, f64>, scratch: &'a mut Matrix) -> (MatRef<'a, f64>, f64) {
    let n = matrix.nrows();
    let mut largest = 0f64;
    for j in 0..n {
        (j..n).for_each(|i| largest = largest.max(matrix[(i, j)].abs()));
    }
    // If even the largest entry is subnormal, all entries are divided by 2^-1022.
    let unit = unit(if largest > 0.0 { largest.max(f64::MIN_POSITIVE) } else { 0.0 });
    if unit == 1.0 {
        return (matrix, 1.0);
    }
    (divide(matrix, unit, scratch), unit)
}

fn divide<'a>(matrix: MatRef<'_, f64>, unit: f64, quotient: &'a mut Matrix) -> MatRef<'a, f64> {
    quotient.resize(matrix.nrows(), matrix.ncols());
    for j in 0..matrix.ncols() {
        quotient.column_mut(j).iter_mut().enumerate().skip(j).for_each(|(i, entry)| *entry = matrix[(i, j)] / unit);
    }
    quotient.view()
}

fn params() -> Spec<SelfAdjointEvdParams, f64> {
    let mut params: SelfAdjointEvdParams = <SelfAdjointEvdParams as Auto<f64>>::auto();
    // With the default threshold, the eigenvectors are 2 to 6 times less orthogonal.
    params.recursion_threshold = 32;
    Spec::new(params)
}

pub(crate) fn symmetric_eigenvalues(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let mut values = vec![0.0; n];
    if n == 0 {
        return values;
    }
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, Par::Seq, params()));
    decompose(matrix, &mut values, None, &mut memory, &mut Matrix::default());
    values
}

/// Computes the eigendecomposition of a finite symmetric matrix, from its lower triangle.
pub fn symmetric_eigen(matrix: &Matrix) -> Eigen {
    let mut eigen = Eigen::default();
    eigen.compute(matrix.view());
    eigen
}

/// Minimum relative length after projection. A shorter remainder is rounding error.
const DEPENDENT: f64 = 1e-8;

/// Orthonormalizes a vector against orthonormal columns. Returns false if it is in their span.
pub(crate) fn orthonormal_to(columns: &Matrix, vector: &mut [f64]) -> bool {
    let mut overlaps = Vec::new();
    let mut whole = dot(vector, vector).sqrt();
    let first = whole;
    // Two passes are enough unless nearly the whole vector cancels. It is then rejected.
    for _ in 0..4 {
        columns.transpose_times(vector, &mut overlaps);
        let left = columns.subtract_times(&overlaps, vector).sqrt();
        if !(left > DEPENDENT * first) {
            return false;
        }
        let done = left > 0.5 * whole;
        whole = left;
        if done {
            vector.iter_mut().for_each(|x| *x /= left);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns the scatter matrix of sparse rows with entries near 1 (first row) or `tiny`.
    fn scatter(n: usize, rows: usize, tiny: f64, random: &mut Random) -> Matrix {
        let mut scatter = Matrix::default();
        scatter.resize(n, n);
        for t in 0..rows {
            let scale = if t == 0 { 1.0 } else { tiny };
            let mut cell = || if random.below(10) == 0 { scale * (1.0 + 1e-6 * random.normal()) } else { 0.0 };
            let row: Vec<f64> = (0..n).map(|_| cell()).collect();
            for (j, x) in row.iter().enumerate() {
                scatter.column_mut(j).iter_mut().zip(&row).for_each(|(entry, y)| *entry += x * y);
            }
        }
        scatter
    }

    #[test]
    fn matrices_with_entries_of_any_size_are_decomposed() {
        let mut random = Random::seeded(1);
        for case in 0..200 {
            let (n, rows) = (100 + random.below(40), 1 + random.below(40));
            let tiny = 10f64.powf(-160.0 * random.uniform());
            let matrix = scatter(n, rows, tiny, &mut random);
            let largest = (0..n).map(|j| matrix.column(j)[j]).fold(0.0, f64::max);
            let tolerance = 16.0 * n as f64 * f64::EPSILON * largest;
            let values = symmetric_eigenvalues(matrix.view());
            let mut eigen = symmetric_eigen(&matrix);
            for graded in [false, true] {
                if graded {
                    eigen.compute_graded(&matrix);
                }
                let mut image = Matrix::default();
                symmetric_times(&mut image, &matrix, &eigen.vectors);
                for (i, value) in eigen.values.iter().enumerate() {
                    assert!((value - values[i]).abs() <= tolerance, "case {case}: {value:e} and {:e}", values[i]);
                    let residual = image.column(i).iter().zip(eigen.vectors.column(i)).map(|(y, v)| y - value * v);
                    assert!(residual.map(f64::abs).fold(0.0, f64::max) <= tolerance, "case {case}, value {i}");
                }
            }
        }
    }
}
