//! Laws of the Hebbian learners, and comparisons with recorded results.
#![allow(clippy::unwrap_used)]

use eigenhedge::hebbian::{AmbientWeights, FeatureWeights, Hebbian, Params, Rate, Rule};
use eigenhedge::internals::{Weights, dot, symmetric_eigen};
use eigenhedge::kernel::{Dictionary, VectorKernel, Vectors};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Error, Instance, Learner, Matrix, NormBound, Random, RunningCenter, streams, trial};
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;

const RBF: VectorKernel = VectorKernel::Rbf { gamma: 1.5 };

type Plain = Hebbian<AmbientWeights>;
type Feature = Hebbian<FeatureWeights<Vectors>>;

/// Returns every rule with every kind of rate, with `components` vectors if the rule allows them.
fn all_params(components: usize, eta: f64) -> Vec<Params> {
    let mut all = Vec::new();
    for rate in [Rate::Constant { eta }, Rate::Decreasing { eta, half: 50.0 }] {
        let rules = [
            Rule::Apex { stage: None },
            Rule::Apex { stage: Some(40) },
            Rule::Simultaneous { beta: 1.0 },
            Rule::Simultaneous { beta: 2.0 },
            Rule::Simultaneous { beta: 0.5 },
        ];
        all.push(Params { rate, ..Params::oja(eta) });
        all.extend(rules.map(|rule| Params { components, rule, rate, ..Params::oja(eta) }));
    }
    all
}

fn plain(params: Params, n: usize) -> Plain {
    Hebbian::new(params, AmbientWeights::new(n)).unwrap()
}

fn feature(params: Params, kernel: VectorKernel, n: usize, budget: Option<usize>) -> Feature {
    let weights = FeatureWeights::new(Vectors::new(kernel, n).unwrap()).unwrap();
    let weights = match budget {
        None => weights,
        Some(atoms) => weights.with_budget(atoms).unwrap(),
    };
    Hebbian::new(params, weights).unwrap()
}

fn step<W: Weights<Point = [f64]>>(learner: &mut Hebbian<W>, row: &[f64]) -> f64 {
    let loss = trial(learner, &Instance::from(row), &mut Random::seeded(0)).unwrap();
    assert_eq!(loss.expected, loss.realised);
    loss.expected
}

fn gaussian_rows(n: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    streams::signal_and_noise(n, 3, 0.2, seed).take(rows).collect()
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn agrees_with_the_fixture(name: &str, params: impl Fn(&Value) -> Params) {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows: Vec<Vec<f64>> = fixture["x"].as_array().unwrap().iter().map(list).collect();
    let outputs: Vec<Vec<f64>> = fixture["outputs"].as_array().unwrap().iter().map(list).collect();
    let kernel = VectorKernel::Rbf { gamma: fixture["params"]["gamma"].as_f64().unwrap() };
    let params = params(&fixture["params"]);
    let (initial, stream) = rows.split_at(params.components);
    assert_eq!(stream.len(), outputs.len());
    let points: Vec<&[f64]> = initial.iter().map(Vec::as_slice).collect();
    let mut given = feature(params, kernel.clone(), rows[0].len(), None).starting_from(&points).unwrap();
    let mut first_rows = feature(params, kernel, rows[0].len(), None);
    for row in initial {
        step(&mut first_rows, row);
    }
    for (t, (row, wanted)) in stream.iter().zip(&outputs).enumerate() {
        for learner in [&mut given, &mut first_rows] {
            step(learner, row);
            let gap = gap(learner.outputs(), wanted);
            assert!(gap <= fixture["tolerance"].as_f64().unwrap(), "row {t}: {gap:e}");
        }
    }
    assert_eq!(given, first_rows);
}

#[test]
fn kernel_oja_agrees_with_the_fixture() {
    agrees_with_the_fixture("kernel_oja", |params| Params::oja(params["eta"].as_f64().unwrap()));
}

#[test]
fn kernel_simultaneous_agrees_with_the_fixture() {
    agrees_with_the_fixture("kernel_gha", |params| {
        let components = params["components"].as_u64().unwrap() as usize;
        Params::simultaneous(components, params["eta"].as_f64().unwrap(), params["beta"].as_f64().unwrap())
    });
}

fn treatments() -> Vec<(Option<RunningCenter>, Option<f64>)> {
    let centers =
        [RunningCenter::MEAN, RunningCenter::forgetting(0.6), RunningCenter { prior: 2.0, ..RunningCenter::MEAN }];
    let mut all: Vec<_> = centers.map(|center| (Some(center), None)).to_vec();
    all.extend([(None, Some(1.2)), (Some(RunningCenter::MEAN), Some(1.2)), (Some(centers[1]), Some(1.2))]);
    all
}

/// Returns centered rows and their clipping factors, computed by the definitions.
fn by_definition(rows: &[Vec<f64>], center: Option<RunningCenter>, clip: Option<f64>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut mean = vec![0.0; rows[0].len()];
    let mut weight = center.map_or(0.0, |center| center.prior);
    let (mut seen, mut factors, mut norms): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    for row in rows {
        let fixes = center.is_some() && weight == 0.0;
        let deviation: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m).collect();
        let norm = dot(&deviation, &deviation).sqrt();
        let mut last: Vec<f64> = norms[norms.len().saturating_sub(101)..].to_vec();
        last.sort_by(f64::total_cmp);
        let median = (last.len() >= 10).then(|| last[last.len() / 2]);
        let factor = match (clip, median) {
            (Some(clip), Some(median)) if norm > clip * median => clip * median / norm,
            _ => 1.0,
        };
        if let Some(center) = center {
            weight = center.forget * weight + 1.0;
            mean.iter_mut().zip(&deviation).for_each(|(m, d)| *m += factor * d / weight);
        }
        if !fixes {
            norms.push(norm);
        }
        seen.push(deviation);
        factors.push(factor);
    }
    (seen, factors)
}

fn shifted_rows(n: usize, rows: usize) -> Vec<Vec<f64>> {
    let mut rows = gaussian_rows(n, rows, 4);
    for (t, row) in rows.iter_mut().enumerate() {
        let size = if t % 37 == 36 { 9.0 } else { 1.0 };
        row.iter_mut().enumerate().for_each(|(i, x)| *x = size * *x + (i as f64 - 1.0) + 0.01 * t as f64);
    }
    rows
}

#[test]
fn a_centered_learner_learns_from_what_the_center_leaves_shortened_if_too_long() {
    let rows = shifted_rows(6, 400);
    for (center, clip) in treatments() {
        let (seen, factors) = by_definition(&rows, center, clip);
        let fixing = usize::from(center.is_some_and(|center| center.prior == 0.0));
        for params in all_params(3, 0.1) {
            let mut treated = plain(Params { center, clip, ..params }, 6);
            let mut twin = plain(params, 6);
            assert_eq!(treated.fixes_center(), fixing == 1);
            for (t, row) in rows.iter().enumerate() {
                let loss = step(&mut treated, row);
                let whole = dot(&seen[t], &seen[t]);
                if t < fixing {
                    assert!((loss - whole).abs() <= 1e-12 * whole);
                    continue;
                }
                let coordinates = twin.embed(&seen[t]).unwrap();
                let wanted = whole - dot(coordinates, coordinates);
                // The accuracy for nearly dependent vectors is 1e-7.
                assert!((loss - wanted).abs() <= 1e-6 * whole, "{center:?} {clip:?} row {t}: {loss} {wanted}");
                let taught: Vec<f64> = seen[t].iter().map(|x| factors[t] * x).collect();
                step(&mut twin, &taught);
            }
            for p in 0..params.components {
                let gap = gap(treated.weights().vectors().column(p), twin.weights().vectors().column(p));
                assert!(gap <= 1e-8, "{center:?} {clip:?} {params:?}: {gap:e}");
            }
            assert_eq!(treated.clipped(), factors[fixing..].iter().filter(|factor| **factor < 1.0).count() as u64);
            assert_eq!(treated.clipped() > 0, clip.is_some());
        }
    }
}

#[test]
fn a_linear_kernel_is_the_plain_learner_around_a_center() {
    let rows = shifted_rows(6, 300);
    for (center, clip) in treatments() {
        for params in all_params(3, 0.1) {
            let params = Params { center, clip, ..params };
            let (mut a, mut b) = (plain(params, 6), feature(params, VectorKernel::Linear, 6, None));
            for (t, row) in rows.iter().enumerate() {
                let (loss, other) = (step(&mut a, row), step(&mut b, row));
                // Squared distances from the center are differences. The accuracy for nearly dependent vectors is 1e-7.
                let gap = gap(a.outputs(), b.outputs()).max((loss - other).abs());
                assert!(gap <= 1e-6, "{params:?}, row {t}: {gap:e}");
            }
            assert_eq!(a.clipped(), b.clipped());
        }
    }
}

#[test]
fn rows_at_the_center_teach_nothing_and_take_no_atom() {
    let mut learner = feature(Params { center: Some(RunningCenter::MEAN), ..Params::oja(0.1) }, RBF, 2, None);
    assert_eq!(step(&mut learner, &[1.0, 2.0]), 1.0);
    for _ in 0..5 {
        assert_eq!(step(&mut learner, &[1.0, 2.0]), 0.0);
    }
    assert_eq!((learner.weights().dictionary().len(), learner.outputs().len()), (1, 0));
}

#[test]
fn a_linear_kernel_is_the_plain_learner() {
    // Steps near one shrink vectors so much that their common factor is often multiplied into the coefficients.
    for eta in [0.05, 0.9] {
        for params in all_params(3, eta) {
            let (mut a, mut b) = (plain(params, 6), feature(params, VectorKernel::Linear, 6, None));
            for (t, row) in gaussian_rows(6, 1500, 1).iter().enumerate() {
                let loss_gap = (step(&mut a, row) - step(&mut b, row)).abs();
                let gap = gap(a.outputs(), b.outputs()).max(loss_gap);
                assert!(gap <= 1e-9, "{params:?}, row {t}: {gap:e}");
            }
        }
    }
}

#[test]
fn a_vector_that_is_shrunk_to_nothing_starts_again_from_the_row() {
    // With η = 1 and a row equal to the vector, the update multiplies the vector by 0.
    let row = [0.0, 2.0, 0.0];
    let mut learner = feature(Params::oja(1.0), VectorKernel::Linear, 3, None);
    for t in 0..5 {
        let loss = step(&mut learner, &row);
        assert_eq!(loss, if t == 0 { 4.0 } else { 0.0 });
    }
    assert_eq!(learner.outputs(), [2.0]);
}

fn loss_of_vectors(vectors: &Matrix, row: &[f64]) -> f64 {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for j in 0..vectors.columns() {
        let mut v = vectors.column(j).to_vec();
        let length = dot(&v, &v).sqrt();
        for _ in 0..3 {
            for b in &basis {
                let overlap = dot(b, &v);
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= overlap * b);
            }
        }
        let rest = dot(&v, &v).sqrt();
        if rest > 1e-6 * length {
            basis.push(v.iter().map(|x| x / rest).collect());
        }
    }
    let mut z = row.to_vec();
    for b in &basis {
        let overlap = dot(b, &z);
        z.iter_mut().zip(b).for_each(|(z, b)| *z -= overlap * b);
    }
    dot(&z, &z)
}

#[test]
fn plain_losses_are_those_of_the_span_of_the_vectors() {
    for params in all_params(4, 0.3) {
        let mut learner = plain(params, 8);
        for (t, row) in gaussian_rows(8, 400, 2).iter().enumerate() {
            let wanted = loss_of_vectors(learner.weights().vectors(), row);
            let gap = (step(&mut learner, row) - wanted).abs();
            assert!(gap <= 1e-12, "{params:?}, row {t}: {gap:e}");
        }
    }
}

#[test]
fn losses_are_true_on_streams_without_enough_directions() {
    // The stream has two directions for four vectors, zero rows, and runs of equal rows.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (t, row) in streams::switching(8, 2, 1, 100, 3).into_iter().enumerate() {
        let copies = if t % 10 == 0 { 4 } else { 1 };
        rows.extend(std::iter::repeat_n(row, copies));
        rows.push(vec![0.0; 8]);
    }
    for params in all_params(4, 0.3) {
        let mut learner = plain(params, 8);
        for (t, row) in rows.iter().enumerate() {
            let wanted = loss_of_vectors(learner.weights().vectors(), row);
            let gap = (step(&mut learner, row) - wanted).abs();
            assert!(gap <= 1e-9, "{params:?}, row {t}: {gap:e}");
        }
    }
}

#[test]
fn losses_are_still_true_after_a_hundred_thousand_trials() {
    for params in [Params::apex(3, 0.1), Params::simultaneous(3, 0.1, 1.0), Params::simultaneous(3, 1e-4, 1.0)] {
        let mut learner = plain(params, 5);
        let mut worst = 0f64;
        for (t, row) in streams::signal_and_noise(5, 3, 0.2, 4).take(100_000).enumerate() {
            let wanted = (t % 100 == 0).then(|| loss_of_vectors(learner.weights().vectors(), &row));
            let loss = step(&mut learner, &row);
            worst = worst.max(wanted.map_or(0.0, |wanted| (loss - wanted).abs()));
        }
        assert!(worst <= 1e-11, "{params:?}: {worst:e}");
    }
}

/// Solves `G x = y` by elimination with pivoting. Returns `y·x`.
fn quadratic(mut g: Vec<Vec<f64>>, y: &[f64]) -> f64 {
    let n = y.len();
    let mut x = y.to_vec();
    for i in 0..n {
        let pivot = (i..n).max_by(|a, b| g[*a][i].abs().total_cmp(&g[*b][i].abs())).unwrap();
        g.swap(i, pivot);
        x.swap(i, pivot);
        for r in 0..n {
            if r != i {
                let factor = g[r][i] / g[i][i];
                for c in 0..n {
                    g[r][c] -= factor * g[i][c];
                }
                x[r] -= factor * x[i];
            }
        }
    }
    (0..n).map(|i| y[i] * x[i] / g[i][i]).sum()
}

fn brute_force(weights: &FeatureWeights<Vectors>, row: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (atoms, p) = (weights.dictionary(), weights.count());
    let alpha: Vec<Vec<f64>> = (0..p).map(|i| weights.coefficients(i).collect()).collect();
    let mut gram = vec![vec![0.0; p]; p];
    let mut outputs = vec![0.0; p];
    for m in 0..atoms.len() {
        for n in 0..atoms.len() {
            let value = atoms.value(atoms.atom(m), atoms.atom(n));
            for i in 0..p {
                for j in 0..p {
                    gram[i][j] += alpha[i][m] * alpha[j][n] * value;
                }
            }
        }
        let value = atoms.value(atoms.atom(m), row);
        (0..p).for_each(|i| outputs[i] += alpha[i][m] * value);
    }
    (gram, outputs)
}

#[test]
fn kernel_losses_and_outputs_are_those_of_the_expansions() {
    let polynomial = VectorKernel::Polynomial { gamma: 1.0, degree: 3, coef0: 0.5 };
    for (kernel, budget) in [(&RBF, None), (&RBF, Some(20)), (&polynomial, None), (&polynomial, Some(20))] {
        for params in all_params(3, 0.3) {
            let mut learner = feature(params, kernel.clone(), 5, budget);
            for (t, row) in gaussian_rows(5, 80, 5).iter().enumerate() {
                let (gram, outputs) = brute_force(learner.weights(), row);
                let square = kernel.value(row, row);
                let wanted = square - quadratic(gram, &outputs);
                let loss = step(&mut learner, row);
                assert!((loss - wanted).abs() <= 1e-9, "{params:?}, {budget:?}, row {t}: {loss} {wanted}");
                assert!(gap(learner.outputs(), &outputs) <= 1e-12);
            }
        }
    }
}

fn clusters(points: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let center = |i: usize| if 5 * i < 3 * points { 1.0 } else { -1.0 };
    (0..points)
        .map(|i| (0..3).map(|j| f64::from(u8::from(j == 0)) * center(i) + 0.15 * random.normal()).collect())
        .collect()
}

fn epochs(points: &[Vec<f64>], rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut order: Vec<usize> = (0..points.len()).collect();
    let mut stream = Vec::new();
    while stream.len() < rows {
        (1..order.len()).for_each(|i| order.swap(i, random.below(i + 1)));
        stream.extend(order.iter().map(|i| points[*i].clone()));
    }
    stream
}

/// Returns the inner products of weight vectors and components of uncentered kernel PCA.
fn alignment(learner: &mut Feature, kernel: &VectorKernel, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = points.len();
    let mut gram = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..n {
            gram.column_mut(j)[i] = kernel.value(&points[i], &points[j]);
        }
    }
    let eigen = symmetric_eigen(&gram);
    let p = learner.params().components;
    let mut alignment = vec![vec![0.0; p]; p];
    for (i, point) in points.iter().enumerate() {
        learner.embed(point).unwrap();
        for q in 0..p {
            let coefficient = eigen.vectors.column(n - 1 - q)[i] / eigen.values[n - 1 - q].sqrt();
            learner.outputs().iter().zip(&mut alignment).for_each(|(y, row)| row[q] += coefficient * y);
        }
    }
    alignment
}

/// Asserts that vectors are within one degree of their components and 5 % of norm one.
fn assert_converges(params: Params, rows: usize) {
    let points = clusters(25, 7);
    let kernel = VectorKernel::Rbf { gamma: 0.8 };
    let rate = Rate::Decreasing { eta: 0.5, half: 20.0 };
    let mut learner = feature(Params { rate, ..params }, kernel.clone(), 3, None);
    for row in epochs(&points, rows, 8) {
        step(&mut learner, &row);
    }
    let squares = brute_force(learner.weights(), &points[0]).0;
    for (p, products) in alignment(&mut learner, &kernel, &points).iter().enumerate() {
        let length = squares[p][p].sqrt();
        let cosine = products[p].abs() / length;
        assert!(cosine >= 1f64.to_radians().cos(), "{params:?}: vector {p}: {}°", cosine.acos().to_degrees());
        assert!((length - 1.0).abs() <= 0.05, "{params:?}: vector {p}: length {length}");
    }
}

#[test]
fn a_decreasing_step_converges_to_batch_kernel_pca() {
    assert_converges(Params::oja(0.5), 3000);
    assert_converges(Params::apex(2, 0.5), 3000);
    assert_converges(Params::simultaneous(2, 0.5, 1.0), 3000);
    assert_converges(Params::simultaneous(2, 0.5, 2.0), 3000);
}

#[test]
fn components_learned_one_after_the_other_converge_too() {
    assert_converges(Params { rule: Rule::Apex { stage: Some(1500) }, ..Params::apex(2, 0.5) }, 3000);
}

#[test]
fn a_budget_for_every_distinct_point_changes_nothing() {
    let rows = epochs(&clusters(15, 8), 400, 9);
    for params in all_params(2, 0.2) {
        let mut free = feature(params, RBF, 3, None);
        let mut tight = feature(params, RBF, 3, Some(15));
        for (t, row) in rows.iter().enumerate() {
            let loss_gap = (step(&mut free, row) - step(&mut tight, row)).abs();
            let gap = gap(free.outputs(), tight.outputs()).max(loss_gap);
            assert!(gap <= 1e-9, "{params:?}, row {t}: {gap:e}");
        }
        // Distances between copies are square roots of rounding errors.
        assert!(tight.weights().forgotten() <= 1e-5, "{}", tight.weights().forgotten());
    }
}

#[test]
fn the_budget_is_never_exceeded() {
    for budget in [3, 10] {
        for params in all_params(3, 0.2) {
            let mut learner = feature(params, RBF, 5, Some(budget));
            for row in gaussian_rows(5, 300, 9) {
                step(&mut learner, &row);
                assert!(learner.weights().dictionary().len() <= budget);
            }
            assert!(learner.weights().forgotten() > 0.0);
        }
    }
}

#[test]
fn a_budget_loses_little_on_a_stationary_stream() {
    let rate = Rate::Decreasing { eta: 0.5, half: 60.0 };
    let params = Params { rate, ..Params::simultaneous(2, 0.5, 1.0) };
    let rows = gaussian_rows(5, 2000, 10);
    let total = |budget| {
        let mut learner = feature(params, RBF, 5, budget);
        rows.iter().map(|row| step(&mut learner, row)).sum::<f64>()
    };
    let (free, tight) = (total(None), total(Some(60)));
    assert!(tight <= 1.1 * free, "{free} {tight}");
}

struct Counting {
    vectors: Vectors,
    evaluations: Rc<Cell<u64>>,
}

impl Dictionary for Counting {
    type Point = [f64];
    fn len(&self) -> usize {
        self.vectors.len()
    }
    fn dimension(&self) -> Multiplicity {
        self.vectors.dimension()
    }
    fn row(&mut self, point: &[f64], row: &mut Vec<f64>) -> Result<f64, Error> {
        self.evaluations.update(|count| count + self.len() as u64 + 1);
        self.vectors.row(point, row)
    }
    fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        self.evaluations.update(|count| count + 1);
        self.vectors.value(a, b)
    }
    fn push(&mut self, point: &[f64]) {
        self.vectors.push(point);
    }
    fn swap_remove(&mut self, atom: usize) {
        self.vectors.swap_remove(atom);
    }
    fn atom(&self, atom: usize) -> &[f64] {
        self.vectors.atom(atom)
    }
}

#[test]
fn a_trial_evaluates_one_kernel_row_and_no_more() {
    for params in all_params(3, 0.1) {
        for budget in [None, Some(30)] {
            let evaluations = Rc::new(Cell::new(0));
            let vectors = Vectors::new(RBF, 4).unwrap();
            let weights = FeatureWeights::new(Counting { vectors, evaluations: Rc::clone(&evaluations) }).unwrap();
            let weights = if let Some(atoms) = budget { weights.with_budget(atoms).unwrap() } else { weights };
            let mut learner = Hebbian::new(params, weights).unwrap();
            let mut wanted = 0;
            for (t, row) in gaussian_rows(4, 200, 11).iter().enumerate() {
                step(&mut learner, row);
                wanted += t.min(budget.unwrap_or(t)) as u64 + 1;
                assert_eq!(evaluations.get(), wanted, "{params:?}, {budget:?}");
            }
        }
    }
}

#[test]
fn rotating_every_row_changes_no_loss_and_scaling_scales_it_by_the_square() {
    let n = 6;
    let rows = gaussian_rows(n, 200, 12);
    let mut random = Random::seeded(13);
    let mut rotation = Matrix::zeros(n, n);
    (0..n).for_each(|j| rotation.column_mut(j).iter_mut().for_each(|x| *x = random.normal()));
    rotation.orthonormalise();
    for params in all_params(3, 0.2) {
        for factor in [1e-60, 1.0, 1e60] {
            let (mut learner, mut moved) = (plain(params, n), plain(params, n));
            let mut kernel = feature(params, VectorKernel::Linear, n, Some(50));
            for row in &rows {
                let image: Vec<f64> = (0..n).map(|j| factor * dot(rotation.column(j), row)).collect();
                let loss = step(&mut learner, row);
                let gap = (step(&mut moved, &image) / factor / factor - loss).abs();
                assert!(gap <= 1e-9, "{params:?}: {gap:e}");
                step(&mut kernel, &image);
            }
        }
    }
}

#[test]
fn the_same_rows_give_the_same_bits_and_restoring_changes_nothing() {
    let rows = gaussian_rows(5, 120, 14);
    for params in all_params(3, 0.2) {
        let mut learner = feature(params, RBF, 5, Some(30));
        let mut again = learner.clone();
        let mut restored = learner.clone();
        let (mut vectors, mut restored_vectors) = (plain(params, 5), plain(params, 5));
        for (t, row) in rows.iter().enumerate() {
            if t % 7 == 0 {
                restored = postcard::from_bytes(&postcard::to_stdvec(&restored).unwrap()).unwrap();
                restored_vectors = serde_json::from_str(&serde_json::to_string(&restored_vectors).unwrap()).unwrap();
            }
            let loss = step(&mut learner, row);
            assert_eq!((step(&mut again, row), step(&mut restored, row)), (loss, loss), "{params:?}, row {t}");
            assert_eq!(step(&mut vectors, row), step(&mut restored_vectors, row));
        }
        assert_eq!((&again, &restored), (&learner, &learner));
        assert_eq!(vectors, restored_vectors);
    }
}

#[test]
fn a_trial_may_be_restored_in_its_middle() {
    let rows = gaussian_rows(4, 20, 15);
    let mut learner = plain(Params::simultaneous(2, 0.2, 1.0), 4);
    for row in &rows {
        step(&mut learner, row);
    }
    let mut restored = learner.clone();
    restored.check(&Instance::from(&rows[3][..])).unwrap();
    restored.incur(&Instance::from(&rows[3][..]));
    let mut restored: Plain = postcard::from_bytes(&postcard::to_stdvec(&restored).unwrap()).unwrap();
    restored.update(&Instance::from(&rows[3][..]));
    step(&mut learner, &rows[3]);
    assert_eq!(learner, restored);
}

fn refused<W: Weights<Point = [f64]>>(learner: &mut Hebbian<W>, row: &[f64]) -> String {
    let mut random = Random::seeded(1);
    let error = trial(learner, &Instance::from(row), &mut random).unwrap_err();
    assert_eq!(random, Random::seeded(1));
    error.to_string()
}

#[test]
fn bad_rows_are_named_and_leave_the_state_alone() {
    for params in all_params(2, 0.2) {
        let params = Params { norm_bound: NormBound::Given(10.0), ..params };
        let (mut vectors, mut expansions) = (plain(params, 3), feature(params, VectorKernel::Linear, 3, Some(8)));
        for row in gaussian_rows(3, 20, 16) {
            step(&mut vectors, &row);
            step(&mut expansions, &row);
        }
        let before = (vectors.clone(), expansions.clone());
        let bad = [
            (vec![0.1, f64::NAN, 0.0], "entry 1 of the row must be finite, got NaN"),
            (vec![0.1, 0.0, f64::INFINITY], "entry 2 of the row must be finite, got inf"),
            (vec![0.1, 0.0], "row must have 3 entries, got 2"),
            (vec![0.0, 20.0, 0.0], "the norm of the row must not exceed the norm bound 10, got 20"),
        ];
        for (row, message) in bad {
            assert_eq!(refused(&mut vectors, &row), message);
            assert_eq!(refused(&mut expansions, &row), message);
        }
        assert!(refused(&mut vectors, &[0.0, 1e200, 0.0]).starts_with("the squared norm of the row must be finite"));
        let dyads = [(1.0, &[0.1, 0.2, 0.3][..])];
        let error = trial(&mut vectors, &Instance::Dyads(&dyads), &mut Random::seeded(1)).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)));
        assert_eq!((vectors, expansions), before);
    }
}

#[test]
fn a_step_too_large_for_the_rows_is_refused_before_the_vectors_are_lost() {
    for params in [Params::oja(50.0), Params::apex(2, 50.0), Params::simultaneous(2, 50.0, 1.0)] {
        let mut learner = plain(params, 4);
        let mut random = Random::seeded(1);
        let refused = gaussian_rows(4, 50, 17).iter().any(|row| {
            let before = learner.clone();
            let Err(error) = trial(&mut learner, &Instance::from(&row[..]), &mut random) else { return false };
            let message = "eta must be small enough for the weight vectors to stay bounded, got 50";
            assert_eq!((error.to_string().as_str(), &learner), (message, &before));
            true
        });
        assert!(refused, "{params:?}");
        let vectors = learner.weights().vectors();
        assert!((0..vectors.columns()).all(|j| dot(vectors.column(j), vectors.column(j)) < 1e16));
    }
}

#[test]
fn bad_parameters_are_named() {
    let refused = |params: Params, message: &str| {
        let error = Hebbian::new(params, AmbientWeights::new(4)).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    for eta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for params in all_params(2, eta) {
            refused(params, &format!("eta must be positive and finite, got {eta}"));
        }
        let good = Params::simultaneous(2, 0.1, 1.0);
        refused(Params::simultaneous(2, 0.1, eta), &format!("beta must be positive and finite, got {eta}"));
        let rate = Rate::Decreasing { eta: 0.1, half: eta };
        refused(Params { rate, ..good }, &format!("step-half-life must be positive and finite, got {eta}"));
        let norm_bound = NormBound::Given(eta);
        refused(Params { norm_bound, ..good }, &format!("norm-bound must be positive and finite, got {eta}"));
    }
    refused(Params::apex(0, 0.1), "k must be at least 1 and less than the dimension 4, got 0");
    refused(Params::apex(4, 0.1), "k must be at least 1 and less than the dimension 4, got 4");
    refused(Params { components: 2, ..Params::oja(0.1) }, "components must be 1 for Oja's rule, got 2");
    let rule = Rule::Apex { stage: Some(0) };
    refused(Params { rule, ..Params::apex(2, 0.1) }, "stage must be at least 1, got 0");
    let weights = || FeatureWeights::new(Vectors::new(RBF, 4).unwrap()).unwrap();
    assert!(weights().with_budget(0).is_err());
    let error = Hebbian::new(Params::apex(3, 0.1), weights().with_budget(2).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "budget must be at least the number of components, got 2");
    let start = |points: &[&[f64]]| plain(Params::apex(2, 0.1), 3).starting_from(points).unwrap_err().to_string();
    assert_eq!(start(&[&[1.0, 0.0, 0.0]]), "the list of initial points must have 2 entries, got 1");
    assert_eq!(start(&[&[1.0, 0.0, 0.0], &[0.0; 3]]), "the squared norm of an initial point must be positive, got 0");
    assert_eq!(start(&[&[1.0, 0.0, 0.0], &[0.0; 2]]), "row must have 3 entries, got 2");
}

#[test]
fn nearly_parallel_vectors_explain_no_more_than_the_row() {
    let (n, mut random) = (9, Random::seeded(81));
    for noise in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        for seed in 0..20 {
            let rows = crate::common::hard_streams::near_duplicates(n, noise, 40, seed);
            for params in [Params::apex(3, 0.1), Params::simultaneous(3, 0.1, 1.0)] {
                let mut learner = Hebbian::new(params, AmbientWeights::new(n)).unwrap();
                for (t, row) in rows.iter().enumerate() {
                    let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
                    let (coordinates, square) = (learner.coordinates(), dot(row, row));
                    let gap = (loss.realised + dot(coordinates, coordinates) - square).abs();
                    assert!(gap <= 1e-9 * square, "noise {noise}, seed {seed}, row {t}: {gap:e} of {square}");
                }
            }
        }
    }
}
