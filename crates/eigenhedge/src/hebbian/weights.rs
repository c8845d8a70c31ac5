//! Interface of weight vectors, independent of their space.
#![allow(missing_docs)]

use super::rule::VectorStep;
use crate::error::Error;
use crate::simplex::Multiplicity;

/// Weight vectors of a Hebbian learner, in the input space or in a feature space.
pub trait Weights {
    type Point: ?Sized;

    fn dimension(&self) -> Multiplicity;

    fn most(&self) -> Option<usize> {
        None
    }

    fn count(&self) -> usize;

    /// Computes the inner products of the centered point with the vectors. Returns its squared norm.
    fn load_point(&mut self, point: &Self::Point, outputs: &mut Vec<f64>) -> Result<f64, Error>;

    fn begin(&mut self, point: &Self::Point, scale: f64);

    fn learn(&mut self, point: &Self::Point, step: &VectorStep);

    /// Sets the center to the most recently loaded point. There must be no vectors yet.
    fn begin_at(&mut self, point: &Self::Point);

    /// Moves the center toward the loaded point by the fraction `share` of their distance.
    fn shift_center(&mut self, point: &Self::Point, share: f64);

    /// Removes one atom if the budget is exceeded, and writes the effect on the vectors to `change`.
    fn trim(&mut self, _change: &mut Change) -> bool {
        false
    }
}

#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Inner products of d with the vectors before the change.
    pub products: Vec<f64>,
    pub square: f64,
    /// Multiple of d added to each vector.
    pub amounts: Vec<f64>,
}
