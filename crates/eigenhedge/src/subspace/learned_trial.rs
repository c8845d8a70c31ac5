//! Trials of a learner with a learned center: coordinates of the sources in the directions, and moves of the center.

use super::Subspace;
use super::center::{EXPLAINED, Working};
use crate::num::exp;
use crate::scratch::refill;
use crate::span::{Ambient, SOURCES, SourceMove, Span};
use crate::state::LARGEST;

impl<S: Span> Subspace<S> {
    pub(super) fn observe_sources(&mut self) {
        let Some(learned) = self.learned.as_mut().filter(|_| self.options.center.is_some()) else { return };
        self.span.project_sources(&self.scratch.0.columns, self.scratch.0.observed.unit_square.sqrt());
        let Some(sources) = self.span.sources() else { return };
        let directions = self.rule.directions_mut();
        for (j, along) in learned.scratch.0.along.iter_mut().enumerate() {
            directions.coordinates_of(sources.coordinates(j), along);
        }
    }

    /// Adds the current point to the regression of the center, and returns the change of the center.
    pub(super) fn learn_coefficients(&mut self, is_last: bool) -> Option<SourceMove> {
        let learned = self.learned.as_mut().filter(|_| self.options.center.is_some())?;
        let (sources, before) = (self.span.sources()?, learned.coefficients);
        let (with_row, square) = sources.with_row(&before);
        let Working { along, row, excess, .. } = &mut learned.scratch.0;
        let common = self.rule.complement().log_weight.exp();
        let (whole, factor) = (EXPLAINED + (1.0 - EXPLAINED) * common, 1.0 - EXPLAINED);
        refill(excess, self.scratch.0.dropped.iter().map(|dropped| factor * (common - dropped)));
        let scale = self.scratch.0.observed.unit_square.sqrt();
        refill(row, self.rule.directions().coordinates().iter().map(|a| scale * a));
        for (b, along) in before.iter().zip(&*along) {
            row.iter_mut().zip(along).for_each(|(a, more)| *a += b * more);
        }
        let lost = |product: f64, a: &[f64], b: &[f64]| {
            let kept: f64 = a.iter().zip(b).zip(&*excess).map(|((a, b), excess)| excess * a * b).sum();
            whole * product - kept
        };
        let mut gram = [[0.0; SOURCES]; SOURCES];
        for i in 0..SOURCES {
            for j in 0..=i {
                gram[i][j] = lost(sources.gram[i][j], &along[i], &along[j]);
                gram[j][i] = gram[i][j];
            }
        }
        let moments = std::array::from_fn(|j| lost(with_row[j], &along[j], row));
        let mean_size = (0..SOURCES).map(|j| gram[j][j]).sum::<f64>() / SOURCES as f64;
        let size = lost(square, row, row).max(mean_size).clamp(0.0, LARGEST);
        let own = self.scratch.0.row_weight;
        learned.add(&gram, &moments, size, own);
        if is_last {
            learned.solve();
        }
        let shortening = learned.shorten(square.sqrt().min(LARGEST), self.options.clip);
        let (steps, mean_step) = (learned.steps(own), own / (self.center_weight + own));
        Some(SourceMove { shortening, mean_step, steps, before, after: learned.coefficients })
    }
}

impl Subspace<Ambient> {
    /// Moves a learned center along the rows of a batch after it was learned. The sums of the regression do not depend
    /// on the coefficients, so they are computed after the last row.
    pub(crate) fn advance_learned_center(&mut self, rows: &[&[f64]]) {
        if self.learned.is_none() {
            return;
        }
        let square = self.scratch.0.square;
        self.span.renew_sources();
        self.rule.log_weights().clone_into(&mut self.scratch.0.dropped);
        exp(&mut self.scratch.0.dropped);
        for (i, row) in rows.iter().enumerate() {
            let Ok(square) = self.or_negligible(|span| span.load_point(row)) else { continue };
            self.scratch.0.row_weight = 1.0;
            self.admit(square);
            self.project(row, square);
            let to_unit = self.to_unit();
            self.scratch.0.columns.iter_mut().for_each(|c| *c *= to_unit);
            self.observe_sources();
            self.observe();
            let change = self.learn_coefficients(i + 1 == rows.len());
            self.move_center(1.0, change);
        }
        self.scratch.0.square = square;
    }
}
