//! Eigendecomposition of a dense symmetric matrix, with reusable scratch space.
//!
//! Numerics: a matrix with very large or very small entries is first divided by a power of two, because the solver squares
//! entries. The eigenvalues are multiplied back. The solver's error is the rounding error of the largest eigenvalue.
//! [`Eigen::compute_graded`] decomposes a scatter matrix again in the directions of its small eigenvalues, so that columns
//! in small units keep their precision next to columns in large ones.

use crate::linalg::{Matrix, multiply, symmetric_times};
use crate::num::unit;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Auto, MatMut, MatRef, Par, Spec};

/// Eigenvalues and eigenvectors of a symmetric matrix.
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
    /// Decomposes a symmetric matrix. Only the lower triangle is read. Entries must be finite.
    pub(crate) fn compute(&mut self, matrix: MatRef<'_, f64>) {
        assert!(self.try_compute(matrix), "{CONVERGES}");
    }

    /// Does the work of [`Self::compute`]. Returns false if the solver does not converge.
    fn try_compute(&mut self, matrix: MatRef<'_, f64>) -> bool {
        let n = matrix.nrows();
        if n == 0 {
            self.values.clear();
            self.vectors.resize(0, 0);
            return true;
        }
        if self.memory.as_ref().is_none_or(|(size, _)| *size < n) {
            let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params());
            self.memory = Some((n, MemBuffer::new(need)));
        }
        self.vectors.resize(n, n);
        self.values.resize(n, 0.0);
        let Some((_, memory)) = self.memory.as_mut() else { return false };
        decompose(matrix, &mut self.values, Some(self.vectors.view_mut()), memory, &mut self.scaled)
    }
}

/// Rule that a matrix must satisfy, for a message about an error of the program.
const CONVERGES: &str = "the eigendecomposition of a finite symmetric matrix converges";

/// Share of the largest eigenvalue below which an eigenvalue is computed again, without the larger ones.
const SMALL: f64 = 1e-8;

impl Eigen {
    /// Decomposes a positive semidefinite matrix whose rows and columns may have very different units. Only the lower
    /// triangle is read. Entries must be finite.
    ///
    /// The computed eigenvectors of small eigenvalues span their space to working accuracy, and are small where the
    /// matrix is large. The product with the matrix therefore keeps the precision that the solver loses. The solver may
    /// not converge for rounding errors of rounding errors, whose decomposition is kept as it is.
    pub(crate) fn compute_graded(&mut self, matrix: &Matrix) {
        assert!(self.try_compute_graded(matrix), "{CONVERGES}");
    }

    /// Does the work of [`Self::compute_graded`]. Returns false if the solver does not converge.
    pub(crate) fn try_compute_graded(&mut self, matrix: &Matrix) -> bool {
        if !self.try_compute(matrix.view()) {
            return false;
        }
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
            let mut inner = Matrix::default();
            multiply(&mut inner, vectors.view().transpose(), image.view());
            if !part.try_compute(inner.view()) {
                break;
            }
            multiply(&mut image, vectors.view(), part.vectors.view());
            (0..count).for_each(|j| self.vectors.column_mut(j).copy_from_slice(image.column(j)));
            self.values[..count].copy_from_slice(&part.values);
        }
        true
    }
}

/// Computes the eigenvalues of a nonempty matrix, and the eigenvectors if `vectors` is given. Returns false if the solver
/// does not converge.
fn decompose(
    matrix: MatRef<'_, f64>,
    values: &mut [f64],
    vectors: Option<MatMut<'_, f64>>,
    memory: &mut MemBuffer,
    scaled: &mut Matrix,
) -> bool {
    let (matrix, unit) = comfortable(matrix, scaled);
    let diagonal = faer::diag::DiagMut::from_slice_mut(values);
    let result = self_adjoint_evd(matrix, diagonal, vectors, Par::Seq, MemStack::new(memory), params());
    values.iter_mut().for_each(|value| *value *= unit);
    result.is_ok()
}

/// Divides the matrix by a power of two to avoid overflow and underflow. Returns the quotient and the power. The
/// quotient is stored in `scratch` unless the power is 1. Only the lower triangle is read.
fn comfortable<'a>(matrix: MatRef<'a, f64>, scratch: &'a mut Matrix) -> (MatRef<'a, f64>, f64) {
    let n = matrix.nrows();
    let mut largest = 0f64;
    for j in 0..n {
        (j..n).for_each(|i| largest = largest.max(matrix[(i, j)].abs()));
    }
    // Subnormal entries are either rounding errors or the largest entries of the matrix. Scaling by 2^-1022 suits both.
    let unit = unit(if largest > 0.0 { largest.max(f64::MIN_POSITIVE) } else { 0.0 });
    if unit == 1.0 {
        return (matrix, 1.0);
    }
    scratch.resize(n, n);
    for j in 0..n {
        scratch.column_mut(j).iter_mut().enumerate().skip(j).for_each(|(i, entry)| *entry = matrix[(i, j)] / unit);
    }
    (scratch.view(), unit)
}

fn params() -> Spec<SelfAdjointEvdParams, f64> {
    let mut params: SelfAdjointEvdParams = <SelfAdjointEvdParams as Auto<f64>>::auto();
    // With the default threshold, orthogonality is 2 to 6 times worse.
    params.recursion_threshold = 32;
    Spec::new(params)
}

/// Computes the eigenvalues of a symmetric matrix, in ascending order. Only the lower triangle is read.
/// Entries must be finite.
pub(crate) fn symmetric_eigenvalues(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let mut values = vec![0.0; n];
    if n == 0 {
        return values;
    }
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, Par::Seq, params()));
    assert!(decompose(matrix, &mut values, None, &mut memory, &mut Matrix::default()), "{CONVERGES}");
    values
}

/// Computes the eigendecomposition of a symmetric matrix. Only the lower triangle is read. Entries must be finite.
pub fn symmetric_eigen(matrix: &Matrix) -> Eigen {
    let mut eigen = Eigen::default();
    eigen.compute(matrix.view());
    eigen
}
