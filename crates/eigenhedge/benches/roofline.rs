//! Time per row of tracking compared with the limits of the machine, up to rows of a million numbers.
//!
//! `cargo bench -p eigenhedge --bench roofline` prints all tables. `-- limits`, `-- length` or `-- threads` prints one.
//! `-- row 64` runs many rows of 64 numbers, for a profiler. The bench `growth` measures the growth of every learner.
//!
//! The lower limit is the time to read the n × u basis twice per row, once for the coordinates and
//! once for the residual. Rows of at least 512 numbers mostly need only the first pass, and blocks
//! of sixteen such rows need one pass in total. They can therefore be faster than the limit. The
//! bandwidth is measured on an array of the size of that basis, so small arrays are read from the
//! cache. Times are the 20th percentile over blocks of rows, which other processes affect little.

mod common;

use common::{Clock, exponent, low};
use eigenhedge::{Instance, Kind, PlainLearner, Random, Spec, set_threads, streams, trial, trials};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Number of rows timed together. It covers a few periods of the delayed combination.
const BLOCK: usize = 64;

#[derive(Clone, Copy, PartialEq)]
enum Rows {
    OneByOne,
    Together,
}

fn per_row(spec: &Spec, n: usize, warm: usize, blocks: usize, come: Rows) -> (f64, PlainLearner) {
    timed(spec, n, warm, blocks, come, Clock::seconds)
}

fn timed(
    spec: &Spec,
    n: usize,
    warm: usize,
    blocks: usize,
    come: Rows,
    seconds_of: fn(&Clock) -> f64,
) -> (f64, PlainLearner) {
    let mut learner = spec.plain(n).expect("a valid learner");
    let mut random = Random::seeded(2);
    let mut stream = streams::signal_and_noise(n, spec.kept, 0.3, 3);
    for row in stream.by_ref().take(warm) {
        trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
    }
    let mut seconds = Vec::new();
    for _ in 0..blocks {
        let rows: Vec<Vec<f64>> = stream.by_ref().take(BLOCK).collect();
        let rows: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
        let clock = Clock::start();
        match come {
            Rows::Together => trials(&mut learner, &rows, &mut random, |_, _| ()).expect("valid rows"),
            Rows::OneByOne => {
                rows.iter().for_each(|row| _ = trial(&mut learner, row, &mut random).expect("a valid row"));
            }
        }
        seconds.push(seconds_of(&clock) / BLOCK as f64);
    }
    (low(seconds), learner)
}

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

/// Returns the bytes per second at which one thread repeatedly reads an array of this many numbers.
fn bandwidth(numbers: usize) -> f64 {
    let array = vec![1.0; numbers.next_multiple_of(64)];
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

fn multiplication_rate() -> f64 {
    const SIZE: usize = 384;
    let matrix = faer::Mat::<f64>::identity(SIZE, SIZE);
    let mut product = faer::Mat::<f64>::zeros(SIZE, SIZE);
    let mut sample = || {
        let clock = Clock::start();
        let (a, out) = (matrix.as_ref(), product.as_mut());
        faer::linalg::matmul::matmul(out, faer::Accum::Replace, a, a, 1.0, faer::Par::Seq);
        clock.seconds()
    };
    sample();
    2.0 * (SIZE as f64).powi(3) / low((0..20).map(|_| sample()).collect())
}

/// Minimum row length for which one pass over the columns is enough for a row or a block.
const ONE_PASS: f64 = 512.0;

/// Returns the passes over the columns per row, and the number of rows between combinations.
fn passes(n: f64, come: Rows) -> (f64, f64) {
    match come {
        _ if n < ONE_PASS => (2.0, 8.0),
        Rows::OneByOne => (1.0, 16.0),
        Rows::Together => (1.0 / 16.0, 16.0),
    }
}

/// Returns the multiplications and additions per row: coordinates, residual, the row's part of a
/// combination, and rotation of the directions.
fn operations(n: f64, u: f64, come: Rows) -> f64 {
    let (passes, delay) = passes(n, come);
    let columns = u + 0.5 * delay;
    // A pass for several rows saves reads, not multiplications.
    2.0 * passes.max(1.0) * n * columns + 2.0 * n * (u + delay) * u / delay + 2.0 * columns * u * u
}

/// Returns the bytes that a row moves in memory or cache: passes over the columns, the row's part
/// of a combination, the row and its copy, and for short rows the residual.
fn bytes(n: f64, u: f64, come: Rows) -> f64 {
    let (passes, delay) = passes(n, come);
    let vectors = if passes > 1.0 { 7.0 } else { 3.0 };
    8.0 * n * (passes * (u + 0.5 * delay) + (2.0 * u + delay) / delay + vectors)
}

fn limits() {
    let rate = multiplication_rate();
    println!(
        "tracking, k = 10, rank-10 signal plus 30 % noise energy; multiplication runs at {:.1} GFlop/s",
        rate * 1e-9
    );
    for (come, title) in [(Rows::OneByOne, "rows one by one"), (Rows::Together, "rows at hand together")] {
        println!("{title}");
        println!(
            "{:>8} {:>3} {:>12} {:>12} {:>8} {:>11} {:>11} {:>10} {:>9}",
            "n", "u", "row", "floor", "reached", "reads", "moves", "kflop/row", "GFlop/s"
        );
        let sizes = [
            (64, 500, 100),
            (256, 500, 100),
            (1024, 500, 100),
            (10_000, 200, 20),
            (100_000, 120, 8),
            (1_000_000, 80, 3),
        ];
        // Short rows are never processed in blocks.
        for (n, warm, blocks) in sizes.into_iter().filter(|(n, ..)| come == Rows::OneByOne || *n as f64 >= ONE_PASS) {
            let (row, learner) = per_row(&Spec::bare(Kind::Tracking, 10), n, warm, blocks, come);
            let (length, u) = (n as f64, learner.rank() as f64);
            let reads = bandwidth(n * learner.rank());
            let floor = 16.0 * length * u / reads;
            println!(
                "{n:>8} {u:>3} {:>9.2} µs {:>9.2} µs {:>6.0} % {:>6.1} GB/s {:>6.1} GB/s {:>10.1} {:>9.1}",
                row * 1e6,
                floor * 1e6,
                100.0 * floor / row,
                reads * 1e-9,
                bytes(length, u, come) / row * 1e-9,
                operations(length, u, come) * 1e-3,
                operations(length, u, come) / row * 1e-9
            );
        }
    }
}

/// Prints times and the exponents between them, and finally the exponent fitted to all times.
fn growth(what: &str, samples: &[(f64, f64)]) {
    println!("{what:>10} {:>12} {:>9}", "row", "exponent");
    for (i, sample) in samples.iter().enumerate() {
        let since = if i > 0 { format!("{:.2}", exponent(&samples[i - 1..=i])) } else { String::new() };
        println!("{:>10} {:>9.2} µs {since:>9}", sample.0, sample.1 * 1e6);
    }
    println!("{:>10} {:>12} {:>9.2}", "overall", "", exponent(samples));
}

fn length() {
    let sizes = [(10_000, 200, 10), (31_623, 120, 8), (100_000, 120, 5), (316_228, 80, 4), (1_000_000, 80, 3)];
    for (come, title) in [(Rows::OneByOne, "one by one"), (Rows::Together, "at hand together")] {
        println!("tracking, k = 10: growth with the length of rows, {title}");
        let rows = sizes.map(|(n, warm, blocks)| {
            let (row, learner) = per_row(&Spec::bare(Kind::Tracking, 10), n, warm, blocks, come);
            (n as f64, row, bandwidth(n * learner.rank()))
        });
        growth("n", &rows.map(|(n, row, _)| (n, row)));
        // Scaling the times removes the effect of slower reads of large arrays.
        println!("the same, with every time scaled to the speed at which the smallest basis is read");
        growth("n", &rows.map(|(n, row, reads)| (n, row * reads / rows[0].2)));
    }
}

fn shared() {
    println!("tracking, k = 10: wall-clock time of a row with one and with two threads");
    println!("{:>10} {:>20} {:>12} {:>12} {:>8}", "n", "rows", "one", "two", "ratio");
    for (n, blocks) in [(100_000, 5), (1_000_000, 3)] {
        for (come, title) in [(Rows::OneByOne, "one by one"), (Rows::Together, "at hand together")] {
            let sample = |threads: usize| {
                set_threads(threads.try_into().expect("not zero"));
                timed(&Spec::bare(Kind::Tracking, 10), n, 40, blocks, come, Clock::wall).0 * 1e6
            };
            let (one, two) = (sample(1), sample(2));
            println!("{n:>10} {title:>20} {one:>9.1} µs {two:>9.1} µs {:>8.2}", one / two);
        }
    }
    set_threads(NonZeroUsize::MIN);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let part = arguments.first().map(String::as_str);
    if part == Some("row") {
        let n = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(64);
        let (row, learner) =
            per_row(&Spec::bare(Kind::Tracking, 10), n, 100, 1 + 500_000_000 / (n * 5000), Rows::Together);
        println!("n = {n}, u = {}: {:.2} µs a row", learner.rank(), row * 1e6);
        return;
    }
    let tables: [(&str, fn()); 3] = [("limits", limits), ("length", length), ("threads", shared)];
    for (name, table) in tables {
        if part.is_none_or(|part| part == name) {
            table();
        }
    }
}
