//! Hedge over learners, without parameters to tune. Its loss is close to that of the best member in hindsight.
//!
//! Setting: members are subspace learners over the same rows, each with its own rule, center and span. A portfolio may
//! have a single member, at no extra cost.
//! Update: the portfolio mixes the distributions of the members with weights w from [`Trust`]. Its expected loss is `Σ
//! w_i l_i` with the expected losses l of the members. A row that only sets the center ([`Subspace::fixes_center`])
//! changes no weight and no total. Missing cells are filled in first (`fill`), and the loss is that of observed cells.
//! Guarantee: on every sequence and for every member i, `loss ≤ loss_i` + [`Portfolio::hedge_term`], so the bound of
//! any member holds with this term added.
//! Cost: the sum over the members, and a few dozen exponentials. Members with equal dictionaries share kernel rows.

mod ahead;
mod fill;
mod fill_errors;
mod trust;

pub use trust::Trust;

use crate::error::Error;
use crate::learner::{Learner, Loss, Upcoming};
use crate::linalg::Matrix;
use crate::mixing::Mixing;
use crate::random::Random;
use crate::registry::{Kind, Missing, Spec};
use crate::scratch::{Scratch, refill};
use crate::span::{Ambient, Span};
use crate::state::{State, energy, ensure, length};
use crate::subspace::{Drawn, Frozen, Instance, Lot, NormBound, RunningCenter, Subspace, Trace};
use fill_errors::{FillErrors, Filling};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portfolio<S> {
    pub specs: Vec<Spec>,
    pub members: Vec<Box<Subspace<S>>>,
    pub trust: Trust,
    pub totals: Vec<f64>,
    fill_errors: FillErrors,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    chosen: usize,
    losses: Vec<f64>,
    own: Vec<Loss>,
    aligns: bool,
    drawn: Drawn,
    spare_traces: Vec<Vec<Trace>>,
    way: Vec<f64>,
    filling: Filling,
}

/// Smallest row length for which `auto` has no learned centers: their steps are not known in advance for blocks of
/// rows, and they are dense, while long rows may be sparse.
const LONG: usize = 512;

/// Returns the parameters of the members of `auto`: forgetting leaders, the leader, and anchored with a self-confident
/// rate, whose bound for arbitrary rows the portfolio inherits. If the center is the mean and there is no kernel, more
/// forgetting leaders use other centers, for levels that drift: the last row, forgetting means, and learned centers, or
/// more forgetting means for long rows and a center with a prior. Without a center and with a given norm bound,
/// tracking with fixed share is also a member, whose bound for drift the portfolio inherits. Each member has at most `k
/// + 3` explicit directions, unless the template sets another limit, and costs O(nk) per row.
pub fn auto(template: &Spec, length: usize) -> Vec<Spec> {
    let base = Spec { mixing: Mixing::None, self_confident: false, as_printed: false, ..template.clone() };
    let enough = base.kept + 3;
    let max_rank = base.max_rank.or((base.kernel.is_some() || length > enough).then_some(enough));
    let base = Spec { max_rank, ..base };
    let forgetting = |forget: f64| Spec { learner: Kind::ForgettingLeader, forget, ..base.clone() };
    let drifting = base.center.filter(|center| center.is_mean() && base.kernel.is_none());
    let learns_centers = drifting.is_some_and(|center| center.prior == 0.0) && length < LONG;
    let memories = match base.kernel {
        Some(_) => &[0.5, 0.8, 0.95, 0.99][..],
        None if learns_centers => &[0.5],
        None => &[0.5, 0.95, 0.99],
    };
    let mut members: Vec<Spec> = memories.iter().copied().map(forgetting).collect();
    members.push(Spec { learner: Kind::Leader, ..base.clone() });
    members.push(Spec { learner: Kind::Anchored, self_confident: true, ..base.clone() });
    if let Some(mean) = drifting {
        let around = |forget| RunningCenter { forget, ..mean };
        let (last, learned) = (around(0.0), RunningCenter::LEARNED);
        let centers = if learns_centers {
            vec![
                (last, 0.999),
                (learned, 0.8),
                (learned, 0.99),
                (learned, 0.999),
                (around(0.8), 0.95),
                (around(0.5), 0.99),
            ]
        } else {
            vec![(last, 0.999), (around(0.5), 0.99), (around(0.8), 0.995), (around(0.98), 0.99)]
        };
        // A bound on the distances from the mean does not hold for other centers.
        let member =
            |(center, forget)| Spec { center: Some(center), norm_bound: NormBound::Running, ..forgetting(forget) };
        members.extend(centers.into_iter().map(member));
    }
    if let (None, NormBound::Given(_)) = (base.center, base.norm_bound) {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        members.push(Spec { learner: Kind::Tracking, eta: 1.0, mixing, merge: 0.25, ..base });
    }
    members
}

impl<S: Span + State> State for Portfolio<S> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let count = built.members.len();
        ensure(self.specs == built.specs, "the members of a portfolio must be those that its options give")?;
        length("the members of a portfolio", self.members.len(), count)?;
        length("the losses of a portfolio", self.totals.len(), count)?;
        for (member, built) in self.members.iter().zip(&built.members) {
            member.check_state(built)?;
            member.span().check_beside(self.members[0].span())?;
        }
        let holders = self.members.iter().filter(|member| member.has_basis()).count();
        ensure(holders <= 1, "one member of a portfolio must hold the basis of the coordinates, if any")?;
        self.totals.iter().try_for_each(|total| energy("the loss of a member", *total))?;
        self.fill_errors.check(count)?;
        self.trust.check_state(count)
    }
}

impl<S: Span> Portfolio<S> {
    /// `span` creates the space of each member. Returns `Err` for an empty list or invalid parameters.
    pub fn new(specs: Vec<Spec>, mut span: impl FnMut() -> Result<S, Error>) -> Result<Self, Error> {
        if specs.is_empty() {
            return Err(Error::Parameter { name: "members", rule: "at least 1", value: 0.0 });
        }
        let members = specs.iter().map(|spec| spec.over(span()?).map(Box::new)).collect::<Result<Vec<_>, Error>>()?;
        let count = members.len();
        let (trust, totals) = (Trust::new(count), vec![0.0; count]);
        Ok(Self { specs, members, trust, totals, fill_errors: FillErrors::default(), scratch: Scratch::default() })
    }

    pub fn set_missing(&mut self, missing: Missing) {
        self.specs.iter_mut().for_each(|spec| spec.missing = missing);
    }

    pub fn chosen(&self) -> &Subspace<S> {
        &self.members[self.scratch.0.chosen]
    }

    pub fn heaviest(&self) -> usize {
        largest(&self.trust.present_weights())
    }

    pub(crate) fn heaviest_mut(&mut self) -> &mut Subspace<S> {
        let heaviest = self.heaviest();
        &mut self.members[heaviest]
    }

    pub(crate) fn fixes_center(&self) -> bool {
        self.members[0].fixes_center()
    }

    pub(crate) fn announce_filled(&mut self, filled: Option<&[u32]>) {
        self.members[0].announce_filled(filled);
    }

    pub(crate) fn set_aligns(&mut self, aligns: bool) {
        self.scratch.0.aligns = aligns;
    }

    /// Returns the coordinates of the most recent row in the aligned basis of the heaviest member around the center of
    /// the first member, if requested.
    pub(crate) fn aligned_coordinates(&self) -> Option<&[f64]> {
        let holder = self.holder().filter(|_| self.scratch.0.aligns)?;
        Some(self.members[holder].aligned_coordinates())
    }

    /// Returns the basis of the next aligned coordinates, and the probabilities of its directions
    /// ([`Subspace::next_basis`]).
    pub(crate) fn next_basis(&mut self) -> (Matrix, Vec<f64>) {
        let (heaviest, holder) = (self.heaviest(), self.holder());
        let last = holder.and_then(|holder| self.members.get_disjoint_mut([heaviest, holder]).ok());
        let last = last.map(|[to, from]| to.basis_of(from));
        self.members[heaviest].next_basis(last)
    }

    fn holder(&self) -> Option<usize> {
        self.members.iter().position(|member| member.has_basis())
    }

    fn align(&mut self) {
        let heaviest = largest(self.trust.weights());
        if let Some(holder) = self.holder().filter(|holder| *holder != heaviest)
            && let Ok([to, from]) = self.members.get_disjoint_mut([heaviest, holder])
        {
            to.take_basis(from);
        }
        self.members[heaviest].align();
    }

    fn observe_aligned(&mut self) {
        let Some(holder) = self.holder() else { return };
        let way = &mut self.scratch.0.way;
        way.clear();
        if let (true, Some((first, others))) =
            (self.specs[holder].center != self.specs[0].center, self.members.split_first_mut())
        {
            others[holder - 1].way_from_center_of(first, way);
        }
        self.members[holder].observe_aligned(way);
    }

    fn charge(&mut self, own: Vec<Loss>) -> Loss {
        let Working { chosen, losses, filling, .. } = &mut self.scratch.0;
        let mut loss = Loss::default();
        losses.clear();
        let weights = self.trust.weights();
        for (i, own) in own.iter().enumerate() {
            let mut own = *own;
            if let Some(seen) = filling.losses.get(i) {
                let share = if own.expected > 0.0 { seen / own.expected } else { 0.0 };
                own = Loss { expected: *seen, realised: share * own.realised };
            }
            loss.expected += weights[i] * own.expected;
            if i == *chosen {
                loss.realised = own.realised;
            }
            losses.push(own.expected);
        }
        self.scratch.0.own = own;
        if self.scratch.0.aligns {
            self.observe_aligned();
        }
        loss
    }

    /// `square` is the largest squared norm of the row around the centers of the members.
    fn learn_weights(&mut self, square: f64) {
        self.totals.iter_mut().zip(&self.scratch.0.losses).for_each(|(total, loss)| *total += loss);
        if self.specs.len() > 1 {
            self.trust.learn(&self.scratch.0.losses, square);
        }
    }

    fn choose_member(&mut self, random: &mut Random) -> usize {
        let mut chosen = 0;
        if self.specs.len() > 1 {
            let mut left = random.uniform();
            for (i, weight) in self.trust.weights().iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                chosen = i;
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        self.scratch.0.chosen = chosen;
        chosen
    }

    /// Returns a bound on the excess of the total expected loss over that of any member.
    pub fn hedge_term(&self) -> f64 {
        self.trust.regret()
    }
}

impl Portfolio<Ambient> {
    /// Returns `Err` unless there is only one member. `cost` is added to its price.
    pub(crate) fn merge(&mut self, mut other: Self, cost: f64) -> Result<(), Error> {
        let [member] = &mut self.members[..] else {
            return Err(Error::Merge("the trust among several learners depends on the order of rows".to_owned()));
        };
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, more)| *total += more);
        other.members.pop().map_or(Ok(()), |other| member.merge(*other, cost))
    }

    /// Runs one trial with several rows, after which the centers move. On an error nothing changes.
    pub(crate) fn frozen_trial(&mut self, rows: &[&[f64]], random: &mut Random) -> Result<Loss, Error> {
        let largest_span = self.members.iter().map(|member| member.span().columns()).max().unwrap_or(0);
        let mut lot = Lot::new(rows, self.members[0].span().length(), largest_span)?;
        let batches: Vec<Frozen> =
            self.members.iter_mut().map(|member| member.freeze(&mut lot)).collect::<Result<_, _>>()?;
        Learner::<Instance<'_, [f64]>>::choose(self, random);
        let losses =
            self.members.iter_mut().zip(&batches).map(|(member, batch)| member.incur_frozen(batch, &lot)).collect();
        let loss = self.charge(losses);
        self.learn_weights(self.members.iter().map(|member| member.last_square()).fold(0.0, f64::max));
        for (member, batch) in self.members.iter_mut().zip(batches) {
            member.learn_frozen(batch, &mut lot);
            member.advance_learned_center(rows);
        }
        Ok(loss)
    }

    pub(crate) fn reconstruct(&mut self, row: &[f64], out: &mut Vec<f64>) {
        self.members[self.scratch.0.chosen].reconstruct(row, out);
    }
}

/// Relative difference up to which weights are tied, so that rounding decides nothing.
const TIED: f64 = 1e-9;

fn largest(weights: &[f64]) -> usize {
    let most = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().position(|weight| *weight >= (1.0 - TIED) * most).unwrap_or(0)
}

impl<S: Span> Learner<Instance<'_, S::Point>> for Portfolio<S> {
    fn check(&mut self, instance: &Instance<'_, S::Point>) -> Result<(), Error> {
        let Some((first, others)) = self.members.split_first_mut() else { return Ok(()) };
        first.check(instance)?;
        others.iter_mut().try_for_each(|member| member.check_beside(instance, first))
    }

    fn choose(&mut self, random: &mut Random) {
        if self.scratch.0.aligns {
            self.align();
        }
        let chosen = self.choose_member(random);
        for (i, member) in self.members.iter_mut().enumerate() {
            if i == chosen { member.choose(random) } else { member.stand_by(random) }
        }
    }

    fn incur(&mut self, instance: &Instance<'_, S::Point>) -> Loss {
        let mut losses = std::mem::take(&mut self.scratch.0.own);
        refill(&mut losses, self.members.iter_mut().map(|member| member.incur(instance)));
        self.charge(losses)
    }

    fn update(&mut self, instance: &Instance<'_, S::Point>) {
        if !self.fixes_center() {
            self.learn_weights(self.members.iter().map(|member| member.last_square()).fold(0.0, f64::max));
        }
        self.members.iter_mut().for_each(|member| member.update(instance));
        self.fill_errors.commit(&self.scratch.0.filling);
        self.scratch.0.filling.losses.clear();
    }

    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, S::Point>>) {
        self.members.iter_mut().for_each(|member| member.prefetch(Upcoming::of(upcoming.instances())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NormBound, streams, trial};

    fn run(rows: &[Vec<f64>], kept: usize) -> (Portfolio<Ambient>, f64) {
        let template = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Tracking, kept) };
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
    fn rounding_does_not_decide_which_member_is_asked() {
        for nudge in [-1e-15, 0.0, 1e-15, 1e-12] {
            assert_eq!(largest(&[0.2, 0.4, 0.4 + nudge]), 1, "{nudge}");
        }
        assert_eq!((largest(&[0.2, 0.39, 0.41]), largest(&[0.0, 0.0]), largest(&[1.0])), (2, 0, 0));
    }

    #[test]
    fn the_portfolio_loses_at_most_the_best_member_and_the_hedge_term() {
        for seed in 0..3 {
            let (portfolio, total) = run(&streams::three_subspaces(seed), 2);
            let best = portfolio.totals.iter().fold(f64::INFINITY, |a, b| a.min(*b));
            assert!(total <= best + portfolio.hedge_term(), "{total} {best} {}", portfolio.hedge_term());
            assert!(total <= 1.05 * best + 2.0 * (portfolio.members.len() as f64).ln(), "{total} against {best}");
            assert!((portfolio.trust.present_weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
