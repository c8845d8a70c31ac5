//! Numerically difficult streams.

use super::drift::frame;
use super::{Stream, add, oscillations, random_walk, signal_and_noise, sines, turning_images};
use crate::random::Random;

/// Named stream. `rows(length, count, seed)` generates `count` rows of `length` numbers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Hard {
    /// Name that describes the rows.
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

fn noisy(length: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    signal_and_noise(length, length.min(3), 0.3, seed).take(rows).collect()
}

fn scale(row: &mut [f64], factor: f64) {
    row.iter_mut().for_each(|x| *x *= factor);
}

/// Generates rows that equal one of three base rows up to noise. The cells of the base rows are standard normal, and
/// the noise of a cell has the standard deviation `noise`. The base rows change every 100 rows.
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

/// Generates one small row along each unit vector, and then the unit vectors in turn (JMLR section 7). Let n =
/// `length`. For every k < n, follow the leader loses 1 on every row after the n small ones, while the best fixed
/// subspace loses `(n - k)/n` per row on average.
///
/// The small rows order the directions by energy. From then on, the next direction in turn is the one with the least
/// energy, which the leader drops. Although the stream is fixed, it is therefore the worst case for the leader. The
/// squared entries can be used as losses of experts, for which they are the worst case of follow the leader too.
///
/// ```
/// let rows = eigenhedge::streams::leader_trap(4, 100);
/// assert_eq!(rows[4..8], [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]]);
/// assert!(rows[..4].iter().flatten().all(|x| *x < 0.02));
/// ```
pub fn leader_trap(length: usize, rows: usize) -> Vec<Vec<f64>> {
    let step = 1e-4 / length as f64;
    let row = |t: usize| {
        let mut row = vec![0.0; length];
        row[t % length] = if t < length { ((t + 1) as f64 * step).sqrt() } else { 1.0 };
        row
    };
    (0..rows).map(row).collect()
}

/// Generates `strong` rows that alternate between two orthogonal unit vectors, then `weak` rows of norm `size` along a
/// third one.
///
/// A learner that keeps two directions with certainty never learns the third. Once `weak · size²` exceeds
/// `strong / 2`, the best plane in hindsight contains the third direction.
///
/// ```
/// let stream = eigenhedge::streams::starvation(6, 20, 100, 0.5, 1);
/// assert_eq!((stream.rows.len(), stream.cuts()), (120, vec![20]));
/// ```
pub fn starvation(length: usize, strong: usize, weak: usize, size: f64, seed: u64) -> Stream {
    let directions = frame(length, 3, &mut Random::seeded(seed));
    let row = |t: usize| {
        let mut row = vec![0.0; length];
        let (amount, j) = if t < strong { (1.0, t % 2) } else { (size, 2) };
        add(&mut row, amount, directions.column(j));
        row
    };
    let mut plane = directions.clone();
    plane.resize(length, 2);
    let mut line = plane.clone();
    line.resize(length, 1);
    line.column_mut(0).copy_from_slice(directions.column(2));
    Stream {
        rows: (0..strong + weak).map(row).collect(),
        subspaces: vec![plane, line],
        truth: (0..strong + weak).map(|t| usize::from(t >= strong)).collect(),
    }
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
///
/// ```
/// let losses = eigenhedge::streams::coins(5, 1000, 1);
/// let ones: f64 = losses.iter().flatten().sum();
/// assert!((ones - 2500.0).abs() < 4.0 * 1250f64.sqrt());
/// ```
pub fn coins(experts: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    (0..rows).map(|_| (0..experts).map(|_| f64::from(u8::from(random.uniform() < 0.5))).collect()).collect()
}

/// Returns the losses of an adversary that knows the probabilities of being dropped: 1 for the expert most
/// likely to be dropped (the first if several are tied), and 0 for the others.
///
/// ```
/// assert_eq!(eigenhedge::streams::charge_surest(&[0.2, 0.9, 0.9]), [0.0, 1.0, 0.0]);
/// ```
pub fn charge_surest(dropped: &[f64]) -> Vec<f64> {
    let mut losses = vec![0.0; dropped.len()];
    let surest = (0..dropped.len()).rev().max_by(|a, b| dropped[*a].total_cmp(&dropped[*b]));
    if let Some(surest) = surest {
        losses[surest] = 1.0;
    }
    losses
}
