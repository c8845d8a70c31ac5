//! Trials of a model with rows that have missing cells.
//!
//! Update: the learner fills in the NaN cells from its directions, incurs the loss of the observed cells, and learns the
//! filled row. A row without any value is skipped. A center without prior rows is set by the first row if that row is
//! complete. Otherwise the first observed cell of each column sets the center of that column.
//!
//! Guarantee: none. Once a row was filled in, the summary has no bound and no best loss: the best fixed subspace on the
//! observed cells is not an eigenvalue problem. Energies are those of the filled rows.
//!
//! Cost: O(n w²) more than a complete row, for each member with w directions. Complete rows have the same cost and
//! bit-identical results with and without this option.

use super::any::FILLS;
use super::{Model, Working};
use crate::error::Error;
use crate::learner::{Learner, Loss};
use crate::portfolio::Portfolio;
use crate::registry::Missing;
use crate::row::check_cells;
use crate::scratch::zero;
use crate::standardize::{Standardize, Standardizer};
use crate::state::ensure;
use crate::subspace::{Instance, Scales};

/// Row whose missing cells are filled in, in units of the input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filled {
    /// All cells of the row.
    pub row: Vec<f64>,
    /// Standard error of each cell that was missing, and 0 for each observed cell.
    pub errors: Vec<f64>,
}

impl Filled {
    pub(super) fn clear(&mut self) {
        self.row.clear();
    }

    fn forget(&mut self, column: usize) {
        (self.row[column], self.errors[column]) = (f64::NAN, f64::NAN);
    }

    pub(super) fn in_units_of(&mut self, standardizer: &Standardizer, raw: &[f64]) {
        if standardizer.how() == Standardize::None || self.row.is_empty() {
            return;
        }
        let Self { row, errors } = self;
        errors.iter_mut().zip(&*row).for_each(|(error, x)| *error += x);
        standardizer.undo_like(raw, errors);
        standardizer.undo_like(raw, row);
        for ((error, x), raw) in errors.iter_mut().zip(row).zip(raw) {
            *error = if raw.is_nan() { *error - *x } else { 0.0 };
            if !raw.is_nan() {
                *x = *raw;
            }
        }
    }
}

impl Model {
    /// Changes the handling of missing cells for the following rows. Returns `Err` if the learner cannot fill in cells,
    /// or if it has filled in cells and would no longer do so.
    ///
    /// ```
    /// use eigenhedge::{Kind, Missing, Model, Spec};
    ///
    /// let mut model = Model::new(Spec::new(Kind::Auto, 1), 3, 7)?;
    /// model.step(&[1.0, 2.0, 3.0])?;
    /// assert!(model.step(&[1.0, f64::NAN, 3.0]).is_err());
    /// model.set_missing(Missing::Fill)?;
    /// model.step(&[1.0, f64::NAN, 3.0])?;
    /// assert!(model.set_missing(Missing::Skip).is_err());
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn set_missing(&mut self, missing: Missing) -> Result<(), Error> {
        let is_new = self.totals.rows == 0;
        if self.totals.filled_rows > 0 || !is_new && !self.unseen.is_empty() {
            let stays = missing == Missing::Fill;
            let refusal = "missing must stay fill, because cells of earlier rows were filled in";
            return if stays { Ok(()) } else { Err(Error::Unsupported(refusal)) };
        }
        self.learner.set_missing(missing)?;
        self.spec.missing = missing;
        self.scratch.0.frozen = None;
        self.unseen = if is_new && self.spec.begins_by_column() { (0..self.length).collect() } else { Vec::new() };
        Ok(())
    }

    pub(super) fn step_seen(&mut self, row: &[f64]) -> Result<Loss, Error> {
        check_cells("row", row, self.length)?;
        let missing = row.iter().filter(|x| x.is_nan()).count();
        if missing == row.len() || missing > 0 && self.spec.missing == Missing::Skip {
            self.totals.passed_over += 1;
            let Working { coordinates, reconstruction, .. } = &mut self.scratch.0;
            zero(coordinates, self.spec.kept);
            zero(reconstruction, self.length);
            if self.spec.missing == Missing::Fill {
                self.fill_cells(row);
                self.learner.plain_mut().into_iter().for_each(Portfolio::pass_over_empty_row);
            }
            return Ok(Loss::default());
        }
        if !self.unseen.is_empty() && !self.learner.inside().fixes_center() {
            self.begin_columns(row)?;
        }
        let loss = if missing == 0 {
            self.learn(row)?
        } else {
            self.fill_cells(row);
            let filled = std::mem::take(&mut self.scratch.0.fill.row);
            let outcome = self.learn(&filled);
            self.scratch.0.fill.row = filled;
            self.learner.plain_mut().into_iter().for_each(Portfolio::cancel_fill);
            let loss = outcome.inspect_err(|_| self.scratch.0.fill.clear())?;
            self.totals.filled_rows += 1;
            self.totals.missing_cells += missing as u64;
            loss
        };
        self.unseen.retain(|column| row[*column].is_nan());
        let unknown = if missing > 0 { &self.unseen[..] } else { &[] };
        unknown.iter().for_each(|column| self.scratch.0.fill.forget(*column));
        Ok(loss)
    }

    /// Fills in the missing cells of a row in standard units. The caller then runs its trial or cancels the fill.
    fn fill_cells(&mut self, row: &[f64]) {
        let scales = self.scales();
        let Filled { row: filled, errors } = &mut self.scratch.0.fill;
        if let Some(plain) = self.learner.plain_mut() {
            plain.fill(row, scales, filled);
            plain.fill_deviations().clone_into(errors);
        }
    }

    /// Returns the most recent row with its missing cells filled in, as it was learned, in units of the input, or `None`
    /// if no cell was missing. A cell of a column without any value so far is NaN.
    ///
    /// ```
    /// use eigenhedge::{Kind, Missing, Model, Spec};
    ///
    /// let mut model = Model::new(Spec { missing: Missing::Fill, ..Spec::new(Kind::Auto, 1) }, 3, 7)?;
    /// for t in 0..50 {
    ///     let level = (0.3 * f64::from(t)).sin();
    ///     model.step(&[level, 2.0 * level, -level])?;
    ///     assert!(model.filled().is_none());
    /// }
    /// model.step(&[1.0, f64::NAN, -1.0])?;
    /// let filled = model.filled().unwrap();
    /// assert!(filled.row[0] == 1.0 && (filled.row[1] - 2.0).abs() < 0.1);
    /// assert!(filled.errors[0] == 0.0 && filled.errors[1] > 0.0);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn filled(&self) -> Option<&Filled> {
        Some(&self.scratch.0.fill).filter(|fill| !fill.row.is_empty())
    }

    /// Fills in the missing cells of a row without learning it, as [`Self::filled`] would return it. Returns `Err` for a
    /// wrong length or an infinite cell, and for kernels and Hebbian learners.
    pub fn fill(&mut self, raw: &[f64]) -> Result<Filled, Error> {
        check_cells("row", raw, self.length)?;
        if self.learner.plain_mut().is_none() {
            return Err(FILLS);
        }
        let mut row = raw.to_vec();
        if self.columns.standardizer.how() != Standardize::None {
            self.columns.scaled(raw, self.length, &mut row)?;
        }
        self.fill_cells(&row);
        self.learner.plain_mut().into_iter().for_each(Portfolio::cancel_fill);
        let mut filled = std::mem::take(&mut self.scratch.0.fill);
        let unknown = self.unseen.iter().filter(|column| raw[**column].is_nan());
        unknown.for_each(|column| filled.forget(*column));
        filled.in_units_of(&self.columns.standardizer, raw);
        Ok(filled)
    }

    /// Sets the center of each column whose first observed cell is in this row, unless the row is invalid. In this check
    /// the present centers replace the first cells, which will be zero after centering.
    fn begin_columns(&mut self, row: &[f64]) -> Result<(), Error> {
        let begins: Vec<usize> = self.unseen.iter().copied().filter(|column| !row[*column].is_nan()).collect();
        let scales = self.scales();
        let Some(plain) = self.learner.plain_mut().filter(|_| !begins.is_empty()) else { return Ok(()) };
        let mut centered = row.to_vec();
        begins.iter().for_each(|column| centered[*column] = plain.first_value(*column));
        if centered.iter().any(|x| x.is_nan()) {
            plain.fill(&centered.clone(), scales, &mut centered);
        }
        let outcome = plain.check(&Instance::from(&centered[..]));
        plain.cancel_fill();
        outcome?;
        for column in begins {
            plain.begin_column(column, row[column]);
            self.hindsight.iter_mut().for_each(|hindsight| hindsight.begin_column(column, row[column]));
        }
        Ok(())
    }

    /// Returns the ridge factors for filling in missing cells, one for each direction of [`Self::embedding`].
    pub(super) fn ridges(&mut self) -> Vec<f64> {
        let scales = self.scales();
        self.learner.plain_mut().map_or_else(Vec::new, |portfolio| portfolio.heaviest_mut().direction_ridges(scales))
    }

    fn scales(&self) -> Scales {
        let rows = self.totals.charged() as f64;
        let cells = (rows * self.length as f64 - self.totals.missing_cells as f64).max(1.0);
        let signal = self.totals.kept_energy / (rows.max(1.0) * self.spec.kept as f64);
        Scales { noise: self.totals.expected_loss / cells, signal }
    }

    pub(super) fn check_unseen(&self) -> Result<(), Error> {
        let fits = self.unseen.iter().all(|column| *column < self.length) && self.unseen.len() <= self.length;
        ensure(fits, "the columns without a cell must be columns of the rows")?;
        let fills = self.spec.missing == Missing::Fill;
        ensure(fills || self.unseen.is_empty() && self.totals.filled_rows == 0, "only missing fill fills rows in")
    }
}

/// Adds "unless missing is skip or fill" to an error about a NaN cell.
pub(super) fn name_option(error: Error) -> Error {
    match error {
        Error::Entry { what: what @ "row", index, rule: "finite", value } if value.is_nan() => {
            Error::Entry { what, index, rule: "finite, unless missing is skip or fill", value }
        }
        other => other,
    }
}
