//! Interface of spectrum rules and of their directions. Subspace learners over equal spans differ only in their rule.

use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;

/// Instance in coordinates of the columns of the span: a sum of weighted dyads, usually a single one.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Coordinates, with one column per dyad and one row per column of the span.
    pub coordinates: Matrix,
    /// Weights of the dyads. They are negative only in [`super::Pair`]. Rules based on a scatter
    /// matrix require nonnegative weights.
    pub weights: Vec<f64>,
    /// Square of the power of two by which coordinates were divided: 1 unless the norms of rows are extreme.
    pub unit_square: f64,
    /// Number of rows of a batch around one center, or 1 for any other instance. A rule that forgets applies its factor
    /// this many times.
    pub rows: i32,
}

impl Default for Observed {
    fn default() -> Self {
        Self { coordinates: Matrix::default(), weights: Vec::new(), unit_square: 1.0, rows: 1 }
    }
}

/// Explicit directions of a rule. All vectors are in coordinates of the columns of the span.
pub trait Directions {
    fn columns(&self) -> usize;

    /// Computes the coordinates of a point in the directions. Returns the squared length of its part outside them.
    fn observe(&mut self, columns: &[f64]) -> f64;

    /// Returns the coordinates of the most recently observed point.
    fn coordinates(&self) -> &[f64];

    /// Writes the coordinates of a point in the directions to `out`. May replace the most recently observed point.
    fn coordinates_of(&mut self, columns: &[f64], out: &mut Vec<f64>) {
        self.observe(columns);
        self.coordinates().clone_into(out);
    }

    /// Returns the part of the most recently observed point outside the directions.
    fn outside(&self) -> &[f64] {
        &[]
    }

    /// Orthonormalizes the directions if rounding can accumulate in them.
    fn heal(&mut self) {}

    fn direction(&mut self, i: usize, out: &mut Vec<f64>);

    /// Computes the directions listed in `order`, one per column of `out`.
    fn select(&mut self, order: &[usize], out: &mut Matrix);
}

/// Spectrum rule: the probabilities of explicit directions and of their complement, and the update
/// of these probabilities.
///
/// All vectors are in coordinates of the columns of the span, so that a rule works in any space.
pub trait Rule {
    /// Returns the explicit directions.
    fn directions(&self) -> &dyn Directions;

    /// Returns the explicit directions mutably, to observe points.
    fn directions_mut(&mut self) -> &mut dyn Directions;

    /// Sets the number of columns of the span. New columns have the probability of the complement until an update.
    fn grow(&mut self, columns: usize);

    /// Draws the noise of the rule before a choice. Most rules have no noise.
    fn perturb(&mut self, _: &mut Random) {}

    /// Returns true if [`Self::perturb`] draws noise.
    fn is_noisy(&self) -> bool {
        false
    }

    /// Returns `log v ≤ 0` for each explicit direction, where v is the probability of being dropped.
    fn log_weights(&self) -> &[f64];

    /// Returns the complement: the common `log v` of all other directions, and their number.
    fn complement(&self) -> &Complement;

    /// Updates the spectrum with the instance whose dyads were just observed, in order. The rate is
    /// divided by `norm_square`, in squared units of the input. This is the squared norm bound,
    /// unless the rate is self-confident. Dyads of weight zero have no effect.
    fn update(&mut self, instance: &Observed, norm_square: f64);

    /// Returns the combination that the span must apply now, or `None` if the columns stay. The rule is then in
    /// coordinates of the combined columns. The columns stay while there are fewer than about `max_pending` extra ones,
    /// and always if the rule needs all columns.
    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix>;

    /// Returns the mean energy of the `trials` rows so far along explicit direction `i`. For a rule that forgets, the
    /// mean has the weights of the rows in the rule. Returns `None` if the mean energy is unknown.
    fn mean_energy(&self, _i: usize, _trials: u64) -> Option<f64> {
        None
    }

    /// Returns the threshold for new columns, as a share of the largest squared norm so far. A smaller squared residual
    /// gets no column and belongs to the complement. With zero, every residual that the span can represent gets a
    /// column.
    fn resolution(&self) -> f64 {
        0.0
    }

    /// Returns the cost of approximations, which is added to the constant of the regret bound.
    fn price(&self) -> f64 {
        0.0
    }

    /// Updates the rule after the span has lost columns: coordinates c become `rotationᵀ c`.
    fn reduce(&mut self, rotation: &Matrix);
}
