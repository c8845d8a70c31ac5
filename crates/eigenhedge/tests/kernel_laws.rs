//! Laws of the learners in feature space.
#![allow(clippy::unwrap_used)]

use crate::common::{infinite_specs, product, specs};
use eigenhedge::batch::{Center, KernelPca, Solver};
use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::{Span, dot};
use eigenhedge::kernel::{Dictionary, VectorKernel, Vectors};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{
    Instance, KernelLearner, Kind, Learner, Loss, Matrix, Mixing, Model, NormBound, Random, RunningCenter, Spec,
    streams, trial,
};

fn step(learner: &mut KernelLearner, row: &[f64], random: &mut Random) -> Loss {
    trial(learner, &Instance::from(row), random).unwrap()
}

fn row_streams(n: usize) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let full: Vec<Vec<f64>> = streams::signal_and_noise(n, 2, 0.3, 21).take(70).collect();
    let repeated = (0..70).map(|t| full[(t * t) % 5].clone()).collect();
    vec![("full", full), ("rank-deficient", streams::switching(n, 3, 1, 70, 22)), ("repeated", repeated)]
}

#[test]
fn the_linear_kernel_equals_the_plain_learner() {
    let n = 7;
    for (name, rows) in row_streams(n) {
        for spec in specs(2) {
            let mut plain = spec.plain(n).unwrap();
            let mut kernel = spec.kernel(VectorKernel::Linear, n).unwrap();
            let mut random = Random::seeded(23);
            for (t, row) in rows.iter().enumerate() {
                let a = trial(&mut plain, &Instance::from(&row[..]), &mut random.clone()).unwrap();
                let b = step(&mut kernel, row, &mut random);
                let gap = (a.expected - b.expected).abs();
                assert!(gap <= 1e-9, "{name}, {spec:?}, row {t}: {} against {}", a.expected, b.expected);
            }
        }
    }
}

/// Returns the features of the degree-2 polynomial kernel without a constant.
fn products(row: &[f64]) -> Vec<f64> {
    let mut features = Vec::new();
    for i in 0..row.len() {
        for j in 0..=i {
            features.push(row[i] * row[j] * if i == j { 1.0 } else { 2f64.sqrt() });
        }
    }
    features
}

#[test]
fn the_quadratic_kernel_equals_the_plain_learner_on_explicit_features() {
    let n = 4;
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(n, 2, 0.3, 31).take(80).collect();
    let quadratic = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 0.0 };
    for spec in specs(3) {
        let mut plain = spec.plain(n * (n + 1) / 2).unwrap();
        let mut kernel = spec.kernel(quadratic.clone(), n).unwrap();
        let mut random = Random::seeded(32);
        for (t, row) in rows.iter().enumerate() {
            let a = trial(&mut plain, &Instance::from(&products(row)[..]), &mut random.clone()).unwrap();
            let b = step(&mut kernel, row, &mut random);
            let gap = (a.expected - b.expected).abs();
            assert!(gap <= 1e-8, "{spec:?}, row {t}: {} against {}", a.expected, b.expected);
        }
    }
}

fn cone(n: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    (0..rows)
        .map(|_| {
            let height = random.uniform();
            let angle = std::f64::consts::TAU * random.uniform();
            let mut row: Vec<f64> = (0..n).map(|_| 0.02 * random.normal()).collect();
            row[0] += 0.6 * height;
            row[1] += 0.6 * height * angle.cos();
            row[2] += 0.6 * height * angle.sin();
            row
        })
        .collect()
}

#[test]
fn capping_as_printed_agrees_with_all_directions_exactly_from_the_trial_at_which_enough_mass_is_seen() {
    let (n, kept, eta) = (6, 3, 20.0);
    let quadratic = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 0.0 };
    let base = Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Anchored, kept) };
    for dimension in [Some(Multiplicity::Finite(21)), Some(Multiplicity::Infinite)] {
        let mut all = Spec { dimension, ..base.clone() }.kernel(quadratic.clone(), n).unwrap();
        let mut printed = Spec { as_printed: true, ..base.clone() }.kernel(quadratic.clone(), n).unwrap();
        let mut random = Random::seeded(42);
        let mut scatter = Matrix::zeros(21, 21);
        let (mut agreed, mut differed) = (0, 0);
        for (t, row) in cone(n, 120, 41).iter().enumerate() {
            let eigen = eigenhedge::internals::symmetric_eigen(&scatter);
            let mass: f64 = eigen.values.iter().map(|v| -(-eta * v.max(0.0)).exp_m1()).sum();
            let a = step(&mut all, row, &mut random.clone());
            let b = step(&mut printed, row, &mut random);
            let gap = (a.expected - b.expected).abs();
            if mass >= kept as f64 {
                assert!(gap <= 1e-12, "row {t}: {} against {}", a.expected, b.expected);
                agreed += 1;
            } else if t > kept && gap > 1e-6 {
                differed += 1;
            }
            let z = products(row);
            for j in 0..21 {
                scatter.column_mut(j).iter_mut().zip(&z).for_each(|(s, x)| *s += x * z[j]);
            }
        }
        assert!(agreed > 10 && differed > 10, "agreed {agreed}, differed {differed}");
    }
}

/// Recomputes the expected loss of a row from the committed directions and exact kernel values.
/// Asserts that the directions are orthonormal to `tolerance`.
fn recomputed(learner: &mut KernelLearner, row: &[f64], tolerance: f64) -> f64 {
    let (directions, probabilities) = learner.directions();
    let span = learner.span();
    let (dictionary, atoms) = (span.dictionary(), span.dictionary().len());
    let kernel = |a: &[f64], b: &[f64]| dictionary.kernel().value(a, b);
    let mut row_kernel: Vec<f64> = (0..atoms).map(|i| kernel(dictionary.atom(i), row)).collect();
    let mut square = kernel(row, row);
    let mut gram = Matrix::zeros(atoms, atoms);
    for j in 0..atoms {
        (0..atoms).for_each(|i| gram.column_mut(j)[i] = kernel(dictionary.atom(i), dictionary.atom(j)));
    }
    if let Some(mean) = span.origin() {
        let image: Vec<f64> = (0..atoms).map(|i| dot(gram.column(i), mean)).collect();
        square += dot(mean, &image) - 2.0 * dot(mean, &row_kernel);
        row_kernel.iter_mut().zip(&image).for_each(|(k, m)| *k -= m);
    }
    let coefficients = product(span.coefficients(), &directions);
    let images = product(&gram, &coefficients);
    for j in 0..images.columns() {
        for i in 0..images.columns() {
            let gap = (dot(coefficients.column(i), images.column(j)) - f64::from(u8::from(i == j))).abs();
            assert!(gap <= tolerance, "orthonormality of directions {i} and {j}: {gap:e}");
        }
    }
    let explained = (0..coefficients.columns()).map(|j| {
        let coordinate = dot(coefficients.column(j), &row_kernel);
        probabilities[j] * coordinate * coordinate
    });
    square - explained.sum::<f64>()
}

#[test]
fn losses_in_feature_space_are_true_with_and_without_a_budget() {
    let rows = cone(5, 260, 51);
    for spec in specs(3) {
        if spec.learner == Kind::ProductSets {
            continue; // no such learner in a space of infinite dimension
        }
        for budget in [None, Some(12)] {
            if matches!(spec.mixing, Mixing::PastAverage { .. }) && budget.is_none() {
                continue; // the past average keeps every direction: slow here, and tested with a budget
            }
            let spec = Spec { budget, ..spec.clone() };
            let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 2.0 }, 5).unwrap();
            let mut random = Random::seeded(52);
            // The noise affects all columns equally, including those of small residuals with large
            // coefficients. The inner products of these columns cancel.
            let tolerance = if spec.learner == Kind::PerturbedLeader { 1e-6 } else { 1e-9 };
            for (t, row) in rows.iter().enumerate() {
                let instance = Instance::from(&row[..]);
                learner.check(&instance).unwrap();
                learner.choose(&mut random);
                // This follows the choice, in which the perturbed leader draws its directions.
                let wanted = (t % 9 == 0).then(|| recomputed(&mut learner, row, tolerance));
                let loss = learner.incur(&instance);
                learner.update(&instance);
                if let Some(wanted) = wanted {
                    let gap = (loss.expected - wanted).abs();
                    assert!(gap <= 1e-8, "{spec:?}, row {t}: {} against {wanted}", loss.expected);
                }
                assert!(budget.is_none_or(|atoms| learner.span().dictionary().len() <= atoms));
            }
            assert_eq!(learner.span().budget_error() > 0.0, budget.is_some());
        }
    }
}

#[test]
fn saving_and_restoring_changes_nothing_in_feature_space() {
    let rows = cone(5, 90, 61);
    for spec in infinite_specs(2) {
        for budget in [None, Some(15)] {
            let spec = Spec { budget, ..spec.clone() };
            let kernel = VectorKernel::Rbf { gamma: 1.0 };
            let mut whole = spec.kernel(kernel.clone(), 5).unwrap();
            let mut parts = spec.kernel(kernel, 5).unwrap();
            let (mut random, mut other) = (Random::seeded(62), Random::seeded(62));
            for (t, row) in rows.iter().enumerate() {
                if t % 11 == 0 {
                    let bytes = postcard::to_stdvec(&(&parts, &other)).unwrap();
                    (parts, other) = postcard::from_bytes(&bytes).unwrap();
                }
                assert_eq!(step(&mut whole, row, &mut random), step(&mut parts, row, &mut other), "{spec:?}, row {t}");
            }
            assert_eq!(whole, parts);
        }
    }
}

#[test]
fn bad_rows_and_budgets_are_named_and_leave_the_state_alone() {
    let rows = cone(5, 40, 71);
    for spec in infinite_specs(2) {
        let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 1.0 }, 5).unwrap();
        let mut random = Random::seeded(72);
        rows.iter().for_each(|row| _ = step(&mut learner, row, &mut random));
        let before = (learner.clone(), random.clone());
        for (row, message) in [
            (vec![0.0, f64::NAN, 0.0, 0.0, 0.0], "entry 1 of the row must be finite, got NaN"),
            (vec![0.0; 4], "row must have 5 entries, got 4"),
        ] {
            let error = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        assert_eq!((&learner, &random), (&before.0, &before.1));
    }
    let refused = |spec: Spec| spec.kernel(VectorKernel::Linear, 5).unwrap_err().to_string();
    let spec = Spec::bare(Kind::Tracking, 2);
    assert_eq!(refused(Spec { budget: Some(0), ..spec.clone() }), "budget must be at least k, got 0");
    let novelty = Spec { budget: Some(9), novelty: f64::NAN, ..spec.clone() };
    assert_eq!(refused(novelty), "novelty must be between 0 and 1, got NaN");
    assert!(refused(Spec { as_printed: true, ..spec.clone() }).contains("anchored"));
    assert!(refused(Spec { start: Some(vec![0.0; 5]), ..spec }).contains("center"));
}

#[test]
fn a_budget_over_nearly_dependent_atoms_keeps_columns_orthonormal_and_losses_possible() {
    // With a wide kernel, the Gram matrix of nearby rows is nearly singular.
    let rows = streams::switching(20, 2, 3, 300, 1);
    for (eta, center) in [
        (1.0, Some(RunningCenter::MEAN)),
        (16.0, Some(RunningCenter::MEAN)),
        (64.0, Some(RunningCenter::MEAN)),
        (16.0, None),
    ] {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        let spec = Spec { eta, center, mixing, budget: Some(40), ..Spec::bare(Kind::Tracking, 2) };
        let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 0.05 }, 20).unwrap();
        let mut random = Random::seeded(0);
        for (i, row) in rows.iter().enumerate() {
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
            // Features have length one, so their distances are at most two.
            assert!(loss.expected <= 4.0 && loss.realised <= 4.0, "eta {eta}, row {i}: {loss:?}");
            let drift = learner.span().drift();
            assert!(drift < 1e-5, "eta {eta}, row {i}: drift {drift}");
        }
    }
}

/// Returns the total expected loss, the final number of atoms, and the error of the budget.
fn lost(spec: &Spec, rows: &[Vec<f64>]) -> (f64, usize, f64) {
    let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 1.0 }, rows[0].len()).unwrap();
    let mut random = Random::seeded(3);
    let mut total = 0.0;
    for row in rows {
        total += trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        assert!(spec.budget.is_none_or(|atoms| learner.span().dictionary().len() <= atoms));
    }
    (total, learner.span().dictionary().len(), learner.span().budget_error())
}

#[test]
fn a_budget_that_holds_all_that_is_not_forgotten_costs_nothing() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(8, 3, 0.3, 5).take(900).collect();
    let mixing = Mixing::FixedShare { alpha: 1e-2 };
    let spec = Spec { eta: 4.0, mixing, ..Spec::bare(Kind::Tracking, 2) };
    let (whole, ..) = lost(&spec, &rows);
    let (total, _, error) = lost(&Spec { budget: Some(250), ..spec.clone() }, &rows);
    assert!((total / whole - 1.0).abs() < 1e-9, "{total} against {whole}");
    assert!(error < 1e-10, "{error}");
    // A small budget causes an error, which is reported.
    let (.., error) = lost(&Spec { budget: Some(10), ..spec }, &rows);
    assert!(error > 1e-3, "{error}");
}

#[test]
fn rows_that_come_again_are_no_new_atoms_under_a_budget() {
    let few: Vec<Vec<f64>> = streams::signal_and_noise(8, 3, 0.3, 5).take(30).collect();
    let rows: Vec<Vec<f64>> = few.iter().cycle().take(600).cloned().collect();
    for center in [None, Some(RunningCenter::MEAN)] {
        let spec = Spec { center, ..Spec::bare(Kind::Tracking, 2) };
        let (whole, ..) = lost(&spec, &rows);
        let (total, atoms, error) = lost(&Spec { budget: Some(40), ..spec }, &rows);
        assert_eq!((atoms, error), (30, 0.0));
        assert!((total / whole - 1.0).abs() < 1e-6, "center {center:?}: {total} against {whole}");
    }
}

#[test]
fn the_centered_leader_of_features_equals_batch_kernel_pca_long_after_the_dictionary_is_complete() {
    let mut random = Random::seeded(11);
    let rows: Vec<Vec<f64>> = (0..300)
        .map(|i| {
            let (radius, angle) = (if i % 2 == 0 { 1.0 } else { 0.3 }, random.uniform() * std::f64::consts::TAU);
            [angle.cos(), angle.sin()].iter().map(|x| radius * x + 0.05 * random.normal()).collect()
        })
        .collect();
    let kernel = VectorKernel::Rbf { gamma: 2.0 };
    let spec = Spec { center: Some(RunningCenter::MEAN), kernel: Some(kernel.clone()), ..Spec::bare(Kind::Leader, 2) };
    let mut run = Model::with_comparators(spec, 2, 0, BestMethod::None, 0).unwrap();
    rows.iter().for_each(|row| _ = run.step(row).unwrap());
    let dictionary = Vectors::new(kernel, 2).unwrap();
    let batch = KernelPca::fit(dictionary, &rows, 2, Center::Mean, Solver::Dense).unwrap();
    let (mut embedding, mut coordinates) = (run.embedding(), Vec::new());
    // Single losses differ by the angle between the subspaces, the total by its square.
    let (mut total, mut best) = (0.0, 0.0);
    for (row, least) in rows.iter().zip(batch.losses) {
        let loss = embedding.transform(row, &mut coordinates).unwrap();
        assert!((loss - least).abs() < 1e-3, "{loss} against {least}");
        (total, best) = (total + loss, best + least);
    }
    assert!((total - best).abs() < 1e-6 * best, "{total} against {best}");
}
