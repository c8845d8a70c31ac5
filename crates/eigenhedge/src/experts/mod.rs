//! Learners over `n` experts that keep `k` of them.
//!
//! Before each trial a learner commits to a set of `k` experts. Its loss is the sum of the losses, in `[0, 1]`, of the
//! `d = n - k` dropped experts. The experts worth keeping are those with the *largest* losses, like the directions with
//! the largest variance in PCA: expert learners are the diagonal case of subspace learners.
//!
//! - [`CappedHedge`]: exponential weights projected onto the capped simplex. [`hedge`] is the case `d = 1`.
//! - [`Leader`]: the best set so far.
//! - [`PerturbedLeader`]: the best set so far after adding random noise.
//! - [`ProductSets`]: Hedge over all sets, with product weights.
//!
//! ```
//! use eigenhedge::experts::CappedHedge;
//! use eigenhedge::{Random, trial};
//!
//! let mut learner = CappedHedge::new(4, 2, 1.0)?; // keep 2 of 4 experts, rate 1
//! let mut random = Random::seeded(0);
//! for _ in 0..50 {
//!     trial(&mut learner, &[1.0, 0.9, 0.1, 0.0][..], &mut random)?;
//! }
//! assert!(learner.log_dropped()[0] < -5.0 && learner.log_dropped()[3] > -0.01); // the first is kept, the last is dropped
//! # Ok::<(), eigenhedge::Error>(())
//! ```

mod capped;
mod leader;
mod mixing;
mod perturbed;
mod sets;

pub use capped::{CappedHedge, hedge};
pub use leader::Leader;
pub(crate) use mixing::Mixer;
pub use perturbed::PerturbedLeader;
pub use sets::{ProductSets, SetDistribution};

use crate::error::{Error, every, require};
use crate::learner::Loss;
use crate::memory::{check_numbers, product};
use crate::random::Random;
use crate::simplex::{DrawScratch, Select, draw};
use crate::state::length;

/// Upper bound on the memory per expert, in 8-byte numbers, without the table of [`ProductSets`].
const NUMBERS: usize = 16;

fn check_kept(kept: usize, experts: usize) -> Result<(), Error> {
    if !(0 < kept && kept < experts) {
        return Err(Error::Kept { kept, dimension: experts });
    }
    check_numbers("the weights of the experts", product(&[NUMBERS, experts]))
}

/// Checks that the entries are logarithms of probabilities that sum to `dropped`.
fn check_distribution(log_dropped: &[f64], dropped: usize) -> Result<(), Error> {
    // Tolerance for the rounding errors of a long run.
    const SLACK: f64 = 1e-6;
    every("logarithms of probabilities", log_dropped, "at most 0", |log| log <= SLACK)?;
    let (total, dropped) = (log_dropped.iter().map(|log| log.exp()).sum::<f64>(), dropped as f64);
    let holds = (total - dropped).abs() <= SLACK * dropped;
    require(holds, "the total of the probabilities", "the number dropped", total).map(drop)
}

fn check_losses(losses: &[f64], experts: usize) -> Result<(), Error> {
    length("loss vector", losses.len(), experts)?;
    every("loss vector", losses, "finite and between 0 and 1", |loss| (0.0..=1.0).contains(&loss))
}

#[derive(Debug, Clone, Default)]
struct DrawnExperts {
    probabilities: Vec<f64>,
    dropped: Vec<usize>,
    draw: DrawScratch,
}

impl DrawnExperts {
    fn commit(&mut self, select: Select, random: &mut Random) {
        draw(select, &self.probabilities, random, &mut self.dropped, &mut self.draw);
    }

    fn loss(&self, losses: &[f64]) -> Loss {
        let expected = self.probabilities.iter().zip(losses).map(|(probability, loss)| probability * loss).sum();
        Loss { expected, realised: sum_at(&self.dropped, losses) }
    }
}

fn sum_at(places: &[usize], losses: &[f64]) -> f64 {
    places.iter().map(|&place| losses[place]).sum()
}

#[cfg(test)]
mod laws;
