//! Streams whose subspace changes abruptly or slowly.

use super::{Stream, add, cut, directions};
use crate::linalg::Matrix;
use crate::random::Random;

/// Generates the stream of JMLR figure 3: three segments of 500 rows of 20 numbers, with rank 2 ([`switching`]).
pub fn three_subspaces(seed: u64) -> Vec<Vec<f64>> {
    switching(20, 2, 3, 500, seed)
}

/// Generates `segments` segments of `rows` Gaussian rows each. Each segment has a random covariance
/// of rank `rank`. Rows whose norm exceeds 1 are scaled to norm 1.
pub fn switching(length: usize, rank: usize, segments: usize, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    recurring(length, rank, &(0..segments).collect::<Vec<_>>(), rows, seed).rows
}

/// Generates segments of `rows` rows, one per entry of the pattern. Segments with equal entries
/// have the same covariance, drawn as in [`switching`].
///
/// ```
/// let stream = eigenhedge::streams::recurring(10, 2, &[1, 2, 1, 3, 2, 1], 20, 7);
/// assert_eq!((stream.rows.len(), stream.subspaces.len()), (120, 3));
/// assert_eq!(stream.subspace(0), stream.subspace(45));
/// assert_eq!(stream.cuts(), [20, 40, 60, 80, 100]);
/// ```
pub fn recurring(length: usize, rank: usize, pattern: &[usize], rows: usize, seed: u64) -> Stream {
    let mut random = Random::seeded(seed);
    let mut stream = Stream { rows: Vec::new(), subspaces: Vec::new(), truth: Vec::new() };
    let mut names: Vec<usize> = Vec::new();
    let mut factors: Vec<Matrix> = Vec::new();
    for name in pattern {
        let which = names.iter().position(|known| known == name).unwrap_or(names.len());
        if which == names.len() {
            names.push(*name);
            let mut factor = directions(length, rank, &mut random);
            factors.push(factor.clone());
            factor.orthonormalise();
            stream.subspaces.push(factor);
        }
        for _ in 0..rows {
            let mut row = vec![0.0; length];
            for j in 0..rank {
                add(&mut row, random.normal(), factors[which].column(j));
            }
            cut(&mut row);
            stream.rows.push(row);
            stream.truth.push(which);
        }
    }
    stream
}

/// Generates rows from a rotating subspace. After t rows, each direction of the subspace has rotated by `t ·
/// turn` radians in its own plane. Twice the rank must not exceed the length.
///
/// ```
/// let stream = eigenhedge::streams::drifting(9, 2, 0.01, 100, 3);
/// assert_eq!(stream.subspaces.len(), 100);
/// assert!(stream.loss_of_the_truth() < 1e-12);
/// ```
pub fn drifting(length: usize, rank: usize, turn: f64, rows: usize, seed: u64) -> Stream {
    assert!(2 * rank <= length, "every direction needs a plane to turn in");
    let mut random = Random::seeded(seed);
    let planes = frame(length, 2 * rank, &mut random);
    let size = (0.5 / rank as f64).sqrt();
    let mut stream = Stream { rows: Vec::new(), subspaces: Vec::new(), truth: (0..rows).collect() };
    for t in 0..rows {
        let (sin, cos) = (t as f64 * turn).sin_cos();
        let mut subspace = Matrix::zeros(length, rank);
        let mut row = vec![0.0; length];
        for j in 0..rank {
            add(subspace.column_mut(j), cos, planes.column(j));
            add(subspace.column_mut(j), sin, planes.column(rank + j));
            add(&mut row, size * random.normal(), subspace.column(j));
        }
        cut(&mut row);
        stream.rows.push(row);
        stream.subspaces.push(subspace);
    }
    stream
}

pub(super) fn frame(length: usize, rank: usize, random: &mut Random) -> Matrix {
    let mut frame = directions(length, rank, random);
    frame.orthonormalise();
    frame
}

/// Returns an infinite iterator over Gaussian rows in a fixed random subspace plus isotropic noise.
/// Their mean squared norm is one half. The fraction `noise` of it is noise.
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

/// Generates `rows` rows of [`signal_and_noise`], and the subspace of the signal. Rows longer than
/// 1 are scaled to norm 1.
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
    // The subspace is drawn first, so a generator with the same seed draws it again.
    Stream { rows, subspaces: vec![frame(length, rank, &mut Random::seeded(seed))], truth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::dot;

    #[test]
    fn every_row_lies_in_the_subspace_that_is_called_its_truth() {
        for stream in [recurring(9, 3, &[4, 1, 4], 30, 1), drifting(9, 3, 0.02, 90, 2)] {
            assert_eq!(stream.rows.len(), 90);
            assert!(stream.loss_of_the_truth() <= 90.0 * 1e-14);
            assert!(stream.subspaces.iter().all(|subspace| subspace.drift() <= 1e-14));
            assert!(stream.rows.iter().all(|row| dot(row, row) <= 1.0 + 1e-14));
        }
    }

    #[test]
    fn a_drifting_subspace_turns_by_its_angle() {
        let stream = drifting(12, 3, 0.03, 40, 5);
        for j in 0..3 {
            let cos = dot(stream.subspaces[10].column(j), stream.subspaces[30].column(j));
            assert!((cos - 0.6f64.cos()).abs() <= 1e-14);
        }
    }
}
