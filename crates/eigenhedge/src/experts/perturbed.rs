//! Follow the perturbed leader: drops the experts with the smallest total losses after adding random noise.
//!
//! Update: `total ← total + loss`. Each trial draws independent Gumbel noise `G_i = -log(-log U_i)`, with `U_i` uniform
//! in `[0, 1)`, and drops the `d` experts with the smallest `total_i - G_i/η`, in expected `O(n)`.
//! Guarantee: with `d = 1` the drawn expert has the distribution of Hedge with rate `η`, and therefore its bound `(η L*
//! + log n)/(1 - e^{-η})` in expectation. With `d > 1` experts are drawn one after another without replacement, with
//! probabilities proportional to `e^{-η total}`, and no bound without extra factors of `d` is known. [`Loss::expected`]
//! is the loss of the drawn set, which is unbiased but random.
//! References: Kalai & Vempala 2005; Kuzmin & Warmuth, COLT 2005 (noise that simulates Hedge); Warmuth & Kuzmin, JMLR
//! 2008, section 4.1.

use serde::{Deserialize, Serialize};

use super::{check_kept, check_losses, sum_at};
use crate::error::{self, Error};
use crate::learner::{Learner, Loss};
use crate::random::Random;
use crate::scratch::{Scratch, refill};

/// Follow-the-perturbed-leader: drops the `d = n - k` experts with the smallest total losses after adding Gumbel noise.
///
/// ```
/// use eigenhedge::{Random, experts::PerturbedLeader, trial};
/// let mut learner = PerturbedLeader::new(4, 2, 0.5)?;
/// let loss = trial(&mut learner, &[0.5; 4][..], &mut Random::seeded(1))?;
/// assert_eq!(loss.realised, 1.0);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerturbedLeader {
    kept: usize,
    eta: f64,
    totals: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch<PerturbedTotals>,
}

#[derive(Debug, Clone, Default)]
struct PerturbedTotals {
    totals: Vec<f64>,
    dropped: Vec<usize>,
}

impl PerturbedLeader {
    /// Creates a learner that keeps `kept` of `experts` experts. The scale of the noise is `1/eta`.
    pub fn new(experts: usize, kept: usize, eta: f64) -> Result<Self, Error> {
        check_kept(kept, experts)?;
        error::positive("eta", eta)?;
        Ok(Self { kept, eta, totals: vec![0.0; experts], scratch: Scratch::default() })
    }

    pub(crate) fn continues(&self, fresh: &Self) -> bool {
        let are_sound = self.totals.iter().all(|x| x.is_finite() && *x >= 0.0);
        self.kept == fresh.kept && self.eta == fresh.eta && self.totals.len() == fresh.totals.len() && are_sound
    }

    /// Returns the total loss of each expert so far, without noise.
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Returns the experts dropped in the most recent trial.
    pub fn dropped(&self) -> &[usize] {
        &self.scratch.0.dropped
    }
}

impl Learner<[f64]> for PerturbedLeader {
    fn check(&mut self, losses: &[f64]) -> Result<(), Error> {
        check_losses(losses, self.totals.len())
    }

    fn choose(&mut self, random: &mut Random) {
        let PerturbedTotals { totals, dropped } = &mut self.scratch.0;
        let count = self.totals.len() - self.kept;
        refill(totals, self.totals.iter().map(|total| total + (-random.uniform().ln()).ln() / self.eta));
        refill(dropped, 0..totals.len());
        dropped.select_nth_unstable_by(count - 1, |&a, &b| totals[a].total_cmp(&totals[b]));
        dropped.truncate(count);
    }

    fn incur(&mut self, losses: &[f64]) -> Loss {
        let realised = sum_at(&self.scratch.0.dropped, losses);
        Loss { expected: realised, realised }
    }

    fn update(&mut self, losses: &[f64]) {
        self.totals.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::hedge;

    #[test]
    fn one_dropped_expert_has_the_distribution_of_hedge() {
        let (mut perturbed, mut exact) = (PerturbedLeader::new(4, 3, 0.8).unwrap(), hedge(4, 0.8).unwrap());
        for losses in [[0.0, 0.5, 1.0, 0.2], [0.3, 0.1, 0.9, 1.0]] {
            perturbed.update(&losses);
            exact.update(&losses);
        }
        const DRAWS: usize = 40_000;
        let (mut counts, mut random) = ([0usize; 4], Random::seeded(9));
        for _ in 0..DRAWS {
            perturbed.choose(&mut random);
            counts[perturbed.dropped()[0]] += 1;
        }
        for (count, log_dropped) in counts.into_iter().zip(exact.log_dropped()) {
            let (found, probability) = (count as f64 / DRAWS as f64, log_dropped.exp());
            let standard_error = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            assert!((found - probability).abs() < 4.0 * standard_error, "{found} {probability}");
        }
    }
}
