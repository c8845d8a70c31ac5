//! Time per row of the learners, as a share of one dense eigendecomposition of the same size in the same run.
//!
//! `cargo bench --bench ratios` prints a table; `cargo bench --bench ratios -- tracking` (or `anchored`) one part.

use eigenhedge::eigen::symmetric_eigen;
use eigenhedge::matrix::Matrix;
use eigenhedge::{Instance, Kind, PlainLearner, Random, Spec, streams, trial};
use std::time::Instant;

/// Median seconds of a fresh eigendecomposition of a random scatter matrix.
fn eigendecomposition(n: usize) -> f64 {
    let mut random = Random::seeded(1);
    let mut matrix = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..n {
            let value = random.normal();
            matrix.column_mut(j)[i] += value;
            matrix.column_mut(i)[j] += value;
        }
    }
    let mut times: Vec<f64> = (0..3)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(symmetric_eigen(matrix.view()));
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[1]
}

/// Mean seconds of a row after `warm` rows, and the learner.
fn per_row(spec: &Spec, n: usize, warm: usize, rows: usize) -> (f64, PlainLearner) {
    let mut learner = spec.plain(n).expect("a valid learner");
    let mut random = Random::seeded(2);
    let stream = streams::signal_and_noise(n, 10, 0.3, 3);
    let mut seconds = 0.0;
    for (t, row) in stream.take(warm + rows).enumerate() {
        let start = Instant::now();
        trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
        if t >= warm {
            seconds += start.elapsed().as_secs_f64();
        }
    }
    (seconds / rows as f64, learner)
}

fn tracking() {
    println!("tracking, k = 10, rank-10 signal plus 30 % noise energy, rows 500 to 2,500");
    println!("{:>8} {:>12} {:>14} {:>10} {:>4}", "n", "row", "eigensystem", "ratio", "u");
    for n in [64, 256, 1024] {
        let (row, learner) = per_row(&Spec::new(Kind::Tracking, 10), n, 500, 2000);
        let dense = eigendecomposition(n);
        println!("{n:>8} {:>9.2} µs {:>11.3} ms {:>10.0} {:>4}", row * 1e6, dense * 1e3, dense / row, learner.rank());
    }
}

fn anchored() {
    println!("anchored, k = 10, the same stream, 2n rows and then 100 more");
    println!("{:>8} {:>12} {:>14} {:>10} {:>9}", "n", "row", "eigensystem", "ratio", "exponent");
    let mut last: Option<(usize, f64)> = None;
    for n in [256, 512, 1024] {
        let (row, _) = per_row(&Spec::new(Kind::Anchored, 10), n, 2 * n, 100);
        let dense = eigendecomposition(n);
        let exponent = last.map_or(f64::NAN, |(m, before)| (row / before).ln() / (n as f64 / m as f64).ln());
        println!("{n:>8} {:>9.3} ms {:>11.3} ms {:>10.1} {exponent:>9.2}", row * 1e3, dense * 1e3, dense / row);
        last = Some((n, row));
    }
}

fn main() {
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if part.as_deref().is_none_or(|part| part == "tracking") {
        tracking();
    }
    if part.as_deref().is_none_or(|part| part == "anchored") {
        anchored();
    }
}
