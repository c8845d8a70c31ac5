//! Follow the leader for experts and eigenvalues: [`keep_largest`] keeps the k largest values, with ties shared, the
//! limit of capped exponential weights for an infinite learning rate. [`shift_and_clip`] is the Euclidean projection
//! onto the capped simplex.

use super::cap::{Complement, Multiplicity};
use crate::scratch::refill;

#[derive(Debug, Clone, Default)]
pub struct LimitScratch {
    ranking: Vec<f64>,
}

/// Values are tied if their difference is at most `relative` times the k-th largest, or at most `absolute`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Precision {
    pub relative: f64,
    pub absolute: f64,
}

/// Writes the logarithms of the probabilities of being dropped if the `kept` directions with the largest values are
/// kept. Values are nonnegative, and 0 in the complement. Directions tied with the k-th largest share its places
/// evenly.
pub fn keep_largest(
    values: &[f64],
    complement: &mut Complement,
    kept: usize,
    precision: Precision,
    log_weights: &mut Vec<f64>,
    scratch: &mut LimitScratch,
) {
    let ranking = &mut scratch.ranking;
    values.clone_into(ranking);
    let boundary =
        if kept <= ranking.len() { *ranking.select_nth_unstable_by(kept - 1, |a, b| b.total_cmp(a)).1 } else { 0.0 };
    let tolerance = precision.absolute.max(precision.relative * boundary);
    let above = values.iter().filter(|v| **v > boundary + tolerance).count();
    let mut tied = values.iter().filter(|v| (**v - boundary).abs() <= tolerance).count() as f64;
    let complement_tied = boundary <= tolerance;
    if complement_tied {
        tied += match complement.multiplicity {
            Multiplicity::Finite(directions) => directions as f64,
            Multiplicity::Infinite => f64::INFINITY,
        };
    }
    let shared = (-((kept - above) as f64 / tied).min(1.0)).ln_1p();
    log_weights.clear();
    log_weights.extend(values.iter().map(|v| {
        if *v > boundary + tolerance {
            f64::NEG_INFINITY
        } else if *v >= boundary - tolerance {
            shared
        } else {
            0.0
        }
    }));
    complement.log_weight = if complement_tied { shared } else { 0.0 };
}

#[derive(Debug, Clone, Default)]
pub struct ShiftScratch {
    breaks: Vec<f64>,
}

/// Projects `values`, and `others` more directions with the value `common`, onto `{0 ≤ p ≤ 1, Σ p = kept}` in the
/// Euclidean norm. Returns the new common value: zero if `others` is infinite; values of a small total are then only
/// clipped.
pub fn shift_and_clip(
    values: &mut [f64],
    common: f64,
    others: Multiplicity,
    kept: usize,
    scratch: &mut ShiftScratch,
) -> f64 {
    let (common, count) = match others {
        Multiplicity::Finite(count) => (common, count as f64),
        Multiplicity::Infinite => (0.0, 0.0),
    };
    let target = kept as f64;
    let total = |values: &[f64], shift: f64| {
        values.iter().map(|v| (v - shift).clamp(0.0, 1.0)).sum::<f64>() + count * (common - shift).clamp(0.0, 1.0)
    };
    if others == Multiplicity::Infinite && total(values, 0.0) <= target {
        values.iter_mut().for_each(|v| *v = v.clamp(0.0, 1.0));
        return 0.0;
    }
    // The total decreases as the shift grows, and is linear between the points where a value reaches 0 or 1.
    let breaks = &mut scratch.breaks;
    refill(breaks, values.iter().chain((count > 0.0).then_some(&common)).flat_map(|v| [*v - 1.0, *v]));
    breaks.sort_unstable_by(f64::total_cmp);
    let after = breaks.partition_point(|shift| total(values, *shift) > target);
    let low = breaks[after.saturating_sub(1)];
    let high = breaks.get(after).copied().unwrap_or(low);
    // All values strictly between 0 and 1 on this segment move with the shift.
    let inner = |v: f64| v - 1.0 <= low && v >= high;
    let moving = values.iter().filter(|v| inner(**v)).count() as f64 + if inner(common) { count } else { 0.0 };
    let excess = total(values, low) - target;
    let shift = if moving > 0.0 { (low + excess / moving).min(high) } else { low };
    values.iter_mut().for_each(|v| *v = (*v - shift).clamp(0.0, 1.0));
    if others == Multiplicity::Infinite { 0.0 } else { (common - shift).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn equal_values_share_what_is_left() {
        let (mut log_weights, mut rest) = (Vec::new(), Complement::finite(0.0, 0));
        keep_largest(
            &[5.0, 2.0, 2.0, 1.0],
            &mut rest,
            2,
            Precision::default(),
            &mut log_weights,
            &mut LimitScratch::default(),
        );
        let kept: Vec<f64> = log_weights.iter().map(|l: &f64| 1.0 - l.exp()).collect();
        assert_eq!(kept, [1.0, 0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_projection_is_feasible_and_no_feasible_point_is_nearer() {
        let mut random = Random::seeded(5);
        for case in 0..300 {
            let n = 1 + random.below(8);
            let others = random.below(5) as u64;
            let kept = 1 + random.below(n + others as usize);
            if kept as u64 >= n as u64 + others {
                continue;
            }
            let before: Vec<f64> = (0..n).map(|_| 3.0 * random.uniform() - 1.0).collect();
            let common = random.uniform();
            let mut after = before.clone();
            let count = Multiplicity::Finite(others);
            let rest = shift_and_clip(&mut after, common, count, kept, &mut ShiftScratch::default());
            let all = |p: &[f64], c: f64| [p, &vec![c; others as usize]].concat();
            let (from, to) = (all(&before, common), all(&after, rest));
            assert!((to.iter().sum::<f64>() - kept as f64).abs() < 1e-12, "case {case}");
            assert!(to.iter().all(|p| (0.0..=1.0).contains(p)));
            // A projection makes an obtuse angle with every feasible point: ⟨from - to, other - to⟩ ≤ 0.
            for _ in 0..20 {
                let mut other = vec![0.0; to.len()];
                let mut order: Vec<usize> = (0..to.len()).collect();
                order.sort_by_key(|_| random.below(1000));
                order[..kept].iter().for_each(|i| other[*i] = 1.0);
                let angle: f64 = (0..to.len()).map(|i| (from[i] - to[i]) * (other[i] - to[i])).sum();
                assert!(angle <= 1e-12, "case {case}: {angle}");
            }
        }
    }
}
