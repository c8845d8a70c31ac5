//! Rows with missing cells. The imputed cells solve the dense normal equations, losses are those of the
//! observed cells, and the output has no NaN.
#![allow(clippy::unwrap_used)]

use crate::common::subspace_learners;
use eigenhedge::internals::symmetric_eigen;
use eigenhedge::{Error, Kind, Loss, Matrix, Missing, Model, Random, RunningCenter, Spec, streams};

fn spec(learner: Kind, kept: usize) -> Spec {
    Spec { missing: Missing::Fill, center: Some(RunningCenter::MEAN), ..Spec::bare(learner, kept) }
}

fn specs(kept: usize) -> Vec<Spec> {
    let kinds = subspace_learners().map(|entry| entry.kind).chain([Kind::Auto]);
    kinds.flat_map(|kind| [spec(kind, kept), Spec { center: None, ..spec(kind, kept) }]).collect()
}

fn with_holes(rows: &[Vec<f64>], probability: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut cell = |x: &f64| if random.uniform() < probability { f64::NAN } else { *x };
    rows.iter().map(|row| row.iter().map(&mut cell).collect()).collect()
}

fn rows(length: usize, count: usize, noise: f64) -> Vec<Vec<f64>> {
    streams::signal_and_noise(length, 2, noise, 5).take(count).collect()
}

fn losses(run: &mut Model, rows: &[Vec<f64>]) -> Vec<Loss> {
    rows.iter().map(|row| run.step(row).unwrap()).collect()
}

fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    for j in 0..size {
        for i in j + 1..size {
            let factor = a[i][j] / a[j][j];
            (j..size).for_each(|p| a[i][p] -= factor * a[j][p]);
            b[i] -= factor * b[j];
        }
    }
    for j in (0..size).rev() {
        b[j] = (b[j] - (j + 1..size).map(|p| a[j][p] * b[p]).sum::<f64>()) / a[j][j];
    }
    b
}

/// Computes losses of the forgetting leader from scatter matrix and normal equations.
fn dense_losses(rows: &[Vec<f64>], kept: usize, forget: f64) -> Vec<f64> {
    let n = rows[0].len();
    let (mut center, mut scatter) = (rows[0].clone(), Matrix::zeros(n, n));
    let (mut total, mut cells, mut found) = (0.0, 0.0, Vec::new());
    for (t, row) in rows.iter().enumerate().skip(1) {
        let eigen = symmetric_eigen(&scatter);
        let remembered = (1.0 - forget.powi(t as i32)) / (1.0 - forget);
        let known: Vec<usize> = (0..n).rev().filter(|i| eigen.values[*i] > 1e-12 * eigen.values[n - 1]).collect();
        let direction = |i: usize, j: usize| eigen.vectors.column(known[i])[j];
        let seen: Vec<usize> = (0..n).filter(|j| !row[*j].is_nan()).collect();
        let mut z: Vec<f64> = row.iter().zip(&center).map(|(x, m)| x - m).collect();
        if seen.len() < n {
            let noise = if cells > 0.0 { total / cells } else { 0.0 };
            let entry = |a: usize, b: usize| seen.iter().map(|j| direction(a, *j) * direction(b, *j)).sum::<f64>();
            let ridge = |i: usize| (noise / (eigen.values[known[i]] / remembered)).clamp(1e-12, 1e12);
            let size = known.len();
            let normal = (0..size)
                .map(|a| (0..size).map(|b| entry(a, b) + if a == b { ridge(a) } else { 0.0 }).collect())
                .collect();
            let right = (0..size).map(|i| seen.iter().map(|j| direction(i, *j) * z[*j]).sum()).collect();
            let c = solve(normal, right);
            for j in (0..n).filter(|j| row[*j].is_nan()) {
                z[j] = (0..size).map(|i| direction(i, j) * c[i]).sum();
            }
        }
        // While fewer than k directions are known, the others are kept with equal probabilities.
        let explicit = known.len().min(kept);
        let common = (kept - explicit) as f64 / (n - explicit) as f64;
        let along: Vec<f64> = (0..explicit).map(|i| (0..n).map(|j| direction(i, j) * z[j]).sum()).collect();
        let outside = |j: usize| z[j] - (0..explicit).map(|i| along[i] * direction(i, j)).sum::<f64>();
        let loss = seen.iter().map(|j| (1.0 - common) * outside(*j).powi(2)).sum::<f64>();
        found.push(loss);
        (total, cells) = (total + loss, cells + seen.len() as f64);
        let share = t as f64 / (t as f64 + 1.0);
        for j in 0..n {
            for i in 0..n {
                scatter.column_mut(j)[i] = forget * scatter.column(j)[i] + share * z[i] * z[j];
            }
        }
        center.iter_mut().zip(&z).for_each(|(m, z)| *m += z / (t as f64 + 1.0));
    }
    found
}

#[test]
fn the_fast_path_equals_dense_normal_equations() {
    let mut rows = with_holes(&rows(6, 120, 0.3), 0.25, 1);
    rows[0] = vec![1.0; 6];
    // Rows are complete until the directions are known, because choices among unknown directions are not independent.
    rows[1..8].iter_mut().for_each(|row| row.iter_mut().for_each(|x| *x = if x.is_nan() { 0.5 } else { *x }));
    let mut run = Model::new(Spec { forget: 0.9, ..spec(Kind::ForgettingLeader, 2) }, 6, 0).unwrap();
    let found = losses(&mut run, &rows);
    for (t, (loss, wanted)) in found[1..].iter().zip(dense_losses(&rows, 2, 0.9)).enumerate() {
        assert!((loss.expected - wanted).abs() <= 1e-9 * wanted.max(1.0), "{t}: {} {wanted}", loss.expected);
    }
}

#[test]
fn rows_of_low_rank_without_noise_come_to_lose_nothing() {
    let rows = with_holes(&rows(12, 1500, 0.0), 0.2, 2);
    for learner in [Kind::ForgettingLeader, Kind::Auto] {
        let mut run = Model::new(spec(learner, 3), 12, 0).unwrap();
        let found = losses(&mut run, &rows);
        let sum = |losses: &[Loss]| losses.iter().map(|loss| loss.expected).sum::<f64>();
        assert!(sum(&found[1400..]) <= 1e-4 * sum(&found[1..101]), "{} {}", sum(&found[1400..]), sum(&found[1..101]));
    }
}

#[test]
fn complete_rows_give_the_same_bits_as_without_the_option() {
    for length in [9, 600] {
        let rows = rows(length, 60, 0.3);
        let slices: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        for spec in specs(2) {
            let mut plain = Model::new(Spec { missing: Missing::Fail, ..spec.clone() }, length, 3).unwrap();
            let mut filling = Model::new(spec.clone(), length, 3).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            plain.step_each(&slices, |_, loss| one.push(loss)).unwrap();
            filling.step_each(&slices, |_, loss| other.push(loss)).unwrap();
            assert_eq!(one, other, "{}", spec.label());
            assert_eq!((plain.totals(), plain.coordinates()), (filling.totals(), filling.coordinates()));
        }
    }
}

/// Returns rows with missing cells: random, whole columns, first rows, or half of row 0.
fn patterns(length: usize) -> Vec<Vec<Vec<f64>>> {
    let whole = rows(length, 80, 0.3);
    let mut patterns: Vec<Vec<Vec<f64>>> = [0.05, 0.5, 0.9].iter().map(|p| with_holes(&whole, *p, 7)).collect();
    let with = |is_missing: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<f64>> {
        let cell = |t: usize, j: usize| if is_missing(t, j) { f64::NAN } else { 1e3 * j as f64 + whole[t][j] };
        (0..whole.len()).map(|t| (0..length).map(|j| cell(t, j)).collect()).collect()
    };
    patterns.push(with(&|_, j| j < 3));
    patterns.push(with(&|t, _| t < 10));
    patterns.push(with(&|t, j| t == 0 && j % 2 == 0));
    patterns.push(with(&|t, j| t < 20 && j == 1 || t > 40 && j > 0));
    patterns
}

#[test]
fn no_nan_comes_out_whatever_is_missing() {
    for spec in specs(2) {
        for (number, rows) in patterns(7).iter().enumerate() {
            let name = format!("{} {number}", spec.label());
            let mut run = Model::new(spec.clone(), 7, 1).unwrap();
            for (t, row) in rows.iter().enumerate() {
                let loss = run.step(row).unwrap_or_else(|error| panic!("{name} {t}: {error}"));
                assert!(
                    loss.expected >= 0.0 && loss.realised >= 0.0 && loss.expected.is_finite(),
                    "{name} {t} {loss:?}"
                );
                assert!(run.coordinates().iter().all(|c| c.is_finite()), "{name} {t}");
                let mut coordinates = Vec::new();
                let left = run.embedding().transform(row, &mut coordinates).unwrap();
                assert!(left.is_finite() && coordinates.iter().all(|c| c.is_finite()), "{name} {t}");
            }
            let summary = run.summary();
            let missing = rows.iter().flatten().filter(|x| x.is_nan()).count() as u64;
            let empty = rows.iter().filter(|row| row.iter().all(|x| x.is_nan())).count() as u64;
            assert_eq!((summary.skipped_rows, summary.rows), (empty, rows.len() as u64 - empty), "{name}");
            assert_eq!(summary.certificate.missing_cells, missing - 7 * empty, "{name}");
            let is_whole = summary.certificate.filled_rows == 0;
            assert!(summary.best_loss.is_some() == is_whole && (is_whole || summary.bound.is_none()), "{name}");
            assert!(summary.expected_loss.is_finite(), "{name}");
            let bytes = run.clone().to_bytes().unwrap();
            assert_eq!(Model::from_bytes(&bytes).unwrap(), run, "{name}");
        }
    }
}

#[test]
fn standard_errors_grow_while_a_column_stays_empty_and_most_cells_are_within_two() {
    let (mut within, mut growth) = (0, 0.0);
    for seed in 0..10 {
        let mut random = Random::seeded(seed);
        let loadings: Vec<f64> = (0..12).map(|_| random.normal()).collect();
        let mut states = [0.0; 8];
        let mut model = Model::new(spec(Kind::Auto, 2), 6, 0).unwrap();
        let mut first = 0.0;
        for t in 0..500 {
            // The columns have two common factors, and a slow process each.
            states.iter_mut().for_each(|x| *x = 0.97 * *x + (1.0f64 - 0.97 * 0.97).sqrt() * random.normal());
            let cell = |j: usize| loadings[j] * states[0] + loadings[6 + j] * states[1] + 0.6 * states[2 + j];
            let whole: Vec<f64> = (0..6).map(cell).collect();
            let is_missing = |j: usize| j == 0 && t >= 400;
            let mut row: Vec<f64> = (0..6).map(|j| if is_missing(j) { f64::NAN } else { whole[j] }).collect();
            if t < 400 && random.uniform() < 0.3 {
                row[1 + t % 5] = f64::NAN;
            }
            model.step(&row).unwrap();
            let Some(filled) = model.filled().filter(|_| t >= 400) else { continue };
            first = if t == 400 { filled.errors[0] } else { first };
            within += usize::from((filled.row[0] - whole[0]).abs() <= 2.0 * filled.errors[0]);
            growth += if t == 499 { filled.errors[0] / first } else { 0.0 };
        }
    }
    // In a hundred rows, the slow process forgets its last value, so the errors must grow.
    assert!(within > 650 && growth / 10.0 > 1.5, "{within} of 1000, {}", growth / 10.0);
}

#[test]
fn a_row_without_any_cell_changes_nothing() {
    for policy in [Missing::Fill, Missing::Skip] {
        let mut run = Model::new(Spec { missing: policy, ..spec(Kind::Auto, 2) }, 5, 0).unwrap();
        losses(&mut run, &rows(5, 30, 0.3));
        let before = run.clone();
        let row = if policy == Missing::Fill { [f64::NAN; 5] } else { [1.0, 2.0, f64::NAN, 4.0, 5.0] };
        assert_eq!(run.step(&row).unwrap(), Loss::default());
        assert_eq!(run.coordinates(), [0.0, 0.0]);
        assert_eq!(run.learner(), before.learner());
        assert_eq!((run.totals().passed_over, run.totals().rows), (1, 30));
        assert_eq!(run.totals().expected_loss, before.totals().expected_loss);
    }
}

#[test]
fn the_first_cell_of_a_column_fixes_its_center() {
    let whole = rows(6, 90, 0.3);
    let begun_late = |level: f64| -> Vec<Vec<f64>> {
        let cell = |t: usize, j: usize| {
            if j == 2 && t < 30 { f64::NAN } else { whole[t][j] + if j == 2 { level } else { 0.0 } }
        };
        (0..whole.len()).map(|t| (0..6).map(|j| cell(t, j)).collect()).collect()
    };
    for learner in [Kind::Auto, Kind::Tracking] {
        let found = |level: f64| losses(&mut Model::new(spec(learner, 2), 6, 0).unwrap(), &begun_late(level));
        for (near, far) in found(0.0).iter().zip(found(1e6)).skip(1) {
            assert!((near.expected - far.expected).abs() <= 1e-6 * near.expected.max(1.0), "{near:?} {far:?}");
        }
    }
}

#[test]
fn the_account_says_that_no_theorem_covers_rows_that_were_filled_in() {
    let mut run = Model::new(spec(Kind::Anchored, 2), 6, 0).unwrap();
    losses(&mut run, &rows(6, 30, 0.3));
    assert!(run.summary().bound.is_some());
    run.step(&[1.0, 0.5, f64::NAN, 0.0, 0.0, 1.0]).unwrap();
    let summary = run.summary();
    assert_eq!(summary.bound_reason, "no theorem covers rows whose missing cells were filled in");
    assert_eq!((summary.bound, summary.regret), (None, None));
    assert_eq!((summary.certificate.filled_rows, summary.certificate.missing_cells), (1, 1));
}

#[test]
fn a_missing_cell_is_refused_with_the_name_of_the_option_and_infinity_always() {
    let row = [1.0, f64::NAN, 2.0];
    let mut run = Model::new(Spec::bare(Kind::Auto, 1), 3, 0).unwrap();
    let sentence = run.step(&row).unwrap_err().to_string();
    assert_eq!(sentence, "entry 1 of the row must be finite, unless missing is skip or fill, got NaN");
    let mut run = Model::new(spec(Kind::Auto, 1), 3, 0).unwrap();
    let before = run.clone();
    for row in [&[1.0, f64::INFINITY, f64::NAN][..], &[f64::NAN, 1.0], &[1e200, f64::NAN, 1.0]] {
        assert!(run.step(row).is_err());
        assert_eq!(run, before);
    }
    let oja = Model::new(Spec { center: None, ..spec(Kind::Oja, 1) }, 3, 0).unwrap_err();
    assert_eq!(oja, Error::Unsupported("missing cells are filled in by subspace learners over plain rows only"));
}
