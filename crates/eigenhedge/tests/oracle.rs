//! Learners compared with slow dense oracles, on many random and degenerate streams.

#![allow(clippy::unwrap_used)]

use crate::common::dense::{DenseScatter, DenseTracking, Function, Oracle};
use crate::common::product;
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Instance, Kind, Learner, Matrix, Mixing, NormBound, Random, Spec, trial};

/// Tolerance per trial, for rows of norm at most one.
const TOLERANCE: f64 = 1e-10;

/// Returns rows of norm at most one: full rank, rank-deficient, repeated, zero, axis-parallel, or all of these in turn.
fn stream(n: usize, kind: usize, rows: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let rank = 1 + random.below(n);
    let factor: Vec<Vec<f64>> = (0..rank).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let mut stream: Vec<Vec<f64>> = Vec::new();
    for t in 0..rows {
        let kind = if kind == 5 { random.below(5) } else { kind };
        let mut row = vec![0.0; n];
        match kind {
            0 => row.iter_mut().for_each(|x| *x = random.normal()),
            1 => factor.iter().for_each(|f| {
                let amount = random.normal();
                row.iter_mut().zip(f).for_each(|(x, f)| *x += amount * f);
            }),
            2 if t > 0 => row = stream[random.below(t)].clone(),
            3 if random.uniform() < 0.5 => {}
            _ => row[random.below(n)] = 1.0,
        }
        let norm = dot(&row, &row).sqrt();
        let length = if random.uniform() < 0.5 { 1.0 } else { random.uniform() };
        if norm > 0.0 && kind != 2 {
            row.iter_mut().for_each(|x| *x *= length / norm);
        }
        stream.push(row);
    }
    stream
}

struct Case {
    n: usize,
    kept: usize,
    eta: f64,
    extra: usize,
    rows: Vec<Vec<f64>>,
}

fn case(index: usize, random: &mut Random) -> Case {
    let n = 2 + random.below(if index.is_multiple_of(8) { 31 } else { 11 });
    let kept = match index % 4 {
        0 => 1,
        1 => n - 1,
        _ => 1 + random.below(n - 1),
    };
    let eta = 10f64.powf(6.0 * random.uniform() - 3.0);
    let extra = if index.is_multiple_of(3) { random.below(6) } else { 0 };
    let rows = stream(n, index % 6, 30, random);
    Case { n, kept, eta, extra, rows }
}

/// Returns the largest difference between learner and oracle in a trial.
fn largest_gap(case: &Case, spec: Spec, mut oracle: impl FnMut(&[f64]) -> f64) -> f64 {
    let dimension = Some(Multiplicity::Finite((case.n + case.extra) as u64));
    let spec = Spec { eta: case.eta, norm_bound: NormBound::Given(1.0), dimension, ..spec };
    let mut learner = spec.plain(case.n).unwrap();
    let mut random = Random::seeded(9);
    let mut largest = 0f64;
    for row in &case.rows {
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
        let mut padded = row.clone();
        padded.resize(case.n + case.extra, 0.0);
        largest = largest.max((loss.expected - oracle(&padded)).abs());
    }
    assert!((learner.trace() - case.kept as f64).abs() <= 1e-12 * case.kept as f64, "trace {}", learner.trace());
    largest
}

#[test]
fn tracking_equals_the_dense_log_domain_oracle_on_random_and_degenerate_streams() {
    let mut random = Random::seeded(11);
    for index in 0..240 {
        let case = case(index, &mut random);
        let mut oracle = DenseTracking::new(case.n + case.extra, case.kept, Mixing::None);
        let gap = largest_gap(&case, Spec::bare(Kind::Tracking, case.kept), |z| oracle.step(z, case.eta));
        assert!(gap <= TOLERANCE, "case {index}: gap {gap:e}, n {}, k {}, eta {}", case.n, case.kept, case.eta);
    }
}

#[test]
fn tracking_with_mixing_equals_the_dense_oracle() {
    let mut random = Random::seeded(12);
    for index in 0..120 {
        let case = case(index, &mut random);
        let alpha = 10f64.powf(-4.0 * random.uniform()) * 0.5;
        let mixing = if index.is_multiple_of(2) { Mixing::FixedShare { alpha } } else { Mixing::PastAverage { alpha } };
        // The past average leaves the log domain, which costs digits of the smallest weights.
        let tolerance = if index.is_multiple_of(2) { TOLERANCE } else { 1e-8 };
        let mut oracle = DenseTracking::new(case.n + case.extra, case.kept, mixing);
        let spec = Spec { mixing, ..Spec::bare(Kind::Tracking, case.kept) };
        let gap = largest_gap(&case, spec, |z| oracle.step(z, case.eta));
        assert!(gap <= tolerance, "case {index}: gap {gap:e}, {mixing:?}, n {}, k {}", case.n, case.kept);
    }
}

#[test]
fn anchored_equals_the_dense_oracle() {
    let mut random = Random::seeded(13);
    for index in 0..200 {
        let case = case(index, &mut random);
        let size = case.n + case.extra;
        let mut oracle = DenseScatter::new(size, case.kept, Function::Exponential);
        let gap = largest_gap(&case, Spec::bare(Kind::Anchored, case.kept), |z| oracle.step(z, case.eta));
        assert!(gap <= TOLERANCE, "case {index}: gap {gap:e}, n {}, k {}, eta {}", case.n, case.kept, case.eta);
    }
}

#[test]
fn anchored_equals_the_dense_oracle_where_the_chain_is_long() {
    let (n, kept, eta) = (96, 5, 2.0);
    let mut oracle = DenseScatter::new(n, kept, Function::Exponential);
    let spec = Spec { eta, norm_bound: NormBound::Given(4.0), ..Spec::bare(Kind::Anchored, kept) };
    let mut learner = spec.plain(n).unwrap();
    let mut random = Random::seeded(14);
    for row in eigenhedge::streams::signal_and_noise(n, kept, 0.3, 15).take(2 * n + 50) {
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
        let wanted = oracle.step(&row, eta / 16.0);
        assert!((loss.expected - wanted).abs() <= 1e-10, "{} against {wanted}", loss.expected);
    }
}

#[test]
fn product_sets_equal_the_enumeration_of_all_sets_of_eigenvectors() {
    let mut random = Random::seeded(16);
    let mut tried = 0;
    for index in 0..160 {
        let case = case(index, &mut random);
        let size = case.n + case.extra;
        if size > 9 {
            continue;
        }
        tried += 1;
        let mut oracle = DenseScatter::new(size, case.kept, Function::ProductSets);
        let gap = largest_gap(&case, Spec::bare(Kind::ProductSets, case.kept), |z| oracle.step(z, case.eta));
        assert!(gap <= TOLERANCE, "case {index}: gap {gap:e}, n {}, k {}, eta {}", case.n, case.kept, case.eta);
    }
    assert!(tried > 50, "{tried}");
}

/// Returns the loss of `z` for the top k eigenvectors of `C + scale Π G Π`: noise in all
/// coordinates, projected by Π onto the span of the rows.
fn perturbed_loss(rows: &[Vec<f64>], z: &[f64], kept: usize, scale: f64, random: &mut Random) -> f64 {
    let n = z.len();
    let mut scatter = Matrix::zeros(n, n);
    for row in rows {
        (0..n).for_each(|j| scatter.column_mut(j).iter_mut().zip(row).for_each(|(s, x)| *s += x * row[j]));
    }
    let eigen = symmetric_eigen(&scatter);
    let seen: Vec<usize> = (0..n).filter(|j| eigen.values[*j] > 1e-9).collect();
    let mut projection = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..n {
            let entries = seen.iter().map(|s| eigen.vectors.column(*s)[i] * eigen.vectors.column(*s)[j]);
            projection.column_mut(j)[i] = entries.sum();
        }
    }
    let mut noise = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..n {
            // The noise has variance 2 on the diagonal and 1 elsewhere.
            let entry = random.normal() / 2f64.sqrt();
            noise.column_mut(j)[i] += entry;
            noise.column_mut(i)[j] += entry;
        }
    }
    let noise = product(&projection, &product(&noise, &projection));
    let mut perturbed = scatter;
    for j in 0..n {
        perturbed.column_mut(j).iter_mut().zip(noise.column(j)).for_each(|(entry, x)| *entry += scale * x);
    }
    let eigen = symmetric_eigen(&perturbed);
    let square = |j: usize| dot(eigen.vectors.column(j), z).powi(2);
    let positive: Vec<usize> = (0..n).rev().filter(|j| eigen.values[*j] > 1e-9).take(kept).collect();
    let unseen: Vec<usize> = (0..n).filter(|j| eigen.values[*j].abs() <= 1e-9).collect();
    let from_unseen = (kept - positive.len()).min(unseen.len());
    let share = if unseen.is_empty() { 0.0 } else { from_unseen as f64 / unseen.len() as f64 };
    let negative = (0..n).rev().filter(|j| eigen.values[*j] < -1e-9).take(kept - positive.len() - from_unseen);
    let certain: f64 = positive.iter().copied().chain(negative).map(square).sum();
    dot(z, z) - certain - share * unseen.iter().map(|j| square(*j)).sum::<f64>()
}

#[test]
fn the_perturbed_leader_has_the_mean_loss_of_dense_noise() {
    const DRAWS: usize = 6000;
    // The rows span the space or leave a complement, or nearly all directions are kept.
    for (n, rank, kept, eta) in [(5, 5, 2, 0.7), (6, 3, 2, 2.0), (6, 2, 4, 0.5), (5, 4, 4, 1.0)] {
        let mut random = Random::seeded(17);
        let rows: Vec<Vec<f64>> = eigenhedge::streams::switching(n, rank, 1, 12, 18);
        let probe = &rows[3];
        let spec = Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::PerturbedLeader, kept) };
        let mut learner = spec.plain(n).unwrap();
        for row in &rows {
            trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
        }
        let mut moments = [[0.0; 2]; 3];
        let mut enter = |which: usize, loss: f64| {
            moments[which][0] += loss;
            moments[which][1] += loss * loss;
        };
        for _ in 0..DRAWS {
            let (mut copy, instance) = (learner.clone(), Instance::from(&probe[..]));
            copy.check(&instance).unwrap();
            copy.choose(&mut random);
            let loss = copy.incur(&instance);
            enter(0, loss.expected);
            enter(1, loss.realised);
            enter(2, perturbed_loss(&rows, probe, kept, 1.0 / eta, &mut random));
        }
        let [expected, realised, dense] = moments.map(|[sum, square]| {
            let mean = sum / DRAWS as f64;
            (mean, (square / DRAWS as f64 - mean * mean).max(0.0) / DRAWS as f64)
        });
        for (name, (mean, variance)) in [("expected", expected), ("realised", realised)] {
            let error = (variance + dense.1).sqrt();
            let gap = (mean - dense.0).abs();
            assert!(gap <= 4.0 * error, "{name}, n {n}, rank {rank}: {mean} against {} ± {error}", dense.0);
        }
    }
}

fn mean_loss(spec: &Spec, rows: &[Vec<f64>], probe: &[f64], random: &mut Random) -> (f64, f64) {
    const DRAWS: usize = 20_000;
    let mut learner = spec.plain(probe.len()).unwrap();
    for row in rows {
        trial(&mut learner, &Instance::from(&row[..]), random).unwrap();
    }
    let (mut sum, mut square, instance) = (0.0, 0.0, Instance::from(probe));
    for _ in 0..DRAWS {
        let mut copy = learner.clone();
        copy.check(&instance).unwrap();
        copy.choose(random);
        let loss = copy.incur(&instance).expected;
        sum += loss;
        square += loss * loss;
    }
    let mean = sum / DRAWS as f64;
    (mean, ((square / DRAWS as f64 - mean * mean) / DRAWS as f64).sqrt())
}

#[test]
fn the_noise_of_the_perturbed_leader_has_the_variances_that_no_rotation_changes() {
    let mut random = Random::seeded(19);
    let spec = |eta: f64| Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::PerturbedLeader, 1) };
    let axis = |n: usize, i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    // One direction has been seen in R³, with value 5 and variance 2/η². It is kept if the noisy
    // value is positive, here with probability Φ(1).
    let (mean, error) = mean_loss(&spec(2f64.sqrt() / 5.0), &vec![axis(3, 0); 5], &axis(3, 0), &mut random);
    let wanted = 1.0 - 0.841_344_746_068_543;
    assert!((mean - wanted).abs() <= 4.0 * error, "{mean} ± {error} against {wanted}");
    // In a plane, twice the angle of the top eigenvector is that of the point (m₁₁ - m₂₂, 2 m₁₂),
    // which is Gaussian around (5 - 2, 0) with variance 4/η² in every direction. If its center is κ
    // standard deviations from the origin, the mean cosine is √(π/8) κ e^{-κ²/4} (I₀ + I₁)(κ²/4).
    let rows = [vec![axis(2, 0); 5], vec![axis(2, 1); 2]].concat();
    for kappa in [0.5f64, 1.0, 2.0] {
        let (mean, error) = mean_loss(&spec(2.0 * kappa / 3.0), &rows, &axis(2, 0), &mut random);
        let x = kappa * kappa / 4.0;
        let (mut bessel, mut term) = (0.0, 1.0);
        for m in 0..40 {
            // Each step adds the terms of I₀ and I₁ with index m.
            bessel += term * (1.0 + x / 2.0 / f64::from(m + 1));
            term *= (x / 2.0 / f64::from(m + 1)).powi(2);
        }
        let cosine = (std::f64::consts::PI / 8.0).sqrt() * kappa * (-x).exp() * bessel;
        let wanted = (1.0 - cosine) / 2.0;
        assert!((mean - wanted).abs() <= 4.0 * error, "κ {kappa}: {mean} ± {error} against {wanted}");
    }
}
