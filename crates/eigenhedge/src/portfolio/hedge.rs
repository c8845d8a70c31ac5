//! Rules that divide trust among members: AdaHedge, and the leader of late.
//!
//! Both see only how much more each member lost than the best one of the row, so that neither the scale of the losses nor
//! what they have in common matters. Totals are kept with minimum zero.

use crate::error::Error;
use crate::state::{LARGEST, energy, ensure, entries, length};
use serde::{Deserialize, Serialize};

/// AdaHedge: `w_i ∝ e^{-ηΛ_i}` with `η = c ln(M)/Δ`, where Λ are the totals and Δ is the sum of the mixability gaps.
///
/// On every sequence and for every member i: `loss ≤ loss_i + (1 + 1/c) Δ`. The loss exceeds the sum of the mix losses by
/// Δ, by definition. With `Φ_η(Λ) = -(1/η) ln((1/M) Σ e^{-ηΛ_i})`, the mix loss of a row is the growth of Φ at the rate of
/// that row; Φ of given totals rises as η falls, and η never rises; so the mix losses sum to at most Φ of the final totals
/// at the final rate, which is at most `Λ_i + ln(M)/η = Λ_i + Δ/c`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AdaHedge {
    /// Losses of each member, less those of the best.
    totals: Vec<f64>,
    /// Sum of the mixability gaps.
    gaps: f64,
}

/// The c of the rate: how many times faster than the rate that balances both terms of the bound.
const HASTE: f64 = 4.0;

impl AdaHedge {
    pub fn new(members: usize) -> Self {
        Self { totals: vec![0.0; members], gaps: 0.0 }
    }

    /// The rate; infinite while no gap was seen.
    fn rate(&self) -> f64 {
        if self.gaps == 0.0 { f64::INFINITY } else { HASTE * (self.totals.len() as f64).ln() / self.gaps }
    }

    /// Writes the weights, which are not normalised; returns their sum.
    fn raw_weights(&self, weights: &mut Vec<f64>) -> f64 {
        let rate = self.rate();
        weights.clear();
        if rate == f64::INFINITY {
            weights.extend(self.totals.iter().map(|total| f64::from(u8::from(*total == 0.0))));
        } else {
            weights.extend(self.totals.iter().map(|total| (-rate * total).exp()));
        }
        weights.iter().sum()
    }

    /// Writes the weights.
    pub fn weights(&self, weights: &mut Vec<f64>) {
        let sum = self.raw_weights(weights);
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    /// Learns the losses of a row. The mix loss comes from totals: weights underflow, and the gap would come out too small.
    pub fn learn(&mut self, losses: &[f64], working: &mut Vec<f64>) {
        let rate = self.rate();
        let least = smallest(losses);
        let before = self.raw_weights(working);
        let mean = working.iter().zip(losses).map(|(weight, loss)| weight * (loss - least)).sum::<f64>() / before;
        self.totals.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss - least);
        let low = smallest(&self.totals);
        self.totals.iter_mut().for_each(|total| *total -= low);
        let mut mix = low;
        if rate != f64::INFINITY {
            mix -= (self.raw_weights(working) / before).ln() / rate;
        }
        self.gaps += (mean - mix).max(0.0);
    }

    /// Multiplies all losses so far.
    pub fn rescale(&mut self, factor: f64) {
        self.totals.iter_mut().for_each(|total| *total *= factor);
        self.gaps *= factor;
    }

    /// By how much its own loss can exceed that of any member.
    pub fn regret(&self) -> f64 {
        (1.0 + 1.0 / HASTE) * self.gaps
    }

    pub fn check_state(&self, members: usize) -> Result<(), Error> {
        check_totals(&self.totals, members)?;
        energy("the mixability gaps of a portfolio", self.gaps)
    }
}

/// The member that lost least of late: `S ← γ S + l`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecentLeader {
    memory: f64,
    totals: Vec<f64>,
    /// Rounding of the totals: less than that makes no leader.
    rounding: f64,
}

impl RecentLeader {
    pub fn new(members: usize, memory: f64) -> Self {
        Self { memory, totals: vec![0.0; members], rounding: 0.0 }
    }

    /// Writes the weights: equal ones for all that lost least.
    pub fn weights(&self, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend(self.totals.iter().map(|total| f64::from(u8::from(*total <= self.rounding))));
        let leaders: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= leaders);
    }

    /// Learns the losses of a row, which are known to within `rounding`.
    pub fn learn(&mut self, losses: &[f64], rounding: f64) {
        let least = smallest(losses);
        self.totals.iter_mut().zip(losses).for_each(|(total, loss)| *total = self.memory * *total + (loss - least));
        let low = smallest(&self.totals);
        self.totals.iter_mut().for_each(|total| *total -= low);
        self.rounding = self.memory * self.rounding + rounding;
    }

    /// Multiplies all losses so far.
    pub fn rescale(&mut self, factor: f64) {
        self.totals.iter_mut().for_each(|total| *total *= factor);
        self.rounding *= factor;
    }

    pub fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.memory == built.memory, "the memories of a portfolio must be those of the program")?;
        energy("the rounding of a portfolio's totals", self.rounding)?;
        check_totals(&self.totals, built.totals.len())
    }
}

/// Checks totals whose minimum must be zero.
fn check_totals(totals: &[f64], members: usize) -> Result<(), Error> {
    length("the totals of a portfolio", totals.len(), members)?;
    entries("totals of a portfolio", totals, 0.0..=LARGEST)?;
    ensure(smallest(totals) == 0.0, "the least total of a portfolio must be zero")
}

pub(super) fn smallest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(f64::INFINITY, |a, b| a.min(*b))
}
