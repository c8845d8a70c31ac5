//! Readers of Parquet and Arrow files. Only the selected columns are decoded, one batch at a time, and converted to
//! rows.

mod arrow;
mod batches;
mod cell_text;
mod page_header;
mod parquet;
mod parquet_columns;

use crate::error::Error;
use crate::format::Format;
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::Opened;
use batches::unsound;

pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let open = || match layout.format {
        Format::Parquet => parquet::open(input, layout),
        _ => arrow::open(input, layout),
    };
    crate::catch_panics::guarded(open).unwrap_or_else(|reason| Err(unsound(input, layout.format.name(), reason)))
}
