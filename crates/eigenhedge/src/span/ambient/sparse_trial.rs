//! Trials of sparse rows: loading, projecting and storing a point of a span of sparse rows.

use super::sparse::{DENSE_STREAK, LARGEST_COEFFICIENTS, NOTHING, SPARSITY, Sparse, SparseWorking};
use super::{Ambient, HALVED, MovedOrigin, ORTHOGONAL, Place, REPEAT, ROUNDING, Working};
use crate::linalg::{CANCELLED, Cells, Matrix, STREAK, add_multiple};
use crate::num::dot;
use crate::scratch::{refill, zero};
use std::borrow::Cow;

impl Ambient {
    /// Loads a sparse point. Returns its squared norm after centering, or `None` if it must be loaded as a dense point.
    pub(super) fn load_sparse(&mut self, point: &[f64]) -> Option<f64> {
        if self.scratch.0.sparse.shift.is_none() {
            self.scratch.0.sparse.shift = Some(self.shift());
        }
        let Self { columns: dense, sparse: Some(sparse), scratch, .. } = self else { return None };
        let Working { sparse: working, place, .. } = &mut scratch.0;
        let SparseWorking { filled, cells, shift, products, along_origin, square, .. } = working;
        match shift {
            Some(shift) => cells.take_difference(point, filled, shift),
            None => cells.take(point, filled),
        }
        *square = cells.square();
        let fits = square.is_finite() && sparse.columns.sparse.has_room(cells.at.len());
        if !working.is_sparse || !fits {
            return None;
        }
        sparse.columns.times_cells(dense, cells, products);
        *along_origin = dot(&sparse.origin, products);
        let origin_square = dot(&sparse.origin, &sparse.origin_products);
        let centered = *square - 2.0 * *along_origin + origin_square;
        let is_nothing = *square == 0.0 && origin_square == 0.0;
        if !is_nothing && !(centered >= CANCELLED * (*square + origin_square)) {
            return None;
        }
        (*place, working.is_stored) = (Place::Cells, false);
        Some(centered)
    }

    pub(super) fn project_sparse(&mut self, coordinates: &mut Vec<f64>) -> f64 {
        let known = if self.scratch.0.place == Place::Cells { self.project_cells(coordinates) } else { None };
        if let Some(left) = known {
            self.scratch.0.residual_norm = left.sqrt();
        } else {
            self.fill_point();
            self.project_filled(coordinates);
        }
        self.scratch.0.sparse.coordinates.clone_from(coordinates);
        self.scratch.0.residual_norm
    }

    /// Returns the squared norm of a sparse point's residual, or `None` if inner products are too inaccurate.
    fn project_cells(&mut self, coordinates: &mut Vec<f64>) -> Option<f64> {
        let Self { sparse: Some(sparse), scratch, .. } = self else { return None };
        let Working { sparse: working, square: centered, .. } = &mut scratch.0;
        let SparseWorking { products, with_columns, left, coefficients, correction, square, .. } = working;
        let columns = &sparse.columns;
        columns.coordinates(products, with_columns);
        refill(left, products.iter().zip(&sparse.origin_products).map(|(g, h)| g - h));
        columns.coordinates(left, coordinates);
        zero(coefficients, columns.vectors());
        columns.subtract_coefficients(coordinates, coefficients);
        // |z - V x|² = |z|² - x·(Vᵀz) - x·(Vᵀ(z - V x)), where the coefficients are -x.
        let explained = -dot(coefficients, left);
        columns.subtract_products(coordinates, left);
        let mut residual = *centered - explained + dot(coefficients, left);
        if residual < REPEAT * REPEAT * *centered {
            columns.coordinates(left, correction);
            let more = dot(correction, correction);
            if more > ORTHOGONAL * ORTHOGONAL * residual {
                coordinates.iter_mut().zip(&*correction).for_each(|(c, more)| *c += more);
                columns.subtract_coefficients(correction, coefficients);
                columns.subtract_products(correction, left);
                residual -= more;
            }
        }
        // The residual is a sum of parts. Its rounding error is proportional to their size.
        let size_of = |coefficients: &[f64]| -> f64 {
            coefficients.iter().zip(&columns.squares).map(|(x, square)| x * x * square).sum()
        };
        let size = *square + size_of(coefficients) + size_of(&sparse.origin);
        coefficients.iter_mut().zip(&sparse.origin).for_each(|(x, a)| *x -= a);
        if residual > 0.0 && size <= LARGEST_COEFFICIENTS * LARGEST_COEFFICIENTS * residual {
            return Some(residual);
        }
        let is_nothing = residual <= NOTHING * size && size <= LARGEST_COEFFICIENTS * LARGEST_COEFFICIENTS * *centered;
        is_nothing.then_some(0.0)
    }

    fn fill_point(&mut self) {
        let Self { columns: dense, sparse: Some(sparse), scratch, .. } = self else { return };
        let Working { sparse: working, point, place, .. } = &mut scratch.0;
        if *place != Place::Cells {
            return;
        }
        zero(point, dense.rows());
        sparse.add_displacement(dense, -1.0, point);
        working.cells.iter().for_each(|(i, x)| point[i] += x);
        *place = Place::Apart;
    }

    fn project_filled(&mut self, coordinates: &mut Vec<f64>) {
        let Self { columns: dense, sparse: Some(sparse), scratch, .. } = self else { return };
        let Working { sparse: working, point, square, residual_norm, .. } = &mut scratch.0;
        let SparseWorking { products, left, coefficients, correction, residual, is_stored, .. } = working;
        let columns = &sparse.columns;
        *is_stored = false;
        residual.clone_from(point);
        columns.times_dense(dense, residual, left);
        products.clone_from(left);
        columns.coordinates(left, coordinates);
        let mut explain = |coordinates: &[f64], residual: &mut [f64], left: &mut [f64]| {
            zero(coefficients, columns.vectors());
            columns.subtract_coefficients(coordinates, coefficients);
            columns.add_to(dense, coefficients, residual);
            columns.subtract_products(coordinates, left);
            dot(residual, residual)
        };
        let mut rest = explain(coordinates, residual, left);
        if rest < REPEAT * REPEAT * *square {
            let first = rest;
            columns.times_dense(dense, residual, left);
            columns.coordinates(left, correction);
            if dot(correction, correction) > ORTHOGONAL * ORTHOGONAL * first {
                coordinates.iter_mut().zip(&*correction).for_each(|(c, more)| *c += more);
                rest = explain(correction, residual, left);
            }
            if rest < HALVED * HALVED * first {
                rest = 0.0;
            }
        }
        let is_complete = columns.columns() == dense.rows();
        let is_rounding = is_complete || rest <= ROUNDING * ROUNDING * *square;
        *residual_norm = if is_rounding { 0.0 } else { rest.sqrt() };
    }

    fn store_sparse(&mut self) {
        let Self { columns: dense, sparse: Some(sparse), scratch, .. } = self else { return };
        let Working { sparse: working, place, residual_norm, .. } = &mut scratch.0;
        if std::mem::replace(&mut working.is_stored, true) {
            return;
        }
        let SparseWorking { cells, square, with_columns, along_origin, residual, left, correction, .. } = working;
        if *place == Place::Cells {
            sparse.columns.push_sparse(cells, *square, with_columns);
            sparse.origin_products.push(*along_origin);
        } else {
            let factor = 1.0 / *residual_norm;
            residual.iter_mut().for_each(|x| *x *= factor);
            left.iter_mut().for_each(|x| *x *= factor);
            dense.push_column(residual);
            sparse.columns.coordinates(left, correction);
            sparse.columns.push_dense(1.0, correction);
            sparse.origin_products.push(dot(&sparse.origin, left));
        }
        sparse.origin.push(0.0);
    }

    pub(super) fn append_sparse(&mut self) {
        self.store_sparse();
        let Self { sparse: Some(sparse), scratch, .. } = self else { return };
        let Working { sparse: working, place, residual_norm, .. } = &mut scratch.0;
        let SparseWorking { left, coefficients, with_columns, coordinates, square, along_origin, .. } = working;
        if *place == Place::Cells {
            let factor = 1.0 / *residual_norm;
            coefficients.push(1.0);
            // Inner product of the point minus the shift with its residual.
            left.push(*square - *along_origin - dot(coordinates, with_columns));
            coefficients.iter_mut().chain(&mut *left).for_each(|x| *x *= factor);
        } else {
            zero(coefficients, left.len());
            coefficients.push(1.0);
            left.push(1.0);
        }
        sparse.columns.push_column(coefficients, left);
    }

    pub(super) fn shift_sparse(&mut self, step: f64) {
        self.origin.get_or_insert_with(|| MovedOrigin::at(vec![0.0; self.length]));
        let residual_norm = self.scratch.0.residual_norm;
        if self.scratch.0.place == Place::Cells || residual_norm > 0.0 {
            self.store_sparse();
        }
        let Self { sparse: Some(sparse), scratch, .. } = self else { return };
        let Working { sparse: working, place, .. } = &mut scratch.0;
        let SparseWorking { products, coefficients, coordinates, square, along_origin, .. } = working;
        let Sparse { origin, origin_products, columns, .. } = &mut **sparse;
        let Some(last) = columns.vectors().checked_sub(1) else { return };
        if *place == Place::Cells {
            origin_products.iter_mut().zip(products).for_each(|(h, g)| *h += step * (*g - *h));
            origin_products[last] = *along_origin + step * (*square - *along_origin);
            origin.iter_mut().for_each(|a| *a -= step * *a);
            origin[last] = step;
            return;
        }
        add_multiple(origin_products, step, products);
        coordinates.resize(columns.columns(), 0.0);
        zero(coefficients, columns.vectors());
        columns.subtract_coefficients(coordinates, coefficients);
        add_multiple(origin, -step, coefficients);
        if residual_norm > 0.0 {
            origin[last] += step * residual_norm;
            origin_products[last] += step * residual_norm;
        }
    }

    pub(super) fn combine_sparse(&mut self, rotation: &Matrix) {
        let Some(sparse) = &mut self.sparse else { return };
        sparse.columns.combine(rotation);
        sparse.columns.orthonormalise();
        if sparse.is_due(self.length) {
            self.write_out_sparse();
        }
    }
}

impl Ambient {
    /// Returns the maximum number of filled cells of a sparse row, or `None` if rows are too short to be sparse.
    pub(super) fn most_filled(&self) -> Option<usize> {
        let is_long = self.length >= self.scratch.0.sparse.shortest.0 && u32::try_from(self.length).is_ok();
        is_long.then_some(self.length / SPARSITY)
    }

    pub(super) fn current_origin(&self) -> Option<Cow<'_, MovedOrigin>> {
        let origin = self.origin.as_ref()?;
        let Some(sparse) = &self.sparse else { return Some(Cow::Borrowed(origin)) };
        let mut way: Vec<f64> = origin.base.iter().map(|base| -base).collect();
        self.shift().iter().for_each(|(i, shift)| way[i] += shift);
        sparse.add_displacement(&self.columns, 1.0, &mut way);
        Some(Cow::Owned(MovedOrigin { base: origin.base.clone(), way }))
    }

    /// Computes the sparse part of the origin that is subtracted from all points, against cancellation: its largest
    /// cells when the columns were last written out.
    pub(super) fn shift(&self) -> Cells {
        self.origin.as_ref().map_or_else(Cells::default, |origin| Cells::largest_of_sum(&origin.base, &origin.way))
    }

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

    /// Starts the representation with written columns. A nonzero displacement of the origin becomes one more dense
    /// vector.
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
        zero(&mut sparse.origin, dense.columns());
        zero(&mut sparse.origin_products, dense.columns());
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
