//! Rows with missing cells, filled in by the members together.
//!
//! Each member fills in the row from its own directions and center (`Subspace::fill`), and incurs the loss of the observed
//! cells. The learned row is a combination of these rows (`fill_errors`).

use super::Portfolio;
use super::fill_errors::{Filling, combination};
use crate::span::Ambient;
use crate::subspace::Scales;

impl Portfolio<Ambient> {
    /// Sets the center of a column to its first observed cell.
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.members.iter_mut().for_each(|member| member.begin_column(column, value));
    }

    /// Returns the value in one column of the row at which the center began.
    pub(crate) fn first_value(&self, column: usize) -> f64 {
        self.members.first().map_or(0.0, |member| member.first_value(column))
    }

    /// Fills in the missing cells of the row, and prepares its trial. The caller then runs the trial or
    /// cancels it.
    pub(crate) fn fill(&mut self, row: &[f64], scales: Scales, filled: &mut Vec<f64>) {
        let Filling { working, own, rows, errors, products, normal, weights, losses } = &mut self.scratch.0.filling;
        let count = self.members.len();
        rows.resize(row.len(), count);
        errors.resize(row.len(), count);
        losses.clear();
        for (i, member) in self.members.iter_mut().enumerate() {
            // A single member has weight 1 for any errors.
            let place = (count > 1).then(|| errors.column_mut(i));
            losses.push(member.fill(row, scales, working, own, place));
            rows.column_mut(i).copy_from_slice(own);
        }
        self.fill_errors.with_row(errors, products);
        combination(products, normal, weights);
        filled.clear();
        let cell = |(j, x): (usize, &f64)| match x.is_nan() {
            true => weights.iter().enumerate().map(|(i, weight)| weight * rows.column(i)[j]).sum(),
            false => *x,
        };
        filled.extend(row.iter().enumerate().map(cell));
    }

    /// Cancels the prepared trial.
    pub(crate) fn cancel_fill(&mut self) {
        self.scratch.0.filling.losses.clear();
    }
}
