//! Expert learners by name.

use crate::bounds;
use crate::error::Error;
use crate::experts::{CappedHedge, Leader, PerturbedLeader, ProductSets, SetDistribution};
use crate::learner::{Learner, Loss};
use crate::mixing::Mixing;
use crate::random::Random;
use crate::simplex::{Multiplicity, Select};
use crate::state::ensure;
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

crate::error::by_name!(ExpertKind, "learner", 4,
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
    /// Method of drawing, for capped Hedge only.
    pub select: Select,
}

/// Expert learner of any kind.
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct AnyExperts {
    spec: ExpertSpec,
    learner: ExpertLearner,
}

#[derive(Deserialize)]
struct Saved {
    spec: ExpertSpec,
    learner: ExpertLearner,
}

impl TryFrom<Saved> for AnyExperts {
    type Error = Error;

    fn try_from(Saved { spec, learner }: Saved) -> Result<Self, Error> {
        use ExpertLearner::{Capped, Leader, Perturbed, Sets};
        let fresh = Self::new(spec)?;
        let is_sound = match (&learner, &fresh.learner) {
            (Capped(learner), Capped(fresh)) => learner.log_dropped().len() == fresh.log_dropped().len(),
            (Leader(learner), Leader(fresh)) => learner.continues(fresh),
            (Perturbed(learner), Perturbed(fresh)) => learner.continues(fresh),
            (Sets(learner), Sets(fresh)) => learner.continues(fresh),
            _ => false,
        };
        ensure(is_sound, "the state of the experts must be that of their options")?;
        Ok(Self { learner, ..fresh })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum ExpertLearner {
    Capped(CappedHedge),
    Leader(Leader),
    Perturbed(PerturbedLeader),
    Sets(ProductSets),
}

macro_rules! delegate {
    ($self:expr, $learner:ident => $call:expr) => {
        match $self {
            ExpertLearner::Capped($learner) => $call,
            ExpertLearner::Leader($learner) => $call,
            ExpertLearner::Perturbed($learner) => $call,
            ExpertLearner::Sets($learner) => $call,
        }
    };
}

impl AnyExperts {
    /// Builds the learner with these parameters.
    pub fn new(spec: ExpertSpec) -> Result<Self, Error> {
        let ExpertSpec { kind, experts, kept, eta, mixing, select } = spec;
        if kind != ExpertKind::CappedHedge && (mixing != Mixing::None || select != Select::default()) {
            return Err(Error::Unsupported("mixing and select are read by the learner capped-hedge only"));
        }
        let learner = match kind {
            ExpertKind::CappedHedge => {
                ExpertLearner::Capped(CappedHedge::new(experts, kept, eta)?.with_mixing(mixing)?.with_select(select))
            }
            ExpertKind::Leader => ExpertLearner::Leader(Leader::new(experts, kept)?),
            ExpertKind::PerturbedLeader => ExpertLearner::Perturbed(PerturbedLeader::new(experts, kept, eta)?),
            ExpertKind::ProductSets => ExpertLearner::Sets(ProductSets::new(experts, kept, eta)?),
        };
        Ok(Self { spec, learner })
    }

    /// Returns the parameters of the learner.
    pub fn spec(&self) -> &ExpertSpec {
        &self.spec
    }

    /// Returns the indices of the experts dropped by the most recent choice.
    pub fn dropped(&self) -> &[usize] {
        delegate!(&self.learner, learner => learner.dropped())
    }

    /// Returns the probability that each expert is kept in the next trial, if it is known: not for the two leaders.
    pub fn kept_probabilities(&self) -> Option<Vec<f64>> {
        match &self.learner {
            ExpertLearner::Capped(learner) => Some(learner.log_dropped().iter().map(|w| -w.exp_m1()).collect()),
            ExpertLearner::Sets(learner) => {
                let dropped = SetDistribution::new(learner.log_weights(), self.spec.experts - self.spec.kept).ok()?;
                Some(dropped.inclusion().iter().map(|dropped| 1.0 - dropped).collect())
            }
            ExpertLearner::Leader(_) | ExpertLearner::Perturbed(_) => None,
        }
    }

    /// Returns the bound on the total expected loss, given the loss `best` of the best set, and the name of its theorem.
    /// Returns `None` for the leader, for the perturbed leader, whose bound holds only for the mean over its noise, and
    /// if the bound is not finite.
    pub fn bound(&self, best: f64) -> Option<(f64, &'static str)> {
        let ExpertSpec { experts, kept, eta, mixing, .. } = self.spec;
        match &self.learner {
            ExpertLearner::Capped(learner) => {
                let setting = bounds::Setting::new(eta, kept, Multiplicity::Finite(experts as u64));
                let bound = bounds::uncentered(&bounds::Setting { price: learner.price(), ..setting }, best)?;
                let mixes = mixing != Mixing::None;
                let theorem = if mixes { "JMLR Theorem 3, with the price of mixing" } else { "JMLR Theorem 3" };
                bound.is_finite().then_some((bound, theorem))
            }
            ExpertLearner::Sets(_) => Some((bounds::set_experts(eta, best, kept, experts), "JMLR section 4.1")),
            ExpertLearner::Leader(_) | ExpertLearner::Perturbed(_) => None,
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
