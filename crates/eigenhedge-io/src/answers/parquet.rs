//! Conversion of plain records to a Parquet file, which cannot be truncated at a row and continued. A row group is
//! buffered in memory, so its size is limited.

use super::form::Column;
use std::fs::File;
use std::io::{self, Read};

#[cfg(not(feature = "parquet"))]
pub fn convert(_: impl Read, _: &[Column], _: File) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(feature = "parquet")]
pub fn convert(records: impl Read, columns: &[Column], out: File) -> io::Result<File> {
    use super::form::{Cell, CellKind, read_cell};
    use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use std::sync::Arc;

    /// Values of a column in a row group, in the list of its type. Missing integers have definition level 0.
    #[derive(Default)]
    struct Values {
        whole: Vec<i64>,
        levels: Vec<i16>,
        numbers: Vec<f64>,
        texts: Vec<ByteArray>,
    }

    const GROUP_CELLS: usize = 1 << 20;
    let field = |(name, kind): &Column| {
        let (physical, logical) = match kind {
            CellKind::Whole => (Physical::INT64, Some(LogicalType::integer(64, false))),
            CellKind::Number => (Physical::DOUBLE, None),
            CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let can_miss = *kind == CellKind::Whole && name != "row";
        let repetition = if can_miss { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        field.with_repetition(repetition).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, ParquetError>>().map_err(io::Error::other)?;
    let group = (GROUP_CELLS / fields.len().max(1)).clamp(1, 1 << 16);
    let schema = Type::group_type_builder("answers").with_fields(fields).build().map_err(io::Error::other)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
    let mut writer = writer.map_err(io::Error::other)?;
    let (mut records, mut text) = (io::BufReader::with_capacity(1 << 16, records), Vec::new());
    loop {
        let mut count = 0;
        let mut values: Vec<Values> = columns.iter().map(|_| Values::default()).collect();
        while count < group && !is_at_end(&mut records)? {
            count += 1;
            for ((_, kind), column) in columns.iter().zip(&mut values) {
                match read_cell(*kind, &mut records, &mut text)? {
                    Cell::Whole(number) => {
                        column.levels.push(i16::from(number.is_some()));
                        column.whole.extend(number.map(|number| number as i64));
                    }
                    Cell::Number(number) => column.numbers.push(number),
                    Cell::Text(text) => column.texts.push(ByteArray::from(text)),
                }
            }
        }
        if count == 0 {
            break;
        }
        let mut write = || -> Result<(), ParquetError> {
            let mut group = writer.next_row_group()?;
            for (values, (_, kind)) in values.iter().zip(columns) {
                let Some(mut column) = group.next_column()? else { break };
                match kind {
                    CellKind::Whole => {
                        column.typed::<Int64Type>().write_batch(&values.whole, Some(&values.levels), None)?
                    }
                    CellKind::Number => column.typed::<DoubleType>().write_batch(&values.numbers, None, None)?,
                    CellKind::Text => column.typed::<ByteArrayType>().write_batch(&values.texts, None, None)?,
                };
                column.close()?;
            }
            group.close().map(|_| ())
        };
        write().map_err(io::Error::other)?;
    }
    writer.into_inner().map_err(io::Error::other)
}

#[cfg(feature = "parquet")]
fn is_at_end(source: &mut impl io::BufRead) -> io::Result<bool> {
    Ok(source.fill_buf()?.is_empty())
}
