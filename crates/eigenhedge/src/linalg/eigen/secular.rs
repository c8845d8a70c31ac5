//! Roots of the secular equation.
//! Setting: `diag(d) + z zᵀ` with strictly ascending poles `d` and weights `w = z²`. Its eigenvalues are the roots of
//! `f(λ) = 1 + Σ w_j / (d_j - λ)`, one in each gap `(d_i, d_{i+1})` and one above the last pole.
//! Update: each root is stored as (nearest pole, offset), so that every difference `d_j - λ_i` has full relative
//! accuracy, which makes the eigenvectors orthogonal (Gu & Eisenstat 1994). The iteration is the "middle way" (Li
//! 1993): it replaces the sum on each side of the root by one pole. The root stays inside a bracket that shrinks in
//! every step.
//! Cost: about four evaluations of f per root. Small problems are solved in [`super::secular_batch`]. The caller scales
//! the problem to unit size.

use super::secular_batch;
use super::secular_simd::{MOST_STEPS, Point, Root, pole_sums};
use pulp::Simd;

/// Computes all `count` roots in ascending order. The first `count` poles must be strictly ascending, with positive
/// weights.
#[inline(always)]
pub(super) fn solve<S: Simd>(simd: S, poles: &[f64], weights: &[f64], count: usize, roots: &mut Vec<Root>) {
    let last = count - 1;
    let total: f64 = weights.iter().sum();
    roots.clear();
    if (2..=secular_batch::MOST).contains(&count) {
        return secular_batch::solve(simd, &poles[..count], &weights[..count], roots);
    }
    for i in 0..last {
        roots.push(inner_root(simd, poles, weights, i));
    }
    roots.push(last_root(simd, poles, weights, last, total));
}

#[inline(always)]
fn inner_root<S: Simd>(simd: S, poles: &[f64], weights: &[f64], i: usize) -> Root {
    let gap = poles[i + 1] - poles[i];
    let half = 0.5 * gap;
    let sides = pole_sums(simd, poles, weights, Point { pole: poles[i], offset: half });
    let middle = 1.0 + sides.below + sides.above;
    // f increases from -∞ to +∞ across the gap.
    let origin = if middle >= 0.0 { i } else { i + 1 };
    let far = middle + (weights[i] - weights[i + 1]) / half;
    let mut bracket = if middle >= 0.0 { (0.0, half) } else { (-half, 0.0) };
    let guess = first_guess(far, weights[i], weights[i + 1], gap, middle >= 0.0);
    let mut offset = inside(guess, bracket);
    for _ in 0..MOST_STEPS {
        let sides = pole_sums(simd, poles, weights, Point { pole: poles[origin], offset });
        let value = 1.0 + sides.below + sides.above;
        if value.abs() <= 2.0 * f64::EPSILON * (1.0 + sides.above - sides.below) {
            break;
        }
        if value < 0.0 {
            bracket.0 = offset
        } else {
            bracket.1 = offset
        }
        let lower = (poles[i] - poles[origin]) - offset;
        let upper = (poles[i + 1] - poles[origin]) - offset;
        let mut step = middle_way(value, sides.slope_below, sides.slope_above, lower, upper);
        if !(step * value < 0.0) {
            step = -value / (sides.slope_below + sides.slope_above);
        }
        let next = inside(offset + step, bracket);
        let settled = (next - offset).abs() <= f64::EPSILON * next.abs();
        offset = next;
        if settled {
            break;
        }
    }
    Root { origin, offset }
}

/// Computes the root above the last pole. Each step approximates the sum by a single pole.
#[inline(always)]
fn last_root<S: Simd>(simd: S, poles: &[f64], weights: &[f64], origin: usize, total: f64) -> Root {
    let mut bracket = (0.0, total * (1.0 + 4.0 * f64::EPSILON));
    // The offset is between the weight of the last pole and the sum of all weights.
    let mut offset = if origin == 0 { total } else { inside(0.5 * (weights[origin] + total), bracket) };
    for _ in 0..if origin == 0 { 0 } else { MOST_STEPS } {
        let sides = pole_sums(simd, poles, weights, Point { pole: poles[origin], offset });
        let value = 1.0 + sides.below;
        if value.abs() <= 2.0 * f64::EPSILON * (1.0 - sides.below) {
            break;
        }
        if value < 0.0 {
            bracket.0 = offset
        } else {
            bracket.1 = offset
        }
        // Model `c + s/(d - λ)` with the value and slope of f at this point.
        let s = sides.slope_below * offset * offset;
        let c = value + s / offset;
        let next = inside(s / c, bracket);
        let settled = (next - offset).abs() <= f64::EPSILON * next;
        offset = next;
        if settled {
            break;
        }
    }
    Root { origin, offset }
}

/// Returns the root of `far + low/(-x) + high/(gap - x)`, as an offset from the lower end of the gap if `from_low` is
/// true, and from the upper end otherwise.
#[inline(always)]
fn first_guess(far: f64, low: f64, high: f64, gap: f64, from_low: bool) -> f64 {
    // far·x² - a·x + b = 0, where x is the offset from the chosen end.
    let (a, b) = if from_low { (far * gap + low + high, low * gap) } else { (low + high - far * gap, -high * gap) };
    let root = (a * a - 4.0 * far * b).max(0.0).sqrt();
    // Both roots are computed without cancellation. Only one is in the half gap.
    let sum = if a >= 0.0 { a + root } else { a - root };
    let (first, second) = (2.0 * b / sum, sum / (2.0 * far));
    let fits = |x: f64| if from_low { x > 0.0 && x <= 0.5 * gap } else { x < 0.0 && x >= -0.5 * gap };
    if fits(first) { first } else { second }
}

/// Returns the step x to the root of `c + s/(lower - x) + S/(upper - x)`, where c, s and S match the value of f and the
/// slopes of its two sums at x = 0.
#[inline(always)]
fn middle_way(value: f64, slope_left: f64, slope_right: f64, lower: f64, upper: f64) -> f64 {
    let a = (lower + upper) * value - lower * upper * (slope_left + slope_right);
    let b = lower * upper * value;
    let c = value - lower * slope_left - upper * slope_right;
    let root = (a * a - 4.0 * b * c).max(0.0).sqrt();
    if a <= 0.0 { (a - root) / (2.0 * c) } else { 2.0 * b / (a + root) }
}

/// Returns `x` if it is strictly inside the bracket, or else a point that shrinks the bracket.
#[inline(always)]
fn inside(x: f64, (low, high): (f64, f64)) -> f64 {
    if x > low && x < high {
        return x;
    }
    if low == 0.0 {
        return high * 0.125;
    }
    if high == 0.0 {
        return low * 0.125;
    }
    if low * high > 0.0 && (high / low > 16.0 || low / high > 16.0) {
        return low.signum() * (low * high).sqrt();
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::super::secular_simd::fill_up;
    use super::*;
    use pulp::{Arch, WithSimd};

    struct Solve<'a>(&'a [f64], &'a [f64], usize, &'a mut Vec<Root>);

    impl WithSimd for Solve<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            solve(simd, self.0, self.1, self.2, self.3);
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
                let mut roots = Vec::new();
                let (mut full_poles, mut full_weights) = (poles.clone(), weights.clone());
                fill_up(&mut full_poles, &mut full_weights);
                Arch::new().dispatch(Solve(&full_poles, &full_weights, poles.len(), &mut roots));
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
