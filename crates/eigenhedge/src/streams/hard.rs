//! Numerically difficult streams.

use super::{oscillations, random_walk, signal_and_noise, sines, turning_images};
use crate::random::Random;

/// Named stream. `rows(length, count, seed)` generates `count` rows.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Hard {
    /// Description of the rows.
    pub name: &'static str,
    /// Generator of the rows.
    pub rows: fn(usize, usize, u64) -> Vec<Vec<f64>>,
}

/// Streams on which some learner lost orthonormality, and similar streams.
///
/// ```
/// for stream in eigenhedge::streams::HARD {
///     let rows = (stream.rows)(6, 40, 1);
///     assert_eq!(rows.len(), 40, "{}", stream.name);
///     assert!(rows.iter().flatten().all(|x| x.is_finite()), "{}", stream.name);
/// }
/// ```
pub const HARD: &[Hard] = &[
    Hard { name: "iid", rows: noisy },
    Hard { name: "random walk", rows: random_walk },
    Hard { name: "sines", rows: |length, rows, seed| sines(length, 40, rows, seed) },
    Hard { name: "turning images", rows: |length, rows, seed| turning_images(length, 72, rows, seed) },
    Hard { name: "oscillations", rows: |length, rows, seed| oscillations(length, 0.85, rows, seed) },
    Hard { name: "near-duplicates 1e-4", rows: |length, rows, seed| near_duplicates(length, 1e-4, rows, seed) },
    Hard { name: "near-duplicates 1e-8", rows: |length, rows, seed| near_duplicates(length, 1e-8, rows, seed) },
    Hard { name: "near-duplicates 1e-12", rows: |length, rows, seed| near_duplicates(length, 1e-12, rows, seed) },
    Hard { name: "repeated blocks", rows: repeated_blocks },
    Hard { name: "alternating signs", rows: alternating_signs },
    Hard { name: "one huge row", rows: one_huge_row },
    Hard { name: "growing scales", rows: |length, rows, seed| rescaled(length, rows, seed, 8.0) },
    Hard { name: "shrinking scales", rows: |length, rows, seed| rescaled(length, rows, seed, -8.0) },
    Hard { name: "bursts", rows: bursts },
    Hard { name: "constant columns", rows: constant_columns },
    Hard { name: "rank one", rows: rank_one },
];

/// Generates a signal of rank at most three plus noise.
fn noisy(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    signal_and_noise(length, length.min(3), 0.3, seed).take(rows).collect()
}

fn scale(row: &mut [f64], factor: f64) {
    row.iter_mut().for_each(|x| *x *= factor);
}

/// Generates rows that differ from one of three base rows by a relative `noise`. The base rows change every 100 rows.
///
/// ```
/// let rows = eigenhedge::streams::near_duplicates(9, 1e-12, 60, 1);
/// assert!(rows[1..].iter().any(|row| row != &rows[0] && (row[0] - rows[0][0]).abs() < 1e-10));
/// ```
pub fn near_duplicates(length: usize, noise: f64, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut originals = Vec::new();
    let row = |t: usize| {
        if t.is_multiple_of(100) {
            originals = (0..3).map(|_| (0..length).map(|_| random.normal()).collect::<Vec<f64>>()).collect();
        }
        let original = &originals[random.below(3)];
        original.iter().map(|x| x + noise * random.normal()).collect()
    };
    (0..rows).map(row).collect()
}

/// Generates blocks of twenty rows, each repeated ten times in the same order.
fn repeated_blocks(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let stream = noisy(length, rows.div_ceil(200) * 20, seed);
    (0..rows).map(|t| stream[t / 200 * 20 + t % 20].clone()).collect()
}

fn alternating_signs(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = random_walk(length, rows, seed);
    stream.iter_mut().skip(1).step_by(2).for_each(|row| scale(row, -1.0));
    stream
}

/// Generates a stream in which one row, after a third of the rows, is a million times larger.
fn one_huge_row(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = noisy(length, rows, seed);
    if let Some(row) = stream.get_mut(rows / 3) {
        scale(row, 1e6);
    }
    stream
}

/// Generates oscillations whose amplitude changes by `powers` powers of ten from the first row to the last.
fn rescaled(length: usize, rows: usize, seed: u64, powers: f64) -> Vec<Vec<f64>> {
    let mut stream = oscillations(length, 0.85, rows, seed);
    for (t, row) in stream.iter_mut().enumerate() {
        scale(row, 10f64.powf(powers * t as f64 / rows as f64));
    }
    stream
}

/// Generates smooth waves and short bursts that are a thousand times larger, with rows of zeros between them.
fn bursts(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let (mut stream, loud) = (sines(length, 4, rows, seed), noisy(length, rows, seed + 1));
    for (t, (row, loud)) in stream.iter_mut().zip(loud).enumerate() {
        match t % 40 {
            0..5 => *row = loud,
            5..8 => row.fill(0.0),
            _ => scale(row, 1e-3),
        }
    }
    stream
}

/// Generates a random walk in half of the columns. The other columns are constants of very different sizes.
fn constant_columns(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = random_walk(length, rows, seed);
    for row in &mut stream {
        for (j, x) in row.iter_mut().enumerate().skip(length / 2) {
            *x = 10f64.powi(j as i32 % 5 - 2);
        }
    }
    stream
}

fn rank_one(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let direction: Vec<f64> = (0..length).map(|_| random.normal()).collect();
    let mut row = || {
        let amount = random.normal();
        direction.iter().map(|x| amount * x).collect()
    };
    (0..rows).map(|_| row()).collect()
}
