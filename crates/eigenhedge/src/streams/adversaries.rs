//! Adversaries.

use super::drift::frame;
use super::{Stream, add};
use crate::random::Random;

/// Generates one small row along each of n unit vectors, and then these vectors in turn (JMLR section 7). For every
/// k < n, follow the leader loses 1 on every row after the small ones, which order the directions by energy: the next
/// direction in turn has the least energy, and the leader drops it. The best fixed subspace loses `(n - k)/n` per row on
/// average. The squared entries are the worst case of the leader over experts too.
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
/// third one, which a learner that keeps two directions with certainty never learns. Once `weak · size²` exceeds
/// `strong / 2`, the best plane in hindsight contains it.
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

/// Returns a loss of 1 for the (first) expert most likely to be dropped, and 0 for the others.
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
