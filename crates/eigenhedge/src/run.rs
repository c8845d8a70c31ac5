//! The driver: one learner, its generator and its ledger over a stream of rows.

use crate::error::Error;
use crate::learner::{Loss, trial};
use crate::mixing::Mixing;
use crate::random::Random;
use crate::regret::{BestSubspace, Ledger, Setting, uncentered};
use crate::span::Span;
use crate::spec::{Kind, PlainLearner, Spec};
use crate::subspace::{Instance, NormBound, Rule};
use serde::{Deserialize, Serialize};

/// A learner at work.
///
/// ```
/// use eigenhedge::{Kind, Run, Spec, streams};
///
/// let mut run = Run::new(Spec::new(Kind::Tracking, 2), 20, 0)?;
/// for row in streams::three_subspaces(1) {
///     let loss = run.step(&row)?;
///     assert!(loss.expected <= 1.0);
/// }
/// assert!(run.ledger().expected > 0.0);
/// assert!(run.best_loss().unwrap() > 0.0);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    spec: Spec,
    learner: PlainLearner,
    random: Random,
    ledger: Ledger,
    best: Option<BestSubspace>,
}

impl Run {
    /// Builds the learner of the spec for rows of this length.
    pub fn new(spec: Spec, length: usize, seed: u64) -> Result<Self, Error> {
        let learner = spec.plain(length)?;
        let best = BestSubspace::new(length, spec.center.is_some());
        Ok(Self { spec, learner, random: Random::seeded(seed), ledger: Ledger::default(), best })
    }

    /// One trial. An error leaves everything as it was.
    pub fn step(&mut self, row: &[f64]) -> Result<Loss, Error> {
        let loss = trial(&mut self.learner, &Instance::from(row), &mut self.random)?;
        if let Some(best) = &mut self.best {
            best.add(row);
        }
        self.ledger.enter(loss, self.learner.rank());
        Ok(loss)
    }

    /// What the learner was built from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The learner.
    pub fn learner(&self) -> &PlainLearner {
        &self.learner
    }

    /// The learner, to ask for its directions.
    pub fn learner_mut(&mut self) -> &mut PlainLearner {
        &mut self.learner
    }

    /// Totals so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Loss of the best fixed subspace for the rows so far; none when the rows are too long to follow exactly.
    pub fn best_loss(&self) -> Option<f64> {
        self.best.as_ref().map(|best| best.loss(self.spec.kept))
    }

    /// The theorem's bound on the expected loss, given the best loss; none when no theorem covers the learner.
    pub fn bound(&self, best: f64) -> Option<f64> {
        let NormBound::Given(norm) = self.spec.norm_bound else { return None };
        let covered = match self.spec.learner {
            Kind::Tracking => matches!(self.spec.mixing, Mixing::None) && self.spec.center.is_none(),
            Kind::Anchored => self.spec.center.is_none() && !self.spec.as_printed,
            Kind::Leader | Kind::ForgettingLeader | Kind::PerturbedLeader | Kind::ProductSets | Kind::Additive => false,
        };
        let setting = Setting::new(self.spec.eta, self.spec.kept, self.learner.span().dimension());
        let setting = Setting { norm_square: norm * norm, price: self.learner.rule().price(), ..setting };
        covered.then(|| uncentered(&setting, best)).flatten()
    }
}
