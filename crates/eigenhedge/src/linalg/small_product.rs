//! Products of two small matrices, which fit into the nearest caches: a general product would spend most of its time on
//! packing. Columns are read as whole SIMD vectors, including their padding. Terms are added in the order of the columns
//! of the left matrix, for any number of lanes.

use super::{Matrix, multiply};
use pulp::{Arch, Simd, WithSimd};

pub(super) const MOST: usize = 128;
const ALL: [usize; MOST] = {
    let mut all = [0; MOST];
    let mut i = 0;
    while i < MOST {
        all[i] = i;
        i += 1;
    }
    all
};

/// Computes `out = a b` and resizes `out`. Fastest if both matrices have a few dozen rows and columns.
pub(crate) fn multiply_small(out: &mut Matrix, a: &Matrix, b: &Matrix) {
    assert_eq!(a.columns(), b.rows(), "shapes agree");
    if a.columns().max(b.columns()) > MOST {
        return multiply(out, a.view(), b.view());
    }
    out.resize(a.rows(), b.columns());
    Arch::new().dispatch(SmallProduct { a, from: &ALL[..a.columns()], b, to: &ALL[..b.columns()], out });
}

/// Task that computes `out[:, to[j]] = Σ_p a[:, from[p]] · b[p, j]` for at most [`MOST`] columns of a.
pub(super) struct SmallProduct<'a> {
    pub a: &'a Matrix,
    pub from: &'a [usize],
    pub b: &'a Matrix,
    pub to: &'a [usize],
    pub out: &'a mut Matrix,
}

impl WithSimd for SmallProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let vectors = self.a.rows().div_ceil(S::F64_LANES);
        // The sums, the vectors of one column and one factor must fit into the registers: 32 with AVX-512, otherwise 16.
        let most = if S::F64_LANES == 8 { 4 } else { 3 };
        let (mut row, mut left) = (0, vectors.div_ceil(most));
        while left > 0 {
            // Blocks have nearly equal heights, because short blocks do little work per factor.
            let taken = (vectors - row).div_ceil(left);
            match taken {
                4 => self.rows::<S, 4>(simd, row),
                3 => self.rows::<S, 3>(simd, row),
                2 => self.rows::<S, 2>(simd, row),
                _ => self.rows::<S, 1>(simd, row),
            }
            row += taken;
            left -= 1;
        }
    }
}

impl SmallProduct<'_> {
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize) {
        let zero = [simd.splat_f64s(0.0); R];
        let mut columns = [&zero; MOST];
        for (column, &j) in columns.iter_mut().zip(self.from) {
            let whole = S::as_simd_f64s(self.a.whole_column(j)).0;
            *column = whole.get(row..).and_then(|rest| rest.first_chunk()).unwrap_or(&zero);
        }
        let (columns, to) = (&columns[..self.from.len()], self.to);
        let mut j = 0;
        while j + 4 <= to.len() {
            block::<S, R, 4>(simd, columns, self.b, j, &to[j..], self.out, row);
            j += 4;
        }
        if j + 2 <= to.len() {
            block::<S, R, 2>(simd, columns, self.b, j, &to[j..], self.out, row);
            j += 2;
        }
        if j < to.len() {
            block::<S, R, 1>(simd, columns, self.b, j, &to[j..], self.out, row);
        }
    }
}

#[inline(always)]
fn block<S: Simd, const R: usize, const C: usize>(
    simd: S,
    columns: &[&[S::f64s; R]],
    b: &Matrix,
    first: usize,
    to: &[usize],
    out: &mut Matrix,
    row: usize,
) {
    let mut sums = [[simd.splat_f64s(0.0); C]; R];
    let mut factors: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        factors[c] = &b.column(first + c)[..columns.len()];
    }
    for p in 0..columns.len() {
        let vectors = columns[p];
        for c in 0..C {
            let factor = simd.splat_f64s(factors[c][p]);
            for r in 0..R {
                sums[r][c] = simd.mul_add_e_f64s(vectors[r], factor, sums[r][c]);
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
            (9, 4, 6),
            (16, 7, 7),
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
