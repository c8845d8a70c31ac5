//! The exponential function for slices: with `x = m ln 2 + r` and `|r| ≤ ln 2 / 2`, `exp(r) = 1 + r + r² q(r)` with a
//! minimax polynomial `q` of degree 10. The result is scaled by `2^m` in two steps.
//! Numerics: the error of a normal result is at most 0.9 units in the last place, that of a subnormal one at most the
//! smallest positive number. `exp(±0)` is exactly 1. Arguments below -745.14 give 0, arguments above 709.79 give
//! infinity, and NaN stays NaN. No fused multiply-adds are used, so all processors give the same bits.

use pulp::{Arch, Simd, WithSimd};

/// High part of ln 2, whose products with integers of at most 11 bits are exact.
const LN2_HIGH: f64 = 0.6931467056274414;
const LN2_LOW: f64 = 4.7493250390316726e-7;

/// Number whose addition rounds to an integer. The integer is then in the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Limits to which arguments are clamped. There the exponential is 0 and infinite.
const LOWEST: f64 = -746.0;
const HIGHEST: f64 = 710.0;

/// Minimax coefficients of `(exp(r) - 1 - r) / r²` on `|r| ≤ ln 2 / 2`, with error below 2⁻⁵⁹.
const Q: [f64; 11] = [
    0.5,
    0.1666666666666667,
    0.041666666666666685,
    0.008333333333326112,
    0.0013888888888874348,
    0.00019841269874902598,
    2.4801587347456775e-5,
    2.755725529650138e-6,
    2.75572527997525e-7,
    2.5105260078061172e-8,
    2.092162726664578e-9,
];

pub fn exp(x: &mut [f64]) {
    Arch::new().dispatch(Exp(x));
}

struct Exp<'a>(&'a mut [f64]);

impl WithSimd for Exp<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|x| *x = exp_lane(*x));
    }
}

/// Replaces each `log v ≤ 0` by `1 - v`, with an error of two units in the last place at most.
pub fn kept_all(x: &mut [f64]) {
    Arch::new().dispatch(KeptAll(x));
}

struct KeptAll<'a>(&'a mut [f64]);

impl WithSimd for KeptAll<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|x| {
            let (series, scale) = reduced(*x);
            *x = (1.0 - scale) - scale * series;
        });
    }
}

/// Returns the exponential of one number, bit-identical to that of [`exp`], in a form that vectorizes in loops.
#[inline(always)]
pub(crate) fn exp_lane(x: f64) -> f64 {
    let (series, m) = reduced_to_bits(x);
    let half = m >> 1;
    (1.0 + series) * power_of_two(half) * power_of_two(m.wrapping_sub(half))
}

/// Returns `s` and `2^m` with `exp(x) = 2^m (1 + s)`, for x below 709.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    let (series, m) = reduced_to_bits(x);
    let half = m >> 1;
    (series, power_of_two(half) * power_of_two(m.wrapping_sub(half)))
}

/// Returns `s` and `m + 2048` with `exp(x) = 2^m (1 + s)`.
#[inline(always)]
fn reduced_to_bits(x: f64) -> (f64, u64) {
    // Written so that NaN passes through both lines.
    let x = if x < LOWEST { LOWEST } else { x };
    let x = if x > HIGHEST { HIGHEST } else { x };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let m = shifted - ROUND;
    let high = x - m * LN2_HIGH;
    let low = m * LN2_LOW;
    let r = high - low;
    // Rounding error of r. Without it the error approaches one unit in the last place.
    let rest = (high - r) - low;
    let series = r + (rest + r * r * polynomial(r));
    // Each half of m + 2048 becomes an exponent, because one cannot hold m = -1076.
    (series, shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(2048))
}

#[inline(always)]
fn power_of_two(m: u64) -> f64 {
    f64::from_bits(m.wrapping_sub(1) << 52)
}

/// Evaluates `q(r)` in pairs of terms. The dependency chains are shorter than in Horner's scheme.
#[inline(always)]
fn polynomial(r: f64) -> f64 {
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (Q[0] + Q[1] * r) + (Q[2] + Q[3] * r) * r2;
    let middle = (Q[4] + Q[5] * r) + (Q[6] + Q[7] * r) * r2;
    let high = (Q[8] + Q[9] * r) + Q[10] * r2;
    low + (middle + high * r4) * r4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn exps(points: &[f64]) -> Vec<f64> {
        let mut out = points.to_vec();
        exp(&mut out);
        out
    }

    #[test]
    fn differs_from_the_standard_library_by_at_most_one_unit_in_the_last_place() {
        let mut random = Random::seeded(1);
        let mut worst = 0;
        for (low, high) in [(-745.2, 709.8), (-40.0, 1.0), (-1.0, 1.0), (-1e-3, 1e-3), (-1e-9, 1e-9), (-745.2, -707.0)]
        {
            let points: Vec<f64> = (0..1_000_000).map(|_| low + (high - low) * random.uniform()).collect();
            for (x, y) in points.iter().zip(exps(&points)) {
                // Nonnegative numbers are ordered like their bits, including infinity.
                let units = y.to_bits().abs_diff(x.exp().to_bits());
                assert!(units <= 1, "exp({x:e}) = {y:e}, {units} units off");
                worst = worst.max(units);
            }
        }
        assert_eq!(worst, 1, "the comparison can see a difference");
    }

    #[test]
    fn all_kept_are_near_the_standard_library_s_everywhere() {
        let mut random = Random::seeded(3);
        for (low, high) in [(-745.2, 0.0), (-40.0, 0.0), (-1.0, 0.0), (-1e-3, 0.0), (-1e-9, 0.0), (-1e-300, 0.0)] {
            let points: Vec<f64> = (0..200_000).map(|_| low + (high - low) * random.uniform()).collect();
            let mut found = points.clone();
            kept_all(&mut found);
            for (x, y) in points.iter().zip(found) {
                let units = y.to_bits().abs_diff((-x.exp_m1()).to_bits());
                assert!(units <= 2, "1 - exp({x:e}) = {y:e}, {units} units off");
            }
        }
        let mut edges = [0.0, -0.0, f64::NEG_INFINITY, -746.0, -1e300, f64::NAN];
        kept_all(&mut edges);
        assert_eq!(edges[..5], [0.0, 0.0, 1.0, 1.0, 1.0]);
        assert!(edges[5].is_nan());
    }

    #[test]
    fn edge_cases_are_exact() {
        let points = [0.0, -0.0, f64::NEG_INFINITY, f64::INFINITY, -745.14, -746.0, -1e300, 709.79, 1e300, 5e-324];
        let expected = [1.0, 1.0, 0.0, f64::INFINITY, 0.0, 0.0, 0.0, f64::INFINITY, f64::INFINITY, 1.0];
        assert_eq!(exps(&points), expected);
        assert_eq!(exps(&[-745.13, -708.0, 709.78]), [-745.13, -708.0, 709.78].map(f64::exp));
        assert!(exps(&[f64::NAN, -f64::NAN]).iter().all(|y| y.is_nan()));
        assert!(exps(&[]).is_empty());
    }

    #[test]
    fn every_position_in_a_slice_gives_the_same_bits() {
        let mut random = Random::seeded(2);
        let points: Vec<f64> = (0..37).map(|_| -30.0 * random.uniform()).collect();
        for length in 0..points.len() {
            let expected: Vec<f64> = points[..length].iter().map(|x| exp_lane(*x)).collect();
            assert_eq!(exps(&points[..length]), expected);
        }
    }
}
