//! Learned centers compared with a slow dense oracle, and the learners that reject them.

#![allow(clippy::unwrap_used)]

use crate::common::dense::{DenseScatter, Function, Oracle};
use eigenhedge::internals::dot;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::{Kind, Matrix, Missing, Model, Random, RunningCenter, Spec};

/// Tolerance of a loss, relative to the energy of the row.
const TOLERANCE: f64 = 1e-8;
const SOURCES: usize = 5;

/// Regression of a learned center with whole matrices.
struct DenseCenter {
    mean: Vec<f64>,
    mean_weight: f64,
    /// The last row, the row before it, and three forgetting means.
    sources: Vec<Vec<f64>>,
    weights: [f64; 3],
    gram: Matrix,
    moments: Vec<f64>,
    coefficients: Vec<f64>,
    sizes: Vec<f64>,
}

fn solve(matrix: &Matrix, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| matrix.column(j)[i]).chain([b[i]]).collect()).collect();
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let (factor, pivot) = (rows[j][i] / rows[i][i], rows[i].clone());
            rows[j].iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Returns the factor that limits `value` to `times` the median of the last 101 values, and appends
/// the value. Without at least ten values, the factor is 1.
fn shortening(values: &mut Vec<f64>, value: f64, times: f64) -> f64 {
    let mut recent = values[values.len().saturating_sub(101)..].to_vec();
    recent.sort_by(f64::total_cmp);
    values.push(value);
    let median = if recent.len() < 10 { 0.0 } else { recent[recent.len() / 2] };
    if median > 0.0 && value > times * median { times * median / value } else { 1.0 }
}

impl DenseCenter {
    fn at(row: &[f64], weight: f64) -> Self {
        Self {
            mean: row.to_vec(),
            mean_weight: weight,
            sources: vec![row.to_vec(); SOURCES],
            weights: [weight; 3],
            gram: Matrix::zeros(SOURCES, SOURCES),
            moments: vec![0.0; SOURCES],
            coefficients: vec![0.0; SOURCES],
            sizes: Vec::new(),
        }
    }

    fn offsets(&self) -> Vec<Vec<f64>> {
        self.sources.iter().map(|source| difference(source, &self.mean)).collect()
    }

    fn center(&self) -> Vec<f64> {
        let mut center = self.mean.clone();
        for (b, offset) in self.coefficients.iter().zip(self.offsets()) {
            center.iter_mut().zip(offset).for_each(|(c, d)| *c += b * d);
        }
        center
    }

    /// Learns a row. `dropped` is the expected projection onto the dropped directions.
    fn learn(&mut self, row: &[f64], weight: f64, dropped: &Matrix) {
        let (offsets, y) = (self.offsets(), difference(row, &self.mean));
        let lost = |a: &[f64], b: &[f64]| {
            let kept: f64 = (0..a.len()).map(|j| b[j] * dot(dropped.column(j), a)).sum();
            1e-3 * dot(a, b) + (1.0 - 1e-3) * kept
        };
        let mean_size = offsets.iter().map(|d| lost(d, d)).sum::<f64>() / SOURCES as f64;
        let size = lost(&y, &y).max(mean_size);
        let factor = weight * shortening(&mut self.sizes, size, 16.0);
        for (i, offset) in offsets.iter().enumerate() {
            let column = self.gram.column_mut(i);
            column.iter_mut().zip(&offsets).for_each(|(g, other)| *g = 0.998 * *g + factor * lost(offset, other));
            self.moments[i] = 0.998 * self.moments[i] + factor * lost(offset, &y);
        }
        let trace: f64 = (0..SOURCES).map(|i| self.gram.column(i)[i]).sum();
        if trace > 0.0 {
            let mut raised = self.gram.clone();
            (0..SOURCES).for_each(|i| raised.column_mut(i)[i] += 1e-3 * trace / SOURCES as f64);
            self.coefficients = solve(&raised, &self.moments);
            let largest = self.coefficients.iter().fold(16f64, |most, b| most.max(b.abs()));
            self.coefficients.iter_mut().for_each(|b| *b *= 16.0 / largest);
        }
        self.sources[1] = self.sources[0].clone();
        self.sources[0] = row.to_vec();
        for ((source, own), forget) in self.sources[2..].iter_mut().zip(&mut self.weights).zip([0.5, 0.8, 0.95]) {
            *own = forget * *own + weight;
            source.iter_mut().zip(row).for_each(|(c, x)| *c += weight / *own * (x - *c));
        }
        self.mean_weight += weight;
        self.mean.iter_mut().zip(row).for_each(|(m, x)| *m += weight / self.mean_weight * (x - *m));
    }
}

fn rows(n: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let directions: Vec<Vec<f64>> = (0..2).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let (mut level, mut speed) = (vec![5.0; n], vec![0.0; n]);
    let mut row = |t: usize| {
        for (x, v) in level.iter_mut().zip(&mut speed) {
            *v = 0.8 * *v + 0.1 * random.normal();
            *x += *v;
        }
        let mut row = level.clone();
        for direction in &directions {
            let amount = random.normal();
            row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
        }
        row.iter_mut().for_each(|x| *x += 0.05 * random.normal());
        if t % 37 == 36 {
            row.iter_mut().for_each(|x| *x *= 10.0);
        }
        row
    };
    (0..count).map(&mut row).collect()
}

fn learned(kind: Kind, kept: usize) -> Spec {
    Spec { center: Some(RunningCenter::LEARNED), ..Spec::bare(kind, kept) }
}

#[test]
fn a_learned_center_is_that_of_the_dense_regression() {
    let cases =
        [(6, 2, 0.8, None), (6, 2, 0.99, Some(4)), (3, 2, 0.9, None), (24, 3, 1.0, Some(6)), (150, 3, 0.95, Some(6))];
    for (n, kept, forget, max_rank) in cases {
        for weighted in [false, true] {
            let spec = Spec { forget, max_rank, ..learned(Kind::ForgettingLeader, kept) };
            let oracle = DenseScatter::new(n, kept, Function::Leader).forgetting(forget);
            let mut oracle = oracle.capped(max_rank.unwrap_or(n));
            let mut model = Model::new(spec.clone(), n, 1).unwrap();
            let mut center: Option<DenseCenter> = None;
            for (t, row) in rows(n, if n > 100 { 60 } else { 160 }, 7).iter().enumerate() {
                let weight = if weighted { 0.5 + (t % 3) as f64 } else { 1.0 };
                let step = |model: &mut Model| match weighted {
                    true => model.step_batch(&[row], Some(&[weight])).unwrap(),
                    false => model.step(row).unwrap(),
                };
                let loss = step(&mut model).expected;
                let Some(center) = &mut center else {
                    center = Some(DenseCenter::at(row, weight));
                    continue;
                };
                let root = weight.sqrt();
                let z: Vec<f64> = difference(row, &center.center()).iter().map(|z| root * z).collect();
                center.learn(row, weight, &oracle.dropped_projection());
                let wanted = oracle.step(&z, 1.0);
                let most = TOLERANCE * dot(&z, &z);
                assert!((loss - wanted).abs() <= most, "{n} {kept} {forget}, row {t}: {loss} against {wanted}");
                if t % 40 == 20 {
                    model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
                }
            }
            let (found, wanted) = (model.embedding().center().unwrap().to_vec(), center.unwrap().center());
            let size = dot(&wanted, &wanted).sqrt();
            found.iter().zip(&wanted).for_each(|(a, b)| assert!((a - b).abs() <= 1e-8 * size, "{a} against {b}"));
        }
    }
}

/// The last two rows predict levels that continue their motion. No other center does.
#[test]
fn a_learned_center_follows_motion_that_no_other_center_follows() {
    let level = |t: usize, j: usize| (0.05 * t as f64 + j as f64).sin() * (1.0 + j as f64);
    let rows: Vec<Vec<f64>> = (0..600).map(|t| (0..8).map(|j| level(t, j)).collect()).collect();
    let loss = |center| {
        let mut model =
            Model::new(Spec { center: Some(center), ..Spec::bare(Kind::ForgettingLeader, 1) }, 8, 1).unwrap();
        rows.iter().map(|row| model.step(row).unwrap().expected).skip(100).sum::<f64>()
    };
    let [own, mean, last] = [RunningCenter::LEARNED, RunningCenter::MEAN, RunningCenter::forgetting(0.0)].map(loss);
    assert!(own < 0.1 * mean.min(last), "{own} against {mean} and {last}");
}

#[test]
fn a_learned_center_takes_missing_cells_long_rows_and_sparse_rows() {
    for n in [9, 600, 4100] {
        let spec = Spec { missing: Missing::Fill, max_rank: Some(5), ..learned(Kind::ForgettingLeader, 2) };
        let mut model = Model::new(spec, n, 1).unwrap();
        for (t, mut row) in rows(n, 60, 3).into_iter().enumerate() {
            match n {
                4100 => row.iter_mut().enumerate().filter(|(j, _)| j % 50 != t % 5).for_each(|(_, x)| *x = 0.0),
                _ => row
                    .iter_mut()
                    .enumerate()
                    .filter(|(j, _)| j % 7 == t % 7 && t % 3 == 0)
                    .for_each(|(_, x)| *x = f64::NAN),
            }
            assert!(model.step(&row).unwrap().expected.is_finite());
            if t % 25 == 24 {
                assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model, "{n}, row {t}");
            }
        }
        assert!(model.summary().bound_holds.is_none());
    }
}

#[test]
fn a_learned_center_is_refused_with_a_sentence_where_it_cannot_be() {
    let refusal = |spec: Spec| Model::new(spec, 4, 1).unwrap_err().to_string();
    let kernel = Some(VectorKernel::Rbf { gamma: 1.0 });
    let plain = "a learned center needs plain rows";
    assert!(refusal(Spec { kernel, ..learned(Kind::Leader, 2) }).contains(plain));
    assert!(refusal(learned(Kind::Oja, 1)).contains("a learned center needs a learner over subspaces"));
    let prior = Some(RunningCenter { prior: 1.0, ..RunningCenter::LEARNED });
    assert!(refusal(Spec { center: prior, ..learned(Kind::Leader, 2) }).contains("center-prior"));
    let [one, other] = [1, 2].map(|seed| Model::new(learned(Kind::Leader, 2), 4, seed).unwrap());
    assert!(one.merge(other).unwrap_err().to_string().contains("center must be running or none"));
}
