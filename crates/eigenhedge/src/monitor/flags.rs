//! Flags: columns with the same value in nearly every row, such as constants, switches and counters of rare events.
//!
//! Such a column has no scale, so the shape leaves it out. At any but its common value, a flag adds `-2 log p` to the
//! score, where `p = (m + 1)/(n + 2)` for m other values among the n of the warm-up (rule of succession). For the
//! recent score, p is the recent share if that is larger, so that a flag that stays raised soon adds little. A constant
//! column that moves adds about 12 after 400 rows, which is enough for an alarm.

use super::limits::RECENT_STEP;
use crate::error::Error;
use crate::scratch::refill;
use crate::state::{LARGEST, ensure, within};
use serde::{Deserialize, Serialize};

/// Minimum share of warm-up rows in which a flag has its normal value: its deciles give no scale.
const COMMON: f64 = 0.9;
/// A flag counts like the squared deviation of a normal variable with this tail probability.
const WEIGHT: f64 = 2.0;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Flags {
    columns: Vec<Flag>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Flag {
    column: usize,
    value: f64,
    /// Share of other values in the warm-up. `recent` is that of the most recent rows.
    rate: f64,
    recent: f64,
    was_constant: bool,
    is_raised: bool,
}

impl Flags {
    pub fn find(rows: &[Vec<f64>]) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let mut cells = Vec::with_capacity(rows.len());
        let flag = |column: usize| {
            refill(&mut cells, rows.iter().map(|row| row[column]).filter(|x| !x.is_nan()));
            cells.sort_unstable_by(f64::total_cmp);
            let (value, common) = commonest(&cells);
            let n = cells.len() as f64;
            let rate = (n - common + 1.0) / (n + 2.0);
            let was_constant = common == n;
            (common >= COMMON * n).then_some(Flag { column, value, rate, recent: rate, was_constant, is_raised: false })
        };
        Self { columns: (0..width).filter_map(flag).collect() }
    }

    /// Sets the normal value of each flag that is constant in these rows to that constant.
    pub fn adopt_constants(&mut self, rows: &[Vec<f64>]) {
        for flag in &mut self.columns {
            let mut cells = rows.iter().map(|row| row[flag.column]).filter(|x| !x.is_nan());
            if let Some(first) = cells.next()
                && cells.all(|x| x == first)
            {
                flag.value = first;
            }
        }
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn blank(&self, row: &mut [f64]) {
        self.columns.iter().for_each(|flag| row[flag.column] = 0.0);
    }

    /// Returns the scores of the flags, relative to the warm-up and to the most recent rows.
    pub fn enter(&mut self, raw: &[f64], follows: bool) -> [f64; 2] {
        let mut scores = [0.0; 2];
        for flag in &mut self.columns {
            let x = raw[flag.column];
            flag.is_raised = !x.is_nan() && x != flag.value;
            if flag.is_raised {
                scores[0] -= WEIGHT * flag.rate.ln();
                scores[1] -= WEIGHT * flag.recent.max(flag.rate).ln();
            }
            if follows && !x.is_nan() {
                flag.recent += RECENT_STEP * (f64::from(u8::from(flag.is_raised)) - flag.recent);
            }
        }
        scores
    }

    /// Adds twice the score of each raised flag to the squared deviation of its column.
    pub fn add_deviations(&self, deviations: &mut [f64]) {
        for flag in self.columns.iter().filter(|flag| flag.is_raised) {
            deviations[flag.column] -= 2.0 * WEIGHT * flag.rate.ln();
        }
    }

    /// Returns the index of the first column that was constant in the warm-up and has a different value.
    pub fn moved(&self) -> Option<usize> {
        self.columns.iter().find(|flag| flag.is_raised && flag.was_constant).map(|flag| flag.column)
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        let is_sorted = self.columns.windows(2).all(|pair| pair[0].column < pair[1].column);
        ensure(is_sorted && self.columns.iter().all(|flag| flag.column < width), "flags must be columns in order")?;
        self.columns.iter().try_for_each(|flag| {
            within("the value of a flag", flag.value, -LARGEST..=LARGEST)?;
            within("the rate of a flag", flag.rate, 1e-12..=1.0)?;
            within("the recent rate of a flag", flag.recent, 0.0..=1.0)
        })
    }
}

fn commonest(sorted: &[f64]) -> (f64, f64) {
    let mut best = (0.0, 0);
    for run in sorted.chunk_by(|a, b| a == b) {
        if run.len() > best.1 {
            best = (run[0], run.len());
        }
    }
    (best.0, best.1 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_that_moves_is_a_surprise_until_it_stays() {
        let rows: Vec<Vec<f64>> = (0..400).map(|t| vec![f64::from(t), 7.0, f64::from(u8::from(t % 20 == 0))]).collect();
        let mut flags = Flags::find(&rows);
        assert_eq!(flags.len(), 2);
        assert_eq!(flags.enter(&[0.0, 7.0, 0.0], true), [0.0, 0.0]);
        assert_eq!(flags.moved(), None);
        let [first, recent] = flags.enter(&[0.0, 7.5, 0.0], true);
        assert!((first - 2.0 * 402f64.ln()).abs() < 1e-12 && recent == first, "{first} {recent}");
        assert_eq!(flags.moved(), Some(1));
        let last = (0..300).map(|_| flags.enter(&[0.0, 7.5, 0.0], true)).last().unwrap_or_default();
        assert!(last[0] == first && last[1] < 0.1, "{last:?}");
        // The other flag was raised in a twentieth of the rows.
        let [rare, _] = flags.enter(&[0.0, 7.0, 1.0], false);
        assert!((rare - 2.0 * (402.0f64 / 21.0).ln()).abs() < 1e-12, "{rare}");
        assert_eq!(flags.moved(), None);
    }
}
