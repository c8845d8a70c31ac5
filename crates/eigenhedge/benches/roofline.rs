//! How close tracking comes to the limits of the machine, up to rows of a million numbers.
//!
//! `cargo bench -p eigenhedge --bench roofline` prints all tables; with `-- limits` or `-- length` one; `-- row 64` times
//! rows of 64 numbers for ever so long, for a profiler. How every learner grows is the business of the bench `growth`.
//!
//! Floor: the n × u basis read twice for each row, once for the coordinates and once for what they leave over. Rows of at
//! least 512 numbers mostly need the first pass only, and may go below it. The speed of reading is measured on an array of the size of that basis, so small ones come from cache.
//! Times are the 20th percentile of blocks of rows: what other processes do to the rest is not counted.

mod common;

use common::{Clock, exponent, low};
use eigenhedge::matrix::Matrix;
use eigenhedge::{Instance, Kind, PlainLearner, Random, Spec, streams, trial, trials};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Rows timed together: a few turns of the delayed combination.
const BLOCK: usize = 16;
/// Rows between two combinations.
const DELAY: f64 = 8.0;

/// Seconds of a row of a warm learner.
fn per_row(spec: &Spec, n: usize, warm: usize, blocks: usize) -> (f64, PlainLearner) {
    let mut learner = spec.plain(n).expect("a valid learner");
    let mut random = Random::seeded(2);
    let mut stream = streams::signal_and_noise(n, spec.kept, 0.3, 3);
    for row in stream.by_ref().take(warm) {
        trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
    }
    let mut seconds = Vec::new();
    for _ in 0..blocks {
        let rows: Vec<Vec<f64>> = stream.by_ref().take(BLOCK).collect();
        let instances: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
        let clock = Clock::start();
        if std::env::var("ALONE").is_ok() {
            for row in &instances {
                trial(&mut learner, row, &mut random).expect("a valid row");
            }
        } else {
            trials(&mut learner, &instances, &mut random, |_, _| ()).expect("valid rows");
        }
        seconds.push(clock.seconds() / BLOCK as f64);
    }
    (low(seconds), learner)
}

/// Adds up an array as wide as the processor allows.
struct Sum<'a>(&'a [f64]);

impl WithSimd for Sum<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let mut sums = [simd.splat_f64s(0.0); 8];
        for lanes in S::as_simd_f64s(self.0).0.as_chunks::<8>().0 {
            for i in 0..8 {
                sums[i] = simd.add_f64s(sums[i], lanes[i]);
            }
        }
        sums.iter().map(|sum| simd.reduce_sum_f64s(*sum)).sum()
    }
}

/// Bytes a second at which one thread reads an array of so many numbers, over and over.
fn bandwidth(numbers: usize) -> f64 {
    let array = vec![1.0; numbers.next_multiple_of(64)];
    // Large arrays long enough for the scheduler's count.
    let numbers_read = if array.len() < 500_000 { 4_000_000 } else { 300_000_000 };
    let passes = numbers_read / array.len() + 1;
    let sample = || {
        let clock = Clock::start();
        for _ in 0..passes {
            black_box(Arch::new().dispatch(Sum(black_box(&array))));
        }
        clock.seconds() / passes as f64
    };
    sample();
    8.0 * array.len() as f64 / low((0..6).map(|_| sample()).collect())
}

/// Operations a second of one thread that multiplies square matrices.
fn multiplication_rate() -> f64 {
    const SIZE: usize = 384;
    let matrix = Matrix::identity(SIZE);
    let mut product = Matrix::zeros(SIZE, SIZE);
    let mut sample = || {
        let clock = Clock::start();
        let (a, out) = (matrix.view(), product.view_mut());
        faer::linalg::matmul::matmul(out, faer::Accum::Replace, a, a, 1.0, faer::Par::Seq);
        clock.seconds()
    };
    sample();
    2.0 * (SIZE as f64).powi(3) / low((0..20).map(|_| sample()).collect())
}

/// Rows from this length on take one pass over the columns.
const ONE_PASS: f64 = 512.0;

fn passes(n: f64) -> f64 {
    if n >= ONE_PASS { 1.0 } else { 2.0 }
}

/// Multiplications and additions of a row: coordinates, remainder, the share of a combination, the turn of the
/// directions.
fn operations(n: f64, u: f64) -> f64 {
    let columns = u + 0.5 * DELAY;
    2.0 * passes(n) * n * columns + 2.0 * n * (u + DELAY) * u / DELAY + 2.0 * columns * u * u
}

/// Bytes a row moves between the learner and its basis and vectors, whatever cache they are in: the passes over the
/// columns, the share of a combination, the row, its copy and its remainder, which becomes a column.
fn bytes(n: f64, u: f64) -> f64 {
    let columns = u + 0.5 * DELAY;
    8.0 * n * (passes(n) * columns + (2.0 * u + DELAY) / DELAY + 7.0)
}

fn limits() {
    let rate = multiplication_rate();
    println!(
        "tracking, k = 10, rank-10 signal plus 30 % noise energy; multiplication runs at {:.1} GFlop/s",
        rate * 1e-9
    );
    println!(
        "{:>8} {:>3} {:>12} {:>12} {:>8} {:>11} {:>11} {:>10} {:>9}",
        "n", "u", "row", "floor", "reached", "reads", "moves", "kflop/row", "GFlop/s"
    );
    for (n, warm, blocks) in
        [(64, 500, 400), (256, 500, 200), (1024, 500, 200), (10_000, 200, 30), (100_000, 120, 12), (1_000_000, 80, 5)]
    {
        let (row, learner) = per_row(&Spec::new(Kind::Tracking, 10), n, warm, blocks);
        let (length, u) = (n as f64, learner.rank() as f64);
        let reads = bandwidth(n * learner.rank());
        let floor = 16.0 * length * u / reads;
        println!(
            "{n:>8} {u:>3} {:>9.2} µs {:>9.2} µs {:>6.0} % {:>6.1} GB/s {:>6.1} GB/s {:>10.1} {:>9.1}",
            row * 1e6,
            floor * 1e6,
            100.0 * floor / row,
            reads * 1e-9,
            bytes(length, u) / row * 1e-9,
            operations(length, u) * 1e-3,
            operations(length, u) / row * 1e-9
        );
    }
}

/// Prints times and the exponents between them; the last is the one that fits all.
fn growth(what: &str, samples: &[(f64, f64)]) {
    println!("{what:>10} {:>12} {:>9}", "row", "exponent");
    for (i, sample) in samples.iter().enumerate() {
        let since = if i > 0 { format!("{:.2}", exponent(&samples[i - 1..=i])) } else { String::new() };
        println!("{:>10} {:>9.2} µs {since:>9}", sample.0, sample.1 * 1e6);
    }
    println!("{:>10} {:>12} {:>9.2}", "overall", "", exponent(samples));
}

fn length() {
    println!("tracking, k = 10: growth with the length of a row");
    let sizes = [(10_000, 200, 30), (31_623, 120, 20), (100_000, 120, 12), (316_228, 80, 8), (1_000_000, 80, 5)];
    let rows = sizes.map(|(n, warm, blocks)| {
        let (row, learner) = per_row(&Spec::new(Kind::Tracking, 10), n, warm, blocks);
        (n as f64, row, bandwidth(n * learner.rank()))
    });
    growth("n", &rows.map(|(n, row, _)| (n, row)));
    // What is left when the machine reads large arrays as fast as small ones.
    println!("the same, with every time scaled to the speed at which the smallest basis is read");
    growth("n", &rows.map(|(n, row, reads)| (n, row * reads / rows[0].2)));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let part = arguments.first().map(String::as_str);
    if part == Some("row") {
        let n = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(64);
        let (row, learner) = per_row(&Spec::new(Kind::Tracking, 10), n, 100, 2_000_000_000 / (n * 5000));
        println!("n = {n}, u = {}: {:.2} µs a row", learner.rank(), row * 1e6);
        return;
    }
    let tables: [(&str, fn()); 2] = [("limits", limits), ("length", length)];
    for (name, table) in tables {
        if part.is_none_or(|part| part == name) {
            table();
        }
    }
}
