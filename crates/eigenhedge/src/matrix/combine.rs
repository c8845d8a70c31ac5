//! A long matrix times a small one, in place.
//!
//! Cost: the long matrix is read and written once. A few rows of it at a time, with the room behind the last of them, stay
//! in the first cache until all their products are known; a general product would copy them twice.

use super::Matrix;
use pulp::{Simd, WithSimd};

/// `A ← A R`, with A of the given rows and stride.
pub(super) struct Combine<'a> {
    pub entries: &'a mut [f64],
    pub stride: usize,
    pub rows: usize,
    pub rotation: &'a Matrix,
    /// Products that wait.
    pub working: &'a mut Vec<f64>,
}

impl WithSimd for Combine<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { entries, stride, rows, rotation, working } = self;
        working.clear();
        working.resize(rotation.columns() * 3 * S::F64_LANES, 0.0);
        let entries = S::as_mut_simd_f64s(entries).0;
        let working = S::as_mut_simd_f64s(working).0;
        let (stride, lanes) = (stride / S::F64_LANES, rows.div_ceil(S::F64_LANES));
        let mut row = 0;
        while row + 3 <= lanes {
            block::<S, 3>(simd, entries, stride, row, rotation, working);
            row += 3;
        }
        while row < lanes {
            block::<S, 1>(simd, entries, stride, row, rotation, working);
            row += 1;
        }
    }
}

/// `B` vectors of rows.
#[inline(always)]
fn block<S: Simd, const B: usize>(
    simd: S,
    entries: &mut [S::f64s],
    stride: usize,
    row: usize,
    rotation: &Matrix,
    working: &mut [S::f64s],
) {
    let columns = rotation.columns();
    let mut j = 0;
    while j + 4 <= columns {
        products::<S, B, 4>(simd, &entries[row..], stride, rotation, j, &mut working[j * B..(j + 4) * B]);
        j += 4;
    }
    while j < columns {
        products::<S, B, 1>(simd, &entries[row..], stride, rotation, j, &mut working[j * B..(j + 1) * B]);
        j += 1;
    }
    for j in 0..columns {
        entries[row + j * stride..row + j * stride + B].copy_from_slice(&working[j * B..(j + 1) * B]);
    }
}

/// `C` columns of the product, from column `first` of the rotation on.
#[inline(always)]
fn products<S: Simd, const B: usize, const C: usize>(
    simd: S,
    entries: &[S::f64s],
    stride: usize,
    rotation: &Matrix,
    first: usize,
    out: &mut [S::f64s],
) {
    let mut sums = [[simd.splat_f64s(0.0); B]; C];
    let rows = rotation.rows();
    let mut factors: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        factors[c] = &rotation.column(first + c)[..rows];
    }
    let mut at = 0;
    for p in 0..rows {
        let part = &entries[at..at + B];
        for c in 0..C {
            let factor = simd.splat_f64s(factors[c][p]);
            for b in 0..B {
                sums[c][b] = simd.mul_add_e_f64s(part[b], factor, sums[c][b]);
            }
        }
        at += stride;
    }
    for c in 0..C {
        for b in 0..B {
            out[c * B + b] = sums[c][b];
        }
    }
}
