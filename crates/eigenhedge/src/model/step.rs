//! Trials of a model with rows, one by one or in blocks.

use super::missing::name_option;
use super::{AnyLearner, Model, Working};
use crate::error::Error;
use crate::learner::{Loss, block, trial_with};
use crate::registry::Missing;
use crate::span::Ambient;
use crate::standardize::Standardize;
use crate::subspace::Instance;

impl Model {
    /// Runs one trial with a row in units of the input. On an error nothing changes. A missing (NaN) cell is an error
    /// unless [`Spec::missing`](crate::Spec::missing) allows it. A skipped row has no loss and coordinates of zero.
    pub fn step(&mut self, raw: &[f64]) -> Result<Loss, Error> {
        if self.columns.standardizer.how() == Standardize::None {
            return self.step_scaled(raw);
        }
        let mut row = std::mem::take(&mut self.scratch.0.scaled);
        let scaled = self.columns.scaled(raw, self.length, &mut row);
        let outcome = scaled.and_then(|()| self.step_scaled(&row));
        self.scratch.0.scaled = row;
        if outcome.is_ok() {
            self.enter_raw(raw);
        }
        outcome
    }

    /// Runs one trial like [`Self::step`], with a row that is zero outside the columns `filled`, whose indices ascend.
    /// For rows of at least 4096 cells, of which at most a 32nd is filled, the cost of the learner then does not depend
    /// on the length, unless columns are standardized.
    pub fn step_filled(&mut self, row: &[f64], filled: &[u32]) -> Result<Loss, Error> {
        let is_inside = filled.last().is_none_or(|last| (*last as usize) < row.len());
        if !is_inside || !filled.is_sorted_by(|a, b| a < b) {
            return Err(Error::Unsupported("positions of filled cells ascend and lie within the row"));
        }
        if self.columns.standardizer.how() == Standardize::None
            && self.unseen.is_empty()
            && let Some(portfolio) = self.learner.plain_mut()
        {
            let is_filled = |i: &u32| row[*i as usize] != 0.0;
            if filled.iter().all(is_filled) {
                portfolio.announce_filled(Some(filled));
            } else {
                let filled: Vec<u32> = filled.iter().copied().filter(is_filled).collect();
                portfolio.announce_filled(Some(&filled));
            }
        }
        let outcome = self.step(row);
        // A skipped or rejected row has not used the announcement.
        if let Some(portfolio) = self.learner.plain_mut() {
            portfolio.announce_filled(None);
        }
        outcome
    }

    fn enter_raw(&mut self, raw: &[f64]) {
        self.columns.standardizer.undo_like(raw, &mut self.scratch.0.reconstruction);
        self.scratch.0.fill.in_units_of(&self.columns.standardizer, raw);
        if !self.spec.missing.passes_over(raw) {
            self.columns.standardizer.count_in(raw);
        }
    }

    fn step_scaled(&mut self, row: &[f64]) -> Result<Loss, Error> {
        self.scratch.0.fill.clear();
        let loss = match self.spec.missing {
            Missing::Fail => self.learn(row).map_err(name_option),
            Missing::Skip | Missing::Fill => self.step_seen(row),
        }?;
        self.has_changed();
        Ok(loss)
    }

    pub(super) fn has_changed(&mut self) {
        self.scratch.0.frozen = None;
        self.resume_state.clear();
    }

    pub(super) fn check_plain(&self) -> Result<(), Error> {
        match self.columns.standardizer.how() {
            Standardize::None => Ok(()),
            _ => Err(Error::Unsupported(
                "batches, weights and matrices need rows that are not standardized by the model",
            )),
        }
    }

    pub(super) fn learn(&mut self, row: &[f64]) -> Result<Loss, Error> {
        let fixes_center = self.learner.inside().fixes_center();
        let Working { aligns, reconstructs, reconstruction, .. } = &mut self.scratch.0;
        self.learner.inside_mut().set_aligns(*aligns);
        let loss = trial_with(&mut self.learner, &Instance::from(row), &mut self.random, |learner| {
            if let (true, Some(portfolio)) = (*reconstructs, learner.plain_mut()) {
                portfolio.reconstruct(row, reconstruction);
            }
        })?;
        self.take_coordinates();
        let last = self.learner.inside().last_row();
        if fixes_center {
            self.totals.enter_first(loss);
            self.begin_comparators(row);
        } else {
            self.totals.enter(loss, last.coordinates, last.rank, last.square);
            if let Some(hindsight) = &mut self.hindsight {
                hindsight.add_filled(row, self.learner.inside().filled(), 1.0);
            }
            self.partitions.iter_mut().for_each(|partitions| partitions.add(row));
        }
        Ok(loss)
    }

    pub(super) fn take_coordinates(&mut self) {
        let (last, coordinates) = (self.learner.inside().last_row(), &mut self.scratch.0.coordinates);
        last.aligned.unwrap_or(last.coordinates).clone_into(coordinates);
        coordinates.resize(self.spec.kept, 0.0);
    }

    pub(super) fn begin_comparators(&mut self, row: &[f64]) {
        self.hindsight.iter_mut().for_each(|hindsight| hindsight.begin_at(row));
        self.partitions.iter_mut().for_each(|partitions| partitions.begin_at(row));
    }

    pub(super) fn compare(&mut self, row: &[f64], weight: f64) {
        if let Some(hindsight) = &mut self.hindsight {
            hindsight.add_weighted(row, weight);
        }
        match &mut self.partitions {
            Some(partitions) if weight == 1.0 => partitions.add(row),
            Some(partitions) => partitions.add(&row.iter().map(|x| weight.sqrt() * x).collect::<Vec<f64>>()),
            None => {}
        }
    }

    /// Runs a trial for each row, in order, with the results of [`Self::step`], but faster for long rows. After every row,
    /// `each` is called with the updated model and the loss. The first invalid row ends the loop, and its index is
    /// returned with the error. The rows before it have been learned.
    pub fn step_each(&mut self, rows: &[&[f64]], mut each: impl FnMut(&Self, Loss)) -> Result<(), (usize, Error)> {
        let has_gaps = || self.spec.missing != Missing::Fail && rows.iter().any(|row| row.iter().any(|x| x.is_nan()));
        let standardize = self.columns.standardizer.how();
        if standardize == Standardize::Running || has_gaps() {
            // The scaled or filled row depends on the rows before it.
            let step =
                |(i, row): (usize, &&[f64])| self.step(row).map(|loss| each(self, loss)).map_err(|error| (i, error));
            return rows.iter().enumerate().try_for_each(step);
        }
        if standardize == Standardize::None {
            return self.step_block(rows, |model, _, loss| each(model, loss));
        }
        let mut scaled = std::mem::take(&mut self.scratch.0.block);
        scaled.resize_with(rows.len().max(scaled.len()), Vec::new);
        let refused = (0..rows.len())
            .find_map(|i| self.columns.scaled(rows[i], self.length, &mut scaled[i]).err().map(|error| (i, error)));
        let good = refused.as_ref().map_or(rows.len(), |(i, _)| *i);
        let on_scale: Vec<&[f64]> = scaled[..good].iter().map(|row| &row[..]).collect();
        let outcome = self.step_block(&on_scale, |model, i, loss| {
            model.enter_raw(rows[i]);
            each(model, loss);
        });
        drop(on_scale);
        self.scratch.0.block = scaled;
        outcome.and(refused.map_or(Ok(()), Err))
    }

    /// Runs a trial for each row like [`Self::step_each`]. The model is not available between rows, so that members of a
    /// portfolio can learn on several threads ([`set_threads`](crate::set_threads)).
    pub fn step_all(&mut self, rows: &[&[f64]], mut each: impl FnMut(Loss)) -> Result<(), (usize, Error)> {
        let (mut first, is_simple) = (0, self.unseen.is_empty() && !self.scratch.0.reconstructs);
        if let (Some(row), true) = (rows.first(), self.learner.inside().fixes_center()) {
            each(self.step(row).map_err(|error| (0, error))?);
            first = 1;
        }
        self.learner.inside_mut().set_aligns(self.scratch.0.aligns);
        let ahead = match &mut self.learner {
            AnyLearner::Plain(portfolio) if is_simple && self.columns.standardizer.how() == Standardize::None => {
                Some(portfolio).filter(|portfolio| portfolio.runs_ahead(&rows[first..]))
            }
            _ => None,
        };
        let Some(portfolio) = ahead else {
            return self.step_each(&rows[first..], |_, loss| each(loss)).map_err(|(i, error)| (first + i, error));
        };
        let (totals, hindsight, partitions) = (&mut self.totals, &mut self.hindsight, &mut self.partitions);
        let compare = || {
            for row in &rows[first..] {
                hindsight.iter_mut().for_each(|hindsight| hindsight.add_filled(row, None, 1.0));
                partitions.iter_mut().for_each(|partitions| partitions.add(row));
            }
        };
        portfolio.run_ahead(&rows[first..], &mut self.random, compare, |ran| {
            totals.enter(ran.loss, ran.coordinates, ran.rank, ran.square);
            each(ran.loss);
        });
        self.take_coordinates();
        self.has_changed();
        Ok(())
    }

    fn step_block(
        &mut self,
        rows: &[&[f64]],
        mut each: impl FnMut(&mut Self, usize, Loss),
    ) -> Result<(), (usize, Error)> {
        let instances: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(*row)).collect();
        block(
            self,
            |model| &mut model.learner,
            &instances,
            |model, i| {
                let loss = model.step_scaled(rows[i])?;
                each(model, i, loss);
                Ok(())
            },
        )
    }

    /// Returns the number of rows per block with which [`Self::step_each`] is fastest.
    pub fn block_rows(&self) -> usize {
        match self.learner {
            AnyLearner::Plain(_) => Ambient::block_points(self.length),
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Kind, Matrix, RunningCenter, Spec, Standardizer, streams};

    fn learned(how: Standardize) -> (Model, Vec<Vec<f64>>) {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Leader, 2) };
        let columns = Columns::new(None, Standardizer::new(how, 5));
        let mut model = Model::new(spec, 5, 0).unwrap().with_columns(columns);
        let mut rows = streams::iid(5, 2, 0.3, 60, 3).rows;
        for row in &mut rows {
            (0..5).for_each(|i| row[i] = row[i] * 10f64.powi(i as i32 - 2) + 3.0);
            row[4] = 7.0;
        }
        assert_eq!(model.warm_up(&rows[..20]), Ok(matches!(how, Standardize::Warmup(_))));
        assert_eq!(model.warm_up(&rows[20..]), Ok(false));
        rows.iter().for_each(|row| _ = model.step(row).unwrap());
        (model, rows)
    }

    #[test]
    fn a_scale_for_another_number_of_columns_is_an_error() {
        for how in [Standardize::Running, Standardize::Warmup(2)] {
            let columns = Columns::new(None, Standardizer::new(how, 4));
            let mut model = Model::new(Spec::bare(Kind::Leader, 1), 5, 0).unwrap().with_columns(columns);
            let wrong = Error::Length { what: "standardized columns", expected: 5, found: 4 };
            assert_eq!(model.warm_up([[1.0; 5]]), Err((0, wrong.clone())), "{how}");
            if how == Standardize::Running {
                assert_eq!(model.step(&[1.0; 5]), Err(wrong));
            }
        }
    }

    #[test]
    fn plain_numbers_do_what_the_model_does() {
        for how in [Standardize::None, Standardize::Running, Standardize::Warmup(60)] {
            let (mut model, rows) = learned(how);
            let map = model.embedding().linear_map(None).unwrap();
            let mut coordinates = Vec::new();
            for row in &rows {
                model.transform(row, &mut coordinates).unwrap();
                let scaled: Vec<f64> = (0..5).map(|i| (row[i] - map.mean[i]) / map.scale[i]).collect();
                let reconstructed = model.reconstruct(&coordinates).unwrap();
                for (z, component) in coordinates.iter().zip(&map.components) {
                    let wanted: f64 = component.iter().zip(&scaled).map(|(c, x)| c * x).sum();
                    assert!((z - wanted).abs() < 1e-9, "{how:?}: {z} {wanted}");
                }
                for i in 0..5 {
                    let back: f64 = map.components.iter().zip(&coordinates).map(|(c, z)| c[i] * z).sum();
                    let wanted = map.mean[i] + map.scale[i] * back;
                    assert!((reconstructed[i] - wanted).abs() < 1e-9 * map.scale[i].max(1.0), "{how:?}, column {i}");
                }
                assert!((reconstructed[4] - 7.0).abs() < 1e-12, "{how:?}: a constant column comes back");
            }
        }
    }

    #[test]
    fn a_row_that_is_refused_changes_nothing() {
        let (mut model, _) = learned(Standardize::Running);
        let before = model.clone();
        for bad in [[1e200, 1.0, 1.0, 1.0, 1.0], [f64::NAN, 1.0, 1.0, 1.0, 1.0]] {
            model.step(&bad).unwrap_err();
            assert!(model.transform(&[f64::NAN; 5], &mut Vec::new()).is_err());
        }
        model.step(&[1.0; 4]).unwrap_err();
        assert_eq!(model, before);
    }

    #[test]
    fn rows_together_are_rows_one_by_one() {
        for how in [Standardize::None, Standardize::Running, Standardize::Warmup(60)] {
            let (mut one, mut rows) = learned(how);
            let mut together = one.clone();
            rows[7][1] = f64::NAN;
            rows[20][2] = 1e300;
            for model in [&mut one, &mut together] {
                model.ask_for_reconstructions(true).unwrap();
            }
            let wanted: Vec<_> =
                rows[8..20].iter().map(|row| (one.step(row).unwrap(), one.reconstruction().to_vec())).collect();
            let mut found = Vec::new();
            let borrowed: Vec<&[f64]> = rows[8..].iter().map(|row| &row[..]).collect();
            let refused =
                together.step_each(&borrowed, |model, loss| found.push((loss, model.reconstruction().to_vec())));
            assert_eq!(refused.unwrap_err().0, 12, "{how:?}");
            assert_eq!(found, wanted, "{how:?}");
            assert!(together.step_each(&[&rows[7]], |_, _| ()).is_err());
            assert_eq!(one, together, "{how:?}");
        }
    }

    #[test]
    fn batches_and_matrices_are_not_standardized() {
        let (mut model, rows) = learned(Standardize::Running);
        assert!(model.step_batch(&[&rows[0]], Some(&[2.0])).is_err());
        let mut plain = Model::new(Spec::bare(Kind::Leader, 2), 5, 0).unwrap();
        plain.step_matrix(&Matrix::identity(5), 1).unwrap();
        let columns = Columns::new(None, Standardizer::new(Standardize::Running, 5));
        let mut scaled = Model::new(Spec::bare(Kind::Leader, 2), 5, 0).unwrap().with_columns(columns);
        assert!(scaled.step_matrix(&Matrix::identity(5), 1).is_err());
    }
}
