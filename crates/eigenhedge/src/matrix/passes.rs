//! Passes over long columns: coordinates, and what they leave over.
//!
//! Cost: each reads the columns once. Rows are handled in blocks, so that the vector stays in the first cache while the
//! columns stream by, eight at a time.

use crate::num::dot;
use pulp::{Simd, WithSimd};

/// Columns side by side, to read.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub entries: &'a [f64],
    pub stride: usize,
    pub rows: usize,
}

impl<'a> Columns<'a> {
    /// Some rows of as many columns as there are lanes in the result.
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

/// Rows handled together, so that the vector stays in the first cache while the columns stream by.
const BLOCK: usize = 2048;

/// `out += Aᵀ x`.
pub(super) struct TransposeTimes<'a> {
    pub columns: Columns<'a>,
    pub x: &'a [f64],
    pub out: &'a mut [f64],
}

impl WithSimd for TransposeTimes<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { columns, x, out } = self;
        let mut from = 0;
        while from < x.len() {
            let to = (from + BLOCK).min(x.len());
            let x = &x[from..to];
            let mut j = 0;
            while j + 8 <= out.len() {
                add_dots(simd, columns.part::<8>(j, from..to), x, &mut out[j..j + 8]);
                j += 8;
            }
            if j + 4 <= out.len() {
                add_dots(simd, columns.part::<4>(j, from..to), x, &mut out[j..j + 4]);
                j += 4;
            }
            while j < out.len() {
                add_dots(simd, columns.part::<1>(j, from..to), x, &mut out[j..=j]);
                j += 1;
            }
            from = to;
        }
    }
}

/// Adds the products of a few columns with `x`.
#[inline(always)]
fn add_dots<S: Simd, const C: usize>(simd: S, columns: [&[f64]; C], x: &[f64], out: &mut [f64]) {
    let (x, x_rest) = S::as_simd_f64s(x);
    let mut sums = [simd.splat_f64s(0.0); C];
    let mut lanes: [&[S::f64s]; C] = [&[]; C];
    let mut rest: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        let (head, tail) = S::as_simd_f64s(columns[c]);
        (lanes[c], rest[c]) = (&head[..x.len()], tail);
    }
    for i in 0..x.len() {
        for c in 0..C {
            sums[c] = simd.mul_add_e_f64s(lanes[c][i], x[i], sums[c]);
        }
    }
    for c in 0..C {
        let mut sum = simd.reduce_sum_f64s(sums[c]);
        for (a, b) in rest[c].iter().zip(x_rest) {
            sum += a * b;
        }
        out[c] += sum;
    }
}

/// `x ← x - A c`; gives the squared norm of the result.
pub(super) struct SubtractTimes<'a> {
    pub columns: Columns<'a>,
    pub coefficients: &'a [f64],
    /// What to subtract from; none stands for `x` itself.
    pub from: Option<&'a [f64]>,
    pub x: &'a mut [f64],
}

impl WithSimd for SubtractTimes<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { columns, coefficients, from: source, x } = self;
        let mut square = 0.0;
        // Backwards, blocks and columns: what the coordinates were computed from last is still in the nearest cache.
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

/// Subtracts multiples of a few columns from `x`.
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
