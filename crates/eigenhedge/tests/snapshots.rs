//! Every state of a run can be saved and loaded. `cargo xtask fuzz` tests other inputs.
#![allow(clippy::unwrap_used)]

use crate::common::{bounded_rows, infinite_specs, specs};
use eigenhedge::comparators::BestMethod;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::{Kind, Mixing, Model, NormBound, RunningCenter, Spec, streams};

/// Runs over the rows. Saves and loads the state at increasing intervals.
fn assert_readable(mut run: Model, rows: &[Vec<f64>], name: &str) {
    let mut next = 0;
    for (t, row) in rows.iter().enumerate() {
        if t == next {
            let read = Model::from_bytes(&run.to_bytes().unwrap());
            let spec = run.spec();
            let read = read.unwrap_or_else(|refusal| panic!("{name}, row {t}: {refusal}: {spec:?}"));
            assert_eq!(run, read, "{name}, row {t}");
            run = read;
            next += 1 + next / 2;
        }
        if let Err(error) = run.step(row) {
            assert!(error.to_string().contains("eta"), "{name}, row {t}: {error}");
        }
    }
}

fn hebbian(kept: usize) -> impl Iterator<Item = Spec> {
    let kinds = [(Kind::Oja, 1), (Kind::Gha, kept), (Kind::Apex, kept)];
    let treatments =
        [(None, None), (Some(RunningCenter::MEAN), None), (Some(RunningCenter::forgetting(0.6)), Some(1.5))];
    let with = |(kind, kept), (center, clip)| Spec { eta: 0.5, center, clip, ..Spec::bare(kind, kept) };
    kinds.into_iter().flat_map(move |kind| treatments.map(|treatment| with(kind, treatment)))
}

#[test]
fn every_plain_run_can_be_read_at_every_row() {
    let mut all = specs(2);
    all.extend(hebbian(2));
    all.push(Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) });
    all.push(Spec { center: Some(RunningCenter::forgetting(0.6)), clip: Some(1.5), ..Spec::bare(Kind::Auto, 2) });
    all.push(Spec { self_confident: true, ..Spec::bare(Kind::Anchored, 2) });
    all.push(Spec { as_printed: true, ..Spec::bare(Kind::Anchored, 2) });
    all.push(Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Auto, 2) });
    all.push(Spec { mixing: Mixing::FixedShare { alpha: 0.01 }, merge: 0.25, ..Spec::bare(Kind::Tracking, 2) });
    for kind in [Kind::Tracking, Kind::Anchored, Kind::Leader, Kind::ForgettingLeader] {
        all.push(Spec { max_rank: Some(3), center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 2) });
    }
    all.push(Spec { max_rank: Some(3), mixing: Mixing::PastAverage { alpha: 0.01 }, ..Spec::bare(Kind::Tracking, 2) });
    for (name, rows) in bounded_rows(6, 3) {
        for spec in &all {
            assert_readable(Model::with_comparators(spec.clone(), 6, 1, BestMethod::Auto, 3).unwrap(), &rows, name);
        }
    }
}

#[test]
fn every_run_over_features_can_be_read_at_every_row() {
    let rbf = VectorKernel::Rbf { gamma: 1.0 }.plus(VectorKernel::Linear.scaled(0.5));
    let quadratic = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 1.0 };
    let mut all = infinite_specs(2);
    all.extend(hebbian(2));
    all.push(Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) });
    all.push(Spec { center: Some(RunningCenter::forgetting(0.6)), clip: Some(1.5), ..Spec::bare(Kind::Auto, 2) });
    for (name, rows) in bounded_rows(4, 5) {
        let rows = &rows[..rows.len().min(100)];
        for spec in &all {
            for (kernel, budget) in [(&rbf, None), (&rbf, Some(10)), (&quadratic, Some(8))] {
                let spec = Spec { kernel: Some(kernel.clone()), budget, ..spec.clone() };
                assert_readable(Model::new(spec, 4, 1).unwrap(), rows, name);
            }
        }
    }
}

#[test]
fn runs_over_long_rows_can_be_read_at_every_row() {
    let cases = [
        (Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) }, 600, 120),
        (Spec { forget: 0.9, ..Spec::bare(Kind::ForgettingLeader, 2) }, 160, 200),
        (Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Tracking, 2) }, 5000, 80),
    ];
    for (spec, n, count) in cases {
        let rows = streams::iid(n, 20, 0.3, count, 7).rows;
        assert_readable(Model::new(spec, n, 1).unwrap(), &rows, "long rows");
    }
}

#[test]
fn kernel_runs_over_rows_of_any_size_can_be_read() {
    let quadratic = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 1.0 };
    let rows = streams::iid(4, 2, 0.5, 120, 3).rows;
    let scaled = |by: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
        rows.iter().enumerate().map(|(t, row)| row.iter().map(|x| by(t) * x).collect()).collect()
    };
    let one_far = scaled(&|t| if t == 60 { 1e10 } else { 1.0 });
    let first_far = scaled(&|t| if t == 0 { 1e10 } else { 1.0 });
    for kind in [Kind::Tracking, Kind::Anchored, Kind::Auto] {
        for budget in [None, Some(20)] {
            let run = |kernel: &VectorKernel| {
                let spec = Spec { kernel: Some(kernel.clone()), budget, ..Spec::new(kind, 2) };
                Model::with_comparators(spec, 4, 1, BestMethod::Auto, 3).unwrap()
            };
            for kernel in [VectorKernel::Linear, VectorKernel::Rbf { gamma: 0.5 }, quadratic.clone()] {
                assert_readable(run(&kernel), &one_far, "one row far out");
                assert_readable(run(&kernel), &first_far, "the first row far out");
            }
            let rbf = VectorKernel::Rbf { gamma: 0.5 };
            assert_readable(run(&rbf), &scaled(&|_| 1e152), "rows whose energies have no finite total");
            assert_readable(run(&rbf), &scaled(&|_| 1e200), "rows whose squared norms are not finite");
        }
    }
}
