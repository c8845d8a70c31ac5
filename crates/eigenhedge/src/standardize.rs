//! Columns brought to mean 0 and standard deviation 1, without looking ahead.
//!
//! **Running.** A row `x` becomes `(x - mean) / deviation`, both of the rows before it: the deviation is the root of the mean
//! squared distance from the mean. As long as a column has been constant it gives 0, also in the first row, so that
//! a change of its unit changes nothing.
//!
//! **Warm-up.** The first rows are kept until there are enough of them; then all rows, the first ones too, are
//! measured by the mean and deviation of those. A column that was constant is only shifted. A shorter stream is
//! measured by all of it.
//!
//! **Cost.** A root and a quotient for each cell; two numbers for each column, and the rows of the warm-up while it lasts.
//!
//! **Numerics.** Welford's updates: no cancellation when the mean is large. A row whose squared distance from the
//! mean overflows is a bad row, and leaves the statistics alone.
//!
//! Losses are then in squared standardized units, no longer in those of the input.

use crate::error::Error;
use crate::state::{LARGEST, count, energy, ensure, entries, length};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How columns are brought to a common scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Standardize {
    /// Not at all.
    #[default]
    None,
    /// By the rows before.
    Running,
    /// By the first so many rows.
    Warmup(u64),
}

impl Standardize {
    /// `none`, `running` or `warmup:ROWS`.
    pub fn from_text(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "none" => Some(Self::None),
            None if text == "running" => Some(Self::Running),
            Some(("warmup", rows)) => rows.parse().ok().filter(|rows| *rows > 0).map(Self::Warmup),
            _ => None,
        }
    }
}

impl fmt::Display for Standardize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Running => out.write_str("running"),
            Self::Warmup(rows) => write!(out, "warmup:{rows}"),
        }
    }
}

/// Statistics of the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    how: Standardize,
    /// Rows that have been counted in.
    rows: u64,
    mean: Vec<f64>,
    /// Sums of squared distances from the mean.
    squares: Vec<f64>,
    /// Nothing is counted in any more.
    settled: bool,
}

impl Standardizer {
    /// No rows seen yet.
    pub fn new(how: Standardize, width: usize) -> Self {
        let width = if how == Standardize::None { 0 } else { width };
        Self { how, rows: 0, mean: vec![0.0; width], squares: vec![0.0; width], settled: how == Standardize::None }
    }

    /// The way in which columns are brought to a common scale.
    pub fn how(&self) -> Standardize {
        self.how
    }

    /// Mean of each column; empty if columns are taken as they are.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The number by which each column is divided: 1 for one that is only shifted, 0 for one that gives 0 whatever it
    /// holds; empty if columns are taken as they are.
    pub fn scale(&self) -> impl Iterator<Item = f64> {
        let constant = if matches!(self.how, Standardize::Warmup(_)) { 1.0 } else { 0.0 };
        let rows = self.rows as f64;
        self.squares.iter().map(move |squares| if *squares > 0.0 { (squares / rows).sqrt() } else { constant })
    }

    /// Checks what was read from bytes, for rows of this width.
    pub(crate) fn check_state(&self, width: usize) -> Result<(), Error> {
        let width = if self.how == Standardize::None { 0 } else { width };
        length("the means of columns", self.mean.len(), width)?;
        length("the spreads of columns", self.squares.len(), width)?;
        count("the number of rows that the scale of columns comes from", self.rows)?;
        entries("means of columns", &self.mean, -LARGEST..=LARGEST)?;
        self.squares.iter().try_for_each(|squares| energy("the spread of a column", *squares))?;
        ensure(self.rows > 0 || self.squares.iter().all(|squares| *squares == 0.0), "a spread must come from rows")?;
        let can_settle = self.how != Standardize::Running;
        ensure(
            if self.settled { can_settle } else { self.how != Standardize::None },
            "statistics must be as they are used",
        )
    }

    /// True if rows must still be kept.
    pub fn is_warming_up(&self) -> bool {
        matches!(self.how, Standardize::Warmup(rows) if !self.settled && self.rows < rows)
    }

    /// Ends the warm-up.
    pub fn settle(&mut self) {
        self.settled = matches!(self.how, Standardize::Warmup(_) | Standardize::None);
    }

    /// Counts a row in.
    pub fn count_in(&mut self, raw: &[f64]) {
        if self.settled {
            return;
        }
        self.rows += 1;
        let rows = self.rows as f64;
        for ((mean, squares), x) in self.mean.iter_mut().zip(&mut self.squares).zip(raw) {
            let distance = x - *mean;
            *mean += distance / rows;
            *squares += distance * (x - *mean);
        }
    }

    /// The first column, if any, whose statistics the row would spoil.
    pub fn spoiled(&self, raw: &[f64]) -> Option<usize> {
        let spoils = |i: &usize| {
            let distance = raw[*i] - self.mean[*i];
            !(self.squares[*i] + distance * distance).is_finite()
        };
        if self.settled { None } else { (0..raw.len()).find(spoils) }
    }

    /// The row in standard units; the first column that overflows, if one does.
    pub fn apply(&self, raw: &[f64], row: &mut Vec<f64>) -> Result<(), usize> {
        row.clear();
        if self.how == Standardize::None {
            row.extend_from_slice(raw);
            return Ok(());
        }
        let rows = self.rows as f64;
        let shifts_only = matches!(self.how, Standardize::Warmup(_));
        row.extend(raw.iter().zip(&self.mean).zip(&self.squares).map(|((x, mean), squares)| {
            if *squares > 0.0 {
                (x - mean) / (squares / rows).sqrt()
            } else if shifts_only {
                x - mean
            } else {
                0.0
            }
        }));
        row.iter().position(|value| !value.is_finite()).map_or(Ok(()), Err)
    }

    /// Brings a row in standard units back to units of the input. A column that gives 0 whatever it holds is at its mean.
    pub fn undo(&self, row: &mut [f64]) {
        for ((x, mean), scale) in row.iter_mut().zip(&self.mean).zip(self.scale()) {
            *x = *mean + scale * *x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation in two passes.
    fn by_definition(rows: &[[f64; 2]], column: usize) -> (f64, f64) {
        let count = rows.len() as f64;
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        (mean, (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt())
    }

    fn rows() -> Vec<[f64; 2]> {
        (0..50u32).map(|i| [f64::from(i * i % 17), 1e6 + f64::from(i * 7 % 11)]).collect()
    }

    #[test]
    fn running_values_follow_the_definition_over_the_rows_before() {
        let rows = rows();
        let mut standardizer = Standardizer::new(Standardize::Running, 2);
        let mut row = Vec::new();
        for (t, raw) in rows.iter().enumerate() {
            standardizer.apply(raw, &mut row).unwrap();
            for column in 0..2 {
                let (mean, deviation) = if t == 0 { (0.0, 0.0) } else { by_definition(&rows[..t], column) };
                let wanted = if deviation > 0.0 { (raw[column] - mean) / deviation } else { 0.0 };
                // The mean is known to its last bits only, and they are divided by the deviation.
                let slack = 1e-9 * wanted.abs().max(1.0);
                assert!((row[column] - wanted).abs() <= slack, "{t} {column}: {} {wanted}", row[column]);
            }
            standardizer.count_in(raw);
        }
    }

    #[test]
    fn running_values_do_not_depend_on_the_unit() {
        let (mut one, mut other) =
            (Standardizer::new(Standardize::Running, 2), Standardizer::new(Standardize::Running, 2));
        let (mut row, mut scaled_row) = (Vec::new(), Vec::new());
        for raw in rows() {
            // A power of two scales without rounding.
            let scaled = raw.map(|x| 1024.0 * x);
            one.apply(&raw, &mut row).unwrap();
            other.apply(&scaled, &mut scaled_row).unwrap();
            assert_eq!(row, scaled_row);
            one.count_in(&raw);
            other.count_in(&scaled);
        }
    }

    #[test]
    fn a_constant_column_is_shifted_by_a_warm_up_and_zero_while_running() {
        let mut row = Vec::new();
        for (how, wanted) in [(Standardize::Warmup(3), [1.0, 0.0]), (Standardize::Running, [0.0, 0.0])] {
            let mut standardizer = Standardizer::new(how, 2);
            for _ in 0..3 {
                standardizer.count_in(&[0.1, 5.0]);
            }
            standardizer.settle();
            standardizer.apply(&[1.1, 5.0], &mut row).unwrap();
            assert_eq!(row, wanted);
        }
    }

    #[test]
    fn a_row_that_is_undone_is_the_row() {
        for how in [Standardize::None, Standardize::Running, Standardize::Warmup(50)] {
            let mut standardizer = Standardizer::new(how, 2);
            rows().iter().for_each(|raw| standardizer.count_in(raw));
            standardizer.settle();
            let mut row = Vec::new();
            for raw in rows() {
                standardizer.apply(&raw, &mut row).unwrap();
                standardizer.undo(&mut row);
                (0..2).for_each(|i| assert!((row[i] - raw[i]).abs() <= 1e-15 * raw[i].abs().max(1e3), "{how}: {i}"));
            }
            assert_eq!(standardizer.check_state(2), Ok(()));
            assert!(how == Standardize::None || standardizer.check_state(3).is_err());
        }
    }

    #[test]
    fn a_column_that_was_constant_is_undone_to_its_mean_while_running() {
        let mut standardizer = Standardizer::new(Standardize::Running, 1);
        (0..3).for_each(|_| standardizer.count_in(&[5.0]));
        let mut row = vec![0.3];
        standardizer.undo(&mut row);
        assert_eq!(row, [5.0]);
    }

    #[test]
    fn what_would_overflow_is_found_before_it_does() {
        let mut standardizer = Standardizer::new(Standardize::Running, 2);
        standardizer.count_in(&[0.0, 1.0]);
        assert_eq!(standardizer.spoiled(&[1.0, 1e200]), Some(1));
        assert_eq!(standardizer.spoiled(&[1.0, 1e100]), None);
    }

    #[test]
    fn names_read_as_meant() {
        let cases = [
            ("none", Some(Standardize::None)),
            ("running", Some(Standardize::Running)),
            ("warmup:7", Some(Standardize::Warmup(7))),
            ("warmup:0", None),
            ("warmup", None),
            ("warmup:-1", None),
            ("running:3", None),
        ];
        cases.iter().for_each(|(text, wanted)| assert_eq!(Standardize::from_text(text), *wanted, "{text}"));
        cases.iter().for_each(|(text, how)| assert_eq!(how.map_or(text.to_string(), |how| how.to_string()), *text));
    }
}
