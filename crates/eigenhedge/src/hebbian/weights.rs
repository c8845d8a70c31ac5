//! Weight vectors of any space, as far as a rule needs to know them.

use super::step::Step;
use crate::error::Error;
use crate::simplex::Multiplicity;

/// Weight vectors in some space: they take inner products with a point, shrink, and move towards it.
pub trait Weights {
    /// Type of a point.
    type Point: ?Sized;

    /// Dimension N of the space.
    fn dimension(&self) -> Multiplicity;

    /// How many vectors there is room for, when that is limited.
    fn most(&self) -> Option<usize> {
        None
    }

    /// Number of vectors.
    fn count(&self) -> usize;

    /// Looks at a point, from the center: its inner product with every vector, and its squared norm. Rejects bad points;
    /// changes nothing but scratch space.
    fn load_point(&mut self, point: &Self::Point, outputs: &mut Vec<f64>) -> Result<f64, Error>;

    /// A new last vector: `scale` times the point, which was loaded last.
    fn begin(&mut self, point: &Self::Point, scale: f64);

    /// Moves the vectors towards the point, which was loaded last.
    fn learn(&mut self, point: &Self::Point, step: &Step);

    /// Puts the center at the point, which was loaded last; there are no vectors yet.
    fn begin_at(&mut self, point: &Self::Point);

    /// Moves the center by a share of the way to the point, which was loaded last.
    fn shift_center(&mut self, point: &Self::Point, share: f64);

    /// Makes room when a move has taken too much, once; says what that did to the vectors.
    fn trim(&mut self, _change: &mut Change) -> bool {
        false
    }
}

/// Change of the vectors when room was made: each had its amount of one displacement d added.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Inner products of d with the vectors before the change.
    pub products: Vec<f64>,
    /// `|d|²`.
    pub square: f64,
    /// How much of d each vector received.
    pub amounts: Vec<f64>,
}
