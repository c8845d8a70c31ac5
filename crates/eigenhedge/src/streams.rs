//! Synthetic streams with a known truth.

use crate::matrix::Matrix;
use crate::num::dot;
use crate::random::Random;

/// The stream of JMLR figure 3: 20 numbers a row, three segments of 500 rows, each from a Gaussian of random
/// covariance of rank 2; rows longer than one are cut to length one.
pub fn three_subspaces(seed: u64) -> Vec<Vec<f64>> {
    switching(20, 2, 3, 500, seed)
}

/// Segments of rows from Gaussians with random covariances of the given rank; rows longer than one are cut to one.
pub fn switching(length: usize, rank: usize, segments: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut stream = Vec::with_capacity(segments * rows);
    for _ in 0..segments {
        let factor: Vec<Vec<f64>> =
            (0..rank).map(|_| (0..length).map(|_| random.normal() / (length as f64).sqrt()).collect()).collect();
        for _ in 0..rows {
            let mut row = vec![0.0; length];
            for direction in &factor {
                let amount = random.normal();
                row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
            }
            cut(&mut row);
            stream.push(row);
        }
    }
    stream
}

/// A fixed subspace of the given rank plus isotropic noise that carries this share of the energy; mean squared
/// norm one half.
pub fn signal_and_noise(length: usize, rank: usize, noise: f64, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut signal = Matrix::zeros(length, rank);
    for j in 0..rank {
        signal.column_mut(j).iter_mut().for_each(|x| *x = random.normal() / (length as f64).sqrt());
    }
    signal.orthonormalise();
    let noise_size = (0.5 * noise / length as f64).sqrt();
    let signal_size = (0.5 * (1.0 - noise) / rank as f64).sqrt();
    std::iter::from_fn(move || {
        let mut row: Vec<f64> = (0..length).map(|_| noise_size * random.normal()).collect();
        for j in 0..rank {
            let amount = signal_size * random.normal();
            row.iter_mut().zip(signal.column(j)).for_each(|(x, d)| *x += amount * d);
        }
        Some(row)
    })
}

/// Cuts a row longer than one to length one.
fn cut(row: &mut [f64]) {
    let norm = dot(row, row).sqrt();
    if norm > 1.0 {
        row.iter_mut().for_each(|x| *x /= norm);
    }
}
