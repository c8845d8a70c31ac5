//! Time per row of the learners, relative to one dense eigendecomposition of equal size in the same run.
//!
//! `cargo bench -p eigenhedge --bench ratios` prints all tables. `-- tracking`, `-- anchored` or
//! `-- memory` prints one.

use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::simplex::cap_by_sorting;
use eigenhedge::{Instance, Kind, Matrix, PlainLearner, Random, Spec, streams, trial};
use std::time::Instant;

/// Returns the median seconds of an eigendecomposition of a random symmetric matrix.
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
            std::hint::black_box(symmetric_eigen(&matrix));
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[1]
}

/// Returns the largest difference of expected losses from those of a dense eigendecomposition.
fn gap_to_dense(spec: &Spec, n: usize, warm: usize, rows: usize) -> f64 {
    let mut learner = spec.plain(n).expect("a valid learner");
    let mut random = Random::seeded(2);
    let mut scatter = Matrix::zeros(n, n);
    let mut largest_square = 0f64;
    let mut gap = 0f64;
    for (t, row) in streams::signal_and_noise(n, 10, 0.3, 3).take(warm + rows).enumerate() {
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
        if t >= warm {
            let eigen = symmetric_eigen(&scatter);
            let rate = spec.eta / largest_square;
            let log_weights: Vec<f64> = eigen.values.iter().map(|v| -rate * v).collect();
            let capped = cap_by_sorting(&log_weights, &vec![1; n], spec.kept).expect("weights");
            let weights = capped.log_dropped.iter().map(|w| w.exp());
            let dense: f64 = weights.enumerate().map(|(j, w)| w * dot(eigen.vectors.column(j), &row).powi(2)).sum();
            gap = gap.max((dense - loss.expected).abs());
        }
        largest_square = largest_square.max(dot(&row, &row));
        for j in 0..n {
            scatter.column_mut(j).iter_mut().zip(&row).for_each(|(s, x)| *s += x * row[j]);
        }
    }
    gap
}

/// Returns the mean seconds per row after `warm` rows, and the learner.
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
        let (row, learner) = per_row(&Spec::bare(Kind::Tracking, 10), n, 500, 2000);
        let dense = eigendecomposition(n);
        println!("{n:>8} {:>9.2} µs {:>11.3} ms {:>10.0} {:>4}", row * 1e6, dense * 1e3, dense / row, learner.rank());
    }
}

fn anchored() {
    println!("anchored, k = 10, the same stream, 2n rows and then 100 more");
    println!("{:>8} {:>12} {:>14} {:>10} {:>9} {:>12}", "n", "row", "eigensystem", "ratio", "exponent", "loss gap");
    let mut last: Option<(usize, f64)> = None;
    let mut first: Option<(usize, f64)> = None;
    for n in [256, 512, 1024] {
        let spec = Spec::bare(Kind::Anchored, 10);
        let (row, _) = per_row(&spec, n, 2 * n, 100);
        let dense = eigendecomposition(n);
        let exponent = last.map_or(f64::NAN, |(m, before)| (row / before).ln() / (n as f64 / m as f64).ln());
        let gap = gap_to_dense(&spec, n, 2 * n, 5);
        let (row_ms, dense_ms, ratio) = (row * 1e3, dense * 1e3, dense / row);
        println!("{n:>8} {row_ms:>9.3} ms {dense_ms:>11.3} ms {ratio:>10.1} {exponent:>9.2} {gap:>12.1e}");
        last = Some((n, row));
        first = first.or(last);
    }
    if let (Some((m, before)), Some((n, row))) = (first, last) {
        let overall = (row / before).ln() / (n as f64 / m as f64).ln();
        println!("exponent from n = {m} to {n}: {overall:.2}");
    }
}

/// Returns the peak resident memory of the process in MB, or `None` if it is not reported.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1e3)
}

fn memory() {
    let n = 100_000;
    let (row, learner) = per_row(&Spec::bare(Kind::Tracking, 10), n, 0, 1000);
    println!(
        "tracking, k = 10, the same stream with n = {n}: 1,000 rows, {:.2} ms a row, u = {}",
        row * 1e3,
        learner.rank()
    );
    match peak_megabytes() {
        Some(peak) => println!("largest resident memory of this process: {peak:.0} MB"),
        None => println!("this system does not tell the largest resident memory"),
    }
}

fn main() {
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    // Memory is measured first, because the peak is that of the whole process.
    if part.as_deref().is_none_or(|part| part == "memory") {
        memory();
    }
    if part.as_deref().is_none_or(|part| part == "tracking") {
        tracking();
    }
    if part.as_deref().is_none_or(|part| part == "anchored") {
        anchored();
    }
}
