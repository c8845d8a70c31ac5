//! Span of plain vectors: the columns are vectors of n numbers.
//! Cost: four passes over the columns per projection, or two if little of the point is in their span. Rows of at least
//! [`LONG`] numbers take one pass unless the residual is small, because its norm follows from inner products. The row
//! itself is then stored, and its column remains a combination ([`Deferred`]) until the columns are next combined. Long
//! rows in a block share one pass ([`UpcomingBlock`]). Rows with few filled cells need no pass ([`Sparse`]), nor do
//! rows of at least [`LEAST_STANDARD`] numbers once unit vectors replace columns that span the whole space.
//! Numerics: classical Gram–Schmidt, repeated if the residual is shorter than [`REPEAT`] times the point. A residual
//! counts as zero if the second pass more than halves it, or if it is shorter than [`ROUNDING`] times the point. For
//! long rows the second pass uses the Gram matrix of the stored vectors, whose rounding errors are multiplied by the
//! squared norm of the coefficients of the new column. Beyond [`LARGEST_COEFFICIENTS`], the residual is computed as a
//! vector instead. The deviation from orthonormality is corrected whenever long columns are combined, and periodically
//! for short ones.
//! References: Giraud, Langou, Rozložník & van den Eshof, *Rounding error analysis of the classical Gram–Schmidt
//! orthogonalization process*, Numerische Mathematik 2005; Parlett, *The Symmetric Eigenvalue Problem*, section 6-9.

mod block;
mod deferred;
mod merge;
mod sources;
mod sparse;
mod sparse_trial;
mod state;
mod trial;

pub(crate) use sources::SOURCES;
pub use sources::{SourceMove, Sources};
#[cfg(test)]
pub(crate) use sparse::SHORTEST;

use crate::error::{Error, at_least_one, require};
use crate::linalg::{Matrix, Source, WINDOW, multiply};
use crate::num::{dot, largest, unit};
use crate::row::check_row;
use crate::scratch::{Scratch, zero};
use crate::simplex::Multiplicity;
use block::UpcomingBlock;
use deferred::{Deferred, Refinement};
use serde::{Deserialize, Serialize};
use sparse::{Sparse, SparseWorking};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ambient {
    dimension: Multiplicity,
    /// Written columns, followed by the stored vectors of the deferred columns.
    columns: Matrix,
    origin: Option<MovedOrigin>,
    /// Sources of a learned origin, with which all rows are treated as dense.
    sources: Option<Box<Sources>>,
    combinations: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
    length: usize,
    deferred: Deferred,
    /// Columns and origin as combinations of sparse rows. `columns` then contains only dense vectors, none deferred.
    sparse: Option<Box<Sparse>>,
    sparse_streak: usize,
    /// True if the columns are the unit vectors, so that coordinates are cells.
    standard: bool,
}

/// Origin: a fixed point, which is subtracted first, against cancellation far from zero, plus a displacement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MovedOrigin {
    base: Vec<f64>,
    way: Vec<f64>,
}

impl MovedOrigin {
    fn parts(&self) -> (&[f64], &[f64]) {
        (&self.base, &self.way)
    }

    fn at(base: Vec<f64>) -> Self {
        let way = vec![0.0; base.len()];
        Self { base, way }
    }
}

#[derive(Debug, Clone, Default)]
struct Working {
    point: Vec<f64>,
    place: Place,
    square: f64,
    unit: Option<f64>,
    /// Norm of the residual, which is in the spare column unless the point is stored there.
    residual_norm: f64,
    block: UpcomingBlock,
    combined: usize,
    /// Number of columns added between the two most recent combinations, or `None` before the first combination.
    last_wait: Option<usize>,
    correction: Vec<f64>,
    vector: Vec<f64>,
    products: Vec<f64>,
    explained: Vec<f64>,
    refinement: Refinement,
    defect: Matrix,
    expanded: Matrix,
    product: Vec<f64>,
    sparse: SparseWorking,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Apart,
    Behind,
    Stored,
    Cells,
}

const REPEAT: f64 = 0.75;
/// Relative overlap with the columns below which a residual counts as orthogonal and is not recomputed.
const ORTHOGONAL: f64 = 4e-15;
const HALVED: f64 = 0.5;
const ROUNDING: f64 = 64.0 * f64::EPSILON;
const TOLERABLE_DRIFT: f64 = 1e-13;
const LOOK_EVERY: u64 = 32;
const LONG: usize = 512;
const LEAST_STANDARD: usize = 129;
const SHORTEST_BLOCK: usize = 4;
const LARGEST_BLOCK: usize = 1 << 22;
const LARGEST_COEFFICIENTS: f64 = 12.0;

impl Ambient {
    pub fn new(length: usize) -> Result<Self, Error> {
        at_least_one("the dimension", length)?;
        Ok(Self {
            dimension: Multiplicity::Finite(length as u64),
            columns: Matrix::zeros(length, 0),
            origin: None,
            sources: None,
            combinations: 0,
            scratch: Scratch::default(),
            length,
            deferred: Deferred::default(),
            sparse: None,
            sparse_streak: 0,
            standard: false,
        })
    }

    /// Sets the dimension N of the whole space, which contains `R^n`. Returns `Err` if N is less than n.
    pub fn within(mut self, dimension: Multiplicity) -> Result<Self, Error> {
        if let Multiplicity::Finite(n) = dimension {
            require(n >= self.length as u64, "feature-dim", "at least the length of a row", n as f64)?;
        }
        self.dimension = dimension;
        Ok(self)
    }

    pub(crate) fn with_origin(mut self, origin: Vec<f64>) -> Result<Self, Error> {
        check_row("center", &origin, self.length)?;
        self.origin = Some(MovedOrigin::at(origin));
        Ok(self)
    }

    /// Returns the fastest block size for points of this length, or 1 if blocks are not faster.
    pub(crate) fn block_points(length: usize) -> usize {
        if length < LONG { 1 } else { (LARGEST_BLOCK / length).clamp(1, WINDOW) }
    }

    pub(crate) fn wants_block(&self) -> bool {
        self.stores_points() && self.sparse.is_none() && self.scratch.0.block.left() == 0
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn origin(&self) -> Option<Vec<f64>> {
        self.current_origin().map(|origin| origin.base.iter().zip(&origin.way).map(|(b, w)| b + w).collect())
    }

    /// Computes the row minus the origin. Missing cells (NaN) stay missing.
    pub(crate) fn deviation(&self, row: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match self.current_origin().as_deref() {
            None => out.extend_from_slice(row),
            Some(MovedOrigin { base, way }) => {
                out.extend(row.iter().zip(base).zip(way).map(|((x, base), way)| (x - base) - way));
            }
        }
    }

    pub(crate) fn place(&self, deviation: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match self.current_origin().as_deref() {
            None => out.extend_from_slice(deviation),
            Some(MovedOrigin { base, way }) => {
                out.extend(deviation.iter().zip(base).zip(way).map(|((z, base), way)| base + (way + z)));
            }
        }
    }

    /// Sets the origin in a column that was missing in all previous rows. The deviations of these rows do not change.
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.leave_sparse();
        self.forget_origin();
        self.origin.iter_mut().for_each(|origin| origin.base[column] = value);
    }

    fn forget_origin(&mut self) {
        self.scratch.0.block.clear();
        self.scratch.0.sparse.shift = None;
    }

    pub(crate) fn first_value(&self, column: usize) -> f64 {
        self.origin.as_ref().map_or(0.0, |origin| origin.base[column])
    }

    pub(crate) fn write_directions(&self, directions: &Matrix, expanded: &mut Matrix, out: &mut Matrix) {
        if directions.columns() == 0 {
            return out.resize(self.length, 0);
        }
        if let Some(sparse) = &self.sparse {
            return sparse.columns.write(&self.columns, directions, out);
        }
        if self.standard {
            return out.clone_from(directions);
        }
        if self.deferred.columns() == 0 {
            return multiply(out, self.columns.view(), directions.view());
        }
        self.deferred.expand_all(directions, expanded);
        multiply(out, self.columns.view(), expanded.view());
    }

    /// Returns the orthonormal columns as vectors in `R^n`. Copies them only if some are deferred or rows are sparse.
    pub fn vectors(&self) -> Cow<'_, Matrix> {
        if let Some(sparse) = &self.sparse {
            let mut vectors = Matrix::default();
            sparse.columns.write(&self.columns, &Matrix::identity(sparse.columns.columns()), &mut vectors);
            return Cow::Owned(vectors);
        }
        if self.deferred.columns() == 0 {
            return Cow::Borrowed(&self.columns);
        }
        let (mut vectors, mut rotation) = (self.columns.clone(), Matrix::default());
        self.deferred.expand_all(&Matrix::identity(self.columns.columns()), &mut rotation);
        vectors.combine(&rotation, &mut Vec::new());
        Cow::Owned(vectors)
    }

    pub(crate) fn measured_from_origin(&self, point: &[f64]) -> Vec<f64> {
        let mut vector = Vec::with_capacity(point.len());
        self.deviation(point, &mut vector);
        vector
    }

    pub(crate) fn coordinates_of(&self, vector: &[f64], coordinates: &mut Vec<f64>) {
        if let Some(sparse) = &self.sparse {
            let mut products = Vec::new();
            sparse.columns.times_dense(&self.columns, vector, &mut products);
            return sparse.columns.coordinates(&products, coordinates);
        }
        self.columns.transpose_times(vector, coordinates);
        self.deferred.scale(coordinates);
        self.deferred.resolve(coordinates);
    }

    pub(crate) fn subtract(&mut self, coordinates: &[f64], vector: &mut [f64]) {
        let explained = &mut self.scratch.0.explained;
        if let Some(sparse) = &self.sparse {
            zero(explained, sparse.columns.vectors());
            sparse.columns.subtract_coefficients(coordinates, explained);
            return sparse.columns.add_to(&self.columns, explained, vector);
        }
        self.deferred.expand(coordinates, explained);
        self.deferred.scale(explained);
        self.columns.subtract_times(explained, vector);
    }

    fn stores_points(&self) -> bool {
        self.length >= LONG && !self.standard
    }

    fn copy_point(&mut self, point: &[f64]) -> f64 {
        self.scratch.0.place = Place::Apart;
        let mut z = std::mem::take(&mut self.scratch.0.point);
        self.deviation(point, &mut z);
        let square = dot(&z, &z);
        self.scratch.0.point = z;
        square
    }

    /// Copies a point minus the origin, divided by a power of two, so that its squared norm neither overflows nor loses
    /// precision. Returns the squared norm before the division.
    fn copy_scaled(&mut self, point: &[f64]) -> Result<f64, Error> {
        self.scratch.0.block.clear();
        let square = self.copy_point(point);
        let Working { point: z, square: scaled, unit: own_unit, .. } = &mut self.scratch.0;
        let longest = largest(z);
        if !square.is_finite() {
            check_row("row", point, self.length)?;
            return Err(Error::Overflow { largest: longest });
        }
        let unit = unit(longest);
        z.iter_mut().for_each(|x| *x /= unit);
        (*scaled, *own_unit) = (dot(z, z), Some(unit));
        let square = *scaled * unit * unit;
        if square >= f64::MIN_POSITIVE {
            return Ok(square);
        }
        z.fill(0.0);
        (*scaled, *own_unit) = (0.0, None);
        let is_rounding = longest <= 4.0 * f64::EPSILON * largest(point);
        if is_rounding { Ok(0.0) } else { Err(Error::Underflow { largest: longest }) }
    }

    /// Stores a point minus the origin in the spare column, unless a block has stored it. Returns its squared norm.
    fn store_point(&mut self, point: &[f64]) -> f64 {
        let Working { place, block, .. } = &mut self.scratch.0;
        *place = Place::Behind;
        if let Some(column) = block.next_column() {
            let distance = column - self.columns.columns();
            if distance > 0 {
                self.columns.draw_spare(distance);
            }
            return block.intake.square(block.present().unwrap_or(0));
        }
        let source = Source { points: &[point], origin: self.origin.as_ref().map(MovedOrigin::parts), steps: &[] };
        self.columns.take_in(&source, false, &mut block.intake);
        block.intake.square(0)
    }

    /// Subtracts the projection from the point in its buffer, twice if the residual is small, into the spare column.
    fn subtract_explained(&mut self, coordinates: &mut [f64]) {
        let Working { point, square, correction, residual_norm, explained, .. } = &mut self.scratch.0;
        self.deferred.scale(explained);
        let mut left = self.columns.spare_residual(point, explained);
        if left < REPEAT * REPEAT * *square {
            let first = left;
            self.columns.transpose_times_spare(correction);
            self.deferred.scale(correction);
            self.deferred.resolve(correction);
            if dot(correction, correction) > ORTHOGONAL * ORTHOGONAL * first {
                coordinates.iter_mut().zip(&*correction).for_each(|(c, more)| *c += *more);
                self.deferred.expand(correction, explained);
                self.deferred.scale(explained);
                left = self.columns.subtract_from_spare(explained);
            }
            if left < HALVED * HALVED * first {
                left = 0.0;
            }
        }
        let complete = self.columns.columns() == self.length;
        let is_rounding = complete || left <= ROUNDING * ROUNDING * *square;
        *residual_norm = if is_rounding { 0.0 } else { left.sqrt() };
    }

    fn load(&mut self, point: &[f64]) -> Result<f64, Error> {
        let is_plain = |square: f64| unit(square.sqrt()) == 1.0 && square.is_normal();
        let square = if self.sparse.is_some() {
            let square = self.load_sparse(point).filter(|square| *square == 0.0 || is_plain(*square));
            if let Some(square) = square {
                (self.scratch.0.square, self.scratch.0.unit) = (square, None);
                return Ok(square);
            }
            self.copy_point(point)
        } else if self.stores_points() {
            self.store_point(point)
        } else {
            self.copy_point(point)
        };
        if !is_plain(square) {
            return self.copy_scaled(point);
        }
        (self.scratch.0.square, self.scratch.0.unit) = (square, None);
        Ok(square)
    }

    /// Measures the deviation of the written columns from orthonormality. Deferred combinations then correct it.
    fn measure(&mut self) {
        let Working { defect, product, .. } = &mut self.scratch.0;
        self.columns.gram_defect(defect, product);
        self.deferred.restart(defect);
    }
}
