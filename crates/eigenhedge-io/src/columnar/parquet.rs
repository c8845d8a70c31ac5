//! Reader of Parquet files. To start at a later row, whole row groups and pages are skipped.

use super::batches::{BATCH_CELLS, Batches, Reopen, Table, choose, unsound};
use super::page_header::PageHeader;
use super::parquet_columns::{leaves_of, pass_over, read_rows, schema_of};
use crate::memory::{Ratio, most_unpacked};
use crate::reader::{Error, Fault, InputSource, Layout, Opened};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

const FORMAT: &str = "parquet";

pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    if input.size() == Some(0) {
        return Err(input.fault(Fault::Empty));
    }
    let broken = |error: parquet::errors::ParquetError| unsound(input, FORMAT, error);
    let file = SerializedFileReader::new(input.file(FORMAT)?).map_err(broken)?;
    let metadata = file.metadata().file_metadata();
    let total = u64::try_from(metadata.num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(input.fault(Fault::Empty));
    }
    let schema = schema_of(metadata);
    let chosen = choose(input, layout, &schema)?;
    let leaves = leaves_of(metadata.schema_descr(), &chosen.1);
    let schema = Arc::new(schema.project(&chosen.1).map_err(|error| unsound(input, FORMAT, error))?);
    let (input_there, file) = (input.clone(), Arc::new(file));
    let reopen: Reopen = Box::new(move |rows| {
        let groups = RowGroups {
            input: input_there.clone(),
            file: file.clone(),
            schema: schema.clone(),
            leaves: leaves.clone(),
            next: 0,
            to_skip: rows,
            readers: Vec::new(),
            left: 0,
        };
        Ok(Box::new(groups) as Batches)
    });
    let batches = reopen(0)?;
    Table::open(input, layout, chosen, batches, Some((reopen, total)))
}

struct RowGroups {
    input: InputSource,
    file: Arc<SerializedFileReader<File>>,
    schema: SchemaRef,
    leaves: Vec<usize>,
    next: usize,
    to_skip: u64,
    readers: Vec<ColumnReader>,
    left: u64,
}

impl RowGroups {
    fn advance(&mut self) -> Result<Option<RecordBatch>, Error> {
        while self.left == 0 {
            let Some(group) = self.file.metadata().row_groups().get(self.next) else { return Ok(None) };
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if self.to_skip < rows {
                self.readers = self.open(self.next, self.to_skip)?;
                self.left = rows - self.to_skip;
            }
            self.to_skip = self.to_skip.saturating_sub(rows);
            self.next += 1;
        }
        let most = (BATCH_CELLS / self.leaves.len()).clamp(1, 1 << 13);
        let rows = self.left.min(most as u64);
        self.left -= rows;
        let kinds = self.schema.fields().iter().map(|field| field.data_type());
        let arrays = self.readers.iter_mut().zip(kinds).map(|(reader, kind)| read_rows(reader, kind, rows as usize));
        let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(|error| unsound(&self.input, FORMAT, error))?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays);
        batch.map(Some).map_err(|error| unsound(&self.input, FORMAT, error))
    }

    fn open(&self, group: usize, offset: u64) -> Result<Vec<ColumnReader>, Error> {
        let broken = |error: parquet::errors::ParquetError| unsound(&self.input, FORMAT, error);
        let chunks = self.file.metadata().row_group(group).columns();
        let wanted = self.leaves.iter().filter_map(|leaf| chunks.get(*leaf));
        judge_pages(&self.input, &self.input.file(FORMAT)?, wanted)?;
        let group = self.file.get_row_group(group).map_err(broken)?;
        let mut readers = Vec::with_capacity(self.leaves.len());
        for leaf in &self.leaves {
            let mut reader = group.get_column_reader(*leaf).map_err(broken)?;
            pass_over(&mut reader, offset as usize).map_err(broken)?;
            readers.push(reader);
        }
        Ok(readers)
    }
}

impl Iterator for RowGroups {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// Checks the pages of a row group. The dictionary and the largest page of each column may be in memory at once.
fn judge_pages<'a>(
    input: &InputSource,
    file: &File,
    chunks: impl Iterator<Item = &'a ColumnChunkMetaData>,
) -> Result<(), Error> {
    let size = input.size().unwrap_or(0);
    let mut total = 0u128;
    for chunk in chunks {
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

fn largest_page(mut file: &File, range: std::ops::Range<u64>, ratio: Ratio) -> io::Result<u64> {
    const VALUE: u64 = 24;
    /// Minimum size of a dictionary value in the file, in bytes. A 16-bit number has this size.
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
