//! Detected properties of a table that the layout does not specify.

use crate::time_format::TimeFormat;
use serde::{Deserialize, Serialize};

/// Detected properties of a table. They are saved with a stream, so that a resumed stream reads the table in the same
/// way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub(crate) delimiter: u8,
    pub(crate) decimal: u8,
    /// True if the first line is a header.
    pub(crate) has_header: bool,
    /// True if some text is decoded as Windows-1252.
    pub(crate) is_recoded: bool,
    /// Position of the time column, or `None` if there is none.
    pub(crate) time: Option<usize>,
    pub(crate) time_format: Option<TimeFormat>,
    /// Positions of the columns that were left out because they are not numeric.
    pub(crate) left_out: Vec<usize>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            delimiter: b',',
            decimal: b'.',
            has_header: false,
            is_recoded: false,
            time: None,
            time_format: None,
            left_out: Vec::new(),
        }
    }
}

impl Reading {
    /// Returns the format of the time column, if it is known.
    pub fn time_format(&self) -> Option<&TimeFormat> {
        self.time_format.as_ref()
    }
}
