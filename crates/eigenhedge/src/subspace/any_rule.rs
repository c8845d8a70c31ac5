//! All spectrum rules, as one type.

use super::rule::Directions;
use super::{Additive, Anchored, Observed, Perturbed, Rule, Tracking};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;
use crate::state::State;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnyRule {
    Tracking(Box<Tracking>),
    Anchored(Box<Anchored>),
    Additive(Box<Additive>),
    Perturbed(Box<Perturbed>),
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
    ($($self:ty: $name:ident($($a:ident: $t:ty),*) $(-> $out:ty)?;)+) => {
        $(fn $name(self: $self, $($a: $t),*) $(-> $out)? {
            match self {
                Self::Tracking(rule) => rule.$name($($a),*),
                Self::Anchored(rule) => rule.$name($($a),*),
                Self::Additive(rule) => rule.$name($($a),*),
                Self::Perturbed(rule) => rule.$name($($a),*),
            }
        })+
    };
}

impl Rule for AnyRule {
    forward! {
        &Self: directions() -> &dyn Directions;
        &Self: is_noisy() -> bool;
        &Self: log_weights() -> &[f64];
        &Self: complement() -> &Complement;
        &Self: mean_energy(i: usize, trials: u64) -> Option<f64>;
        &Self: resolution() -> f64;
        &Self: price() -> f64;
        &mut Self: directions_mut() -> &mut dyn Directions;
        &mut Self: grow(columns: usize);
        &mut Self: perturb(random: &mut Random);
        &mut Self: update(instance: &Observed, norm_square: f64);
        &mut Self: rotation(max_pending: usize) -> Option<&Matrix>;
        &mut Self: reduce(rotation: &Matrix);
    }
}
