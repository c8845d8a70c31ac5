//! Tests of properties that every expert learner must have.

use super::*;
use crate::learner::trial;
use crate::simplex::cap_by_sorting;

const EXPERTS: usize = 6;
const KEPT: usize = 2;

fn made(kind: ExpertKind, experts: usize, kept: usize, eta: f64) -> Experts {
    Experts::new(ExpertSpec::new(kind, experts, kept, eta)).unwrap()
}

fn capped(experts: usize, kept: usize, eta: f64, mixing: Mixing) -> Experts {
    Experts::new(ExpertSpec { mixing, ..ExpertSpec::new(ExpertKind::CappedHedge, experts, kept, eta) }).unwrap()
}

fn hedge(experts: usize, eta: f64) -> Experts {
    made(ExpertKind::CappedHedge, experts, experts - 1, eta)
}

/// Runs a test on every kind of expert learner.
fn for_every_learner(law: impl Fn(Experts)) {
    law(hedge(EXPERTS, 0.4));
    for mixing in [Mixing::None, Mixing::FixedShare { alpha: 0.02 }, Mixing::PastAverage { alpha: 0.02 }] {
        law(capped(EXPERTS, KEPT, 0.6, mixing));
    }
    let spec = ExpertSpec::new(ExpertKind::CappedHedge, EXPERTS, KEPT, 0.6);
    law(Experts::new(ExpertSpec { select: Select::Corners, ..spec }).unwrap());
    for kind in [ExpertKind::Leader, ExpertKind::PerturbedLeader, ExpertKind::ProductSets] {
        law(made(kind, EXPERTS, KEPT, 0.6));
    }
}

/// Returns losses that include ties, zeros and ones.
fn losses(random: &mut Random) -> Vec<f64> {
    (0..EXPERTS).map(|_| (random.uniform() * 1.4 - 0.2).clamp(0.0, 1.0)).collect()
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    fn law(mut learner: Experts) {
        let mut random = Random::seeded(1);
        for _ in 0..5 {
            let losses = losses(&mut random);
            trial(&mut learner, &losses[..], &mut random).unwrap();
        }
        let (before, generator) = (learner.clone(), random.clone());
        let mut bad: Vec<Vec<f64>> = vec![vec![0.5; EXPERTS - 1], vec![0.5; EXPERTS + 1]];
        bad.extend([f64::NAN, f64::INFINITY, -1e-9, 1.0 + 1e-9].map(|value| {
            let mut row = vec![0.5; EXPERTS];
            row[3] = value;
            row
        }));
        for row in bad {
            let error = trial(&mut learner, &row[..], &mut random).unwrap_err();
            assert!(matches!(error, Error::Length { .. } | Error::Entry { index: 3, .. }), "{error}");
            assert_eq!((&learner, &random), (&before, &generator));
        }
    }
    for_every_learner(law);
}

#[test]
fn same_seed_gives_the_same_bits_and_a_restored_learner_continues_alike() {
    fn law(mut learner: Experts) {
        let mut random = Random::seeded(2);
        let (mut twin, mut twin_random) = (learner.clone(), random.clone());
        for round in 0..60 {
            let row = losses(&mut Random::seeded(round));
            let loss = trial(&mut learner, &row[..], &mut random).unwrap();
            assert_eq!(loss, trial(&mut twin, &row[..], &mut twin_random).unwrap());
            assert_eq!(learner, twin);
            if round % 20 == 10 {
                twin = serde_json::from_str(&serde_json::to_string(&twin).unwrap()).unwrap();
            }
        }
    }
    for_every_learner(law);
}

#[test]
fn mean_realised_loss_equals_expected_loss() {
    fn law(mut learner: Experts) {
        let mut random = Random::seeded(3);
        let (mut difference, mut variance) = (0.0, 0.0);
        for _ in 0..4000 {
            let row = losses(&mut random);
            let loss = trial(&mut learner, &row[..], &mut random).unwrap();
            difference += loss.realised - loss.expected;
            variance += (loss.realised - loss.expected).powi(2);
        }
        assert!(difference.abs() <= 4.0 * f64::sqrt(variance) + 1e-9, "{difference} {learner:?}");
    }
    for_every_learner(law);
}

#[test]
fn permuting_the_experts_changes_no_expected_loss() {
    fn law(mut learner: Experts) {
        let mut permuted = learner.clone();
        let mut random = Random::seeded(4);
        for _ in 0..200 {
            let row = losses(&mut random);
            let turned: Vec<f64> = [3, 5, 0, 1, 4, 2].iter().map(|&place| row[place]).collect();
            let loss = trial(&mut learner, &row[..], &mut random).unwrap().expected;
            let same = trial(&mut permuted, &turned[..], &mut random).unwrap().expected;
            assert!((loss - same).abs() < 1e-11, "{loss} {same} {learner:?}");
        }
    }
    for mixing in [Mixing::None, Mixing::FixedShare { alpha: 0.02 }, Mixing::PastAverage { alpha: 0.02 }] {
        law(capped(EXPERTS, KEPT, 0.6, mixing));
    }
    law(made(ExpertKind::Leader, EXPERTS, KEPT, 0.6));
    law(made(ExpertKind::ProductSets, EXPERTS, KEPT, 0.6));
    // The perturbed leader is excluded, because its expected loss is that of a random draw.
}

#[test]
fn a_choice_drops_exactly_d_experts() {
    let mut learner = capped(EXPERTS, KEPT, 0.6, Mixing::None);
    let mut random = Random::seeded(5);
    for _ in 0..500 {
        let row = losses(&mut random);
        trial(&mut learner, &row[..], &mut random).unwrap();
        let mut dropped = learner.dropped().to_vec();
        dropped.sort_unstable();
        dropped.dedup();
        assert_eq!(dropped.len(), EXPERTS - KEPT);
    }
}

#[test]
fn a_saved_state_that_no_learner_has_is_refused() {
    let mixing = Mixing::PastAverage { alpha: 0.1 };
    let whole = capped(4, 1, 0.5, mixing);
    let read = |learner: &Experts| {
        postcard::from_bytes::<Experts>(&postcard::to_stdvec(learner).unwrap()).is_ok_and(|read| read == *learner)
    };
    assert!(read(&whole));
    let changes: [fn(&mut Experts); 7] = [
        |learner| learner.price = -1.0,
        |learner| learner.spec.kept = 4,
        |learner| learner.spec.kept = 2,
        |learner| learner.spec.eta = f64::NAN,
        |learner| learner.weights[1] = f64::NAN,
        |learner| learner.weights[1] = 0.5,
        |learner| learner.past = vec![0.0; 3],
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut changed = whole.clone();
        change(&mut changed);
        assert!(!read(&changed), "change {i}");
    }
}

/// Returns the smallest total loss of any fixed set of `dropped` experts.
fn best(sequence: &[Vec<f64>], dropped: usize) -> f64 {
    let mut totals: Vec<f64> = (0..sequence[0].len()).map(|i| sequence.iter().map(|row| row[i]).sum()).collect();
    totals.sort_by(f64::total_cmp);
    totals[..dropped].iter().sum()
}

fn assert_within_bound(experts: usize, kept: usize, eta: f64, mut next: impl FnMut(&Experts) -> Vec<f64>) {
    let (mut learner, mut random) = (capped(experts, kept, eta, Mixing::None), Random::seeded(2));
    let (mut sequence, mut total) = (Vec::new(), 0.0);
    for _ in 0..400 {
        let losses = next(&learner);
        total += trial(&mut learner, &losses[..], &mut random).unwrap().expected;
        sequence.push(losses);
        let dropped = (experts - kept) as f64;
        let divergence = dropped * (experts as f64 / dropped).ln();
        let bound = (eta * best(&sequence, experts - kept) + divergence) / -(-eta).exp_m1();
        assert!(total <= bound * (1.0 + 1e-12), "{total} exceeds {bound} with n {experts} k {kept} eta {eta}");
    }
}

#[test]
fn expected_loss_stays_within_theorem_3() {
    let mut random = Random::seeded(1);
    for (experts, kept) in [(2, 1), (8, 3), (8, 7), (20, 1), (20, 10)] {
        for eta in [0.01, 0.3, 1.0, 5.0] {
            assert_within_bound(experts, kept, eta, |learner| {
                learner.weights().iter().map(|_| random.uniform()).collect()
            });
            // The adversary charges the expert that is most likely to be dropped.
            assert_within_bound(experts, kept, eta, |learner| {
                let largest = learner.weights().iter().copied().fold(f64::NEG_INFINITY, f64::max);
                learner.weights().iter().map(|&weight| f64::from(weight == largest)).collect()
            });
        }
    }
}

#[test]
fn hedge_equals_normalised_exponential_weights() {
    let (mut learner, mut random, eta) = (hedge(5, 0.7), Random::seeded(4), 0.7);
    let mut totals = [0.0; 5];
    for _ in 0..300 {
        let losses: Vec<f64> = totals.iter().map(|_| random.uniform()).collect();
        totals.iter_mut().zip(&losses).for_each(|(total, loss)| *total += loss);
        trial(&mut learner, &losses[..], &mut random).unwrap();
        let normaliser = crate::num::log_sum_exp(totals.iter().map(|total| -eta * total));
        for (weight, total) in learner.weights().iter().zip(&totals) {
            assert!((weight - (-eta * total - normaliser)).abs() < 1e-11);
        }
    }
}

#[test]
fn mixing_rate_zero_equals_no_mixing_bit_for_bit() {
    let plain = capped(6, 2, 0.9, Mixing::None);
    for mixing in [Mixing::FixedShare { alpha: 0.0 }, Mixing::PastAverage { alpha: 0.0 }] {
        let (mut a, mut b) = (plain.clone(), capped(6, 2, 0.9, mixing));
        let mut random = Random::seeded(3);
        for _ in 0..100 {
            let losses: Vec<f64> = (0..6).map(|_| random.uniform()).collect();
            a.update(&losses);
            b.update(&losses);
            assert_eq!(a.weights(), b.weights());
        }
    }
}

#[test]
fn totals_hold_after_a_hundred_thousand_trials() {
    for mixing in [Mixing::None, Mixing::FixedShare { alpha: 1e-3 }, Mixing::PastAverage { alpha: 1e-3 }] {
        let mut learner = capped(7, 3, 0.5, mixing);
        let mut random = Random::seeded(6);
        for _ in 0..100_000 {
            let losses: [f64; 7] = std::array::from_fn(|place| random.uniform() * place as f64 / 6.0);
            learner.update(&losses);
        }
        let kept: f64 = learner.weights().iter().map(|&weight| crate::num::kept(weight)).sum();
        assert!((kept - 3.0).abs() < 1e-12, "{kept}");
        assert!(learner.weights().iter().all(|weight| *weight <= 0.0 && weight.is_finite()));
    }
}

#[test]
fn broken_parameters_are_refused() {
    let refused = |kind, experts, kept, eta| Experts::new(ExpertSpec::new(kind, experts, kept, eta)).unwrap_err();
    assert_eq!(refused(ExpertKind::CappedHedge, 4, 4, 1.0), Error::Kept { kept: 4, dimension: 4 });
    for (kind, (experts, kept)) in ExpertKind::ALL.into_iter().zip([(4, 0), (1, 0), (0, 0), (3, 3)]) {
        refused(kind, experts, kept, 1.0);
    }
    for eta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(ExpertKind::CappedHedge, 4, 2, eta);
        refused(ExpertKind::ProductSets, 4, 2, eta);
    }
    let mixing = Mixing::FixedShare { alpha: 1.0 };
    let spec = ExpertSpec::new(ExpertKind::CappedHedge, 4, 2, 1.0);
    assert!(Experts::new(ExpertSpec { mixing, ..spec }).is_err());
}

#[test]
fn leader_equals_capping_with_an_enormous_rate() {
    let (mut leader, mut random, eta) = (made(ExpertKind::Leader, 7, 3, 1.0), Random::seeded(8), 1e6);
    for round in 0..200 {
        let weights: Vec<f64> = leader.weights().iter().map(|total| -eta * total).collect();
        let capped = cap_by_sorting(&weights, &[1; 7], 3).unwrap();
        // Losses are multiples of 1/4, so that totals are exact and ties occur.
        let losses: Vec<f64> = (0..7).map(|_| random.below(5) as f64 / 4.0).collect();
        let expected: f64 = capped.log_dropped.iter().zip(&losses).map(|(weight, loss)| weight.exp() * loss).sum();
        let limit = trial(&mut leader, &losses[..], &mut random).unwrap().expected;
        assert!((limit - expected).abs() < 1e-12, "{round}: {limit} {expected}");
    }
}

#[test]
fn one_dropped_expert_has_the_distribution_of_hedge() {
    let (mut perturbed, mut exact) = (made(ExpertKind::PerturbedLeader, 4, 3, 0.8), hedge(4, 0.8));
    for losses in [[0.0, 0.5, 1.0, 0.2], [0.3, 0.1, 0.9, 1.0]] {
        perturbed.update(&losses);
        exact.update(&losses);
    }
    const DRAWS: usize = 40_000;
    let (mut counts, mut random) = ([0usize; 4], Random::seeded(9));
    for _ in 0..DRAWS {
        perturbed.choose(&mut random);
        counts[perturbed.dropped()[0]] += 1;
    }
    for (count, log_dropped) in counts.into_iter().zip(exact.weights()) {
        let (found, probability) = (count as f64 / DRAWS as f64, log_dropped.exp());
        let standard_error = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
        assert!((found - probability).abs() < 4.0 * standard_error, "{found} {probability}");
    }
}

#[test]
fn expected_loss_stays_within_the_bound_of_hedge_over_sets() {
    let (experts, kept, eta, mut random) = (6, 4, 0.3, Random::seeded(12));
    let (mut learner, mut totals, mut total) = (made(ExpertKind::ProductSets, experts, kept, eta), [0.0; 6], 0.0);
    for _ in 0..300 {
        let losses: Vec<f64> = (0..experts).map(|place| f64::from(random.uniform() * 7.0 < place as f64)).collect();
        total += trial(&mut learner, &losses[..], &mut random).unwrap().expected;
        totals.iter_mut().zip(&losses).for_each(|(sum, loss)| *sum += loss);
        let mut sorted = totals;
        sorted.sort_by(f64::total_cmp);
        let bound = 2.0 * (eta * (sorted[0] + sorted[1]) + 15f64.ln()) / -(-eta * 2.0).exp_m1();
        assert!(total <= bound, "{total} {bound}");
    }
}

#[test]
fn past_average_equals_the_mean_of_everything_played() {
    let alpha = 0.2;
    let mut played = vec![[0.5f64, 0.5]];
    let mut learner = capped(2, 1, 1.0, Mixing::PastAverage { alpha });
    for trial in 1..30 {
        let updated = [(trial as f64).sin().abs() * 0.9 + 0.05, 0.3];
        let mean = |place: usize| played.iter().map(|v| v[place]).sum::<f64>() / played.len() as f64;
        let expected = [0, 1].map(|place| (1.0 - alpha) * updated[place] + alpha * mean(place));
        learner.weights = updated.map(f64::ln).to_vec();
        learner.mix();
        for place in 0..2 {
            assert!((learner.weights[place].exp() - expected[place]).abs() < 1e-14);
        }
        played.push(expected);
    }
}
