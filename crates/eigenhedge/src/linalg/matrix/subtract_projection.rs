//! Subtraction of a combination of columns from a vector. The columns are read once, eight at a time, in blocks of
//! rows, so that the vector stays in the first-level cache.

use crate::num::dot;
use pulp::{Simd, WithSimd};

/// Number of rows per block. Products are summed block by block, so they do not depend on how many are computed at
/// once.
pub(super) const BLOCK: usize = 512;

#[derive(Clone, Copy)]
pub(super) struct ColumnList<'a> {
    pub entries: &'a [f64],
    pub stride: usize,
    pub rows: usize,
    pub count: usize,
}

impl<'a> ColumnList<'a> {
    #[inline(always)]
    fn part<const C: usize>(&self, first: usize, rows: std::ops::Range<usize>) -> [&'a [f64]; C] {
        let mut part: [&[f64]; C] = [&[]; C];
        let mut at = first * self.stride;
        for slot in &mut part {
            *slot = &self.entries[at..at + self.rows][rows.start..rows.end];
            at += self.stride;
        }
        part
    }
}

/// Task that computes `x ← from - A c` and the squared norm of the result, for the matrix A of the columns.
pub(super) struct SubtractTimes<'a> {
    pub columns: ColumnList<'a>,
    pub coefficients: &'a [f64],
    /// Vector to subtract from. `None` means `x` itself.
    pub from: Option<&'a [f64]>,
    pub x: &'a mut [f64],
}

impl WithSimd for SubtractTimes<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { columns, coefficients, from: source, x } = self;
        let mut square = 0.0;
        // Blocks and columns run backwards, because the data read last by the preceding products is still in the cache.
        for block in (0..x.len().div_ceil(BLOCK)).rev() {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(x.len());
            let x = &mut x[rows.start..rows.end];
            if let Some(source) = source {
                x.copy_from_slice(&source[rows.start..rows.end]);
            }
            let mut j = coefficients.len();
            while j % 4 > 0 {
                j -= 1;
                subtract(simd, columns.part::<1>(j, rows.start..rows.end), &coefficients[j..=j], x);
            }
            if j % 8 > 0 {
                j -= 4;
                subtract(simd, columns.part::<4>(j, rows.start..rows.end), &coefficients[j..j + 4], x);
            }
            while j > 0 {
                j -= 8;
                subtract(simd, columns.part::<8>(j, rows.start..rows.end), &coefficients[j..j + 8], x);
            }
            square += dot(x, x);
        }
        square
    }
}

#[inline(always)]
fn subtract<S: Simd, const C: usize>(simd: S, columns: [&[f64]; C], coefficients: &[f64], x: &mut [f64]) {
    let (x, x_rest) = S::as_mut_simd_f64s(x);
    let mut amounts = [simd.splat_f64s(0.0); C];
    let mut lanes: [&[S::f64s]; C] = [&[]; C];
    let mut rest: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        let (head, tail) = S::as_simd_f64s(columns[c]);
        (lanes[c], rest[c]) = (&head[..x.len()], tail);
        amounts[c] = simd.splat_f64s(coefficients[c]);
    }
    for i in 0..x.len() {
        let mut left = x[i];
        for c in 0..C {
            left = simd.negate_mul_add_e_f64s(amounts[c], lanes[c][i], left);
        }
        x[i] = left;
    }
    for c in 0..C {
        for (x, a) in x_rest.iter_mut().zip(rest[c]) {
            *x -= coefficients[c] * a;
        }
    }
}
