//! Detection of stuck sensors, whose repeated values need not affect Q or T², and of long runs of missing cells.
//!
//! A column is stuck if its value has been the same for more rows than its limit, the largest of [`FEWEST`], `2 L + 3`
//! with the longest run L in the warm-up, and the length of a run with probability [`CHANCE`] if each row repeats the
//! previous one with the probability of the warm-up. Missing cells neither count nor end a run.
//!
//! Four rules prevent false reports of values that are often constant:
//!
//! - A column that was constant in the warm-up is never stuck.
//! - A value that repeated for [`FEWEST`] rows in the warm-up is never stuck.
//! - A value with at least [`COARSER`] decimals fewer than those of the warm-up is compared with the runs of the warm-up
//!   rounded to its decimals, because a source may round differently over time.
//! - A run beyond the limit that ends by itself raises the limit by its length. A raise decays in [`MEMORY`] rows.

use crate::error::Error;
use crate::state::{LARGEST, count, ensure, length, within};
use serde::{Deserialize, Serialize};

const FEWEST: u64 = 5;
const CHANCE: f64 = 1e-6;
/// Weight, in rows, of the share of repeats of all values in the estimated share of the most common value.
const PRIOR: f64 = 20.0;
/// Largest number of decimals that are distinguished.
const DECIMALS: usize = 6;
/// Number of decimals by which a value must be coarser than the warm-up to be compared with the rounded warm-up.
pub(super) const COARSER: usize = 2;
/// Number of cells from which the decimals of a column are determined.
const INSPECTED: usize = 200;
const MEMORY: f64 = 1000.0;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Repeats {
    columns: Vec<Column>,
}

/// Current run of a column, and the limits of normal runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Column {
    value: f64,
    rows: u64,
    /// Limit of a run, or `u64::MAX` for a column that was constant.
    limit: u64,
    /// Limits for runs of values that are coarser than the warm-up. Entry k is for values with k decimals.
    coarse_limits: Vec<u64>,
    /// Values that repeated for at least [`FEWEST`] rows in the warm-up, in ascending order.
    rested: Vec<f64>,
    /// Length of the current run of missing cells.
    missing: u64,
    /// Limit of a run of missing cells, or `u64::MAX` for a column that was empty.
    missing_limit: u64,
    /// Number of rows that earlier runs beyond the limit have added to the limits. It decays.
    raise: f64,
}

impl Column {
    fn push(&mut self, x: f64) {
        self.raise -= self.raise / MEMORY;
        if self.rows > 0 && self.value == x {
            self.rows += 1;
            return;
        }
        if self.excess() > 1.0 {
            self.raise = self.raise.max(self.rows as f64);
        }
        (self.value, self.rows) = (x, 1);
    }

    /// Returns the length of the current run as a multiple of its limit, or 0 if it is normal.
    fn excess(&self) -> f64 {
        let ratio = |limit: u64| self.rows as f64 / (limit as f64 + self.raise);
        let is_long = self.rows > self.limit && ratio(self.limit) > 1.0;
        if !is_long || self.rested.binary_search_by(|value| value.total_cmp(&self.value)).is_ok() {
            return 0.0;
        }
        ratio(self.coarse_limits.get(decimals(self.value)).copied().unwrap_or(self.limit))
    }
}

impl Repeats {
    pub fn fit(rows: &[Vec<f64>]) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let column = |j: usize| {
            let cells = rows.iter().map(|row| row[j]);
            let mut column = fitted(cells.clone().filter(|x| !x.is_nan()));
            (column.missing, column.missing_limit) = missing(cells);
            column
        };
        Self { columns: (0..width).map(column).collect() }
    }

    pub fn push(&mut self, raw: &[f64]) {
        for (column, x) in self.columns.iter_mut().zip(raw) {
            if x.is_nan() {
                column.missing += 1;
            } else {
                column.missing = 0;
                column.push(*x);
            }
        }
    }

    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| (column.rows, column.missing) = (0, 0));
    }

    /// Returns the index of the stuck column whose run is longest relative to its limit, and this ratio.
    pub fn stuck(&self) -> Option<(usize, f64)> {
        self.longest(Column::excess)
    }

    /// Returns the index of the column whose run of missing cells is longest relative to its limit, and this ratio.
    pub fn silent(&self) -> Option<(usize, f64)> {
        self.longest(|column| column.missing as f64 / column.missing_limit as f64)
    }

    /// Multiplies the rank of each column by up to 2 as its run approaches its limit. Columns that depend on each other
    /// exactly have equal deviations. The one that repeats its value is then the likeliest cause.
    pub fn suspect(&self, ranks: &mut [f64]) {
        for (rank, column) in ranks.iter_mut().zip(&self.columns) {
            *rank *= 1.0 + (column.rows.saturating_sub(1) as f64 / column.limit as f64).min(1.0);
        }
    }

    fn longest(&self, excess: impl Fn(&Column) -> f64) -> Option<(usize, f64)> {
        let over = self.columns.iter().map(excess).enumerate().filter(|(_, excess)| *excess > 1.0);
        over.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("repeats of columns", self.columns.len(), width)?;
        for column in &self.columns {
            within("the value of a column", column.value, -LARGEST..=LARGEST)?;
            count("rows with the same value", column.rows)?;
            count("missing cells", column.missing)?;
            ensure(column.missing_limit > 0, "a limit of missing cells must be positive")?;
            within("the raise of a limit of repeats", column.raise, 0.0..=LARGEST)?;
            ensure(column.rested.iter().all(|x| x.is_finite()), "values that rest must be finite")?;
            ensure(column.coarse_limits.len() <= DECIMALS, "there must be a limit for each number of decimals")?;
        }
        Ok(())
    }
}

pub(super) fn decimals(x: f64) -> usize {
    let is_whole = |y: f64| (y - y.round()).abs() <= 1e-9 * y.abs().max(1.0);
    (0..DECIMALS as i32).find(|k| is_whole(x * 10f64.powi(*k))).map_or(DECIMALS, |k| k as usize)
}

#[derive(Default)]
struct Runs {
    rows: u64,
    repeats: u64,
    longest: u64,
}

impl Runs {
    /// Counts the runs of cells. Calls `each` with the value and the length of the run at each cell.
    fn of(cells: impl Iterator<Item = f64>, mut each: impl FnMut(f64, u64)) -> Self {
        let (mut runs, mut before, mut run) = (Self::default(), f64::NAN, 0);
        for x in cells {
            run = if x == before { run + 1 } else { 1 };
            runs.rows += 1;
            runs.repeats += u64::from(run > 1);
            runs.longest = runs.longest.max(run);
            before = x;
            each(x, run);
        }
        runs
    }

    /// Returns the share of cells that repeat the previous one, by the rule of succession.
    fn share(&self) -> f64 {
        (self.repeats + 1) as f64 / (self.rows.saturating_sub(1) + 2) as f64
    }

    /// Returns the limit of later runs, if each cell repeats the previous one with probability `share`.
    fn limit(&self, share: f64) -> u64 {
        let by_chance = (CHANCE.ln() / share.ln()).ceil() as u64;
        let is_constant = self.repeats + 1 >= self.rows;
        if is_constant { u64::MAX } else { FEWEST.max(2 * self.longest + 3).max(by_chance) }
    }
}

pub(super) fn finest_decimals(cells: &[f64]) -> usize {
    let inspected = cells.iter().step_by(cells.len().div_ceil(INSPECTED).max(1));
    inspected.map(|x| decimals(*x)).max().unwrap_or(0)
}

/// Returns the length of the run of missing cells at the end, and the limit of later such runs.
fn missing(cells: impl Iterator<Item = f64>) -> (u64, u64) {
    let (mut rows, mut missing, mut run, mut longest) = (0u64, 0u64, 0u64, 0u64);
    for x in cells {
        run = if x.is_nan() { run + 1 } else { 0 };
        (rows, missing, longest) = (rows + 1, missing + u64::from(x.is_nan()), longest.max(run));
    }
    let share = (missing + 1) as f64 / (rows + 2) as f64;
    let by_chance = (CHANCE.ln() / share.ln()).ceil() as u64;
    let limit = if missing == rows { u64::MAX } else { FEWEST.max(2 * longest + 3).max(by_chance) };
    (run, limit)
}

fn fitted(cells: impl Iterator<Item = f64> + Clone) -> Column {
    let mut sorted: Vec<f64> = cells.clone().collect();
    let finest = finest_decimals(&sorted);
    sorted.sort_unstable_by(f64::total_cmp);
    let common = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0.0, |run| run[0]);
    let mut column = Column::default();
    let (mut common_rows, mut common_repeats) = (0u64, 0u64);
    let runs = Runs::of(cells.clone(), |x, run| {
        common_rows += u64::from(x == common);
        common_repeats += u64::from(x == common && run > 1);
        if run == FEWEST {
            column.rested.push(x);
        }
        (column.value, column.rows) = (x, run);
    });
    column.rested.sort_unstable_by(f64::total_cmp);
    column.rested.dedup();
    let of_common = (common_repeats as f64 + PRIOR * runs.share()) / (common_rows as f64 + PRIOR);
    column.limit = runs.limit(runs.share().max(of_common));
    column.coarse_limits = (0..(finest + 1).saturating_sub(COARSER))
        .map(|k| {
            let unit = 10f64.powi(k as i32);
            let rounded = Runs::of(cells.clone().map(|x| (x * unit).round()), |_, _| ());
            rounded.limit(rounded.share()).max(column.limit)
        })
        .collect();
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: [&dyn Fn(u32) -> f64; 3]) -> Vec<Vec<f64>> {
        (0..400).map(|t| columns.iter().map(|column| column(t)).collect()).collect()
    }

    #[test]
    fn a_column_is_stuck_after_a_run_that_its_own_repeats_do_not_explain() {
        let warm_up = table([&|t| f64::from(t), &|t| f64::from(t / 4), &|t| f64::from(u8::from(t % 40 == 0))]);
        let repeats = Repeats::fit(&warm_up);
        let limits: Vec<u64> = repeats.columns.iter().map(|column| column.limit).collect();
        // In the second column three of four rows repeat, and 0.75^48 is 1e-6. In the third, 38 of
        // 39 zeros are followed by a zero.
        assert_eq!(limits[0], 5);
        assert!((45..65).contains(&limits[1]) && (350..600).contains(&limits[2]), "{limits:?}");
        let mut stuck = repeats.clone();
        for t in 0..60 {
            assert_eq!(stuck.stuck().map(|(column, _)| column), (t > 5).then_some(0), "{t}");
            stuck.push(&[1e3, f64::from(t / 4), if t % 3 == 0 { f64::NAN } else { 0.0 }]);
        }
    }

    #[test]
    fn a_column_that_was_constant_is_never_stuck() {
        let mut repeats = Repeats::fit(&table([&|_| 7.0, &|t| f64::from(t), &|t| f64::from(t)]));
        (0..10_000).for_each(|t| repeats.push(&[7.0, f64::from(t), f64::from(t)]));
        assert_eq!(repeats.stuck(), None);
    }
}
