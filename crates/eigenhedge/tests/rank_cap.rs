//! The rank cap: fewer directions, a bound that still holds, and losses that stay true.
#![allow(clippy::unwrap_used)]

use eigenhedge::num::dot;
use eigenhedge::regret::{BestSubspace, Setting, uncentered};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::subspace::Rule;
use eigenhedge::{Instance, Kind, Mixing, NormBound, PlainLearner, Random, Spec, streams, trial};

/// Streams of unit rows of many kinds, one for each seed.
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

/// The expected loss of a row, dense, from the directions and probabilities that the learner is committed to.
fn recomputed(learner: &mut PlainLearner, row: &[f64], n: usize) -> f64 {
    let (directions, probabilities) = learner.directions();
    let vectors = learner.span().vectors().view() * directions.view();
    let common = -learner.rule().complement().log_weight.exp_m1();
    let mut kept = common * dot(row, row);
    for (j, p) in probabilities.iter().enumerate() {
        let coordinate: f64 = (0..n).map(|i| vectors[(i, j)] * row[i]).sum();
        kept += (p - common) * coordinate * coordinate;
    }
    dot(row, row) - kept
}

#[test]
fn regret_is_within_the_certified_bound_and_losses_are_true() {
    let mut priced = 0;
    for seed in 0..100 {
        let n = 6 + (seed % 7) as usize;
        let kept = 1 + (seed % 3) as usize;
        let eta = [0.2, 1.0, 5.0][(seed / 5 % 3) as usize];
        let rows = stream(n, seed);
        let max_rank = Some(2 * kept);
        let spec = Spec { eta, max_rank, norm_bound: NormBound::Given(1.0), ..Spec::new(Kind::Tracking, kept) };
        let mut learner = spec.plain(n).unwrap();
        let mut random = Random::seeded(seed);
        let mut best = BestSubspace::new(n, false).unwrap();
        let mut total = 0.0;
        for row in &rows {
            let wanted = recomputed(&mut learner, row, n);
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
            assert!((loss - wanted).abs() <= 1e-10, "seed {seed}: {loss} against {wanted}");
            assert!(learner.rule().log_weights().len() <= 2 * kept, "seed {seed}");
            assert!((learner.trace() - kept as f64).abs() <= 1e-10, "seed {seed}: trace {}", learner.trace());
            total += loss;
            best.add(row);
        }
        let price = learner.rule().price();
        priced += u32::from(price > 0.0);
        let setting = Setting { price, ..Setting::new(eta, kept, Multiplicity::Finite(n as u64)) };
        let bound = uncentered(&setting, best.loss(kept)).unwrap();
        assert!(total <= bound, "seed {seed}: {total} > {bound}");
    }
    assert!(priced > 50, "the cap was felt on {priced} streams");
}

#[test]
fn a_cap_that_is_never_reached_changes_no_bit() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(9, 2, 0.3, 1).take(100).collect();
    let plain = Spec { eta: 2.0, ..Spec::new(Kind::Tracking, 2) };
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
    let spec = Spec { mixing, max_rank: Some(6), ..Spec::new(Kind::Tracking, 2) };
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
    let error = Spec { max_rank: Some(1), ..Spec::new(Kind::Tracking, 2) }.plain(5).unwrap_err();
    assert_eq!(error.to_string(), "max-rank must be at least k, got 1");
}
