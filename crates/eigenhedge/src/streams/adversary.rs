//! Adversarial streams.

use super::stationary::frame;
use super::{Stream, add};
use crate::random::Random;

/// Generates one small row along each unit vector, and then the unit vectors in turn (JMLR section 7). For every k,
/// follow the leader loses 1 on every row after the first few, while the best fixed subspace loses `d/n` per row on
/// average, with d = n - k.
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

/// Generates `strong` rows alternating between two orthogonal unit vectors, then `weak` ones of norm `size` in a third.
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
/// The expected loss of every learner that drops d of n experts is `d/2` per trial, and by chance the best
/// set of d is better by about `d √((T/2) log(n/d))`. For subspaces, the instance of a trial is the diagonal
/// matrix of its losses.
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
