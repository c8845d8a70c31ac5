//! Capped Hedge, including Hedge as a special case. The setting is that of the [module](super).
//!
//! Update: `log v ← cap(log v - η loss)` for the probabilities v of being dropped, initially `d/n`, then mixing. With
//! `d = 1` the cap only normalizes the weights: Hedge.
//! Guarantee: without mixing, for every sequence of losses, `Σ expected ≤ (η L* + d log(n/d)) / (1 - e^{-η})`, where
//! `L*` is the total loss of the best fixed set of `d` dropped experts (JMLR Theorem 3). The cost of mixing
//! ([`CappedHedge::price`]) adds to `d log(n/d)`, also in [`bounds::uncentered`](crate::bounds::uncentered) and
//! [`bounds::shifting`](crate::bounds::shifting).
//! Cost: `O(n)` per trial while the order of the weights changes little, `O(n log n)` at worst.
//! References: Freund & Schapire 1997; Warmuth & Kuzmin, JMLR 2008, Algorithms 1 and 3, and section 8 for mixing. The
//! normalizer printed in Algorithm 3 lacks the factor `w_j`. 8 for mixing. The normalizer printed in Algorithm 3 lacks
//! the factor `w_j`.

use serde::{Deserialize, Serialize};

use super::{DrawnExperts, Mixer, check_distribution, check_kept, check_losses};
use crate::error::{self, Error};
use crate::learner::{Learner, Loss};
use crate::mixing::Mixing;
use crate::random::Random;
use crate::scratch::{Scratch, refill};
use crate::simplex::{CapScratch, Complement, Select, cap};

/// Capped Hedge: exponential weights over experts, projected onto the capped simplex.
///
/// ```
/// use eigenhedge::{Mixing, Random, experts::CappedHedge, trial};
/// let mut learner = CappedHedge::new(4, 2, 0.5)?.with_mixing(Mixing::FixedShare { alpha: 0.01 })?;
/// let loss = trial(&mut learner, &[0.0, 0.2, 0.8, 1.0][..], &mut Random::seeded(1))?;
/// assert!((loss.expected - 1.0).abs() < 1e-15);
/// assert!(learner.log_dropped()[0] > learner.log_dropped()[3]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct CappedHedge {
    kept: usize,
    eta: f64,
    select: Select,
    mixer: Mixer,
    log_dropped: Vec<f64>,
    price: f64,
    #[serde(skip)]
    scratch: Scratch<(CapScratch, DrawnExperts, Vec<f64>)>,
}

#[derive(Deserialize)]
#[serde(rename = "CappedHedge")]
struct Saved {
    kept: usize,
    eta: f64,
    select: Select,
    mixer: Mixer,
    log_dropped: Vec<f64>,
    price: f64,
}

impl TryFrom<Saved> for CappedHedge {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let Saved { kept, eta, select, mixer, log_dropped, price } = saved;
        check_kept(kept, log_dropped.len())?;
        error::positive("eta", eta)?;
        check_distribution(&log_dropped, log_dropped.len() - kept)?;
        mixer.check(log_dropped.len(), kept)?;
        error::not_negative("price", price)?;
        Ok(Self { kept, eta, select, mixer, log_dropped, price, scratch: Scratch::default() })
    }
}

/// Creates a Hedge learner: each trial draws one expert with exponential weights and incurs its loss.
///
/// ```
/// use eigenhedge::{Random, experts::hedge, trial};
/// let mut learner = hedge(2, 1.0)?;
/// trial(&mut learner, &[0.0, 1.0][..], &mut Random::seeded(1))?;
/// let log_odds = learner.log_dropped()[0] - learner.log_dropped()[1];
/// assert!((log_odds - 1.0).abs() < 1e-15);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn hedge(experts: usize, eta: f64) -> Result<CappedHedge, Error> {
    CappedHedge::new(experts, experts.saturating_sub(1), eta)
}

impl CappedHedge {
    /// Creates a learner that keeps `kept` of `experts` experts, with systematic sampling and no mixing. Returns `Err`
    /// unless `0 < kept < experts` and `eta` is positive and finite.
    pub fn new(experts: usize, kept: usize, eta: f64) -> Result<Self, Error> {
        check_kept(kept, experts)?;
        error::positive("eta", eta)?;
        let log_dropped = vec![log_uniform(experts, kept); experts];
        let mixer = Mixer::new(Mixing::None, &log_dropped);
        let (select, scratch) = (Select::default(), Scratch::default());
        Ok(Self { kept, eta, select, mixer, log_dropped, price: 0.0, scratch })
    }

    /// Sets the mixing rule. Returns `Err` for a rate outside `[0, 1)`.
    pub fn with_mixing(mut self, mixing: Mixing) -> Result<Self, Error> {
        self.mixer = Mixer::new(mixing.checked()?, &self.log_dropped);
        Ok(self)
    }

    /// Sets the method that draws the dropped experts.
    pub fn with_select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// Returns the number k of experts kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Returns `log v`, the log-probability that each expert is dropped in the next trial.
    pub fn log_dropped(&self) -> &[f64] {
        &self.log_dropped
    }

    /// Returns the cost of mixing: the total decrease of all `log v` that it has caused.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Returns the experts dropped in the most recent trial.
    pub fn dropped(&self) -> &[usize] {
        &self.scratch.0.1.dropped
    }
}

/// Returns `log(d/n)`, computed from `k/n` for precision.
fn log_uniform(experts: usize, kept: usize) -> f64 {
    (-(kept as f64 / experts as f64)).ln_1p()
}

impl Learner<[f64]> for CappedHedge {
    fn check(&mut self, losses: &[f64]) -> Result<(), Error> {
        check_losses(losses, self.log_dropped.len())
    }

    fn choose(&mut self, random: &mut Random) {
        let choice = &mut self.scratch.0.1;
        refill(&mut choice.probabilities, self.log_dropped.iter().map(|weight| weight.exp()));
        choice.commit(self.select, random);
    }

    fn incur(&mut self, losses: &[f64]) -> Loss {
        self.scratch.0.1.loss(losses)
    }

    fn update(&mut self, losses: &[f64]) {
        for (weight, loss) in self.log_dropped.iter_mut().zip(losses) {
            *weight -= self.eta * loss;
        }
        cap(&mut self.log_dropped, &mut Complement::finite(0.0, 0), self.kept, &mut self.scratch.0.0);
        let log_uniform = log_uniform(self.log_dropped.len(), self.kept);
        let before = &mut self.scratch.0.2;
        before.clone_from(&self.log_dropped);
        self.mixer.mix(&mut self.log_dropped, log_uniform);
        self.price +=
            before.iter().zip(&self.log_dropped).map(|(before, mixed)| (before - mixed).max(0.0)).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial;

    #[test]
    fn a_saved_state_that_no_learner_has_is_refused() {
        let mixing = Mixing::PastAverage { alpha: 0.1 };
        let whole = CappedHedge::new(4, 1, 0.5).unwrap().with_mixing(mixing).unwrap();
        let read = |learner: &CappedHedge| {
            postcard::from_bytes::<CappedHedge>(&postcard::to_stdvec(learner).unwrap())
                .is_ok_and(|read| read == *learner)
        };
        assert!(read(&whole));
        let changes: [fn(&mut CappedHedge); 7] = [
            |learner| learner.price = -1.0,
            |learner| learner.kept = 4,
            |learner| learner.kept = 2,
            |learner| learner.eta = f64::NAN,
            |learner| learner.log_dropped[1] = f64::NAN,
            |learner| learner.log_dropped[1] = 0.5,
            |learner| learner.mixer = Mixer::new(Mixing::PastAverage { alpha: 0.1 }, &[0.0; 3]),
        ];
        for (i, change) in changes.iter().enumerate() {
            let mut changed = whole.clone();
            change(&mut changed);
            assert!(!read(&changed), "change {i}");
        }
    }

    /// Returns the smallest total loss of any fixed set of `dropped` experts.
    fn best(sequence: &[Vec<f64>], dropped: usize) -> f64 {
        let mut totals: Vec<f64> = (0..sequence[0].len()).map(|i| sequence.iter().map(|row| row[i]).sum()).collect();
        totals.sort_by(f64::total_cmp);
        totals[..dropped].iter().sum()
    }

    fn assert_within_bound(experts: usize, kept: usize, eta: f64, mut next: impl FnMut(&CappedHedge) -> Vec<f64>) {
        let (mut learner, mut random) = (CappedHedge::new(experts, kept, eta).unwrap(), Random::seeded(2));
        let (mut sequence, mut total) = (Vec::new(), 0.0);
        for _ in 0..400 {
            let losses = next(&learner);
            total += trial(&mut learner, &losses[..], &mut random).unwrap().expected;
            sequence.push(losses);
            let dropped = (experts - kept) as f64;
            let divergence = dropped * (experts as f64 / dropped).ln();
            let bound = (eta * best(&sequence, experts - kept) + divergence) / -(-eta).exp_m1();
            assert!(total <= bound * (1.0 + 1e-12), "{total} exceeds {bound} with n {experts} k {kept} eta {eta}");
        }
    }

    #[test]
    fn expected_loss_stays_within_theorem_3() {
        let mut random = Random::seeded(1);
        for (experts, kept) in [(2, 1), (8, 3), (8, 7), (20, 1), (20, 10)] {
            for eta in [0.01, 0.3, 1.0, 5.0] {
                assert_within_bound(experts, kept, eta, |learner| {
                    learner.log_dropped().iter().map(|_| random.uniform()).collect()
                });
                // The adversary charges the expert that is most likely to be dropped.
                assert_within_bound(experts, kept, eta, |learner| {
                    let largest = learner.log_dropped().iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    learner.log_dropped().iter().map(|&weight| f64::from(weight == largest)).collect()
                });
            }
        }
    }

    #[test]
    fn hedge_equals_normalised_exponential_weights() {
        let (mut learner, mut random, eta) = (hedge(5, 0.7).unwrap(), Random::seeded(4), 0.7);
        let mut totals = [0.0; 5];
        for _ in 0..300 {
            let losses: Vec<f64> = totals.iter().map(|_| random.uniform()).collect();
            totals.iter_mut().zip(&losses).for_each(|(total, loss)| *total += loss);
            trial(&mut learner, &losses[..], &mut random).unwrap();
            let normaliser = crate::num::log_sum_exp(totals.iter().map(|total| -eta * total));
            for (weight, total) in learner.log_dropped().iter().zip(&totals) {
                assert!((weight - (-eta * total - normaliser)).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn mixing_rate_zero_equals_no_mixing_bit_for_bit() {
        let plain = CappedHedge::new(6, 2, 0.9).unwrap();
        for mixing in [Mixing::FixedShare { alpha: 0.0 }, Mixing::PastAverage { alpha: 0.0 }] {
            let (mut a, mut b) = (plain.clone(), plain.clone().with_mixing(mixing).unwrap());
            let mut random = Random::seeded(3);
            for _ in 0..100 {
                let losses: Vec<f64> = (0..6).map(|_| random.uniform()).collect();
                a.update(&losses);
                b.update(&losses);
                assert_eq!(a.log_dropped(), b.log_dropped());
            }
        }
    }

    #[test]
    fn totals_hold_after_a_hundred_thousand_trials() {
        for mixing in [Mixing::None, Mixing::FixedShare { alpha: 1e-3 }, Mixing::PastAverage { alpha: 1e-3 }] {
            let mut learner = CappedHedge::new(7, 3, 0.5).unwrap().with_mixing(mixing).unwrap();
            let mut random = Random::seeded(6);
            for _ in 0..100_000 {
                let losses: [f64; 7] = std::array::from_fn(|place| random.uniform() * place as f64 / 6.0);
                learner.update(&losses);
            }
            let kept: f64 = learner.log_dropped().iter().map(|&weight| crate::num::kept(weight)).sum();
            assert!((kept - 3.0).abs() < 1e-12, "{kept}");
            assert!(learner.log_dropped().iter().all(|weight| *weight <= 0.0 && weight.is_finite()));
        }
    }

    #[test]
    fn broken_parameters_are_refused() {
        assert_eq!(CappedHedge::new(4, 4, 1.0).unwrap_err(), Error::Kept { kept: 4, dimension: 4 });
        assert!(CappedHedge::new(4, 0, 1.0).is_err() && hedge(1, 1.0).is_err() && hedge(0, 1.0).is_err());
        for eta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(CappedHedge::new(4, 2, eta).is_err());
        }
        let mixed = CappedHedge::new(4, 2, 1.0).unwrap().with_mixing(Mixing::FixedShare { alpha: 1.0 });
        assert!(mixed.is_err());
    }
}
