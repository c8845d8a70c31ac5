//! Interface of spectrum rules and of their directions, in coordinates of the columns of the span.

use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;

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

    /// Returns `log v ≤ 0` for each explicit direction, where v is the probability of being dropped.
    fn log_weights(&self) -> &[f64];

    fn complement(&self) -> &Complement;

    /// Updates the spectrum with the instance whose dyads were just observed, in order. The rate is divided by
    /// `norm_square`.
    fn update(&mut self, instance: &Observed, norm_square: f64);

    /// Returns the combination that the span must apply now, if any. Columns stay while there are fewer than about
    /// `max_pending` extra ones, and always if the rule needs all of them.
    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix>;

    /// Returns the mean energy of the `trials` rows so far along a direction, weighted as the rule forgets.
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
