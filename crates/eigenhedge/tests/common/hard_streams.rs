//! Streams for tests: smooth ones, in which consecutive rows differ little, and numerically difficult ones.
#![allow(dead_code)]

use eigenhedge::streams::signal_and_noise;
use eigenhedge::{Matrix, Random};
use std::f64::consts::TAU;

/// Named stream. `rows(length, count, seed)` generates `count` rows of `length` numbers.
#[derive(Debug, Clone, Copy)]
pub struct Hard {
    /// Name that describes the rows.
    pub name: &'static str,
    /// Generator of the rows.
    pub rows: fn(usize, usize, u64) -> Vec<Vec<f64>>,
}

/// Streams on which some learner lost orthonormality, and similar streams.
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

fn noisy(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    signal_and_noise(length, length.min(3), 0.3, seed).take(rows).collect()
}

fn scale(row: &mut [f64], factor: f64) {
    row.iter_mut().for_each(|x| *x *= factor);
}

/// Generates rows that equal one of three base rows up to noise. The cells of the base rows are standard normal, and
/// the noise of a cell has the standard deviation `noise`. The base rows change every 100 rows.
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

/// Generates smooth waves and short bursts that are a thousand times larger. A few rows of zeros follow each burst.
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

/// Generates losses of 0 or 1 by independent fair coins, as in the lower bounds (JMLR Theorem 10 and (19)).
///
/// The expected loss of every learner that drops d of n experts is `d/2` per trial. After T trials,
/// the total loss of the best set of d experts is by chance lower by about `d √((T/2) log(n/d))`.
/// For subspaces, the instance of a trial is the diagonal matrix of its losses.
///
/// The paper divides the experts into d groups of n/d and tosses the coins of one group after the other, while the
/// other experts lose nothing. That construction does not give a lower bound for every learner: a learner that switches
/// can drop the idle experts and has negative regret. Tossing all coins at once gives the same bound for all learners.
pub fn coins(experts: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    (0..rows).map(|_| (0..experts).map(|_| f64::from(u8::from(random.uniform() < 0.5))).collect()).collect()
}

fn normals(length: usize, random: &mut Random) -> Vec<f64> {
    (0..length).map(|_| random.normal()).collect()
}

/// Generates an isotropic random walk. The norm of a step is about a tenth of the norm of the first row.
pub fn random_walk(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut row = normals(length, &mut random);
    let mut walk = Vec::with_capacity(rows);
    for _ in 0..rows {
        walk.push(row.clone());
        row.iter_mut().for_each(|x| *x += 0.1 * random.normal());
    }
    walk
}

/// Generates `count` noise-free sines with periods of 60 to 400 rows, each along a random direction.
///
/// Every row is near the span of the previous rows. After `2 · count` rows, every row is in that span.
pub fn sines(length: usize, count: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let directions = directions(length, count, &mut random);
    let waves: Vec<(f64, f64)> =
        (0..count).map(|_| (60.0 + 340.0 * random.uniform(), TAU * random.uniform())).collect();
    let row = |t: usize| {
        let mut row = vec![0.0; length];
        for (j, (period, phase)) in waves.iter().enumerate() {
            add(&mut row, (TAU * t as f64 / period + phase).sin(), directions.column(j));
        }
        row
    };
    (0..rows).map(row).collect()
}

/// Generates pictures of an object that rotates by five degrees per row. After `views` rows another object replaces it.
///
/// The object consists of three smooth bumps at fixed angles around the center of a square grid of
/// pixels. Each row is a picture, truncated to `length` pixels if that is not a square number.
pub fn turning_images(length: usize, views: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    const BUMPS: usize = 3;
    let mut random = Random::seeded(seed);
    let side = (length as f64).sqrt().ceil();
    // Radius, angle, width and height of each bump. Radius and width are in units of the side.
    let mut bumps = [[0.0; 4]; BUMPS];
    let picture = |t: usize| {
        if t.is_multiple_of(views) {
            bumps = std::array::from_fn(|_| {
                let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
                [between(0.1, 0.4), between(0.0, TAU), between(0.1, 0.3), between(0.3, 1.0)]
            });
        }
        let turned = t as f64 * TAU / 72.0;
        let pixel = |i: usize| {
            let (x, y) = ((i as f64 % side + 0.5) / side - 0.5, ((i as f64 / side).floor() + 0.5) / side - 0.5);
            let brightness = |[radius, angle, width, height]: &[f64; 4]| {
                let (sin, cos) = (angle + turned).sin_cos();
                let square = (x - radius * cos).powi(2) + (y - radius * sin).powi(2);
                height * (-square / (2.0 * width * width)).exp()
            };
            bumps.iter().map(brightness).sum()
        };
        (0..length).map(pixel).collect()
    };
    (0..rows).map(picture).collect()
}

/// Generates sensor data from as many sources as columns (at most 64). The sources are damped oscillations driven by
/// noise (autoregressions of order two), with periods of 4 to 20 rows. Each source is along a random direction, and
/// `fall` times as large as the previous source.
///
/// Electroencephalograms are similar: a small part of each row is outside the span of the previous rows.
pub fn oscillations(length: usize, fall: f64, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    const DAMPING: f64 = 0.98;
    let mut random = Random::seeded(seed);
    let count = length.min(64);
    let directions = directions(length, count, &mut random);
    let turns: Vec<f64> = (0..count).map(|_| TAU / (4.0 + 16.0 * random.uniform())).collect();
    let mut sources = vec![[0.0; 2]; count];
    let row = |_| {
        let mut row = vec![0.0; length];
        for (j, ([now, before], turn)) in sources.iter_mut().zip(&turns).enumerate() {
            let next = 2.0 * DAMPING * turn.cos() * *now - DAMPING * DAMPING * *before + random.normal();
            (*before, *now) = (*now, next);
            add(&mut row, fall.powi(j as i32) * next, directions.column(j));
        }
        row
    };
    (0..rows).map(row).collect()
}

fn add(row: &mut [f64], amount: f64, direction: &[f64]) {
    row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
}

/// Draws directions as columns, with independent normal entries and a mean squared norm of 1.
fn directions(length: usize, count: usize, random: &mut Random) -> Matrix {
    let mut directions = Matrix::zeros(length, count);
    for j in 0..count {
        directions.column_mut(j).iter_mut().for_each(|x| *x = random.normal() / (length as f64).sqrt());
    }
    directions
}
