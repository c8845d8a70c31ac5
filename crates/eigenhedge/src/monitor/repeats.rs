//! Sensors that are stuck: a value that comes again and again leaves no trace in Q or T².
//!
//! A column is stuck when its value has been the same for more than `max(5, 2 L + 3)` rows, L the longest time that it was the
//! same in the warm-up. Missing cells neither count nor end the time.

use crate::error::Error;
use crate::state::{LARGEST, count, length, within};
use serde::{Deserialize, Serialize};

/// Fewest rows with the same value before a column counts as stuck.
const FEWEST: u64 = 5;

/// Repeats of values, by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Repeats {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Column {
    value: f64,
    /// Rows in which the value was the same; zero before the first.
    rows: u64,
    /// Longest such time in the warm-up.
    longest: u64,
}

impl Repeats {
    /// No rows yet.
    pub fn new(width: usize) -> Self {
        Self { columns: vec![Column::default(); width] }
    }

    /// Counts a row in.
    pub fn push(&mut self, raw: &[f64]) {
        for (column, x) in self.columns.iter_mut().zip(raw).filter(|(_, x)| !x.is_nan()) {
            column.rows = if column.rows > 0 && column.value == *x { column.rows + 1 } else { 1 };
            column.value = *x;
        }
    }

    /// Forgets the last rows; the next one does not follow them.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| column.rows = 0);
    }

    /// Counts a row of the warm-up in.
    pub fn learn(&mut self, raw: &[f64]) {
        self.push(raw);
        self.columns.iter_mut().for_each(|column| column.longest = column.longest.max(column.rows));
    }

    /// The column that is stuck for longest beside its limit.
    pub fn stuck(&self) -> Option<usize> {
        let over = |(j, column): (usize, &Column)| {
            let limit = FEWEST.max(2 * column.longest + 3);
            (column.rows > limit).then(|| (column.rows as f64 / limit as f64, j))
        };
        let stuck = self.columns.iter().enumerate().filter_map(over);
        stuck.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, j)| j)
    }

    /// Checks what was read from bytes.
    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("repeats of columns", self.columns.len(), width)?;
        for column in &self.columns {
            within("the value of a column", column.value, -LARGEST..=LARGEST)?;
            count("rows with the same value", column.rows)?;
            count("rows with the same value", column.longest)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_stuck_after_twice_its_longest_time_and_three() {
        let mut repeats = Repeats::new(2);
        for t in 0..30u32 {
            repeats.learn(&[f64::from(t / 4), f64::from(t)]);
        }
        assert_eq!(repeats.stuck(), None);
        for t in 0..12u32 {
            // The first column has held its value for two rows already, and 4 is its longest time.
            assert_eq!(repeats.stuck(), (t + 2 > 11).then_some(0), "{t}");
            repeats.push(&[7.0, if t % 3 == 0 { f64::NAN } else { f64::from(100 + t) }]);
        }
        repeats.push(&[8.0, 0.0]);
        assert_eq!(repeats.stuck(), None);
    }
}
