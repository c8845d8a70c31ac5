//! Measures of two vectors: inner products, distances, cosines and discordant pairs, in vectorized loops.
//! Numerics: distances are sums of squared differences, never `|a|² + |b|² - 2 a·b`, whose terms cancel: equal vectors
//! have distance exactly zero. On one processor, a kernel row and a single value have the same bits. A block of points
//! adds the entries in another order, so its values may differ by rounding.

use crate::linalg::Matrix;
use crate::scratch::{refill, zero};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use pulp::{Arch, Simd, WithSimd};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Product,
    SquaredDistance,
    AbsoluteDistance,
    Cosine,
    Discordance,
}

impl Measure {
    pub(super) const COUNT: usize = 5;

    pub(super) fn of(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Self::Product => Arch::new().dispatch(Pair { a, b, term: Product }),
            Self::SquaredDistance => Arch::new().dispatch(Pair { a, b, term: SquaredDifference }),
            Self::AbsoluteDistance => Arch::new().dispatch(Pair { a, b, term: AbsoluteDifference }),
            Self::Cosine => cosine(Self::Product.of(a, b), Self::Product.of(a, a), Self::Product.of(b, b)),
            Self::Discordance => discordant(a, b),
        }
    }

    pub(super) fn of_all(
        self,
        (atoms, squares): (&Matrix, &[f64]),
        (point, square): (&[f64], f64),
        out: &mut Vec<f64>,
    ) {
        match self {
            Self::Product => all_sums(atoms, point, out, Product),
            Self::SquaredDistance => all_sums(atoms, point, out, SquaredDifference),
            Self::AbsoluteDistance => all_sums(atoms, point, out, AbsoluteDifference),
            Self::Cosine => {
                all_sums(atoms, point, out, Product);
                Arch::new().dispatch(Cosines { squares, square, values: out });
            }
            Self::Discordance => {
                refill(out, (0..atoms.columns()).map(|atom| discordant(atoms.column(atom), point)));
            }
        }
    }

    pub(super) fn of_block(
        self,
        (atoms, squares): (&Matrix, &[f64]),
        (points, point_squares): (&Matrix, &[f64]),
        out: &mut Vec<f64>,
    ) {
        let count = atoms.columns();
        zero(out, count * points.columns());
        match self {
            Self::SquaredDistance => Arch::new().dispatch(Tiles { atoms, points, out, term: SquaredDifference }),
            Self::AbsoluteDistance => Arch::new().dispatch(Tiles { atoms, points, out, term: AbsoluteDifference }),
            Self::Product | Self::Cosine => {
                let products = MatMut::from_column_major_slice_mut(out, count, points.columns());
                matmul(products, Accum::Replace, atoms.view().transpose(), points.view(), 1.0, Par::Seq);
            }
            Self::Discordance => {
                let mut values = out.iter_mut();
                for point in (0..points.columns()).map(|j| points.column(j)) {
                    let of_point = (0..count).map(|atom| discordant(atoms.column(atom), point));
                    of_point.zip(&mut values).for_each(|(value, out)| *out = value);
                }
            }
        }
        if self == Self::Cosine && count > 0 {
            for (values, square) in out.chunks_mut(count).zip(point_squares) {
                Arch::new().dispatch(Cosines { squares, square: *square, values });
            }
        }
    }

    pub(super) fn of_itself(self, square: f64) -> f64 {
        match self {
            Self::Product => square,
            Self::SquaredDistance | Self::AbsoluteDistance | Self::Discordance => 0.0,
            Self::Cosine if square == 0.0 => 0.0,
            // NaN makes the caller reject a row whose squared norm is not finite.
            Self::Cosine if !square.is_finite() => f64::NAN,
            Self::Cosine => 1.0,
        }
    }
}

fn discordant(a: &[f64], b: &[f64]) -> f64 {
    let opposite = |i: usize| {
        let later = a[i + 1..].iter().zip(&b[i + 1..]);
        later.map(|(x, y)| u64::from((a[i] < *x) != (b[i] < *y))).sum::<u64>()
    };
    (0..a.len()).map(opposite).sum::<u64>() as f64
}

#[inline(always)]
fn cosine(product: f64, a: f64, b: f64) -> f64 {
    let norms = a.sqrt() * b.sqrt();
    let cosine = product / norms;
    // These comparisons leave NaN unchanged.
    let cosine = if cosine > 1.0 { 1.0 } else { cosine };
    let cosine = if cosine < -1.0 { -1.0 } else { cosine };
    if norms == 0.0 { 0.0 } else { cosine }
}

/// Term that is summed over the entries of two vectors. It must be zero if both entries are zero.
trait Term: Copy {
    fn add<S: Simd>(self, simd: S, sum: S::f64s, a: S::f64s, b: S::f64s) -> S::f64s;
}

#[derive(Clone, Copy)]
struct Product;

#[derive(Clone, Copy)]
struct SquaredDifference;

#[derive(Clone, Copy)]
struct AbsoluteDifference;

impl Term for Product {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S, sum: S::f64s, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(a, b, sum)
    }
}

impl Term for SquaredDifference {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S, sum: S::f64s, a: S::f64s, b: S::f64s) -> S::f64s {
        let difference = simd.sub_f64s(a, b);
        simd.mul_add_e_f64s(difference, difference, sum)
    }
}

impl Term for AbsoluteDifference {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S, sum: S::f64s, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(sum, simd.max_f64s(simd.sub_f64s(a, b), simd.sub_f64s(b, a)))
    }
}

/// Computes `Σ term(a_i, b_i)` for several vectors a and one vector b. Contains no closures, because their bodies would
/// not be compiled for the detected processor.
#[inline(always)]
fn sums<S: Simd, T: Term, const N: usize>(simd: S, columns: [&[f64]; N], b: &[f64], term: T) -> [f64; N] {
    let (b_body, b_rest) = S::as_simd_f64s(b);
    let mut bodies = [b_body; N];
    for c in 0..N {
        bodies[c] = &S::as_simd_f64s(columns[c]).0[..b_body.len()];
    }
    let mut sums = [simd.splat_f64s(0.0); N];
    for (i, b) in b_body.iter().enumerate() {
        for c in 0..N {
            sums[c] = term.add(simd, sums[c], bodies[c][i], *b);
        }
    }
    if !b_rest.is_empty() {
        let rest = simd.partial_load_f64s(b_rest);
        for c in 0..N {
            let a = simd.partial_load_f64s(&columns[c][b.len() - b_rest.len()..]);
            sums[c] = term.add(simd, sums[c], a, rest);
        }
    }
    let mut totals = [0.0; N];
    for c in 0..N {
        totals[c] = simd.reduce_sum_f64s(sums[c]);
    }
    totals
}

/// Number of entries per block. The point stays in the first-level cache while the atoms are read.
const BLOCK: usize = 2048;

/// Number of atoms per group. Eight independent sums hide the latency of an addition.
const GROUP: usize = 8;

fn all_sums(atoms: &Matrix, point: &[f64], out: &mut Vec<f64>, term: impl Term) {
    zero(out, atoms.columns());
    Arch::new().dispatch(AllSums { atoms, point, out, term });
}

struct AllSums<'a, T> {
    atoms: &'a Matrix,
    point: &'a [f64],
    out: &'a mut [f64],
    term: T,
}

impl<T: Term> WithSimd for AllSums<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { atoms, point, out, term } = self;
        for (block, point) in point.chunks(BLOCK).enumerate() {
            let entries = |atom: usize| &atoms.column(atom)[block * BLOCK..][..point.len()];
            let (groups, rest) = out.as_chunks_mut::<GROUP>();
            let done = GROUP * groups.len();
            for (group, out) in groups.iter_mut().enumerate() {
                let columns = std::array::from_fn::<_, GROUP, _>(|c| entries(GROUP * group + c));
                for (out, sum) in out.iter_mut().zip(sums(simd, columns, point, term)) {
                    *out += sum;
                }
            }
            for (i, out) in rest.iter_mut().enumerate() {
                *out += sums(simd, [entries(done + i)], point, term)[0];
            }
        }
    }
}

const REGISTERS: usize = 4;

/// Computes sums for all pairs of an atom and a point, with one atom per lane.
struct Tiles<'a, T> {
    atoms: &'a Matrix,
    points: &'a Matrix,
    out: &'a mut [f64],
    term: T,
}

impl<T: Term> WithSimd for Tiles<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { atoms, points, out, term } = self;
        let (count, length, wide) = (atoms.columns(), atoms.rows(), REGISTERS * S::F64_LANES);
        let mut tile = vec![0.0; wide * length];
        for first in (0..count).step_by(wide) {
            let used = wide.min(count - first);
            for atom in 0..used {
                for (i, entry) in atoms.column(first + atom).iter().enumerate() {
                    tile[i * wide + atom] = *entry;
                }
            }
            for j in (0..points.columns()).step_by(2) {
                // If the number of points is odd, the last one is computed twice.
                let pair = [j, (j + 1).min(points.columns() - 1)];
                let found = tile_sums(simd, &tile, pair.map(|j| points.column(j)), term);
                for (j, sums) in pair.into_iter().zip(&found) {
                    for (r, sums) in sums.iter().enumerate() {
                        let from = (r * S::F64_LANES).min(used);
                        let to = ((r + 1) * S::F64_LANES).min(used);
                        simd.partial_store_f64s(&mut out[j * count + first..][from..to], *sums);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn tile_sums<S: Simd, T: Term>(simd: S, tile: &[f64], points: [&[f64]; 2], term: T) -> [[S::f64s; REGISTERS]; 2] {
    let mut sums = [[simd.splat_f64s(0.0); REGISTERS]; 2];
    let (entries, _) = S::as_simd_f64s(tile);
    let (entries, _) = entries.as_chunks::<REGISTERS>();
    for ((entries, a), b) in entries.iter().zip(points[0]).zip(points[1]) {
        let (a, b) = (simd.splat_f64s(*a), simd.splat_f64s(*b));
        for r in 0..REGISTERS {
            sums[0][r] = term.add(simd, sums[0][r], entries[r], a);
            sums[1][r] = term.add(simd, sums[1][r], entries[r], b);
        }
    }
    sums
}

struct Pair<'a, T> {
    a: &'a [f64],
    b: &'a [f64],
    term: T,
}

impl<T: Term> WithSimd for Pair<'_, T> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let mut total = 0.0;
        for (a, b) in self.a.chunks(BLOCK).zip(self.b.chunks(BLOCK)) {
            total += sums(simd, [a], b, self.term)[0];
        }
        total
    }
}

struct Cosines<'a> {
    squares: &'a [f64],
    square: f64,
    values: &'a mut [f64],
}

impl WithSimd for Cosines<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (value, square) in self.values.iter_mut().zip(self.squares) {
            *value = cosine(*value, *square, self.square);
        }
    }
}
