//! Interface of weight vectors, independent of their space.

use super::step::Step;
use crate::error::Error;
use crate::simplex::Multiplicity;

/// Weight vectors in some space.
pub trait Weights {
    /// Type of a point.
    type Point: ?Sized;

    /// Returns the dimension N of the space.
    fn dimension(&self) -> Multiplicity;

    /// Returns the maximum number of vectors; `None` if unlimited.
    fn most(&self) -> Option<usize> {
        None
    }

    /// Returns the number of vectors.
    fn count(&self) -> usize;

    /// Computes the inner product of the centered point with every vector. Returns its squared norm, or an error for an invalid
    /// point. Changes only scratch space.
    fn load_point(&mut self, point: &Self::Point, outputs: &mut Vec<f64>) -> Result<f64, Error>;

    /// Appends a vector: `scale` times the point loaded last.
    fn begin(&mut self, point: &Self::Point, scale: f64);

    /// Moves the vectors towards the point loaded last.
    fn learn(&mut self, point: &Self::Point, step: &Step);

    /// Sets the center to the point loaded last. There must be no vectors yet.
    fn begin_at(&mut self, point: &Self::Point);

    /// Moves the center towards the point loaded last, by a share of the distance.
    fn shift_center(&mut self, point: &Self::Point, share: f64);

    /// Removes one atom if there are too many. Returns true if it did, and describes the effect on the vectors in `change`.
    fn trim(&mut self, _change: &mut Change) -> bool {
        false
    }
}

/// Change of the vectors by a trim: each vector received a multiple of one displacement d.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Inner products of d with the vectors before the change.
    pub products: Vec<f64>,
    /// Squared norm of d.
    pub square: f64,
    /// Multiple of d added to each vector.
    pub amounts: Vec<f64>,
}
