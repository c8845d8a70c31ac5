//! Reconstruction of a row: its projection on the subspace drawn for it, in the units of the row.

use super::{Subspace, Working};
use crate::num::dot;
use crate::scratch::refill;
use crate::span::{Ambient, Span};

/// Share of its length below which the remainder of a vector is rounding error.
const ROUNDING: f64 = 1e-10;

impl Subspace<Ambient> {
    /// Projects the row on the subspace drawn for it, between loss and update, in O(n w + w u). The kept directions of
    /// the complement are determined only as far as the row requires: let r be the part of the row in the complement
    /// and s the share of `|r|²` that they explain. The projection of r on them is `s r + √(s(1-s)) |r| g`, where g is
    /// uniform among the unit vectors of the complement orthogonal to r, from the generator of the choice.
    pub(crate) fn reconstruct(&mut self, row: &[f64], out: &mut Vec<f64>) {
        let Working { choice, order, directions, kept_coordinates, observed, .. } = &mut self.scratch.0;
        let unit = observed.unit_square.sqrt();
        let explicit = choice.marks.len();
        refill(order, 0..explicit);
        self.rule.directions_mut().select(order, directions);
        directions.resize(self.span.columns(), explicit);
        let (mut all, mut dropped) = (vec![0.0; self.span.columns()], vec![0.0; self.span.columns()]);
        for i in 0..explicit {
            let (coordinate, direction) = (unit * self.rule.directions().coordinates()[i], directions.column(i));
            let add = |sum: &mut Vec<f64>| sum.iter_mut().zip(direction).for_each(|(s, d)| *s += coordinate * d);
            add(&mut all);
            if !choice.marks[i] {
                add(&mut dropped);
            }
        }
        let beyond = &kept_coordinates[choice.kept.len().min(kept_coordinates.len())..];
        let explained = dot(beyond, beyond);
        let mut outside = self.span.measured_from_origin(row);
        self.span.subtract(&all, &mut outside);
        let square = dot(&outside, &outside);
        // The lost part is subtracted, so that the squared distance from the row equals the loss up to rounding.
        let share = if square > 0.0 { (explained / square).min(1.0) } else { 0.0 };
        let mut lost: Vec<f64> = outside.iter().map(|r| -(1.0 - share) * r).collect();
        let length = (share * (1.0 - share) * square).sqrt();
        if length > 0.0
            && let Some(across) = self.across(&outside)
        {
            lost.iter_mut().zip(&across).for_each(|(l, g)| *l += length * g);
        }
        self.span.subtract(&dropped, &mut lost);
        refill(out, row.iter().zip(&lost).map(|(x, l)| x + l));
    }

    fn across(&mut self, outside: &[f64]) -> Option<Vec<f64>> {
        let mut vector = self.scratch.0.choice.normals(outside.len())?;
        let (size, norm) = (dot(&vector, &vector).sqrt(), dot(outside, outside).sqrt());
        let (mut columns, mut coordinates) = (Vec::new(), Vec::new());
        let directions = &self.scratch.0.directions;
        for _ in 0..2 {
            self.span.coordinates_of(&vector, &mut columns);
            directions.transpose_times(&columns, &mut coordinates);
            columns.fill(0.0);
            coordinates.iter_mut().for_each(|c| *c = -*c);
            directions.subtract_times(&coordinates, &mut columns);
            self.span.subtract(&columns, &mut vector);
            let overlap = dot(&vector, outside) / (norm * norm);
            vector.iter_mut().zip(outside).for_each(|(v, r)| *v -= overlap * r);
        }
        let left = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|v| *v /= left);
        (left > ROUNDING * size).then_some(vector)
    }
}
