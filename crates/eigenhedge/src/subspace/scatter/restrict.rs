//! Scatter matrix in fewer columns.

use crate::linalg::{Eigen, Matrix, multiply};

/// Share of the trace below which an eigenvalue may be a rounding error.
const LOST: f64 = 64.0 * f64::EPSILON;

/// Computes `C ← Rᵀ C R` after the span has lost columns. If a lost direction had most of the energy, the other entries are
/// rounding errors of its own. Eigenvalues at the level of these errors, and negative ones, are therefore set to zero.
pub(in super::super) fn restrict(matrix: &mut Matrix, rotation: &Matrix, eigen: &mut Eigen) {
    let trace: f64 = (0..matrix.columns()).map(|j| matrix.column(j)[j]).sum();
    let mut half = Matrix::default();
    multiply(&mut half, rotation.view().transpose(), matrix.view());
    multiply(matrix, half.view(), rotation.view());
    eigen.compute(matrix.view());
    let (roots, gone) = (&mut eigen.vectors, LOST * trace);
    for (j, value) in eigen.values.iter().enumerate() {
        let root = if *value > gone { value.sqrt() } else { 0.0 };
        roots.column_mut(j).iter_mut().for_each(|x| *x *= root);
    }
    multiply(matrix, roots.view(), roots.view().transpose());
}
