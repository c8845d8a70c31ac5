//! Capping: relative-entropy projection of positive weights onto the capped simplex.
//! Setting: log-weights `g_i` with multiplicities `m_i`, `Σ m_i = N`, and a number `k < N` of directions to keep.
//! Update: find `c` with `Σ m_i (1 - min(c e^{g_i}, 1)) = k` and return `log v_i = min(g_i + log c, 0)`. For `N = ∞`
//! the complement stays at the cap. If the single directions keep less than `k`, nothing is rescaled, and the rest of
//! `k` is spread over the complement.
//! Guarantee: `Σ m_i (1 - v_i) = k` up to rounding. The log-weight of a capped entry is exactly `0.0`.
//! Cost for n entries: [`cap`] is linear if the order has changed little since the previous call, and `O(n log n)`
//! otherwise, without allocation. [`cap_by_selection`] takes expected `O(n)` time, and [`cap_by_sorting`] `O(n log n)`.
//! Numerics: the uncapped entries are the longest prefix of the ascending order that keeps less than `k` when its
//! largest weight `top` is at the cap. With `M = Σ m` and `P = Σ m (1 - e^{g - top})` over the prefix, the scale
//! relative to `top` is `(M - k)/Σ m e^{g - top} = 1 + (P - k)/(M - P)`. The second form preserves the relative
//! precision of `1 - v` for any `N` and is used when `M > 2k`; the first preserves that of `v` when almost everything
//! is kept. Only differences of log-weights are exponentiated. Directions of weight zero (log-weight `-∞`) that are
//! needed to reach the total `N - k` share the remainder evenly.
//! References: Warmuth & Kuzmin, JMLR 2008, Algorithm 4; Herbster & Warmuth, JMLR 2001 (linear time by selection);
//! Kuzmin & Warmuth, ICML 2007, section 5 (filling up after underflow).

use crate::error::{Error, every};
use crate::num;
use crate::state::length;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Number of directions that share a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multiplicity {
    /// Finite number of directions, possibly zero.
    Finite(u64),
    /// Infinitely many directions.
    Infinite,
}

/// Complement of the directions that have their own weight. All its directions share one log-weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Complement {
    /// Log-weight `log v` of each direction in the complement.
    pub log_weight: f64,
    /// Number of directions in the complement.
    pub multiplicity: Multiplicity,
}

impl Complement {
    /// Creates a complement of finitely many directions.
    pub fn finite(log_weight: f64, directions: u64) -> Self {
        Self { log_weight, multiplicity: Multiplicity::Finite(directions) }
    }

    /// Creates a complement of infinitely many directions. Their log-weight is 0, the cap.
    pub fn infinite() -> Self {
        Self { log_weight: 0.0, multiplicity: Multiplicity::Infinite }
    }
}

impl Default for Complement {
    fn default() -> Self {
        Self::infinite()
    }
}

/// Scratch space of [`cap`]. It remembers the order of the entries, which changes little between calls.
#[derive(Debug, Clone, Default)]
pub struct CapScratch {
    /// Indices in ascending order of weight. Index 0 is the complement, and `i + 1` is log-weight `i`.
    order: Vec<usize>,
}

/// Weights after capping.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Capped {
    /// Logarithm of the scale `c` by which the uncapped weights were multiplied.
    pub log_scale: f64,
    /// Log-probability `min(g_i + log c, 0)` that a direction of entry i is dropped.
    pub log_dropped: Vec<f64>,
}

/// Caps the log-weights `g` of single directions and of their complement in place: `log v = min(g + log c, 0)`, with
/// `c` such that the probabilities of being kept, `1 - v`, sum to `kept`. With an infinite complement they may sum to
/// less. Returns `log c`. Panics if the space does not have more than `kept` directions.
pub fn cap(log_weights: &mut [f64], complement: &mut Complement, kept: usize, scratch: &mut CapScratch) -> f64 {
    let block = match complement.multiplicity {
        Multiplicity::Finite(directions) => directions as f64,
        Multiplicity::Infinite => {
            complement.log_weight = 0.0;
            log_weights.iter_mut().for_each(|weight| *weight = at_most_zero(*weight));
            if log_weights.iter().map(|&weight| num::kept(weight)).sum::<f64>() <= kept as f64 {
                return 0.0;
            }
            f64::INFINITY
        }
    };
    assert!(log_weights.len() as f64 + block > kept as f64, "the space must hold more than {kept} directions");
    let order = &mut scratch.order;
    order.retain(|&entry| entry <= log_weights.len());
    order.extend(order.len()..=log_weights.len());
    let weight = |entry: usize| match entry {
        0 => (complement.log_weight, block),
        _ => (log_weights[entry - 1], 1.0),
    };
    // Ties are broken by index, so that the result depends only on the weights and not on earlier calls.
    sort_nearly_sorted(order, |a, b| weight(*a).0.total_cmp(&weight(*b).0).then(a.cmp(b)));
    let (boundary, top) = scan(order, weight, kept);
    let relative = log_scale(order[..boundary].iter().map(|&entry| weight(entry)), top, kept);
    for (rank, &entry) in order.iter().enumerate() {
        let slot = if entry == 0 { &mut complement.log_weight } else { &mut log_weights[entry - 1] };
        *slot = if rank < boundary { at_most_zero(gap(*slot, top) + relative) } else { 0.0 };
    }
    relative - top
}

/// Caps log-weights that have multiplicities, by sorting. Returns `Err` for lists of different lengths, a log-weight of
/// `∞` or NaN, a multiplicity of 0, or a `kept` that is not in `1..Σ multiplicities`.
///
/// ```
/// use eigenhedge::simplex::cap_by_sorting;
/// let capped = cap_by_sorting(&[0.0, 0.0], &[1, 999_999_999_999], 1)?;
/// assert!((-capped.log_dropped[1].exp_m1() - 1e-12).abs() < 1e-26);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn cap_by_sorting(log_weights: &[f64], multiplicities: &[u64], kept: usize) -> Result<Capped, Error> {
    check(log_weights, multiplicities, kept)?;
    let mut order: Vec<usize> = (0..log_weights.len()).collect();
    order.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
    let (boundary, top) = scan(&order, |entry| (log_weights[entry], multiplicities[entry] as f64), kept);
    Ok(rescaled(log_weights, multiplicities, &order[..boundary], top, kept))
}

/// Caps like [`cap_by_sorting`] up to rounding, by selection, in expected linear time.
pub fn cap_by_selection(log_weights: &[f64], multiplicities: &[u64], kept: usize) -> Result<Capped, Error> {
    check(log_weights, multiplicities, kept)?;
    let mut order: Vec<usize> = (0..log_weights.len()).collect();
    let mut below = Uncapped::NONE;
    let (mut low, mut high) = (0, order.len());
    while low < high {
        let middle = low.midpoint(high);
        order[low..high].select_nth_unstable_by(middle - low, |&a, &b| log_weights[a].total_cmp(&log_weights[b]));
        let level = log_weights[order[middle]];
        let mut half = Uncapped { top: level, count: below.count, kept: below.kept_at(level) };
        for &entry in &order[low..middle] {
            half.count += multiplicities[entry] as f64;
            half.kept += multiplicities[entry] as f64 * num::kept(gap(log_weights[entry], level));
        }
        if half.fills(kept, half.kept) {
            high = middle;
        } else {
            half.count += multiplicities[order[middle]] as f64;
            below = half;
            low = middle + 1;
        }
    }
    Ok(rescaled(log_weights, multiplicities, &order[..low], below.top, kept))
}

fn rescaled(log_weights: &[f64], multiplicities: &[u64], uncapped: &[usize], top: f64, kept: usize) -> Capped {
    let entries = uncapped.iter().map(|&entry| (log_weights[entry], multiplicities[entry] as f64));
    let relative = log_scale(entries, top, kept);
    let mut log_dropped = vec![0.0; log_weights.len()];
    for &entry in uncapped {
        log_dropped[entry] = at_most_zero(gap(log_weights[entry], top) + relative);
    }
    Capped { log_scale: relative - top, log_dropped }
}

fn check(log_weights: &[f64], multiplicities: &[u64], kept: usize) -> Result<(), Error> {
    length("list of multiplicities", multiplicities.len(), log_weights.len())?;
    every("list of log-weights", log_weights, "less than infinity", |weight| weight < f64::INFINITY)?;
    if let Some(index) = multiplicities.iter().position(|&multiplicity| multiplicity == 0) {
        return Err(Error::Entry { what: "list of multiplicities", index, rule: "at least 1", value: 0.0 });
    }
    let dimension = multiplicities.iter().fold(0u64, |sum, &multiplicity| sum.saturating_add(multiplicity));
    if kept == 0 || kept as u64 >= dimension {
        return Err(Error::Kept { kept, dimension: usize::try_from(dimension).unwrap_or(usize::MAX) });
    }
    Ok(())
}

fn sort_nearly_sorted(order: &mut [usize], compare: impl Fn(&usize, &usize) -> Ordering) {
    let mut moves = 4 * order.len();
    for end in 1..order.len() {
        let mut at = end;
        while at > 0 && compare(&order[at - 1], &order[at]).is_gt() {
            if moves == 0 {
                return order.sort_unstable_by(compare);
            }
            order.swap(at - 1, at);
            at -= 1;
            moves -= 1;
        }
    }
}

/// Entries below the cap: their largest log-weight, the number of their directions, and the number kept if `top` is at
/// the cap.
pub(super) struct Uncapped {
    pub(super) top: f64,
    pub(super) count: f64,
    pub(super) kept: f64,
}

impl Uncapped {
    pub(super) const NONE: Self = Self { top: f64::NEG_INFINITY, count: 0.0, kept: 0.0 };

    /// Returns the mass that these entries keep if a log-weight of `level ≥ top` is at the cap. All terms are positive.
    pub(super) fn kept_at(&self, level: f64) -> f64 {
        self.kept + (self.count - self.kept) * num::kept(gap(self.top, level))
    }

    /// Returns true if the mass `kept_below` of these entries reaches `kept`, so that all larger entries must be
    /// capped. Never true for `kept` or fewer directions, even with rounding errors.
    pub(super) fn fills(&self, kept: usize, kept_below: f64) -> bool {
        self.count > kept as f64 && kept_below >= kept as f64
    }
}

/// Returns the number of uncapped entries and their largest log-weight. `order` lists the entries by ascending weight.
pub(super) fn scan(order: &[usize], weight: impl Fn(usize) -> (f64, f64), kept: usize) -> (usize, f64) {
    let mut below = Uncapped::NONE;
    for (rank, &entry) in order.iter().enumerate() {
        let (level, multiplicity) = weight(entry);
        if multiplicity == 0.0 {
            continue;
        }
        let kept_below = below.kept_at(level);
        if below.fills(kept, kept_below) || multiplicity == f64::INFINITY {
            return (rank, below.top);
        }
        below = Uncapped { top: level, count: below.count + multiplicity, kept: kept_below };
    }
    (order.len(), below.top)
}

/// Returns `log c` relative to the largest uncapped log-weight `top`. `uncapped` yields log-weights and multiplicities.
pub(super) fn log_scale(uncapped: impl Iterator<Item = (f64, f64)> + Clone, top: f64, kept: usize) -> f64 {
    let kept = kept as f64;
    let uncapped = uncapped.filter(|&(_, multiplicity)| multiplicity > 0.0);
    let count: f64 = uncapped.clone().map(|(_, multiplicity)| multiplicity).sum();
    // The rounding error of this form is proportional to `kept`, and that of the other form to `count - kept`.
    if count - kept > kept {
        let kept_at_top: f64 = uncapped.map(|(weight, multiplicity)| multiplicity * num::kept(gap(weight, top))).sum();
        return ((kept_at_top - kept) / (count - kept_at_top)).ln_1p();
    }
    let total: f64 = uncapped.map(|(weight, multiplicity)| multiplicity * gap(weight, top).exp()).sum();
    ((count - kept) / total).ln()
}

/// Returns `weight - top`, or 0 for equal weights, even if both are `-∞`.
pub(super) fn gap(weight: f64, top: f64) -> f64 {
    if weight == top { 0.0 } else { weight - top }
}

/// Limits a log-weight to positive zero, so that all capped entries are bit-identical.
pub(super) fn at_most_zero(log_weight: f64) -> f64 {
    if log_weight < 0.0 { log_weight } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept_mass(log_dropped: &[f64], multiplicities: &[u64]) -> f64 {
        log_dropped.iter().zip(multiplicities).map(|(&weight, &m)| m as f64 * num::kept(weight)).sum()
    }

    /// Caps as in the papers: caps the largest weight, renormalizes the others, and repeats.
    fn one_at_a_time(weights: &[f64], kept: usize) -> Vec<f64> {
        let mut capped = vec![false; weights.len()];
        loop {
            let free = || (0..weights.len()).filter(|&i| !capped[i]);
            let largest = free().max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap();
            let scale = (free().count() - kept) as f64 / free().map(|i| weights[i]).sum::<f64>();
            if scale * weights[largest] <= 1.0 + 1e-15 {
                return (0..weights.len()).map(|i| if capped[i] { 1.0 } else { scale * weights[i] }).collect();
            }
            capped[largest] = true;
        }
    }

    fn weight() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -5.0..5.0f64,
            2 => -1e3..1e3f64,
            2 => (-3..4i32).prop_map(f64::from),
            1 => Just(f64::NEG_INFINITY),
            1 => -1e-9..1e-9f64,
        ]
    }

    fn multiplicity() -> impl Strategy<Value = u64> {
        prop_oneof![3 => Just(1u64), 2 => 1..5u64, 1 => Just(1_000_000_000), 1 => Just(1_000_000_000_000)]
    }

    fn problem() -> impl Strategy<Value = (Vec<f64>, Vec<u64>, usize)> {
        proptest::collection::vec((weight(), multiplicity()), 2..40).prop_flat_map(|entries| {
            let (weights, multiplicities): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
            let largest = multiplicities.iter().sum::<u64>().min(60) - 1;
            (Just(weights), Just(multiplicities), 1..=largest as usize)
        })
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting_and_both_keep_k((weights, multiplicities, kept) in problem()) {
            let sorted = cap_by_sorting(&weights, &multiplicities, kept).unwrap();
            let selected = cap_by_selection(&weights, &multiplicities, kept).unwrap();
            let mass = kept_mass(&sorted.log_dropped, &multiplicities);
            prop_assert!((mass - kept as f64).abs() <= 1e-13 * kept as f64, "{mass} {kept}");
            for (a, b) in sorted.log_dropped.iter().zip(&selected.log_dropped) {
                prop_assert!(a == b || (a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} {b}");
                prop_assert!(*a <= 0.0 && a.is_sign_positive() == (*a == 0.0));
            }
        }

        #[test]
        fn in_place_cap_agrees_with_sorting(
            weights in proptest::collection::vec(weight(), 0..30), common in weight(),
            directions in 2..2_000_000_000u64, share in 0.0..1.0f64,
        ) {
            let dimension = weights.len() as u64 + directions;
            let kept = 1 + (share * (dimension.min(50) - 2) as f64) as usize;
            let (mut all, mut multiplicities) = (vec![common], vec![directions]);
            all.extend(&weights);
            multiplicities.resize(all.len(), 1);
            let expected = cap_by_sorting(&all, &multiplicities, kept).unwrap();
            let (mut entries, mut rest) = (weights.clone(), Complement::finite(common, directions));
            let scale = cap(&mut entries, &mut rest, kept, &mut CapScratch::default());
            prop_assert_eq!(scale.to_bits(), expected.log_scale.to_bits());
            prop_assert_eq!(rest.log_weight.to_bits(), expected.log_dropped[0].to_bits());
            prop_assert_eq!(&entries[..], &expected.log_dropped[1..]);
        }

        #[test]
        fn infinite_space_keeps_at_most_k_and_only_scales_up(
            weights in proptest::collection::vec(-6.0..0.5f64, 0..20), kept in 1..6usize,
        ) {
            let (mut entries, mut rest) = (weights.clone(), Complement::infinite());
            let scale = cap(&mut entries, &mut rest, kept, &mut CapScratch::default());
            let before: f64 = weights.iter().map(|weight| num::kept(weight.min(0.0))).sum();
            let after: f64 = entries.iter().map(|&weight| num::kept(weight)).sum();
            prop_assert_eq!(rest, Complement::infinite());
            prop_assert!(scale >= 0.0);
            prop_assert!((after - before.min(kept as f64)).abs() <= 1e-13 * kept as f64, "{} {}", before, after);
        }

        #[test]
        fn capping_equals_the_papers_loop(
            weights in proptest::collection::vec(0.01..10.0f64, 3..12), kept in 1..3usize,
        ) {
            let logs: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
            let capped = cap_by_sorting(&logs, &vec![1; logs.len()], kept).unwrap();
            for (log_dropped, dropped) in capped.log_dropped.iter().zip(one_at_a_time(&weights, kept)) {
                prop_assert!((log_dropped.exp() - dropped).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn result_does_not_depend_on_what_the_scratch_saw_before() {
        let weights: Vec<f64> = (0..50).map(|i| f64::from(i * 17 % 10)).collect();
        let mut used = CapScratch::default();
        let mut reversed: Vec<f64> = weights.iter().map(|weight| -weight).chain([3.0, 4.0]).collect();
        cap(&mut reversed, &mut Complement::finite(1.0, 3), 5, &mut used);
        let (mut first, mut second) = (weights.clone(), weights);
        let a = cap(&mut first, &mut Complement::finite(2.0, 3), 7, &mut used);
        let b = cap(&mut second, &mut Complement::finite(2.0, 3), 7, &mut CapScratch::default());
        assert_eq!((a.to_bits(), first), (b.to_bits(), second));
    }

    #[test]
    fn kept_mass_is_precise_in_a_space_of_a_thousand_million() {
        let kept = 5;
        let mut entries = [-40.0, -3.0, -1e-3, -1e-9];
        let mut rest = Complement::finite(-5e-9, 999_999_996);
        cap(&mut entries, &mut rest, kept, &mut CapScratch::default());
        let mass =
            entries.iter().map(|&weight| num::kept(weight)).sum::<f64>() + 999_999_996.0 * num::kept(rest.log_weight);
        assert!((mass - kept as f64).abs() < 1e-13 * kept as f64, "{mass}");
    }

    #[test]
    fn dropped_mass_is_precise_when_all_but_one_of_many_are_kept() {
        let weights: Vec<f64> =
            (0..100_000).map(|i| if i == 7 { 0.0 } else { -30.0 - f64::from(i % 1000) / 50.0 }).collect();
        let capped = cap_by_sorting(&weights, &vec![1; weights.len()], weights.len() - 1).unwrap();
        let mut ascending = weights;
        ascending.sort_by(f64::total_cmp);
        let expected = -num::log_sum_exp(ascending.iter().copied());
        assert!((capped.log_scale - expected).abs() < 2.0 * f64::EPSILON, "{} {expected}", capped.log_scale);
    }

    #[test]
    fn zero_weights_that_must_fill_the_cap_share_it_evenly() {
        let none = f64::NEG_INFINITY;
        let capped = cap_by_sorting(&[none, 0.3, none, none], &[1; 4], 1).unwrap();
        assert_eq!(capped.log_dropped[1], 0.0);
        assert!([0, 2, 3].iter().all(|&i| (capped.log_dropped[i].exp() - 2.0 / 3.0).abs() < 1e-15));
        let exact = cap_by_selection(&[none, 0.3, none, -9.0], &[1; 4], 2).unwrap();
        assert_eq!(exact.log_dropped, [none, 0.0, none, 0.0]);
    }

    #[test]
    fn broken_rules_are_named_with_their_values() {
        let nan = cap_by_sorting(&[0.0, f64::NAN], &[1, 1], 1).unwrap_err();
        assert!(matches!(nan, Error::Entry { index: 1, value, .. } if value.is_nan()));
        assert_eq!(cap_by_sorting(&[0.0, 0.0], &[1, 1], 2), Err(Error::Kept { kept: 2, dimension: 2 }));
        assert!(cap_by_selection(&[0.0, 0.0], &[1], 1).is_err());
        assert!(cap_by_selection(&[0.0, 0.0], &[1, 0], 1).is_err());
    }
}
