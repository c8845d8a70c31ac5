//! Streams of rows in, rows of answers out.
//!
//! [`Stream`] reads a table of numbers one row at a time, whatever the format of its file; [`Answers`] writes one line
//! for each row. Both can be stopped at any row and taken up again, so that the whole comes out byte for byte as if
//! nothing had happened: [`Stream::state`] and [`Answers::sync`] say where they are, as plain values that can be saved.
//!
//! | I want to | use |
//! |---|---|
//! | read rows from a file, a pipe or bytes at hand | [`Source`], [`Layout`] and [`Stream`] |
//! | name a format: CSV, TSV, JSON lines, LIBSVM, NPY, NPZ; Parquet and Arrow with the feature `parquet` | [`Format`] |
//! | read some columns only, or skip bad rows | [`Selector`], [`OnBadRow`] |
//! | read several files as one table, or compressed ones (`.gz`, `.zst`) | [`Source::Files`]; by their names |
//! | know the texts and the time that stand beside a row's numbers | [`Layout::keep`], [`Layout::time`], [`Stream::kept`] |
//! | know what was assumed of a table, and what is unusual about its times | [`Stream::read_as`], [`Stream::times`] |
//! | bring columns to a common scale | [`Layout::standardize`] |
//! | end a wait for rows when a signal arrives | [`Stop`] |
//! | limit the memory that reading may take | [`MaxMemory`] |
//! | read an array of any shape | [`read_array`] |
//! | write one line for each row | [`Target`], [`Form`] and [`Answers`] |
//! | write a model as plain numbers | [`write_linear_map`] |
//! | save a fleet, or put its learners away | [`GroupStore`], [`save_fleet`], [`open_fleet`] |
//! | write a file that is complete or absent | [`write_whole`], [`WholeFile`], [`Reservation`] |
//!
//! **Cost.** Memory does not depend on the number of rows, with two exceptions that the format forces: an array in
//! Fortran order that comes out of a pipe or an archive, and the rows of a warm-up. A cell of a CSV table costs some tens
//! of nanoseconds.
//!
//! **Numerics.** Text is read as the nearest double. One and the same matrix gives the same bits in every format.
//!
//! **Not done.** No format is guessed from content; a wrong guess would be worse than a question. How a text table is written
//! (delimiter, decimal sign, dates, columns without numbers) is found from its first lines, and [`Stream::read_as`] tells it;
//! where they leave a doubt, the table is refused with the option that settles it.
#![forbid(unsafe_code)]

mod answers;
mod binary;
#[cfg(feature = "parquet")]
mod columnar;
mod columns;
mod concatenation;
mod dates;
#[cfg(not(feature = "parquet"))]
mod columnar {
    //! Stands in for the readers of Parquet and Arrow files in a build without them.
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
mod layout;
mod memory;
mod read_as;
mod reader;
mod reading;
mod recode;
mod refusal;
mod saved;
mod staging;
mod stop;
mod stream;
mod text;
mod time_format;
mod time_order;
mod unpack;

pub use answers::{Answer, Answers, Cell, CellKind, Form, Position, Target, json_answer, json_cells};
pub use binary::{Array, read_array};
pub use error::{Error, printable, printable_path};
pub use export::{csv_cell, write_linear_map};
pub use format::Format;
pub use group_store::{GroupStore, open_fleet, save_fleet, scratch_file};
pub use input_source::Source;
pub use layout::{Layout, OnBadRow, Selector};
pub use memory::MaxMemory;
pub use reader::Progress;
pub use reading::Reading;
pub use refusal::refusal;
pub use staging::{Reservation, WholeFile, write_whole};
pub use stop::Stop;
pub use stream::{Delivered, Stream, StreamState};
pub use time_format::TimeFormat;
