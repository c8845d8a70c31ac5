//! Symmetric matrices, of which the lower triangle is stored.

use super::{LINE, Matrix};
use crate::num::dot;
use faer::{Accum, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

impl Matrix {
    pub(crate) fn mirror(&mut self) {
        for start in (0..self.columns).step_by(LINE) {
            for i in start + 1..self.rows {
                for j in start..(start + LINE).min(i) {
                    let value = self.column(j)[i];
                    self.column_mut(i)[j] = value;
                }
            }
        }
    }

    /// Computes `y ← y + A x` for a symmetric matrix A. Only the lower triangle is read, once.
    pub(crate) fn add_symmetric_product(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.rows, self.columns), "one entry for each column");
        Arch::new().dispatch(SymmetricProduct { lower: self, x, y });
    }
}

pub(crate) fn add_lower_product(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul};
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    matmul(out.view_mut(), lower, Accum::Add, a, whole, b, whole, 1.0, Par::Seq);
}

/// Computes `out = s x` on one thread, where `lower` holds the lower triangle of the symmetric matrix s. Resizes `out`.
pub(crate) fn symmetric_times(out: &mut Matrix, lower: &Matrix, x: &Matrix) {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul};
    out.resize(lower.rows(), x.columns());
    let (whole, s) = (BlockStructure::Rectangular, lower.view());
    let (below, above) = (BlockStructure::TriangularLower, BlockStructure::StrictTriangularUpper);
    matmul(out.view_mut(), whole, Accum::Replace, s, below, x.view(), whole, 1.0, Par::Seq);
    matmul(out.view_mut(), whole, Accum::Add, s.transpose(), above, x.view(), whole, 1.0, Par::Seq);
}

struct SymmetricProduct<'a> {
    lower: &'a Matrix,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for SymmetricProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { lower, x, y } = self;
        for (j, amount) in x.iter().enumerate() {
            let column = &lower.column(j)[j..];
            let (own, below) = y[j..].split_at_mut(1);
            own[0] += column[0] * amount + dot(&column[1..], &x[j + 1..]);
            below.iter_mut().zip(&column[1..]).for_each(|(y, entry)| *y += amount * entry);
        }
    }
}
