//! SIMD loops over the poles of a secular equation. Lists are padded with poles of zero weight. Four poles share one
//! division: multiplications recover the reciprocals of four differences `d - λ` from that of their product, which
//! cannot overflow in a problem of unit size.

use pulp::Simd;

/// Maximum number of SIMD lanes. Lists are padded to a multiple of this number.
pub(super) const LANES: usize = 8;

/// Pads poles to a multiple of [`LANES`]. The padding poles exceed all others by more than 1.
pub(super) fn fill_up(poles: &mut Vec<f64>) {
    let full = poles.len().next_multiple_of(LANES);
    let far = poles.last().map_or(0.0, |last| last + 4.0);
    poles.resize(full, far);
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

/// Returns `1/(d - λ)` for four poles d and the point λ of each lane.
#[inline(always)]
pub(super) fn four<S: Simd>(simd: S, d: &[f64; 4], origin: S::f64s, offset: S::f64s) -> [S::f64s; 4] {
    let x = [
        simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[0]), origin), offset),
        simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[1]), origin), offset),
        simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[2]), origin), offset),
        simd.sub_f64s(simd.sub_f64s(simd.splat_f64s(d[3]), origin), offset),
    ];
    reciprocals(simd, x)
}
