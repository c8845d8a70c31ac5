//! Learners over `n` experts that keep `k` of them: [`Experts`].
//!
//! Before each trial a learner commits to a set of `k` experts. Its loss is the sum of the losses, in `[0, 1]`, of the
//! `d = n - k` dropped experts. The experts worth keeping are those with the *largest* losses, like the directions with
//! the largest variance in PCA: expert learners are the diagonal case of subspace learners.
//!
//! - Capped Hedge: `log v ← cap(log v - η loss)` for the probabilities v of being dropped, initially `d/n`, then
//!   mixing. With `d = 1` the cap only normalizes the weights: Hedge. Without mixing, for every sequence of losses, `Σ
//!   expected ≤ (η L* + d log(n/d)) / (1 - e^{-η})`, where `L*` is the total loss of the best fixed set of dropped
//!   experts (JMLR Theorem 3). The cost of mixing ([`Experts::price`]) adds to `d log(n/d)`, also in
//!   [`bounds::uncentered`](crate::bounds::uncentered) and [`bounds::shifting`](crate::bounds::shifting). `O(n)` per
//!   trial while the order of the weights changes little, `O(n log n)` at worst.
//! - Leader: drops the experts with the smallest total losses. Those with equal totals share the remaining places
//!   evenly. This is the limit of capped Hedge as `η → ∞`, in expected `O(n)` per trial, and has no guarantee: if the
//!   dropped experts always have loss 1, it loses `d` per trial.
//! - Perturbed leader: drops the experts with the smallest `total_i - G_i/η` for independent Gumbel noise `G_i =
//!   -log(-log U_i)`, with `U_i` uniform in `[0, 1)`, in expected `O(n)`. With `d = 1` the drawn expert has the
//!   distribution of Hedge, and therefore its bound `(η L* + log n)/(1 - e^{-η})` in expectation. With `d > 1`, no
//!   bound without extra factors of `d` is known. [`Loss::expected`] is the loss of the drawn set, unbiased but random.
//! - Product sets: Hedge over the `C(n, d)` sets, `log w ← log w - η loss`, where the probability of dropping a set is
//!   proportional to the product of the weights of its members ([`SetDistribution`]), in time and memory `O(n d)`. The
//!   losses of sets are in `[0, d]`, so `Σ expected ≤ d (η L* + log C(n, d)) / (1 - e^{-ηd})`.
//!
//! References: Freund & Schapire 1997; Kalai & Vempala 2005; Kuzmin & Warmuth, COLT 2005 (noise that simulates Hedge);
//! Warmuth & Kuzmin, JMLR 2008, Algorithms 1 and 3 (whose normalizer lacks the factor `w_j`), sections 4.1, 7 and 8.
//!
//! ```
//! use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
//! use eigenhedge::{Random, trial};
//!
//! for kind in ExpertKind::ALL {
//!     let mut learner = Experts::new(ExpertSpec::new(kind, 4, 2, 1.0))?; // keep 2 of 4 experts, rate 1
//!     let mut random = Random::seeded(0);
//!     for _ in 0..50 {
//!         trial(&mut learner, &[1.0, 0.9, 0.1, 0.0][..], &mut random)?;
//!     }
//!     let loss = trial(&mut learner, &[1.0, 1.0, 0.0, 0.0][..], &mut random)?;
//!     assert!(loss.expected < 1e-6, "{}", kind.name()); // the first two are kept
//! }
//! # Ok::<(), eigenhedge::Error>(())
//! ```

mod sets;

pub use sets::SetDistribution;

use crate::error::{self, Error, every, require};
use crate::learner::{Learner, Loss};
use crate::memory::{check_numbers, product};
use crate::mixing::{Blend, Mixing};
use crate::random::Random;
use crate::scratch::{Scratch, refill};
use crate::simplex::{CapScratch, Complement, DrawScratch, LimitScratch, Precision, Select, cap, draw, keep_largest};
use crate::state::{ensure, length};
use serde::{Deserialize, Serialize};

/// Algorithm of an expert learner. Each trial drops some experts and incurs their losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ExpertKind {
    /// Hedge over sets of experts, with capped weights. It is ordinary Hedge if one expert is dropped.
    CappedHedge,
    /// Follow the leader: drops the experts with the least total loss.
    Leader,
    /// Follow the perturbed leader: drops the experts with the least total loss plus random noise.
    PerturbedLeader,
    /// Hedge over all sets of experts to drop. The weight of a set is the product of the weights of its experts.
    ProductSets,
}

error::by_name!(ExpertKind, "learner", 4,
    CappedHedge => "capped-hedge", Leader => "leader", PerturbedLeader => "perturbed-leader", ProductSets => "product-sets");

/// Parameters of an expert learner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExpertSpec {
    /// Algorithm of the learner.
    pub kind: ExpertKind,
    /// Number of experts.
    pub experts: usize,
    /// Number of experts kept.
    pub kept: usize,
    /// Learning rate. It has no effect for the leader.
    pub eta: f64,
    /// Mixing rule, for capped Hedge only.
    pub mixing: Mixing,
    /// Method for drawing a set, for capped Hedge only.
    pub select: Select,
}

impl ExpertSpec {
    /// Creates parameters with systematic sampling and no mixing.
    pub fn new(kind: ExpertKind, experts: usize, kept: usize, eta: f64) -> Self {
        Self { kind, experts, kept, eta, mixing: Mixing::None, select: Select::default() }
    }
}

/// Expert learner of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Experts {
    spec: ExpertSpec,
    weights: Vec<f64>,
    /// Logarithms of the mean of all distributions so far, the number of which is `played`. A logarithm, so that it is
    /// accurate far below the smallest normal number. Empty unless the mixing rule is past average.
    past: Vec<f64>,
    played: u64,
    price: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    probabilities: Vec<f64>,
    dropped: Vec<usize>,
    draw: DrawScratch,
    cap: CapScratch,
    limit: LimitScratch,
    /// Log-weights of the leaders, perturbed totals, or weights before mixing.
    other: Vec<f64>,
    sets: SetDistribution,
}

#[derive(Deserialize)]
struct Saved {
    spec: ExpertSpec,
    weights: Vec<f64>,
    past: Vec<f64>,
    played: u64,
    price: f64,
}

impl TryFrom<Saved> for Experts {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let Saved { spec, weights, past, played, price } = saved;
        let fresh = Self::new(spec)?;
        length("weights of the experts", weights.len(), spec.experts)?;
        length("mean of the past", past.len(), fresh.past.len())?;
        error::at_least_one("the number of distributions played", played.min(1) as usize)?;
        error::not_negative("price", price)?;
        let is_sound =
            |range: std::ops::RangeInclusive<f64>| weights.iter().all(|x| x.is_finite() && range.contains(x));
        match spec.kind {
            ExpertKind::CappedHedge => check_distribution(&weights, spec.experts - spec.kept)?,
            ExpertKind::ProductSets => ensure(is_sound(f64::MIN..=0.0), "log-weights must not be positive")?,
            _ => ensure(is_sound(0.0..=f64::MAX), "the total losses of experts must not be negative")?,
        }
        if !past.is_empty() {
            check_distribution(&past, spec.experts - spec.kept)?;
        }
        Ok(Self { weights, past, played, price, ..fresh })
    }
}

/// Upper bound on the memory per expert, in 8-byte numbers, without the table of sets.
const NUMBERS: usize = 16;

impl Experts {
    /// Creates the learner. Returns `Err` unless `0 < kept < experts`, the rate is positive and finite, and mixing and
    /// select are those of capped Hedge.
    pub fn new(spec: ExpertSpec) -> Result<Self, Error> {
        let ExpertSpec { kind, experts, kept, eta, mixing, select } = spec;
        let is_capped = kind == ExpertKind::CappedHedge;
        if !is_capped && (mixing != Mixing::None || select != Select::default()) {
            return Err(Error::Unsupported("mixing and select are read by the learner capped-hedge only"));
        }
        if !(0 < kept && kept < experts) {
            return Err(Error::Kept { kept, dimension: experts });
        }
        check_numbers("the weights of the experts", product(&[NUMBERS, experts]))?;
        if kind != ExpertKind::Leader {
            error::positive("eta", eta)?;
        }
        mixing.checked()?;
        let weights = vec![if is_capped { log_uniform(spec) } else { 0.0 }; experts];
        let past = if matches!(mixing, Mixing::PastAverage { .. }) { weights.clone() } else { Vec::new() };
        Ok(Self { spec, weights, past, played: 1, price: 0.0, scratch: Scratch::default() })
    }

    /// Returns the parameters of the learner.
    pub fn spec(&self) -> &ExpertSpec {
        &self.spec
    }

    /// Returns, for each expert, the log-probability of being dropped (capped Hedge), the log-weight minus the largest
    /// one (product sets), or the total loss so far (leaders).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the cost of mixing: the total decrease of all `log v` that it has caused.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Returns the indices of the experts dropped by the most recent choice.
    pub fn dropped(&self) -> &[usize] {
        &self.scratch.0.dropped
    }

    /// Returns the probability that each expert is kept in the next trial. Returns `None` for the leader, whose choice
    /// is not random, and for the perturbed leader, whose probabilities are unknown.
    pub fn kept_probabilities(&self) -> Option<Vec<f64>> {
        match self.spec.kind {
            ExpertKind::CappedHedge => Some(self.weights.iter().map(|weight| -weight.exp_m1()).collect()),
            ExpertKind::ProductSets => {
                let dropped = SetDistribution::new(&self.weights, self.spec.experts - self.spec.kept).ok()?;
                Some(dropped.inclusion().iter().map(|dropped| 1.0 - dropped).collect())
            }
            ExpertKind::Leader | ExpertKind::PerturbedLeader => None,
        }
    }

    /// Mixes the weights of capped Hedge, and adds the cost to the price.
    fn mix(&mut self) {
        let before = &mut self.scratch.0.other;
        before.clone_from(&self.weights);
        match self.spec.mixing {
            Mixing::None => {}
            Mixing::FixedShare { alpha } => {
                let share = Blend::with(log_uniform(self.spec), alpha);
                self.weights.iter_mut().for_each(|weight| *weight = share.of(*weight));
            }
            Mixing::PastAverage { alpha } => {
                self.played = self.played.saturating_add(1);
                let newest = 1.0 / self.played as f64;
                for (weight, past) in self.weights.iter_mut().zip(&mut self.past) {
                    *weight = Blend::with(*past, alpha).of(*weight);
                    *past = Blend::with(*weight, newest).of(*past);
                }
            }
        }
        self.price += before.iter().zip(&self.weights).map(|(before, mixed)| (before - mixed).max(0.0)).sum::<f64>();
    }
}

/// Returns `log(d/n)`, computed from `k/n` for precision.
fn log_uniform(spec: ExpertSpec) -> f64 {
    (-(spec.kept as f64 / spec.experts as f64)).ln_1p()
}

/// Checks that the entries are logarithms of probabilities that sum to `dropped`, up to rounding errors of a long run.
fn check_distribution(log_dropped: &[f64], dropped: usize) -> Result<(), Error> {
    const SLACK: f64 = 1e-6;
    every("logarithms of probabilities", log_dropped, "at most 0", |log| log <= SLACK)?;
    let (total, dropped) = (log_dropped.iter().map(|log| log.exp()).sum::<f64>(), dropped as f64);
    let holds = (total - dropped).abs() <= SLACK * dropped;
    require(holds, "the total of the probabilities", "the number dropped", total).map(drop)
}

impl Learner<[f64]> for Experts {
    fn check(&mut self, losses: &[f64]) -> Result<(), Error> {
        length("loss vector", losses.len(), self.weights.len())?;
        every("loss vector", losses, "finite and between 0 and 1", |loss| (0.0..=1.0).contains(&loss))
    }

    fn choose(&mut self, random: &mut Random) {
        let Self { spec: ExpertSpec { kind, kept, eta, select, .. }, weights, scratch, .. } = self;
        let Working { probabilities, dropped, draw: working, limit, other, sets, .. } = &mut scratch.0;
        let count = weights.len() - *kept;
        match kind {
            ExpertKind::CappedHedge => refill(probabilities, weights.iter().map(|weight| weight.exp())),
            ExpertKind::Leader => {
                let (mut nobody, exact) = (Complement::finite(0.0, 0), Precision::default());
                keep_largest(weights, &mut nobody, *kept, exact, other, limit);
                refill(probabilities, other.iter().map(|weight| weight.exp()));
            }
            ExpertKind::PerturbedLeader => {
                refill(other, weights.iter().map(|total| total + (-random.uniform().ln()).ln() / *eta));
                refill(dropped, 0..other.len());
                dropped.select_nth_unstable_by(count - 1, |&a, &b| other[a].total_cmp(&other[b]));
                return dropped.truncate(count);
            }
            ExpertKind::ProductSets => {
                sets.fill(weights, count);
                sets.inclusion_into(probabilities, other);
                return sets.sample(random, dropped);
            }
        }
        draw(*select, probabilities, random, dropped, working);
    }

    fn incur(&mut self, losses: &[f64]) -> Loss {
        let Working { probabilities, dropped, .. } = &self.scratch.0;
        let realised = dropped.iter().map(|&place| losses[place]).sum();
        let expected = match self.spec.kind {
            ExpertKind::PerturbedLeader => realised,
            _ => probabilities.iter().zip(losses).map(|(probability, loss)| probability * loss).sum(),
        };
        Loss { expected, realised }
    }

    fn update(&mut self, losses: &[f64]) {
        if matches!(self.spec.kind, ExpertKind::Leader | ExpertKind::PerturbedLeader) {
            return self.weights.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss);
        }
        self.weights.iter_mut().zip(losses).for_each(|(weight, loss)| *weight -= self.spec.eta * loss);
        if self.spec.kind == ExpertKind::CappedHedge {
            cap(&mut self.weights, &mut Complement::finite(0.0, 0), self.spec.kept, &mut self.scratch.0.cap);
            self.mix();
        } else {
            let largest = self.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            self.weights.iter_mut().for_each(|weight| *weight -= largest);
        }
    }
}

#[cfg(test)]
mod laws;
