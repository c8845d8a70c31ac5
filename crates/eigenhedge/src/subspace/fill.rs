//! Rows with missing cells, for a learner over plain rows: its own directions fill them in, and say what the cells that were
//! seen lose.

use super::{Rule, Subspace};
use crate::impute::{Imputation, ridge};
use crate::linalg::Matrix;
use crate::num::kept;
use crate::span::{Ambient, Span};

/// Sizes that decide how far directions are trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scales {
    /// Loss of a cell that was seen, on average.
    pub noise: f64,
    /// Energy of a row along a direction kept, on average: for rules that do not know that of each direction.
    pub signal: f64,
}

/// Working space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fill {
    imputation: Imputation,
    /// Explicit directions, most surely kept first, with their probabilities, and the factors on squared coordinates.
    order: Vec<usize>,
    probabilities: Vec<f64>,
    ridges: Vec<f64>,
    direction: Vec<f64>,
    directions: Matrix,
    /// The directions as vectors.
    basis: Matrix,
    expanded: Matrix,
    /// The row from the center, as it was filled in and as it was given, and its coordinates.
    deviation: Vec<f64>,
    given: Vec<f64>,
    coordinates: Vec<f64>,
}

/// Directions that are used besides twice those kept, at most. Those not kept say something about missing cells too.
const MORE: usize = 8;

impl<R: Rule> Subspace<Ambient, R> {
    /// Fixes the center of a column that no row has had a cell of before.
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.span.begin_column(column, value);
    }

    /// Energy of a row along an explicit direction, on average: as the rule knows it, or by how surely it is kept.
    fn energy(&self, i: usize, scales: Scales) -> f64 {
        let known = self.rule.mean_energy(i, self.trials);
        known.unwrap_or_else(|| kept(self.rule.log_weights()[i]) * scales.signal)
    }

    /// Factors on the squared coordinates along each of [`Self::directions`].
    pub(crate) fn direction_ridges(&mut self, scales: Scales) -> Vec<f64> {
        self.gather_directions(usize::MAX);
        self.scratch.0.order.iter().map(|i| ridge(scales.noise, self.energy(*i, scales))).collect()
    }

    /// Puts the explicit directions into the working space.
    fn gather(&mut self, scales: Scales, working: &mut Fill) {
        let Fill { order, probabilities, ridges, direction, directions, basis, expanded, .. } = working;
        let weights = self.rule.log_weights();
        order.clear();
        order.extend((0..weights.len()).filter(|i| self.energy(*i, scales) > 0.0));
        let energy = |i: usize| self.energy(i, scales);
        order.sort_unstable_by(|a, b| {
            weights[*a].total_cmp(&weights[*b]).then(energy(*b).total_cmp(&energy(*a))).then(a.cmp(b))
        });
        order.truncate(2 * self.kept + MORE);
        probabilities.clear();
        probabilities.extend(order.iter().map(|i| kept(weights[*i])));
        ridges.clear();
        ridges.extend(order.iter().map(|i| ridge(scales.noise, energy(*i))));
        self.rule.directions(order, direction, directions);
        directions.resize(self.span.columns(), order.len());
        self.span.write_directions(directions, expanded, basis);
    }

    /// The row with its missing cells filled in, the errors of the others, each fitted without itself, if there is a place for
    /// them, and the expected loss of the cells that were seen. Choices of directions count as independent of each other, which is exact when they are
    /// certain, and when no cell is missing.
    pub(crate) fn fill(
        &mut self,
        row: &[f64],
        scales: Scales,
        working: &mut Fill,
        filled: &mut Vec<f64>,
        errors: Option<&mut [f64]>,
    ) -> f64 {
        self.gather(scales, working);
        let Fill { imputation, probabilities, ridges, basis, deviation, given, coordinates, .. } = working;
        self.span.deviation(row, deviation);
        given.clone_from(deviation);
        imputation.fill(basis, ridges, deviation);
        if let Some(errors) = errors {
            imputation.errors_without(basis, given, errors);
        }
        self.span.place(deviation, filled);
        basis.transpose_times(deviation, coordinates);
        let common = kept(self.rule.complement().log_weight);
        let mut seen = 0.0;
        for (j, z) in deviation.iter().enumerate().filter(|(j, _)| !row[*j].is_nan()) {
            // Lost on average, and the variance of that.
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
