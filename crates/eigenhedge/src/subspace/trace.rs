//! Records of trials, from which a choice can be drawn after the learner has learned later rows.
//!
//! The state of a learner does not depend on its choices. A learner can therefore learn several rows first. Its choices are
//! drawn afterwards from the probabilities and coordinates of each row, with the same bits as in a trial.

use super::choice::DrawnDirections;
use super::outside::{Outside, finish_coordinates};
use super::{Instance, Rule, Subspace, Working};
use crate::error::Error;
use crate::learner::Learner;
use crate::random::Random;
use crate::simplex::{Complement, Select};
use crate::span::Span;

#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub expected: f64,
    /// Squared norm of the point, after centering.
    pub square: f64,
    pub rank: usize,
    kept: usize,
    select: Select,
    log_weights: Vec<f64>,
    complement: Complement,
    coordinates: Vec<f64>,
    part: Vec<f64>,
    outside: Outside,
    unit_square: f64,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            expected: 0.0,
            square: 0.0,
            rank: 0,
            kept: 0,
            select: Select::default(),
            log_weights: Vec::new(),
            complement: Complement::infinite(),
            coordinates: Vec::new(),
            part: Vec::new(),
            outside: Outside::default(),
            unit_square: 1.0,
        }
    }
}

impl<S: Span, R: Rule> Subspace<S, R> {
    /// Runs a trial without a choice, and records it. The learner must not be about to set its center.
    pub(crate) fn trial_without_choice(&mut self, point: &S::Point, trace: &mut Trace) -> Result<(), Error> {
        let instance = Instance::Point(point);
        self.check(&instance)?;
        self.scratch.0.choice.clear();
        (trace.kept, trace.select) = (self.kept, self.options.select);
        self.rule.log_weights().clone_into(&mut trace.log_weights);
        trace.complement = *self.rule.complement();
        trace.expected = self.incur(&instance).expected;
        let Working { outside, observed, square, .. } = &self.scratch.0;
        (trace.outside, trace.unit_square, trace.square) = (*outside, observed.unit_square, *square);
        self.rule.directions().coordinates().clone_into(&mut trace.coordinates);
        self.rule.directions().outside().clone_into(&mut trace.part);
        self.update(&instance);
        trace.rank = self.rank();
        Ok(())
    }

    /// Makes a choice that was drawn from a record of this learner the most recent one.
    pub(crate) fn show(&mut self, drawn: &Drawn) {
        self.scratch.0.kept_coordinates.clone_from(&drawn.coordinates);
        self.scratch.0.square = drawn.square;
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Drawn {
    choice: DrawnDirections,
    pub coordinates: Vec<f64>,
    square: f64,
}

impl Trace {
    /// Draws the choice of the trial. Returns its loss.
    pub fn draw(&self, random: &mut Random, drawn: &mut Drawn) -> f64 {
        let Drawn { choice, coordinates, square } = drawn;
        choice.draw(self.select, &self.log_weights, &self.complement, random);
        let realised = self.outside.realise(choice, &self.coordinates, &self.part, coordinates);
        finish_coordinates(coordinates, self.kept, self.unit_square);
        *square = self.square;
        realised * self.unit_square
    }
}
