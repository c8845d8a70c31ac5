//! Hedge over learners: nothing to tune, and close to the best member in hindsight.
//!
//! Setting: members are subspace learners over the same rows, each with its own rule, rate and span. One member is a
//! portfolio too, and costs nothing more than the member.
//!
//! Update: the portfolio plays the members' distributions mixed by weights `w`, and charges `Σ w_i l_i`. Then
//! `w_i ← w_i e^{-η l_i}`, a share α of the uniform weights is mixed in, and η is tuned by AdaHedge: `η = ln(M)/Δ` with Δ
//! the sum of the mixability gaps so far, and never above 64 over the largest squared norm. When η changes, the weights
//! are raised to the power of the ratio, so that they stay those of the present rate.
//!
//! Guarantee: on every sequence and for every member i,
//! `loss ≤ loss_i + Δ + ln(M)/η + Σ_t -ln(1-α)/η_t` ([`Portfolio::hedge_term`] is the sum of the last three). What the
//! best member promises, the portfolio promises with that term added. No bound on the rows need be known: η never grows,
//! and Δ is what the gaps were. A row that only fixes the center ([`Subspace::fixes_center`]) moves no weight and enters
//! no total.
//!
//! Cost: the sum of the members' and a few operations; kernel rows are computed once for all members whose dictionaries
//! agree.
//!
//! Numerics: weights are logarithms. The rate is held as a multiple of the inverse of the largest squared norm, so that it is
//! a number of moderate size whatever the unit of the rows.
//!
//! References: de Rooij, van Erven, Grünwald & Koolen, *Follow the leader if you can, hedge if you must*, JMLR 2014;
//! Herbster & Warmuth 1998 (the share).

use crate::error::Error;
use crate::learner::{Learner, Loss, Upcoming};
use crate::mixing::{Mixing, blend};
use crate::num::log_sum_exp;
use crate::random::Random;
use crate::registry::{Kind, Spec};
use crate::scratch::Scratch;
use crate::span::{Beside, Span};
use crate::state::{LARGEST_LOG, State, energy, ensure, entries, length, within};
use crate::subspace::{AnyRule, Instance, Subspace};
use serde::{Deserialize, Serialize};

/// Hedge over subspace learners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portfolio<S> {
    specs: Vec<Spec>,
    members: Vec<Subspace<S, AnyRule>>,
    log_weights: Vec<f64>,
    /// Total expected loss of each member.
    totals: Vec<f64>,
    /// Learning rate for losses divided by the largest squared norm (none before a row that is not zero), sum of mixability
    /// gaps, and what the share has cost.
    eta: Option<f64>,
    gaps: f64,
    share_cost: f64,
    largest_square: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    chosen: usize,
    losses: Vec<f64>,
}

/// Share of the uniform weights that is mixed in at each trial.
const SHARE: f64 = 1e-3;
/// Largest rate, for losses of at most one.
const LARGEST_ETA: f64 = 64.0;

/// The members of `auto`: tracking with a moderate and a high rate, forgetting leaders over a grid of memories, the leader
/// (incremental PCA with a memory of a few directions more), and anchored with a self-confident rate (whose bound the
/// portfolio inherits whatever the rows are). Each costs about the same, so that there are few.
///
/// All have at most `k + 4` explicit directions, unless rows are shorter or the template says otherwise, so that none
/// costs more than O(nk) on any stream.
pub fn auto(template: &Spec, length: usize) -> Vec<Spec> {
    let base = Spec { mixing: Mixing::None, self_confident: false, as_printed: false, ..template.clone() };
    let enough = base.kept + 4;
    let max_rank = base.max_rank.or((base.kernel.is_some() || length > enough).then_some(enough));
    let base = Spec { max_rank, ..base };
    let mut members = Vec::new();
    for eta in [4.0, 64.0] {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        members.push(Spec { learner: Kind::Tracking, eta, mixing, ..base.clone() });
    }
    for forget in [0.8, 0.95, 0.99] {
        members.push(Spec { learner: Kind::ForgettingLeader, forget, ..base.clone() });
    }
    members.push(Spec { learner: Kind::Leader, ..base.clone() });
    members.push(Spec { learner: Kind::Anchored, self_confident: true, ..base });
    members
}

impl<S: Span + State + Beside> State for Portfolio<S> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let count = built.members.len();
        ensure(self.specs == built.specs, "the members of a portfolio must be those that its options give")?;
        length("the members of a portfolio", self.members.len(), count)?;
        length("the weights of a portfolio", self.log_weights.len(), count)?;
        length("the losses of a portfolio", self.totals.len(), count)?;
        for (member, built) in self.members.iter().zip(&built.members) {
            member.check_state(built)?;
            member.span().check_beside(self.members[0].span())?;
        }
        entries("logarithms of the weights of a portfolio", &self.log_weights, -LARGEST_LOG..=1e-6)?;
        let total = log_sum_exp(self.log_weights.iter().copied());
        within("the logarithm of the total weight of a portfolio", total, -1e-6..=1e-6)?;
        self.totals.iter().try_for_each(|total| energy("the loss of a member", *total))?;
        energy("the largest squared norm of a row", self.largest_square)?;
        energy("the cost of the portfolio", self.gaps)?;
        energy("the cost of sharing", self.share_cost)?;
        let Some(eta) = self.eta else { return Ok(()) };
        within("the rate of the portfolio", eta, f64::MIN_POSITIVE..=(1.0 + 1e-6) * LARGEST_ETA)?;
        ensure(self.largest_square > 0.0, "a portfolio must have seen a row before it has a rate")?;
        energy("the cost of the portfolio", self.hedge_term())
    }
}

impl<S: Span> Portfolio<S> {
    /// Builds every member over a span of its own.
    pub fn new(specs: Vec<Spec>, mut span: impl FnMut() -> Result<S, Error>) -> Result<Self, Error> {
        if specs.is_empty() {
            return Err(Error::Parameter { name: "members", rule: "at least 1", value: 0.0 });
        }
        let members = specs.iter().map(|spec| spec.over(span()?)).collect::<Result<Vec<_>, Error>>()?;
        let count = members.len();
        Ok(Self {
            specs,
            members,
            log_weights: vec![-(count as f64).ln(); count],
            totals: vec![0.0; count],
            eta: None,
            gaps: 0.0,
            share_cost: 0.0,
            largest_square: 0.0,
            scratch: Scratch::default(),
        })
    }

    /// What the members were built from.
    pub fn specs(&self) -> &[Spec] {
        &self.specs
    }

    /// The members.
    pub fn members(&self) -> &[Subspace<S, AnyRule>] {
        &self.members
    }

    /// Present weights.
    pub fn weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|w| w.exp()).collect()
    }

    /// Total expected loss of each member.
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Largest squared norm of a row so far.
    pub fn largest_square(&self) -> f64 {
        self.largest_square
    }

    /// The member whose choice counted in the last trial.
    pub fn chosen(&self) -> &Subspace<S, AnyRule> {
        &self.members[self.scratch.0.chosen]
    }

    /// Position of the member with the largest weight; the first of equal ones.
    pub fn heaviest(&self) -> usize {
        (1..self.members.len()).fold(0, |best, i| if self.log_weights[i] > self.log_weights[best] { i } else { best })
    }

    /// The member with the largest weight, to ask for its directions.
    pub fn heaviest_mut(&mut self) -> &mut Subspace<S, AnyRule> {
        let heaviest = self.heaviest();
        &mut self.members[heaviest]
    }

    /// By how much the expected loss can exceed that of any one member, in squared input units; zero for one member.
    pub fn hedge_term(&self) -> f64 {
        let Some(eta) = self.eta else { return 0.0 };
        self.gaps + (self.members.len() as f64).ln() / eta * self.largest_square + self.share_cost
    }

    /// One step of AdaHedge.
    fn reweigh(&mut self, square: f64) {
        let Self { log_weights, gaps, share_cost, .. } = self;
        let losses = &mut self.scratch.0.losses;
        // The same rate, for losses in units of the largest square that is known now.
        let before = self.largest_square;
        self.largest_square = before.max(square);
        let scale = self.largest_square;
        let eta = self.eta.map_or(LARGEST_ETA, |eta| (eta * (scale / before)).min(f64::MAX));
        losses.iter_mut().for_each(|loss| *loss /= scale);
        let mean: f64 = log_weights.iter().zip(&*losses).map(|(w, l)| w.exp() * l).sum();
        let total = log_sum_exp(log_weights.iter().zip(&*losses).map(|(w, l)| w - eta * l));
        *gaps += (mean + total / eta).max(0.0) * scale;
        let count = (log_weights.len() as f64).ln();
        *share_cost += -(-SHARE).ln_1p() / eta * scale;
        let next = eta.min(LARGEST_ETA).min(count / (*gaps / scale));
        for (weight, loss) in log_weights.iter_mut().zip(&*losses) {
            *weight = blend(*weight - eta * loss - total, -count, SHARE) * (next / eta);
        }
        let total = log_sum_exp(log_weights.iter().copied());
        log_weights.iter_mut().for_each(|w| *w -= total);
        self.eta = Some(next);
    }
}

impl<S: Span> Learner<Instance<'_, S::Point>> for Portfolio<S> {
    fn check(&mut self, instance: &Instance<'_, S::Point>) -> Result<(), Error> {
        let Some((first, others)) = self.members.split_first_mut() else { return Ok(()) };
        first.check(instance)?;
        others.iter_mut().try_for_each(|member| member.check_beside(instance, first))
    }

    fn choose(&mut self, random: &mut Random) {
        let mut chosen = 0;
        if self.members.len() > 1 {
            let mut left = random.uniform();
            for (i, weight) in self.log_weights.iter().enumerate() {
                chosen = i;
                left -= weight.exp();
                if left < 0.0 {
                    break;
                }
            }
        }
        self.scratch.0.chosen = chosen;
        for (i, member) in self.members.iter_mut().enumerate() {
            if i == chosen { member.choose(random) } else { member.stand_by(random) }
        }
    }

    fn incur(&mut self, instance: &Instance<'_, S::Point>) -> Loss {
        let Working { chosen, losses } = &mut self.scratch.0;
        let mut loss = Loss::default();
        losses.clear();
        for (i, member) in self.members.iter_mut().enumerate() {
            let own = member.incur(instance);
            loss.expected += self.log_weights[i].exp() * own.expected;
            if i == *chosen {
                loss.realised = own.realised;
            }
            losses.push(own.expected);
        }
        loss
    }

    fn update(&mut self, instance: &Instance<'_, S::Point>) {
        if !self.members[0].fixes_center() {
            self.totals.iter_mut().zip(&self.scratch.0.losses).for_each(|(total, loss)| *total += loss);
            let square = self.members[0].last_square();
            if self.members.len() > 1 && self.largest_square.max(square) > 0.0 {
                self.reweigh(square);
            } else {
                self.largest_square = self.largest_square.max(square);
            }
        }
        self.members.iter_mut().for_each(|member| member.update(instance));
    }

    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, S::Point>>) {
        self.members.iter_mut().for_each(|member| member.prefetch(upcoming));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Ambient;
    use crate::{NormBound, streams, trial};

    fn run(rows: &[Vec<f64>], kept: usize) -> (Portfolio<Ambient>, f64) {
        let template = Spec { norm_bound: NormBound::Given(1.0), ..Spec::new(Kind::Tracking, kept) };
        let length = rows[0].len();
        let mut portfolio = Portfolio::new(auto(&template, length), || Ambient::new(length)).unwrap();
        let mut random = Random::seeded(1);
        let mut total = 0.0;
        for row in rows {
            total += trial(&mut portfolio, &Instance::from(&row[..]), &mut random).unwrap().expected;
        }
        (portfolio, total)
    }

    #[test]
    fn the_portfolio_loses_at_most_the_best_member_and_the_hedge_term() {
        for seed in 0..3 {
            let (portfolio, total) = run(&streams::three_subspaces(seed), 2);
            let best = portfolio.totals().iter().fold(f64::INFINITY, |a, b| a.min(*b));
            assert!(total <= best + portfolio.hedge_term(), "{total} {best} {}", portfolio.hedge_term());
            assert!(total <= 1.05 * best + 2.0 * (portfolio.members().len() as f64).ln(), "{total} against {best}");
            assert!((portfolio.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
