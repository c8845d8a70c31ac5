//! Weights of the members: fast rules for the usual case, and a careful rule as a safeguard.
//!
//! Rules: the careful rule U is AdaHedge on the original losses. Its bound holds on every sequence, but one huge loss
//! lowers its rate for a long time. A is AdaHedge on clipped losses: the range of a row is limited to 16 times the
//! median of recent ranges. Three recent leaders, also on clipped losses, follow changes over 10, 50 and 500 rows. A
//! top AdaHedge, which forgets over 1000 rows, weights A and the leaders by their losses without clipping. Its mixture
//! is used as long as `owed`, the excess of the loss over that of U, is within an allowance, otherwise U. A hopeless
//! member, which loses far more than most on every row, must not set the scale: the range of a row is at most 100 times
//! the median excess of the members.
//! Guarantee: on every sequence, at any time, for every member i: `loss ≤ loss_i + owed + (1 + 1/c) Δ_U`
//! ([`Trust::regret`], computed), and a priori `owed ≤ √(ln(M) Σ r²) + max r` ([`Trust::largest_regret`]), with the
//! mixability gaps Δ_U of U, the constant c of its rate, M members, and the range r of their losses on a row. Proof: U
//! loses at most `loss_i + (1 + 1/c) Δ_U` ([`AdaHedge`]), and `owed` grows only while it is within the allowance, by at
//! most r per row. This holds for any rules in place of A, the leaders and the top.
//! Numerics: the excess of each loss over the smallest one is reduced by its rounding error, so that members that are
//! equal up to rounding stay equal. The proof is about the reduced losses, and the total reduction of the portfolio's
//! loss is added to both bounds.
//! References: de Rooij, van Erven, Grünwald & Koolen, *Follow the leader if you can, hedge if you must*, JMLR 2014.

use crate::error::Error;
use crate::num::unit;
use crate::recent_median::RecentMedian;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, energy, ensure, list, within};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    members: usize,
    careful: AdaHedge,
    cut: AdaHedge,
    leaders: Vec<RecentLeader>,
    top: AdaHedge,
    ranges: RecentMedian,
    /// If the square of the largest loss so far is out of range, all totals and losses are divided by a nearby power of
    /// two.
    largest_loss: f64,
    owed: f64,
    rounded: f64,
    largest_range: f64,
    squares: f64,
    pub guarded: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// For the next row, or empty if they must be computed.
    weights: Vec<f64>,
    careful: Vec<f64>,
    rules: Vec<Vec<f64>>,
    top: Vec<f64>,
    excess: Vec<f64>,
    cut: Vec<f64>,
    of_rules: Vec<f64>,
    exponentials: Vec<f64>,
}

const MEMORIES: [f64; 3] = [0.9, 0.98, 0.998];
const CUT: f64 = 16.0;
/// Limit on the range of a row, as a multiple of the median excess. Right after an outlier, losses differ by about this
/// factor.
const HOPELESS: f64 = 100.0;
/// Decay of the totals of the top rule. Without it, the huge losses of the first rows would keep its rate low forever.
const TOP_MEMORY: f64 = 0.999;
const ROUNDING: f64 = 1e-10;
const NEGLIGIBLE: f64 = 10.0;

impl Trust {
    pub fn new(members: usize) -> Self {
        Self {
            members,
            careful: AdaHedge::new(members),
            cut: AdaHedge::new(members),
            leaders: MEMORIES.iter().map(|memory| RecentLeader::new(members, *memory)).collect(),
            top: AdaHedge::new(1 + MEMORIES.len()),
            ranges: RecentMedian::default(),
            largest_loss: 0.0,
            owed: 0.0,
            rounded: 0.0,
            largest_range: 0.0,
            squares: 0.0,
            guarded: 0,
            scratch: Scratch::default(),
        }
    }

    fn change_unit(&mut self, largest: f64) {
        let before = unit(self.largest_loss);
        self.largest_loss = self.largest_loss.max(largest);
        let factor = before / unit(self.largest_loss);
        if factor != 1.0 {
            [&mut self.careful, &mut self.cut, &mut self.top].into_iter().for_each(|rule| rule.rescale(factor));
            self.leaders.iter_mut().for_each(|leader| leader.rescale(factor));
            self.ranges.rescale(factor);
            self.owed *= factor;
            self.rounded *= factor;
            self.largest_range *= factor;
        }
    }

    fn allowance(&self) -> f64 {
        self.largest_range * ((self.members as f64).ln() * self.squares).sqrt()
    }

    fn is_guarded(&self) -> bool {
        self.owed > self.allowance()
    }

    fn weigh(&mut self) {
        let is_guarded = self.is_guarded();
        let Working { weights, careful, rules, top, .. } = &mut self.scratch.0;
        self.careful.weights(careful);
        rules.resize(1 + MEMORIES.len(), Vec::new());
        self.cut.weights(&mut rules[0]);
        self.leaders.iter().zip(&mut rules[1..]).for_each(|(leader, weights)| leader.weights(weights));
        self.top.weights(top);
        weights.clear();
        if is_guarded {
            weights.extend_from_slice(careful);
        } else {
            weights.resize(careful.len(), 0.0);
            for (share, rule) in top.iter().zip(&*rules) {
                weights.iter_mut().zip(rule).for_each(|(weight, own)| *weight += share * own);
            }
        }
    }

    pub fn present_weights(&self) -> Vec<f64> {
        self.clone().weights().to_vec()
    }

    pub(super) fn weights(&mut self) -> &[f64] {
        if self.scratch.0.weights.is_empty() {
            self.weigh();
        }
        &self.scratch.0.weights
    }

    /// Adds the losses of a row. Their rounding errors are estimated from its squared norm `energy`.
    pub fn learn(&mut self, losses: &[f64], energy: f64) {
        self.weights();
        self.change_unit(losses.iter().fold(0.0, |a, b| a.max(*b)));
        let unit = unit(self.largest_loss);
        self.guarded += u64::from(self.is_guarded());
        let Working { weights, careful, rules, excess, cut, of_rules, exponentials, .. } = &mut self.scratch.0;
        let least = smallest(losses);
        let excess_of = |loss: &f64| (loss - least) / unit;
        let mean = |weights: &[f64], more: &[f64]| weights.iter().zip(more).map(|(w, x)| w * x).sum::<f64>();
        let rounding = ROUNDING * (energy / unit);
        refill(excess, losses.iter().map(|loss| (excess_of(loss) - rounding).max(0.0)));
        let range = excess.iter().fold(0f64, |a, b| a.max(*b));
        let (played, counted) =
            (weights.iter().zip(losses).map(|(w, l)| w * excess_of(l)).sum::<f64>(), mean(weights, excess));
        self.rounded += played - counted;
        self.owed += counted - mean(careful, excess);
        let without_hopeless = range.min(HOPELESS * median(excess, cut));
        let (limit, shortening) = (self.ranges.limit(CUT), self.ranges.shortening(without_hopeless, CUT));
        refill(cut, excess.iter().map(|more| (shortening * more).min(limit)));
        refill(of_rules, rules.iter().map(|rule| mean(rule, excess)));
        let best = smallest(of_rules);
        of_rules.iter_mut().for_each(|loss| *loss = (*loss - best - rounding).max(0.0));
        self.top.rescale(TOP_MEMORY);
        self.top.learn(of_rules, exponentials);
        self.cut.learn(cut, exponentials);
        self.leaders.iter_mut().for_each(|leader| leader.learn(cut, shortening * rounding));
        // A range at rounding level must not enter the median.
        self.ranges.push(if without_hopeless > NEGLIGIBLE * rounding { without_hopeless } else { 0.0 });
        self.careful.learn(excess, exponentials);
        if range > self.largest_range {
            self.squares = self.squares * (self.largest_range / range).powi(2) + 1.0;
            self.largest_range = range;
        } else if range > 0.0 {
            self.squares += (range / self.largest_range).powi(2);
        }
        self.scratch.0.weights.clear();
    }

    /// Returns a bound on the excess of the total loss over that of any member, in units of the losses.
    pub fn regret(&self) -> f64 {
        (self.owed + self.rounded + self.careful.regret()) * unit(self.largest_loss)
    }

    /// Returns the largest [`Self::regret`] that the theorem allows for the ranges so far.
    pub fn largest_regret(&self) -> f64 {
        (self.careful.regret() + self.allowance() + self.largest_range + self.rounded) * unit(self.largest_loss)
    }

    pub(super) fn check_state(&self, members: usize) -> Result<(), Error> {
        let built = Self::new(members);
        ensure(self.members == members, "a portfolio must trust its members")?;
        self.careful.check_state(members)?;
        self.cut.check_state(members)?;
        ensure(self.leaders.len() == built.leaders.len(), "the memories of a portfolio must be those of the program")?;
        self.leaders.iter().zip(&built.leaders).try_for_each(|(leader, built)| leader.check_state(built))?;
        self.top.check_state(1 + MEMORIES.len())?;
        self.ranges.check_state()?;
        within("the loss of a portfolio beyond that of its careful rule", self.owed, -LARGEST..=LARGEST)?;
        energy("the loss of a portfolio that is rounding", self.rounded)?;
        energy("the largest loss of a member", self.largest_loss)?;
        energy("the largest range of losses", self.largest_range)?;
        energy("the squares of the ranges of losses", self.squares)?;
        crate::state::count("the number of guarded rows", self.guarded)?;
        energy("the cost of the portfolio", self.largest_regret())
    }
}

fn median(numbers: &[f64], sorted: &mut Vec<f64>) -> f64 {
    refill(sorted, numbers.iter().copied());
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[numbers.len() / 2]
}

/// Rules for the weights of members, from the excess of each loss over the smallest one on the row. Adding a constant
/// to all losses or scaling them changes no weight. The smallest total is stored as zero. AdaHedge for M members: `w_i
/// ∝ e^{-ηΛ_i}` with `η = c ln(M)/Δ` for the totals Λ, the sum Δ of the mixability gaps, and c = [`HASTE`]. On every
/// sequence, `loss ≤ loss_i + (1 + 1/c) Δ`: by definition, the loss exceeds the sum of the mix losses by Δ. With
/// `Φ_η(Λ) = -(1/η) ln((1/M) Σ e^{-ηΛ_i})`, the mix loss of a row is the increase of Φ at the rate of that row. Φ of
/// given totals increases as η decreases, and η never increases. The mix losses therefore sum to at most Φ of the final
/// totals at the final rate, at most `Λ_i + ln(M)/η = Λ_i + Δ/c`.
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
