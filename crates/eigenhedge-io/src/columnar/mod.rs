//! Readers of Parquet and Arrow files. Columns are read in batches and converted to rows.
//!
//! Only the selected columns are decoded. One batch is in memory at a time. For Parquet, a batch has at most about
//! [`BATCH_CELLS`] cells (plus the pages being decoded). For Arrow, batches are used as they were written.

mod arrow;
mod batches;
mod catch_panics;
mod cell_text;
mod page_header;
mod parquet;
mod parquet_columns;

use crate::error::{Error, Fault};
use crate::format::Format;
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::Opened;

/// Approximate number of cells decoded at a time.
const BATCH_CELLS: usize = 1 << 17;

/// Opens a Parquet or Arrow file.
pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let open = || match layout.format {
        Format::Parquet => parquet::open(input, layout),
        _ => arrow::open(input, layout),
    };
    catch_panics::guarded(open).unwrap_or_else(|reason| Err(unsound(input, layout.format.name(), reason)))
}

/// Creates the error for a damaged file from the message of a library.
fn unsound(input: &InputSource, format: &'static str, reason: impl std::fmt::Display) -> Error {
    // Line breaks in the library's message become spaces.
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    input.fault(Fault::Unsound { format, reason })
}
