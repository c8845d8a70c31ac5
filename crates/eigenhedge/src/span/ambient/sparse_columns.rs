//! The representation by sparse rows: when it starts and ends, and when columns are written out.

use super::sparse::{DENSE_STREAK, SPARSITY, SparseWorking};
use super::{Ambient, MovedOrigin, Working};
use crate::linalg::{Cells, Matrix, STREAK, add_multiple, filled_cells};
use crate::num::dot;
use std::borrow::Cow;

impl Ambient {
    /// Returns the maximum number of filled cells of a sparse row; `None` if no row is sparse.
    fn most_filled(&self) -> Option<usize> {
        let is_long = self.length >= self.scratch.0.sparse.shortest.0 && u32::try_from(self.length).is_ok();
        is_long.then_some(self.length / SPARSITY)
    }

    pub(super) fn announce(&mut self, filled: &[u32]) {
        let Some(most) = self.most_filled() else { return };
        let working = &mut self.scratch.0.sparse;
        (working.is_announced, working.is_sparse) = (true, filled.len() <= most);
        working.filled.clear();
        if working.is_sparse {
            working.filled.extend_from_slice(filled);
        }
    }

    /// Returns true once after the filled cells of the next point were announced.
    pub(super) fn take_announcement(&mut self) -> bool {
        std::mem::take(&mut self.scratch.0.sparse.is_announced)
    }

    pub(super) fn filled_cells(&self) -> Option<&[u32]> {
        let working = &self.scratch.0.sparse;
        working.is_sparse.then_some(&working.filled[..])
    }

    pub(super) fn look_for_filled_cells(&mut self, point: &[f64]) {
        let Some(most) = self.most_filled() else { return };
        let working = &mut self.scratch.0.sparse;
        working.is_sparse = filled_cells(point, most, &mut working.filled);
    }

    /// Takes over the filled cells of a point that another span has loaded.
    pub(super) fn share_filled_cells(&mut self, other: &Self) {
        let (own, theirs) = (&mut self.scratch.0.sparse, &other.scratch.0.sparse);
        own.is_sparse = theirs.is_sparse;
        if own.is_sparse {
            own.filled.clone_from(&theirs.filled);
        }
    }

    pub(super) fn current_origin(&self) -> Option<Cow<'_, MovedOrigin>> {
        let origin = self.origin.as_ref()?;
        let Some(sparse) = &self.sparse else { return Some(Cow::Borrowed(origin)) };
        let mut way: Vec<f64> = origin.base.iter().map(|base| -base).collect();
        self.shift().iter().for_each(|(i, shift)| way[i] += shift);
        sparse.add_displacement(&self.columns, 1.0, &mut way);
        Some(Cow::Owned(MovedOrigin { base: origin.base.clone(), way }))
    }

    /// Computes the sparse part of the origin that is subtracted from all points: its largest cells, when the columns were last
    /// written out. The rest of the origin is the displacement. Without the shift, products of columns in which all rows are far
    /// from zero would cancel.
    pub(super) fn shift(&self) -> Cells {
        self.origin.as_ref().map_or_else(Cells::default, |origin| Cells::largest_of_sum(&origin.base, &origin.way))
    }

    /// Ends the trial: starts, ends or renews the representation by sparse rows.
    pub(super) fn end_sparse_trial(&mut self) {
        let is_sparse = self.scratch.0.sparse.is_sparse;
        self.sparse_streak = if is_sparse { (self.sparse_streak + 1).min(STREAK) } else { 0 };
        let length = self.length;
        match &mut self.sparse {
            None if self.sparse_streak == STREAK && self.sources.is_none() => self.enter_sparse(),
            None => {}
            Some(sparse) => {
                sparse.dense_streak = if is_sparse { 0 } else { sparse.dense_streak + 1 };
                if sparse.dense_streak >= DENSE_STREAK {
                    self.leave_sparse();
                } else if sparse.columns.sparse.count() >= 2 * sparse.limit(length) {
                    self.write_out_sparse();
                }
            }
        }
    }

    fn enter_sparse(&mut self) {
        self.scratch.0.block.clear();
        if self.deferred.columns() > 0 {
            let Working { product, expanded, .. } = &mut self.scratch.0;
            self.deferred.expand_all(&Matrix::identity(self.columns.columns()), expanded);
            self.columns.combine(expanded, product);
            self.deferred.clear();
        }
        self.standard = false;
        self.sparse = Some(Box::default());
        self.begin_sparse();
    }

    /// Starts again with columns that are written out. The displacement of the origin becomes one more dense vector.
    fn begin_sparse(&mut self) {
        let columns = self.columns.columns();
        let mut displacement = Vec::new();
        if let Some(origin) = &self.origin {
            let shift = self.shift();
            displacement.clone_from(&origin.base);
            shift.iter().for_each(|(i, shift)| displacement[i] -= shift);
            add_multiple(&mut displacement, 1.0, &origin.way);
            self.scratch.0.sparse.shift = Some(shift);
        }
        let moves = displacement.iter().any(|x| *x != 0.0);
        if moves {
            self.columns.push_column(&displacement);
        }
        let Self { columns: dense, sparse: Some(sparse), scratch, .. } = self else { return };
        let SparseWorking { defect, working, .. } = &mut scratch.0.sparse;
        dense.gram_defect(defect, working);
        if moves {
            defect.column_mut(columns)[columns] = dot(&displacement, &displacement);
        }
        sparse.columns.begin(defect, columns);
        sparse.columns.orthonormalise();
        sparse.written = dense.columns();
        sparse.origin.clear();
        sparse.origin.resize(dense.columns(), 0.0);
        sparse.origin_products.clear();
        sparse.origin_products.resize(dense.columns(), 0.0);
        if moves {
            sparse.origin[columns] = 1.0;
            sparse.origin_products.copy_from_slice(&defect.column(columns)[..=columns]);
        }
    }

    fn write_out_columns(&mut self) {
        let origin = self.current_origin().map(Cow::into_owned);
        let Some(sparse) = &mut self.sparse else { return };
        sparse.columns.write_out(&mut self.columns);
        self.origin = origin;
    }

    /// Writes out the columns and the origin, and starts again with them.
    pub(super) fn write_out_sparse(&mut self) {
        self.write_out_columns();
        self.begin_sparse();
    }

    pub(super) fn leave_sparse(&mut self) {
        if self.sparse.is_some() {
            self.write_out_columns();
            self.sparse = None;
            self.sparse_streak = 0;
            self.measure();
        }
    }
}
