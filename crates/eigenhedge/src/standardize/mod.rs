//! Standardization of columns to mean 0 and standard deviation 1, without looking ahead except in a warm-up.
//!
//! **Running.** A row `x` becomes `(x - mean) / deviation`, where both come from the previous rows. A few rows determine
//! a deviation poorly, so the variance is `(S + c d²) / (t + c)`. Here t is the number of rows, S the sum of their squared
//! distances from the mean, d the largest distance among the first rows, and c = 4 the number of prior rows at distance
//! d. The first rows end when `S ≥ c d²`. Until then d includes the current row, so that no scaled cell exceeds
//! `√(1 + t/c)`. A column that has been constant so far gives 0, and all its rows count as one row.
//!
//! **Warm-up.** All rows are scaled by the mean and deviation of the first ones. A constant column is only shifted. A
//! stream shorter than the warm-up is scaled by all its rows.
//!
//! **Cost.** One square root and one division per cell. Four numbers are stored per column.
//!
//! **Numerics.** Welford's updates avoid cancellation when the mean is large. A row whose squared distance from the mean
//! overflows is rejected. NaN cells stay NaN and are not counted.

use crate::error::Error;
use crate::state::{LARGEST, count, energy, ensure, length, within};
use serde::{Deserialize, Serialize};

/// Method of scaling the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Standardize {
    /// No scaling.
    #[default]
    None,
    /// Scale by the mean and standard deviation of all previous rows.
    Running,
    /// Scale by the mean and standard deviation of the first rows. The value is their number.
    Warmup(u64),
}

crate::error::by_name_or_rows!(Standardize, "standardize", None => "none", Running => "running"; Warmup => "warmup");

/// Statistics of the columns, and the scale computed from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    how: Standardize,
    rows: u64,
    columns: Vec<Column>,
    /// True if the scale is final, so that further rows do not change it.
    settled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Column {
    /// Number of observed cells. With a running scale, the cells of a column that is still constant count as one.
    count: u64,
    mean: f64,
    /// Sum of the squared distances of the cells from their mean.
    squares: f64,
    /// Largest squared distance from the mean among the first rows. Used only with a running scale.
    spread: f64,
}

/// Number of prior rows in the running variance.
const IMAGINARY: f64 = 4.0;

impl Column {
    fn spread_with(&self, square: f64) -> f64 {
        if self.squares < IMAGINARY * self.spread || self.spread == 0.0 { self.spread.max(square) } else { self.spread }
    }

    /// Adds a cell to the statistics. `running` is true for a running scale.
    fn count_in(&mut self, x: f64, running: bool) {
        let distance = x - self.mean;
        if running && self.count > 0 {
            if distance == 0.0 && self.spread == 0.0 {
                return;
            }
            self.spread = self.spread_with(distance * distance);
        }
        self.count += 1;
        self.mean += distance / self.count as f64;
        self.squares += distance * (x - self.mean);
    }

    fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            let (here, there) = (self.count as f64, other.count as f64);
            let way = other.mean - self.mean;
            self.count += other.count;
            self.mean += way * (there / (here + there));
            self.squares += other.squares + way * way * (here * (there / (here + there)));
        }
    }

    fn running(&self, x: f64) -> f64 {
        let distance = x - self.mean;
        match self.running_scale(x) {
            // NaN stays NaN.
            0.0 => 0.0 * distance,
            scale => distance / scale,
        }
    }

    /// Returns the divisor of a cell under the running scale, or 0 if all cells so far are equal.
    fn running_scale(&self, x: f64) -> f64 {
        let spread = self.spread_with((x - self.mean).powi(2));
        if self.count == 0 || spread == 0.0 { 0.0 } else { Self { spread, ..*self }.scale(true) }
    }

    fn settled(&self, x: f64) -> f64 {
        (x - self.mean) / self.scale(false)
    }

    fn scale(&self, running: bool) -> f64 {
        match running {
            true => ((self.squares + IMAGINARY * self.spread) / (self.count as f64 + IMAGINARY)).sqrt(),
            false if self.squares > 0.0 => (self.squares / self.count as f64).sqrt(),
            false => 1.0,
        }
    }
}

impl Standardizer {
    /// Creates a standardizer for rows of `width` columns that has seen no rows.
    pub fn new(how: Standardize, width: usize) -> Self {
        let width = if how == Standardize::None { 0 } else { width };
        Self { how, rows: 0, columns: vec![Column::default(); width], settled: how == Standardize::None }
    }

    pub(crate) fn check_width(&self, width: usize) -> Result<(), Error> {
        if self.how == Standardize::None { Ok(()) } else { length("standardized columns", self.columns.len(), width) }
    }

    /// Returns the method of scaling.
    pub fn how(&self) -> Standardize {
        self.how
    }

    /// Returns the mean of each column. The iterator is empty without scaling.
    pub fn mean(&self) -> impl ExactSizeIterator<Item = f64> {
        self.columns.iter().map(|column| column.mean)
    }

    /// Returns the divisor of each column, unless there is no scaling: 1 for a column that is only shifted, 0 for one that
    /// has been constant under a running scale, whose first rows [`Self::apply`] may divide by a larger number.
    pub fn scale(&self) -> impl Iterator<Item = f64> {
        self.columns.iter().map(|column| column.scale(self.how == Standardize::Running))
    }

    pub(crate) fn check_state(&self, width: usize) -> Result<(), Error> {
        let width = if self.how == Standardize::None { 0 } else { width };
        length("the statistics of columns", self.columns.len(), width)?;
        count("the number of rows that the scale of columns comes from", self.rows)?;
        for column in &self.columns {
            ensure(column.count <= self.rows, "the cells of a column must come from rows")?;
            within("the mean of a column", column.mean, -LARGEST..=LARGEST)?;
            energy("the spread of a column", column.squares + IMAGINARY * column.spread)?;
            let has_spread = column.squares != 0.0 || column.spread != 0.0;
            ensure(column.squares >= 0.0 && column.spread >= 0.0, "a spread must not be negative")?;
            let has_mean = column.mean != 0.0;
            ensure(column.count > 0 || !has_spread && !has_mean, "a mean and a spread must come from rows")?;
        }
        let can_settle = self.how != Standardize::Running;
        ensure(
            if self.settled { can_settle } else { self.how != Standardize::None },
            "statistics must be as they are used",
        )
    }

    pub(crate) fn moved_to(&self, means: &[f64]) -> Self {
        let mut moved = self.clone();
        moved.columns.iter_mut().zip(means).for_each(|(column, mean)| column.mean = *mean);
        moved
    }

    pub(crate) fn settled(rows: u64, means: &[f64], variances: &[f64]) -> Self {
        let column = |(mean, variance): (&f64, &f64)| Column {
            count: rows,
            mean: *mean,
            squares: variance * rows as f64,
            spread: 0.0,
        };
        let columns = means.iter().zip(variances).map(column).collect();
        Self { how: Standardize::Warmup(rows), rows, columns, settled: true }
    }

    /// Adds the statistics of another standardizer with the same number of columns. If neither warm-up has ended, they
    /// become those of all rows. If both have ended, the scales must be equal. All other cases are errors.
    ///
    /// ```
    /// use eigenhedge::{Standardize, Standardizer};
    /// let new = || Standardizer::new(Standardize::Warmup(9), 1);
    /// let (mut one, mut other) = (new(), new());
    /// one.count_in(&[1.0]);
    /// other.count_in(&[4.0]);
    /// other.count_in(&[7.0]);
    /// one.merge(&other)?;
    /// assert_eq!(one.mean().collect::<Vec<_>>(), [4.0]);
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        length("the columns of the other scale", other.columns.len(), self.columns.len())?;
        let sentence = match self.how {
            Standardize::Running => {
                "standardize must be none, or a scale that both models share, got running: each part has divided its rows by \
                 scales of its own"
            }
            _ if self.settled && self == other => return Ok(()),
            Standardize::Warmup(_) if !self.settled && !other.settled => {
                self.rows += other.rows;
                self.columns.iter_mut().zip(&other.columns).for_each(|(own, more)| own.merge(more));
                return Ok(());
            }
            _ => "the scale of columns must be the same, got two that come from different rows",
        };
        Err(Error::Merge(sentence.to_owned()))
    }

    /// Returns true if the warm-up has not ended, so that rows must still be buffered.
    pub fn is_warming_up(&self) -> bool {
        matches!(self.how, Standardize::Warmup(rows) if !self.settled && self.rows < rows)
    }

    /// Ends the warm-up and fixes the scale. Has no effect on a running scale.
    pub fn settle(&mut self) {
        self.settled = matches!(self.how, Standardize::Warmup(_) | Standardize::None);
    }

    /// Adds a row to the statistics, unless the scale is final. NaN cells are skipped.
    pub fn count_in(&mut self, raw: &[f64]) {
        if self.settled {
            return;
        }
        self.rows += 1;
        let running = self.how == Standardize::Running;
        let seen = self.columns.iter_mut().zip(raw).filter(|(_, x)| !x.is_nan());
        seen.for_each(|(column, x)| column.count_in(*x, running));
    }

    /// Returns the index of the first column whose statistics would overflow with this row.
    pub fn spoiled(&self, raw: &[f64]) -> Option<usize> {
        let spoils = |i: &usize| {
            let distance = raw[*i] - self.columns[*i].mean;
            let square = (1.0 + IMAGINARY) * distance * distance;
            !raw[*i].is_nan() && !(self.columns[*i].squares + square).is_finite()
        };
        if self.settled { None } else { (0..raw.len()).find(spoils) }
    }

    /// Writes the row in standard units to `row`. Returns `Err` with the index of the first column that overflows.
    pub fn apply(&self, raw: &[f64], row: &mut Vec<f64>) -> Result<(), usize> {
        row.clear();
        if self.how == Standardize::None {
            row.extend_from_slice(raw);
            return Ok(());
        }
        let in_units = if self.how == Standardize::Running { Column::running } else { Column::settled };
        row.extend(self.columns.iter().zip(raw).map(|(column, x)| in_units(column, *x)));
        let overflows = |(value, x): (&f64, &f64)| !value.is_finite() && !x.is_nan();
        row.iter().zip(raw).position(overflows).map_or(Ok(()), Err)
    }

    /// Converts a row from standard units to units of the input. A column whose divisor is 0 becomes its mean.
    pub fn undo(&self, row: &mut [f64]) {
        for ((x, mean), scale) in row.iter_mut().zip(self.mean()).zip(self.scale()) {
            *x = mean + scale * *x;
        }
    }

    /// Converts like [`Self::undo`]. A running scale is the one that [`Self::apply`] used for `raw`.
    pub(crate) fn undo_like(&self, raw: &[f64], row: &mut [f64]) {
        if self.how != Standardize::Running {
            return self.undo(row);
        }
        for ((x, column), seen) in row.iter_mut().zip(&self.columns).zip(raw) {
            let scale = if seen.is_nan() { column.scale(true) } else { column.running_scale(*seen) };
            *x = column.mean + scale * *x;
        }
    }
}

#[cfg(test)]
mod tests;
