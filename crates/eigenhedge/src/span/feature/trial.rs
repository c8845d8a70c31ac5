//! Trial over a span of kernel features: loading and projection of a point, new columns, maintenance.

use super::accuracy::{self, size};
use super::{CERTAIN, DOUBTFUL, Feature, FeatureOrigin, KNOWN, REPEAT, ROUNDINGS, Working};
use crate::error::Error;
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, multiply};
use crate::num::dot;
use crate::simplex::Multiplicity;
use crate::span::Span;

impl<D: Dictionary> Span for Feature<D> {
    type Point = D::Point;

    fn dimension(&self) -> Multiplicity {
        self.dimension
    }

    fn columns(&self) -> usize {
        self.coefficients.columns()
    }

    fn load_point(&mut self, point: &D::Point) -> Result<f64, Error> {
        let Working { row, own, longest, .. } = &mut self.scratch.0;
        *own = self.dictionary.row(point, row)?;
        *longest = 0.0;
        if *own < f64::MIN_POSITIVE {
            *longest = self.dictionary.largest_entry(point);
            *own = 0.0;
            row.fill(0.0);
        }
        self.move_to_origin()
    }

    fn rounding(&self) -> f64 {
        let Working { own, coordinates, .. } = &self.scratch.0;
        let square = |atom| self.dictionary.value_between(atom, &self.dictionary, atom);
        let squares: Vec<f64> = (0..self.dictionary.len()).map(square).collect();
        let columns = coordinates.iter().enumerate();
        let of_columns: f64 = columns.map(|(j, c)| c * c * size(self.coefficients.column(j), &squares)).sum();
        let of_origin = self.origin.as_ref().map_or(0.0, |origin| {
            let lengths = origin.coefficients.iter().zip(&squares).map(|(m, square)| m.abs() * square.sqrt());
            (own.sqrt() + lengths.sum::<f64>()).powi(2)
        });
        ROUNDINGS * f64::EPSILON * (of_columns + of_origin)
    }

    fn load_point_from(&mut self, point: &D::Point, other: &Self) -> Result<f64, Error> {
        if (self.lineage, self.trials) != (other.lineage, other.trials) {
            return self.load_point(point);
        }
        let Working { row, own, longest, .. } = &mut self.scratch.0;
        row.clone_from(&other.scratch.0.row);
        (*own, *longest) = (other.scratch.0.own, other.scratch.0.longest);
        self.move_to_origin()
    }

    fn inner(&self, a: &D::Point, b: &D::Point) -> f64 {
        self.dictionary.value(a, b)
    }

    fn transfer(&mut self, from: &mut Self, combinations: &Matrix, out: &mut Matrix) {
        let product = &mut from.scratch.0.product;
        multiply(product, from.coefficients.view(), combinations.view());
        if (self.lineage, self.trials) == (from.lineage, from.trials) {
            return multiply(out, self.images.view().transpose(), product.view());
        }
        let images = &mut self.scratch.0.parts;
        images.reset(self.dictionary.len(), combinations.columns());
        for atom in 0..from.dictionary.len() {
            for own in 0..self.dictionary.len() {
                let value = self.dictionary.value_between(own, &from.dictionary, atom);
                (0..images.columns()).for_each(|j| images.column_mut(j)[own] += value * product.column(j)[atom]);
            }
        }
        multiply(out, self.coefficients.view().transpose(), images.view());
    }

    fn project(&mut self, coordinates: &mut Vec<f64>) -> f64 {
        let Working { moved, square, residual, correction, residual_square, coordinates: remembered, .. } =
            &mut self.scratch.0;
        self.coefficients.transpose_times(moved, coordinates);
        residual.clone_from(moved);
        self.images.subtract_times(coordinates, residual);
        let mut left = *square - dot(coordinates, coordinates);
        if left < REPEAT * REPEAT * *square {
            self.coefficients.transpose_times(residual, correction);
            self.images.subtract_times(correction, residual);
            coordinates.iter_mut().zip(correction).for_each(|(c, more)| *c += *more);
            left = *square - dot(coordinates, coordinates);
        }
        let complete = self.dimension == Multiplicity::Finite(coordinates.len() as u64);
        *residual_square = if complete { 0.0 } else { left.max(0.0) };
        remembered.clone_from(coordinates);
        residual_square.sqrt()
    }

    fn append_residual(&mut self, point: &D::Point) -> f64 {
        self.expand_residual();
        self.know_squares();
        let Working { row, own, square, expansion, residual, residual_square, .. } = &mut self.scratch.0;
        let carrier = self.budget.as_ref().and_then(|budget| budget.carrier(row, *own, &self.squares.0));
        if let Some((atom, factor)) = carrier {
            return self.push_carried(atom, factor);
        }
        let (own, residual_square) = (*own, *residual_square);
        let energy = *square + self.origin.as_ref().map_or(0.0, |origin| origin.square);
        // ⟨residual, φ(x)⟩ = k(x, x) - (μ + A c)·κ
        let own_overlap = own + dot(expansion, row);
        // If the atoms nearly span the space, both squared norms are rounding errors.
        let same = dot(expansion, residual) + own_overlap;
        let Some((size, error)) = self.resolve(own, residual_square) else { return 0.0 };
        let difference = (same - residual_square).abs();
        self.scratch.0.wants_refresh |= difference > (CERTAIN * (size + energy)).max(KNOWN * residual_square);
        if !(difference <= DOUBTFUL * residual_square) {
            return 0.0;
        }
        let Working { expansion, residual, .. } = &mut self.scratch.0;
        residual.push(own_overlap);
        expansion.push(1.0);
        self.push_atom(point);
        self.push_column(same.sqrt(), size, error);
        residual_square.sqrt()
    }

    fn loses_residuals(&self) -> bool {
        self.budget.is_some()
    }

    fn heal(&mut self) {
        if self.may_refresh() {
            self.refresh();
            if self.orthonormalise(false) {
                // Columns must be removed, but not before the trial ends.
                self.stale = usize::MAX;
            }
        }
    }

    fn combine(&mut self, rotation: &Matrix) {
        self.transform(rotation);
        self.scratch.0.combined = true;
    }

    fn shift_origin(&mut self, step: f64) {
        let atoms = self.dictionary.len();
        let Working { row, own, coordinates, expansion, is_atom, .. } = &mut self.scratch.0;
        let origin = self.origin.get_or_insert_with(|| FeatureOrigin {
            coefficients: vec![0.0; atoms],
            image: vec![0.0; atoms],
            square: 0.0,
            error: 0.0,
        });
        if *is_atom {
            // The origin becomes m ← (1 - s) m + s φ(x), where x is the last atom.
            let overlap = dot(&origin.coefficients[..atoms - 1], row);
            let stay = 1.0 - step;
            origin.square = stay * stay * origin.square + 2.0 * step * stay * overlap + step * step * *own;
            origin.coefficients.iter_mut().for_each(|m| *m *= stay);
            origin.coefficients[atoms - 1] += step;
            for (image, kernel) in origin.image.iter_mut().zip(row.iter().chain(std::iter::once(&*own))) {
                *image = stay * *image + step * kernel;
            }
            // The squared norm is negative for some combinations if the kernel is not positive definite.
            let square = origin.square.abs() + step * step * *own;
            origin.error = stay * stay * origin.error + accuracy::ROUNDING * square;
        } else {
            // The origin becomes m ← m + s Φ A c. Only the part of the point in the columns is used.
            coordinates.resize(self.coefficients.columns(), 0.0);
            coordinates.iter_mut().for_each(|c| *c *= -step);
            origin.error += self.accuracy.of_residual(coordinates, 0.0).0;
            expansion.clone_from(&origin.coefficients);
            self.coefficients.subtract_times(coordinates, expansion);
            origin.coefficients.clone_from(expansion);
            self.images.subtract_times(coordinates, &mut origin.image);
            origin.square = dot(&origin.coefficients, &origin.image);
        }
    }

    fn begin_at(&mut self, point: &D::Point) {
        let own = self.scratch.0.own;
        if own > 0.0 {
            self.scratch.0.coordinates.clear();
            self.push_atom(point);
        }
        let atoms = self.dictionary.len();
        let mut origin = FeatureOrigin {
            coefficients: vec![0.0; atoms],
            image: self.scratch.0.row.clone(),
            square: own,
            error: 0.0,
        };
        origin.image.resize(atoms, own);
        if own > 0.0 {
            origin.coefficients[atoms - 1] = 1.0;
        }
        self.origin = Some(origin);
    }

    fn drift(&self) -> f64 {
        let mut largest = 0f64;
        for j in 0..self.coefficients.columns() {
            for i in 0..=j {
                let target = f64::from(u8::from(i == j));
                largest = largest.max((dot(self.coefficients.column(i), self.images.column(j)) - target).abs());
            }
        }
        largest
    }

    fn budget_error(&self) -> f64 {
        self.budget.as_ref().map_or(0.0, |budget| budget.error)
    }

    fn over_budget(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| self.dictionary.len() > budget.atoms)
    }

    fn evict(&mut self, directions: &Matrix, importance: &[f64]) -> Option<&Matrix> {
        self.shrink(directions, importance).then_some(&self.scratch.0.rotation)
    }

    fn end_trial(&mut self) -> Option<&Matrix> {
        self.trials += 1;
        self.stale = self.stale.saturating_add(1);
        let wanted = std::mem::take(&mut self.scratch.0.wants_refresh) && self.may_refresh();
        let due = wanted || self.stale > self.dictionary.len().max(64);
        if due {
            self.refresh();
        }
        let combined = std::mem::take(&mut self.scratch.0.combined);
        let lost = (due || combined) && self.remove_drift();
        lost.then_some(&self.scratch.0.rotation)
    }
}
