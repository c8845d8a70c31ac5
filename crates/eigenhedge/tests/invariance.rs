//! Scale and translation invariance of all learners of the registry and their summaries, without and with kernels. Rows
//! in other units have equal losses in those units, and a translation does not affect a centered learner.
#![allow(clippy::unwrap_used)]

use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::dot;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::registry::{Family, REGISTRY};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Error, Kind, Loss, Mixing, Model, NormBound, Random, RunningCenter, Spec, Summary, streams};

fn specs(kernel: Option<VectorKernel>, centers: &[Option<RunningCenter>]) -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in REGISTRY {
        let kept = if entry.kind == Kind::Oja { 1 } else { 2 };
        let eta = if entry.family == Family::Hebbian { 0.1 } else { 3.0 };
        // Product sets would keep no direction in an infinite-dimensional space.
        let dimension = (entry.kind == Kind::ProductSets && kernel.is_some()).then_some(Multiplicity::Finite(60));
        let spec = Spec { eta, kernel: kernel.clone(), dimension, ..Spec::bare(entry.kind, kept) };
        for center in centers.iter().filter(|center| center.is_none() || entry.kind.reads("center")) {
            let spec = Spec { center: *center, ..spec.clone() };
            if entry.kind == Kind::Anchored {
                specs.push(Spec { self_confident: true, ..spec.clone() });
            }
            if entry.kind.reads("max-rank") && entry.kind != Kind::Auto {
                specs.push(Spec { max_rank: Some(kept + 2), ..spec.clone() });
            }
            if entry.kind.reads("mixing") {
                for mixing in [Mixing::FixedShare { alpha: 0.01 }, Mixing::PastAverage { alpha: 0.01 }] {
                    specs.push(Spec { mixing, ..spec.clone() });
                }
            }
            specs.push(spec);
        }
    }
    specs
}

/// Centers that are set by the first row.
const CENTERS: [Option<RunningCenter>; 2] = [Some(RunningCenter::MEAN), Some(RunningCenter::forgetting(0.7))];

/// Row length that is long enough for rows to be stored unchanged as columns.
const LONG: usize = 520;

fn rows(n: usize, count: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = streams::recurring(n, 2, &[1, 2, 1], count.div_ceil(3), 4).rows;
    let mut random = Random::seeded(9);
    for row in &mut rows {
        row.iter_mut().enumerate().for_each(|(i, x)| *x += 0.3 * (i as f64).cos() + 0.05 * random.normal());
    }
    rows.truncate(count);
    rows
}

fn scaled(rows: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|x| x * factor).collect()).collect()
}

struct Outcome {
    losses: Vec<Loss>,
    coordinates: Vec<Vec<f64>>,
    account: Summary,
}

fn run(spec: &Spec, rows: &[Vec<f64>]) -> Outcome {
    // Comparators are skipped for long rows, because they are computed as for short rows.
    let hindsight = rows[0].len() < LONG;
    let segments = if spec.kernel.is_none() && hindsight { 2 } else { 0 };
    let best = if hindsight { BestMethod::Auto } else { BestMethod::None };
    let mut run = Model::with_comparators(spec.clone(), rows[0].len(), 7, best, segments).unwrap();
    let (mut losses, mut coordinates) = (Vec::new(), Vec::new());
    for (t, row) in rows.iter().enumerate() {
        losses.push(run.step(row).unwrap_or_else(|error| panic!("{spec:?}, row {t}: {error}")));
        coordinates.push(run.coordinates().to_vec());
    }
    Outcome { losses, coordinates, account: run.summary() }
}

/// Returns the numbers of a summary that scale with the square of the rows.
fn squares(account: &Summary) -> Vec<(&'static str, f64)> {
    let mut numbers = vec![
        ("expected_loss", account.expected_loss),
        ("loss", account.loss),
        ("first_row_loss", account.first_row_loss.unwrap_or(0.0)),
        ("hedge term", account.certificate.hedge_term),
        ("low end of the best", account.best_loss.map_or(0.0, |best| best.low())),
        ("high end of the best", account.best_loss.map_or(0.0, |best| best.high())),
        ("bound", account.bound.unwrap_or(0.0)),
    ];
    numbers.extend(account.members.iter().map(|member| ("member", member.expected_loss)));
    numbers.extend(account.partitions.iter().map(|partition| ("partition", partition.loss)));
    numbers
}

/// Asserts equal losses from row `from` on and equal summaries. The squares of the second run are `unit` times those of
/// the first.
fn assert_same(spec: &Spec, one: &Outcome, other: &Outcome, unit: f64, from: usize, what: impl std::fmt::Debug) {
    let near = |a: f64, b: f64, size: f64| (a - b / unit).abs() <= 1e-9 * size;
    for (t, (a, b)) in one.losses.iter().zip(&other.losses).enumerate().skip(from) {
        let kept: f64 = dot(&one.coordinates[t], &one.coordinates[t]);
        let size = kept + a.realised;
        let same = near(a.expected, b.expected, size) && near(a.realised, b.realised, size);
        assert!(same, "{what:?}, {spec:?}, row {t}: {a:?} against {b:?}");
        for (x, y) in one.coordinates[t].iter().zip(&other.coordinates[t]) {
            // The sign of an eigenvector is arbitrary.
            let gap = (x.abs() - y.abs() / unit.sqrt()).abs();
            assert!(gap <= 1e-6 * size.sqrt(), "{what:?}, {spec:?}, row {t}: coordinates {x} against {y}");
        }
    }
    let total: f64 = one.account.expected_loss + one.account.best_loss.map_or(0.0, |best| best.high());
    for ((name, a), (_, b)) in squares(&one.account).into_iter().zip(squares(&other.account)) {
        if name != "first_row_loss" || from == 0 {
            assert!(near(a, b, a.abs().max(total)), "{what:?}, {spec:?}: {name} {a} against {b}");
        }
    }
    let verdict = |account: &Summary| (account.bound_holds, account.bound_reason.clone());
    assert_eq!(verdict(&one.account), verdict(&other.account), "{what:?}, {spec:?}");
    let cuts = |account: &Summary| account.partitions.iter().map(|p| p.cuts.clone()).collect::<Vec<_>>();
    assert_eq!(cuts(&one.account), cuts(&other.account), "{what:?}, {spec:?}");
}

#[test]
fn rows_in_any_unit_have_the_same_losses_in_that_unit() {
    let rows = rows(6, 45);
    for spec in specs(
        None,
        &[None, Some(RunningCenter::MEAN), Some(RunningCenter { prior: 2.5, ..RunningCenter::forgetting(0.9) })],
    ) {
        let before = run(&spec, &rows);
        for factor in [1e-152, 1e-150, 1e-75, 1e75, 1e150, 1e151] {
            assert_same(&spec, &before, &run(&spec, &scaled(&rows, factor)), factor * factor, 0, factor);
        }
    }
}

#[test]
fn a_norm_bound_in_any_unit_changes_nothing() {
    let rows = rows(6, 40);
    for spec in specs(None, &[None, CENTERS[0], CENTERS[1]]) {
        let bounded = |factor: f64| Spec { norm_bound: NormBound::Given(4.0 * factor), ..spec.clone() };
        let before = run(&bounded(1.0), &rows);
        for factor in [1e-150, 1e150] {
            let after = run(&bounded(factor), &scaled(&rows, factor));
            assert_same(&spec, &before, &after, factor * factor, 0, factor);
        }
    }
}

#[test]
fn long_rows_in_any_unit_have_the_same_losses_in_that_unit() {
    let rows = rows(LONG, 24);
    for spec in specs(None, &[None, CENTERS[0], CENTERS[1]]) {
        let before = run(&spec, &rows);
        for factor in [1e-151, 1e150] {
            assert_same(&spec, &before, &run(&spec, &scaled(&rows, factor)), factor * factor, 0, factor);
        }
    }
}

#[test]
fn features_in_any_unit_have_the_same_losses_in_that_unit() {
    // With more rows than dimensions, the last directions would have few accurate digits.
    let rows = rows(8, 30);
    let square = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 0.0 };
    let kernels =
        [(VectorKernel::Linear, 2.0, [1e-150, 1e-75, 1e75, 1e150]), (square, 4.0, [1e-75, 1e-40, 1e40, 1e75])];
    for (kernel, power, factors) in kernels {
        for spec in specs(Some(kernel), &[None, CENTERS[0], CENTERS[1]]) {
            let before = run(&spec, &rows);
            for factor in factors {
                let unit = if power == 2.0 { factor * factor } else { factor * factor * factor * factor };
                assert_same(&spec, &before, &run(&spec, &scaled(&rows, factor)), unit, 0, factor);
            }
        }
    }
}

#[test]
fn rows_of_very_different_length_in_one_stream_are_all_charged_truly() {
    let mut rows = rows(5, 60);
    for (t, row) in rows.iter_mut().enumerate() {
        let factor = [1e-150, 1.0, 1e150, 1e-80, 1e100][t % 5];
        row.iter_mut().for_each(|x| *x *= factor);
    }
    for spec in specs(None, &[None]) {
        let outcome = run(&spec, &rows);
        for (t, (row, loss)) in rows.iter().zip(&outcome.losses).enumerate() {
            let (square, kept) = (dot(row, row), dot(&outcome.coordinates[t], &outcome.coordinates[t]));
            assert!((0.0..=square * (1.0 + 1e-12)).contains(&loss.expected), "{spec:?}, row {t}: {loss:?} of {square}");
            assert!((loss.realised + kept - square).abs() <= 1e-9 * square, "{spec:?}, row {t}: {loss:?} of {square}");
        }
        assert!(outcome.account.expected_loss.is_finite(), "{spec:?}");
    }
}

#[test]
fn what_cannot_be_squared_is_refused_unless_it_is_nothing_beside_other_rows() {
    let rows = rows(5, 20);
    for kernel in [None, Some(VectorKernel::Linear)] {
        for spec in specs(kernel, &[None]) {
            let mut run = Model::new(spec.clone(), 5, 7).unwrap();
            let tiny: Vec<f64> = rows[0].iter().map(|x| x * 1e-160).collect();
            assert!(matches!(run.step(&tiny), Err(Error::Underflow { .. })), "{spec:?}");
            assert_eq!(run.totals().rows, 0);
            rows.iter().for_each(|row| _ = run.step(row).unwrap());
            assert_eq!(run.step(&tiny).unwrap(), Loss::default(), "{spec:?}");
            let before = run.clone();
            let huge: Vec<f64> = rows[0].iter().map(|x| x * 1e156).collect();
            assert!(run.step(&huge).is_err(), "{spec:?}");
            assert_eq!(run, before);
        }
    }
}

#[test]
fn rows_whose_squares_no_longer_add_up_are_refused() {
    for spec in specs(None, &[None, CENTERS[0], CENTERS[1]]) {
        let mut run = Model::new(spec.clone(), 5, 7).unwrap();
        let rows = scaled(&rows(5, 60), 4e151);
        let refused = rows.iter().position(|row| matches!(run.step(row), Err(Error::Total { .. })));
        assert!(refused.is_some_and(|row| row > 1), "{spec:?}: {refused:?}");
        let account = run.summary();
        assert!(account.expected_loss.is_finite() && account.best_loss.unwrap().high().is_finite(), "{spec:?}");
    }
}

/// Rounds entries to multiples of 2^-20, so that a shift by integers is exact.
fn on_a_grid(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let grid = 2f64.powi(20);
    rows.iter().map(|row| row.iter().map(|x| (x * grid).round() / grid).collect()).collect()
}

fn shifted(rows: &[Vec<f64>], by: f64) -> Vec<Vec<f64>> {
    rows.iter()
        .map(|row| row.iter().enumerate().map(|(i, x)| x + (by * (1.5 + i as f64).cos()).round()).collect())
        .collect()
}

#[test]
fn where_rows_lie_does_not_matter_to_a_learner_that_centers() {
    for n in [6, LONG] {
        let rows = rows(n, if n == LONG { 24 } else { 60 });
        for spec in specs(None, &CENTERS).into_iter().filter(|spec| spec.center.is_some()) {
            let before = run(&spec, &rows);
            for by in [10.0, 1e6, -1e6] {
                assert_same(&spec, &before, &run(&spec, &shifted(&rows, by)), 1.0, 1, by);
            }
        }
    }
}

#[test]
fn a_shift_without_rounding_changes_no_bit_of_a_later_loss() {
    for n in [6, LONG] {
        let rows = on_a_grid(&rows(n, 24));
        for spec in specs(None, &CENTERS).into_iter().filter(|spec| spec.center.is_some()) {
            let (before, after) = (run(&spec, &rows), run(&spec, &shifted(&rows, 1e6)));
            assert_eq!(before.losses[1..], after.losses[1..], "{spec:?}");
            assert_eq!(squares(&before.account)[0], squares(&after.account)[0], "{spec:?}");
        }
    }
}

#[test]
fn where_rows_lie_does_not_matter_to_kernels_of_distances() {
    let rows = rows(5, 40);
    for kernel in [VectorKernel::Rbf { gamma: 0.5 }, VectorKernel::Laplacian { gamma: 0.3 }] {
        for spec in specs(Some(kernel), &CENTERS).into_iter().filter(|spec| spec.center.is_some()) {
            let before = run(&spec, &rows);
            for by in [1e3, -1e6] {
                assert_same(&spec, &before, &run(&spec, &shifted(&rows, by)), 1.0, 0, by);
            }
        }
    }
}

#[test]
fn the_first_row_of_a_learner_that_centers_is_charged_and_told_by_itself() {
    let rows = shifted(&rows(5, 40), 100.0);
    for kernel in [None, Some(VectorKernel::Linear)] {
        for spec in
            specs(kernel, &[None, Some(RunningCenter::MEAN), Some(RunningCenter { prior: 2.5, ..RunningCenter::MEAN })])
        {
            let outcome = run(&spec, &rows);
            let fixes = spec.center.is_some_and(|center| center.prior == 0.0);
            assert_eq!(outcome.account.first_row_loss, fixes.then_some(outcome.losses[0].expected), "{spec:?}");
            assert!(outcome.losses[0].expected > 100.0, "{spec:?}: {:?}", outcome.losses[0]);
            let charged = &outcome.losses[usize::from(fixes)..];
            assert_eq!(
                outcome.account.expected_loss,
                charged.iter().map(|loss| loss.expected).sum::<f64>(),
                "{spec:?}"
            );
            assert_eq!(outcome.account.rows, 40);
        }
    }
}
