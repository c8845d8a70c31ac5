//! Inner products of many pairs of long vectors. Every vector is read from memory once. Sums run block by block, so
//! their bits do not depend on the number of vectors.

use super::subtract_projection::{BLOCK, Columns};
use crate::threads::share_out;
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

pub(super) trait Vectors {
    fn count(&self) -> usize;
    fn rows(&self, j: usize, rows: Range<usize>) -> &[f64];
}

impl Vectors for Columns<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.count
    }
    #[inline(always)]
    fn rows(&self, j: usize, rows: Range<usize>) -> &[f64] {
        &self.entries[j * self.stride..][rows.start..rows.end]
    }
}

impl Vectors for &[&[f64]] {
    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn rows(&self, j: usize, rows: Range<usize>) -> &[f64] {
        &self[j][rows.start..rows.end]
    }
}

/// Number of rows per part. Each part is summed separately, so results do not depend on the number of threads.
pub(super) const PART: usize = 1 << 14;

/// Task that adds the inner products over a range of rows: `out[r][l] += left[l] · right[r]`.
pub(super) struct Products<'a, L, R> {
    pub left: L,
    pub right: R,
    pub rows: Range<usize>,
    /// Row of the left vectors at which the right vectors start.
    pub offset: usize,
    pub out: &'a mut [f64],
    /// Distance in `out` between the results of `r` and `r + 1`.
    pub stride: usize,
    /// True if only products with l ≤ r are needed. Others may be computed as well.
    pub below: bool,
}

impl<L: Vectors, R: Vectors> WithSimd for Products<'_, L, R> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (rows, count) = (self.rows.clone(), self.right.count());
        for from in rows.clone().step_by(BLOCK) {
            self.rows = from..(from + BLOCK).min(rows.end);
            let mut r = 0;
            while r + 4 <= count {
                self.strip::<S, 4>(simd, r);
                r += 4;
            }
            while r < count {
                self.strip::<S, 1>(simd, r);
                r += 1;
            }
        }
    }
}

impl<L: Vectors, R: Vectors> Products<'_, L, R> {
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(&mut self, simd: S, r: usize) {
        let count = if self.below { self.left.count().min(r + N) } else { self.left.count() };
        let mut l = 0;
        while N == 1 && l + 8 <= count {
            self.tile::<S, 8, N>(simd, l, r);
            l += 8;
        }
        while l + 4 <= count {
            self.tile::<S, 4, N>(simd, l, r);
            l += 4;
        }
        if l + 2 <= count {
            self.tile::<S, 2, N>(simd, l, r);
            l += 2;
        }
        if l < count {
            self.tile::<S, 1, N>(simd, l, r);
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const C: usize, const N: usize>(&mut self, simd: S, l: usize, r: usize) {
        let (rows, length) = (self.rows.clone(), self.rows.len() / S::F64_LANES);
        let shifted = rows.start - self.offset..rows.end - self.offset;
        let mut left: [(&[S::f64s], &[f64]); C] = [(&[], &[]); C];
        let mut right: [(&[S::f64s], &[f64]); N] = [(&[], &[]); N];
        for c in 0..C {
            let (lanes, rest) = S::as_simd_f64s(self.left.rows(l + c, rows.clone()));
            left[c] = (&lanes[..length], rest);
        }
        for n in 0..N {
            let (lanes, rest) = S::as_simd_f64s(self.right.rows(r + n, shifted.clone()));
            right[n] = (&lanes[..length], rest);
        }
        let mut sums = [[simd.splat_f64s(0.0); C]; N];
        for i in 0..length {
            for n in 0..N {
                for c in 0..C {
                    sums[n][c] = simd.mul_add_e_f64s(left[c].0[i], right[n].0[i], sums[n][c]);
                }
            }
        }
        for n in 0..N {
            let at = (r + n) * self.stride + l;
            let out = &mut self.out[at..at + C];
            for c in 0..C {
                let mut sum = simd.reduce_sum_f64s(sums[n][c]);
                for (a, b) in left[c].1.iter().zip(right[n].1) {
                    sum += a * b;
                }
                out[c] += sum;
            }
        }
    }
}

pub(super) fn transpose_times(columns: Columns<'_>, x: &[f64], out: &mut Vec<f64>) {
    add_up(columns, &[x][..], x.len(), false, out);
}

/// Computes `out[r][l] = left[l] · right[r]` over `length` rows. If `below` is true, only products with l ≤ r are
/// defined.
pub(super) fn add_up<R: Vectors + Copy + Send>(
    left: Columns<'_>,
    right: R,
    length: usize,
    below: bool,
    out: &mut Vec<f64>,
) {
    let (stride, parts) = (left.count, length.div_ceil(PART));
    let size = stride * right.count();
    out.clear();
    out.resize(size * parts.max(1), 0.0);
    if size == 0 {
        return;
    }
    if parts <= 1 {
        let rows = 0..length;
        return Arch::new().dispatch(Products { left, right, rows, offset: 0, out, stride, below });
    }
    let mut partial = &mut out[..];
    share_out(parts, stride * length, |share| {
        let own = partial.split_off_mut(..size * share.len()).unwrap_or_default();
        move || {
            for (part, out) in share.zip(own.chunks_mut(size)) {
                let rows = part * PART..((part + 1) * PART).min(length);
                Arch::new().dispatch(Products { left, right, rows, offset: 0, out, stride, below });
            }
        }
    });
    let (sums, parts) = out.split_at_mut(size);
    for part in parts.chunks(size) {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    out.truncate(size);
}
