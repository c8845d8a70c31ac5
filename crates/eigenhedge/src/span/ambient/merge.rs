//! Operations for merging spans: adding several vectors at once, and combining origins.

use super::{Ambient, Deferred, MovedOrigin};
use crate::error::Error;
use crate::linalg::{Matrix, multiply};
use crate::span::Span;

impl Ambient {
    pub(crate) fn take_in_vectors(&mut self, vectors: &Matrix) -> Result<Matrix, Error> {
        let mut coordinates = Matrix::default();
        self.leave_sparse();
        if self.columns.columns() == self.length {
            multiply(&mut coordinates, self.vectors().view().transpose(), vectors.view());
            return Ok(coordinates);
        }
        let origin = self.origin.take();
        let outcome = (0..vectors.columns()).try_for_each(|j| {
            let mut column = Vec::new();
            self.load_point(vectors.column(j))?;
            if self.project(&mut column) > 0.0 {
                column.push(self.append_residual(vectors.column(j)));
            }
            let unit = self.unit();
            coordinates.resize(self.columns.columns(), j + 1);
            coordinates.column_mut(j).iter_mut().zip(&column).for_each(|(entry, x)| *entry = unit * x);
            Ok(())
        });
        self.origin = origin;
        self.heal();
        outcome.map(|()| coordinates)
    }

    pub(crate) fn complete(&mut self) -> Matrix {
        self.leave_sparse();
        let vectors = self.vectors().into_owned();
        self.scratch.0.block.clear();
        self.columns = Matrix::identity(self.length);
        self.deferred = Deferred::default();
        self.standard = true;
        vectors
    }

    pub(crate) fn replace_columns(&mut self, columns: Matrix) {
        self.leave_sparse();
        self.scratch.0.block.clear();
        (self.scratch.0.combined, self.scratch.0.last_wait) = (columns.columns(), None);
        self.columns = columns;
        self.deferred = Deferred::default();
        self.standard = false;
        if self.stores_points() {
            self.measure();
        }
    }

    /// Moves the origin by a share of its displacement to the origin of another span. Returns the whole displacement.
    pub(crate) fn merge_origin(&mut self, other: &Self, share: f64) -> Vec<f64> {
        self.leave_sparse();
        self.forget_origin();
        let zero = || MovedOrigin::at(vec![0.0; self.length]);
        let theirs = other.current_origin().map_or_else(zero, std::borrow::Cow::into_owned);
        let own = self.origin.get_or_insert_with(zero);
        let way = |i: usize| (theirs.base[i] - own.base[i]) + (theirs.way[i] - own.way[i]);
        let way: Vec<f64> = (0..own.base.len()).map(way).collect();
        own.way.iter_mut().zip(&way).for_each(|(own, step)| *own += share * step);
        way
    }

    /// Removes and returns the origin, so that points relative to it can be loaded, until [`Self::restore_origin`].
    pub(crate) fn take_origin(&mut self) -> Option<MovedOrigin> {
        self.leave_sparse();
        self.forget_origin();
        self.origin.take()
    }

    pub(crate) fn restore_origin(&mut self, origin: Option<MovedOrigin>) {
        self.origin = origin;
    }

    pub(crate) fn move_origin(&mut self, way: &[f64]) {
        let origin = self.origin.get_or_insert_with(|| MovedOrigin::at(vec![0.0; way.len()]));
        origin.way.iter_mut().zip(way).for_each(|(own, more)| *own += more);
    }

    pub(crate) fn set_origin(&mut self, base: &[f64], way: &[f64]) {
        self.leave_sparse();
        self.forget_origin();
        self.origin = Some(MovedOrigin { base: base.to_vec(), way: way.to_vec() });
    }
}
