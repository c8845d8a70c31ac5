//! Laws of every learner of the registry in a run, without and with a kernel.
#![allow(clippy::unwrap_used)]

use crate::common::{bounded_rows, subspace_learners};
use eigenhedge::comparators::{BestMethod, BestSubspace};
use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::internals::{Reason, dot};
use eigenhedge::kernel::VectorKernel;
use eigenhedge::registry::{Family, REGISTRY};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Kind, Matrix, Mixing, Model, NormBound, RunningCenter, Spec, Summary, streams};

fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in REGISTRY {
        let kept = if entry.kind == Kind::Oja { 1 } else { 2 };
        let eta = if entry.family == Family::Hebbian { 0.1 } else { 2.0 };
        let rbf = VectorKernel::Rbf { gamma: 0.5 };
        let polynomial = VectorKernel::Polynomial { gamma: 0.5, degree: 2, coef0: 1.0 };
        for kernel in [None, Some(rbf), Some(polynomial)] {
            // Product sets would keep no direction in an infinite-dimensional space.
            let dimension = match (&kernel, entry.kind) {
                (Some(_), Kind::ProductSets) => Some(Multiplicity::Finite(60)),
                _ => None,
            };
            let spec = Spec { eta, kernel, dimension, ..Spec::bare(entry.kind, kept) };
            if entry.kind.reads("center") {
                specs.push(Spec { center: Some(RunningCenter::MEAN), ..spec.clone() });
            }
            specs.push(spec);
        }
    }
    specs
}

fn rows(count: usize) -> Vec<Vec<f64>> {
    streams::recurring(5, 2, &[1, 2, 1], count.div_ceil(3), 4).rows
}

fn run(spec: Spec, rows: &[Vec<f64>]) -> Model {
    let mut run = Model::new(spec, rows[0].len(), 7).unwrap();
    rows.iter().for_each(|row| _ = run.step(row).unwrap());
    run
}

#[test]
fn directions_beyond_the_length_of_rows_are_zero() {
    for kind in [Kind::Auto, Kind::Additive, Kind::Leader] {
        let spec = Spec { dimension: Some(Multiplicity::Finite(9)), ..Spec::bare(kind, 4) };
        let mut embedding = run(spec, &[vec![1.0, 2.0], vec![2.0, -1.0], vec![0.5, 0.5]]).embedding();
        let components = embedding.components().unwrap().clone();
        let squares: Vec<f64> = (0..4).map(|j| dot(components.column(j), components.column(j))).collect();
        assert!((squares[0] - 1.0).abs() < 1e-14 && (squares[1] - 1.0).abs() < 1e-14, "{kind:?}: {squares:?}");
        assert_eq!(squares[2..], [0.0, 0.0], "{kind:?}");
        let mut coordinates = Vec::new();
        let left = embedding.transform(&[3.0, 4.0], &mut coordinates).unwrap();
        assert!(left < 1e-25 && coordinates.len() == 4, "{kind:?}: {left}");
    }
}

#[test]
fn sizes_that_memory_cannot_hold_are_refused() {
    for entry in REGISTRY {
        for length in [1 << 48, usize::MAX] {
            let error = Model::new(Spec::bare(entry.kind, 1), length, 0).unwrap_err().to_string();
            assert!(error.ends_with("GB of memory, more than there is"), "{}: {error}", entry.name);
        }
        let error = Model::new(Spec::bare(entry.kind, usize::MAX), 8, 0).unwrap_err().to_string();
        assert!(error.starts_with("k must be at most 4294967296, got"), "{}: {error}", entry.name);
    }
    let error = Experts::new(ExpertSpec::new(ExpertKind::Leader, 1 << 60, 2, 0.5)).unwrap_err().to_string();
    assert!(error.starts_with("the weights of the experts would take"), "{error}");
}

#[test]
fn a_run_that_is_saved_and_restored_goes_on_bit_for_bit() {
    let rows = rows(90);
    for spec in specs() {
        let mut whole = run(spec.clone(), &rows[..45]);
        let bytes = postcard::to_stdvec(&whole).unwrap();
        let mut restored: Model = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(restored, whole, "{spec:?}");
        for row in &rows[45..] {
            let (a, b) = (whole.step(row).unwrap(), restored.step(row).unwrap());
            assert_eq!((a.expected.to_bits(), a.realised.to_bits()), (b.expected.to_bits(), b.realised.to_bits()));
            assert_eq!(whole.coordinates(), restored.coordinates(), "{spec:?}");
        }
        assert_eq!(whole.summary(), restored.summary());
    }
}

#[test]
fn rows_that_are_all_at_hand_are_learned_as_one_after_another() {
    let rows = rows(60);
    let long: Vec<Vec<f64>> = streams::signal_and_noise(600, 3, 0.3, 5).take(60).collect();
    let long_specs =
        [Kind::Auto, Kind::Tracking].map(|kind| Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 3) });
    for (spec, rows) in specs().into_iter().map(|spec| (spec, &rows)).chain(long_specs.map(|spec| (spec, &long))) {
        let alone = run(spec.clone(), rows);
        let mut together = Model::new(spec.clone(), rows[0].len(), 7).unwrap();
        let slices: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let mut total = 0.0;
        together
            .step_each(&slices, |run, loss| {
                total += if run.totals().charged() > 0 { loss.expected } else { 0.0 };
                assert_eq!(run.totals().expected_loss, total);
            })
            .unwrap();
        assert_eq!(together, alone, "{spec:?}");
        let bad = vec![f64::NAN; rows[0].len()];
        let refused = together.step_each(&[slices[0], slices[1], &bad, slices[2]], |_, _| ()).unwrap_err();
        assert_eq!((refused.0, together.totals().rows), (2, 62), "{spec:?}");
    }
}

#[test]
fn a_bad_row_leaves_a_run_as_it_was() {
    for spec in specs() {
        let mut run = run(spec.clone(), &rows(30));
        let before = run.clone();
        for bad in [&[1.0; 4][..], &[1.0, f64::NAN, 0.0, 0.0, 0.0], &[f64::INFINITY, 0.0, 0.0, 0.0, 0.0]] {
            assert!(run.step(bad).is_err(), "{spec:?}");
        }
        assert_eq!(run, before);
    }
}

#[test]
fn the_account_adds_up_and_no_promise_is_broken() {
    let rows = rows(90);
    let mut judged = 0;
    for spec in specs() {
        let mut run = Model::new(spec.clone(), 5, 7).unwrap();
        let (mut losses, mut energies) = (Vec::new(), Vec::new());
        for row in &rows {
            losses.push(run.step(row).unwrap());
            energies.push(run.learner().last_square());
        }
        let summary = run.summary();
        let charged = &losses[usize::from(summary.first_row_loss.is_some())..];
        assert_eq!(summary.expected_loss, charged.iter().map(|loss| loss.expected).sum::<f64>());
        assert_eq!(summary.loss, charged.iter().map(|loss| loss.realised).sum::<f64>());
        assert!(summary.best_loss.unwrap().low() >= 0.0);
        assert_ne!(summary.bound_holds, Some(false), "{spec:?}");
        judged += u32::from(summary.bound_holds == Some(true));
        assert_eq!(summary.bound.is_some(), summary.bound_holds == Some(true));
        let parts = summary.kept_energy + summary.loss;
        let whole: f64 = energies[rows.len() - charged.len()..].iter().sum();
        assert!((parts - whole).abs() < 1e-9 * whole, "{spec:?}: {parts} against {whole}");
        let best_member = summary.best_member().map(|member| member.expected_loss + summary.certificate.hedge_term);
        assert!(best_member.is_none_or(|most| summary.expected_loss <= most), "{spec:?}");
        assert_eq!(best_member.is_some(), spec.learner == Kind::Auto);
    }
    // These are anchored and auto, centered or not, over plain rows and over two kernels.
    assert_eq!(judged, 12);
}

#[test]
fn every_promise_holds_on_every_stream() {
    let n = 7;
    for seed in 0..20u64 {
        let (kept, eta) = ([1, 2, 6][seed as usize % 3], [0.1, 1.0, 4.0, 20.0][seed as usize % 4]);
        let given = NormBound::Given(1.0);
        let base = |learner| Spec { eta, ..Spec::bare(learner, kept) };
        let variants = [
            Spec { norm_bound: given, ..base(Kind::Tracking) },
            Spec { norm_bound: given, mixing: Mixing::FixedShare { alpha: 0.01 }, ..base(Kind::Tracking) },
            Spec { norm_bound: given, mixing: Mixing::PastAverage { alpha: 0.01 }, ..base(Kind::Tracking) },
            Spec { norm_bound: given, ..base(Kind::Anchored) },
            base(Kind::Anchored),
            Spec { center: Some(RunningCenter::MEAN), ..base(Kind::Anchored) },
            Spec { center: Some(RunningCenter { prior: 3.0, ..RunningCenter::MEAN }), ..base(Kind::Anchored) },
            Spec { self_confident: true, norm_bound: given, ..base(Kind::Anchored) },
            Spec { self_confident: true, ..base(Kind::Anchored) },
            Spec { self_confident: true, center: Some(RunningCenter::MEAN), ..base(Kind::Anchored) },
            Spec { norm_bound: given, ..base(Kind::Auto) },
            base(Kind::Auto),
            Spec { center: Some(RunningCenter::MEAN), ..base(Kind::Auto) },
        ];
        for (name, rows) in bounded_rows(n, seed) {
            for spec in &variants {
                // A third of the seeds is enough for the slow learner.
                if spec.learner == Kind::Auto && seed % 3 != 0 {
                    continue;
                }
                let Summary { bound_holds, expected_loss, bound, .. } = run(spec.clone(), &rows).summary();
                assert_eq!(bound_holds, Some(true), "{name} {seed} {spec:?}: {expected_loss} {bound:?}");
            }
        }
    }
}

#[test]
fn rows_that_keep_growing_are_paid_for_by_the_surprise() {
    for ratio in [1.01, 1.3, 3.0] {
        let mut rows = streams::switching(6, 2, 3, 30, 5);
        let mut size = 1e-3;
        for row in &mut rows {
            row.iter_mut().for_each(|x| *x *= size);
            size *= ratio;
        }
        for self_confident in [false, true] {
            let spec = Spec { self_confident, ..Spec::bare(Kind::Anchored, 2) };
            let Summary { bound_holds, expected_loss, bound, .. } = run(spec, &rows).summary();
            assert_eq!(bound_holds, Some(true), "{ratio} {self_confident}: {expected_loss} {bound:?}");
            let tracking = Spec { norm_bound: NormBound::Running, ..Spec::bare(Kind::Tracking, 2) };
            let Summary { bound_holds, bound_reason, .. } = run(tracking, &rows).summary();
            assert_eq!((bound_holds, bound_reason), (None, Reason::RunningNormBound.to_string()));
        }
    }
}

#[test]
fn a_portfolio_loses_at_most_the_best_member_and_the_hedge_term() {
    for seed in 0..20u64 {
        let center = (seed % 2 == 1).then_some(RunningCenter::MEAN);
        for (name, rows) in bounded_rows(6, seed) {
            // The Hedge term must be valid at any scale of the rows.
            let scale = [1.0, 1e-4, 300.0][seed as usize % 3];
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * scale).collect()).collect();
            let summary = run(Spec { center, ..Spec::bare(Kind::Auto, 2) }, &rows).summary();
            let best = summary.best_member().unwrap();
            let most = best.expected_loss + summary.certificate.hedge_term;
            assert!(summary.expected_loss <= most, "{name} {seed}: {} > {most}", summary.expected_loss);
            let square = rows.iter().map(|row| dot(row, row)).fold(0.0, f64::max);
            let useful = 1.05 * best.expected_loss + 2.0 * (summary.members.len() as f64).ln() * square;
            assert!(summary.expected_loss <= useful, "{name} {seed}: {} > {useful}", summary.expected_loss);
            assert!((summary.members.iter().map(|member| member.weight).sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_single_learner_is_a_portfolio_of_one() {
    let rows = rows(60);
    for entry in subspace_learners() {
        let spec = Spec::bare(entry.kind, 2);
        let mut alone = spec.plain(5).unwrap();
        let mut random = eigenhedge::Random::seeded(7);
        let mut run = Model::new(spec, 5, 7).unwrap();
        for row in &rows {
            let loss = eigenhedge::trial(&mut alone, &eigenhedge::Instance::from(&row[..]), &mut random).unwrap();
            assert_eq!(run.step(row).unwrap(), loss, "{}", entry.name);
        }
    }
}

#[test]
fn an_embedding_is_an_orthogonal_projection() {
    let rows = rows(60);
    for spec in specs() {
        let mut run = run(spec.clone(), &rows);
        let mut embedding = run.embedding();
        let mut coordinates = Vec::new();
        let mut residual = 0.0;
        for row in &rows {
            residual += embedding.transform(row, &mut coordinates).unwrap();
            assert_eq!(coordinates.len(), spec.kept);
            if spec.kernel.is_none() {
                let back = embedding.reconstruct(&coordinates).unwrap();
                let distance: f64 = back.iter().zip(row).map(|(a, b)| (a - b) * (a - b)).sum();
                let again = embedding.transform(&back, &mut coordinates).unwrap();
                assert!(again < 1e-20, "{spec:?}: {again}");
                let direct = embedding.transform(row, &mut coordinates).unwrap();
                assert!((direct - distance).abs() < 1e-12);
            }
        }
        // The residual cannot be negative. A bad embedding would lose nearly all energy.
        let energy: f64 = rows.iter().map(|row| dot(row, row)).sum();
        assert!(residual >= 0.0 && (spec.kernel.is_some() || residual < 0.9 * energy), "{spec:?}: {residual} {energy}");
        if let Some(components) = embedding.components() {
            let gap = orthonormality_gap(components);
            assert!(gap < 1e-12, "{spec:?}: {gap}");
        }
        assert!(embedding.transform(&[0.0; 4], &mut coordinates).is_err());
    }
}

fn orthonormality_gap(columns: &Matrix) -> f64 {
    let mut gap = 0f64;
    for i in 0..columns.columns() {
        for j in 0..=i {
            let target = f64::from(u8::from(i == j));
            gap = gap.max((dot(columns.column(i), columns.column(j)) - target).abs());
        }
    }
    gap
}

#[test]
fn an_embedding_through_the_linear_kernel_is_the_plain_one() {
    let rows = rows(60);
    for entry in REGISTRY.iter().filter(|entry| entry.kind != Kind::ProductSets && entry.kind != Kind::PerturbedLeader)
    {
        for center in [None, Some(RunningCenter::MEAN), Some(RunningCenter { prior: 1.5, ..RunningCenter::MEAN })] {
            let kept = if entry.kind == Kind::Oja { 1 } else { 2 };
            if center.is_some() && !entry.kind.reads("center") {
                continue;
            }
            let eta = if entry.family == Family::Hebbian { 0.1 } else { 2.0 };
            let spec = Spec { center, eta, ..Spec::bare(entry.kind, kept) };
            let mut plain = run(spec.clone(), &rows).embedding();
            let mut kernel = run(Spec { kernel: Some(VectorKernel::Linear), ..spec }, &rows).embedding();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for row in &rows {
                let residuals = (plain.transform(row, &mut a).unwrap(), kernel.transform(row, &mut b).unwrap());
                assert!((residuals.0 - residuals.1).abs() < 1e-7, "{} {center:?}: {residuals:?}", entry.name);
                for (a, b) in a.iter().zip(&b) {
                    assert!((a.abs() - b.abs()).abs() < 1e-7, "{} {center:?}: {a} {b}", entry.name);
                }
            }
        }
    }
}

#[test]
fn a_watched_partition_is_found_where_the_stream_changes() {
    let rows = streams::switching(8, 2, 3, 128, 3);
    let mut run = Model::with_comparators(Spec::bare(Kind::Auto, 2), 8, 0, BestMethod::Auto, 3).unwrap();
    rows.iter().for_each(|row| _ = run.step(row).unwrap());
    let summary = run.summary();
    let partition = &summary.partitions[2];
    assert_eq!(partition.cuts, [128, 256]);
    let loss = |segment: &[Vec<f64>]| {
        let mut best = BestSubspace::new(8, false).unwrap();
        segment.iter().for_each(|row| best.add(row));
        best.loss(2)
    };
    let direct: f64 = rows.chunks(128).map(loss).sum();
    assert!((partition.loss - direct).abs() < 1e-9);
    let whole = summary.best_loss.unwrap().exact().unwrap();
    assert!((summary.partitions[0].loss - whole).abs() < 1e-9 * whole);
}

#[test]
fn a_rate_for_a_given_best_loss_is_the_papers() {
    let spec = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Tracking, 2) };
    let tuned = spec.clone().tuned(10.0, 20).unwrap();
    let divergence = 18.0 * (20f64 / 18.0).ln();
    assert!((tuned.eta - (1.0 + (2.0 * divergence / 10.0).sqrt()).ln()).abs() < 1e-12);
    assert!(spec.clone().tuned(-1.0, 20).is_err());
    assert!(Spec { norm_bound: NormBound::Running, ..spec }.tuned(10.0, 20).is_err());
}

#[test]
fn a_row_whose_squared_norm_overflows_has_no_coordinates() {
    let mut run = Model::new(Spec::bare(Kind::Leader, 1), 3, 0).unwrap();
    run.step(&[1.0, 2.0, 3.0]).unwrap();
    let (mut embedding, mut coordinates) = (run.embedding(), Vec::new());
    assert!(embedding.transform(&[1.0, 1e160, 0.0], &mut coordinates).is_err());
    assert!(embedding.transform(&[1.0, 1e100, 0.0], &mut coordinates).unwrap().is_finite());
}
