//! Rules for the weights of members, from the excess of each loss over the smallest one on the row. Adding a constant
//! to all losses or scaling them changes no weight. The smallest total is stored as zero.

use crate::error::Error;
use crate::scratch::refill;
use crate::state::{LARGEST, energy, ensure, list};
use serde::{Deserialize, Serialize};

/// AdaHedge for M members: `w_i ∝ e^{-ηΛ_i}` with `η = c ln(M)/Δ` for the totals Λ, the sum Δ of the mixability gaps,
/// and c = [`HASTE`]. On every sequence, `loss ≤ loss_i + (1 + 1/c) Δ`: by definition, the loss exceeds the sum of the
/// mix losses by Δ. With `Φ_η(Λ) = -(1/η) ln((1/M) Σ e^{-ηΛ_i})`, the mix loss of a row is the increase of Φ at the
/// rate of that row. Φ of given totals increases as η decreases, and η never increases. The mix losses therefore sum to
/// at most Φ of the final totals at the final rate, at most `Λ_i + ln(M)/η = Λ_i + Δ/c`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AdaHedge {
    totals: Vec<f64>,
    gaps: f64,
}

/// Constant c of the rate. At 1, both terms of the bound would be equal.
const HASTE: f64 = 4.0;

impl AdaHedge {
    pub fn new(members: usize) -> Self {
        Self { totals: vec![0.0; members], gaps: 0.0 }
    }

    fn rate(&self) -> f64 {
        if self.gaps == 0.0 { f64::INFINITY } else { HASTE * (self.totals.len() as f64).ln() / self.gaps }
    }

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

    pub fn weights(&self, weights: &mut Vec<f64>) {
        let sum = self.raw_weights(weights);
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    /// The mix loss is computed from the totals, because weights that underflow would make the mixability gap too
    /// small.
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

    pub fn rescale(&mut self, factor: f64) {
        self.totals.iter_mut().for_each(|total| *total *= factor);
        self.gaps *= factor;
    }

    pub fn regret(&self) -> f64 {
        (1.0 + 1.0 / HASTE) * self.gaps
    }

    pub fn check_state(&self, members: usize) -> Result<(), Error> {
        check_totals(&self.totals, members)?;
        energy("the mixability gaps of a portfolio", self.gaps)
    }
}

/// Follows the member with the smallest recent loss S: `S ← γ S + l` with γ = `memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecentLeader {
    memory: f64,
    totals: Vec<f64>,
    /// Members with a total up to this value are tied for the smallest.
    rounding: f64,
}

impl RecentLeader {
    pub fn new(members: usize, memory: f64) -> Self {
        Self { memory, totals: vec![0.0; members], rounding: 0.0 }
    }

    pub fn weights(&self, weights: &mut Vec<f64>) {
        refill(weights, self.totals.iter().map(|total| f64::from(u8::from(*total <= self.rounding))));
        let leaders: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= leaders);
    }

    pub fn learn(&mut self, losses: &[f64], rounding: f64) {
        let least = smallest(losses);
        self.totals.iter_mut().zip(losses).for_each(|(total, loss)| *total = self.memory * *total + (loss - least));
        let low = smallest(&self.totals);
        self.totals.iter_mut().for_each(|total| *total -= low);
        self.rounding = self.memory * self.rounding + rounding;
    }

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

fn check_totals(totals: &[f64], members: usize) -> Result<(), Error> {
    list("the totals of a portfolio", totals, members, 0.0..=LARGEST)?;
    ensure(smallest(totals) == 0.0, "the least total of a portfolio must be zero")
}

pub(super) fn smallest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(f64::INFINITY, |a, b| a.min(*b))
}
