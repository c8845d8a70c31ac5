//! Decomposition of a point of the capped simplex into a mixture of its corners.
//! Setting: `n` probabilities `p_i` in `[0, 1]` that sum to an integer `s`. A corner is a set of exactly `s` indices.
//! Update: let `r = 1` be the remaining mass. Take the `s` largest entries as a corner. Its coefficient is the smaller
//! of its smallest entry and `r` minus the largest other entry. Subtract the coefficient from `r` and from the entries
//! of the corner, and repeat.
//! Guarantee: the mixture sums to `p` and has at most `n` corners, because each step sets an entry to 0 or makes one
//! equal to `r`, and no later step undoes this. It is not the shortest one.
//! Cost: `O(n)` per corner.
//! Numerics: entries that become `r` or 0 are assigned, so that rounding cannot undo a step. The rounding error of the
//! input goes to the last corner.
//! References: Warmuth & Kuzmin, JMLR 2008, Algorithm 2 and Theorem 2.

use crate::error::{Error, every, require};
use crate::scratch::refill;

pub(crate) const WHOLE: f64 = 1e-9;

/// Remaining mass that is treated as rounding error and added to the last corner.
const LEFT_OVER: f64 = 4.0 * f64::EPSILON;

/// One set of a mixture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Corner {
    /// Probability of this set.
    pub coefficient: f64,
    /// Indices of the set, in ascending order.
    pub members: Vec<usize>,
}

/// Mixture of sets of equal size. The coefficients sum to 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Mixture {
    /// Number of indices in every set.
    pub size: usize,
    /// Number of indices from which the sets are chosen.
    pub dimension: usize,
    /// Sets, in the order in which they were found.
    pub corners: Vec<Corner>,
}

impl Mixture {
    /// Returns, for each index, the probability that a drawn set contains it.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.dimension];
        for corner in &self.corners {
            corner.members.iter().for_each(|&index| probabilities[index] += corner.coefficient);
        }
        probabilities
    }
}

/// Decomposes `n` probabilities that sum to an integer into a mixture of at most `n` sets. Returns
/// `Err` for an entry outside `[0, 1]` or a total that is not an integer.
///
/// ```
/// use eigenhedge::simplex::decompose;
/// let mixture = decompose(&[1.0 / 3.0, 2.0 / 3.0, 1.0])?;
/// assert_eq!(mixture.corners[0].members, [1, 2]); // with probability 2/3
/// assert_eq!(mixture.corners[1].members, [0, 2]); // with probability 1/3
/// assert!((mixture.corners[1].coefficient - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn decompose(probabilities: &[f64]) -> Result<Mixture, Error> {
    every("probabilities", probabilities, "between 0 and 1", |probability| (0.0..=1.0).contains(&probability))?;
    let total: f64 = probabilities.iter().sum();
    let is_whole = (total - total.round()).abs() <= WHOLE * total.max(1.0);
    require(is_whole, "the total of the probabilities", "a whole number", total)?;
    let mut peel = Peel::default();
    peel.start(probabilities.iter().copied(), total.round() as usize);
    let mut corners = Vec::new();
    while let Some(coefficient) = peel.next_corner() {
        let mut members = peel.members().to_vec();
        members.sort_unstable();
        corners.push(Corner { coefficient, members });
    }
    Ok(Mixture { size: peel.size, dimension: probabilities.len(), corners })
}

/// Incremental decomposition that finds one corner per call and allocates nothing when it is reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peel {
    remaining: Vec<f64>,
    order: Vec<usize>,
    mass: f64,
    size: usize,
    steps: usize,
}

impl Peel {
    pub(crate) fn start(&mut self, probabilities: impl Iterator<Item = f64>, size: usize) {
        refill(&mut self.remaining, probabilities);
        refill(&mut self.order, 0..self.remaining.len());
        (self.mass, self.size, self.steps) = (1.0, size, 0);
    }

    /// Returns the coefficient of the next corner, or `None` after the last one.
    pub(crate) fn next_corner(&mut self) -> Option<f64> {
        if self.mass <= 0.0 {
            return None;
        }
        let remaining = &mut self.remaining;
        if 0 < self.size && self.size < self.order.len() {
            self.order
                .select_nth_unstable_by(self.size - 1, |&a, &b| remaining[b].total_cmp(&remaining[a]).then(a.cmp(&b)));
        }
        let (inside, outside) = self.order.split_at(self.size);
        let smallest = inside.iter().fold(f64::INFINITY, |smallest, &index| smallest.min(remaining[index]));
        let largest = outside.iter().fold(0.0, |largest: f64, &index| largest.max(remaining[index]));
        self.steps += 1;
        let mut coefficient = smallest.min(self.mass - largest);
        // Only rounding makes the coefficient zero or negative. Little mass then remains.
        let rounding = self.mass - coefficient <= LEFT_OVER;
        if coefficient <= 0.0 || rounding || self.steps >= self.order.len() {
            coefficient = self.mass;
        }
        let left = if coefficient < self.mass - largest { self.mass - coefficient } else { largest };
        let left = if coefficient < self.mass { left } else { 0.0 };
        for &index in inside {
            let entry = &mut remaining[index];
            *entry = if *entry >= self.mass { left } else { (*entry - coefficient).clamp(0.0, left) };
        }
        self.mass = left;
        Some(coefficient)
    }

    pub(crate) fn members(&self) -> &[usize] {
        &self.order[..self.size]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::num;
    use crate::simplex::cap_by_sorting;

    fn weight() -> impl Strategy<Value = f64> {
        prop_oneof![-3.0..3.0f64, -60.0..60.0f64, (-2..2i32).prop_map(f64::from)]
    }

    proptest! {
        #[test]
        fn corners_sum_to_the_point_and_number_at_most_n(
            weights in proptest::collection::vec(weight(), 2..25),
            share in 0.0..1.0f64,
        ) {
            let kept = 1 + (share * (weights.len() - 2) as f64).round() as usize;
            let capped = cap_by_sorting(&weights, &vec![1; weights.len()], kept).unwrap();
            let probabilities: Vec<f64> = capped.log_dropped.iter().map(|&weight| num::kept(weight)).collect();
            let mixture = decompose(&probabilities).unwrap();
            prop_assert!(mixture.corners.len() <= weights.len());
            for (sum, probability) in mixture.probabilities().iter().zip(&probabilities) {
                prop_assert!((sum - probability).abs() < 1e-12, "{sum} {probability}");
            }
            let total: f64 = mixture.corners.iter().map(|corner| corner.coefficient).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
            for corner in &mixture.corners {
                prop_assert!(corner.coefficient > 0.0);
                prop_assert_eq!(corner.members.len(), kept);
                prop_assert!(corner.members.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }

    #[test]
    fn a_corner_is_its_own_decomposition() {
        let mixture = decompose(&[1.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(mixture.corners, [Corner { coefficient: 1.0, members: vec![0, 2] }]);
        assert!(decompose(&[0.0, 0.0]).unwrap().corners[0].members.is_empty());
        assert_eq!(decompose(&[1.0, 1.0]).unwrap().corners[0].members, [0, 1]);
    }

    #[test]
    fn rounding_makes_no_corner_of_its_own() {
        for weights in [[1.0 / 6.0, 1.0 / 3.0, 0.5], [0.5, 0.3, 0.2], [0.1, 0.4, 0.5]] {
            let mixture = decompose(&weights.map(|w: f64| 2.0 * w)).unwrap();
            assert!(mixture.corners.len() <= 3);
            assert!(mixture.corners.iter().all(|corner| corner.coefficient > 0.05), "{mixture:?}");
        }
    }

    #[test]
    fn points_outside_the_capped_simplex_are_refused() {
        assert!(matches!(decompose(&[0.5, 1.5]), Err(Error::Entry { index: 1, .. })));
        assert!(matches!(decompose(&[f64::NAN, 1.0]), Err(Error::Entry { index: 0, .. })));
        assert!(matches!(decompose(&[0.5, 0.2]), Err(Error::Parameter { .. })));
    }
}
