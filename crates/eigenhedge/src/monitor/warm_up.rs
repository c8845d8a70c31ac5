//! End of a warm-up: scale of the columns, weights of the rows, shape, limits.
//!
//! **Robust fit.** Mean, scale and directions are fitted [`REFITS`] more times, each time with weights from the scores
//! of the previous fit. If the scores are not autocorrelated (τ below [`ISOLATED`]), the worst tenth of the rows count
//! as isolated outliers and are left out. Otherwise high scores belong to segments of the process, which must stay in:
//! a row above the 90 % point has the weight `point/score`. For large problems with many directions, such as noise, the
//! refits before the last keep the directions of the first fit.

use super::changes::Changes;
use super::channel::Channel;
use super::events::Events;
use super::flags::Flags;
use super::incidents::{Incident, Incidents};
use super::lags::Lags;
use super::last_rows::LastRows;
use super::limits::{TENTH, time_between_independent};
use super::options::Choose;
use super::repeats::Repeats;
use super::rounding::Rounding;
use super::scales::{self, Scales};
use super::shape::{Folds, Gaps, Kept, LARGE, Sample, Shape, is_dense};
use super::tails::{Tails, quantile};
use super::{Differences, Fitted, Monitor};
use crate::columns::{Columns, cannot_standardize};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::Scratch;
use crate::standardize::{Standardize, Standardizer};

const REFITS: usize = 3;
const FILLINGS: usize = 8;
/// Change of the filled cells at which the filling stops.
const SETTLED: f64 = 1e-6;
/// Autocorrelation time τ of the scores below which rows count as independent.
const ISOLATED: f64 = 1.5;
/// Median over the columns of the autocorrelation at lag 1 from which the differences between rows are scored too.
const AUTOCORRELATED: f64 = 0.95;

impl Monitor {
    /// Ends the warm-up with the rows received so far. Has no effect once the monitor has its own reference.
    pub fn end_warm_up(&mut self) -> Result<(), Error> {
        if self.fitted.is_some() && !self.is_borrowed {
            return Ok(());
        }
        let (standardizer, fitted) = self.fit(&self.waiting)?;
        self.totals.warm_up = self.waiting.len() as u64;
        self.set_reference(standardizer, fitted);
        Ok(())
    }

    /// Replaces the reference. Returns the incident that this ends.
    fn set_reference(&mut self, standardizer: Standardizer, mut fitted: Fitted) -> Option<Incident> {
        let mut closed = None;
        if let Some(mut old) = self.fitted.take() {
            closed = old.incidents.close(true);
            fitted.incidents.continue_from(&old.incidents);
            fitted.events = old.events;
        }
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        self.fitted = Some(Box::new(fitted));
        (self.waiting, self.is_borrowed) = (Vec::new(), false);
        closed
    }

    /// Makes the rows since the start of the ongoing incident the new reference, ends the incident, and returns it.
    /// Without one, takes all stored rows, which are at most as many as the warm-up had. At least 20 rows more than the
    /// lags are required. On an error nothing changes.
    pub fn accept(&mut self) -> Result<Option<Incident>, Error> {
        let least = self.options.least_warm_up(self.width);
        let too_few = |rows| Error::TooFewRows { rows, least };
        let Some(fitted) = self.fitted.as_ref() else { return Err(too_few(self.waiting.len())) };
        let since = self.incident_rows().and_then(|since| usize::try_from(since).ok());
        let rows = fitted.last_rows.newest(since.unwrap_or(usize::MAX));
        if rows.len() < least {
            return Err(too_few(rows.len()));
        }
        let (standardizer, mut fitted) = self.fit(&rows)?;
        self.fitted.iter_mut().for_each(|old| fitted.last_rows = std::mem::take(&mut old.last_rows));
        self.totals.accepted += 1;
        Ok(self.set_reference(standardizer, fitted))
    }

    /// Borrows the reference of another monitor, moved to the level of this monitor's rows, until this one has enough
    /// rows for its own. Has no effect without such a reference, with one, or with fewer than 20 rows more than the lags.
    pub fn borrow_reference(&mut self, other: &Self) {
        let Some(reference) = other.fitted.as_ref().filter(|_| self.fitted.is_none()) else { return };
        if self.waiting.len() < self.options.least_warm_up(self.width) {
            return;
        }
        let mut fitted = reference.clone();
        let standardizer = other.columns.standardizer.moved_to(&means(&self.waiting, self.width));
        fitted.flags.adopt_constants(&self.waiting);
        let mut rows = Vec::with_capacity(self.waiting.len());
        for raw in &self.waiting {
            let mut row = Vec::new();
            // A row far from all others cannot be scaled and is ignored.
            if standardizer.apply(raw, &mut row).is_ok() {
                fitted.flags.blank(&mut row);
                rows.push(row);
            }
        }
        let level = means(&rows, self.width);
        fitted.levels.move_to(&level);
        fitted.incidents.lend(&level);
        fitted.forget_state(self.width);
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        self.fitted = Some(fitted);
        self.is_borrowed = true;
        self.begin_table();
    }

    /// Returns the deviation of the last warm-up row from the mean of the earlier ones, scaled to the variance of a row.
    pub(super) fn last_deviation(&self) -> Option<Vec<f64>> {
        let (last, before) = self.waiting.split_last()?;
        let of_column = |(j, x): (usize, &f64)| {
            let seen = || before.iter().map(|row| row[j]).filter(|x| !x.is_nan());
            let count = seen().count() as f64;
            (x - seen().sum::<f64>() / count) * (count / (count + 1.0)).sqrt()
        };
        (!before.is_empty()).then(|| last.iter().enumerate().map(of_column).collect())
    }

    fn fit(&self, raw_rows: &[Vec<f64>]) -> Result<(Standardizer, Fitted), Error> {
        let options = &self.options;
        let lags = self.lags();
        let count = raw_rows.len();
        let least_rows = options.least_warm_up(self.width);
        if count < least_rows {
            return Err(Error::TooFewRows { rows: count, least: least_rows });
        }
        let mut flags = Flags::find(raw_rows);
        let robust = Robust::fit(raw_rows, &flags, options.standardize, options.kept)?;
        let Robust { standardizer, rows, weights, shape } = robust;
        let mut columns = Matrix::default();
        columns.transpose_of(&rows);
        let repeats = Repeats::fit(raw_rows);
        let of_flags: Vec<[f64; 2]> = raw_rows.iter().map(|raw| flags.enter(raw, true)).collect();
        let has_differences = match options.differences {
            Choose::Fixed(is_on) => is_on,
            Choose::Auto => median_autocorrelation(&columns) >= AUTOCORRELATED,
        };
        let rule = if has_differences { options.limit.halved() } else { options.limit };
        let active = self.width - flags.len();
        let fit = |lagged: &Lagged, gap: usize, shape: Shape| {
            let sample = lagged.sample(active);
            let shape = if lags == 0 { shape } else { Shape::fit(sample, 0..0, options.kept) };
            Folds::fit(sample, shape, gap, options.kept)
        };
        let lagged = Lagged::new(&rows, &weights, lags);
        let (sample, of_rows) = (lagged.sample(active), &of_flags[lags..]);
        let folds = fit(&lagged, lags, shape);
        let (levels, scores) = Channel::fit(sample, &folds, of_rows, rule);
        let kept = scales::kept(sample.rows.columns());
        // Long rows take too long to decompose again.
        let folds = match sample.rows.rows() < LARGE {
            true => Folds::fit(sample, Shape::fit(sample, 0..0, kept), lags, kept),
            false => folds,
        };
        let scales = Scales::fit(sample, folds, of_rows, options.incident_time);
        let differences = if has_differences {
            let steps: Vec<Vec<f64>> = (1..count).map(|t| difference(rows.column(t), rows.column(t - 1))).collect();
            let Robust { standardizer, rows: steps, weights, shape } = Robust::fit(&steps, &flags, true, options.kept)?;
            let lagged = Lagged::new(&steps, &weights, lags);
            let folds = fit(&lagged, lags + 1, shape);
            let none = vec![[0.0; 2]; lagged.vectors.columns()];
            let (channel, _) = Channel::fit(lagged.sample(active), &folds, &none, rule);
            let previous = rows.column(count - 1).to_vec();
            let (step, causes) = (Scratch::default(), Scratch::default());
            Some(Differences { channel, lags: lagged.last, standardizer, previous, step, causes })
        } else {
            None
        };
        let mut changes = Changes::new(self.width, options.change_time);
        changes.begin(scores.iter().copied(), time_between_independent(&scores));
        let fitted = Fitted {
            rounding: Rounding::fit(raw_rows, &standardizer.scale().collect::<Vec<_>>()),
            incidents: Incidents::new(scales, options.incident_time),
            levels,
            lags: lagged.last,
            differences,
            flags,
            repeats,
            changes,
            events: Events::new(self.width),
            last_rows: LastRows::new(raw_rows, self.width),
            causes: Scratch::default(),
            incident_causes: Scratch::default(),
            half_steps: Scratch::default(),
        };
        Ok((standardizer, fitted))
    }
}

/// Rows in standard units, as columns of a matrix, with the weights of a robust fit.
struct Robust {
    standardizer: Standardizer,
    rows: Matrix,
    weights: Vec<f64>,
    shape: Shape,
}

impl Robust {
    fn fit(raw_rows: &[Vec<f64>], flags: &Flags, standardize: bool, kept: Kept) -> Result<Self, Error> {
        let width = raw_rows.first().map_or(0, Vec::len);
        let active = width - flags.len();
        let mut weights = vec![1.0; raw_rows.len()];
        let (mut rows, mut row) = (Matrix::zeros(width, raw_rows.len()), Vec::new());
        let mut gaps: Vec<Gaps> = Vec::new();
        let of_all = if standardize { finite_moments(raw_rows, &weights)? } else { <(Vec<f64>, Vec<f64>)>::default() };
        let (mut refit, mut last) = (0, None::<Shape>);
        loop {
            let standardizer = if standardize {
                let (means, variances) = robust_moments(raw_rows, &weights, &of_all);
                Standardizer::settled(raw_rows.len() as u64, &means, &variances)
            } else {
                let mut none = Standardizer::new(Standardize::None, width);
                none.settle();
                none
            };
            for (t, raw) in raw_rows.iter().enumerate() {
                standardizer.apply(raw, &mut row).map_err(|index| cannot_standardize(raw, index))?;
                flags.blank(&mut row);
                // A missing cell keeps its value from the previous fit.
                let cells = rows.column_mut(t).iter_mut().zip(&row);
                cells.filter(|(_, x)| !x.is_nan()).for_each(|(cell, x)| *cell = *x);
                let missing = || (0..width).filter(|j| row[*j].is_nan());
                if refit == 0 && missing().next().is_some() {
                    gaps.push((t, missing().collect()));
                }
            }
            if refit == 0 {
                fill_with_means(&mut rows, &gaps);
            }
            let (near, size) = (last.as_ref().map(|shape| shape.basis.columns()), width.min(raw_rows.len()));
            let keeps = refit < REFITS && near.is_some_and(|k| is_dense(size, k));
            let within = last.as_ref().filter(|_| keeps).map(|shape| &shape.basis);
            let shape = fill_from_directions(&mut rows, &gaps, (&weights, active, near), within, kept);
            if refit == REFITS {
                return Ok(Self { standardizer, rows, weights, shape });
            }
            weights = weights_of(&rows, &shape);
            last = Some(shape);
            refit += 1;
        }
    }
}

fn weighted_moments(rows: &[Vec<f64>], weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let width = rows.first().map_or(0, Vec::len);
    let used = || rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    let mut totals = vec![0.0; width];
    for (row, weight) in used() {
        totals.iter_mut().zip(row).for_each(|(total, x)| *total += if x.is_nan() { 0.0 } else { *weight });
    }
    totals.iter_mut().for_each(|total| *total = total.max(f64::MIN_POSITIVE));
    let mut means = vec![0.0; width];
    for (row, weight) in used() {
        let cells = means.iter_mut().zip(row).zip(&totals);
        cells.for_each(|((mean, x), total)| *mean += if x.is_nan() { 0.0 } else { weight / total * x });
    }
    let mut variances = vec![0.0; width];
    for (row, weight) in used() {
        for (((variance, x), mean), total) in variances.iter_mut().zip(row).zip(&means).zip(&totals) {
            *variance += if x.is_nan() { 0.0 } else { weight / total * (x - mean).powi(2) };
        }
    }
    (means, variances)
}

fn means(rows: &[Vec<f64>], width: usize) -> Vec<f64> {
    let (mut means, _) = weighted_moments(rows, &vec![1.0; rows.len()]);
    means.resize(width, 0.0);
    means.iter_mut().filter(|mean| !mean.is_finite()).for_each(|mean| *mean = 0.0);
    means
}

fn finite_moments(rows: &[Vec<f64>], weights: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (means, variances) = weighted_moments(rows, weights);
    let Some(j) = variances.iter().position(|variance| !variance.is_finite()) else { return Ok((means, variances)) };
    let row = rows.iter().find(|row| !(row[j] - means[j]).powi(2).is_finite()).unwrap_or(&rows[0]);
    Err(cannot_standardize(row, j))
}

/// A column that varies only in rows of zero weight gets the unweighted moments `of_all`.
fn robust_moments(rows: &[Vec<f64>], weights: &[f64], of_all: &(Vec<f64>, Vec<f64>)) -> (Vec<f64>, Vec<f64>) {
    let (mut means, mut variances) = weighted_moments(rows, weights);
    for j in (0..means.len()).filter(|j| variances[*j] <= 1e-18 * of_all.1[*j]).collect::<Vec<_>>() {
        (means[j], variances[j]) = (of_all.0[j], of_all.1[j]);
    }
    (means, variances)
}

fn weights_of(rows: &Matrix, shape: &Shape) -> Vec<f64> {
    let mut centered = rows.clone();
    for t in 0..rows.columns() {
        centered.column_mut(t).iter_mut().zip(&shape.mean).for_each(|(x, mean)| *x -= mean);
    }
    let statistics = shape.statistics(&centered);
    let tails = Tails::fit(&statistics, shape.floors());
    let scores: Vec<f64> = statistics.iter().map(|row| tails.score(row)).collect();
    let mut sorted = scores.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let point = quantile(&sorted, 1.0 - TENTH);
    let is_isolated = time_between_independent(&scores) < ISOLATED;
    let weight = |score: &f64| match is_isolated {
        true => f64::from(u8::from(*score <= point)),
        false if *score > point => point / score,
        false => 1.0,
    };
    scores.iter().map(weight).collect()
}

fn least(weights: &[f64]) -> f64 {
    weights.iter().copied().fold(1.0, f64::min)
}

fn difference(later: &[f64], earlier: &[f64]) -> Vec<f64> {
    later.iter().zip(earlier).map(|(b, a)| b - a).collect()
}

/// Recomputes directions and missing cells in turn until the cells are settled. Returns the shape of the rows.
fn fill_from_directions(
    rows: &mut Matrix,
    gaps: &[Gaps],
    (weights, active, mut near): (&[f64], usize, Option<usize>),
    within: Option<&Matrix>,
    kept: Kept,
) -> Shape {
    for _ in 0..FILLINGS {
        let mut shape = Shape::fit(Sample { rows: &*rows, weights, active, near, within }, 0..0, kept);
        if shape.fill_all(rows, gaps) <= SETTLED {
            return shape;
        }
        near = Some(shape.basis.columns());
    }
    Shape::fit(Sample { rows: &*rows, weights, active, near, within }, 0..0, kept)
}

/// Replaces missing cells, which are zero, by the means of their columns.
fn fill_with_means(rows: &mut Matrix, gaps: &[Gaps]) {
    let mut sums = vec![0.0; rows.rows()];
    let mut counts = vec![rows.columns(); rows.rows()];
    for t in 0..rows.columns() {
        sums.iter_mut().zip(rows.column(t)).for_each(|(sum, x)| *sum += x);
    }
    gaps.iter().flat_map(|(_, missing)| missing).for_each(|j| counts[*j] -= 1);
    for (t, missing) in gaps {
        missing.iter().for_each(|j| rows.column_mut(*t)[*j] = sums[*j] / counts[*j].max(1) as f64);
    }
}

/// Weighted rows, each followed by its lags, as columns of a matrix, and the most recent rows.
struct Lagged {
    vectors: Matrix,
    weights: Vec<f64>,
    last: Lags,
    lags: usize,
}

impl Lagged {
    fn new(rows: &Matrix, weights: &[f64], lags: usize) -> Self {
        let mut last = Lags::new(rows.rows(), lags);
        let mut vectors = Matrix::zeros(rows.rows() * (lags + 1), 0);
        for t in 0..rows.columns() {
            last.push(rows.column(t));
            last.row().into_iter().for_each(|vector| vectors.push_column(vector));
        }
        Self { vectors, weights: weights.windows(lags + 1).map(least).collect(), last, lags }
    }

    fn sample(&self, active: usize) -> Sample<'_> {
        let active = active * (self.lags + 1);
        Sample { rows: &self.vectors, weights: &self.weights, active, near: None, within: None }
    }
}

fn median_autocorrelation(columns: &Matrix) -> f64 {
    let of_column = |j: usize| {
        let column = columns.column(j);
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        let energy: f64 = column.iter().map(|x| (x - mean).powi(2)).sum();
        let along: f64 = column.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        (energy > 0.0).then(|| along / energy)
    };
    let mut all: Vec<f64> = (0..columns.columns()).filter_map(of_column).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
