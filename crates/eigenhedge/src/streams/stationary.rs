//! Stationary streams.

use super::{Stream, add, cut};
use crate::linalg::Matrix;
use crate::random::Random;

pub(super) fn frame(length: usize, rank: usize, random: &mut Random) -> Matrix {
    let mut frame = Matrix::zeros(length, rank);
    for j in 0..rank {
        frame.column_mut(j).iter_mut().for_each(|x| *x = random.normal() / (length as f64).sqrt());
    }
    frame.orthonormalise();
    frame
}

/// Generates rows of a fixed subspace plus isotropic noise of this share; their mean squared norm is one half.
pub fn signal_and_noise(length: usize, rank: usize, noise: f64, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    let mut random = Random::seeded(seed);
    let signal = frame(length, rank, &mut random);
    let noise_size = (0.5 * noise / length as f64).sqrt();
    let signal_size = (0.5 * (1.0 - noise) / rank as f64).sqrt();
    std::iter::from_fn(move || {
        let mut row: Vec<f64> = (0..length).map(|_| noise_size * random.normal()).collect();
        for j in 0..rank {
            add(&mut row, signal_size * random.normal(), signal.column(j));
        }
        Some(row)
    })
}

/// Generates [`signal_and_noise`] with the subspace of the signal. Rows longer than 1 are scaled to norm 1.
///
/// ```
/// let stream = eigenhedge::streams::iid(8, 2, 0.0, 50, 1);
/// assert!(stream.loss_of_the_truth() < 1e-12);
/// assert!(stream.cuts().is_empty());
/// ```
pub fn iid(length: usize, rank: usize, noise: f64, rows: usize, seed: u64) -> Stream {
    let mut rows: Vec<Vec<f64>> = signal_and_noise(length, rank, noise, seed).take(rows).collect();
    rows.iter_mut().for_each(|row| cut(row));
    let truth = vec![0; rows.len()];
    // The subspace is drawn first.
    Stream { rows, subspaces: vec![frame(length, rank, &mut Random::seeded(seed))], truth }
}
