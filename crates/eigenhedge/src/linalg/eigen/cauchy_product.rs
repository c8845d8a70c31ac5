//! Products of small matrices: directions times the Cauchy columns of a factor.
//!
//! The matrices have a few dozen rows and columns and fit into the first-level cache. A general product would spend most of its
//! time on packing and on kernel selection. Columns are read in whole lanes, including their padding.

use crate::linalg::Matrix;
use pulp::{Simd, WithSimd};

/// Product `out[:, to[i]] = Σ_p q[:, active[p]] · cauchy[p, i]`.
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
        let lanes = self.q.rows().div_ceil(S::F64_LANES);
        let mut i = 0;
        while i < self.to.len() {
            if i + 4 <= self.to.len() {
                columns::<S, 4>(simd, &mut self, i, lanes);
                i += 4;
            } else {
                columns::<S, 1>(simd, &mut self, i, lanes);
                i += 1;
            }
        }
    }
}

/// Computes `C` columns of the product.
#[inline(always)]
fn columns<S: Simd, const C: usize>(simd: S, turn: &mut CauchyProduct<'_>, first: usize, lanes: usize) {
    let mut row = 0;
    while row + 3 <= lanes {
        block::<S, 3, C>(simd, turn, first, row);
        row += 3;
    }
    if row + 2 <= lanes {
        block::<S, 2, C>(simd, turn, first, row);
        row += 2;
    }
    if row < lanes {
        block::<S, 1, C>(simd, turn, first, row);
    }
}

/// Computes `R` SIMD vectors of rows in each of `C` columns of the product.
#[inline(always)]
fn block<S: Simd, const R: usize, const C: usize>(simd: S, turn: &mut CauchyProduct<'_>, first: usize, row: usize) {
    let mut sums = [[simd.splat_f64s(0.0); C]; R];
    let mut factors: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        factors[c] = &turn.cauchy.column(first + c)[..turn.active.len()];
    }
    for (p, &j) in turn.active.iter().enumerate() {
        let q = &S::as_simd_f64s(turn.q.whole_column(j)).0[row..row + R];
        for c in 0..C {
            let factor = simd.splat_f64s(factors[c][p]);
            for r in 0..R {
                sums[r][c] = simd.mul_add_e_f64s(q[r], factor, sums[r][c]);
            }
        }
    }
    for c in 0..C {
        let out = &mut S::as_mut_simd_f64s(turn.out.whole_column_mut(turn.to[first + c])).0[row..row + R];
        for r in 0..R {
            out[r] = sums[r][c];
        }
    }
}
