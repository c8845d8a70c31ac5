//! Bounds in infinite dimension, against changing comparators, and for gradient descent.
#![allow(clippy::unwrap_used)]

use crate::common::bounded_rows;
use eigenhedge::comparators::{Best, BestMethod, Partitions};
use eigenhedge::internals::{Reason, dot};
use eigenhedge::kernel::VectorKernel;
use eigenhedge::options::AUTO_SEGMENTS;
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{Instance, Kind, Mixing, Model, NormBound, Random, RunningCenter, Spec, Summary};
use eigenhedge::{streams, trial};

const SHARE: Mixing = Mixing::FixedShare { alpha: 0.01 };

fn given(learner: Kind, kept: usize, eta: f64) -> Spec {
    Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(learner, kept) }
}

fn run(spec: &Spec, rows: &[Vec<f64>], segments: usize) -> Summary {
    let mut run = Model::with_comparators(spec.clone(), rows[0].len(), 7, BestMethod::Auto, segments).unwrap();
    rows.iter().for_each(|row| _ = run.step(row).unwrap());
    run.summary()
}

/// Computes the bound of JMLR Theorem 6 with `constant` in place of the divergence.
fn theorem_6(eta: f64, best: f64, constant: f64) -> f64 {
    (eta * best + constant) / (1.0 - (-eta).exp())
}

#[test]
fn features_of_infinite_dimension_stay_within_the_theorem_with_k_for_the_divergence() {
    let (kept, eta) = (2, 1.5);
    let kernels = [
        VectorKernel::Rbf { gamma: 1.0 },
        VectorKernel::Laplacian { gamma: 0.7 },
        VectorKernel::Matern32 { length_scale: 1.0 },
    ];
    for seed in 0..3 {
        for (name, rows) in bounded_rows(5, seed) {
            for kernel in &kernels {
                let spec = |learner| Spec { kernel: Some(kernel.clone()), ..given(learner, kept, eta) };
                for spec in [spec(Kind::Tracking), spec(Kind::Anchored)] {
                    let summary = run(&spec, &rows, 0);
                    let best = summary.best_loss.unwrap().exact().unwrap();
                    let bound = summary.bound.unwrap();
                    assert!((bound - theorem_6(eta, best, kept as f64)).abs() < 1e-9 * bound, "{name}: {bound}");
                    assert_eq!(summary.bound_holds, Some(true), "{name} {kernel:?}");
                }
                let center = Some(RunningCenter::MEAN);
                let others = [
                    Spec { mixing: SHARE, ..spec(Kind::Tracking) },
                    Spec { mixing: SHARE, max_rank: Some(4), ..spec(Kind::Tracking) },
                    spec(Kind::Additive),
                    spec(Kind::Auto),
                    Spec { center, norm_bound: NormBound::Running, ..spec(Kind::Anchored) },
                    Spec { center, norm_bound: NormBound::Running, self_confident: true, ..spec(Kind::Anchored) },
                    Spec { center, norm_bound: NormBound::Running, ..spec(Kind::Auto) },
                ];
                for spec in others {
                    let Summary { bound_holds, expected_loss, bound, .. } = run(&spec, &rows, 0);
                    assert_eq!(bound_holds, Some(true), "{name} {spec:?}: {expected_loss} {bound:?}");
                }
            }
        }
    }
}

#[test]
fn losses_and_prices_of_large_spaces_tend_to_those_of_infinite_dimension() {
    let rows = &bounded_rows(6, 1)[4].1;
    let variants = [
        given(Kind::Tracking, 2, 2.0),
        Spec { mixing: SHARE, ..given(Kind::Tracking, 2, 2.0) },
        Spec { mixing: SHARE, max_rank: Some(3), ..given(Kind::Tracking, 2, 2.0) },
        given(Kind::Anchored, 2, 2.0),
        given(Kind::Additive, 2, 0.3),
    ];
    for spec in variants {
        let account = |dimension| {
            let summary = run(&Spec { dimension: Some(dimension), ..spec.clone() }, rows, 0);
            assert_eq!(summary.bound_holds, Some(true), "{dimension:?} {spec:?}");
            [summary.expected_loss, summary.bound.unwrap(), summary.certificate.price.unwrap()]
        };
        let limit = account(Multiplicity::Infinite);
        for (power, tolerance) in [(4, 1e-2), (7, 1e-4), (10, 1e-5)] {
            let finite = account(Multiplicity::Finite(10u64.pow(power)));
            for (finite, limit) in finite.iter().zip(limit) {
                assert!((finite - limit).abs() <= tolerance * limit, "{spec:?}, N = 10^{power}: {finite} {limit}");
            }
        }
    }
}

#[test]
fn fixed_share_costs_alpha_of_the_explicit_probability_in_infinite_dimension() {
    let (alpha, rows) = (0.02, &bounded_rows(6, 2)[0].1);
    let spec = Spec {
        mixing: Mixing::FixedShare { alpha },
        dimension: Some(Multiplicity::Infinite),
        ..given(Kind::Tracking, 2, 2.0)
    };
    let mut learner = spec.plain(6).unwrap();
    let (mut random, mut price) = (Random::seeded(1), 0.0);
    for row in rows {
        trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
        // Mixing multiplies the previous weights by 1 - α.
        price += alpha * learner.directions().1.iter().sum::<f64>() / (1.0 - alpha);
    }
    let told = learner.rule().price();
    assert!((told - price).abs() < 1e-9 * price, "{told} against {price}");
}

fn partition_loss(rows: &[Vec<f64>], kept: usize, segments: usize) -> f64 {
    let mut partitions = Partitions::new(rows[0].len(), false);
    rows.iter().for_each(|row| partitions.add(row));
    partitions.best(kept, segments)[segments - 1].loss
}

#[test]
fn tracking_with_fixed_share_keeps_its_promise_about_drift() {
    let (n, alpha) = (7, 0.01);
    for seed in 0..4u64 {
        let (kept, eta) = ([1, 2][seed as usize % 2], [0.5, 2.0, 6.0][seed as usize % 3]);
        for (name, rows) in bounded_rows(n, seed) {
            for (max_rank, merge) in [(None, 0.0), (Some(4), 0.25)] {
                let spec = Spec { mixing: SHARE, max_rank, merge, ..given(Kind::Tracking, kept, eta) };
                let summary = run(&spec, &rows, 4);
                let (found, price) = (summary.shifting_bound.unwrap(), summary.certificate.price.unwrap());
                let dropped = (n - kept) as f64;
                let constant = dropped * (n as f64 / dropped).ln() + price;
                let change = kept as f64 * (n as f64 / (alpha * dropped)).ln();
                let bounds = summary
                    .partitions
                    .iter()
                    .map(|partition| theorem_6(eta, partition.loss, constant + change * partition.cuts.len() as f64));
                let least = bounds.fold(f64::INFINITY, f64::min);
                assert!((found.bound - least).abs() < 1e-9 * least, "{name}: {} {least}", found.bound);
                assert!(found.holds && summary.expected_loss <= least, "{name} {seed} {spec:?}");
                let direct = partition_loss(&rows, kept, found.segments);
                assert!((found.best_loss - direct).abs() <= 1e-9 * direct.max(1e-9), "{name}");
            }
        }
    }
}

#[test]
fn gradient_descent_stays_within_its_bound_beside_every_partition() {
    let n = 7;
    for seed in 0..8u64 {
        let (kept, eta) = ([1, 2, 5][seed as usize % 3], [0.05, 0.3, 2.0][seed as usize % 3]);
        for (name, rows) in bounded_rows(n, seed) {
            let summary = run(&given(Kind::Additive, kept, eta), &rows, 3);
            let fourth: f64 = rows.iter().map(|row| dot(row, row).powi(2)).sum();
            let start = (kept * (n - kept)) as f64 / n as f64;
            let best = summary.best_loss.unwrap().exact().unwrap();
            let bound = best + start / (2.0 * eta) + eta / 2.0 * fourth;
            assert!((summary.bound.unwrap() - bound).abs() < 1e-9 * bound, "{name}");
            assert_eq!(summary.bound_holds, Some(true), "{name} {seed}");
            let shifting = summary.shifting_bound.unwrap();
            for partition in &summary.partitions {
                let path = start + 2.0 * (partition.cuts.len() * kept.min(n - kept)) as f64;
                let bound = partition.loss + path / (2.0 * eta) + eta / 2.0 * fourth;
                assert!(summary.expected_loss <= bound, "{name} {seed} {partition:?}");
                assert!(shifting.bound <= bound * (1.0 + 1e-9), "{name} {seed} {partition:?}");
            }
        }
    }
}

#[test]
fn gradient_descent_tuned_to_the_number_of_rows_has_a_regret_of_its_root() {
    use eigenhedge::options::Options;
    let (n, kept) = (7, 2);
    for (name, rows) in bounded_rows(n, 5) {
        let count = rows.len();
        let options = Options::new(Kind::Additive, kept).with("center", "none").with("norm-bound", 1.0);
        let setup = options.with("horizon", count).resolve(|name| name.into()).unwrap();
        let mut run = Model::of(&setup, n).unwrap();
        rows.iter().for_each(|row| _ = run.step(row).unwrap());
        let summary = run.summary();
        let regret = summary.expected_loss - summary.best_loss.unwrap().high();
        let promised = ((kept * (n - kept) * count) as f64 / n as f64).sqrt();
        assert!(regret <= promised, "{name}: {regret} {promised}");
        assert!(summary.bound.unwrap() <= summary.best_loss.unwrap().high() + promised * (1.0 + 1e-12), "{name}");
    }
}

#[test]
fn three_subspaces_have_a_shifting_bound_below_the_best_fixed_subspace() {
    let rows = streams::three_subspaces(1);
    let tracking = Spec { mixing: Mixing::FixedShare { alpha: 1e-3 }, ..given(Kind::Tracking, 2, 4.0) };
    for spec in [tracking, given(Kind::Auto, 2, 1.0)] {
        let summary = run(&spec, &rows, AUTO_SEGMENTS);
        let shifting = summary.shifting_bound.unwrap();
        assert_eq!((shifting.segments, summary.partitions.len()), (3, 3), "{spec:?}");
        assert_eq!(summary.partitions[2].cuts, [500, 1000]);
        let best = summary.best_loss.unwrap().low();
        assert!(shifting.holds && shifting.bound < 0.5 * best, "{} against {best}", shifting.bound);
    }
}

#[test]
fn segments_are_chosen_without_a_theorem_too() {
    for (name, rows, segments) in
        [("three subspaces", streams::three_subspaces(2), 3), ("iid", streams::iid(8, 2, 0.3, 600, 1).rows, 1)]
    {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) };
        let summary = run(&spec, &rows, AUTO_SEGMENTS);
        assert_eq!(summary.partitions.len(), segments, "{name}");
        assert_eq!(summary.shifting_bound, None, "{name}");
    }
}

#[test]
fn partitions_of_features_and_of_long_rows_are_compared_with() {
    let rows = streams::switching(8, 2, 2, 100, 3);
    let rbf = Spec { kernel: Some(VectorKernel::Rbf { gamma: 0.3 }), mixing: SHARE, ..given(Kind::Tracking, 2, 2.0) };
    let long: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().copied().chain([0.0; 300]).collect()).collect();
    let plain = Spec { mixing: SHARE, ..given(Kind::Tracking, 2, 2.0) };
    for (spec, rows) in [(rbf, &rows), (plain, &long)] {
        let summary = run(&spec, rows, 2);
        let shifting = summary.shifting_bound.unwrap();
        assert!(shifting.holds && shifting.segments == 2, "{shifting:?}");
        assert!(summary.partitions[1].cuts[0].abs_diff(100) <= 3, "{:?}", summary.partitions);
    }
}

#[test]
fn choices_that_are_not_drawn_have_no_verdict() {
    // Each row is the coordinate axis with the largest realized loss.
    let (n, kept, count) = (4, 2, 300);
    let spec = Spec { select: Select::Top, ..given(Kind::Tracking, kept, 0.1) };
    let mut run = Model::new(spec, n, 1).unwrap();
    for _ in 0..count {
        let worst = (0..n).map(|i| {
            let mut row = vec![0.0; n];
            row[i] = 1.0;
            (run.clone().step(&row).unwrap().realised, row)
        });
        let (_, row) = worst.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        run.step(&row).unwrap();
    }
    let summary = run.summary();
    let best = summary.best_loss.map(Best::high).unwrap();
    let promised = theorem_6(0.1, best, 2.0 * 2f64.ln());
    assert!(summary.loss > promised, "{} within {promised}: the adversary is too kind", summary.loss);
    assert_eq!((summary.bound, summary.bound_holds), (None, None));
    assert_eq!(summary.bound_reason, Reason::NotDrawn.to_string());
}

#[test]
fn the_price_of_a_portfolio_is_that_of_the_member_whose_bound_is_given() {
    let rows = &bounded_rows(9, 3)[0].1;
    let summary = run(&given(Kind::Auto, 2, 1.0), rows, 0);
    let price = summary.certificate.price.unwrap();
    let alone = |spec: Spec| run(&Spec { max_rank: Some(5), ..spec }, rows, 0);
    let anchored = alone(Spec { self_confident: true, ..given(Kind::Anchored, 2, 1.0) });
    let tracking =
        alone(Spec { mixing: Mixing::FixedShare { alpha: 1e-3 }, merge: 0.25, ..given(Kind::Tracking, 2, 1.0) });
    let least = if anchored.bound < tracking.bound { anchored } else { tracking };
    assert_eq!(Some(price), least.certificate.price);
    let bound = least.bound.unwrap() + summary.certificate.hedge_term;
    assert!((summary.bound.unwrap() - bound).abs() < 1e-12 * bound);
}
