//! Roots of the secular equation, one per SIMD lane.
//! Setting: `diag(d) + z zᵀ` with strictly ascending poles `d` and weights `w = z²`. Its eigenvalues are the roots of
//! `f(λ) = 1 + Σ w_j / (d_j - λ)`, one in each gap `(d_i, d_{i+1})` and one above the last pole.
//! Update: each root is stored as (nearest pole, offset), so that every difference `d_j - λ_i` has full relative
//! accuracy, which makes the eigenvectors orthogonal (Gu & Eisenstat 1994). The iteration is the "middle way" (Li 1993):
//! it replaces the sum on each side of the root by one pole. The root stays inside a bracket that shrinks in every step.
//! The root above the last pole needs no special case, because the padding poles above it have zero weight.
//! Cost: about four evaluations of f per root. No sum crosses lanes, and one square root instruction serves all lanes.
//! The caller scales the problem to unit size.

use super::secular_simd::{abs, four, neg, select};
use crate::scratch::refill;
use pulp::Simd;

const MOST_STEPS: usize = 100;
/// Number of padding entries after the poles, which fill the last SIMD vectors.
const BEYOND: usize = 16 + 8;
/// The first guess treats the terms of the other poles as constant, unless they change across half the gap by more than
/// this share of the secular function without its two nearest terms.
const CROWDED: f64 = 0.5;

#[derive(Debug, Clone, Default)]
pub(super) struct SecularProblem {
    poles: Vec<f64>,
    weights: Vec<f64>,
    count: usize,
}

/// Root `λ = pole + offset` of the secular equation. `origin` is the index of the pole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Root {
    pub origin: usize,
    /// Signed distance from that pole.
    pub offset: f64,
}

/// Values and slopes of the sums over the poles below and above the point of each lane.
#[derive(Clone, Copy)]
struct Sides<V> {
    below: V,
    above: V,
    slope_below: V,
    slope_above: V,
}

#[derive(Clone, Copy)]
struct RootGaps<V> {
    lower: V,
    upper: V,
    /// Nearer of the two poles that enclose the root.
    origin: V,
    /// 1 if `origin` is the lower of the two poles, and -1 if it is the upper one.
    side: V,
    /// Ends of the bracket that contains the root, relative to `origin`.
    low: V,
    high: V,
}

impl SecularProblem {
    pub fn set(&mut self, poles: &[f64], weights: impl Iterator<Item = f64>) {
        self.count = poles.len();
        refill(&mut self.weights, weights);
        poles.clone_into(&mut self.poles);
        let (last, total) = (poles[self.count - 1], self.weights.iter().sum::<f64>());
        // Half of this distance exceeds the distance of the last root from the last pole.
        self.poles.extend((1..=BEYOND).map(|i| last + (2.0 + 2.0 * total) * i as f64));
        self.weights.resize(self.poles.len(), 0.0);
    }

    #[inline(always)]
    pub fn solve<S: Simd>(&self, simd: S, roots: &mut Vec<Root>) {
        roots.clear();
        if self.count == 1 {
            return roots.push(Root { origin: 0, offset: self.weights[0] });
        }
        while roots.len() < self.count {
            // Two groups of lanes at once: one computes while the other waits for its divisions.
            if self.count - roots.len() > S::F64_LANES {
                solve_lanes::<S, 2>(simd, self, roots);
            } else {
                solve_lanes::<S, 1>(simd, self, roots);
            }
        }
    }
}

/// Appends one root per lane: those above the first pole without a root and the poles that follow.
#[inline(always)]
fn solve_lanes<S: Simd, const G: usize>(simd: S, problem: &SecularProblem, roots: &mut Vec<Root>) {
    let (first, count) = (roots.len(), problem.count);
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let mut gaps = [RootGaps { lower: zero, upper: zero, origin: zero, side: one, low: zero, high: zero }; G];
    let (mut origins, mut offsets) = ([zero; G], [zero; G]);
    for g in 0..G {
        let at = first + g * S::F64_LANES;
        gaps[g].lower = load::<S>(&problem.poles[at..]);
        gaps[g].upper = load::<S>(&problem.poles[at + 1..]);
        origins[g] = gaps[g].lower;
        offsets[g] = simd.mul_f64s(simd.splat_f64s(0.5), simd.sub_f64s(gaps[g].upper, gaps[g].lower));
    }
    // These roots are above pole `first` and below pole `first + G * S::F64_LANES`.
    let sides = [(first + 1) / 4, (first + G * S::F64_LANES).div_ceil(4)];
    let sums = evaluate(simd, problem, sides, &origins, &offsets);
    let mut moving = [zero; G];
    for g in 0..G {
        let at = first + g * S::F64_LANES;
        let weights = [load::<S>(&problem.weights[at..]), load::<S>(&problem.weights[at + 1..])];
        offsets[g] = begin(simd, &mut gaps[g], offsets[g], weights, &sums[g]);
        origins[g] = gaps[g].origin;
        let mut lanes = [0.0; 8];
        lanes[..count.saturating_sub(at).min(8)].fill(1.0);
        moving[g] = load::<S>(&lanes);
    }
    let mut busy = [true; G];
    for _ in 0..MOST_STEPS {
        // Often one root takes longer than the others. Only its group then continues.
        let sums = if busy == [true; G] {
            evaluate(simd, problem, sides, &origins, &offsets)
        } else {
            let left = busy.iter().position(|busy| *busy).unwrap_or(0);
            [evaluate(simd, problem, sides, &[origins[left]], &[offsets[left]])[0]; G]
        };
        for g in 0..G {
            if busy[g] {
                (offsets[g], moving[g]) = improve(simd, &mut gaps[g], offsets[g], moving[g], &sums[g]);
                busy[g] = simd.reduce_max_f64s(moving[g]) > 0.0;
            }
        }
        if busy == [false; G] {
            break;
        }
    }
    let solved = (G * S::F64_LANES).min(count - first);
    for g in 0..G {
        let (mut found, mut sides) = ([0.0; 8], [0.0; 8]);
        S::as_mut_simd_f64s(&mut found).0[0] = offsets[g];
        S::as_mut_simd_f64s(&mut sides).0[0] = gaps[g].side;
        let begin = g * S::F64_LANES;
        for lane in begin..solved.min(begin + S::F64_LANES) {
            let origin = first + lane + usize::from(sides[lane - begin] < 0.0);
            roots.push(Root { origin, offset: found[lane - begin] });
        }
    }
}

#[inline(always)]
fn begin<S: Simd>(
    simd: S,
    gaps: &mut RootGaps<S::f64s>,
    half: S::f64s,
    [low_weight, high_weight]: [S::f64s; 2],
    sums: &Sides<S::f64s>,
) -> S::f64s {
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let middle = simd.add_f64s(simd.add_f64s(one, sums.below), sums.above);
    let from_lower = simd.greater_than_or_equal_f64s(middle, zero);
    gaps.origin = select(simd, from_lower, gaps.lower, gaps.upper);
    gaps.side = select(simd, from_lower, one, simd.splat_f64s(-1.0));
    gaps.low = select(simd, from_lower, zero, neg(simd, half));
    gaps.high = select(simd, from_lower, half, zero);
    let far = simd.add_f64s(middle, simd.div_f64s(simd.sub_f64s(low_weight, high_weight), half));
    let gap = simd.sub_f64s(gaps.upper, gaps.lower);
    let guess = first_guess(simd, far, [low_weight, high_weight], gap, gaps.side);
    // The first guess includes the other poles if the slopes show that they matter.
    let own = simd.div_f64s(simd.add_f64s(low_weight, high_weight), half);
    let others = simd.mul_add_e_f64s(simd.add_f64s(sums.slope_below, sums.slope_above), half, neg(simd, own));
    let crowded = simd.greater_than_f64s(others, simd.mul_f64s(simd.splat_f64s(CROWDED), abs(simd, far)));
    let offset = simd.mul_f64s(half, gaps.side);
    let joint = simd.add_f64s(offset, middle_way(simd, gaps, offset, middle, sums));
    inside(simd, select(simd, crowded, joint, guess), gaps)
}

/// Takes one step in every lane that has not converged. Returns the new offsets, and 1 in lanes that must continue.
#[inline(always)]
fn improve<S: Simd>(
    simd: S,
    gaps: &mut RootGaps<S::f64s>,
    offset: S::f64s,
    moving: S::f64s,
    sums: &Sides<S::f64s>,
) -> (S::f64s, S::f64s) {
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let value = simd.add_f64s(simd.add_f64s(one, sums.below), sums.above);
    let size = simd.sub_f64s(simd.add_f64s(one, sums.above), sums.below);
    let rounding = simd.mul_f64s(simd.splat_f64s(2.0 * f64::EPSILON), size);
    let exact = simd.less_than_or_equal_f64s(abs(simd, value), rounding);
    let moving = select(simd, exact, zero, moving);
    if simd.reduce_max_f64s(moving) == 0.0 {
        return (offset, moving);
    }
    let negative = simd.less_than_f64s(value, zero);
    gaps.low = select(simd, negative, offset, gaps.low);
    gaps.high = select(simd, negative, gaps.high, offset);
    let step = middle_way(simd, gaps, offset, value, sums);
    let next = inside(simd, simd.add_f64s(offset, step), gaps);
    let next = select(simd, simd.greater_than_f64s(moving, zero), next, offset);
    let change = abs(simd, simd.sub_f64s(next, offset));
    let least = simd.mul_f64s(simd.splat_f64s(f64::EPSILON), abs(simd, next));
    let settled = simd.less_than_or_equal_f64s(change, least);
    (next, select(simd, settled, zero, moving))
}

#[inline(always)]
fn load<S: Simd>(list: &[f64]) -> S::f64s {
    S::as_simd_f64s(list).0[0]
}

/// Computes `Σ w/(d - λ)` and `Σ w/(d - λ)²` on both sides of the point of each lane. Groups of four poles before
/// `sides[0]` are below every point, and groups from `sides[1]` on are above every point.
#[inline(always)]
fn evaluate<S: Simd, const G: usize>(
    simd: S,
    problem: &SecularProblem,
    sides: [usize; 2],
    origins: &[S::f64s; G],
    offsets: &[S::f64s; G],
) -> [Sides<S::f64s>; G] {
    let zero = simd.splat_f64s(0.0);
    let mut sums = [Sides { below: zero, above: zero, slope_below: zero, slope_above: zero }; G];
    let filled = problem.count.next_multiple_of(4);
    let poles = problem.poles[..filled].as_chunks::<4>().0;
    let weights = problem.weights[..filled].as_chunks::<4>().0;
    let [low, high] = sides.map(|side| side.min(poles.len()));
    for (d, w) in poles[..low].iter().zip(&weights[..low]) {
        for g in 0..G {
            let r = four(simd, d, origins[g], offsets[g]);
            for i in 0..4 {
                let term = simd.mul_f64s(simd.splat_f64s(w[i]), r[i]);
                sums[g].below = simd.add_f64s(sums[g].below, term);
                sums[g].slope_below = simd.mul_add_e_f64s(term, r[i], sums[g].slope_below);
            }
        }
    }
    for (d, w) in poles[low..high].iter().zip(&weights[low..high]) {
        for g in 0..G {
            let r = four(simd, d, origins[g], offsets[g]);
            for i in 0..4 {
                let term = simd.mul_f64s(simd.splat_f64s(w[i]), r[i]);
                let (below, above) = (simd.min_f64s(term, zero), simd.max_f64s(term, zero));
                sums[g].below = simd.add_f64s(sums[g].below, below);
                sums[g].above = simd.add_f64s(sums[g].above, above);
                sums[g].slope_below = simd.mul_add_e_f64s(below, r[i], sums[g].slope_below);
                sums[g].slope_above = simd.mul_add_e_f64s(above, r[i], sums[g].slope_above);
            }
        }
    }
    for (d, w) in poles[high..].iter().zip(&weights[high..]) {
        for g in 0..G {
            let r = four(simd, d, origins[g], offsets[g]);
            for i in 0..4 {
                let term = simd.mul_f64s(simd.splat_f64s(w[i]), r[i]);
                sums[g].above = simd.add_f64s(sums[g].above, term);
                sums[g].slope_above = simd.mul_add_e_f64s(term, r[i], sums[g].slope_above);
            }
        }
    }
    sums
}

/// Returns the root of `far + low/(-x) + high/(gap - x)` as an offset from the lower end of the gap if `side` is 1, and from the upper end if
/// -1.
#[inline(always)]
fn first_guess<S: Simd>(simd: S, far: S::f64s, [low, high]: [S::f64s; 2], gap: S::f64s, side: S::f64s) -> S::f64s {
    let (zero, two) = (simd.splat_f64s(0.0), simd.splat_f64s(2.0));
    let from_lower = simd.greater_than_f64s(side, zero);
    // far·x² - a·x + b = 0, where x is the offset from the chosen end.
    let a = simd.mul_add_e_f64s(simd.mul_f64s(side, far), gap, simd.add_f64s(low, high));
    let b = simd.mul_f64s(select(simd, from_lower, low, neg(simd, high)), gap);
    let square = simd.sub_f64s(simd.mul_f64s(a, a), simd.mul_f64s(simd.mul_f64s(simd.splat_f64s(4.0), far), b));
    let root = simd.sqrt_f64s(simd.max_f64s(square, zero));
    let positive = simd.greater_than_or_equal_f64s(a, zero);
    let sum = select(simd, positive, simd.add_f64s(a, root), simd.sub_f64s(a, root));
    let first = simd.div_f64s(simd.mul_f64s(two, b), sum);
    let second = simd.div_f64s(sum, simd.mul_f64s(two, far));
    let distance = simd.mul_f64s(side, first);
    let fits = simd.and_m64s(
        simd.greater_than_f64s(distance, zero),
        simd.less_than_or_equal_f64s(simd.mul_f64s(two, distance), gap),
    );
    select(simd, fits, first, second)
}

/// Returns the middle-way step, or Newton's step in lanes where the former leads away from the root.
#[inline(always)]
fn middle_way<S: Simd>(
    simd: S,
    gaps: &RootGaps<S::f64s>,
    offset: S::f64s,
    value: S::f64s,
    sums: &Sides<S::f64s>,
) -> S::f64s {
    let (zero, two) = (simd.splat_f64s(0.0), simd.splat_f64s(2.0));
    let lower = simd.sub_f64s(simd.sub_f64s(gaps.lower, gaps.origin), offset);
    let upper = simd.sub_f64s(simd.sub_f64s(gaps.upper, gaps.origin), offset);
    let slope = simd.add_f64s(sums.slope_below, sums.slope_above);
    let product = simd.mul_f64s(lower, upper);
    let a = simd.sub_f64s(simd.mul_f64s(simd.add_f64s(lower, upper), value), simd.mul_f64s(product, slope));
    let b = simd.mul_f64s(product, value);
    let pulled = simd.sub_f64s(value, simd.mul_f64s(lower, sums.slope_below));
    let c = simd.sub_f64s(pulled, simd.mul_f64s(upper, sums.slope_above));
    let square = simd.sub_f64s(simd.mul_f64s(a, a), simd.mul_f64s(simd.mul_f64s(simd.splat_f64s(4.0), b), c));
    let root = simd.sqrt_f64s(simd.max_f64s(square, zero));
    let falling = simd.less_than_or_equal_f64s(a, zero);
    let above = select(simd, falling, simd.sub_f64s(a, root), simd.mul_f64s(two, b));
    let under = select(simd, falling, simd.mul_f64s(two, c), simd.add_f64s(a, root));
    let step = simd.div_f64s(above, under);
    let towards = simd.less_than_f64s(simd.mul_f64s(step, value), zero);
    select(simd, towards, step, simd.div_f64s(neg(simd, value), slope))
}

/// Returns `x` where it is strictly inside its bracket, and elsewhere a point that shrinks the bracket.
#[inline(always)]
fn inside<S: Simd>(simd: S, x: S::f64s, gaps: &RootGaps<S::f64s>) -> S::f64s {
    let RootGaps { low, high, side, .. } = *gaps;
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let fits = simd.and_m64s(simd.greater_than_f64s(x, low), simd.less_than_f64s(x, high));
    if simd.reduce_min_f64s(select(simd, fits, one, zero)) == 1.0 {
        return x;
    }
    let (eighth, sixteen) = (simd.splat_f64s(0.125), simd.splat_f64s(16.0));
    let geometric = simd.mul_f64s(side, simd.sqrt_f64s(simd.mul_f64s(low, high)));
    let (near, distant) =
        (simd.min_f64s(abs(simd, low), abs(simd, high)), simd.max_f64s(abs(simd, low), abs(simd, high)));
    let wide = simd.greater_than_f64s(distant, simd.mul_f64s(sixteen, near));
    let mean = simd.mul_f64s(simd.splat_f64s(0.5), simd.add_f64s(low, high));
    let middle = select(simd, wide, geometric, mean);
    let at_pole = simd.mul_f64s(simd.mul_f64s(side, eighth), distant);
    let middle = select(simd, simd.equal_f64s(near, zero), at_pole, middle);
    select(simd, fits, x, middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, WithSimd};

    struct Solve<'a>(&'a SecularProblem, &'a mut Vec<Root>);

    impl WithSimd for Solve<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            self.0.solve(simd, self.1);
        }
    }

    fn secular(poles: &[f64], weights: &[f64], root: Root) -> (f64, f64) {
        let mut sum = 1.0;
        let mut size = 1.0;
        for (d, w) in poles.iter().zip(weights) {
            let term = w / ((d - poles[root.origin]) - root.offset);
            sum += term;
            size += term.abs();
        }
        (sum, size)
    }

    #[test]
    fn every_root_satisfies_the_equation_to_rounding() {
        let mut random = crate::Random::seeded(1);
        for n in [1, 2, 3, 8, 9, 16, 17, 25, 33, 48, 49, 100, 257] {
            for grading in [0.0, 3.0, 12.0] {
                let mut poles: Vec<f64> = (0..n).map(|_| -10f64.powf(-grading * random.uniform())).collect();
                poles.sort_by(f64::total_cmp);
                poles.dedup();
                let weights: Vec<f64> = poles.iter().map(|_| 10f64.powf(-2.0 * grading * random.uniform())).collect();
                let (mut problem, mut roots) = (SecularProblem::default(), Vec::new());
                problem.set(&poles, weights.iter().copied());
                Arch::new().dispatch(Solve(&problem, &mut roots));
                assert_eq!(roots.len(), poles.len());
                for (i, root) in roots.iter().enumerate() {
                    let (value, size) = secular(&poles, &weights, *root);
                    assert!(value.abs() <= 64.0 * f64::EPSILON * size, "n {n} root {i}: {value} of {size}");
                    let from_lower = (poles[root.origin] - poles[i]) + root.offset;
                    assert!(from_lower > 0.0, "root {i} lies above its lower pole");
                    if i + 1 < poles.len() {
                        assert!((poles[root.origin] - poles[i + 1]) + root.offset < 0.0);
                    }
                }
            }
        }
    }
}
