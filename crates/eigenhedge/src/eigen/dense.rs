//! Fresh eigendecomposition of a dense symmetric matrix, with scratch that can be reused.

use crate::matrix::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Auto, MatRef, Par, Spec};

/// Eigenvalues ascending, eigenvectors in the columns.
#[derive(Default)]
pub struct Eigen {
    /// Ascending.
    pub values: Vec<f64>,
    /// Column `i` belongs to value `i`.
    pub vectors: Matrix,
    memory: Option<(usize, MemBuffer)>,
}

impl std::fmt::Debug for Eigen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Eigen").field("values", &self.values).field("vectors", &self.vectors).finish()
    }
}

impl Clone for Eigen {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), vectors: self.vectors.clone(), memory: None }
    }
}

impl Eigen {
    /// Decomposes the matrix, of which the lower triangle is read. Entries must be finite.
    pub fn compute(&mut self, matrix: MatRef<'_, f64>) {
        let n = matrix.nrows();
        if n == 0 {
            self.values.clear();
            self.vectors.resize(0, 0);
            return;
        }
        let mut params: SelfAdjointEvdParams = <SelfAdjointEvdParams as Auto<f64>>::auto();
        // The default loses a factor of 2 to 6 in orthogonality.
        params.recursion_threshold = 32;
        let params = Spec::new(params);
        if self.memory.as_ref().is_none_or(|(size, _)| *size < n) {
            let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
            self.memory = Some((n, MemBuffer::new(need)));
        }
        self.vectors.resize(n, n);
        self.values.resize(n, 0.0);
        let Some((_, memory)) = self.memory.as_mut() else { return };
        let result = self_adjoint_evd(
            matrix,
            faer::diag::DiagMut::from_slice_mut(&mut self.values),
            Some(self.vectors.view_mut()),
            Par::Seq,
            MemStack::new(memory),
            params,
        );
        assert!(result.is_ok(), "the eigendecomposition of a finite symmetric matrix converges");
    }
}

/// Eigendecomposition of a symmetric matrix, of which the lower triangle is read.
pub fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Eigen {
    let mut eigen = Eigen::default();
    eigen.compute(matrix);
    eigen
}
