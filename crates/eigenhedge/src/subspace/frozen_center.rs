//! Trials with several rows around one center, which moves after them.
//!
//! Setting: rows x of a batch and the center m of the previous rows. The instance is the scatter matrix `Σ (x - m)(x - m)ᵀ`.
//!
//! Update: that of one trial with this instance. A rule that forgets multiplies the previous rows by its factor once for each
//! row of the batch, and weighs the rows of the batch equally. Then the center moves as after the rows one by one. A learned center learns its coefficients from
//! these rows with the directions after the batch.
//!
//! Guarantee: none. Without a center, the bounds hold with the largest eigenvalue of the instance in place of the squared norm
//! of a row.
//!
//! Cost: matrix products of the rows, and two decompositions.

use super::{AnyRule, Instance, Subspace, Symmetric};
use crate::error::Error;
use crate::learner::{Learner, Loss};
use crate::linalg::{Matrix, add_lower_product};
use crate::row::check_row;
use crate::span::Ambient;

#[derive(Debug)]
pub(crate) struct Frozen {
    rows: u64,
    scatter: Symmetric,
    /// Displacement of the center after the batch, and the weight of its rows.
    way: Vec<f64>,
    center_weight: f64,
}

impl Subspace<Ambient, AnyRule> {
    /// Returns the rows relative to the center, if they are valid. The learned state stays.
    pub(crate) fn freeze(&mut self, rows: &[&[f64]]) -> Result<Frozen, Error> {
        let length = self.span.length();
        let mut centered = Matrix::zeros(length, rows.len());
        let forget = self.options.center.map_or(1.0, |center| center.forget);
        let (mut way, mut center_weight) = (vec![0.0; length], self.center_weight);
        for (j, row) in rows.iter().enumerate() {
            check_row("row", row, length).map_err(|error| error.at(j))?;
            let deviation = self.span.measured_from_origin(row);
            center_weight = forget * center_weight + 1.0;
            way.iter_mut().zip(&deviation).for_each(|(way, x)| *way = forget * *way + x);
            centered.column_mut(j).copy_from_slice(&deviation);
        }
        way.iter_mut().for_each(|x| *x /= center_weight);
        let mut scatter = Matrix::zeros(length, length);
        add_lower_product(&mut scatter, centered.view(), centered.view().transpose());
        scatter.mirror();
        let frozen = Frozen { rows: rows.len() as u64, scatter: Symmetric::new(&scatter)?, way, center_weight };
        self.around_center(|own| own.check(&Instance::Dyads(&frozen.scatter.dyads())))?;
        Ok(frozen)
    }

    pub(crate) fn incur_frozen(&mut self, frozen: &Frozen) -> Loss {
        self.around_center(|own| own.incur(&Instance::Dyads(&frozen.scatter.dyads())))
    }

    pub(crate) fn learn_frozen(&mut self, frozen: &Frozen) {
        self.scratch.0.observed.rows = i32::try_from(frozen.rows).unwrap_or(i32::MAX);
        self.around_center(|own| own.update(&Instance::Dyads(&frozen.scatter.dyads())));
        self.scratch.0.observed.rows = 1;
        self.trials += frozen.rows - 1;
        if !self.options.center.is_some_and(|center| center.learned) {
            self.center_weight = frozen.center_weight;
            self.span.move_origin(&frozen.way);
        }
    }

    /// Calls `work` in coordinates around the center, which stays.
    fn around_center<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (center, origin) = (self.options.center.take(), self.span.take_origin());
        let outcome = work(self);
        self.options.center = center;
        self.span.restore_origin(origin);
        outcome
    }
}
