//! Products of small matrices: eigenvectors times the Cauchy columns of a factor.
//!
//! The matrices have a few dozen rows and columns and fit into the nearest caches. A general product would spend most
//! of its time on packing and on kernel selection. Columns are read as whole SIMD vectors, including their padding.
//!
//! Terms are added in the order of the columns of the left matrix, for any number of lanes.

use crate::linalg::Matrix;
use crate::linalg::row_blocks::{RowBlocks, in_row_blocks};
use pulp::{Simd, WithSimd};

/// Maximum number of columns of the left matrix.
pub(super) const MOST: usize = 128;
/// Task that computes `out[:, to[i]] = Σ_p q[:, active[p]] · cauchy[p, i]` for at most [`MOST`] active columns.
pub(super) struct CauchyProduct<'a> {
    pub q: &'a Matrix,
    pub active: &'a [usize],
    pub cauchy: &'a Matrix,
    pub to: &'a [usize],
    pub out: &'a mut Matrix,
}

impl WithSimd for CauchyProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.q.rows();
        in_row_blocks(simd, rows, &mut self);
    }
}

impl RowBlocks for CauchyProduct<'_> {
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize) {
        let zero = [simd.splat_f64s(0.0); R];
        let mut columns = [&zero; MOST];
        for (column, &j) in columns.iter_mut().zip(self.active) {
            let whole = S::as_simd_f64s(self.q.whole_column(j)).0;
            *column = whole.get(row..).and_then(|rest| rest.first_chunk()).unwrap_or(&zero);
        }
        let columns = &columns[..self.active.len()];
        let mut i = 0;
        while i + 4 <= self.to.len() {
            block::<S, R, 4>(simd, columns, self.cauchy, i, &self.to[i..], self.out, row);
            i += 4;
        }
        while i < self.to.len() {
            block::<S, R, 1>(simd, columns, self.cauchy, i, &self.to[i..], self.out, row);
            i += 1;
        }
    }
}

#[inline(always)]
fn block<S: Simd, const R: usize, const C: usize>(
    simd: S,
    columns: &[&[S::f64s; R]],
    cauchy: &Matrix,
    first: usize,
    to: &[usize],
    out: &mut Matrix,
    row: usize,
) {
    let mut sums = [[simd.splat_f64s(0.0); C]; R];
    let mut factors: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        factors[c] = &cauchy.column(first + c)[..columns.len()];
    }
    for p in 0..columns.len() {
        let q = columns[p];
        for c in 0..C {
            let factor = simd.splat_f64s(factors[c][p]);
            for r in 0..R {
                sums[r][c] = simd.mul_add_e_f64s(q[r], factor, sums[r][c]);
            }
        }
    }
    for c in 0..C {
        let out = &mut S::as_mut_simd_f64s(out.whole_column_mut(to[c])).0[row..row + R];
        for r in 0..R {
            out[r] = sums[r][c];
        }
    }
}
