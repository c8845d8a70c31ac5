//! A Parquet file out of plain records.
//!
//! A Parquet file cannot be cut off at a row and continued, so answers wait as plain records and are turned into
//! one at the end. Row groups are small enough to be held in memory while they are written.

use super::Columns;
use std::fs::File;
use std::io::{self, Read};

#[cfg(not(feature = "parquet"))]
pub fn convert(_: impl Read, _: &Columns, _: File) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes the records as a table: each a row number, texts with their lengths before them, and numbers.
#[cfg(feature = "parquet")]
pub fn convert(records: impl Read, columns: &Columns, out: File) -> io::Result<File> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    const GROUP_CELLS: usize = 1 << 20;
    let Columns { row, texts: text_names, numbers: number_names } = columns;
    let field = |kind: DataType| move |name: &String| Field::new(name, kind.clone(), false);
    let (texts, numbers) =
        (text_names.iter().map(field(DataType::Utf8)), number_names.iter().map(field(DataType::Float64)));
    let fields: Vec<Field> = row.iter().map(field(DataType::UInt64)).chain(texts).chain(numbers).collect();
    let group = (GROUP_CELLS / fields.len().max(1)).clamp(1, 1 << 16);
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(io::Error::other)?;
    let mut records = io::BufReader::with_capacity(1 << 16, records);
    loop {
        let (mut count, mut rows) = (0, Vec::new());
        let mut texts: Vec<Vec<String>> = vec![Vec::new(); text_names.len()];
        let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); number_names.len()];
        while count < group && !is_at_end(&mut records)? {
            count += 1;
            if row.is_some() {
                rows.push(u64::from_le_bytes(read_bytes(&mut records)?));
            }
            for column in &mut texts {
                let length = u32::from_le_bytes(read_bytes(&mut records)?);
                let mut text = Vec::new();
                records.by_ref().take(length.into()).read_to_end(&mut text)?;
                column.push(String::from_utf8_lossy(&text).into_owned());
            }
            for column in &mut numbers {
                column.push(f64::from_le_bytes(read_bytes(&mut records)?));
            }
        }
        if count == 0 {
            break;
        }
        let mut columns: Vec<ArrayRef> = Vec::new();
        columns.extend(row.iter().map(|_| Arc::new(UInt64Array::from(std::mem::take(&mut rows))) as ArrayRef));
        columns.extend(texts.into_iter().map(|column| Arc::new(StringArray::from(column)) as ArrayRef));
        columns.extend(numbers.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef));
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
    }
    writer.into_inner().map_err(io::Error::other)
}

#[cfg(feature = "parquet")]
fn is_at_end(source: &mut impl io::BufRead) -> io::Result<bool> {
    Ok(source.fill_buf()?.is_empty())
}

#[cfg(feature = "parquet")]
fn read_bytes<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}
