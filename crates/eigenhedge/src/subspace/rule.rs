//! Interface of spectrum rules and of their directions, in coordinates of the columns of the span.

use super::{Additive, Anchored, Perturbed, Tracking};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;
use crate::state::State;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Observed {
    pub coordinates: Matrix,
    /// Weights of the dyads, negative only in [`super::Pair`].
    pub weights: Vec<f64>,
    pub unit_square: f64,
    /// Number of rows of a batch around one center, or 1: how often a rule that forgets applies its factor.
    pub rows: i32,
}

impl Default for Observed {
    fn default() -> Self {
        Self { coordinates: Matrix::default(), weights: Vec::new(), unit_square: 1.0, rows: 1 }
    }
}

pub trait Directions {
    fn columns(&self) -> usize;

    /// Computes the coordinates of a point in the directions. Returns the squared length of its part outside them.
    fn observe(&mut self, columns: &[f64]) -> f64;

    /// Returns the coordinates of the most recently observed point.
    fn coordinates(&self) -> &[f64];

    fn coordinates_of(&mut self, columns: &[f64], out: &mut Vec<f64>) {
        self.observe(columns);
        self.coordinates().clone_into(out);
    }

    /// Returns the part of the most recently observed point outside the directions.
    fn outside(&self) -> &[f64] {
        &[]
    }

    fn heal(&mut self) {}

    fn direction(&mut self, i: usize, out: &mut Vec<f64>);

    fn select(&mut self, order: &[usize], out: &mut Matrix);
}

/// Spectrum rule: the probabilities of explicit directions and of their complement, and how they change.
pub trait Rule {
    fn directions(&self) -> &dyn Directions;

    fn directions_mut(&mut self) -> &mut dyn Directions;

    /// Sets the number of columns of the span. New columns have the probability of the complement until an update.
    fn grow(&mut self, columns: usize);

    /// Draws the noise of the rule before a choice.
    fn perturb(&mut self, _: &mut Random) {}

    fn is_noisy(&self) -> bool {
        false
    }

    /// Returns `log v ≤ 0` for each explicit direction, where v is the probability of being dropped.
    fn log_weights(&self) -> &[f64];

    fn complement(&self) -> &Complement;

    /// Updates the spectrum with the instance whose dyads were just observed, in order. The rate is divided by
    /// `norm_square`.
    fn update(&mut self, instance: &Observed, norm_square: f64);

    /// Returns the combination that the span must apply now, if any. Columns stay while there are fewer than about
    /// `max_pending` extra ones, and always if the rule needs all of them.
    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix>;

    /// Returns the mean energy of the `trials` rows so far along a direction, with the weights of a rule that forgets,
    /// if known.
    fn mean_energy(&self, _i: usize, _trials: u64) -> Option<f64> {
        None
    }

    /// Returns the share of the largest squared norm up to which a squared residual gets no column.
    fn resolution(&self) -> f64 {
        0.0
    }

    /// Returns the cost of approximations, which adds to the constant of the regret bound.
    fn price(&self) -> f64 {
        0.0
    }

    /// Updates the rule after the span has lost columns: coordinates c become `rotationᵀ c`.
    fn reduce(&mut self, rotation: &Matrix);
}

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
