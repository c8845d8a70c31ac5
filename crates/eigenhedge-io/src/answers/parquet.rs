//! A Parquet file out of plain records.
//!
//! A Parquet file cannot be cut off at a row and continued, so answers wait as plain records and are turned into
//! one at the end. Row groups are small enough to be held in memory while they are written.

#[cfg(feature = "parquet")]
use super::CellKind;
use super::Columns;
use std::fs::File;
use std::io::{self, Read};

#[cfg(not(feature = "parquet"))]
pub fn convert(_: impl Read, _: &Columns, _: File) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes the records as a table: whole numbers, texts with their lengths before them, and numbers, as the columns say.
#[cfg(feature = "parquet")]
pub fn convert(records: impl Read, columns: &Columns, out: File) -> io::Result<File> {
    use super::form::NO_NUMBER;
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    /// A column of a row group.
    enum Values {
        Whole(Vec<Option<u64>>),
        Number(Vec<f64>),
        Text(Vec<String>),
    }

    const GROUP_CELLS: usize = 1 << 20;
    let field = |(name, kind): &(String, CellKind)| match kind {
        CellKind::Whole => Field::new(name, DataType::UInt64, name != "row"),
        CellKind::Number => Field::new(name, DataType::Float64, false),
        CellKind::Text => Field::new(name, DataType::Utf8, false),
    };
    let fields: Vec<Field> = columns.iter().map(field).collect();
    let group = (GROUP_CELLS / fields.len().max(1)).clamp(1, 1 << 16);
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(io::Error::other)?;
    let mut records = io::BufReader::with_capacity(1 << 16, records);
    loop {
        let mut count = 0;
        let empty = |(_, kind): &(String, CellKind)| match kind {
            CellKind::Whole => Values::Whole(Vec::new()),
            CellKind::Number => Values::Number(Vec::new()),
            CellKind::Text => Values::Text(Vec::new()),
        };
        let mut values: Vec<Values> = columns.iter().map(empty).collect();
        while count < group && !is_at_end(&mut records)? {
            count += 1;
            for column in &mut values {
                match column {
                    Values::Whole(column) => {
                        let number = u64::from_le_bytes(read_bytes(&mut records)?);
                        column.push(Some(number).filter(|number| *number != NO_NUMBER));
                    }
                    Values::Number(column) => column.push(f64::from_le_bytes(read_bytes(&mut records)?)),
                    Values::Text(column) => {
                        let length = u32::from_le_bytes(read_bytes(&mut records)?);
                        let mut text = Vec::new();
                        records.by_ref().take(length.into()).read_to_end(&mut text)?;
                        column.push(String::from_utf8_lossy(&text).into_owned());
                    }
                }
            }
        }
        if count == 0 {
            break;
        }
        let array = |values: Values| match values {
            Values::Whole(column) => Arc::new(UInt64Array::from(column)) as ArrayRef,
            Values::Number(column) => Arc::new(Float64Array::from(column)) as ArrayRef,
            Values::Text(column) => Arc::new(StringArray::from(column)) as ArrayRef,
        };
        let arrays = values.into_iter().map(array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(io::Error::other)?;
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
