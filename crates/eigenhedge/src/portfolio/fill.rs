//! Rows with missing cells. Each member fills in the row from its own directions and center (`Subspace::fill`), and its
//! loss covers only the observed cells. All members then learn a combination of the filled rows (`fill_errors`).

use super::Portfolio;
use super::fill_errors::{Filling, combination};
use crate::linalg::Matrix;
use crate::registry::Kind;
use crate::span::Ambient;
use crate::subspace::Scales;

impl Portfolio<Ambient> {
    pub(crate) fn begin_column(&mut self, column: usize, value: f64) {
        self.members.iter_mut().for_each(|member| member.begin_column(column, value));
    }

    pub(crate) fn first_value(&self, column: usize) -> f64 {
        self.members.first().map_or(0.0, |member| member.first_value(column))
    }

    /// The caller must then run the trial or call [`Self::cancel_fill`].
    pub(crate) fn fill(&mut self, row: &[f64], scales: Scales, filled: &mut Vec<f64>) {
        let Filling { working, own, rows, errors, variances, products, normal, weights, losses, .. } =
            &mut self.scratch.0.filling;
        let count = self.members.len();
        [&mut *rows, &mut *errors, &mut *variances].into_iter().for_each(|matrix| matrix.resize(row.len(), count));
        losses.clear();
        for (i, member) in self.members.iter_mut().enumerate() {
            losses.push(member.fill(row, scales, working, own, errors.column_mut(i), variances.column_mut(i)));
            rows.column_mut(i).copy_from_slice(own);
        }
        self.fill_errors.with_row(errors, products);
        combination(products, normal, weights);
        let Filling { rows, errors, variances, weights, squares, far_squares, deviations, .. } =
            &mut self.scratch.0.filling;
        let sum =
            |matrix: &Matrix, j: usize| weights.iter().enumerate().map(|(i, w)| w * matrix.column(i)[j]).sum::<f64>();
        let leader = self.specs.iter().position(|spec| spec.learner == Kind::Leader).unwrap_or(0);
        [&mut *filled, squares, far_squares, deviations].into_iter().for_each(Vec::clear);
        let usual = self.fill_errors.usual_noise(scales.noise);
        for (j, x) in row.iter().enumerate() {
            let (is_missing, variance) = (x.is_nan(), sum(variances, j));
            let fill = if is_missing { sum(rows, j) } else { *x };
            filled.push(fill);
            squares.push(if is_missing { f64::NAN } else { sum(errors, j).powi(2) * variance });
            far_squares.push(errors.column(leader)[j].powi(2));
            let difference = fill - rows.column(leader)[j];
            let squared = || self.fill_errors.squared_deviation(j, variance, difference, usual);
            deviations.push(if is_missing { squared().sqrt() } else { 0.0 });
        }
    }

    pub(crate) fn fill_deviations(&self) -> &[f64] {
        &self.scratch.0.filling.deviations
    }

    /// Discards the filled row, all cells of which were missing.
    pub(crate) fn pass_over_empty_row(&mut self) {
        self.cancel_fill();
        self.fill_errors.lengthen_gaps();
    }

    pub(crate) fn cancel_fill(&mut self) {
        self.scratch.0.filling.losses.clear();
    }
}
