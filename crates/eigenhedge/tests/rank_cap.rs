//! The rank cap: fewer directions, a bound that still holds, and exact losses.
#![allow(clippy::unwrap_used)]

use crate::common::product;
use eigenhedge::bounds::{Setting, uncentered};
use eigenhedge::comparators::BestSubspace;
use eigenhedge::internals::dot;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Instance, Kind, Mixing, NormBound, PlainLearner, Random, Spec, streams, trial};

/// Returns a stream of rows of norm at most one. The seed determines its kind.
fn stream(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let rows = 120;
    match seed % 5 {
        0 => (0..rows).map(|t| unit(t % n)).collect(),
        1 => (0..rows).map(|_| unit(random.below(n))).collect(),
        2 => streams::switching(n, 2, 3, rows / 3, seed),
        3 => (0..rows).map(|t| if t < 30 { unit(t % 2) } else { unit(2 + (t / 20) % (n - 2)) }).collect(),
        _ => {
            let mut row = || -> Vec<f64> { (0..n).map(|_| random.normal()).collect() };
            let normed = |row: Vec<f64>| {
                let norm = dot(&row, &row).sqrt();
                row.iter().map(|x| x / norm).collect()
            };
            (0..rows).map(|_| normed(row())).collect()
        }
    }
}

/// Computes the expected loss of a row from the learner's directions and probabilities.
fn recomputed(learner: &mut PlainLearner, row: &[f64], n: usize) -> f64 {
    let (directions, probabilities) = learner.directions();
    let vectors = product(&learner.span().vectors(), &directions);
    let common = -learner.rule().complement().log_weight.exp_m1();
    let mut kept = common * dot(row, row);
    for (j, p) in probabilities.iter().enumerate() {
        let coordinate: f64 = (0..n).map(|i| vectors.column(j)[i] * row[i]).sum();
        kept += (p - common) * coordinate * coordinate;
    }
    dot(row, row) - kept
}

#[test]
fn regret_is_within_the_certified_bound_and_losses_are_true() {
    for kind in [Kind::Tracking, Kind::Anchored] {
        let capped = |seed: u64| {
            let kept = 1 + (seed % 3) as usize;
            let spec = Spec { max_rank: Some(2 * kept), ..Spec::bare(kind, kept) };
            price_of_a_certified_run(&spec, 6 + (seed % 7) as usize, 2 * kept, seed)
        };
        let priced = (0..100).filter(|seed| capped(*seed) > 0.0).count();
        assert!(priced > 50, "{kind:?}: the cap was felt on {priced} streams");
    }
}

#[test]
fn regret_with_merging_is_within_the_certified_bound_and_losses_are_true() {
    for (seed, share) in (0..40).zip([0.1, 1.0, 10.0].into_iter().cycle()) {
        let mixing = Mixing::FixedShare { alpha: 0.01 };
        let spec = Spec { mixing, merge: share, ..Spec::bare(Kind::Tracking, 1 + (seed % 3) as usize) };
        assert!(price_of_a_certified_run(&spec, 24, 24, seed) > 0.0);
    }
}

/// Asserts exact losses and the bound for a run at some rate. Returns the price.
fn price_of_a_certified_run(spec: &Spec, n: usize, most: usize, seed: u64) -> f64 {
    let (kind, kept, eta) = (spec.learner, spec.kept, [0.2, 1.0, 5.0][(seed / 5 % 3) as usize]);
    let rows = stream(n, seed);
    let spec = Spec { eta, norm_bound: NormBound::Given(1.0), ..spec.clone() };
    let mut learner = spec.plain(n).unwrap();
    let mut random = Random::seeded(seed);
    let mut best = BestSubspace::new(n, false).unwrap();
    let mut total = 0.0;
    for row in &rows {
        let wanted = recomputed(&mut learner, row, n);
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        assert!((loss - wanted).abs() <= 1e-10, "seed {seed}: {loss} against {wanted}");
        assert!(learner.rule().log_weights().len() <= most, "seed {seed}");
        assert!((learner.trace() - kept as f64).abs() <= 1e-10, "seed {seed}: trace {}", learner.trace());
        total += loss;
        best.add(row);
    }
    let price = learner.rule().price();
    let setting = Setting { price, ..Setting::new(eta, kept, Multiplicity::Finite(n as u64)) };
    let bound = uncentered(&setting, best.loss(kept)).unwrap();
    assert!(total <= bound, "{kind:?}, seed {seed}: {total} > {bound}");
    price
}

#[test]
fn a_cap_that_is_never_reached_changes_no_bit() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(9, 2, 0.3, 1).take(100).collect();
    let plain = Spec { eta: 2.0, ..Spec::bare(Kind::Tracking, 2) };
    let capped = Spec { max_rank: Some(9), ..plain.clone() };
    let (mut a, mut b) = (plain.plain(9).unwrap(), capped.plain(9).unwrap());
    let (mut random, mut other) = (Random::seeded(1), Random::seeded(1));
    for row in &rows {
        let instance = Instance::from(&row[..]);
        assert_eq!(trial(&mut a, &instance, &mut random).unwrap(), trial(&mut b, &instance, &mut other).unwrap());
    }
    assert_eq!(b.rule().price(), 0.0);
}

#[test]
fn the_past_average_obeys_the_cap_too() {
    let mixing = Mixing::PastAverage { alpha: 0.01 };
    let spec = Spec { mixing, max_rank: Some(6), ..Spec::bare(Kind::Tracking, 2) };
    let mut learner = spec.plain(40).unwrap();
    let mut random = Random::seeded(3);
    for row in streams::signal_and_noise(40, 2, 0.3, 2).take(200) {
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
        assert!(loss.expected.is_finite() && loss.expected >= 0.0);
        assert!(learner.rule().log_weights().len() <= 6);
        assert!(learner.span().vectors().columns() <= 16, "{} columns", learner.span().vectors().columns());
        assert!((learner.trace() - 2.0).abs() <= 1e-9, "trace {}", learner.trace());
    }
}

#[test]
fn a_cap_below_k_is_refused() {
    let error = Spec { max_rank: Some(1), ..Spec::bare(Kind::Tracking, 2) }.plain(5).unwrap_err();
    assert_eq!(error.to_string(), "max-rank must be at least k, got 1");
}

fn of_rank(rank: usize, n: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let directions: Vec<Vec<f64>> = (0..rank).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let mut row = || {
        let mut row = vec![0.0; n];
        for direction in &directions {
            let amount = random.normal();
            row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
        }
        let norm = dot(&row, &row).sqrt();
        row.iter().map(|x| x / norm).collect()
    };
    (0..rows).map(|_| row()).collect()
}

const SCATTER_KINDS: [Kind; 3] = [Kind::Anchored, Kind::Leader, Kind::ForgettingLeader];

#[test]
fn a_cap_at_the_rank_of_the_rows_changes_no_loss_of_a_scatter_learner() {
    let rows = of_rank(7, 30, 400, 1);
    for kind in SCATTER_KINDS {
        let spec = Spec { eta: 2.0, forget: 0.98, norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, 3) };
        let (mut full, mut capped) =
            (spec.plain(30).unwrap(), Spec { max_rank: Some(7), ..spec.clone() }.plain(30).unwrap());
        let (mut random, mut other) = (Random::seeded(1), Random::seeded(1));
        for (t, row) in rows.iter().enumerate() {
            let instance = Instance::from(&row[..]);
            let wanted = trial(&mut full, &instance, &mut random).unwrap().expected;
            let found = trial(&mut capped, &instance, &mut other).unwrap().expected;
            assert!((wanted - found).abs() <= 1e-9, "{kind:?}, row {t}: {found} against {wanted}");
            assert!(capped.span().vectors().columns() <= 7 + 9 + 1);
        }
        assert!(capped.rule().price() <= 1e-9, "{kind:?}: {}", capped.rule().price());
    }
}

#[test]
fn a_cap_at_the_rank_of_the_features_changes_no_loss_of_a_kernel_learner() {
    // Rows of three numbers have ten monomials of degree at most two.
    let rows = of_rank(3, 3, 300, 2);
    for kind in SCATTER_KINDS {
        let spec = Spec { eta: 2.0, forget: 0.98, ..Spec::bare(kind, 2) };
        let kernel = || VectorKernel::Polynomial { gamma: 1.0, coef0: 1.0, degree: 2 };
        let mut full = spec.kernel(kernel(), 3).unwrap();
        let mut capped = Spec { max_rank: Some(10), ..spec.clone() }.kernel(kernel(), 3).unwrap();
        let (mut random, mut other) = (Random::seeded(1), Random::seeded(1));
        for (t, row) in rows.iter().enumerate() {
            let instance = Instance::from(&row[..]);
            let wanted = trial(&mut full, &instance, &mut random).unwrap().expected;
            let found = trial(&mut capped, &instance, &mut other).unwrap().expected;
            assert!((wanted - found).abs() <= 1e-9, "{kind:?}, row {t}: {found} against {wanted}");
        }
    }
}

#[test]
fn a_capped_kernel_learner_with_a_budget_keeps_its_trace_and_its_cap() {
    for kind in SCATTER_KINDS {
        let spec = Spec { max_rank: Some(6), budget: Some(12), ..Spec::bare(kind, 2) };
        let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 0.5 }, 4).unwrap();
        let mut random = Random::seeded(3);
        for row in of_rank(4, 4, 300, 4) {
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
            assert!(loss.expected >= 0.0 && loss.expected <= 1.0 + 1e-12, "{kind:?}: {}", loss.expected);
            assert!(learner.rule().log_weights().len() <= 6, "{kind:?}");
            // The trace does not include the probability that infinitely many directions share.
            assert!(learner.trace() <= 2.0 + 1e-9, "{kind:?}: trace {}", learner.trace());
        }
        assert!(learner.trace() > 1.0, "{kind:?}: trace {}", learner.trace());
    }
}

#[test]
fn what_is_forgotten_is_dropped_before_it_is_denormal() {
    // Twenty directions are seen once each, then one repeatedly. The others decay by 20 % per row.
    let unit = |i: usize| (0..24).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let spec = Spec { forget: 0.8, max_rank: Some(20), ..Spec::bare(Kind::ForgettingLeader, 1) };
    let mut learner = spec.plain(24).unwrap();
    let mut random = Random::seeded(5);
    for t in 0..400 {
        trial(&mut learner, &Instance::from(&unit(t.min(20))[..]), &mut random).unwrap();
    }
    assert_eq!(learner.rule().log_weights().len(), 1);
    assert_eq!(learner.rank(), 1);
}

#[test]
fn scatter_learners_that_count_all_directions_refuse_the_cap() {
    let error = Spec { max_rank: Some(5), ..Spec::bare(Kind::ProductSets, 2) }.plain(9).unwrap_err();
    assert!(error.to_string().contains("product-sets"), "{error}");
    let error = Spec { max_rank: Some(5), as_printed: true, ..Spec::bare(Kind::Anchored, 2) }.plain(9).unwrap_err();
    assert!(error.to_string().contains("as-printed"), "{error}");
    let error = Spec { max_rank: Some(1), ..Spec::bare(Kind::Leader, 2) }.plain(5).unwrap_err();
    assert_eq!(error.to_string(), "max-rank must be at least k, got 1");
}

fn signal_and_noise(n: usize, kept: usize, count: usize) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(8);
    (0..count).map(|_| (0..n).map(|i| random.normal() * if i < kept { 1.0 } else { 0.005 }).collect()).collect()
}

/// Returns the total loss and the price of a run, and its maximum number of directions from row 200 on.
fn merged(spec: &Spec, rows: &[Vec<f64>]) -> (f64, f64, usize) {
    let mut learner = spec.plain(rows[0].len()).unwrap();
    let mut random = Random::seeded(1);
    let (mut total, mut rank) = (0.0, 0);
    for (t, row) in rows.iter().enumerate() {
        total += trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        rank = if t < 200 { 0 } else { rank.max(learner.rank()) };
        assert!((learner.trace() - spec.kept as f64).abs() <= 1e-9, "row {t}: trace {}", learner.trace());
    }
    (total, learner.rule().price(), rank)
}

#[test]
fn merging_keeps_few_directions_for_its_share_of_the_price_of_mixing() {
    let rows = signal_and_noise(48, 4, 1500);
    let exact = Spec { eta: 4.0, mixing: Mixing::FixedShare { alpha: 1e-3 }, ..Spec::bare(Kind::Tracking, 4) };
    let (loss, price, rank) = merged(&exact, &rows);
    assert_eq!(rank, 48, "noise touches every direction");
    for share in [0.1, 0.3] {
        let (merged_loss, merged_price, merged_rank) = merged(&Spec { merge: share, ..exact.clone() }, &rows);
        assert!(merged_price > price && merged_price <= (1.01 + share) * price, "{merged_price} against {price}");
        assert!((merged_loss - loss).abs() <= 0.01 * loss, "{merged_loss} against {loss}");
        assert!(merged_rank <= 24, "{merged_rank} directions with a share of {share}");
    }
}

#[test]
fn few_directions_are_not_merged() {
    let rows = signal_and_noise(15, 2, 300);
    let exact = Spec { eta: 4.0, mixing: Mixing::FixedShare { alpha: 1e-3 }, ..Spec::bare(Kind::Tracking, 2) };
    assert_eq!(merged(&exact, &rows), merged(&Spec { merge: 0.1, ..exact.clone() }, &rows));
    assert!(Spec { merge: f64::NAN, ..exact }.plain(15).is_err());
}
