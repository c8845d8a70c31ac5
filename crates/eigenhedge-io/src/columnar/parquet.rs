//! Parquet files. Rows before those that are wanted are passed over by page and row group.

use super::batches::{Batches, Reopen, Table, choose};
use super::page_header::PageHeader;
use super::{BATCH_CELLS, unsound};
use crate::error::{Error, Fault};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::memory::{Ratio, most_unpacked};
use crate::reader::Opened;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

const FORMAT: &str = "parquet";

/// Opens a file.
pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    if input.size() == Some(0) {
        return Err(input.fault(Fault::Empty));
    }
    let file = input.file(FORMAT)?;
    let metadata =
        ArrowReaderMetadata::load(&file, Default::default()).map_err(|error| unsound(input, FORMAT, error))?;
    let total = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(input.fault(Fault::Empty));
    }
    let chosen = choose(input, layout, metadata.schema())?;
    let (columns, projection) = chosen.clone();
    let tap_there = input.clone();
    let reopen: Reopen = Box::new(move |rows| {
        let groups = RowGroups {
            input: tap_there.clone(),
            metadata: metadata.clone(),
            projection: projection.clone(),
            next: 0,
            to_skip: rows,
            reader: None,
        };
        Ok(Box::new(groups) as Batches)
    });
    let batches = reopen(0)?;
    let table = Table::new(input, FORMAT, chosen, batches, Some(reopen), Some(total))?.filling(layout);
    Ok(Opened { reader: Box::new(table), columns })
}

/// Batches of one row group after the other, each judged before it is decoded.
struct RowGroups {
    input: InputSource,
    metadata: ArrowReaderMetadata,
    projection: Vec<usize>,
    /// The row group after that which is being read.
    next: usize,
    /// Rows to pass over before the first that is wanted.
    to_skip: u64,
    reader: Option<ParquetRecordBatchReader>,
}

impl RowGroups {
    fn advance(&mut self) -> Result<Option<arrow_array::RecordBatch>, Error> {
        loop {
            if let Some(batch) = self.reader.as_mut().and_then(Iterator::next) {
                return batch.map(Some).map_err(|error| unsound(&self.input, FORMAT, error));
            }
            let Some(group) = self.metadata.metadata().row_groups().get(self.next) else { return Ok(None) };
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            self.reader = if self.to_skip < rows { Some(self.open(self.next, self.to_skip)?) } else { None };
            self.to_skip = self.to_skip.saturating_sub(rows);
            self.next += 1;
        }
    }

    fn open(&self, group: usize, offset: u64) -> Result<ParquetRecordBatchReader, Error> {
        let broken = |error: parquet::errors::ParquetError| unsound(&self.input, FORMAT, error);
        let file = self.input.file(FORMAT)?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), self.projection.iter().copied());
        judge_pages(&self.input, &file, self.metadata.metadata().row_group(group).columns(), &mask)?;
        let batch = (BATCH_CELLS / self.projection.len()).clamp(1, 1 << 13);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let builder = builder.with_row_groups(vec![group]).with_projection(mask).with_batch_size(batch);
        builder.with_offset(offset as usize).build().map_err(broken)
    }
}

impl Iterator for RowGroups {
    type Item = Result<arrow_array::RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// Refuses a row group whose pages cannot be what they say, or would take too much memory: of each selected column, a
/// dictionary and the largest page are held at a time.
fn judge_pages(
    input: &InputSource,
    file: &File,
    chunks: &[ColumnChunkMetaData],
    mask: &ProjectionMask,
) -> Result<(), Error> {
    let size = input.size().unwrap_or(0);
    let mut total = 0u128;
    for (_, chunk) in chunks.iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf)) {
        let (start, length) = chunk.byte_range();
        let end = start.checked_add(length).filter(|end| *end <= size);
        let end = end.ok_or_else(|| unsound(input, FORMAT, "a column lies outside of the file"))?;
        let pages = largest_page(file, start..end, ratio(chunk.compression()));
        let pages = pages.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => unsound(input, FORMAT, error),
            _ => input.unreadable(error),
        })?;
        total += u128::from(pages);
    }
    input.allow("the pages of a row group", total)
}

/// Bytes of the dictionary and of the largest page of a column.
fn largest_page(mut file: &File, range: std::ops::Range<u64>, ratio: Ratio) -> io::Result<u64> {
    /// Bytes that a value of a dictionary takes in memory.
    const VALUE: u64 = 24;
    /// Bytes that it takes in the page, at least: those of a 16-bit number.
    const LEAST: u64 = 2;
    let broken = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let (mut at, mut largest, mut dictionary) = (range.start, 0, 0);
    while at < range.end {
        file.seek(SeekFrom::Start(at))?;
        let header = PageHeader::read(BufReader::with_capacity(1 << 8, file.take(range.end - at)))?;
        let PageHeader { packed, unpacked, dictionary_values, size } = header;
        at = at.saturating_add(size).saturating_add(packed);
        if at > range.end {
            return Err(broken("a page lies outside of its column".to_owned()));
        }
        if unpacked > most_unpacked(packed, ratio) {
            return Err(broken(format!("a page of {packed} bytes cannot hold {unpacked}")));
        }
        if dictionary_values > unpacked / LEAST {
            return Err(broken(format!("a dictionary of {unpacked} bytes cannot hold {dictionary_values} values")));
        }
        largest = largest.max(packed.saturating_add(unpacked));
        dictionary = dictionary.max(dictionary_values * VALUE);
    }
    Ok(dictionary.saturating_add(largest))
}

fn ratio(compression: Compression) -> Ratio {
    match compression {
        Compression::UNCOMPRESSED => Ratio::Plain,
        Compression::SNAPPY => Ratio::Snappy,
        Compression::LZ4 | Compression::LZ4_RAW => Ratio::Lz4,
        Compression::GZIP(_) => Ratio::Deflate,
        _ => Ratio::Zstd,
    }
}
