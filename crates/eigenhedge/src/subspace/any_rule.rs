//! Enum of all spectrum rules. It gives all learners a common type.

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

macro_rules! forward {
    (&mut $self:ident: $($name:ident($($a:ident: $t:ty),*) $(-> $out:ty)?;)+) => {
        $(fn $name(&mut $self, $($a: $t),*) $(-> $out)? {
            delegate!($self, rule => rule.$name($($a),*))
        })+
    };
    (&$self:ident: $($name:ident($($a:ident: $t:ty),*) -> $out:ty;)+) => {
        $(fn $name(&$self, $($a: $t),*) -> $out {
            delegate!($self, rule => rule.$name($($a),*))
        })+
    };
}

impl Rule for AnyRule {
    forward! {&self:
        directions() -> &dyn Directions;
        is_noisy() -> bool;
        log_weights() -> &[f64];
        complement() -> &Complement;
        mean_energy(i: usize, trials: u64) -> Option<f64>;
        resolution() -> f64;
        price() -> f64;
    }
    forward! {&mut self:
        directions_mut() -> &mut dyn Directions;
        grow(columns: usize);
        perturb(random: &mut Random);
        update(instance: &Observed, norm_square: f64);
        rotation(max_pending: usize) -> Option<&Matrix>;
        reduce(rotation: &Matrix);
    }
}
