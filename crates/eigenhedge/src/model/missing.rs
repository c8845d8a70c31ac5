//! Trials of a model with rows that have missing cells.
//!
//! Setting: NaN cells were not observed.
//!
//! Update: the learner fills in the cells from its directions, incurs the loss of the observed cells, and learns the filled
//! row. A row without any value changes nothing and is counted. The first cell of a column sets the center of that column, as
//! the first row does for all columns if it is complete.
//!
//! Guarantee: none, and the summary says so.
//!
//! Cost: O(n w²) more than a complete row, for each member with w directions. Complete rows have the same cost and the
//! same bits as without this option.
//!
//! Not done: the best fixed subspace in hindsight on the observed cells, which is not an eigenvalue problem. The
//! summary has no best loss once a row was filled in. Energies are those of the filled rows.

use super::{Model, Working};
use crate::error::Error;
use crate::learner::{Learner, Loss};
use crate::portfolio::Portfolio;
use crate::registry::Missing;
use crate::row::check_cells;
use crate::state::ensure;
use crate::subspace::{Instance, Scales};

impl Model {
    /// Changes the handling of missing cells for the following rows. Returns an error if the model has already filled
    /// in cells and the new setting would not fill them in.
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
        self.unseen = if is_new && self.spec.begins_by_column() { (0..self.length).collect() } else { Vec::new() };
        Ok(())
    }

    /// Runs one trial with a row that may have missing cells.
    pub(super) fn step_seen(&mut self, row: &[f64]) -> Result<Loss, Error> {
        check_cells("row", row, self.length)?;
        let missing = row.iter().filter(|x| x.is_nan()).count();
        if missing == row.len() || missing > 0 && self.spec.missing == Missing::Skip {
            self.totals.passed_over += 1;
            let Working { coordinates, reconstruction, .. } = &mut self.scratch.0;
            coordinates.clear();
            coordinates.resize(self.spec.kept, 0.0);
            reconstruction.clear();
            reconstruction.resize(self.length, 0.0);
            return Ok(Loss::default());
        }
        if !self.unseen.is_empty() && !self.learner.inside().fixes_center() {
            self.begin_columns(row)?;
        }
        let loss = if missing == 0 {
            self.learn(row)?
        } else {
            let scales = self.scales();
            let mut filled = std::mem::take(&mut self.filled.0);
            self.learner.plain_mut().into_iter().for_each(|plain| plain.fill(row, scales, &mut filled));
            let outcome = self.learn(&filled);
            self.filled.0 = filled;
            self.learner.plain_mut().into_iter().for_each(Portfolio::cancel_fill);
            let loss = outcome?;
            self.totals.filled_rows += 1;
            self.totals.missing_cells += missing as u64;
            loss
        };
        self.unseen.retain(|column| row[*column].is_nan());
        Ok(loss)
    }

    /// Sets the centers of the columns whose first observed cells are in this row. Returns an error before that if the
    /// row will be refused: its first cells become centers, so it is checked with the present centers in their place.
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

    /// Returns the mean loss per observed cell and the mean energy per kept direction so far.
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

/// Returns the error. If the error is about a NaN cell, a hint about the option for missing cells is added.
pub(super) fn name_option(error: Error) -> Error {
    match error {
        Error::Entry { what: what @ "row", index, rule: "finite", value } if value.is_nan() => {
            Error::Entry { what, index, rule: "finite, unless missing is skip or fill", value }
        }
        other => other,
    }
}
