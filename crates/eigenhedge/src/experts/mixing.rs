//! Mixing of a vector of log-weights by the rules of [`Mixing`]. The mean is a logarithm too, so it is accurate even if
//! all weights are far below the smallest normal number.

use serde::{Deserialize, Serialize};

use super::check_distribution;
use crate::error::{Error, at_least_one};
use crate::mixing::{Blend, Mixing, blend};
use crate::state::length;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixer {
    rule: Mixing,
    played: u64,
    /// Logarithms of the mean of all distributions so far. Empty unless the rule is past average.
    past: Vec<f64>,
}

impl Mixer {
    pub fn new(rule: Mixing, initial: &[f64]) -> Self {
        let past = if matches!(rule, Mixing::PastAverage { .. }) { initial.to_vec() } else { Vec::new() };
        Self { rule, played: 1, past }
    }

    pub fn check(&self, experts: usize, kept: usize) -> Result<(), Error> {
        self.rule.checked()?;
        at_least_one("the number of distributions played", self.played.min(1) as usize)?;
        let expected = if matches!(self.rule, Mixing::PastAverage { .. }) { experts } else { 0 };
        length("mean of the past", self.past.len(), expected)?;
        if expected > 0 { check_distribution(&self.past, experts - kept) } else { Ok(()) }
    }

    pub fn mix(&mut self, log_dropped: &mut [f64], log_uniform: f64) {
        match self.rule {
            Mixing::None => {}
            Mixing::FixedShare { alpha } => {
                let share = Blend::with(log_uniform, alpha);
                log_dropped.iter_mut().for_each(|weight| *weight = share.of(*weight));
            }
            Mixing::PastAverage { alpha } => {
                self.played = self.played.saturating_add(1);
                let newest = 1.0 / self.played as f64;
                for (weight, past) in log_dropped.iter_mut().zip(&mut self.past) {
                    *weight = blend(*weight, *past, alpha);
                    *past = blend(*past, *weight, newest);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_average_equals_the_mean_of_everything_played() {
        let alpha = 0.2;
        let mut played = vec![[0.5f64, 0.5]];
        let mut mixer = Mixer::new(Mixing::PastAverage { alpha }, &played[0].map(f64::ln));
        for trial in 1..30 {
            let updated = [(trial as f64).sin().abs() * 0.9 + 0.05, 0.3];
            let mean = |place: usize| played.iter().map(|v| v[place]).sum::<f64>() / played.len() as f64;
            let expected = [0, 1].map(|place| (1.0 - alpha) * updated[place] + alpha * mean(place));
            let mut log_dropped = updated.map(f64::ln);
            mixer.mix(&mut log_dropped, 0.5f64.ln());
            for place in 0..2 {
                assert!((log_dropped[place].exp() - expected[place]).abs() < 1e-14);
            }
            played.push(expected);
        }
    }
}
