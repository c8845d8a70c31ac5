//! Spans: the spaces in which the directions of a learner lie. A span has orthonormal *columns*: plain vectors, or
//! kernel expansions in a dictionary. Trials request the coordinates of a point in the columns, append the residual of
//! the point as a new column, and sometimes replace the columns by linear combinations.

#![allow(missing_docs)]

mod ambient;
mod feature;
mod removal;

pub use ambient::Ambient;
#[cfg(test)]
pub(crate) use ambient::SHORTEST;
pub(crate) use ambient::SOURCES;
pub use ambient::{SourceMove, Sources};
pub use feature::Feature;
pub(crate) use feature::{Growth, TakenIn};

use crate::error::Error;
use crate::linalg::Matrix;
use crate::simplex::Multiplicity;

const MAX_PENDING_COLUMNS: usize = 8;

/// Orthonormal columns in a space of points, and an *origin*, which is subtracted from every loaded point.
pub trait Span {
    type Point: ?Sized;

    fn dimension(&self) -> Multiplicity;

    fn columns(&self) -> usize;

    /// Loads a point minus the origin. Returns the squared norm of the difference.
    fn load_point(&mut self, point: &Self::Point) -> Result<f64, Error>;

    /// Announces that the next point is zero except at these positions, which ascend. `None` cancels the announcement.
    fn announce_filled(&mut self, _filled: Option<&[u32]>) {}

    /// Returns the positions of the filled cells of the loaded point if it is known to be sparse.
    fn filled(&self) -> Option<&[u32]> {
        None
    }

    /// Loads a point that another span has just loaded, whose results may be reused.
    fn load_point_from(&mut self, point: &Self::Point, _other: &Self) -> Result<f64, Error> {
        self.load_point(point)
    }

    /// Returns the estimated rounding error of the loaded point's squared norm.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// Precomputes results shared by the points that will be loaded next. After point i, the origin moves by `step(i)`
    /// times the point minus the origin.
    fn prefetch<'a>(&mut self, _points: &mut dyn Iterator<Item = &'a Self::Point>, _step: Option<&dyn Fn(usize) -> f64>)
    where
        Self::Point: 'a,
    {
    }

    fn max_pending_columns(&self) -> usize {
        MAX_PENDING_COLUMNS
    }

    fn inner(&self, a: &Self::Point, b: &Self::Point) -> f64;

    /// Returns the power of two by which the loaded point, its coordinates and its residual are divided, mostly 1.
    fn unit(&self) -> f64 {
        1.0
    }

    /// Computes the coordinates of the loaded point. Returns the norm of its residual, or exactly zero at rounding
    /// level.
    fn project(&mut self, coordinates: &mut Vec<f64>) -> f64;

    /// Appends the normalized residual of the last projection as a column, as far as the span can represent it. Returns
    /// the coordinate of the loaded point in the new column, or zero if no column is added.
    fn append_residual(&mut self, point: &Self::Point) -> f64;

    /// True if the part of a residual that the span cannot represent counts as lost, not as part of the complement.
    fn loses_residuals(&self) -> bool {
        false
    }

    /// Makes the columns orthonormal again without removing any, if possible. The point must then be loaded again.
    fn heal(&mut self);

    /// Replaces the columns by `columns × rotation`, where `rotation` has orthonormal columns.
    fn combine(&mut self, rotation: &Matrix);

    /// Converts combinations of the columns of another span over the same points to coordinates in this span's columns.
    fn transfer(&mut self, from: &mut Self, combinations: &Matrix, out: &mut Matrix);

    /// Computes the displacement from another span's origin to this one's, in the columns; empty means zero.
    fn way_from_origin_of(&mut self, _other: &Self, way: &mut Vec<f64>) {
        way.clear();
    }

    /// Moves the origin by `step` times the loaded point.
    fn shift_origin(&mut self, step: f64);

    /// Switches to a learned origin. Must be called before the first point. Returns `Err` unless points are plain rows.
    fn learn_origin(&mut self) -> Result<(), Error> {
        Err(Error::Unsupported(
            "a learned center needs plain rows: with a kernel, center must be running, forget:F, last or none",
        ))
    }

    /// Returns the sources of a learned origin, or `None` for any other origin.
    fn sources(&self) -> Option<&Sources> {
        None
    }

    /// Computes the inner products of the loaded point, of coordinates `unit * columns`, with the sources of a learned
    /// origin.
    fn project_sources(&mut self, _columns: &[f64], _unit: f64) {}

    /// Moves a learned origin and its sources. [`Self::project_sources`] must have been called for the loaded point.
    fn move_sources(&mut self, _change: &SourceMove, _columns: &[f64], _unit: f64) {}

    /// Sets the origin to the loaded point. The span must have no columns yet.
    fn begin_at(&mut self, point: &Self::Point);

    fn over_budget(&self) -> bool {
        false
    }

    /// Returns the sum of the norms of the parts that evictions have discarded.
    fn budget_error(&self) -> f64 {
        0.0
    }

    /// Evicts atoms, starting with those whose removal changes the directions, weighted by `importance`, least. If
    /// columns were lost, returns the rotation.
    fn evict(&mut self, _directions: &Matrix, _importance: &[f64]) -> Option<&Matrix> {
        None
    }

    /// Ends the trial with maintenance work. If columns were lost or replaced, returns the rotation.
    fn end_trial(&mut self) -> Option<&Matrix> {
        None
    }

    /// Returns the largest absolute entry of the Gram matrix of the columns minus the identity.
    fn drift(&self) -> f64;
}
