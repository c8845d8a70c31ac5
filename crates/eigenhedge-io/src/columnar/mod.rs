//! Readers of Parquet and Arrow files. Only the selected columns are decoded, one batch at a time, and converted to rows.

mod arrow;
mod batches;
mod page_header;
mod parquet;
mod parquet_columns;

use crate::catch_panics::guarded;
use crate::format::Format;
use crate::reader::{Error, InputSource, Layout, Opened};
use batches::unsound;

pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let open = || match layout.format {
        Format::Parquet => parquet::open(input, layout),
        _ => arrow::open(input, layout),
    };
    guarded(open).unwrap_or_else(|reason| Err(unsound(input, layout.format.name(), reason)))
}
