//! Weighted rows, and several rows in one trial.
#![allow(clippy::unwrap_used)]

use crate::common::bounded_rows;
use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::dot;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::{Instance, Kind, Matrix, Missing, Mixing, Model, NormBound, Random, RunningCenter, Spec};
use eigenhedge::{Symmetric, checked_bytes, streams, trial};

fn run(spec: &Spec, length: usize) -> Model {
    Model::new(spec.clone(), length, 3).unwrap()
}

fn slices(rows: &[Vec<f64>]) -> Vec<&[f64]> {
    rows.iter().map(|row| &row[..]).collect()
}

#[test]
fn a_batch_is_the_matrix_that_is_the_sum_of_its_dyads() {
    let n = 5;
    let rows = streams::recurring(n, 2, &[1, 2, 1], 24, 4).rows;
    let mut random = Random::seeded(9);
    // Batches with more rows than columns are learned as a matrix.
    let kinds = [Kind::Tracking, Kind::Anchored, Kind::Leader, Kind::Additive];
    for (kind, size) in kinds.iter().flat_map(|kind| [(*kind, 3), (*kind, 8)]) {
        let spec = Spec::bare(kind, 2);
        let (mut batches, mut matrices) = (run(&spec, n), spec.plain(n).unwrap());
        let mut draws = Random::seeded(3);
        for batch in rows.chunks(size) {
            let weights: Vec<f64> = batch.iter().map(|_| random.uniform() + 0.1).collect();
            let mut sum = Matrix::zeros(n, n);
            for (row, weight) in batch.iter().zip(&weights) {
                for j in 0..n {
                    sum.column_mut(j).iter_mut().zip(row).for_each(|(s, x)| *s += weight * x * row[j]);
                }
            }
            let symmetric = Symmetric::new(&sum).unwrap();
            let dyads = symmetric.dyads();
            let dyads: Vec<(f64, &[f64])> = dyads.iter().map(|(w, z)| (*w, *z)).collect();
            let direct = trial(&mut matrices, &Instance::Dyads(&dyads), &mut draws).unwrap();
            let loss = batches.step_batch(&slices(batch), Some(&weights)).unwrap();
            assert!((loss.expected - direct.expected).abs() < 1e-9, "{kind:?} {size}: {loss:?} {direct:?}");
        }
        assert_eq!(batches.totals().rows, rows.len() as u64);
    }
}

#[test]
fn a_row_of_weight_two_teaches_as_much_as_the_row_twice() {
    let n = 5;
    let rows = streams::recurring(n, 2, &[1, 2, 1], 20, 4).rows;
    for center in [None, Some(RunningCenter::MEAN)] {
        let spec = Spec { center, ..Spec::bare(Kind::Leader, 2) };
        let (mut once, mut twice) = (run(&spec, n), run(&spec, n));
        for (t, row) in rows.iter().enumerate() {
            // The row that sets the center is weighted like any other.
            let times = 1 + t % 3;
            once.step_batch(&[row], Some(&[times as f64])).unwrap();
            (0..times).for_each(|_| _ = twice.step(row).unwrap());
        }
        let (once_map, twice_map) = (once.embedding(), twice.embedding());
        let (a, b) = (once_map.components().unwrap(), twice_map.components().unwrap());
        for j in 0..2 {
            let overlap = dot(a.column(j), b.column(j)).abs();
            assert!((overlap - 1.0).abs() < 1e-9, "{center:?}: {overlap}");
        }
        let (a, b) = (once_map.center().unwrap(), twice_map.center().unwrap());
        let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(distance < 1e-20, "{center:?}: {distance}");
        // The comparator of the weighted rows equals that of the repeated ones, except for the copies of the first row.
        if center.is_none() {
            let best = |run: &Model| run.summary().best_loss.unwrap().exact().unwrap();
            assert!((best(&once) - best(&twice)).abs() < 1e-9);
        }
    }
}

#[test]
fn weights_of_one_and_batches_of_one_change_nothing() {
    let rows = streams::recurring(5, 2, &[1, 2], 20, 4).rows;
    for kind in [Kind::Auto, Kind::Gha] {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 2) };
        let (mut alone, mut batches) = (run(&spec, 5), run(&spec, 5));
        for row in &rows {
            let loss = alone.step(row).unwrap();
            assert_eq!(batches.step_batch(&[row], Some(&[1.0])).unwrap(), loss);
            assert_eq!(batches.step_batch(&[row], Some(&[0.0])).unwrap().expected, 0.0);
        }
        assert_eq!(batches, alone, "{kind:?}");
    }
}

#[test]
fn batches_keep_the_promise_with_the_largest_eigenvalue_for_the_norm() {
    let n = 6;
    for seed in 0..6u64 {
        let (kept, eta) = ([1, 2][seed as usize % 2], [0.3, 1.0, 4.0][seed as usize % 3]);
        for (name, rows) in bounded_rows(n, seed) {
            for count in [2usize, 10, 40] {
                let bound = (count as f64).sqrt();
                let base = |kind| Spec { eta, norm_bound: NormBound::Given(bound), ..Spec::bare(kind, kept) };
                let variants = [
                    base(Kind::Tracking),
                    Spec { mixing: Mixing::FixedShare { alpha: 0.01 }, ..base(Kind::Tracking) },
                    base(Kind::Additive),
                    Spec { norm_bound: NormBound::Running, ..base(Kind::Anchored) },
                    Spec { norm_bound: NormBound::Running, self_confident: true, ..base(Kind::Anchored) },
                    Spec { norm_bound: NormBound::Running, ..base(Kind::Auto) },
                ];
                for spec in variants {
                    let mut run = Model::with_comparators(spec.clone(), n, 1, BestMethod::Auto, 2).unwrap();
                    for batch in rows.chunks(count) {
                        run.step_batch(&slices(batch), None).unwrap();
                    }
                    let summary = run.summary();
                    assert_eq!(summary.bound_holds, Some(true), "{name}, {count} rows at once, {spec:?}");
                    assert!(summary.shifting_bound.is_none_or(|shifting| shifting.holds), "{name} {count} {spec:?}");
                    let energy: f64 = rows.iter().map(|row| dot(row, row)).sum();
                    assert!((summary.kept_energy + summary.loss - energy).abs() < 1e-9 * energy, "{name}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_learned_at_once_is_refused_and_changes_nothing() {
    let rows: [&[f64]; 2] = [&[1.0, 0.0, 2.0], &[0.0, 1.0, 1.0]];
    let centered = |kind| Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 1) };
    let rbf = Some(VectorKernel::Rbf { gamma: 1.0 });
    let cases = [
        (Spec::bare(Kind::Gha, 1), None, "a Hebbian learner takes rows one by one"),
        (centered(Kind::Leader), Some(&[1.0, 2.0][..]), "without weights"),
        (
            Spec { clip: Some(4.0), ..centered(Kind::Leader) },
            None,
            "needs plain rows without weights, norm-bound, clip",
        ),
        (Spec { kernel: rbf, ..Spec::bare(Kind::Leader, 1) }, Some(&[1.0, 2.0][..]), "without a kernel"),
        (Spec::bare(Kind::Leader, 1), Some(&[1.0][..]), "must have 2 entries, got 1"),
        (Spec::bare(Kind::Leader, 1), Some(&[1.0, -1.0][..]), "must be finite and not negative, got -1"),
        (Spec { norm_bound: NormBound::Given(2.3), ..Spec::bare(Kind::Tracking, 1) }, None, "norm"),
    ];
    for (spec, weights, sentence) in cases {
        let mut run = run(&spec, 3);
        let before = run.clone();
        let error = run.step_batch(&rows, weights).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
        assert_eq!(run, before);
    }
}

#[test]
fn a_weight_whose_square_overflows_is_refused() {
    let rule = "divided by the sum of the weighted squared norms";
    let cases = [(1e200, 1.0, "must be at most 1e150"), (1e100, 1e75, rule), (1e150, 1e20, rule), (1e150, 1.0, "")];
    for kind in [Kind::Leader, Kind::Tracking, Kind::Auto] {
        for (weight, size, sentence) in cases {
            let mut model = run(&Spec::bare(kind, 1), 2);
            let (before, row) = (model.clone(), [size, 0.5 * size]);
            match model.step_batch(&[&row], Some(&[weight])) {
                Ok(_) => assert!(sentence.is_empty() && checked_bytes(&model).is_ok(), "{weight} {size}"),
                Err(error) => {
                    assert!(error.to_string().contains(sentence) && !sentence.is_empty(), "{error}");
                    assert_eq!(model, before);
                }
            }
        }
    }
}

#[test]
fn a_bad_row_of_the_first_batch_is_named_and_leaves_nothing_learned() {
    let far = [1e160, 0.0];
    for (learner, bad, name) in [
        (Kind::Tracking, &far, "point 4: the squared norm of the row must be finite"),
        (Kind::Tracking, &[f64::INFINITY, 0.0], "point 4: entry 0 of the row must be finite"),
        (Kind::Leader, &[f64::INFINITY, 0.0], "point 4: entry 0 of the row must be finite"),
    ] {
        let spec = Spec { center: Some(RunningCenter::MEAN), missing: Missing::Skip, ..Spec::bare(learner, 1) };
        let mut model = run(&spec, 2);
        let before = model.clone();
        let rows = [&[1.0, 2.0], &[f64::NAN, 0.0], &[2.0, 1.0], &[0.0, 3.0], bad];
        let error = model.step_batch(&rows.map(|row| &row[..]), None).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
        assert_eq!(model, before, "{learner:?}");
    }
}

/// With a center, a batch is charged with the subspace and the center before the batch.
#[test]
fn a_batch_around_a_center_is_charged_to_the_state_before_it() {
    let n = 6;
    let rows: Vec<Vec<f64>> =
        streams::signal_and_noise(n, 2, 0.3, 5).take(90).map(|row| row.iter().map(|x| x + 3.0).collect()).collect();
    let center = Some(RunningCenter::MEAN);
    let forgetting = Some(RunningCenter::forgetting(0.9));
    let specs = [
        Spec { center, ..Spec::bare(Kind::Leader, 2) },
        Spec { center, forget: 0.98, ..Spec::bare(Kind::ForgettingLeader, 2) },
        Spec { center: forgetting, forget: 0.98, max_rank: Some(3), ..Spec::bare(Kind::ForgettingLeader, 2) },
        Spec { center, ..Spec::bare(Kind::Tracking, 2) },
        Spec { center, ..Spec::bare(Kind::Auto, 2) },
    ];
    for spec in specs {
        let (mut batches, mut one_by_one) = (run(&spec, n), run(&spec, n));
        rows.iter().for_each(|row| _ = one_by_one.step(row).unwrap());
        for batch in rows.chunks(15) {
            let mut frozen = batches.clone();
            let loss = batches.step_batch(&slices(batch), None).unwrap();
            if spec.learner != Kind::Tracking && spec.learner != Kind::Auto && frozen.totals().rows >= 15 {
                // A leader keeps its directions with probability 1.
                let wanted: f64 = batch.iter().map(|row| frozen.transform(row, &mut Vec::new()).unwrap()).sum();
                assert!((loss.expected - wanted).abs() <= 1e-9 * wanted, "{spec:?}: {loss:?} against {wanted}");
            }
        }
        let center = |model: &mut Model| model.embedding().center().unwrap().to_vec();
        let (found, wanted) = (center(&mut batches), center(&mut one_by_one));
        if spec.learner != Kind::Auto {
            found.iter().zip(&wanted).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{spec:?}: {a} against {b}"));
        }
        assert_eq!(batches.totals().rows, 90);
        assert!(batches.summary().bound_holds.is_none(), "{spec:?}");
        let restored = Model::from_bytes(&batches.to_bytes().unwrap()).unwrap();
        assert_eq!(restored, batches);
    }
}

/// With a rank cap, a batch is learned from a few eigenpairs of one matrix. Rows of low rank lose nothing by the cap.
#[test]
fn a_batch_with_a_rank_cap_loses_what_it_loses_without_if_nothing_is_dropped() {
    let (n, rank, kept) = (60, 5, 3);
    let directions: Vec<Vec<f64>> = streams::signal_and_noise(n, 1, 1.0, 8).take(rank).collect();
    let factors = streams::signal_and_noise(rank, 2, 0.3, 5).take(480);
    let rows: Vec<Vec<f64>> = factors
        .map(|row| (0..n).map(|j| 7.0 + row.iter().zip(&directions).map(|(x, d)| x * d[j]).sum::<f64>()).collect())
        .collect();
    for center in [RunningCenter::MEAN, RunningCenter::forgetting(0.0), RunningCenter::forgetting(0.9)] {
        for (kind, forget) in [(Kind::Leader, 1.0), (Kind::ForgettingLeader, 0.99), (Kind::ForgettingLeader, 0.5)] {
            // Batches have more rows than columns, fewer, or so few that their Gram matrix is small.
            for count in [120, 56, 20] {
                let spec = Spec { center: Some(center), forget, ..Spec::bare(kind, kept) };
                let (mut all, mut capped) = (run(&spec, n), run(&Spec { max_rank: Some(rank), ..spec.clone() }, n));
                for (i, batch) in rows.chunks(count).enumerate() {
                    let [a, b] = [&mut all, &mut capped].map(|model| model.step_batch(&slices(batch), None).unwrap());
                    let energy: f64 = batch.iter().map(|row| dot(row, row)).sum();
                    let difference = (a.expected - b.expected).abs();
                    assert!(difference <= 1e-9 * energy, "{spec:?} {count} {i}: {a:?} against {b:?}");
                    // Before the first batch, the directions are not determined.
                    let is_certain = i == 0 || (b.expected - b.realised).abs() <= 1e-9 * energy;
                    assert!(is_certain, "{spec:?} {count} {i}: {b:?}");
                }
            }
        }
    }
}

/// Many outer products are learned by one decomposition, few by rank-one updates.
#[test]
fn a_batch_is_learned_like_its_dyads_one_by_one() {
    let n = 12;
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(n, 3, 0.3, 5).take(120).collect();
    let bare = |kind| Spec { norm_bound: NormBound::Given(50.0), ..Spec::bare(kind, 3) };
    for spec in [bare(Kind::Anchored), bare(Kind::Leader), Spec { max_rank: Some(n), ..bare(Kind::Leader) }] {
        let (mut batches, mut one_by_one) = (run(&spec, n), run(&spec, n));
        for batch in rows.chunks(30) {
            batches.step_batch(&slices(batch), None).unwrap();
            batch.iter().for_each(|row| _ = one_by_one.step(row).unwrap());
        }
        for row in &rows[..10] {
            let [a, b] = [&mut batches, &mut one_by_one].map(|model| model.clone().step(row).unwrap().expected);
            assert!((a - b).abs() <= 1e-9 * dot(row, row), "{spec:?}: {a} against {b}");
        }
    }
}
