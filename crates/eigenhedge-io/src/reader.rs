//! Interface that the reader of each format implements.

use crate::columns::Columns;
use crate::error::{Error, RowPlace};
pub use crate::input_source::Progress;
use crate::reading::Reading;
use crate::row::Row;
use crate::saved::count;
use serde::{Deserialize, Serialize};

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
    /// Returns a remark about values that were left out, or `None` if there were none.
    fn remarks(&self) -> Option<String> {
        None
    }
    fn reading(&self) -> Reading {
        Reading::default()
    }
}

pub(crate) struct Opened {
    pub reader: Box<dyn Reader>,
    pub columns: Columns,
}
