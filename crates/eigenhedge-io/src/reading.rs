//! How a table is read: what its first lines showed where the layout does not say.

use crate::time_format::TimeFormat;
use serde::{Deserialize, Serialize};

/// How a table is read. It is saved with a stream, so that one that is resumed reads the same way without looking again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The character between two cells of a text table.
    pub(crate) delimiter: u8,
    /// The decimal sign of a text table.
    pub(crate) decimal: u8,
    /// True if the first line is a header.
    pub(crate) has_header: bool,
    /// True if some text is read as Windows-1252.
    pub(crate) is_recoded: bool,
    /// Position of the column of times.
    pub(crate) time: Option<usize>,
    /// The form of its cells, if known.
    pub(crate) time_format: Option<TimeFormat>,
    /// Positions of the columns that were left out because they hold no numbers.
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
    /// The form of times, as it would be typed.
    pub fn time_format(&self) -> Option<&TimeFormat> {
        self.time_format.as_ref()
    }
}
