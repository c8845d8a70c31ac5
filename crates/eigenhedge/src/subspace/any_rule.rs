//! Enum of all spectrum rules. It gives all learners a common type.

use super::{Additive, Anchored, Perturbed, Rule, Tracking};
use crate::error::Error;
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

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

impl Deref for AnyRule {
    type Target = dyn Rule;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Tracking(rule) => &**rule,
            Self::Anchored(rule) => &**rule,
            Self::Additive(rule) => &**rule,
            Self::Perturbed(rule) => &**rule,
        }
    }
}

impl DerefMut for AnyRule {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Tracking(rule) => &mut **rule,
            Self::Anchored(rule) => &mut **rule,
            Self::Additive(rule) => &mut **rule,
            Self::Perturbed(rule) => &mut **rule,
        }
    }
}
