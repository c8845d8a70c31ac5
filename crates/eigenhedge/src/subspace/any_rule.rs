//! Enum of all spectrum rules, which gives all learners a common type.

use super::rule::Directions;
use super::{Additive, Anchored, Observed, Perturbed, Rule, Tracking};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Any of the spectrum rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnyRule {
    /// Mirror descent on the probabilities.
    Tracking(Box<Tracking>),
    /// Probabilities as a function of the scatter matrix.
    Anchored(Box<Anchored>),
    /// Gradient descent on the expected projection.
    Additive(Box<Additive>),
    /// Leading subspace after adding random noise.
    Perturbed(Box<Perturbed>),
}

macro_rules! delegate {
    ($self:expr, $rule:ident => $call:expr) => {
        match $self {
            AnyRule::Tracking($rule) => $call,
            AnyRule::Anchored($rule) => $call,
            AnyRule::Additive($rule) => $call,
            AnyRule::Perturbed($rule) => $call,
        }
    };
}

impl State for AnyRule {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        match (self, built) {
            (Self::Tracking(own), Self::Tracking(built)) => own.check_state(built),
            (Self::Anchored(own), Self::Anchored(built)) => own.check_state(built),
            (Self::Additive(own), Self::Additive(built)) => own.check_state(built),
            (Self::Perturbed(own), Self::Perturbed(built)) => own.check_state(built),
            _ => Err(Error::State("the rule must be that of the learner")),
        }
    }
}

impl Rule for AnyRule {
    fn directions(&self) -> &dyn Directions {
        delegate!(self, rule => rule.directions())
    }
    fn directions_mut(&mut self) -> &mut dyn Directions {
        delegate!(self, rule => rule.directions_mut())
    }
    fn grow(&mut self, columns: usize) {
        delegate!(self, rule => rule.grow(columns))
    }
    fn perturb(&mut self, random: &mut Random) {
        delegate!(self, rule => rule.perturb(random))
    }
    fn is_noisy(&self) -> bool {
        matches!(self, Self::Perturbed(_))
    }
    fn log_weights(&self) -> &[f64] {
        delegate!(self, rule => rule.log_weights())
    }
    fn complement(&self) -> &Complement {
        delegate!(self, rule => rule.complement())
    }
    fn update(&mut self, instance: &Observed, norm_square: f64) {
        delegate!(self, rule => rule.update(instance, norm_square))
    }
    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix> {
        delegate!(self, rule => rule.rotation(max_pending))
    }
    fn rotated(&mut self) {
        delegate!(self, rule => rule.rotated())
    }
    fn mean_energy(&self, i: usize, trials: u64) -> Option<f64> {
        delegate!(self, rule => rule.mean_energy(i, trials))
    }
    fn resolution(&self) -> f64 {
        delegate!(self, rule => rule.resolution())
    }
    fn price(&self) -> f64 {
        delegate!(self, rule => rule.price())
    }
    fn reduce(&mut self, rotation: &Matrix) {
        delegate!(self, rule => rule.reduce(rotation))
    }
}
