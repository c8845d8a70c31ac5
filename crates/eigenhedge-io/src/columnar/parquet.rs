//! Parquet files. Rows before those that are wanted are passed over by page and row group.

use super::batches::{Batches, Reopen, Table, choose};
use super::{BATCH_CELLS, unsound};
use crate::error::{Error, Fault};
use crate::reader::{Opened, Tap};
use crate::stream::Layout;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};

const FORMAT: &str = "parquet";

/// Opens a file.
pub fn open(tap: &Tap, layout: &Layout) -> Result<Opened, Error> {
    if tap.size() == Some(0) {
        return Err(tap.fault(Fault::Empty));
    }
    let file = tap.file(FORMAT)?;
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(|error| unsound(tap, FORMAT, error))?;
    let total = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(tap.fault(Fault::Empty));
    }
    let chosen = choose(tap, layout, metadata.schema())?;
    let (columns, projection) = chosen.clone();
    let tap_there = tap.clone();
    let reopen: Reopen = Box::new(move |rows| {
        let tap = &tap_there;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), projection.iter().copied());
        let batch = (BATCH_CELLS / projection.len()).clamp(1, 1 << 13);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(tap.file(FORMAT)?, metadata.clone());
        let builder = builder.with_projection(mask).with_batch_size(batch).with_offset(rows as usize);
        let reader = builder.build().map_err(|error| unsound(tap, FORMAT, error))?;
        Ok(Box::new(reader) as Batches)
    });
    let batches = reopen(0)?;
    let table = Table::new(tap, FORMAT, chosen, batches, Some(reopen), Some(total))?;
    Ok(Opened { reader: Box::new(table), columns })
}
