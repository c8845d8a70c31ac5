//! Rows, and the interface that the reader of each format implements, with the types that it needs.

pub(crate) use crate::columns::{Columns, allow_columns};
pub(crate) use crate::error::{Error, Fault, RowPlace, quoted, shown};
pub(crate) use crate::input_source::InputSource;
pub use crate::input_source::Progress;
pub(crate) use crate::layout::{Layout, OnBadRow};
use crate::reading::Reading;
use crate::saved::count;
use serde::{Deserialize, Serialize};

/// Row of a table. A sparse row lists the positions of its filled cells. All others are zero.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Row {
    numbers: Vec<f64>,
    filled: Vec<u32>,
    is_sparse: bool,
    /// Index of the row in the table, counted from 0. Bad rows are included.
    pub number: u64,
    /// Cells of the copied columns. The first one is the time if there is a time column.
    pub kept: Vec<String>,
    /// Time in seconds since 1970, shifted by [`Stream::time_offset`](crate::Stream::time_offset) with a time zone. In
    /// a table without keys, a step back of up to about an hour repeats the latest time.
    pub time: Option<f64>,
    pub(crate) place: RowPlace,
}

impl Row {
    /// Returns all cells, including zeros.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Returns the positions of the filled cells in ascending order, or `None` if the row is dense.
    pub fn filled(&self) -> Option<&[u32]> {
        self.is_sparse.then_some(&self.filled)
    }

    /// Returns the place of the row: the source, and a line (counted from 1) or a row (counted from 0).
    pub fn place(&self) -> String {
        self.place.to_string()
    }

    pub(crate) fn key(&self, index: Option<usize>) -> &str {
        index.and_then(|index| self.kept.get(index)).map_or("", String::as_str)
    }

    pub(crate) fn cells_mut(&mut self) -> &mut Vec<f64> {
        self.is_sparse = false;
        &mut self.numbers
    }

    pub(crate) fn cleared(&mut self) -> &mut Vec<f64> {
        self.kept.clear();
        let numbers = self.cells_mut();
        numbers.clear();
        numbers
    }

    pub(crate) fn set_sparse(&mut self, length: usize, cells: impl Iterator<Item = (u32, f64)>) {
        if self.is_sparse && self.numbers.len() == length {
            self.filled.iter().for_each(|i| self.numbers[*i as usize] = 0.0);
        } else {
            self.numbers.clear();
            self.numbers.resize(length, 0.0);
        }
        self.is_sparse = true;
        self.kept.clear();
        self.filled.clear();
        for (i, value) in cells {
            self.numbers[i as usize] = value;
            self.filled.push(i);
        }
    }
}

/// Returns the first number that is not finite, and not a missing cell to be filled in.
pub(crate) fn bad_number(row: &[f64], fills: bool) -> Option<usize> {
    row.iter().position(|value| !(value.is_finite() || fills && value.is_nan()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadPosition {
    #[serde(deserialize_with = "count")]
    pub rows: u64,
    /// Number of lines before the position, or zero in formats without lines.
    #[serde(deserialize_with = "count")]
    pub lines: u64,
    /// Number of bytes before the position, or `None` if reading cannot start there.
    pub bytes: Option<u64>,
    /// Index of the current file, counted from 0. Lines and bytes refer to this file.
    pub file: u64,
    #[serde(deserialize_with = "count")]
    pub rows_before: u64,
}

pub(crate) trait Reader {
    /// Reads the next row. Returns false at the end. Reading can continue after a bad row.
    fn read(&mut self, row: &mut Row) -> Result<bool, Error>;
    fn place(&self) -> RowPlace;
    fn position(&self) -> ReadPosition;
    /// Moves to a position. Returns the number of rows before it, which is less than wanted if the table is too short.
    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error>;
    fn progress(&self) -> Progress;
    fn remarks(&self) -> Option<String> {
        None
    }
}

pub(crate) struct Opened {
    pub reader: Box<dyn Reader>,
    pub columns: Columns,
    /// Detected properties of a CSV, TSV or long table.
    pub reading: Reading,
}

impl Opened {
    pub fn new(reader: impl Reader + 'static, columns: Columns) -> Self {
        Self { reader: Box::new(reader), columns, reading: Reading::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_used_again_has_the_cells_of_the_last_row_only() {
        let mut row = Row::default();
        let sparse: [(usize, &[(u32, f64)]); 4] =
            [(5, &[(1, 2.0), (4, -1.0)]), (5, &[(0, 3.0)]), (3, &[]), (7, &[(6, f64::NAN)])];
        for (length, cells) in sparse {
            row.set_sparse(length, cells.iter().copied());
            let mut wanted = vec![0.0; length];
            cells.iter().for_each(|(i, x)| wanted[*i as usize] = *x);
            let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(row.numbers()), bits(&wanted));
            assert_eq!(row.filled().unwrap(), cells.iter().map(|(i, _)| *i).collect::<Vec<_>>());
            row.cleared().extend([1.0, 2.0, 3.0]);
            assert_eq!((row.numbers(), row.filled()), (&[1.0, 2.0, 3.0][..], None));
        }
    }
}
