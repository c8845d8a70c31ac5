//! The directions a spectrum lies over.
//!
//! A span holds orthonormal *columns* in some space: plain vectors here, expansions in a dictionary for a kernel.
//! Learners never touch the space itself. They ask for the coordinates of a point in the columns, append the
//! point's residual as a new column, and from time to time replace the columns by combinations of them.

mod ambient;
mod budget;
mod feature;
mod removal;

pub use ambient::Ambient;
pub use feature::Feature;

use crate::error::Error;
use crate::linalg::Matrix;
use crate::simplex::Multiplicity;

/// A saved span beside that of another member of a portfolio.
pub(crate) trait Beside {
    /// Checks what the two take for granted about each other.
    fn check_beside(&self, _first: &Self) -> Result<(), Error> {
        Ok(())
    }
}

impl Beside for Ambient {}

/// Columns that most spans wait for before they are combined.
const MAX_PENDING_COLUMNS: usize = 8;

/// Orthonormal columns in a space of points.
///
/// The span also keeps the *origin*: what it loads is always the point minus the origin.
pub trait Span {
    /// What an instance is made of.
    type Point: ?Sized;

    /// Dimension N of the space.
    fn dimension(&self) -> Multiplicity;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// Loads a point and returns its squared norm. Rejects bad points; changes nothing but scratch space.
    fn load_point(&mut self, point: &Self::Point) -> Result<f64, Error>;

    /// The same, beside a span that has just loaded the point and may have done part of the work.
    fn load_point_from(&mut self, point: &Self::Point, _other: &Self) -> Result<f64, Error> {
        self.load_point(point)
    }

    /// By how much the squared norm of the loaded point may be off: zero if only by rounding of itself.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// Does at once what can be done at once for the points that are loaded next, in this order; none cancels that.
    /// `step` is the step by which the origin moves behind each of them, if it does.
    fn prefetch<'a>(&mut self, _points: &mut dyn Iterator<Item = &'a Self::Point>, _step: Option<&dyn Fn(usize) -> f64>)
    where
        Self::Point: 'a,
    {
    }

    /// Columns beyond the directions in use that are worth waiting for before they are combined: the pass over them is
    /// paid once for all, and every one makes the coordinates of a row more.
    fn max_pending_columns(&self) -> usize {
        MAX_PENDING_COLUMNS
    }

    /// Inner product of two points that were loaded before, as they are, without the origin.
    fn inner(&self, a: &Self::Point, b: &Self::Point) -> f64;

    /// The power of two that the loaded point was divided by, and with it the coordinates and norms found for it: 1
    /// unless the point is so long or so short that squares would overflow or underflow.
    fn unit(&self) -> f64 {
        1.0
    }

    /// Coordinates of the loaded point, and the norm of its residual (exactly zero where it can be told from rounding).
    fn project(&mut self, coordinates: &mut Vec<f64>) -> f64;

    /// Makes the residual of the last projection, normalised, a new column, as far as the span can carry it. Returns
    /// the coordinate of the point in it; zero when there is no new column. The point is the loaded one.
    fn append_residual(&mut self, point: &Self::Point) -> f64;

    /// True if what a new column could not carry is lost whatever is chosen; otherwise it is part of the complement.
    fn loses_residuals(&self) -> bool {
        false
    }

    /// Makes the columns orthonormal again without changing what they span, as far as that is possible in the middle of a
    /// trial. The point must be loaded again.
    fn heal(&mut self);

    /// Replaces the columns by `columns × rotation`; `rotation` has orthonormal columns.
    fn combine(&mut self, rotation: &Matrix);

    /// Coordinates in these columns of combinations of the columns of another span over the same points.
    fn transfer(&mut self, from: &mut Self, combinations: &Matrix, out: &mut Matrix);

    /// Coordinates in the columns of the way from the origin of another span to this one's; none if it is zero.
    fn way_from_origin_of(&mut self, _other: &Self, way: &mut Vec<f64>) {
        way.clear();
    }

    /// Moves the origin by `step` times the loaded point.
    fn shift_origin(&mut self, step: f64);

    /// Moves the origin to the loaded point, exactly, and measures all later points from there. There are no
    /// columns yet.
    fn begin_at(&mut self, point: &Self::Point);

    /// True if something has to go before the next trial.
    fn over_budget(&self) -> bool {
        false
    }

    /// Norms of the parts of columns that were given up, summed.
    fn budget_error(&self) -> f64 {
        0.0
    }

    /// Gives up what changes these directions (in the coordinates of the columns) least, weighted by importance. When
    /// columns were lost, returns the rotation that the coordinates of the columns have undergone.
    fn evict(&mut self, _directions: &Matrix, _importance: &[f64]) -> Option<&Matrix> {
        None
    }

    /// The trial is over: time for housekeeping. When columns were lost, returns the rotation that the coordinates of the
    /// columns have undergone.
    fn end_trial(&mut self) -> Option<&Matrix> {
        None
    }

    /// Largest deviation of the columns' Gram matrix from the identity.
    fn drift(&self) -> f64;
}
