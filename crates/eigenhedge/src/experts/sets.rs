//! Distribution over sets with product weights.
//!
//! Numerics: entry `F[i][j]` of the table is the log of the elementary symmetric polynomial of degree `j` in the first
//! `i` weights, a sum of positive terms. One backward pass over ratios of neighboring entries gives inclusion
//! probabilities and samples, without cancellation.
//! References: Takimoto & Warmuth 2003 (product weights by dynamic programming).

use crate::error::{Error, every, require};
use crate::num;
use crate::random::Random;
use crate::scratch::zero;

/// Distribution over sets of a fixed size, with probabilities proportional to the product of the members' weights.
///
/// ```
/// use eigenhedge::experts::SetDistribution;
/// // Weights 1, 2, 4: the pairs have weights 2, 4 and 8.
/// let pairs = SetDistribution::new(&[1f64.ln(), 2f64.ln(), 4f64.ln()], 2)?;
/// assert!((pairs.inclusion()[2] - 6.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SetDistribution {
    size: usize,
    log_weights: Vec<f64>,
    /// Row `i` contains degrees `0..=size` for the first `i` weights.
    table: Vec<f64>,
}

impl SetDistribution {
    /// Returns `Err` if `size` is 0 or exceeds the number of positive weights, or if a log-weight is `∞` or NaN.
    pub fn new(log_weights: &[f64], size: usize) -> Result<Self, Error> {
        every("list of log-weights", log_weights, "less than infinity", |weight| weight < f64::INFINITY)?;
        let positive = log_weights.iter().filter(|weight| weight.is_finite()).count();
        let rule = "at least 1 and at most the number of positive weights";
        require((1..=positive).contains(&size), "the size of a set", rule, size as f64)?;
        let mut distribution = Self::default();
        distribution.fill(log_weights, size);
        Ok(distribution)
    }

    pub(crate) fn fill(&mut self, log_weights: &[f64], size: usize) {
        self.size = size;
        log_weights.clone_into(&mut self.log_weights);
        self.table.clear();
        self.table.resize((log_weights.len() + 1) * (size + 1), f64::NEG_INFINITY);
        self.table[0] = 0.0;
        for (index, &weight) in log_weights.iter().enumerate() {
            let (done, rest) = self.table.split_at_mut((index + 1) * (size + 1));
            let before = &done[index * (size + 1)..];
            rest[0] = 0.0;
            for degree in 1..=size.min(index + 1) {
                rest[degree] = num::log_sum_exp([before[degree], weight + before[degree - 1]].into_iter());
            }
        }
    }

    pub(crate) fn entry(&self, index: usize, degree: usize) -> f64 {
        self.table[index * (self.size + 1) + degree]
    }

    /// Returns the probability that the set contains `index`, given that `needed` members are at most `index`.
    fn taken(&self, index: usize, needed: usize) -> f64 {
        (self.log_weights[index] + self.entry(index, needed - 1) - self.entry(index + 1, needed)).exp()
    }

    /// Returns, for each index, the probability that a drawn set contains it.
    pub fn inclusion(&self) -> Vec<f64> {
        let (mut inclusion, mut reach) = (Vec::new(), Vec::new());
        self.inclusion_into(&mut inclusion, &mut reach);
        inclusion
    }

    /// `reach[j]` is the probability that a set has `j` members at or below the current index.
    pub(super) fn inclusion_into(&self, inclusion: &mut Vec<f64>, reach: &mut Vec<f64>) {
        zero(inclusion, self.log_weights.len());
        zero(reach, self.size + 1);
        reach[self.size] = 1.0;
        for index in (0..self.log_weights.len()).rev() {
            for needed in 1..=self.size {
                if reach[needed] == 0.0 {
                    continue;
                }
                let taken = reach[needed] * self.taken(index, needed);
                let passed = reach[needed] * (self.entry(index, needed) - self.entry(index + 1, needed)).exp();
                inclusion[index] += taken;
                reach[needed - 1] += taken;
                reach[needed] = passed;
            }
        }
    }

    /// Draws a set and writes its indices to `members` in descending order.
    pub fn sample(&self, random: &mut Random, members: &mut Vec<usize>) {
        members.clear();
        let mut needed = self.size;
        for index in (0..self.log_weights.len()).rev() {
            if needed == 0 {
                break;
            }
            // If only `needed` indices are left, takes all of them regardless of rounding.
            if needed == index + 1 || random.uniform() < self.taken(index, needed) {
                members.push(index);
                needed -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lists every set of `size` indices as a bit mask, with its weight.
    fn all_sets(log_weights: &[f64], size: usize) -> Vec<(usize, f64)> {
        let weight =
            |set: usize| (0..log_weights.len()).filter(|i| set >> i & 1 == 1).map(|i| log_weights[i]).sum::<f64>();
        let sets = (0..1usize << log_weights.len()).filter(|set| set.count_ones() as usize == size);
        sets.map(|set| (set, weight(set).exp())).collect()
    }

    proptest! {
        #[test]
        fn inclusion_equals_enumeration_of_all_sets(
            log_weights in proptest::collection::vec(-20.0..20.0f64, 1..9), share in 0.0..1.0f64,
        ) {
            let size = 1 + (share * (log_weights.len() - 1) as f64).round() as usize;
            let distribution = SetDistribution::new(&log_weights, size).unwrap();
            let sets = all_sets(&log_weights, size);
            let total: f64 = sets.iter().map(|(_, weight)| weight).sum();
            prop_assert!((distribution.entry(log_weights.len(), size) - total.ln()).abs() < 1e-12 * total.ln().abs().max(1.0));
            for (index, inclusion) in distribution.inclusion().into_iter().enumerate() {
                let with: f64 = sets.iter().filter(|(set, _)| set >> index & 1 == 1).map(|(_, weight)| weight).sum();
                let oracle = with / total;
                prop_assert!((inclusion - oracle).abs() < 1e-12 * oracle, "{inclusion} {oracle}");
            }
        }
    }

    #[test]
    fn sets_are_drawn_with_their_product_weights() {
        let (log_weights, size) = ([0.3, -1.0, f64::NEG_INFINITY, 1.2, 0.0], 2);
        let distribution = SetDistribution::new(&log_weights, size).unwrap();
        const DRAWS: usize = 40_000;
        let (mut counts, mut random, mut members) = (vec![0usize; 1 << 5], Random::seeded(11), Vec::new());
        for _ in 0..DRAWS {
            distribution.sample(&mut random, &mut members);
            assert_eq!(members.len(), size);
            counts[members.iter().map(|index| 1 << index).sum::<usize>()] += 1;
        }
        for (set, weight) in all_sets(&log_weights, size) {
            let probability = weight / distribution.entry(log_weights.len(), size).exp();
            let standard_error = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            let found = counts[set] as f64 / DRAWS as f64;
            assert!((found - probability).abs() <= 4.0 * standard_error, "{set:b} {found} {probability}");
        }
    }

    #[test]
    fn sizes_that_no_set_can_have_are_refused() {
        assert!(SetDistribution::new(&[0.0, f64::NEG_INFINITY], 2).is_err());
        assert!(SetDistribution::new(&[0.0, 0.0], 0).is_err());
        assert!(SetDistribution::new(&[0.0, f64::NAN], 1).is_err());
    }
}
