//! Smooth streams, in which consecutive rows differ little.

use super::{add, directions};
use crate::random::Random;
use std::f64::consts::TAU;

fn normals(length: usize, random: &mut Random) -> Vec<f64> {
    (0..length).map(|_| random.normal()).collect()
}

/// Generates an isotropic random walk. The norm of a step is about a tenth of the norm of the first row.
///
/// ```
/// let rows = eigenhedge::streams::random_walk(5, 30, 1);
/// assert_eq!((rows.len(), rows[0].len()), (30, 5));
/// ```
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
///
/// ```
/// let rows = eigenhedge::streams::sines(1024, 40, 10, 1);
/// let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
/// let step: Vec<f64> = rows[0].iter().zip(&rows[1]).map(|(a, b)| a - b).collect();
/// assert!(square(&step) < 0.01 * square(&rows[0]));
/// ```
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
///
/// ```
/// let rows = eigenhedge::streams::turning_images(256, 72, 100, 1);
/// assert!(rows.iter().flatten().all(|x| *x >= 0.0));
/// ```
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
///
/// ```
/// let rows = eigenhedge::streams::oscillations(14, 0.85, 120, 1);
/// assert_eq!(rows.len(), 120);
/// ```
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
