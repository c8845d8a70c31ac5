//! Detected properties of a table that the layout does not specify.

use crate::recode::text_of;
use crate::time_format::TimeFormat;
use serde::{Deserialize, Serialize};

/// Delimiter and decimal sign of a CSV table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// Sign between cells.
    pub delimiter: u8,
    /// Decimal sign.
    pub decimal: u8,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', decimal: b'.' }
    }
}

/// Detected properties of a table, saved with a stream, so that a resumed stream reads the table in the same way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub(crate) signs: Dialect,
    /// True if thousands are grouped by the point or the comma, whichever is not the decimal sign.
    pub(crate) has_groups: bool,
    /// Unit in the cells of each column, or an empty text.
    pub(crate) cell_units: Vec<String>,
    pub(crate) skipped: u64,
    pub(crate) has_header: bool,
    pub(crate) unit_lines: u64,
    /// Line number of the first row, counted from 1, or 0 if it is unknown.
    pub(crate) first_line: u64,
    pub(crate) sheet: Option<String>,
    pub(crate) is_recoded: bool,
    pub(crate) time: Option<usize>,
    pub(crate) clock: Option<usize>,
    /// Format of the time column, or `None` if it is unknown.
    pub time_format: Option<TimeFormat>,
    /// Usual step between two times in seconds, or `None` if it is unknown.
    pub step: Option<f64>,
    pub(crate) states: Vec<TwoStates>,
    pub(crate) left_out: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TwoStates {
    pub position: usize,
    /// Words for 0 and 1. Case is ignored.
    pub words: [String; 2],
}

impl TwoStates {
    pub fn value(&self, cell: &[u8]) -> Option<f64> {
        let cell = cell.trim_ascii();
        let is = |word: &String| cell.eq_ignore_ascii_case(word.as_bytes());
        let is_decoded = |word: &String| !cell.is_ascii() && text_of(cell).to_lowercase() == *word;
        self.words.iter().position(|word| is(word) || is_decoded(word)).map(|value| value as f64)
    }
}

impl Reading {
    /// Returns the signs for results: those of the table if it has semicolons or decimal commas.
    pub fn dialect(&self) -> Dialect {
        match (self.signs.delimiter, self.signs.decimal) {
            (b';', decimal) | (_, decimal @ b',') => Dialect { delimiter: b';', decimal },
            _ => Dialect::default(),
        }
    }
}
