//! Changes of resolution: columns whose values have become coarser than in the warm-up, because a source rounds them.
//!
//! A column is coarse if its last [`ROWS`] values have at least [`COARSER`] decimals fewer than
//! those of the warm-up. Rounding adds noise of up to half a step, which is not a fault.

use super::repeats::{COARSER, decimals, finest_decimals};
use crate::error::Error;
use crate::state::{LARGEST, length, within};
use serde::{Deserialize, Serialize};

/// Number of consecutive coarse values after which a column is coarse.
const ROWS: u32 = 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Rounding {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Column {
    /// Power of ten whose product with any coarse value is whole, or 0 if no value can be coarse.
    unit: f64,
    scale: f64,
    /// Number of coarse values since the last fine one, at most [`ROWS`].
    run: u32,
    /// Largest number of decimals in the run.
    decimals: u32,
}

impl Column {
    fn is_coarse(&self) -> bool {
        self.unit > 0.0 && self.run == ROWS
    }
}

impl Rounding {
    /// Determines the decimals of the warm-up rows, in units of the input. `scales` has the divisor of each column.
    pub fn fit(rows: &[Vec<f64>], scales: &[f64]) -> Self {
        let column = |j: usize| {
            let cells: Vec<f64> = rows.iter().map(|row| row[j]).filter(|x| !x.is_nan()).collect();
            let finest = finest_decimals(&cells);
            let unit = if finest >= COARSER { 10f64.powi((finest - COARSER) as i32) } else { 0.0 };
            Column { unit, scale: scales.get(j).copied().unwrap_or(1.0), run: 0, decimals: 0 }
        };
        Self { columns: (0..rows.first().map_or(0, Vec::len)).map(column).collect() }
    }

    /// Treats each column as coarse until its first fine value, because a new table may be rounded differently.
    pub fn begin_table(&mut self) {
        self.columns.iter_mut().for_each(|column| (column.run, column.decimals) = (ROWS, 0));
    }

    /// Adds a row, in units of the input. Writes half the rounding step of each column in standard
    /// units, or 0 for a column that is not coarse. Returns true if a column is coarse.
    pub fn push(&mut self, raw: &[f64], half_steps: &mut Vec<f64>) -> bool {
        half_steps.clear();
        let mut is_any = false;
        for (column, x) in self.columns.iter_mut().zip(raw) {
            let scaled = x * column.unit;
            let is_coarse = column.unit > 0.0 && (scaled - scaled.round()).abs() <= 1e-9 * scaled.abs().max(1.0);
            if is_coarse {
                column.run = (column.run + 1).min(ROWS);
                column.decimals = column.decimals.max(decimals(*x) as u32);
            } else if !x.is_nan() {
                (column.run, column.decimals) = (0, 0);
            }
            let is_coarse = column.is_coarse();
            is_any |= is_coarse;
            let step = 10f64.powi(-(column.decimals as i32));
            half_steps.push(if is_coarse { 0.5 * step / column.scale } else { 0.0 });
        }
        is_any
    }

    /// Returns the indices of the columns that are currently coarse, in ascending order.
    pub fn coarse(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().enumerate().filter(|(_, column)| column.is_coarse()).map(|(j, _)| j)
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("resolutions of columns", self.columns.len(), width)?;
        self.columns.iter().try_for_each(|column| {
            within("the resolution of a column", column.unit, 0.0..=1e6)?;
            within("the scale of a column", column.scale, f64::MIN_POSITIVE..=LARGEST)?;
            within("decimals of a column", f64::from(column.decimals), 0.0..=10.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_coarse_after_twenty_coarse_values_and_fine_at_the_first_fine_one() {
        let rows: Vec<Vec<f64>> = (0..100).map(|t| vec![f64::from(t) * 0.1234, f64::from(t)]).collect();
        let mut rounding = Rounding::fit(&rows, &[2.0, 1.0]);
        let mut half = Vec::new();
        for t in 1..60 {
            assert_eq!(rounding.push(&[f64::from(t) * 0.11, 5.0], &mut half), t >= 20, "{t}");
            assert_eq!(half, if t >= 20 { [0.0025, 0.0] } else { [0.0; 2] });
        }
        assert!(!rounding.push(&[0.1234, 5.0], &mut half));
        rounding.begin_table();
        assert!(rounding.push(&[0.5, 5.0], &mut half));
        assert_eq!(half, [0.025, 0.0]);
    }
}
