//! Products of small matrices: eigenvectors times the Cauchy columns of a factor.
//!
//! The matrices have a few dozen rows and columns and fit into the nearest caches. A general product would spend most
//! of its time on packing and on kernel selection. Columns are read as whole SIMD vectors, including their padding.
//!
//! Terms are added in the order of the columns of the left matrix, for any number of lanes.

use crate::linalg::{Matrix, multiply};
use pulp::{Simd, WithSimd};

/// Maximum number of columns of the left matrix.
pub(super) const MOST: usize = 128;
/// Identity permutation, used when no columns are selected or moved.
const IN_ORDER: [usize; MOST] = {
    let mut numbers = [0; MOST];
    let mut i = 0;
    while i < MOST {
        numbers[i] = i;
        i += 1;
    }
    numbers
};

/// Task that computes `out[:, to[i]] = Σ_p q[:, active[p]] · cauchy[p, i]` for at most [`MOST`] active columns.
pub(super) struct CauchyProduct<'a> {
    pub q: &'a Matrix,
    pub active: &'a [usize],
    pub cauchy: &'a Matrix,
    pub to: &'a [usize],
    pub out: &'a mut Matrix,
}

/// Computes `out = a b` and resizes `out`. Fastest if both matrices have a few dozen rows and columns.
pub(crate) fn multiply_small(out: &mut Matrix, a: &Matrix, b: &Matrix) {
    if a.columns().max(b.columns()) > MOST {
        return multiply(out, a.view(), b.view());
    }
    out.resize(a.rows(), b.columns());
    let (active, to) = (&IN_ORDER[..a.columns()], &IN_ORDER[..b.columns()]);
    pulp::Arch::new().dispatch(CauchyProduct { q: a, active, cauchy: b, to, out });
}

impl WithSimd for CauchyProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let vectors = self.q.rows().div_ceil(S::F64_LANES);
        // The sums, the vectors of one column and one factor must fit into the registers: 32 with AVX-512, otherwise
        // 16.
        let most = if S::F64_LANES == 8 { 4 } else { 3 };
        let (mut row, mut left) = (0, vectors.div_ceil(most));
        while left > 0 {
            // Blocks have nearly equal heights, because a low block does little work per factor that it reads.
            let taken = (vectors - row).div_ceil(left);
            match taken {
                4 => rows::<S, 4>(simd, &mut self, row),
                3 => rows::<S, 3>(simd, &mut self, row),
                2 => rows::<S, 2>(simd, &mut self, row),
                _ => rows::<S, 1>(simd, &mut self, row),
            }
            row += taken;
            left -= 1;
        }
    }
}

/// Computes `R` SIMD vectors of rows, in all columns of the product.
#[inline(always)]
fn rows<S: Simd, const R: usize>(simd: S, turn: &mut CauchyProduct<'_>, row: usize) {
    let zero = [simd.splat_f64s(0.0); R];
    let mut columns = [&zero; MOST];
    for (column, &j) in columns.iter_mut().zip(turn.active) {
        let whole = S::as_simd_f64s(turn.q.whole_column(j)).0;
        *column = whole.get(row..).and_then(|rest| rest.first_chunk()).unwrap_or(&zero);
    }
    let columns = &columns[..turn.active.len()];
    let mut i = 0;
    while i + 4 <= turn.to.len() {
        block::<S, R, 4>(simd, columns, turn.cauchy, i, &turn.to[i..], turn.out, row);
        i += 4;
    }
    while i < turn.to.len() {
        block::<S, R, 1>(simd, columns, turn.cauchy, i, &turn.to[i..], turn.out, row);
        i += 1;
    }
}

/// Computes `R` SIMD vectors of rows in each of `C` columns of the product.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn a_small_product_equals_sums_over_entries() {
        let mut random = Random::seeded(6);
        let mut matrix = |rows: usize, columns: usize| {
            let mut matrix = Matrix::zeros(rows, columns);
            (0..columns).for_each(|j| matrix.column_mut(j).iter_mut().for_each(|x| *x = random.normal()));
            matrix
        };
        let mut out = Matrix::default();
        for (rows, inner, columns) in [
            (1, 1, 1),
            (3, 0, 2),
            (7, 5, 4),
            (10, 10, 10),
            (25, 24, 9),
            (33, 31, 30),
            (70, 54, 54),
            (40, 128, 3),
            (5, 129, 6),
        ] {
            let (a, b) = (matrix(rows, inner), matrix(inner, columns));
            multiply_small(&mut out, &a, &b);
            assert_eq!((out.rows(), out.columns()), (rows, columns));
            for j in 0..columns {
                for i in 0..rows {
                    let terms = (0..inner).map(|p| a.column(p)[i] * b.column(j)[p]);
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term: f64| (sum + term, size + term.abs()));
                    let error = (out.column(j)[i] - sum).abs();
                    assert!(error <= inner as f64 * f64::EPSILON * size, "{rows} {inner} {columns}: {error}");
                }
            }
        }
    }
}
