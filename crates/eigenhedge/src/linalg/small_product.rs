//! Products of two small matrices, which fit into the nearest caches: a general product would spend most of its time on
//! packing. Columns are read as whole SIMD vectors, including their padding. Terms are added in the order of the
//! columns of the left matrix, for any number of lanes.

use super::{Matrix, multiply};
use pulp::{Arch, Simd, WithSimd};

/// Maximum inner dimension and maximum number of columns of a small product.
const MOST: usize = 128;

/// Computes `out = a b` and resizes `out`. Fastest if both matrices have a few dozen rows and columns.
pub(crate) fn multiply_small(out: &mut Matrix, a: &Matrix, b: &Matrix) {
    assert_eq!(a.columns(), b.rows(), "shapes agree");
    if a.columns().max(b.columns()) > MOST {
        return multiply(out, a.view(), b.view());
    }
    out.resize(a.rows(), b.columns());
    Arch::new().dispatch(SmallProduct::<false> { a, b, out });
}

/// Computes `out = a bᵀ` and resizes `out`. Fastest if both matrices have a few dozen rows and columns.
pub(crate) fn multiply_small_transposed(out: &mut Matrix, a: &Matrix, b: &Matrix) {
    assert_eq!(a.columns(), b.columns(), "shapes agree");
    if a.columns().max(b.rows()) > MOST {
        return multiply(out, a.view(), b.view().transpose());
    }
    out.resize(a.rows(), b.rows());
    Arch::new().dispatch(SmallProduct::<true> { a, b, out });
}

/// Task that computes `out = a b`, or `out = a bᵀ` if `TRANSPOSED`.
struct SmallProduct<'a, const TRANSPOSED: bool> {
    a: &'a Matrix,
    b: &'a Matrix,
    out: &'a mut Matrix,
}

impl<const TRANSPOSED: bool> WithSimd for SmallProduct<'_, TRANSPOSED> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.a.rows();
        in_row_blocks(simd, rows, &mut self);
    }
}

impl<const TRANSPOSED: bool> RowBlocks for SmallProduct<'_, TRANSPOSED> {
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize) {
        let columns = self.out.columns();
        let mut j = 0;
        while j + 4 <= columns {
            self.block::<S, R, 4>(simd, row, j);
            j += 4;
        }
        if j + 2 <= columns {
            self.block::<S, R, 2>(simd, row, j);
            j += 2;
        }
        if j < columns {
            self.block::<S, R, 1>(simd, row, j);
        }
    }
}

impl<const TRANSPOSED: bool> SmallProduct<'_, TRANSPOSED> {
    #[inline(always)]
    fn block<S: Simd, const R: usize, const C: usize>(&mut self, simd: S, row: usize, first: usize) {
        let Self { a, b, out } = self;
        let inner = a.columns();
        let mut sums = [[simd.splat_f64s(0.0); C]; R];
        let (storage, stride) = a.storage();
        let (vectors, distance) = (S::as_simd_f64s(storage).0, stride / S::F64_LANES);
        let vectors = vectors[..inner * distance].chunks_exact(distance.max(1)).map(|column| &column[row..row + R]);
        if TRANSPOSED {
            let (storage, stride) = b.storage();
            let factors = storage[..inner * stride].chunks_exact(stride.max(1)).map(|column| &column[first..first + C]);
            for (vectors, factors) in vectors.zip(factors) {
                add_terms(simd, &mut sums, vectors, |c| factors[c]);
            }
        } else {
            let columns: [&[f64]; C] = std::array::from_fn(|c| &b.column(first + c)[..inner]);
            for (vectors, p) in vectors.zip(0..inner) {
                add_terms(simd, &mut sums, vectors, |c| columns[c][p]);
            }
        }
        let (storage, stride) = out.storage_mut();
        let (out, distance) = (S::as_mut_simd_f64s(storage).0, stride / S::F64_LANES);
        for c in 0..C {
            let out = &mut out[(first + c) * distance + row..][..R];
            for r in 0..R {
                out[r] = sums[r][c];
            }
        }
    }
}

#[inline(always)]
fn add_terms<S: Simd, const R: usize, const C: usize>(
    simd: S,
    sums: &mut [[S::f64s; C]; R],
    vectors: &[S::f64s],
    factor: impl Fn(usize) -> f64,
) {
    for c in 0..C {
        let factor = simd.splat_f64s(factor(c));
        for r in 0..R {
            sums[r][c] = simd.mul_add_e_f64s(vectors[r], factor, sums[r][c]);
        }
    }
}

pub(crate) trait RowBlocks {
    /// Computes `R` SIMD vectors of rows, starting at vector `row`, in all columns of the product.
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize);
}

#[inline(always)]
pub(crate) fn in_row_blocks<S: Simd>(simd: S, rows: usize, product: &mut impl RowBlocks) {
    let vectors = rows.div_ceil(S::F64_LANES);
    // The sums, the vectors of one column and one factor must fit into the registers: 32 with AVX-512, otherwise 16.
    let most = if S::F64_LANES == 8 { 4 } else { 3 };
    let (mut row, mut left) = (0, vectors.div_ceil(most));
    while left > 0 {
        // Blocks have nearly equal heights, because short blocks do little work per factor.
        let taken = (vectors - row).div_ceil(left);
        match taken {
            4 => product.rows::<S, 4>(simd, row),
            3 => product.rows::<S, 3>(simd, row),
            2 => product.rows::<S, 2>(simd, row),
            _ => product.rows::<S, 1>(simd, row),
        }
        row += taken;
        left -= 1;
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
            let (mut transposed, mut same) = (Matrix::default(), Matrix::default());
            transposed.transpose_of(&b);
            multiply_small_transposed(&mut same, &a, &transposed);
            assert_eq!(same, out, "{rows} {inner} {columns}");
        }
    }
}
