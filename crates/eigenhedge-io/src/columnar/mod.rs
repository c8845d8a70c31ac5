//! Parquet and Arrow files: batches of columns, turned into rows.
//!
//! Only the selected columns are decoded. A batch is what is held in memory: of a Parquet file, at most as many rows as
//! make about [`BATCH_CELLS`] cells (beside the pages being decoded); of an Arrow file, whatever its writer put together.

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

/// Cells that are decoded at a time.
const BATCH_CELLS: usize = 1 << 17;

/// Opens the file.
pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let open = || match layout.format {
        Format::Parquet => parquet::open(input, layout),
        _ => arrow::open(input, layout),
    };
    catch_panics::guarded(open).unwrap_or_else(|reason| Err(unsound(input, layout.format.name(), reason)))
}

/// A library's complaint about a file.
fn unsound(input: &InputSource, format: &'static str, reason: impl std::fmt::Display) -> Error {
    // One sentence, whatever the library wrote.
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    input.fault(Fault::Unsound { format, reason })
}
