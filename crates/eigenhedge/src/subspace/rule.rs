//! What distinguishes one subspace learner from another: how the spectrum changes.

use crate::linalg::Matrix;
use crate::random::Random;
use crate::simplex::Complement;

/// One instance in the coordinates of the span's columns: a sum of weighted dyads, usually one.
#[derive(Debug, Clone)]
pub struct Observed {
    /// One column for each dyad, one row for each column of the span.
    pub coordinates: Matrix,
    /// Weights of the dyads. Negative ones come from [`super::Pair`] only; rules over a scatter matrix take none.
    pub weights: Vec<f64>,
    /// Square of the power of two that the coordinates were divided by: 1 unless rows are very long or very short.
    pub unit_square: f64,
}

impl Default for Observed {
    fn default() -> Self {
        Self { coordinates: Matrix::default(), weights: Vec::new(), unit_square: 1.0 }
    }
}

/// A spectrum over explicit directions and their complement, with the rule that changes it.
///
/// Everything is in the coordinates of the span's columns, so a rule works in any space.
pub trait Rule {
    /// The span has this many columns now. New ones lie in the complement until the rule says otherwise.
    fn grow(&mut self, columns: usize);

    /// Draws what the rule itself leaves to chance, before each choice; most rules leave nothing.
    fn perturb(&mut self, _: &mut Random) {}

    /// `log v ≤ 0` of each explicit direction: how surely it is dropped.
    fn log_weights(&self) -> &[f64];

    /// The common `log v` of all other directions, and how many there are.
    fn complement(&self) -> &Complement;

    /// Finds the coordinates of a point in the explicit directions; returns the squared length of what lies outside.
    fn observe(&mut self, columns: &[f64]) -> f64;

    /// Coordinates of the point observed last.
    fn coordinates(&self) -> &[f64];

    /// What of that point lies outside the explicit directions, in the coordinates of the columns.
    fn outside(&self) -> &[f64];

    /// Makes the explicit directions orthonormal again, if rounding has gathered in them.
    fn heal(&mut self) {}

    /// Explicit direction `i` in the coordinates of the columns.
    fn direction(&mut self, i: usize, out: &mut Vec<f64>);

    /// Explicit directions in the coordinates of the columns, one in each column of `out`; `direction` is working space.
    fn directions(&mut self, order: &[usize], direction: &mut Vec<f64>, out: &mut Matrix) {
        out.resize(0, 0);
        for (j, i) in order.iter().enumerate() {
            self.direction(*i, direction);
            out.resize(direction.len(), j + 1);
            out.column_mut(j).copy_from_slice(direction);
        }
    }

    /// Learns from the instance whose dyads were just observed, in order. Rows have norms up to the
    /// root of `norm_square`, in input units. Dyads of weight zero teach nothing.
    fn update(&mut self, instance: &Observed, norm_square: f64);

    /// Combination of the columns to apply to the span before the next trial, if there are so many more columns than
    /// directions that it is time.
    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix>;

    /// The span has applied the rotation.
    fn rotated(&mut self);

    /// Energy of a row along explicit direction `i`, on average over the rows that the rule remembers of so many; none if it
    /// does not know.
    fn mean_energy(&self, _i: usize, _trials: u64) -> Option<f64> {
        None
    }

    /// A residual whose square is at most this share of the largest squared norm so far gets no column: it counts as part of
    /// the complement. Zero gives a column to every residual that the span can carry.
    fn resolution(&self) -> f64 {
        0.0
    }

    /// What approximations have added to the constant of the theorem; zero when everything was exact.
    fn price(&self) -> f64 {
        0.0
    }

    /// The span has lost columns: what had coordinates c has coordinates `rotationᵀ c` now.
    fn reduce(&mut self, rotation: &Matrix);
}
