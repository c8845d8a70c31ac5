//! The operations that every format offers.

use crate::columns::Columns;
use crate::error::{Error, RowPlace};
pub use crate::input_source::Progress;
use crate::reading::Reading;
use crate::saved::count;
use serde::{Deserialize, Serialize};

/// Where reading goes on: after how many rows, lines and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadPosition {
    /// Rows before it, bad ones included.
    #[serde(deserialize_with = "count")]
    pub rows: u64,
    /// Lines before it; zero in formats that have none.
    #[serde(deserialize_with = "count")]
    pub lines: u64,
    /// Bytes before it, when reading can start there.
    pub bytes: Option<u64>,
    /// The file among several, from 0, and the rows of the files before it; lines and bytes are those of the file.
    pub file: u64,
    #[serde(deserialize_with = "count")]
    pub rows_before: u64,
}

/// A format's way to get at rows.
pub(crate) trait Reader {
    /// Puts the selected cells of the next row into `row`, which is empty; false at the end. After an error that is
    /// about one row, the next call reads the row after it.
    fn read(&mut self, row: &mut Vec<f64>) -> Result<bool, Error>;
    /// Appends the texts of the kept columns of the row read last.
    fn kept(&self, _texts: &mut Vec<String>) {}
    /// Where the row read last stands.
    fn place(&self) -> RowPlace;
    /// Where reading would go on.
    fn position(&self) -> ReadPosition;
    /// Goes there from the start; says after how many rows it really is.
    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error>;
    /// How far it has come.
    fn progress(&self) -> Progress;
    /// True if the table has a line of names.
    fn has_header(&self) -> bool {
        false
    }
    /// How the cells of a text table are written.
    fn reading(&self) -> Reading {
        Reading::default()
    }
}

/// A reader and its columns.
pub(crate) struct Opened {
    pub reader: Box<dyn Reader>,
    pub columns: Columns,
}
