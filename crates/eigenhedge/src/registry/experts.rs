//! Bounds of expert learners.

use crate::bounds;
use crate::experts::{ExpertKind, ExpertSpec, Experts};
use crate::mixing::Mixing;
use crate::simplex::Multiplicity;

impl Experts {
    /// Returns the bound on the total expected loss, given the loss `best` of the best set, and the
    /// name of its theorem. Returns `None` for the leader, which has no bound, for the perturbed leader, whose bound
    /// holds only for the mean over its noise, and if the bound is not finite.
    pub fn bound(&self, best: f64) -> Option<(f64, &'static str)> {
        let ExpertSpec { kind, experts, kept, eta, mixing, .. } = *self.spec();
        match kind {
            ExpertKind::CappedHedge => {
                let setting = bounds::Setting::new(eta, kept, Multiplicity::Finite(experts as u64));
                let bound = bounds::uncentered(&bounds::Setting { price: self.price(), ..setting }, best)?;
                let mixes = mixing != Mixing::None;
                let theorem = if mixes { "JMLR Theorem 3, with the price of mixing" } else { "JMLR Theorem 3" };
                bound.is_finite().then_some((bound, theorem))
            }
            ExpertKind::ProductSets => Some((bounds::set_experts(eta, best, kept, experts), "JMLR section 4.1")),
            ExpertKind::Leader | ExpertKind::PerturbedLeader => None,
        }
    }
}
