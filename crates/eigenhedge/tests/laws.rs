//! Laws that hold for every subspace learner of the registry.
#![allow(clippy::unwrap_used)]

use crate::common::{product, specs, subspace_learners};
use eigenhedge::bounds::{Setting, uncentered};
use eigenhedge::comparators::BestSubspace;
use eigenhedge::internals::dot;
use eigenhedge::registry::REGISTRY;
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{
    Average, Error, Instance, Kind, Learner, Loss, Matrix, Mixing, Model, NormBound, PlainLearner, Random,
    RunningCenter, Spec, Symmetric, streams, trial,
};

fn gaussian_rows(n: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    streams::signal_and_noise(n, 2, 0.3, seed).take(rows).collect()
}

fn step(learner: &mut PlainLearner, row: &[f64], random: &mut Random) -> Loss {
    trial(learner, &Instance::from(row), random).unwrap()
}

fn run(spec: &Spec, rows: &[Vec<f64>], seed: u64) -> (PlainLearner, Vec<Loss>) {
    let mut learner = spec.plain(rows[0].len()).unwrap();
    let mut random = Random::seeded(seed);
    let losses = rows.iter().map(|row| step(&mut learner, row, &mut random)).collect();
    (learner, losses)
}

#[test]
fn every_learner_acts_before_it_has_learned_anything() {
    for spec in specs(2) {
        let (_, losses) = run(&spec, &[vec![0.6, 0.0, 0.8, 0.0, 0.0]], 1);
        assert!((losses[0].expected - 0.6).abs() < 1e-12, "{spec:?}: {}", losses[0].expected);
        assert!((0.0..=1.0 + 1e-12).contains(&losses[0].realised));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let rows = gaussian_rows(9, 60, 2);
    for spec in specs(3) {
        assert_eq!(run(&spec, &rows, 5), run(&spec, &rows, 5), "{spec:?}");
    }
}

#[test]
fn saving_and_restoring_changes_nothing() {
    let rows = gaussian_rows(9, 80, 3);
    for spec in specs(3) {
        let (whole, losses) = run(&spec, &rows, 6);
        let mut random = Random::seeded(6);
        let mut learner = spec.plain(9).unwrap();
        for (t, (row, loss)) in rows.iter().zip(&losses).enumerate() {
            if t % 7 == 0 {
                let bytes = postcard::to_stdvec(&(&learner, &random)).unwrap();
                (learner, random) = postcard::from_bytes(&bytes).unwrap();
            }
            assert_eq!(step(&mut learner, row, &mut random), *loss, "{spec:?}, row {t}");
        }
        assert_eq!(learner, whole);
    }
}

#[test]
fn bad_rows_are_named_and_leave_the_state_alone() {
    let rows = gaussian_rows(5, 20, 4);
    for spec in specs(2) {
        let spec = Spec { norm_bound: NormBound::Given(10.0), ..spec };
        let (mut learner, _) = run(&spec, &rows, 7);
        let before = learner.clone();
        let mut random = Random::seeded(1);
        let unused = random.clone();
        let bad = [
            (vec![0.1, f64::NAN, 0.0, 0.0, 0.0], "entry 1 of the row must be finite, got NaN"),
            (vec![0.1, 0.0, 0.0, 0.0, f64::INFINITY], "entry 4 of the row must be finite, got inf"),
            (vec![0.1, 0.0], "row must have 5 entries, got 2"),
            (vec![0.1; 6], "row must have 5 entries, got 6"),
            (
                vec![0.0, 0.0, 1e200, 0.0, 0.0],
                "the squared norm of the row must be finite, got a row whose largest entry is 1",
            ),
        ];
        for (row, message) in bad {
            let error = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
        let error = trial(&mut learner, &Instance::from(&[0.0, 20.0, 0.0, 0.0, 0.0][..]), &mut random).unwrap_err();
        assert!(matches!(error, Error::Norm { bound: 10.0, .. }), "{error}");
        assert_eq!((&learner, &random), (&before, &unused), "{spec:?}");
    }
}

/// A given norm bound holds for rows after centering, so not for the first row, which only sets the center.
#[test]
fn the_row_that_sets_the_center_may_exceed_a_given_norm_bound() {
    let centers = [RunningCenter::MEAN, RunningCenter::forgetting(0.9), RunningCenter::forgetting(0.0)];
    for entry in REGISTRY {
        for center in centers.into_iter().chain([RunningCenter::LEARNED]) {
            let spec = Spec { center: Some(center), norm_bound: NormBound::Given(10.0), ..Spec::bare(entry.kind, 2) };
            let Ok(mut model) = Model::new(spec, 5, 1) else { continue };
            for row in gaussian_rows(5, 20, 4) {
                let far: Vec<f64> = row.iter().map(|x| x + 1000.0).collect();
                model.step(&far).unwrap_or_else(|error| panic!("{} {center:?}: {error}", entry.name));
            }
            assert!(matches!(model.step(&[0.0; 5]), Err(Error::Norm { .. })), "{} {center:?}", entry.name);
        }
    }
}

#[test]
fn bad_parameters_are_named() {
    let refused = |spec: Spec, n: usize, message: &str| {
        let error = spec.plain(n).unwrap_err().to_string();
        assert_eq!(error, message);
    };
    for entry in subspace_learners() {
        let spec = Spec::bare(entry.kind, 2);
        for (kept, n) in [(0, 5), (5, 5), (6, 5)] {
            let message = format!("k must be at least 1 and less than the dimension {n}, got {kept}");
            refused(Spec { kept, ..spec.clone() }, n, &message);
        }
        if entry.kind.reads("eta") {
            for eta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                let message = format!("eta must be positive and finite, got {eta}");
                refused(Spec { eta, ..spec.clone() }, 5, &message);
            }
        }
        if entry.kind.reads("mixing") {
            for alpha in [-0.1, 1.0, f64::NAN] {
                let message = format!("alpha must be at least 0 and less than 1, got {alpha}");
                refused(Spec { mixing: Mixing::FixedShare { alpha }, ..spec.clone() }, 5, &message);
            }
        } else {
            let mixing = Mixing::FixedShare { alpha: 0.1 };
            assert!(matches!(Spec { mixing, ..spec.clone() }.plain(5), Err(Error::Unsupported(_))));
        }
        if entry.kind.reads("forget") {
            for forget in [0.0, 1.1, f64::NAN] {
                let message = format!("forget must be greater than 0 and at most 1, got {forget}");
                refused(Spec { forget, ..spec.clone() }, 5, &message);
            }
        }
        for bound in [0.0, -2.0, f64::NAN] {
            let message = format!("norm-bound must be positive and finite, got {bound}");
            refused(Spec { norm_bound: NormBound::Given(bound), ..spec.clone() }, 5, &message);
        }
        for prior in [-1.0, 1e-320, f64::NAN] {
            let message = format!("center-prior must be 0, or finite and at least 1e-100, got {prior}");
            refused(Spec { center: Some(RunningCenter { prior, ..RunningCenter::MEAN }), ..spec.clone() }, 5, &message);
        }
        let dimension = Some(Multiplicity::Finite(4));
        refused(Spec { dimension, ..spec }, 5, "feature-dim must be at least the length of a row, got 4");
    }
}

fn random_rotation(n: usize, seed: u64) -> Matrix {
    let mut random = Random::seeded(seed);
    let mut rotation = Matrix::zeros(n, n);
    (0..n).for_each(|j| rotation.column_mut(j).iter_mut().for_each(|x| *x = random.normal()));
    rotation.orthonormalise();
    rotation
}

#[test]
fn rotating_every_row_changes_no_loss() {
    let n = 12;
    let rows = gaussian_rows(n, 60, 8);
    let rotation = random_rotation(n, 9);
    let rotated: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..n).map(|j| dot(rotation.column(j), row)).collect()).collect();
    for spec in specs(3) {
        let (_, losses) = run(&spec, &rows, 1);
        let (_, after) = run(&spec, &rotated, 1);
        for (t, (a, b)) in losses.iter().zip(&after).enumerate() {
            assert!((a.expected - b.expected).abs() <= 1e-9, "{spec:?}, row {t}: {} {}", a.expected, b.expected);
        }
    }
}

#[test]
fn scaling_every_row_scales_losses_by_the_square() {
    let rows = gaussian_rows(8, 50, 10);
    for factor in [1e-60, 3.0, 1e60] {
        let scaled: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().map(|x| factor * x).collect()).collect();
        for spec in specs(2) {
            let (_, losses) = run(&spec, &rows, 1);
            let (_, after) = run(&spec, &scaled, 1);
            for (a, b) in losses.iter().zip(&after) {
                let wanted = a.expected * factor * factor;
                assert!((b.expected - wanted).abs() <= 1e-9 * factor * factor, "{spec:?} × {factor}");
            }
        }
    }
}

#[test]
fn mean_realised_loss_is_the_expected_loss() {
    // In early rows the complement has probability, in later ones little or none.
    let rows = gaussian_rows(10, 40, 11);
    let draws = 4000;
    for select in [Select::Systematic, Select::Corners] {
        for spec in specs(3) {
            let spec = Spec { select, eta: 0.7, ..spec };
            let mut learner = spec.plain(10).unwrap();
            let mut random = Random::seeded(12);
            for (t, row) in rows.iter().enumerate() {
                if [0, 1, 5, 39].contains(&t) {
                    let instance = Instance::from(&row[..]);
                    // The perturbed leader's expected loss is random, so differences are averaged.
                    let (mut sum, mut square) = (0.0, 0.0);
                    for _ in 0..draws {
                        let mut copy = learner.clone();
                        copy.check(&instance).unwrap();
                        copy.choose(&mut random);
                        let loss = copy.incur(&instance);
                        let gap = loss.realised - loss.expected;
                        sum += gap;
                        square += gap * gap;
                    }
                    let mean = sum / f64::from(draws);
                    let error = ((square / f64::from(draws) - mean * mean).max(0.0) / f64::from(draws)).sqrt();
                    assert!(mean.abs() <= 4.0 * error + 1e-12, "{spec:?}, row {t}: {mean} ± {error}");
                }
                step(&mut learner, row, &mut random);
            }
        }
    }
}

#[test]
fn kept_coordinates_explain_the_realised_loss() {
    let rows = gaussian_rows(10, 60, 13);
    for spec in specs(3) {
        let mut learner = spec.plain(10).unwrap();
        let mut random = Random::seeded(14);
        for row in &rows {
            let origin = learner.span().origin().unwrap_or(vec![0.0; 10]);
            let z: Vec<f64> = row.iter().zip(&origin).map(|(x, m)| x - m).collect();
            let loss = step(&mut learner, row, &mut random);
            let coordinates = learner.kept_coordinates();
            assert_eq!(coordinates.len(), 3);
            let explained = dot(coordinates, coordinates);
            let gap = (dot(&z, &z) - explained - loss.realised).abs();
            assert!(gap <= 1e-11, "{spec:?}: {gap:e}");
        }
    }
}

#[test]
fn invariants_hold_after_a_hundred_thousand_rows() {
    let (n, kept) = (16, 3);
    for kind in [Kind::Tracking, Kind::Anchored, Kind::ForgettingLeader, Kind::ProductSets] {
        for mixing in [Mixing::None, Mixing::FixedShare { alpha: 1e-3 }] {
            if kind != Kind::Tracking && mixing != Mixing::None {
                continue;
            }
            let spec = Spec { eta: 2.0, mixing, ..Spec::bare(kind, kept) };
            let mut learner = spec.plain(n).unwrap();
            let mut random = Random::seeded(15);
            for row in streams::signal_and_noise(n, kept, 0.3, 16).take(100_000) {
                step(&mut learner, &row, &mut random);
            }
            assert!((learner.trace() - kept as f64).abs() <= 1e-9, "{kind:?}: trace {}", learner.trace());
            let (directions, probabilities) = learner.directions();
            assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
            let vectors = learner.span().vectors();
            let drift = product(&vectors, &directions).drift();
            assert!(drift <= 1e-10, "{kind:?}, {mixing:?}: {drift:e}");
        }
    }
}

#[test]
fn mixing_rate_zero_is_no_mixing() {
    let rows = gaussian_rows(9, 80, 17);
    let plain = Spec { eta: 2.0, ..Spec::bare(Kind::Tracking, 2) };
    let (_, losses) = run(&plain, &rows, 1);
    for mixing in [Mixing::FixedShare { alpha: 0.0 }, Mixing::PastAverage { alpha: 0.0 }] {
        let (_, mixed) = run(&Spec { mixing, ..plain.clone() }, &rows, 1);
        for (a, b) in losses.iter().zip(&mixed) {
            // The past average uses V itself, so the smallest weights lose digits.
            assert!((a.expected - b.expected).abs() <= 1e-9, "{mixing:?}: {} {}", a.expected, b.expected);
        }
    }
}

fn bounded_streams(n: usize, seed: u64) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let mut random = Random::seeded(seed);
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let mut iid: Vec<Vec<f64>> = (0..300).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    for row in &mut iid {
        let norm = dot(row, row).sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    let repeated = (0..300).map(|t| iid[t % 3].clone()).collect();
    let starving = (0..300).map(|t| if t < 60 { unit(t % 2) } else { unit(2) }).collect();
    let rotating = (0..300).map(|t| unit(t % n)).collect();
    vec![
        ("iid", iid),
        ("switching", streams::switching(n, 2, 3, 100, seed)),
        ("rank-deficient", streams::switching(n, 1, 1, 300, seed)),
        ("repeated", repeated),
        ("starving", starving),
        ("rotating", rotating),
    ]
}

#[test]
fn regret_is_within_the_bound_for_every_learner_with_a_theorem() {
    let n = 8;
    for seed in 0..5 {
        for (name, rows) in bounded_streams(n, seed) {
            for kept in [1, 2, 7] {
                let mut best = BestSubspace::new(n, false).unwrap();
                rows.iter().for_each(|row| best.add(row));
                let best = best.loss(kept);
                for kind in [Kind::Tracking, Kind::Anchored] {
                    for eta in [0.1, 1.0, 5.0] {
                        let spec = Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, kept) };
                        let (_, losses) = run(&spec, &rows, seed);
                        let total: f64 = losses.iter().map(|loss| loss.expected).sum();
                        let setting = Setting::new(eta, kept, Multiplicity::Finite(n as u64));
                        let bound = uncentered(&setting, best).unwrap();
                        assert!(total <= bound + 1e-9, "{name}, {kind:?}, k {kept}, eta {eta}: {total} > {bound}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_symmetric_matrix_is_charged_and_learned_like_the_sum_of_its_dyads() {
    // All eigenvalues are equal, so the loss is d times the eigenvalue.
    let n = 6;
    let mut half = Matrix::identity(n);
    (0..n).for_each(|j| half.column_mut(j)[j] = 0.5);
    let isotropic = Symmetric::new(&half).unwrap();
    for kind in [Kind::Tracking, Kind::Anchored] {
        let spec = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, 2) };
        let mut learner = spec.plain(n).unwrap();
        let mut random = Random::seeded(1);
        for _ in 0..20 {
            let loss = trial(&mut learner, &Instance::Dyads(&isotropic.dyads()), &mut random).unwrap();
            assert!((loss.expected - 2.0).abs() <= 1e-12, "{}", loss.expected);
            assert!((loss.realised - 2.0).abs() <= 1e-12, "{}", loss.realised);
        }
        // A matrix of rank one is equivalent to its vector.
        let vector = [0.6, 0.0, 0.0, 0.8, 0.0, 0.0];
        let mut dyad = Matrix::zeros(n, n);
        for j in 0..n {
            (0..n).for_each(|i| dyad.column_mut(j)[i] = vector[i] * vector[j]);
        }
        let dyad = Symmetric::new(&dyad).unwrap();
        let mut other = learner.clone();
        for _ in 0..10 {
            let a = trial(&mut learner, &Instance::Dyads(&dyad.dyads()), &mut random).unwrap();
            let b = trial(&mut other, &Instance::from(&vector[..]), &mut random).unwrap();
            assert!((a.expected - b.expected).abs() <= 1e-12);
        }
        let mut double = Matrix::identity(n);
        double.column_mut(3)[3] = 2.0;
        let double = Symmetric::new(&double).unwrap();
        let error = trial(&mut learner, &Instance::Dyads(&double.dyads()), &mut random).unwrap_err();
        assert!(matches!(error, Error::Norm { .. }), "{error}");
    }
}

#[test]
fn symmetric_instances_that_are_not_positive_or_not_symmetric_are_refused() {
    let mut matrix = Matrix::identity(3);
    matrix.column_mut(1)[1] = -0.5;
    assert!(Symmetric::new(&matrix).unwrap_err().to_string().contains("not negative, got -0.5"));
    let mut matrix = Matrix::identity(3);
    matrix.column_mut(1)[0] = 0.5;
    assert!(Symmetric::new(&matrix).unwrap_err().to_string().contains("equal to its mirror"));
    let mut matrix = Matrix::identity(3);
    matrix.column_mut(2)[2] = f64::NAN;
    assert!(Symmetric::new(&matrix).unwrap_err().to_string().contains("finite, got NaN"));
    assert!(Symmetric::new(&Matrix::zeros(2, 3)).is_err());
}

#[test]
fn the_average_of_the_losses_is_the_loss_of_the_average() {
    let n = 7;
    let rows = gaussian_rows(n, 40, 18);
    let probes = gaussian_rows(n, 4, 19);
    for spec in specs(2).into_iter().filter(|spec| spec.center.is_none()) {
        let mut learner = spec.plain(n).unwrap();
        let (mut random, mut average) = (Random::seeded(20), Average::new(n).unwrap());
        let mut sums = vec![0.0; probes.len()];
        for row in &rows {
            // This follows the choice, in which the perturbed leader draws its directions.
            let instance = Instance::from(&row[..]);
            learner.check(&instance).unwrap();
            learner.choose(&mut random);
            let before = learner.clone();
            average.add(&mut learner).unwrap();
            assert_eq!(learner, before);
            for (sum, probe) in sums.iter_mut().zip(&probes) {
                let (mut copy, probe) = (learner.clone(), Instance::from(&probe[..]));
                copy.check(&probe).unwrap();
                *sum += copy.incur(&probe).expected;
            }
            learner.incur(&instance);
            learner.update(&instance);
        }
        assert_eq!(average.terms(), rows.len() as u64);
        for (sum, probe) in sums.iter().zip(&probes) {
            let (wanted, found) = (sum / rows.len() as f64, average.loss(probe).unwrap());
            assert!((found - wanted).abs() <= 1e-11, "{spec:?}: {found} against {wanted}");
        }
        let projection = average.projection();
        let trace: f64 = (0..n).map(|j| projection.column(j)[j]).sum();
        assert!((trace - 2.0).abs() <= 1e-10, "{spec:?}: trace {trace}");
        // The top eigenvectors explain at least as much as any two coordinate axes.
        let top = average.subspace(2);
        assert!(top.drift() <= 1e-12);
        let explained = |u: &[f64]| (0..n).map(|j| u[j] * dot(projection.column(j), u)).sum::<f64>();
        let best: f64 = (0..2).map(|j| explained(top.column(j))).sum();
        let mut diagonal: Vec<f64> = (0..n).map(|j| projection.column(j)[j]).collect();
        diagonal.sort_by(f64::total_cmp);
        assert!(best >= diagonal[n - 1] + diagonal[n - 2] - 1e-12);
        let bytes = postcard::to_stdvec(&average).unwrap();
        assert_eq!(postcard::from_bytes::<Average>(&bytes).unwrap(), average);
    }
}

#[test]
fn an_average_refuses_what_it_cannot_hold() {
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    let mut average = Average::new(5).unwrap();
    let mut centered = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Tracking, 2) }.plain(5).unwrap();
    assert!(message(average.add(&mut centered)).contains("center"));
    let mut short = Spec::bare(Kind::Tracking, 2).plain(4).unwrap();
    assert_eq!(message(average.add(&mut short)), "a row of the learner must have 5 entries, got 4");
    assert_eq!(average.terms(), 0);
    assert_eq!(message(average.loss(&[0.0; 4]).map(drop)), "row must have 5 entries, got 4");
    let long = Average::new(4097).map(drop);
    assert_eq!(message(long), "the length of a row must be at least 1 and at most 4096, got 4097");
}

#[test]
fn the_perturbed_leader_without_noise_is_the_leader() {
    let n = 6;
    let rows = gaussian_rows(n, 60, 24);
    let (_, leader) = run(&Spec::bare(Kind::Leader, 2), &rows, 1);
    let (_, perturbed) = run(&Spec { eta: 1e12, ..Spec::bare(Kind::PerturbedLeader, 2) }, &rows, 1);
    // Until k directions have been seen, both learners keep unseen directions.
    for (t, (a, b)) in leader.iter().zip(&perturbed).enumerate().skip(2) {
        assert!((a.expected - b.expected).abs() <= 1e-8, "row {t}: {} {}", a.expected, b.expected);
    }
}

#[test]
fn product_sets_refuse_a_space_without_end() {
    let spec = Spec { dimension: Some(Multiplicity::Infinite), ..Spec::bare(Kind::ProductSets, 2) };
    assert!(spec.plain(5).unwrap_err().to_string().contains("finite dimension"));
}
