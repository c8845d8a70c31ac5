//! The end of a warm-up: scale of the columns, weights of the rows, shape, limits.
//!
//! **Robust fit.** The rows of the warm-up need not all be normal. Mean, scale and directions are fitted [`REFITS`] more times,
//! each time with weights from the scores of the previous fit. If the scores are not autocorrelated (τ below [`ISOLATED`]), the
//! worst tenth of the rows are isolated outliers and are left out. Otherwise they are segments of the process, which must stay
//! in: a row above the 90 % point has the weight `point/score`.

use super::changes::Changes;
use super::channel::Channel;
use super::drift::{Drift, wanders};
use super::events::Events;
use super::flags::Flags;
use super::lags::Lags;
use super::last_rows::LastRows;
use super::limits::{TENTH, time_between_independent};
use super::options::Choose;
use super::repeats::Repeats;
use super::shape::{Kept, Parts, Sample, Shape};
use super::tails::{Tails, quantile};
use super::{Differences, Fitted, Monitor};
use crate::columns::{Columns, cannot_standardize};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::Scratch;
use crate::standardize::{Standardize, Standardizer};

/// Number of times the robust fit is repeated.
const REFITS: usize = 3;
/// Number of times that missing cells are filled in from the directions.
const FILLINGS: usize = 8;
/// Maximum autocorrelation time of rows that count as independent.
const ISOLATED: f64 = 1.5;
/// Median autocorrelation of the columns above which the differences between rows are scored too.
const AUTOCORRELATED: f64 = 0.95;

impl Monitor {
    /// Ends the warm-up with the rows received so far. On an error nothing changes.
    pub fn end_warm_up(&mut self) -> Result<(), Error> {
        if self.fitted.is_some() && !self.is_borrowed {
            return Ok(());
        }
        let (standardizer, fitted) = self.fit(&self.waiting)?;
        let count = self.waiting.len() as u64;
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        self.fitted = Some(Box::new(fitted));
        self.waiting = Vec::new();
        self.is_borrowed = false;
        self.totals.warm_up = count;
        Ok(())
    }

    /// Makes the most recent rows the new reference: the rows since the start of the drift, or as many as the warm-up
    /// had. On an error nothing changes.
    ///
    /// The rows are stored for this purpose, so the new reference takes effect at once. At least 20 rows,
    /// plus lags, are required.
    pub fn accept(&mut self) -> Result<(), Error> {
        let least = self.options.least_warm_up(self.width);
        let too_few = |rows| Error::TooFewRows { rows, least };
        let Some(fitted) = self.fitted.as_ref() else { return Err(too_few(self.waiting.len())) };
        let start = fitted.drift.start();
        let since = start.map_or(u64::MAX, |start| self.totals.rows.saturating_sub(start));
        let rows = fitted.last_rows.newest(usize::try_from(since).unwrap_or(usize::MAX));
        if rows.len() < least {
            return Err(too_few(rows.len()));
        }
        let (standardizer, mut fitted) = self.fit(&rows)?;
        if let Some(old) = self.fitted.take() {
            (fitted.events, fitted.last_rows) = (old.events, old.last_rows);
        }
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        self.fitted = Some(Box::new(fitted));
        (self.waiting, self.is_borrowed) = (Vec::new(), false);
        self.totals.accepted += 1;
        Ok(())
    }

    /// Borrows the reference of another monitor until this one has enough rows for its own warm-up. The
    /// reference is moved to the level of this monitor's rows. Does nothing if there are fewer than 20 rows,
    /// plus lags.
    pub fn borrow_reference(&mut self, other: &Self) {
        let Some(reference) = other.fitted.as_ref().filter(|_| self.fitted.is_none()) else { return };
        if self.waiting.len() < self.options.least_warm_up(self.width) {
            return;
        }
        let mut fitted = reference.clone();
        let standardizer = other.columns.standardizer.moved_to(&self.waiting_means());
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
        fill_with_means(&mut rows);
        let level = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len().max(1) as f64;
        let levels: Vec<f64> = (0..self.width).map(level).map(|x| if x.is_finite() { x } else { 0.0 }).collect();
        fitted.levels.move_to(&levels);
        fitted.forget_state(self.width);
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        self.fitted = Some(fitted);
        self.is_borrowed = true;
        self.begin_table();
    }

    /// Returns the mean of each column over the warm-up rows received so far, without missing cells. The mean of a
    /// column without cells is 0.
    fn waiting_means(&self) -> Vec<f64> {
        let of_column = |j: usize| {
            let seen = || self.waiting.iter().map(|row| row[j]).filter(|x| !x.is_nan());
            seen().sum::<f64>() / seen().count().max(1) as f64
        };
        (0..self.width).map(of_column).map(|mean| if mean.is_finite() { mean } else { 0.0 }).collect()
    }

    /// Returns the deviation of the last warm-up row from the mean of the earlier rows, or `None` before the second
    /// row. The deviation is scaled to have the variance of a row around its true mean.
    pub(super) fn last_deviation(&self) -> Option<Vec<f64>> {
        let (last, before) = self.waiting.split_last()?;
        let of_column = |(j, x): (usize, &f64)| {
            let seen = || before.iter().map(|row| row[j]).filter(|x| !x.is_nan());
            let count = seen().count() as f64;
            (x - seen().sum::<f64>() / count) * (count / (count + 1.0)).sqrt()
        };
        (!before.is_empty()).then(|| last.iter().enumerate().map(of_column).collect())
    }

    /// Fits the scale and the state to rows that are assumed to be normal.
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
        let Robust { standardizer, rows, weights } = robust;
        let repeats = Repeats::fit(raw_rows);
        let of_flags: Vec<[f64; 2]> = raw_rows.iter().map(|raw| flags.enter(raw, true)).collect();
        let has_differences = match options.differences {
            Choose::Fixed(is_on) => is_on,
            Choose::Auto => median_autocorrelation(&rows) >= AUTOCORRELATED,
        };
        let rule = if has_differences { options.limit.halved() } else { options.limit };
        let active = self.width - flags.len();
        let fit = |rows: &[Vec<f64>], weights: &[f64], of_flags: &[[f64; 2]], gap: usize| {
            let (vectors, last) = embedded(rows, lags);
            let weights: Vec<f64> = weights.windows(lags + 1).map(least).collect();
            let sample = Sample { rows: &vectors, weights: &weights, active: active * (lags + 1) };
            let (channel, scores) = Channel::fit(sample, &of_flags[lags..], gap, options.kept, rule);
            (channel, scores, last)
        };
        let (levels, scores, lagged) = fit(&rows, &weights, &of_flags, lags);
        let differences = if has_differences {
            let steps: Vec<Vec<f64>> = rows.windows(2).map(|pair| difference(&pair[1], &pair[0])).collect();
            let Robust { standardizer, rows: steps, weights } = Robust::fit(&steps, &flags, true, options.kept)?;
            let (channel, _, lags) = fit(&steps, &weights, &vec![[0.0; 2]; steps.len()], lags + 1);
            let previous = rows.last().cloned().unwrap_or_default();
            let (step, causes) = (Scratch::default(), Scratch::default());
            Some(Differences { channel, lags, standardizer, previous, step, causes })
        } else {
            None
        };
        let limit = levels.reference_limit;
        let ratios: Vec<f64> = scores.iter().map(|score| score / limit).collect();
        let is_wandering = (0..self.width).any(|j| wanders(&rows.iter().map(|row| row[j]).collect::<Vec<_>>()));
        let mut changes = Changes::new(self.width, options.change_time);
        changes.begin(scores.iter().copied(), time_between_independent(&scores));
        let fitted = Fitted {
            drift: Drift::fit(&ratios, options.drift_time, is_wandering, self.width),
            levels,
            lags: lagged,
            differences,
            flags,
            repeats,
            changes,
            events: Events::new(self.width),
            last_rows: LastRows::new(raw_rows, self.width),
            causes: Scratch::default(),
        };
        Ok((standardizer, fitted))
    }
}

/// Rows in standard units, with the weights of a robust fit.
struct Robust {
    standardizer: Standardizer,
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Robust {
    fn fit(raw_rows: &[Vec<f64>], flags: &Flags, standardize: bool, kept: Kept) -> Result<Self, Error> {
        let width = raw_rows.first().map_or(0, Vec::len);
        let mut weights = vec![1.0; raw_rows.len()];
        let mut refit = 0;
        loop {
            let standardizer = if standardize {
                let (means, variances) = weighted_moments(raw_rows, &weights)?;
                Standardizer::settled(raw_rows.len() as u64, &means, &variances)
            } else {
                let mut none = Standardizer::new(Standardize::None, width);
                none.settle();
                none
            };
            let mut rows = Vec::with_capacity(raw_rows.len());
            for raw in raw_rows {
                let mut row = Vec::new();
                standardizer.apply(raw, &mut row).map_err(|index| cannot_standardize(raw, index))?;
                flags.blank(&mut row);
                rows.push(row);
            }
            fill_from_directions(&mut rows, &weights, kept, width - flags.len());
            if refit == REFITS {
                return Ok(Self { standardizer, rows, weights });
            }
            weights = weights_of(&rows, &weights, kept, width - flags.len());
            refit += 1;
        }
    }
}

/// Computes the weighted mean and variance of each column. Missing cells are ignored.
fn weighted_moments(rows: &[Vec<f64>], weights: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let width = rows.first().map_or(0, Vec::len);
    let mut means = Vec::with_capacity(width);
    let mut variances = Vec::with_capacity(width);
    for j in 0..width {
        let moments = |weight: &dyn Fn(usize) -> f64| {
            let cells =
                || rows.iter().enumerate().map(|(t, row)| (weight(t), row[j])).filter(|(w, x)| *w > 0.0 && !x.is_nan());
            let total = cells().map(|(w, _)| w).sum::<f64>().max(f64::MIN_POSITIVE);
            let mean = cells().map(|(w, x)| w / total * x).sum::<f64>();
            (mean, cells().map(|(w, x)| w / total * (x - mean).powi(2)).sum::<f64>())
        };
        let (mean, variance) = moments(&|_| 1.0);
        if !variance.is_finite() {
            let spoils = |row: &&Vec<f64>| !(row[j] - mean).powi(2).is_finite();
            let row = rows.iter().find(spoils).unwrap_or(&rows[0]);
            return Err(cannot_standardize(row, j));
        }
        let (own_mean, own_variance) = moments(&|t| weights[t]);
        // A column that varies only in rows of zero weight gets the scale of all rows.
        let is_lost = own_variance <= 1e-18 * variance;
        means.push(if is_lost { mean } else { own_mean });
        variances.push(if is_lost { variance } else { own_variance });
    }
    Ok((means, variances))
}

/// Computes the weights of the rows for the next robust fit, from a fit with the current weights.
fn weights_of(rows: &[Vec<f64>], weights: &[f64], kept: Kept, active: usize) -> Vec<f64> {
    let (vectors, _) = embedded(rows, 0);
    let shape = Shape::fit(Sample { rows: &vectors, weights, active }, 0..0, kept);
    let mut parts = Parts::default();
    let statistics: Vec<[f64; 3]> = rows.iter().map(|row| shape.look(row, shape.mean(), &mut parts)).collect();
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

/// Fills missing cells from the directions of the rows. Directions and cells are recomputed in turn [`FILLINGS`] times,
/// starting with the column means, which alone would be far from the directions.
fn fill_from_directions(rows: &mut [Vec<f64>], weights: &[f64], kept: Kept, active: usize) {
    let gaps_of = |row: &Vec<f64>| (0..row.len()).filter(|j| row[*j].is_nan()).collect::<Vec<usize>>();
    let gaps: Vec<(usize, Vec<usize>)> =
        rows.iter().map(gaps_of).enumerate().filter(|(_, columns)| !columns.is_empty()).collect();
    fill_with_means(rows);
    let fillings = if gaps.is_empty() { 0 } else { FILLINGS };
    for _ in 0..fillings {
        let (vectors, _) = embedded(rows, 0);
        let mut shape = Shape::fit(Sample { rows: &vectors, weights, active }, 0..0, kept);
        let level = shape.mean().to_vec();
        for (t, columns) in &gaps {
            columns.iter().for_each(|j| rows[*t][*j] = f64::NAN);
            shape.fill(&mut rows[*t], &level);
        }
    }
}

/// Replaces missing cells by the means of their columns.
fn fill_with_means(rows: &mut [Vec<f64>]) {
    let width = rows.first().map_or(0, Vec::len);
    for j in 0..width {
        let seen = || rows.iter().map(|row| row[j]).filter(|x| !x.is_nan());
        let mean = seen().sum::<f64>() / seen().count().max(1) as f64;
        rows.iter_mut().filter(|row| row[j].is_nan()).for_each(|row| row[j] = mean);
    }
}

/// Appends lags to the rows. Returns the lagged rows as columns of a matrix, and the buffer of the most recent rows.
fn embedded(rows: &[Vec<f64>], count: usize) -> (Matrix, Lags) {
    let width = rows.first().map_or(0, Vec::len);
    let mut lags = Lags::new(width, count);
    let mut vectors = Matrix::zeros(width * (count + 1), 0);
    for row in rows {
        lags.push(row);
        lags.row().into_iter().for_each(|vector| vectors.push_column(vector));
    }
    (vectors, lags)
}

/// Returns the median lag-one autocorrelation of the columns that vary.
fn median_autocorrelation(rows: &[Vec<f64>]) -> f64 {
    let width = rows.first().map_or(0, Vec::len);
    let count = rows.len() as f64;
    let of_column = |j: usize| {
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / count;
        let energy: f64 = rows.iter().map(|row| (row[j] - mean).powi(2)).sum();
        let along: f64 = rows.windows(2).map(|pair| (pair[0][j] - mean) * (pair[1][j] - mean)).sum();
        (energy > 0.0).then(|| along / energy)
    };
    let mut all: Vec<f64> = (0..width).filter_map(of_column).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
