//! Merging of models over parts of a table.
//!
//! Setting: learners that are functions of the scatter matrix of all rows: [`Kind::Leader`], [`Kind::Anchored`],
//! [`Kind::ProductSets`], over plain rows. With a fixed rate, no rank cap, and either no center or a given norm bound,
//! the merged learner is that of the rows of both models in one pass (see `subspace/merge.rs`). Other learners depend
//! on the order of rows and cannot be merged.
//!
//! Summary: losses are added, and the best fixed subspace in hindsight is that of all counted rows. The bound on the
//! loss is proved only for `anchored` without a center and with a given rate (see `guarantee`).

use super::{AnyLearner, Model};
use crate::bounds;
use crate::comparators::{BestMethod, Hindsight};
use crate::error::Error;
use crate::registry::options::{OptionEntry, Value};
use crate::registry::{Kind, Missing, Spec};
use crate::standardize::Standardize;
use crate::state::{count, length};
use crate::subspace::{Learned, NormBound};

const MERGEABLE: [Kind; 3] = [Kind::Leader, Kind::Anchored, Kind::ProductSets];

impl Model {
    /// Merges two models. The result has learned the rows of both and continues the random draws of the first. Returns
    /// `Err` if their options differ or their learner depends on the order of rows.
    ///
    /// ```
    /// use eigenhedge::{Kind, Model, Spec, streams};
    ///
    /// let rows = streams::three_subspaces(1);
    /// let spec = Spec::bare(Kind::Leader, 2);
    /// let [mut all, mut first, mut rest] = [(); 3].map(|()| Model::new(spec.clone(), 20, 0).unwrap());
    /// rows.iter().try_for_each(|row| all.step(row).map(drop))?;
    /// rows[..400].iter().try_for_each(|row| first.step(row).map(drop))?;
    /// rows[400..].iter().try_for_each(|row| rest.step(row).map(drop))?;
    /// let mut merged = first.merge(rest)?;
    /// assert!((merged.step(&rows[7])?.expected - all.step(&rows[7])?.expected).abs() < 1e-10);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        length("a row of the other model", other.length, self.length)?;
        self.check_alike(&other)?;
        self.check_mergeable()?;
        count("the number of rows", self.totals.rows.saturating_add(other.totals.rows))?;
        self.columns.merge(&other.columns)?;
        let cost = bounds::divergence(self.spec.kept, self.spec.space(self.length)).unwrap_or(f64::INFINITY);
        let (AnyLearner::Plain(own), AnyLearner::Plain(learner)) = (&mut self.learner, other.learner) else {
            return Err(Error::Merge("the learners must be over plain rows".to_owned()));
        };
        own.merge(*learner, cost)?;
        self.hindsight = match (self.hindsight, other.hindsight) {
            (Some(own), Some(other)) => Some(own.merge(other)?),
            _ => None,
        };
        self.totals.merge(&other.totals);
        self.has_changed();
        Ok(self)
    }

    /// Learns a summary of rows without predicting them. `hindsight` is the comparator of these rows.
    pub(crate) fn absorb(
        mut self,
        rows: Learned<'_>,
        passed_over: u64,
        hindsight: Option<Hindsight>,
    ) -> Result<Self, Error> {
        if self.totals.rows > 0 {
            let best = self.hindsight.as_ref().map_or(BestMethod::None, |own| own.method(self.length));
            let fresh = Self::with_comparators(self.spec.clone(), self.length, 0, best, 0)?;
            // The scale of the columns stays that of the model. It is not estimated from these rows.
            let columns = std::mem::take(&mut self.columns);
            return Ok(self.merge(fresh.absorb(rows, passed_over, hindsight)?)?.with_columns(columns));
        }
        self.totals.enter_unpredicted(rows.rows, passed_over);
        if rows.rows > 0 {
            let plain = self.learner.plain_mut();
            let plain = plain.ok_or_else(|| Error::Merge("the learner must be over plain rows".to_owned()))?;
            plain.heaviest_mut().begin_with(rows)?;
            self.hindsight = self.hindsight.map(|own| hindsight.unwrap_or(own));
            self.has_changed();
        }
        Ok(self)
    }

    /// Returns true if rows can be learned as [`Moments`](crate::Moments) instead of one by one, with the same state up
    /// to rounding for rows of up to 4096 numbers. Only a self-confident rate differs, which moments tune to the loss of
    /// the best subspace.
    pub fn takes_moments(&self) -> bool {
        let Spec { norm_bound, max_rank, as_printed, .. } = &self.spec;
        let is_usual = matches!(norm_bound, NormBound::Running) && max_rank.is_none() && !as_printed;
        let is_default = |own: &Hindsight| own.method(self.length) == BestMethod::Auto;
        let is_scaled_by_row = self.columns.standardizer.how() == Standardize::Running;
        is_usual
            && !is_scaled_by_row
            && self.hindsight.as_ref().is_none_or(is_default)
            && self.check_mergeable().is_ok()
    }

    pub(super) fn is_unpredicted(&self) -> bool {
        self.totals.rows > 0 && self.totals.charged() == 0 && self.totals.first_row_loss.is_none()
    }

    /// Returns true if [`Self::learn_set`] is possible: for a leader or anchored learner over kernel features whose state
    /// does not depend on the order of rows, without a budget, a rank limit or comparators.
    pub fn learns_sets(&self) -> bool {
        let Spec { kernel, learner, budget, max_rank, .. } = &self.spec;
        let fixed_scale = !matches!(self.columns.standardizer.how(), Standardize::Running);
        let spec = Spec { kernel: None, ..self.spec.clone() };
        kernel.is_some()
            && matches!(learner, Kind::Leader | Kind::Anchored)
            && budget.is_none()
            && max_rank.is_none()
            && fixed_scale
            && self.hindsight.is_none()
            && self.segments == 0
            && spec.check_mergeable().is_ok()
    }

    /// Learns a set of rows at once, without predicting them, at the cost of a Cholesky factorization and of a few
    /// leading eigenpairs. The state is that after learning the rows one by one, up to rounding and to the accuracy of a
    /// leader's directions. Only a self-confident rate differs, because it uses the loss of the best subspace. The rows
    /// have no losses. On an error nothing changes, and the error comes with the index of the row.
    ///
    /// ```
    /// use eigenhedge::{comparators::BestMethod, kernel::VectorKernel};
    /// use eigenhedge::{Kind, Model, Spec, streams};
    ///
    /// let rows = streams::three_subspaces(1);
    /// let rows: Vec<&[f64]> = rows[..60].iter().map(Vec::as_slice).collect();
    /// let spec = Spec { kernel: Some(VectorKernel::Rbf { gamma: 0.5 }), ..Spec::bare(Kind::Leader, 2) };
    /// let new = || Model::with_comparators(spec.clone(), 20, 0, BestMethod::None, 0);
    /// let (mut single, mut set) = (new()?, new()?);
    /// rows.iter().try_for_each(|row| single.step(row).map(drop))?;
    /// set.learn_set(&rows).map_err(|(_, error)| error)?;
    /// assert!((single.step(rows[7])?.expected - set.step(rows[7])?.expected).abs() < 1e-7);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn learn_set(&mut self, rows: &[&[f64]]) -> Result<(), (usize, Error)> {
        if !self.learns_sets() {
            let sentence = "a set of rows needs a kernel, and a learner that depends on the set of rows only";
            return Err((0, Error::Merge(sentence.to_owned())));
        }
        let (mut scaled, mut places) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (i, raw) in rows.iter().enumerate().filter(|(_, raw)| !self.spec.missing.passes_over(raw)) {
            let mut row = raw.to_vec();
            if self.columns.standardizer.how() != Standardize::None {
                self.columns.scaled(raw, self.length, &mut row).map_err(|error| (i, error))?;
            }
            scaled.push(row);
            places.push(i);
        }
        let scaled: Vec<&[f64]> = scaled.iter().map(Vec::as_slice).collect();
        if let (AnyLearner::Kernel(portfolio), false) = (&mut self.learner, scaled.is_empty()) {
            let mut learner = portfolio.heaviest_mut().clone();
            learner.learn_set(&scaled).map_err(|(i, error)| (places[i], error))?;
            *portfolio.heaviest_mut() = learner;
        }
        self.totals.enter_unpredicted(scaled.len() as u64, (rows.len() - scaled.len()) as u64);
        self.has_changed();
        Ok(())
    }

    /// Returns `Err` with the name of the first option that differs.
    pub(crate) fn check_alike(&self, other: &Self) -> Result<(), Error> {
        let differ = |name: &str, own: &str, found: &str| {
            Err(Error::Merge(format!("{name} must be {own} as in the first model, got {found}")))
        };
        if self.spec.kept != other.spec.kept {
            return differ("k", &self.spec.kept.to_string(), &other.spec.kept.to_string());
        }
        let (own, found) = (self.spec.learner.entry().name, other.spec.learner.entry().name);
        if own != found {
            return differ("the learner", own, found);
        }
        let (own, found): (Vec<_>, Vec<_>) = (self.setup().values().collect(), other.setup().values().collect());
        let value = |values: &[(&OptionEntry, Value)], name: &str| {
            let found = values.iter().find(|(option, _)| option.name == name);
            found.map_or("none".to_owned(), |(_, value)| value.to_string())
        };
        for (option, _) in own.iter().chain(&found) {
            let (own, found) = (value(&own, option.name), value(&found, option.name));
            if own != found {
                return differ(option.name, &own, &found);
            }
        }
        if self.spec == other.spec {
            return Ok(());
        }
        Err(Error::Merge("the options of the models must be the same".to_owned()))
    }

    pub(crate) fn check_mergeable(&self) -> Result<(), Error> {
        if self.segments > 0 {
            return Err(depends_on_order("segments must be 0"));
        }
        self.spec.check_mergeable()
    }
}

impl Spec {
    pub(crate) fn check_mergeable(&self) -> Result<(), Error> {
        let name = self.learner.entry().name;
        let sentence = match self {
            _ if !MERGEABLE.contains(&self.learner) => {
                let names = MERGEABLE.map(|kind| kind.entry().name).join(", ");
                return Err(Error::Merge(format!(
                    "the learner must be one of {names}, got {name}, which depends on the order of rows: learn all of them in \
                     one run, or with one learner for each key"
                )));
            }
            Self { kernel: Some(_), .. } => "kernel must be none: features of kernels are not merged",
            Self { center: Some(center), .. } if !center.is_mean() => {
                return Err(depends_on_order("center must be running or none"));
            }
            Self { center: Some(center), .. } if center.prior != 0.0 => {
                "center-prior must be 0: its imaginary rows would be counted once for each part"
            }
            Self { start: Some(_), center: None, .. } => "rows must be measured from zero or from their mean",
            Self { clip: Some(_), .. } => return Err(depends_on_order("clip must be none")),
            Self { missing: Missing::Fill, .. } => return Err(depends_on_order("missing must be fail or skip")),
            _ => return Ok(()),
        };
        Err(Error::Merge(sentence.to_owned()))
    }
}

fn depends_on_order(rule: &str) -> Error {
    Error::Merge(format!("{rule}: the outcome would depend on the order of rows"))
}
