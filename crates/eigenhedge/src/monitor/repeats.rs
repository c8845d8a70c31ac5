//! Detection of stuck sensors, whose repeated values need not affect Q or T².
//!
//! A column is stuck if its value has been the same for more rows than its limit. The limit is the largest of three numbers:
//! [`FEWEST`]; `2 L + 3`, where L is the longest run in the warm-up; and the length of a run with probability [`CHANCE`] if
//! each row repeats the previous one with probability p. p is the share of repeats in the warm-up, or that of the most common
//! value if it is larger. A column that was constant in the warm-up is never stuck. Missing cells neither count nor end a run.

use crate::error::Error;
use crate::state::{LARGEST, count, length, within};
use serde::{Deserialize, Serialize};

/// Minimum number of equal rows before a column counts as stuck.
const FEWEST: u64 = 5;
/// Probability below which a run of equal values counts as stuck.
const CHANCE: f64 = 1e-6;
/// Weight of the overall share of repeats, in rows, when the share for the most common value is estimated.
const PRIOR: f64 = 20.0;

/// Detector of stuck columns: the current run of equal values in each column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Repeats {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Column {
    value: f64,
    /// Length of the current run, or zero before the first row.
    rows: u64,
    /// Maximum length of a normal run.
    limit: u64,
}

impl Column {
    fn push(&mut self, x: f64) {
        self.rows = if self.rows > 0 && self.value == x { self.rows + 1 } else { 1 };
        self.value = x;
    }
}

impl Repeats {
    /// Computes the limits from the rows of a warm-up. The runs at the end of the warm-up continue.
    pub fn fit(rows: &[Vec<f64>]) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        Self { columns: (0..width).map(|j| fitted(rows.iter().map(|row| row[j]).filter(|x| !x.is_nan()))).collect() }
    }

    /// Updates the run of every column with a row.
    pub fn push(&mut self, raw: &[f64]) {
        self.columns.iter_mut().zip(raw).filter(|(_, x)| !x.is_nan()).for_each(|(column, x)| column.push(*x));
    }

    /// Clears the current runs, because there is a gap before the next row.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| column.rows = 0);
    }

    /// Returns the stuck column whose run is longest relative to its limit, or `None` if no column is stuck.
    pub fn stuck(&self) -> Option<usize> {
        let over = |(j, column): (usize, &Column)| {
            (column.rows > column.limit).then(|| (column.rows as f64 / column.limit as f64, j))
        };
        let stuck = self.columns.iter().enumerate().filter_map(over);
        stuck.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, j)| j)
    }

    /// Checks a deserialized state for `width` columns.
    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("repeats of columns", self.columns.len(), width)?;
        for column in &self.columns {
            within("the value of a column", column.value, -LARGEST..=LARGEST)?;
            count("rows with the same value", column.rows)?;
        }
        Ok(())
    }
}

/// Computes the limit and the current run of a column with these cells.
fn fitted(cells: impl Iterator<Item = f64> + Clone) -> Column {
    let mut sorted: Vec<f64> = cells.clone().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let common = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0.0, |run| run[0]);
    let mut column = Column::default();
    let (mut repeats, mut longest, mut before_common, mut common_repeats) = (0u64, 0u64, 0u64, 0u64);
    for x in cells {
        before_common += u64::from(column.rows > 0 && column.value == common);
        column.push(x);
        let is_repeat = column.rows > 1;
        repeats += u64::from(is_repeat);
        common_repeats += u64::from(is_repeat && x == common);
        longest = longest.max(column.rows);
    }
    let pairs = (sorted.len() as u64).saturating_sub(1);
    let overall = (repeats + 1) as f64 / (pairs + 2) as f64;
    let of_common = (common_repeats as f64 + PRIOR * overall) / (before_common as f64 + PRIOR);
    let p = overall.max(of_common);
    let by_chance = (CHANCE.ln() / p.ln()).ceil() as u64;
    column.limit = if repeats == pairs { u64::MAX } else { FEWEST.max(2 * longest + 3).max(by_chance) };
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
        // No repeats; three of four rows repeat, and 0.75^48 is 1e-6; 38 of 39 zeros are followed by a zero.
        assert_eq!(limits[0], 5);
        assert!((45..65).contains(&limits[1]) && (350..600).contains(&limits[2]), "{limits:?}");
        let mut stuck = repeats.clone();
        for t in 0..60 {
            assert_eq!(stuck.stuck(), (t > 5).then_some(0), "{t}");
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
