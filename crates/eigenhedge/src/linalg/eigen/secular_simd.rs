//! SIMD loops over the poles of a secular equation. Lists are padded with poles of zero weight. Four poles share one
//! division: multiplications recover the reciprocals of four differences `d - λ` from that of their product, which
//! cannot overflow in a problem of unit size.

use pulp::Simd;

/// Maximum number of SIMD lanes. Lists are padded to a multiple of this number.
pub(super) const LANES: usize = 8;

/// Pads poles and weights to a multiple of [`LANES`]. The padding poles exceed all others by more than 1.
pub(super) fn fill_up(poles: &mut Vec<f64>, weights: &mut Vec<f64>) {
    let full = poles.len().next_multiple_of(LANES);
    let far = poles.last().map_or(0.0, |last| last + 4.0);
    poles.resize(full, far);
    weights.resize(full, 0.0);
}

// pulp's methods with these names are not always inlined, and a call costs more than the operation.

#[inline(always)]
pub(super) fn abs<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    simd.and_f64s(simd.splat_f64s(f64::from_bits(!(1 << 63))), x)
}

#[inline(always)]
pub(super) fn neg<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    simd.mul_f64s(simd.splat_f64s(-1.0), x)
}

#[inline(always)]
pub(super) fn select<S: Simd>(simd: S, mask: S::m64s, if_true: S::f64s, if_false: S::f64s) -> S::f64s {
    let bits = |x| simd.transmute_u64s_f64s(x);
    simd.transmute_f64s_u64s(simd.select_u64s(mask, bits(if_true), bits(if_false)))
}

/// Point on the axis of the poles, stored relative to one of them for precision.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub pole: f64,
    pub offset: f64,
}

/// Returns `d - λ` for one vector of poles.
#[inline(always)]
fn differences<S: Simd>(simd: S, poles: S::f64s, point: Point) -> S::f64s {
    simd.sub_f64s(simd.sub_f64s(poles, simd.splat_f64s(point.pole)), simd.splat_f64s(point.offset))
}

/// Returns the reciprocals of four vectors with one division.
#[inline(always)]
pub(super) fn reciprocals<S: Simd>(simd: S, x: [S::f64s; 4]) -> [S::f64s; 4] {
    let (low, high) = (simd.mul_f64s(x[0], x[1]), simd.mul_f64s(x[2], x[3]));
    let inverse = simd.div_f64s(simd.splat_f64s(1.0), simd.mul_f64s(low, high));
    let (of_low, of_high) = (simd.mul_f64s(inverse, high), simd.mul_f64s(inverse, low));
    [
        simd.mul_f64s(of_low, x[1]),
        simd.mul_f64s(of_low, x[0]),
        simd.mul_f64s(of_high, x[3]),
        simd.mul_f64s(of_high, x[2]),
    ]
}

/// Values and slopes of the sums over the poles below and above a point: numbers, or vectors of lanes.
#[derive(Clone, Copy)]
pub(super) struct Sides<V> {
    pub below: V,
    pub above: V,
    pub slope_below: V,
    pub slope_above: V,
}

/// Adds a vector of terms to the sums. The sign of a term determines to which side it belongs.
#[inline(always)]
fn add_terms<S: Simd>(simd: S, sums: &mut Sides<S::f64s>, weights: S::f64s, reciprocals: S::f64s) {
    let zero = simd.splat_f64s(0.0);
    let terms = simd.mul_f64s(weights, reciprocals);
    let (below, above) = (simd.min_f64s(terms, zero), simd.max_f64s(terms, zero));
    sums.below = simd.add_f64s(sums.below, below);
    sums.above = simd.add_f64s(sums.above, above);
    sums.slope_below = simd.mul_add_e_f64s(below, reciprocals, sums.slope_below);
    sums.slope_above = simd.mul_add_e_f64s(above, reciprocals, sums.slope_above);
}

/// Computes `Σ w/(d - λ)` and `Σ w/(d - λ)²` on both sides of the point.
#[inline(always)]
pub(super) fn pole_sums<S: Simd>(simd: S, poles: &[f64], weights: &[f64], point: Point) -> Sides<f64> {
    let zero = simd.splat_f64s(0.0);
    let mut sums = Sides { below: zero, above: zero, slope_below: zero, slope_above: zero };
    let (d4, d1) = S::as_simd_f64s(poles).0.as_chunks::<4>();
    let (w4, w1) = S::as_simd_f64s(weights).0.as_chunks::<4>();
    for (d, w) in d4.iter().zip(w4) {
        let x = [
            differences(simd, d[0], point),
            differences(simd, d[1], point),
            differences(simd, d[2], point),
            differences(simd, d[3], point),
        ];
        let r = reciprocals(simd, x);
        add_terms(simd, &mut sums, w[0], r[0]);
        add_terms(simd, &mut sums, w[1], r[1]);
        add_terms(simd, &mut sums, w[2], r[2]);
        add_terms(simd, &mut sums, w[3], r[3]);
    }
    for (d, w) in d1.iter().zip(w1) {
        let r = simd.div_f64s(simd.splat_f64s(1.0), differences(simd, *d, point));
        add_terms(simd, &mut sums, *w, r);
    }
    Sides {
        below: simd.reduce_sum_f64s(sums.below),
        above: simd.reduce_sum_f64s(sums.above),
        slope_below: simd.reduce_sum_f64s(sums.slope_below),
        slope_above: simd.reduce_sum_f64s(sums.slope_above),
    }
}

/// Computes `Σ t/(d - λ)`. Four fractions share one division.
#[inline(always)]
pub(super) fn cauchy_sum<S: Simd>(simd: S, poles: &[f64], terms: &[f64], point: Point) -> f64 {
    let mut sum = simd.splat_f64s(0.0);
    let (d4, d1) = S::as_simd_f64s(poles).0.as_chunks::<4>();
    let (t4, t1) = S::as_simd_f64s(terms).0.as_chunks::<4>();
    for (d, t) in d4.iter().zip(t4) {
        let (x0, x1) = (differences(simd, d[0], point), differences(simd, d[1], point));
        let (x2, x3) = (differences(simd, d[2], point), differences(simd, d[3], point));
        let (low, high) = (simd.mul_f64s(x0, x1), simd.mul_f64s(x2, x3));
        let of_low = simd.mul_add_e_f64s(t[0], x1, simd.mul_f64s(t[1], x0));
        let of_high = simd.mul_add_e_f64s(t[2], x3, simd.mul_f64s(t[3], x2));
        let above = simd.mul_add_e_f64s(of_low, high, simd.mul_f64s(of_high, low));
        sum = simd.add_f64s(sum, simd.div_f64s(above, simd.mul_f64s(low, high)));
    }
    for (d, t) in d1.iter().zip(t1) {
        sum = simd.add_f64s(sum, simd.div_f64s(*t, differences(simd, *d, point)));
    }
    simd.reduce_sum_f64s(sum)
}

pub(super) const MOST_STEPS: usize = 100;

/// Root `λ = pole + offset` of the secular equation. `origin` is the index of the pole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    pub origin: usize,
    /// Signed distance from that pole.
    pub offset: f64,
}
