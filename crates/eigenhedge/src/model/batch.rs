//! Trials of a model with batches of rows, weighted rows, and matrices.

use super::Model;
use super::missing::name_option;
use crate::error::{Error, every};
use crate::learner::{Loss, trial_with};
use crate::linalg::{Matrix, lower_square};
use crate::registry::{Family, Missing};
use crate::row::check_row;
use crate::scratch::zero;
use crate::state::length;
use crate::subspace::{Instance, NormBound, Symmetric};

/// Largest weight of a row. Squares of weights and their sums stay finite.
const LARGEST_WEIGHT: f64 = 1e150;

impl Model {
    /// Runs one trial for several rows: one choice, the sum of the losses, one update. A row of weight w, from 0 to
    /// 1e150, counts w times. On an error nothing changes.
    ///
    /// Without a center, bounds hold with the largest eigenvalue of `Σ w z zᵀ` over the rows z in place of the squared
    /// norm of a row. The square of a given norm bound must be at least this eigenvalue.
    ///
    /// With a center, all rows are learned around the present center, and there is no bound. If the model has learned
    /// fewer rows than the batch has, its center is not reliable yet, and it learns row by row. Several rows around a
    /// center need plain rows, and no weights, norm bound, clipping or segments.
    ///
    /// ```
    /// use eigenhedge::{Kind, Model, Spec};
    /// let mut model = Model::new(Spec::bare(Kind::Anchored, 1), 3, 0)?;
    /// let loss = model.step_batch(&[&[1.0, 0.0, 0.0], &[0.0, 2.0, 0.0]], Some(&[3.0, 1.0]))?;
    /// assert!((loss.expected - (3.0 + 4.0) * 2.0 / 3.0).abs() < 1e-12); // two of three directions are dropped
    /// assert_eq!(model.summary().rows, 2);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn step_batch(&mut self, rows: &[&[f64]], weights: Option<&[f64]>) -> Result<Loss, Error> {
        self.check_plain()?;
        if let Some(weights) = weights {
            let what = "the weights of the rows";
            length(what, weights.len(), rows.len())?;
            every(what, weights, "finite and not negative", |weight| weight >= 0.0 && weight.is_finite())?;
            every(what, weights, "at most 1e150", |weight| weight <= LARGEST_WEIGHT)?;
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let is_whole = |row: &[f64]| self.spec.missing != Missing::Skip || !row.iter().any(|x| x.is_nan());
        let (whole, bad): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|i| is_whole(rows[*i]));
        let counted: Vec<usize> = whole.into_iter().filter(|i| weight(*i) > 0.0).collect();
        let loss = match counted[..] {
            [] => {
                zero(&mut self.scratch.0.coordinates, self.spec.kept);
                Ok(Loss::default())
            }
            [only] if weight(only) == 1.0 => self.step(rows[only]),
            _ => {
                let dyads: Vec<_> = counted.iter().map(|i| (weight(*i), rows[*i])).collect();
                self.learn_batch(&dyads).map_err(|error| match error {
                    Error::At { point, error } => error.at(counted[point]),
                    error => error,
                })
            }
        }?;
        self.totals.passed_over += bad.len() as u64;
        self.has_changed();
        Ok(loss)
    }

    fn learn_scatter(&mut self, dyads: &[(f64, &[f64])]) -> Result<Loss, Error> {
        let mut scaled = Matrix::zeros(self.length, dyads.len());
        for (j, (weight, row)) in dyads.iter().enumerate() {
            check_row("row", row, self.length).map_err(|error| error.at(j))?;
            let root = weight.sqrt();
            scaled.column_mut(j).iter_mut().zip(*row).for_each(|(to, x)| *to = root * x);
        }
        let mut scatter = lower_square(scaled.view());
        scatter.mirror();
        self.step_matrix(&scatter, dyads.len() as u64).map_err(name_option)
    }

    fn learn_around_center(&mut self, dyads: &[(f64, &[f64])], is_weighted: bool) -> Result<Loss, Error> {
        let is_bounded = self.spec.norm_bound != NormBound::Running || self.spec.clip.is_some();
        if is_weighted || is_bounded || self.segments > 0 || self.learner.plain_mut().is_none() {
            return Err(Error::Unsupported(
                "a batch around a center needs plain rows without weights, norm-bound, clip and segments",
            ));
        }
        let rows: Vec<&[f64]> = dyads.iter().map(|(_, row)| *row).collect();
        let (count, before) = (rows.len() as u64, self.totals);
        rows.iter().enumerate().try_for_each(|(i, row)| check_row("row", row, self.length).map_err(|e| e.at(i)))?;
        if before.rows < count {
            // On an error, the rows before the bad one are not learned either.
            let (mut learned, mut total) = (self.clone(), Loss::default());
            for (i, row) in rows.into_iter().enumerate() {
                let loss = learned.step(row).map_err(|error| error.at(i))?;
                total = Loss { expected: total.expected + loss.expected, realised: total.realised + loss.realised };
            }
            *self = learned;
            return Ok(total);
        }
        self.learner.inside_mut().set_aligns(false);
        let Self { learner, random, .. } = self;
        let Some(portfolio) = learner.plain_mut() else { return Ok(Loss::default()) };
        let loss = portfolio.frozen_trial(&rows, random)?;
        let last = self.learner.inside().last_row();
        let norm = last.energy.sqrt() * last.square.sqrt();
        self.totals.enter_batch(loss, (last.energy - loss.realised).max(0.0), last.rank, count, norm);
        self.totals.frozen += 1;
        zero(&mut self.scratch.0.coordinates, self.spec.kept);
        rows.iter().for_each(|row| self.compare(row, 1.0));
        Ok(loss)
    }

    fn learn_batch(&mut self, dyads: &[(f64, &[f64])]) -> Result<Loss, Error> {
        let is_weighted = dyads.iter().any(|(weight, _)| *weight != 1.0);
        let unsupported = match () {
            () if self.spec.learner.entry().family == Family::Hebbian => {
                Some("a Hebbian learner takes rows one by one")
            }
            () if self.spec.missing == Missing::Fill => Some("missing cells are filled in row by row, without weights"),
            () if self.scratch.0.reconstructs => Some("projections of rows need rows one by one"),
            () if is_weighted && self.spec.kernel.is_some() => {
                Some("rows with weights need plain rows, without a kernel")
            }
            () if is_weighted && self.partitions.is_some() && self.spec.center.is_some() => {
                Some("rows with weights are not cut into segments around centers")
            }
            () => None,
        };
        if let Some(sentence) = unsupported {
            return Err(Error::Unsupported(sentence));
        }
        if self.takes_matrices() && dyads.len() > self.length {
            return self.learn_scatter(dyads);
        }
        if self.spec.center.is_some() && dyads.len() > 1 {
            return self.learn_around_center(dyads, is_weighted);
        }
        let fixes_center = self.learner.inside().fixes_center();
        self.learner.inside_mut().set_aligns(self.scratch.0.aligns);
        let loss =
            trial_with(&mut self.learner, &Instance::Dyads(dyads), &mut self.random, |_| ()).map_err(name_option)?;
        self.take_coordinates();
        let last = self.learner.inside().last_row();
        if fixes_center {
            self.totals.enter_first(loss);
            self.begin_comparators(dyads[0].1);
            return Ok(loss);
        }
        // The Frobenius norm is at most the square root of the product of the trace and the largest eigenvalue.
        let norm = last.energy.sqrt() * last.square.sqrt();
        let kept = (last.energy - loss.realised).max(0.0);
        self.totals.enter_batch(loss, kept, last.rank, dyads.len() as u64, norm);
        dyads.iter().for_each(|(weight, row)| self.compare(row, *weight));
        Ok(loss)
    }
}

impl Model {
    pub(super) fn takes_matrices(&self) -> bool {
        self.spec.kernel.is_none() && self.spec.center.is_none() && self.segments == 0
    }

    /// Runs one trial with a symmetric positive semidefinite matrix S, such as a daily covariance matrix. The loss is
    /// `tr(S V)`, where the eigenvalues of V are the probabilities that directions are dropped. A row z corresponds to
    /// the matrix `z zᵀ`, and a norm bound Q allows eigenvalues up to Q².
    ///
    /// The matrix counts as `rows` rows: 1, or the number of rows whose dyads were summed. The coordinates are zero. On an
    /// error nothing changes. The model must have plain rows, no center and no partitions, whose cuts are between rows.
    ///
    /// ```
    /// use eigenhedge::{Kind, Matrix, Model, Spec};
    ///
    /// let mut model = Model::new(Spec::bare(Kind::Tracking, 1), 2, 0)?;
    /// let loss = model.step_matrix(&Matrix::identity(2), 1)?;
    /// assert!((loss.expected - 1.0).abs() < 1e-12);
    /// assert!((model.summary().best_loss.unwrap().low() - 1.0).abs() < 1e-12);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn step_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        self.check_plain()?;
        self.step_scaled_matrix(matrix, rows)
    }

    /// Runs one trial like [`Self::step_matrix`], with a matrix of rows in standard units.
    pub fn step_scaled_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        if !self.takes_matrices() {
            return Err(Error::Unsupported("a matrix needs a learner over plain rows without center and segments"));
        }
        length("a row of the symmetric matrix", matrix.columns(), self.length)?;
        let symmetric = Symmetric::new(matrix)?;
        let dyads = symmetric.dyads();
        self.learner.inside_mut().set_aligns(false);
        let loss = trial_with(&mut self.learner, &Instance::Dyads(&dyads), &mut self.random, |_| ())?;
        let trace: f64 = dyads.iter().map(|(weight, _)| weight).sum();
        let frobenius = dyads.iter().map(|(weight, _)| weight * weight).sum::<f64>().sqrt();
        let (kept, rank) = ((trace - loss.realised).max(0.0), self.learner.inside().last_row().rank);
        self.totals.enter_batch(loss, kept, rank, rows, frobenius);
        zero(&mut self.scratch.0.coordinates, self.spec.kept);
        for (weight, vector) in dyads.into_iter().filter(|(weight, _)| *weight > 0.0) {
            self.compare(vector, weight);
        }
        self.has_changed();
        Ok(loss)
    }
}
