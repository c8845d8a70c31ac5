//! Rows with missing cells: the members fill them in together.
//!
//! Each member fills the row in by its own directions and center (`Subspace::fill`), and is charged for the cells that were
//! seen. What is learned is a mean of these rows, weighted by one over the squares of the members' losses: their errors
//! cancel in part, so that this is better than the row of the heaviest member, and than the mean by the weights that are
//! played.

use super::Portfolio;
use super::hedge::smallest;
use crate::span::Ambient;
use crate::subspace::{Fill, Scales};

/// Working space.
#[derive(Debug, Clone, Default)]
pub(super) struct Filling {
    working: Fill,
    own: Vec<f64>,
    /// Loss of each member on the cells that were seen; empty for a complete row.
    pub losses: Vec<f64>,
}

impl Portfolio<Ambient> {
    /// Fixes the center of a column that no row has had a cell of before.
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.members.iter_mut().for_each(|member| member.begin_column(column, value));
    }

    /// Fills the missing cells of the row in, and prepares the trial of that row, which comes next or is cancelled.
    pub(crate) fn fill(&mut self, row: &[f64], scales: Scales, filled: &mut Vec<f64>) {
        let Filling { working, own, losses } = &mut self.scratch.0.filling;
        let least = smallest(&self.totals);
        let share = |total: &f64| if *total > least { (least / total).powi(2) } else { 1.0 };
        let all: f64 = self.totals.iter().map(share).sum();
        losses.clear();
        filled.clear();
        filled.extend(row.iter().map(|x| if x.is_nan() { 0.0 } else { *x }));
        for (member, total) in self.members.iter_mut().zip(&self.totals) {
            losses.push(member.fill(row, scales, working, own));
            let missing = filled.iter_mut().zip(&*own).zip(row).filter(|(_, x)| x.is_nan());
            missing.for_each(|((cell, own), _)| *cell += share(total) / all * own);
        }
    }

    /// The trial that was prepared does not come.
    pub(crate) fn cancel_fill(&mut self) {
        self.scratch.0.filling.losses.clear();
    }
}
