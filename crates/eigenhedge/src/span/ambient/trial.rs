//! Trial over a span of plain vectors: loading and projection of a point, new columns, maintenance.

use super::{
    Ambient, LARGEST_COEFFICIENTS, LEAST_STANDARD, LOOK_EVERY, MovedOrigin, PointPlace, REPEAT, SHORTEST_BLOCK,
    SourceMove, Sources, TOLERABLE_DRIFT, Working,
};
use crate::error::Error;
use crate::linalg::{Incoming, Matrix, WINDOW, filled_cells};
use crate::num::dot;
use crate::row::check_row;
use crate::scratch::{Fresh, refill, zero};
use crate::simplex::Multiplicity;
use crate::span::{MAX_PENDING_COLUMNS, Span};

impl Span for Ambient {
    type Point = [f64];

    fn dimension(&self) -> Multiplicity {
        self.dimension
    }

    fn columns(&self) -> usize {
        self.sparse.as_ref().map_or(self.columns.columns(), |sparse| sparse.columns.columns())
    }

    fn load_point(&mut self, point: &[f64]) -> Result<f64, Error> {
        let is_announced = std::mem::take(&mut self.scratch.0.sparse.is_announced);
        if point.len() != self.length {
            check_row("row", point, self.length)?;
        }
        if let (false, Some(most)) = (is_announced, self.most_filled()) {
            let working = &mut self.scratch.0.sparse;
            working.is_sparse = filled_cells(point, most, &mut working.filled);
        }
        self.load(point)
    }

    fn announce_filled(&mut self, filled: Option<&[u32]>) {
        self.scratch.0.sparse.is_announced = false;
        let (Some(filled), Some(most)) = (filled, self.most_filled()) else { return };
        let working = &mut self.scratch.0.sparse;
        (working.is_announced, working.is_sparse) = (true, filled.len() <= most);
        refill(&mut working.filled, if working.is_sparse { filled } else { &[] });
    }

    fn filled(&self) -> Option<&[u32]> {
        let working = &self.scratch.0.sparse;
        working.is_sparse.then_some(&working.filled[..])
    }

    fn load_point_from(&mut self, point: &[f64], other: &Self) -> Result<f64, Error> {
        let (own, theirs) = (&mut self.scratch.0.sparse, &other.scratch.0.sparse);
        own.is_sparse = theirs.is_sparse;
        if own.is_sparse {
            own.filled.clone_from(&theirs.filled);
        }
        self.load(point)
    }

    fn unit(&self) -> f64 {
        self.scratch.0.unit.unwrap_or(1.0)
    }

    fn prefetch<'a>(&mut self, points: &mut dyn Iterator<Item = &'a [f64]>, step: Option<&dyn Fn(usize) -> f64>)
    where
        [f64]: 'a,
    {
        let stores_points = self.stores_points() && self.sparse.is_none();
        let Working { block: Fresh(block), combined, last_wait, .. } = &mut self.scratch.0;
        let mut points = points.peekable();
        if points.peek().is_none() {
            return block.clear();
        }
        if !stores_points || block.left() > 0 {
            return;
        }
        // The next combination of columns cancels the block. It is expected after as many new columns as the last time.
        let waited = self.columns.columns().saturating_sub(*combined);
        let most = last_wait.map_or(WINDOW, |last| last.saturating_sub(waited).clamp(SHORTEST_BLOCK, WINDOW));
        let (mut fitting, mut steps, mut count) = ([&[][..]; WINDOW], [0.0; WINDOW], 0);
        for point in points.take(most).take_while(|point| point.len() == self.length) {
            fitting[count] = point;
            steps[count] = step.map_or(0.0, |step| step(count));
            count += 1;
        }
        block.clear();
        if count > 1 {
            let steps = if step.is_some() { &steps[..count] } else { &[] };
            let source =
                Incoming { points: &fitting[..count], origin: self.origin.as_ref().map(MovedOrigin::parts), steps };
            self.columns.take_in(&source, true, &mut block.intake);
            block.begin(count, self.columns.columns());
        }
    }

    fn transfer(&mut self, from: &mut Self, combinations: &Matrix, out: &mut Matrix) {
        let Working { vector, correction, .. } = &mut self.scratch.0;
        let (mut vector, mut coordinates) = (std::mem::take(vector), std::mem::take(correction));
        out.resize(self.columns(), combinations.columns());
        for j in 0..combinations.columns() {
            zero(&mut vector, self.length);
            from.subtract(combinations.column(j), &mut vector);
            self.coordinates_of(&vector, &mut coordinates);
            out.column_mut(j).iter_mut().zip(&coordinates).for_each(|(entry, c)| *entry = -c);
        }
        (self.scratch.0.vector, self.scratch.0.correction) = (vector, coordinates);
    }

    fn way_from_origin_of(&mut self, other: &Self, way: &mut Vec<f64>) {
        let mut vector = std::mem::take(&mut self.scratch.0.vector);
        zero(&mut vector, self.length);
        for (origin, sign) in [(self.current_origin(), 1.0), (other.current_origin(), -1.0)] {
            let Some(MovedOrigin { base, way }) = origin.as_deref() else { continue };
            vector.iter_mut().zip(base.iter().zip(way)).for_each(|(v, (b, w))| *v += sign * (b + w));
        }
        self.coordinates_of(&vector, way);
        self.scratch.0.vector = vector;
    }

    fn max_pending_columns(&self) -> usize {
        if self.stores_points() { WINDOW } else { MAX_PENDING_COLUMNS }
    }

    fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        dot(a, b)
    }

    fn project(&mut self, coordinates: &mut Vec<f64>) -> f64 {
        if self.sparse.is_some() {
            return self.project_sparse(coordinates);
        }
        if self.standard {
            coordinates.clone_from(&self.scratch.0.point);
            self.scratch.0.residual_norm = 0.0;
            return 0.0;
        }
        let Working {
            point, place, square, products, residual_norm, explained, refinement, block: Fresh(block), ..
        } = &mut self.scratch.0;
        match (&place, block.present()) {
            (PointPlace::Behind, Some(present)) => block.products(present, coordinates),
            (PointPlace::Behind, None) => self.columns.transpose_times_spare(coordinates),
            _ => self.columns.transpose_times(point, coordinates),
        }
        self.deferred.scale(coordinates);
        if *place == PointPlace::Behind {
            products.clone_from(coordinates);
        }
        self.deferred.resolve(coordinates);
        self.deferred.expand(coordinates, explained);
        *residual_norm = 0.0;
        if *place == PointPlace::Behind {
            let mut left = *square - dot(coordinates, coordinates);
            if left < REPEAT * REPEAT * *square && self.deferred.columns() > 0 {
                left = self.deferred.refine(products, *square, coordinates, explained, refinement);
            }
            let coefficients = *square + dot(explained, explained);
            if left > 0.0 && coefficients <= LARGEST_COEFFICIENTS * LARGEST_COEFFICIENTS * left {
                *residual_norm = left.sqrt();
                return *residual_norm;
            }
            self.columns.spare().clone_into(point);
            *place = PointPlace::Apart;
        }
        self.subtract_explained(coordinates);
        self.scratch.0.residual_norm
    }

    fn append_residual(&mut self, _: &[f64]) -> f64 {
        if self.sparse.is_some() {
            self.append_sparse();
            return self.scratch.0.residual_norm;
        }
        let Working { place, square, residual_norm, explained, products, block: Fresh(block), correction, .. } =
            &mut self.scratch.0;
        if *place == PointPlace::Behind {
            self.columns.adopt_spare();
            self.deferred.push(explained, products, square.sqrt(), *residual_norm);
            block.store_present();
            *place = PointPlace::Stored;
        } else {
            self.columns.adopt_spare_scaled(1.0 / *residual_norm);
            self.deferred.push_whole(self.columns.columns());
            if let Some(distance) = block.distance(self.columns.columns()) {
                self.columns.last_times_spares(distance, block.left(), correction);
                block.store_other(correction);
            }
        }
        *residual_norm
    }

    fn combine(&mut self, rotation: &Matrix) {
        self.standard = false;
        if self.sparse.is_some() {
            self.combinations += 1;
            return self.combine_sparse(rotation);
        }
        let Working { product, expanded, block: Fresh(block), combined, last_wait, .. } = &mut self.scratch.0;
        *last_wait = Some(self.columns.columns().saturating_sub(*combined));
        *combined = rotation.columns();
        block.clear();
        if self.deferred.columns() == 0 {
            self.columns.combine(rotation, product);
        } else {
            self.deferred.expand_all(rotation, expanded);
            self.columns.combine(expanded, product);
        }
        self.combinations += 1;
        if self.stores_points() {
            self.measure();
        } else {
            self.deferred.clear();
            if self.combinations.is_multiple_of(LOOK_EVERY) && self.columns.drift() > TOLERABLE_DRIFT {
                self.columns.orthonormalise();
            }
        }
        self.renew_sources();
    }

    fn heal(&mut self) {
        self.leave_sparse();
        let columns = self.columns.columns();
        self.combine(&Matrix::identity(columns));
        self.columns.orthonormalise();
        self.deferred.clear();
        self.renew_sources();
    }

    fn shift_origin(&mut self, step: f64) {
        let step = step * self.unit();
        if self.sparse.is_some() {
            return self.shift_sparse(step);
        }
        let mut origin = self.origin.take().unwrap_or_else(|| MovedOrigin::at(vec![0.0; self.length]));
        origin.way.iter_mut().zip(self.loaded_point()).for_each(|(m, z)| *m += step * z);
        self.origin = Some(origin);
    }

    fn learn_origin(&mut self) -> Result<(), Error> {
        self.sources = Some(Box::new(Sources::new(self.length)));
        Ok(())
    }

    fn sources(&self) -> Option<&Sources> {
        self.sources.as_deref()
    }

    fn project_sources(&mut self, columns: &[f64], unit: f64) {
        self.project_on_sources(columns, unit);
    }

    fn move_sources(&mut self, change: &SourceMove, columns: &[f64], unit: f64) {
        self.move_along_sources(change, columns, unit);
    }

    fn begin_at(&mut self, point: &[f64]) {
        self.forget_origin();
        self.origin = Some(MovedOrigin::at(point.to_vec()));
    }

    fn end_trial(&mut self) -> Option<&Matrix> {
        self.end_sparse_trial();
        let is_complete = self.sparse.is_none() && self.columns.columns() == self.length;
        if !is_complete || self.standard || self.length < LEAST_STANDARD {
            return None;
        }
        let columns = self.complete();
        self.scratch.0.expanded.transpose_of(&columns);
        self.renew_sources();
        Some(&self.scratch.0.expanded)
    }

    fn drift(&self) -> f64 {
        self.vectors().drift()
    }
}
