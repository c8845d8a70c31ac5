//! Follow the leader: drops the experts with the smallest total loss so far. Those with equal totals share the
//! remaining places evenly. This is the limit of capped Hedge as `η → ∞`, in expected `O(n)` per trial.
//!
//! Guarantee: none. If the dropped experts always have loss 1, the learner loses `d` per trial. It is a baseline that
//! shows the benefit of hedging.
//! References: Warmuth & Kuzmin, JMLR 2008, Fact 1 and section 7.

use serde::{Deserialize, Serialize};

use super::{DrawnExperts, check_kept, check_losses};
use crate::error::Error;
use crate::learner::{Learner, Loss};
use crate::random::Random;
use crate::scratch::{Scratch, refill};
use crate::simplex::{Complement, LimitScratch, Precision, Select, keep_largest};

/// Follow-the-leader: drops the `d = n - k` experts with the smallest total losses so far.
///
/// ```
/// use eigenhedge::{Random, experts::Leader, trial};
/// let (mut learner, mut random) = (Leader::new(3, 2)?, Random::seeded(1));
/// let first = trial(&mut learner, &[0.9, 0.3, 0.6][..], &mut random)?;
/// let second = trial(&mut learner, &[0.9, 0.3, 0.6][..], &mut random)?;
/// assert!((first.expected - 0.6).abs() < 1e-15); // all tied: one third each
/// assert_eq!(second.expected, 0.3);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leader {
    kept: usize,
    totals: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    log_weights: Vec<f64>,
    limit: LimitScratch,
    choice: DrawnExperts,
}

impl Leader {
    /// Creates a learner that keeps `kept` of `experts` experts. Returns `Err` unless `0 < kept < experts`.
    pub fn new(experts: usize, kept: usize) -> Result<Self, Error> {
        check_kept(kept, experts)?;
        Ok(Self { kept, totals: vec![0.0; experts], scratch: Scratch::default() })
    }

    pub(crate) fn continues(&self, fresh: &Self) -> bool {
        let are_sound = self.totals.iter().all(|x| x.is_finite() && *x >= 0.0);
        self.kept == fresh.kept && self.totals.len() == fresh.totals.len() && are_sound
    }

    /// Returns the total loss of each expert so far.
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Returns the experts dropped in the most recent trial.
    pub fn dropped(&self) -> &[usize] {
        &self.scratch.0.choice.dropped
    }
}

impl Learner<[f64]> for Leader {
    fn check(&mut self, losses: &[f64]) -> Result<(), Error> {
        check_losses(losses, self.totals.len())
    }

    fn choose(&mut self, random: &mut Random) {
        let Working { log_weights, limit, choice } = &mut self.scratch.0;
        let (mut nobody, exact) = (Complement::finite(0.0, 0), Precision::default());
        keep_largest(&self.totals, &mut nobody, self.kept, exact, log_weights, limit);
        refill(&mut choice.probabilities, log_weights.iter().map(|weight| weight.exp()));
        choice.commit(Select::Systematic, random);
    }

    fn incur(&mut self, losses: &[f64]) -> Loss {
        self.scratch.0.choice.loss(losses)
    }

    fn update(&mut self, losses: &[f64]) {
        self.totals.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplex::cap_by_sorting;
    use crate::trial;

    #[test]
    fn leader_equals_capping_with_an_enormous_rate() {
        let (mut leader, mut random, eta) = (Leader::new(7, 3).unwrap(), Random::seeded(8), 1e6);
        for round in 0..200 {
            let weights: Vec<f64> = leader.totals().iter().map(|total| -eta * total).collect();
            let capped = cap_by_sorting(&weights, &[1; 7], 3).unwrap();
            // Losses are multiples of 1/4, so that totals are exact and ties occur.
            let losses: Vec<f64> = (0..7).map(|_| random.below(5) as f64 / 4.0).collect();
            let expected: f64 = capped.log_dropped.iter().zip(&losses).map(|(weight, loss)| weight.exp() * loss).sum();
            let limit = trial(&mut leader, &losses[..], &mut random).unwrap().expected;
            assert!((limit - expected).abs() < 1e-12, "{round}: {limit} {expected}");
        }
    }
}
