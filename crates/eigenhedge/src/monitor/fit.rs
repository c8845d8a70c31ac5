//! The end of a warm-up: scale of the columns, directions, limits.

use super::changes::Changes;
use super::detector::Detector;
use super::events::Events;
use super::lags::Lags;
use super::options::{Choose, LEAST_WARM_UP};
use super::repeats::Repeats;
use super::{Differences, Fitted, Monitor};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::model::{Columns, cannot_standardize};
use crate::scratch::Scratch;
use crate::standardize::{Standardize, Standardizer};

/// Median autocorrelation of levels from which differences have a score of their own.
const AUTOCORRELATED: f64 = 0.95;

impl Monitor {
    /// Ends the warm-up with the rows there are. An error leaves everything as it was.
    pub fn end_warm_up(&mut self) -> Result<(), Error> {
        if self.fitted.is_some() {
            return Ok(());
        }
        let lags = self.lags();
        let count = self.waiting.len();
        if count < LEAST_WARM_UP + lags {
            return Err(Error::TooFewRows { rows: count, least: LEAST_WARM_UP + lags });
        }
        let standardizer = self.scale_of_warm_up()?;
        let mut rows = Vec::with_capacity(count);
        let mut repeats = Repeats::new(self.width);
        for raw in &self.waiting {
            let mut row = Vec::new();
            standardizer.apply(raw, &mut row).map_err(|index| cannot_standardize(raw, index))?;
            rows.push(row);
            repeats.learn(raw);
        }
        fill_with_means(&mut rows);
        let options = &self.options;
        let has_differences = match options.differences {
            Choose::Fixed(is_on) => is_on,
            Choose::Auto => median_autocorrelation(&rows) >= AUTOCORRELATED,
        };
        let rule = if has_differences { options.limit.halved() } else { options.limit };
        let (vectors, lagged) = embedded(&rows, lags);
        let levels = Detector::fit(&vectors, lags, options.kept, rule);
        let differences = has_differences.then(|| {
            let steps: Vec<Vec<f64>> =
                rows.windows(2).map(|pair| pair[1].iter().zip(&pair[0]).map(|(b, a)| b - a).collect()).collect();
            let (vectors, lags_of_steps) = embedded(&steps, lags);
            Differences {
                detector: Detector::fit(&vectors, lags + 1, options.kept, rule),
                lags: lags_of_steps,
                previous: rows.last().cloned().unwrap_or_default(),
                causes: Scratch::default(),
            }
        });
        let mut changes = Changes::new(self.width, options.change_time);
        changes.begin(levels.recent_scores(), levels.limits.tau);
        self.columns = Columns::new(self.columns.names.take(), standardizer);
        let events = Events::new(self.width);
        let causes = Scratch::default();
        self.fitted = Some(Box::new(Fitted { levels, lags: lagged, differences, repeats, changes, events, causes }));
        self.waiting = Vec::new();
        self.totals.warm_up = count as u64;
        Ok(())
    }

    /// The scale of the columns in the warm-up.
    fn scale_of_warm_up(&self) -> Result<Standardizer, Error> {
        let how = if self.options.standardize { Standardize::Warmup(u64::MAX) } else { Standardize::None };
        let mut standardizer = Standardizer::new(how, self.width);
        for raw in &self.waiting {
            if let Some(index) = standardizer.spoiled(raw) {
                return Err(cannot_standardize(raw, index));
            }
            standardizer.count_in(raw);
        }
        standardizer.settle();
        Ok(standardizer)
    }
}

/// Fills missing cells with the means of their columns.
fn fill_with_means(rows: &mut [Vec<f64>]) {
    let width = rows.first().map_or(0, Vec::len);
    for j in 0..width {
        let seen = || rows.iter().map(|row| row[j]).filter(|x| !x.is_nan());
        let mean = seen().sum::<f64>() / seen().count().max(1) as f64;
        rows.iter_mut().filter(|row| row[j].is_nan()).for_each(|row| row[j] = mean);
    }
}

/// Rows with the rows before them, in the columns of a matrix; and the last of them.
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

/// Median over the columns that move of the correlation of a cell with the one before it.
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
