//! Laws of the coordinates of rows, which are aligned from row to row, for plain rows and kernels.
#![allow(clippy::unwrap_used)]

use crate::common::{infinite_specs, specs};
use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::kernel::VectorKernel;
use eigenhedge::options::Options;
use eigenhedge::registry::REGISTRY;
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{Kind, Matrix, Model, RunningCenter, Spec, streams};

const N: usize = 6;
const K: usize = 3;

fn begin(spec: &Spec, asked: bool) -> Model {
    let mut run = Model::with_comparators(spec.clone(), N, 1, BestMethod::None, 0).unwrap();
    run.ask_for_coordinates(asked);
    run
}

fn rows(count: usize) -> Vec<Vec<f64>> {
    let noise = streams::signal_and_noise(N, N, 0.0, 3).take(count);
    let row = |(t, noise): (usize, Vec<f64>)| {
        let angle = 0.02 * t as f64;
        let plane = [angle.cos(), angle.sin(), 0.3, 0.0, -0.2, 0.5];
        let size = 3.0 * (0.7 * t as f64).sin();
        (0..N).map(|i| 0.01 * t as f64 + size * plane[i] + noise[i]).collect()
    };
    noise.enumerate().map(row).collect()
}

fn all_specs() -> Vec<Spec> {
    let auto = [None, Some(RunningCenter::MEAN)].map(|center| Spec { center, ..Spec::bare(Kind::Auto, K) });
    specs(K).into_iter().chain(auto).collect()
}

fn kernel_specs() -> Vec<Spec> {
    let kernel = Some(VectorKernel::Rbf { gamma: 0.02 });
    let auto = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, K) };
    let with = |spec: Spec| Spec { kernel: kernel.clone(), budget: Some(20), ..spec };
    infinite_specs(K).into_iter().chain([auto]).map(with).collect()
}

#[test]
fn losses_and_what_is_learned_are_the_same_bits_with_and_without_coordinates() {
    let rows = rows(60);
    for spec in all_specs().iter().chain(&kernel_specs()) {
        let (mut with, mut without) = (begin(spec, true), begin(spec, false));
        for row in &rows {
            assert_eq!(with.step(row).unwrap(), without.step(row).unwrap(), "{spec:?}");
        }
        assert_eq!(with.totals(), without.totals(), "{spec:?}");
        let probe = &rows[7];
        let place = |run: &mut Model| {
            let mut coordinates = Vec::new();
            (run.embedding().transform(probe, &mut coordinates).unwrap(), coordinates)
        };
        assert_eq!(place(&mut with), place(&mut without), "{spec:?}");
    }
}

/// Returns the basis of the next row's coordinates, found by stepping copies.
fn probed(run: &Model) -> Matrix {
    let at = |row: &[f64]| {
        let mut copy = run.clone();
        copy.step(row).unwrap();
        copy.coordinates().to_vec()
    };
    let origin = at(&[0.0; N]);
    let mut basis = Matrix::zeros(N, K);
    for i in 0..N {
        let mut unit = [0.0; N];
        unit[i] = 1.0;
        at(&unit).iter().zip(&origin).enumerate().for_each(|(j, (c, o))| basis.column_mut(j)[i] = c - o);
    }
    basis
}

/// Returns `B W` for B = `directions`, with W the polar factor of `BᵀP` and P = `before`.
fn procrustes(directions: &Matrix, before: &Matrix) -> Matrix {
    let product = |i: usize, j: usize| dot(directions.column(i), before.column(j));
    let mut gram = Matrix::zeros(K, K);
    for a in 0..K {
        (0..K).for_each(|b| gram.column_mut(b)[a] = (0..K).map(|i| product(i, a) * product(i, b)).sum());
    }
    let eigen = symmetric_eigen(&gram);
    let mut basis = Matrix::zeros(N, K);
    for (v, value) in eigen.values.iter().enumerate() {
        let right = eigen.vectors.column(v);
        for i in 0..K {
            let left: f64 = (0..K).map(|j| product(i, j) * right[j]).sum::<f64>() / value.sqrt();
            for (j, right) in right.iter().enumerate() {
                let column = basis.column_mut(j).iter_mut().zip(directions.column(i));
                column.for_each(|(entry, d)| *entry += left * right * d);
            }
        }
    }
    basis
}

fn distance(a: &Matrix, b: &Matrix) -> f64 {
    let of_column = |j: usize| a.column(j).iter().zip(b.column(j)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    (0..a.columns()).map(of_column).fold(0.0, f64::max)
}

#[test]
fn aligned_bases_are_orthonormal_and_those_of_dense_procrustes_rotations() {
    let rows = rows(80);
    for spec in all_specs() {
        let mut run = begin(&spec, true);
        let (mut last, mut compared) = (Matrix::zeros(N, K), 0);
        for (t, row) in rows.iter().enumerate() {
            let basis = probed(&run);
            let embedding = run.embedding();
            // Coordinates are compared only once all directions are determined.
            if embedding.inclusion.iter().all(|p| *p > 0.0) {
                assert!(basis.drift() < 1e-11, "{spec:?}, row {t}: {}", basis.drift());
                if last.drift() < 0.5 {
                    let wanted = procrustes(embedding.components().unwrap(), &last);
                    let gap = distance(&basis, &wanted);
                    assert!(gap < 1e-7, "{spec:?}, row {t}: {gap}");
                    compared += 1;
                }
            }
            let next = run.next_embedding();
            assert!(distance(&basis, next.components().unwrap()) < 1e-11, "{spec:?}, row {t}");
            run.step(row).unwrap();
            last = basis;
        }
        assert!(compared > 40, "{spec:?}: {compared}");
    }
}

#[test]
fn coordinates_through_the_linear_kernel_are_those_of_plain_rows() {
    let rows = rows(60);
    for spec in all_specs() {
        // The portfolio has other members for kernels than for plain rows.
        if spec.learner == Kind::Auto {
            continue;
        }
        let (mut plain, mut kernel) =
            (begin(&spec, true), begin(&Spec { kernel: Some(VectorKernel::Linear), ..spec.clone() }, true));
        // The sign of a new direction is arbitrary.
        let mut signs = [0.0; K];
        for (t, row) in rows.iter().enumerate() {
            plain.step(row).unwrap();
            kernel.step(row).unwrap();
            for (j, sign) in signs.iter_mut().enumerate() {
                let (a, b) = (plain.coordinates()[j], kernel.coordinates()[j]);
                if *sign == 0.0 && a.abs() > 1e-9 {
                    *sign = a.signum() * b.signum();
                }
                assert!((a - *sign * b).abs() < 1e-6, "{spec:?}, row {t}: {a} against {b}");
            }
        }
        assert!(signs.iter().all(|sign| *sign != 0.0));
    }
}

#[test]
fn a_saved_run_goes_on_with_the_same_coordinates_and_a_bad_row_changes_nothing() {
    let rows = rows(60);
    for spec in all_specs().into_iter().chain(kernel_specs()) {
        let mut run = begin(&spec, true);
        rows[..40].iter().for_each(|row| _ = run.step(row).unwrap());
        let before = run.clone();
        assert!(run.step(&[f64::NAN; N]).is_err());
        assert_eq!(run, before, "{spec:?}");
        let bytes = run.clone().to_bytes().unwrap();
        let mut restored = Model::from_bytes(&bytes).unwrap();
        restored.ask_for_coordinates(true);
        for row in &rows[40..] {
            assert_eq!(run.step(row).unwrap(), restored.step(row).unwrap());
            assert_eq!(run.coordinates(), restored.coordinates(), "{spec:?}");
        }
        assert_eq!(run, restored);
    }
}

#[test]
fn drawn_coordinates_are_those_of_the_draw_whoever_asks() {
    for entry in REGISTRY {
        let kept = if entry.kind == Kind::Oja { 1 } else { 2 };
        let options = Options::new(entry.kind, kept).with("coordinates", "drawn").with("best", "none");
        let setup = options.resolve(str::to_owned).unwrap();
        let (mut asked, mut silent) = (Model::of(&setup, N).unwrap(), Model::of(&setup, N).unwrap());
        asked.ask_for_coordinates(true);
        for row in rows(30) {
            let (loss, _) = (asked.step(&row).unwrap(), silent.step(&row).unwrap());
            assert_eq!(asked.coordinates(), silent.coordinates());
            let square = asked.learner().last_square();
            let sum = loss.realised + dot(asked.coordinates(), asked.coordinates());
            assert!((sum - square).abs() <= 1e-9 * square.max(1e-9), "{}: {sum} {square}", entry.name);
        }
    }
}

#[test]
fn projections_are_orthogonal_and_lose_what_is_charged() {
    let rows = rows(60);
    for spec in all_specs() {
        for select in Select::ALL {
            let spec = Spec { select, ..spec.clone() };
            let (mut run, mut silent) = (begin(&spec, true), begin(&spec, false));
            run.ask_for_reconstructions(true).unwrap();
            for (t, row) in rows.iter().enumerate() {
                let loss = run.step(row).unwrap();
                assert_eq!(loss, silent.step(row).unwrap(), "{spec:?}");
                let projection = run.reconstruction();
                let lost: Vec<f64> = row.iter().zip(projection).map(|(x, p)| x - p).collect();
                let (found, energy) = (dot(&lost, &lost), dot(row, row));
                assert!((found - loss.realised).abs() <= 1e-9 * energy, "{spec:?}, row {t}: {found} {}", loss.realised);
                if spec.center.is_none() {
                    assert!(dot(&lost, projection).abs() <= 1e-9 * energy, "{spec:?}, row {t}");
                }
            }
        }
    }
}

#[test]
fn before_anything_is_known_projections_average_to_the_share_of_directions_kept() {
    let (row, draws) = ([1.0, -2.0, 0.5, 0.0, 3.0, 1.0], 4000);
    let mut mean = [0.0; N];
    for seed in 0..draws {
        let mut run = Model::new(Spec::bare(Kind::Tracking, K), N, seed).unwrap();
        run.ask_for_reconstructions(true).unwrap();
        run.step(&row).unwrap();
        mean.iter_mut().zip(run.reconstruction()).for_each(|(m, x)| *m += x / draws as f64);
    }
    // Each entry has a standard deviation of at most half the norm of the row: five standard errors.
    let slack = 5.0 * 0.5 * dot(&row, &row).sqrt() / (draws as f64).sqrt();
    for (m, x) in mean.iter().zip(row) {
        assert!((m - x * K as f64 / N as f64).abs() < slack, "{mean:?}");
    }
}

#[test]
fn projections_are_refused_where_there_are_none() {
    let kernel = Spec { kernel: Some(VectorKernel::Linear), ..Spec::bare(Kind::Tracking, 2) };
    let larger = Spec { dimension: Some(Multiplicity::Finite(9)), ..Spec::bare(Kind::Tracking, 2) };
    for spec in [kernel, larger, Spec::bare(Kind::Gha, 2)] {
        let mut run = begin(&spec, false);
        assert!(run.ask_for_reconstructions(true).is_err());
        run.step(&[1.0; N]).unwrap();
        assert!(run.reconstruction().is_empty());
    }
}

#[test]
fn directions_of_leaders_come_in_order_of_energy() {
    for kind in [Kind::Leader, Kind::Anchored] {
        let mut run = Model::new(Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, K) }, N, 0).unwrap();
        rows(200).iter().for_each(|row| _ = run.step(row).unwrap());
        let embedding = run.embedding();
        let (energies, _) = run.energies(&embedding).unwrap();
        assert!(energies.is_sorted_by(|a, b| a >= b), "{kind:?}: {energies:?}");
    }
}

/// The level of the rows wanders, and `auto` follows it with a moving center. The plane of `embedding` is that of the
/// heaviest member, but coordinates keep the origin of the first member.
#[test]
fn the_embedding_of_auto_loses_what_the_next_step_does() {
    let noise: Vec<Vec<f64>> = streams::signal_and_noise(N, N, 0.0, 7).take(900).collect();
    let steps: Vec<Vec<f64>> = streams::signal_and_noise(N, N, 0.0, 8).take(900).collect();
    let mut level = [0.0; N];
    let mut run = begin(&Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) }, true);
    let (mut by_embedding, mut by_steps, mut by_mean) = (0.0, 0.0, 0.0);
    let mut mean = [0.0; N];
    for (t, (noise, step)) in noise.iter().zip(&steps).enumerate() {
        (0..N).for_each(|i| level[i] += 0.5 * step[i]);
        let row: Vec<f64> = (0..N).map(|i| level[i] + 0.2 * noise[i]).collect();
        let (mut z, mut aligned) = (Vec::new(), Vec::new());
        if t >= 300 {
            by_embedding += run.embedding().transform(&row, &mut z).unwrap();
            run.next_embedding().transform(&row, &mut aligned).unwrap();
            by_mean += (0..N).map(|i| (row[i] - mean[i]).powi(2)).sum::<f64>();
        }
        let loss = run.step(&row).unwrap();
        if t >= 300 {
            by_steps += loss.expected;
            let same = run.coordinates().iter().zip(&aligned).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + a.abs()));
            assert!(same, "{t}: {:?} {aligned:?}", run.coordinates());
        }
        (0..N).for_each(|i| mean[i] += (row[i] - mean[i]) / (t + 1) as f64);
    }
    assert!(by_embedding < 1.2 * by_steps, "{by_embedding} {by_steps}");
    assert!(by_steps < 0.2 * by_mean, "the level must matter: {by_steps} {by_mean}");
}
