//! Any learner over experts, by name.

use crate::bounds;
use crate::error::Error;
use crate::experts::{CappedHedge, Leader, PerturbedLeader, ProductSets, SetDistribution};
use crate::learner::{Learner, Loss};
use crate::mixing::Mixing;
use crate::random::Random;
use crate::simplex::{Multiplicity, Select};

/// Learners over experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpertKind {
    /// Hedge over sets by capped weights; Hedge itself when one expert is dropped.
    CappedHedge,
    /// Drops those with the least total loss.
    Leader,
    /// The same for totals with noise.
    PerturbedLeader,
    /// Hedge over all sets, by products of weights.
    ProductSets,
}

impl ExpertKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CappedHedge, Self::Leader, Self::PerturbedLeader, Self::ProductSets];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::CappedHedge => "capped-hedge",
            Self::Leader => "leader",
            Self::PerturbedLeader => "perturbed-leader",
            Self::ProductSets => "product-sets",
        }
    }
}

crate::error::by_name!(ExpertKind, "learner");

/// All that is needed to build a learner over experts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertSpec {
    /// Which learner.
    pub kind: ExpertKind,
    /// Number of experts.
    pub experts: usize,
    /// Experts that are kept.
    pub kept: usize,
    /// Learning rate; has no effect with the leader.
    pub eta: f64,
    /// Mixing, for capped Hedge.
    pub mixing: Mixing,
    /// How sets are drawn, for capped Hedge.
    pub select: Select,
}

/// A learner over experts.
///
/// ```
/// use eigenhedge::registry::{AnyExperts, ExpertKind, ExpertSpec};
/// use eigenhedge::{Mixing, Random, simplex::Select, trial};
///
/// for kind in ExpertKind::ALL {
///     let (mixing, select) = (Mixing::None, Select::default());
///     let mut learner = AnyExperts::new(ExpertSpec { kind, experts: 3, kept: 2, eta: 1.0, mixing, select })?;
///     let loss = trial(&mut learner, &[0.0, 0.5, 1.0][..], &mut Random::seeded(1))?;
///     assert!((0.0..=1.0).contains(&loss.expected), "{}", kind.name());
/// }
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnyExperts {
    spec: ExpertSpec,
    learner: Inner,
}

#[derive(Debug, Clone)]
enum Inner {
    Capped(CappedHedge),
    Leader(Leader),
    Perturbed(PerturbedLeader),
    Sets(ProductSets),
}

macro_rules! delegate {
    ($self:expr, $learner:ident => $call:expr) => {
        match $self {
            Inner::Capped($learner) => $call,
            Inner::Leader($learner) => $call,
            Inner::Perturbed($learner) => $call,
            Inner::Sets($learner) => $call,
        }
    };
}

impl AnyExperts {
    /// Builds what the spec names.
    pub fn new(spec: ExpertSpec) -> Result<Self, Error> {
        let ExpertSpec { kind, experts, kept, eta, mixing, select } = spec;
        if kind != ExpertKind::CappedHedge && (mixing != Mixing::None || select != Select::default()) {
            return Err(Error::Unsupported("mixing and select are read by the learner capped-hedge only"));
        }
        let learner = match kind {
            ExpertKind::CappedHedge => {
                Inner::Capped(CappedHedge::new(experts, kept, eta)?.with_mixing(mixing)?.with_select(select))
            }
            ExpertKind::Leader => Inner::Leader(Leader::new(experts, kept)?),
            ExpertKind::PerturbedLeader => Inner::Perturbed(PerturbedLeader::new(experts, kept, eta)?),
            ExpertKind::ProductSets => Inner::Sets(ProductSets::new(experts, kept, eta)?),
        };
        Ok(Self { spec, learner })
    }

    /// The experts that the last choice dropped.
    pub fn dropped(&self) -> &[usize] {
        delegate!(&self.learner, learner => learner.dropped())
    }

    /// Probability of each expert to be kept in the next trial; none for leaders, which have no distribution before they have
    /// drawn their noise.
    pub fn kept_probabilities(&self) -> Option<Vec<f64>> {
        match &self.learner {
            Inner::Capped(learner) => Some(learner.log_dropped().iter().map(|w| -w.exp_m1()).collect()),
            Inner::Sets(learner) => {
                let dropped = SetDistribution::new(learner.log_weights(), self.spec.experts - self.spec.kept).ok()?;
                Some(dropped.inclusion().iter().map(|dropped| 1.0 - dropped).collect())
            }
            Inner::Leader(_) | Inner::Perturbed(_) => None,
        }
    }

    /// Bound on the total expected loss when the best set of experts to drop lost `best`, and the theorem; none if none covers
    /// the learner: the leader, and the perturbed leader, whose bound is one on the mean over its noise.
    pub fn bound(&self, best: f64) -> Option<(f64, &'static str)> {
        let ExpertSpec { experts, kept, eta, mixing, .. } = self.spec;
        match &self.learner {
            Inner::Capped(learner) => {
                let setting = bounds::Setting::new(eta, kept, Multiplicity::Finite(experts as u64));
                let bound = bounds::uncentered(&bounds::Setting { price: learner.price(), ..setting }, best)?;
                let mixes = mixing != Mixing::None;
                let theorem = if mixes { "JMLR Theorem 3, with the price of mixing" } else { "JMLR Theorem 3" };
                bound.is_finite().then_some((bound, theorem))
            }
            Inner::Sets(_) => Some((bounds::set_experts(eta, best, kept, experts), "JMLR section 4.1")),
            Inner::Leader(_) | Inner::Perturbed(_) => None,
        }
    }
}

impl Learner<[f64]> for AnyExperts {
    fn check(&mut self, losses: &[f64]) -> Result<(), Error> {
        delegate!(&mut self.learner, learner => learner.check(losses))
    }
    fn choose(&mut self, random: &mut Random) {
        delegate!(&mut self.learner, learner => Learner::<[f64]>::choose(learner, random));
    }
    fn incur(&mut self, losses: &[f64]) -> Loss {
        delegate!(&mut self.learner, learner => learner.incur(losses))
    }
    fn update(&mut self, losses: &[f64]) {
        delegate!(&mut self.learner, learner => learner.update(losses));
    }
}
