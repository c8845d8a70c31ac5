//! Cauchy columns of a solved secular equation ([`super::secular`]): the recomputed vector z, the norms of the columns,
//! and their products with eigenvectors. Each SIMD lane holds one entry of z or one root, and four poles or roots share
//! one division. Lists are padded to a multiple of the number of lanes.

use super::secular_simd::{reciprocals, select};
use crate::linalg::Matrix;
use crate::linalg::small_product::{RowBlocks, in_row_blocks};
use pulp::{Simd, WithSimd};

/// Recomputes the vector z for which the computed roots λ are exact, for poles d (Gu & Eisenstat):
/// `z_i² = (λ_last - d_i) Π_{j<i} (λ_j - d_i)/(d_j - d_i) Π_{i≤j<last} (λ_j - d_i)/(d_{j+1} - d_i)`. `weights` contains
/// the signs on input and z on output. Every fraction is in (0, 1].
#[inline(always)]
pub(super) fn recompute_weights<S: Simd>(
    simd: S,
    poles: &[f64],
    origins: &[f64],
    offsets: &[f64],
    count: usize,
    weights: &mut [f64],
) {
    let last = count - 1;
    const COUNTING: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let lane_numbers = S::as_simd_f64s(&COUNTING).0[0];
    let lanes = S::as_simd_f64s(poles).0.iter().zip(S::as_mut_simd_f64s(weights).0);
    for (group, (at, weights)) in lanes.enumerate() {
        let places = simd.add_f64s(lane_numbers, simd.splat_f64s((group * S::F64_LANES) as f64));
        let to_last = simd.sub_f64s(simd.splat_f64s(origins[last]), *at);
        let mut square = simd.add_f64s(to_last, simd.splat_f64s(offsets[last]));
        let mut j = 0;
        while j < last {
            let (mut above, mut under) = (simd.splat_f64s(1.0), simd.splat_f64s(1.0));
            let end = (j + 4).min(last);
            while j < end {
                let root = simd.add_f64s(simd.sub_f64s(simd.splat_f64s(origins[j]), *at), simd.splat_f64s(offsets[j]));
                let passed = simd.less_than_f64s(simd.splat_f64s(j as f64), places);
                let pole = select(simd, passed, simd.splat_f64s(poles[j]), simd.splat_f64s(poles[j + 1]));
                above = simd.mul_f64s(above, root);
                under = simd.mul_f64s(under, simd.sub_f64s(pole, *at));
                j += 1;
            }
            square = simd.mul_f64s(square, simd.div_f64s(above, under));
        }
        *weights = simd.mul_f64s(*weights, simd.sqrt_f64s(simd.max_f64s(square, simd.splat_f64s(0.0))));
    }
}

/// Computes the inverse norms of the Cauchy columns `w/(d - λ)`. Padding is undefined.
#[inline(always)]
pub(super) fn inverse_norms<S: Simd>(
    simd: S,
    poles: &[f64],
    weights: &[f64],
    origins: &[f64],
    offsets: &[f64],
    scales: &mut [f64],
) {
    let (d4, d1) = poles.as_chunks::<4>();
    let (w4, w1) = weights.as_chunks::<4>();
    let points = S::as_simd_f64s(origins).0.iter().zip(S::as_simd_f64s(offsets).0);
    for ((origin, offset), scale) in points.zip(S::as_mut_simd_f64s(scales).0) {
        let mut square = simd.splat_f64s(0.0);
        for (d, w) in d4.iter().zip(w4) {
            let x = [
                simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[0]), *origin), *offset),
                simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[1]), *origin), *offset),
                simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[2]), *origin), *offset),
                simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[3]), *origin), *offset),
            ];
            let r = reciprocals(simd, x);
            for i in 0..4 {
                let entry = simd.mul_f64s(simd.splat_f64s(w[i]), r[i]);
                square = simd.mul_add_e_f64s(entry, entry, square);
            }
        }
        for (d, w) in d1.iter().zip(w1) {
            let x = simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(*d), *origin), *offset);
            let entry = simd.div_f64s(simd.splat_f64s(*w), x);
            square = simd.mul_add_e_f64s(entry, entry, square);
        }
        *scale = simd.div_f64s(simd.splat_f64s(1.0), simd.sqrt_f64s(square));
    }
}

#[derive(Clone, Copy)]
pub(super) struct Points<'a> {
    pub poles: &'a [f64],
    pub origins: &'a [f64],
    pub offsets: &'a [f64],
    pub scales: &'a [f64],
}

pub(super) struct Fill<'a> {
    pub points: Points<'a>,
    pub weights: &'a [f64],
    pub roots: &'a [usize],
    pub cauchy: &'a mut Matrix,
}

impl WithSimd for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { points, weights, roots, cauchy } = self;
        cauchy.resize(points.poles.len(), roots.len());
        let poles = S::as_simd_f64s(points.poles).0;
        let weights = S::as_simd_f64s(weights).0;
        let mut column = 0;
        // Four roots share one division per pole.
        while column + 4 <= roots.len() {
            for (lane, (d, w)) in poles.iter().zip(weights).enumerate() {
                let mut x = [simd.splat_f64s(0.0); 4];
                for c in 0..4 {
                    let i = roots[column + c];
                    let from_origin = simd.sub_f64s(*d, simd.splat_f64s(points.origins[i]));
                    x[c] = simd.sub_f64s(from_origin, simd.splat_f64s(points.offsets[i]));
                }
                let r = reciprocals(simd, x);
                for c in 0..4 {
                    let scale = simd.splat_f64s(points.scales[roots[column + c]]);
                    let entry = simd.mul_f64s(simd.mul_f64s(*w, scale), r[c]);
                    S::as_mut_simd_f64s(cauchy.column_mut(column + c)).0[lane] = entry;
                }
            }
            column += 4;
        }
        while column < roots.len() {
            let i = roots[column];
            let out = S::as_mut_simd_f64s(cauchy.column_mut(column)).0;
            for ((d, w), out) in poles.iter().zip(weights).zip(out) {
                let from_origin = simd.sub_f64s(*d, simd.splat_f64s(points.origins[i]));
                let x = simd.sub_f64s(from_origin, simd.splat_f64s(points.offsets[i]));
                *out = simd.div_f64s(simd.mul_f64s(*w, simd.splat_f64s(points.scales[i])), x);
            }
            column += 1;
        }
    }
}

// Product of eigenvectors and Cauchy columns. Like the products of `small_product`, it avoids the packing of a general
// product and reads columns as whole SIMD vectors, including their padding.
/// Maximum number of active columns of the eigenvector matrix `q`.
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
