//! Input of rows from tables, and output of one row of results per input row.
//!
//! [`Stream`] reads a table of numbers one row at a time, in any supported format. [`Answers`] writes results row by
//! row. Both can be stopped after any row and resumed. The written file then has the same bytes as that of an
//! uninterrupted run. [`Stream::state`] and [`Answers::sync`] return the state as plain values that can be saved.
//!
//! | I want to | use |
//! |---|---|
//! | read rows from a file, a pipe or memory | [`Source`], [`Layout`] and [`Stream`] |
//! | select a format, some columns, or skip bad rows | [`Format`], [`Selector`], [`OnBadRow`] |
//! | read several files, a compressed file or a workbook | [`Source`]; compression and workbooks are recognized |
//! | read a long table, with a time, a tag and a value in each row, as one column per tag | [`Pivot`] |
//! | report how a table was read, and irregular times | [`Stream::read_as`], [`Stream::times`] |
//! | end the wait for rows when a signal arrives, limit memory | [`Stop`], [`MaxMemory`] |
//! | read an array of any shape | [`read_array`] |
//! | write results row by row | [`Target`], [`Form`] and [`Answers`] |
//! | export a linear model | [`write_linear_map`] |
//! | save a fleet, or store its members on disk | [`GroupStore`], [`save_fleet`], [`open_fleet`] |
//! | write a file that is either complete or absent | [`write_whole`], [`write_private`], [`Reservation`] |
//!
//! Memory does not depend on the number of rows, except for an array in Fortran order from a pipe or an archive, a
//! sheet of a workbook other than `.xlsx` and `.xlsm`, and a long table that is not sorted by time. The same matrix
//! gives the same bits in every format. The format is never guessed from the content. The details of a CSV table
//! (delimiter, decimal sign, dates, columns without numbers) are detected from its first lines. If they are ambiguous,
//! the error names the option that resolves the ambiguity.
#![forbid(unsafe_code)]

mod answers;
mod binary;
mod catch_panics;
#[cfg(feature = "parquet")]
mod columnar;
mod columns;
mod concatenation;
mod dates;
#[cfg(not(feature = "parquet"))]
mod columnar {
    //! Placeholder for the readers of Parquet and Arrow files in a build without them.
    use crate::error::{Error, Fault};
    use crate::input_source::InputSource;
    use crate::layout::Layout;
    use crate::reader::Opened;

    pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
        Err(Error::at(input.name(), Fault::NotBuilt(layout.format.name())))
    }
}
mod error;
mod export;
mod format;
mod group_store;
mod input_source;
mod json_values;
mod layout;
mod memory;
mod pivot;
mod read_ahead;
mod read_as;
mod reader;
mod reading;
mod recode;
mod saved;
mod scaled;
mod staging;
mod stop;
mod stream;
mod text;
mod time_format;
mod time_order;
mod timezone;
mod unpack;
#[cfg(feature = "workbook")]
mod workbook;
#[cfg(not(feature = "workbook"))]
mod workbook {
    //! Placeholder for the reader of workbooks in a build without it.
    use crate::error::Fault;
    use crate::format::Source;
    use crate::memory::MaxMemory;
    use std::io::Read;

    pub fn sheet_of(_: &Source, _: Option<&str>, _: MaxMemory) -> Result<(String, usize), Fault> {
        Err(Fault::NotBuilt("workbook"))
    }
    pub fn open(_: &Source, _: &str) -> Result<Box<dyn Read>, Fault> {
        Err(Fault::NotBuilt("workbook"))
    }
}

pub use answers::{
    Answers, CAUSES, Cell, CellKind, Column, Form, Position, Target, answer_cells, answer_columns, cause_columns,
    filled_cells, filled_columns, filled_names, json_cells, number_cells, number_columns, verdict_cells,
    verdict_columns,
};
pub use binary::{Array, read_array};
#[doc(hidden)]
pub use catch_panics::guarded;
pub use columns::matches_pattern;
pub use dates::{duration, iso_time};
pub use error::{Error, hint, printable, printable_path, refusal};
pub use export::write_linear_map;
pub use format::{Format, Source};
#[doc(hidden)]
pub use group_store::SavedBytes;
pub use group_store::{GroupStore, fleet_of_bytes, open_fleet, save_fleet, scratch_file};
pub use json_values::json_lines;
pub use layout::{Layout, OnBadRow, Pivot, Selector, TABLE_OPTIONS};
pub use memory::MaxMemory;
pub use reader::{Progress, Row};
pub use reading::{Dialect, Reading};
pub use scaled::ScaledStream;
pub use staging::{Reservation, write_private, write_whole};
pub use stop::Stop;
pub use stream::{Moment, Stream, StreamState};
pub use time_format::TimeFormat;
pub use timezone::Timezone;
