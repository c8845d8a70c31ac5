//! A Parquet file out of records of fixed size.
//!
//! A Parquet file cannot be cut off at a row and continued, so answers wait as plain records and are turned into
//! one at the end. Row groups are small enough to be held in memory while they are written.

use std::fs::File;
use std::io::{self, Read};

#[cfg(not(feature = "parquet"))]
pub fn convert(_: impl Read, _: usize, _: File) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes the records, each a row number, two losses and `kept` coordinates, as a table.
#[cfg(feature = "parquet")]
pub fn convert(mut records: impl Read, kept: usize, out: File) -> io::Result<File> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    const GROUP_CELLS: usize = 1 << 20;
    let names = ["expected_loss", "loss"].map(str::to_owned).into_iter().chain((0..kept).map(|i| format!("z{i}")));
    let numbers = names.map(|name| Field::new(name, DataType::Float64, false));
    let fields = std::iter::once(Field::new("row", DataType::UInt64, false)).chain(numbers);
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let width = kept + 3;
    let group = (GROUP_CELLS / width).clamp(1, 1 << 16);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(io::Error::other)?;
    let size = 8 * width;
    let mut block = Vec::new();
    loop {
        block.clear();
        let found = records.by_ref().take((group * size) as u64).read_to_end(&mut block)?;
        if found == 0 {
            break;
        }
        let cell = |record: &[u8], place: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&record[8 * place..8 * place + 8]);
            bytes
        };
        let rows = block.chunks_exact(size).map(|record| u64::from_le_bytes(cell(record, 0)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(rows))];
        for place in 1..width {
            let values = block.chunks_exact(size).map(|record| f64::from_le_bytes(cell(record, place)));
            columns.push(Arc::new(Float64Array::from_iter_values(values)));
        }
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
    }
    writer.into_inner().map_err(io::Error::other)
}
