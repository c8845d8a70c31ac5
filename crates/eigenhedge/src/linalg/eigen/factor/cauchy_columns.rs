//! Cauchy columns of a solved secular equation: the recomputed vector z, the norms of the columns, and the columns
//! themselves. Each SIMD lane holds one entry of z or one root, and four poles or roots share one division. Lists are
//! padded to a multiple of the number of lanes.

use super::super::secular_simd::{four, reciprocals, select};
use super::{DirectionSource, Factor};
use crate::linalg::Matrix;
use pulp::{Arch, Simd, WithSimd};

impl Factor {
    /// Recomputes the vector z for which the computed roots λ are exact, for poles d (Gu & Eisenstat):
    /// `z_i² = (λ_last - d_i) Π_{j<i} (λ_j - d_i)/(d_j - d_i) Π_{i≤j<last} (λ_j - d_i)/(d_{j+1} - d_i)`. `weights`
    /// contains the signs on input and z on output. Every fraction is in (0, 1].
    #[inline(always)]
    pub(super) fn recompute_weights<S: Simd>(&mut self, simd: S) {
        const COUNTING: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let last = self.active.len() - 1;
        let Self { poles, weights, origins, offsets, .. } = self;
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
                    let root =
                        simd.add_f64s(simd.sub_f64s(simd.splat_f64s(origins[j]), *at), simd.splat_f64s(offsets[j]));
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
    pub(super) fn inverse_norms<S: Simd>(&mut self, simd: S) {
        let (count, Self { poles, weights, origins, offsets, scales, .. }) = (self.active.len(), self);
        let (d4, d1) = poles[..count].as_chunks::<4>();
        let (w4, w1) = weights[..count].as_chunks::<4>();
        let points = S::as_simd_f64s(origins).0.iter().zip(S::as_simd_f64s(offsets).0);
        for ((origin, offset), scale) in points.zip(S::as_mut_simd_f64s(scales).0) {
            let mut square = simd.splat_f64s(0.0);
            for (d, w) in d4.iter().zip(w4) {
                let r = four(simd, d, *origin, *offset);
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
}

struct FillColumns<'a> {
    factor: &'a Factor,
    roots: &'a [usize],
    cauchy: &'a mut Matrix,
}

impl WithSimd for FillColumns<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, roots, cauchy } = self;
        cauchy.resize(factor.poles.len(), roots.len());
        let poles = S::as_simd_f64s(&factor.poles).0;
        let weights = S::as_simd_f64s(&factor.weights).0;
        let mut column = 0;
        while column + 4 <= roots.len() {
            for (lane, (d, w)) in poles.iter().zip(weights).enumerate() {
                let mut x = [simd.splat_f64s(0.0); 4];
                for c in 0..4 {
                    let i = roots[column + c];
                    let from_origin = simd.sub_f64s(*d, simd.splat_f64s(factor.origins[i]));
                    x[c] = simd.sub_f64s(from_origin, simd.splat_f64s(factor.offsets[i]));
                }
                let r = reciprocals(simd, x);
                for c in 0..4 {
                    let scale = simd.splat_f64s(factor.scales[roots[column + c]]);
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
                let from_origin = simd.sub_f64s(*d, simd.splat_f64s(factor.origins[i]));
                let x = simd.sub_f64s(from_origin, simd.splat_f64s(factor.offsets[i]));
                *out = simd.div_f64s(simd.mul_f64s(*w, simd.splat_f64s(factor.scales[i])), x);
            }
            column += 1;
        }
    }
}

struct CauchyRows<'a> {
    factor: &'a Factor,
    input: &'a [f64],
    terms: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for CauchyRows<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, input, terms, out } = self;
        for (out, source) in out.iter_mut().zip(&factor.order) {
            *out = match *source {
                DirectionSource::Root(i) => factor.scales[i] * factor.cauchy_sum(simd, i, terms),
                DirectionSource::Input(j) => input[j],
            };
        }
    }
}

impl Factor {
    /// Writes one normalized and padded Cauchy column for each of the roots.
    pub(super) fn cauchy_columns(&self, roots: &[usize], cauchy: &mut Matrix) {
        Arch::new().dispatch(FillColumns { factor: self, roots, cauchy });
    }

    /// Multiplies the terms of the poles with the transposed Cauchy columns, and passes on the other inputs.
    pub(super) fn cauchy_rows(&self, input: &[f64], terms: &[f64], out: &mut [f64]) {
        Arch::new().dispatch(CauchyRows { factor: self, input, terms, out });
    }

    /// Computes `Σ t/(d - λ_i)`. Four fractions share one division.
    #[inline(always)]
    fn cauchy_sum<S: Simd>(&self, simd: S, i: usize, terms: &[f64]) -> f64 {
        let (pole, offset) = (simd.splat_f64s(self.origins[i]), simd.splat_f64s(self.offsets[i]));
        let mut sum = simd.splat_f64s(0.0);
        let (d4, d1) = S::as_simd_f64s(&self.poles).0.as_chunks::<4>();
        let (t4, t1) = S::as_simd_f64s(terms).0.as_chunks::<4>();
        for (d, t) in d4.iter().zip(t4) {
            let mut x = *d;
            for x in &mut x {
                *x = simd.sub_f64s(simd.sub_f64s(*x, pole), offset);
            }
            let (low, high) = (simd.mul_f64s(x[0], x[1]), simd.mul_f64s(x[2], x[3]));
            let of_low = simd.mul_add_e_f64s(t[0], x[1], simd.mul_f64s(t[1], x[0]));
            let of_high = simd.mul_add_e_f64s(t[2], x[3], simd.mul_f64s(t[3], x[2]));
            let above = simd.mul_add_e_f64s(of_low, high, simd.mul_f64s(of_high, low));
            sum = simd.add_f64s(sum, simd.div_f64s(above, simd.mul_f64s(low, high)));
        }
        for (d, t) in d1.iter().zip(t1) {
            sum = simd.add_f64s(sum, simd.div_f64s(*t, simd.sub_f64s(simd.sub_f64s(*d, pole), offset)));
        }
        simd.reduce_sum_f64s(sum)
    }
}
