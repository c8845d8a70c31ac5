//! Rows with missing cells: the directions of the learner fill them in, and the loss covers the observed cells.

use super::Subspace;
use crate::impute::{Imputation, ridge};
use crate::linalg::Matrix;
use crate::num::kept;
use crate::scratch::refill;
use crate::span::{Ambient, Span};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scales {
    pub noise: f64,
    /// Mean energy of a row along a kept direction, for rules that do not know it for each direction.
    pub signal: f64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Fill {
    imputation: Imputation,
    order: Vec<usize>,
    probabilities: Vec<f64>,
    ridges: Vec<f64>,
    directions: Matrix,
    basis: Matrix,
    expanded: Matrix,
    deviation: Vec<f64>,
    given: Vec<f64>,
    coordinates: Vec<f64>,
}

/// Number of directions used beyond `2k`: those that are not kept also contain information.
const MORE: usize = 8;

impl Subspace<Ambient> {
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.span.begin_column(column, value);
    }

    pub(crate) fn first_value(&self, column: usize) -> f64 {
        self.span.first_value(column)
    }

    fn energy(&self, i: usize, scales: Scales) -> f64 {
        let known = self.rule.mean_energy(i, self.trials);
        known.unwrap_or_else(|| kept(self.rule.log_weights()[i]) * scales.signal)
    }

    pub(crate) fn direction_ridges(&mut self, scales: Scales) -> Vec<f64> {
        self.gather_directions(usize::MAX);
        self.scratch.0.order.iter().map(|i| ridge(scales.noise, self.energy(*i, scales))).collect()
    }

    fn gather(&mut self, scales: Scales, working: &mut Fill) {
        let Fill { order, probabilities, ridges, directions, basis, expanded, .. } = working;
        let weights = self.rule.log_weights();
        refill(order, (0..weights.len()).filter(|i| self.energy(*i, scales) > 0.0));
        let energy = |i: usize| self.energy(i, scales);
        order.sort_unstable_by(|a, b| {
            weights[*a].total_cmp(&weights[*b]).then(energy(*b).total_cmp(&energy(*a))).then(a.cmp(b))
        });
        order.truncate(2 * self.kept + MORE);
        refill(probabilities, order.iter().map(|i| kept(weights[*i])));
        refill(ridges, order.iter().map(|i| ridge(scales.noise, energy(*i))));
        self.rule.directions_mut().select(order, directions);
        directions.resize(self.span.columns(), order.len());
        self.span.write_directions(directions, expanded, basis);
    }

    /// Fills in the row, and computes the leave-one-out errors of the observed cells and the variances of all cells in
    /// units of the noise ([`Imputation::errors_without`]). Returns the expected loss of the observed cells as if
    /// directions were chosen independently, which is exact if the choice is certain or no cell is missing.
    pub(crate) fn fill(
        &mut self,
        row: &[f64],
        scales: Scales,
        working: &mut Fill,
        filled: &mut Vec<f64>,
        errors: &mut [f64],
        variances: &mut [f64],
    ) -> f64 {
        self.gather(scales, working);
        let Fill { imputation, probabilities, ridges, basis, deviation, given, coordinates, .. } = working;
        self.span.deviation(row, deviation);
        given.clone_from(deviation);
        imputation.fill(basis, ridges, deviation);
        imputation.errors_without(basis, given, errors, variances);
        self.span.place(deviation, filled);
        basis.transpose_times(deviation, coordinates);
        let common = kept(self.rule.complement().log_weight);
        let mut seen = 0.0;
        for (j, z) in deviation.iter().enumerate().filter(|(j, _)| !row[*j].is_nan()) {
            // Part of the cell outside the directions, and mean and variance of the lost part of the cell.
            let (mut outside, mut lost, mut variance) = (*z, 0.0, 0.0);
            for (i, (a, p)) in coordinates.iter().zip(&*probabilities).enumerate() {
                let part = a * basis.column(i)[j];
                outside -= part;
                lost += (1.0 - p) * part;
                variance += p * (1.0 - p) * part * part;
            }
            lost += (1.0 - common) * outside;
            seen += lost * lost + variance + common * (1.0 - common) * outside * outside;
        }
        seen
    }
}
