//! Probabilities that directions are dropped if sets of k kept directions have product weights.
//!
//! Setting: weights `e^{g_i}` of w explicit directions, and M further directions of weight 1. The result is the
//! log-probability of each direction not to be in the set. O(w k).
//! Numerics: sets with c of the equivalent further directions enter as the binomial coefficient `C(M, c)` times an
//! entry of the table of the explicit weights. The backward pass adds only positive terms, as logarithms, for both kept
//! and dropped directions, so that v keeps its relative precision at any size. The error of the logarithms is the
//! rounding error of the largest `k g`.

use crate::experts::SetDistribution;
use crate::num::log_sum_exp;
use crate::scratch::zero;
use crate::simplex::{Complement, Multiplicity};

#[derive(Debug, Clone, Default)]
pub(super) struct ProductScratch {
    sets: SetDistribution,
    /// Log-probability of j members among the directions not visited yet.
    reach: Vec<f64>,
    taken: Vec<f64>,
    passed: Vec<f64>,
}

/// Replaces each log-weight of being kept by the log-probability of being dropped.
pub(super) fn drop_by_products(
    log_weights: &mut [f64],
    complement: &mut Complement,
    kept: usize,
    scratch: &mut ProductScratch,
) {
    let Multiplicity::Finite(others) = complement.multiplicity else {
        unreachable!("among infinitely many directions no single one is ever kept");
    };
    let ProductScratch { sets, reach, taken, passed } = scratch;
    sets.fill(log_weights, kept);
    zero(reach, kept + 1);
    let mut binomial = 0.0;
    for drawn in 0..=kept {
        reach[kept - drawn] = binomial + sets.entry(log_weights.len(), kept - drawn);
        let left = others.saturating_sub(drawn as u64);
        binomial += (left as f64 / (drawn + 1) as f64).ln();
    }
    let total = log_sum_exp(reach.iter().copied());
    reach.iter_mut().for_each(|r| *r -= total);
    complement.log_weight = if others == 0 { 0.0 } else { drop_from_block(reach, others as f64) };
    for i in (0..log_weights.len()).rev() {
        let weight = log_weights[i];
        taken.clear();
        passed.clear();
        for (needed, &log_probability) in reach.iter().enumerate() {
            // The ratio of table entries is undefined for a state of probability zero.
            let shift = log_probability - sets.entry(i + 1, needed);
            let possible = log_probability > f64::NEG_INFINITY;
            passed.push(if possible { shift + sets.entry(i, needed) } else { f64::NEG_INFINITY });
            let with = if needed > 0 { weight + sets.entry(i, needed - 1) } else { f64::NEG_INFINITY };
            taken.push(if possible { shift + with } else { f64::NEG_INFINITY });
        }
        log_weights[i] = log_dropped(taken.iter().map(|t| t.exp()).sum(), || log_sum_exp(passed.iter().copied()));
        for (needed, r) in reach.iter_mut().enumerate() {
            let with = taken.get(needed + 1).copied().unwrap_or(f64::NEG_INFINITY);
            *r = log_sum_exp([passed[needed], with].into_iter());
        }
    }
}

/// Returns `log v` of `others` equal directions, for the log-distribution of the number of members among the rest.
fn drop_from_block(reach: &[f64], others: f64) -> f64 {
    let kept = reach.len() - 1;
    let members = |j: usize| (kept - j) as f64 / others;
    let share: f64 = reach.iter().enumerate().map(|(j, r)| r.exp() * members(j)).sum();
    log_dropped(share, || log_sum_exp(reach.iter().enumerate().map(|(j, r)| r + (-members(j).min(1.0)).ln_1p())))
}

/// Returns `log(1 - kept)`, without cancellation.
fn log_dropped(kept: f64, dropped: impl FnOnce() -> f64) -> f64 {
    if kept < 0.5 { (-kept).ln_1p() } else { dropped().min(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::num::kept as kept_of;

    /// Computes the probabilities of being dropped by enumerating all sets of `kept` indices.
    fn enumerated(log_weights: &[f64], kept: usize) -> Vec<f64> {
        let n = log_weights.len();
        let (mut total, mut without) = (0.0, vec![0.0; n]);
        for set in (0..1usize << n).filter(|set| set.count_ones() as usize == kept) {
            let weight = (0..n).filter(|i| set >> i & 1 == 1).map(|i| log_weights[i]).sum::<f64>().exp();
            total += weight;
            (0..n).filter(|i| set >> i & 1 == 0).for_each(|i| without[i] += weight);
        }
        without.iter().map(|w| w / total).collect()
    }

    #[test]
    fn probabilities_equal_enumeration_of_all_sets_with_and_without_a_block() {
        let mut random = Random::seeded(3);
        for case in 0..300 {
            let (explicit, others) = (random.below(8), random.below(5));
            let n = explicit + others;
            if n < 2 {
                continue;
            }
            let kept = 1 + random.below(n - 1);
            let spread = [0.1, 3.0, 30.0][case % 3];
            let mut log_weights: Vec<f64> = (0..explicit).map(|_| spread * random.uniform()).collect();
            let mut all = log_weights.clone();
            all.resize(n, 0.0);
            let wanted = enumerated(&all, kept);
            let mut complement = Complement::finite(0.0, others as u64);
            drop_by_products(&mut log_weights, &mut complement, kept, &mut ProductScratch::default());
            for (i, wanted) in wanted.iter().enumerate() {
                let found = log_weights.get(i).copied().unwrap_or(complement.log_weight).exp();
                assert!((found - wanted).abs() <= 1e-12 * wanted, "case {case}, {i}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn large_weights_and_blocks_keep_the_total_and_the_digits() {
        let mut log_weights = [3000.0, 2000.0, 20.0, 0.0, 0.0];
        let mut complement = Complement::finite(0.0, 1_000_000_000_000);
        drop_by_products(&mut log_weights, &mut complement, 3, &mut ProductScratch::default());
        let total: f64 = log_weights.iter().map(|l| kept_of(*l)).sum::<f64>() + 1e12 * kept_of(complement.log_weight);
        assert!((total - 3.0).abs() <= 1e-9, "{total}");
        // Total weight of all sets without the first direction, divided by that of all sets with the first two.
        let (block, third) = (1e12 + 2.0, 20f64.exp());
        let wanted = -3000.0 + (block * (block - 1.0) / 2.0 + third * block).ln() - (block + third).ln();
        assert!((log_weights[0] - wanted).abs() < 1e-11 * 3000.0, "{} against {wanted}", log_weights[0]);
    }
}
