//! Time per row of the learners in feature space, next to the batch methods in the same run.
//!
//! `cargo bench -p eigenhedge --bench kernel` prints all tables; with `-- tracking`, `-- anchored` or `-- budget` one.

use eigenhedge::eigen::symmetric_eigen;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::matrix::Matrix;
use eigenhedge::{Instance, Kind, Mixing, Random, Spec, streams, trial};
use std::time::Instant;

const COLUMNS: usize = 20;

fn rows(count: usize) -> Vec<Vec<f64>> {
    streams::signal_and_noise(COLUMNS, 5, 0.3, 3).take(count).collect()
}

/// Seconds of every row.
fn times(spec: &Spec, rows: &[Vec<f64>]) -> Vec<f64> {
    let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 1.0 }, COLUMNS).expect("a valid learner");
    let mut random = Random::seeded(2);
    let step = |row: &Vec<f64>| {
        let start = Instant::now();
        trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
        start.elapsed().as_secs_f64()
    };
    rows.iter().map(step).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn gram(rows: &[Vec<f64>]) -> Matrix {
    let kernel = VectorKernel::Rbf { gamma: 1.0 };
    let mut gram = Matrix::zeros(rows.len(), rows.len());
    for (j, a) in rows.iter().enumerate() {
        gram.column_mut(j).iter_mut().zip(rows).for_each(|(g, b)| *g = kernel.value(a, b));
    }
    gram
}

fn tracking() {
    let rows = rows(2000);
    let row = mean(&times(&Spec::new(Kind::Tracking, 5), &rows)[1900..]);
    println!("kernel tracking, RBF, 20 columns, k = 5, rows 1,900 to 2,000: {:.1} µs a row", row * 1e6);
}

fn anchored() {
    let rows = rows(1000);
    let row = mean(&times(&Spec::new(Kind::Anchored, 5), &rows)[900..]);
    let gram = gram(&rows);
    let start = Instant::now();
    std::hint::black_box(symmetric_eigen(gram.view()));
    let dense = start.elapsed().as_secs_f64();
    println!("kernel anchored, RBF, 20 columns, k = 5, rows 900 to 1,000: {:.3} ms a row", row * 1e3);
    println!("  eigendecomposition of the Gram matrix: {:.1} ms, {:.1} times as long", dense * 1e3, dense / row);
}

fn budget() {
    let rows = rows(10_000);
    for atoms in [100, 300] {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        let spec = Spec { budget: Some(atoms), mixing, ..Spec::new(Kind::Tracking, 5) };
        let times = times(&spec, &rows);
        let (middle, last) = (mean(&times[4500..5500]), mean(&times[9000..]));
        println!(
            "budget of {atoms} atoms, 10,000 rows: {:.1} µs a row in the middle, {:.1} at the end, ratio {:.2}",
            middle * 1e6,
            last * 1e6,
            last / middle
        );
    }
}

fn main() {
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, run) in [("tracking", tracking as fn()), ("anchored", anchored), ("budget", budget)] {
        if part.as_deref().is_none_or(|part| part == name) {
            run();
        }
    }
}
