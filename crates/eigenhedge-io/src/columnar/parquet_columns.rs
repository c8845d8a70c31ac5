//! Conversion of flat Parquet columns to Arrow arrays. That of the `parquet` library supports nested columns, and takes
//! longer to compile than all other readers of this crate.

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    StringArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// Returns all columns with their array types. Error messages also need unsupported columns.
pub fn schema_of(file: &FileMetaData) -> Schema {
    let told = told_schema(file);
    let duration = |name: &str| {
        let told = told.as_ref().and_then(|schema| schema.field_with_name(name).ok());
        told.map(Field::data_type).filter(|kind| matches!(kind, DataType::Duration(_))).cloned()
    };
    let field = |root: &Arc<Type>| {
        let kind = match kind_of(root) {
            DataType::Int64 => duration(root.name()).unwrap_or(DataType::Int64),
            kind => kind,
        };
        Field::new(root.name(), kind, true)
    };
    Schema::new(file.schema_descr().root_schema().get_fields().iter().map(field).collect::<Vec<_>>())
}

fn told_schema(file: &FileMetaData) -> Option<Schema> {
    let told = file.key_value_metadata()?.iter().find(|pair| pair.key == "ARROW:schema")?;
    let schema = STANDARD_NO_PAD.decode(told.value.as_ref()?.trim_end_matches('=')).ok()?;
    arrow_ipc::convert::try_schema_from_ipc_buffer(&schema).ok()
}

pub fn leaves_of(descriptor: &SchemaDescriptor, columns: &[usize]) -> Vec<usize> {
    let mut leaf_of = vec![0; descriptor.root_schema().get_fields().len()];
    (0..descriptor.num_columns()).for_each(|leaf| leaf_of[descriptor.get_column_root_idx(leaf)] = leaf);
    columns.iter().map(|column| leaf_of[*column]).collect()
}

fn kind_of(column: &Type) -> DataType {
    let info = column.get_basic_info();
    let is_repeated = info.has_repetition() && info.repetition() == parquet::basic::Repetition::REPEATED;
    if is_repeated || column.is_group() {
        return DataType::Struct(Default::default());
    }
    match (column.get_physical_type(), info.logical_type_ref(), info.converted_type()) {
        (_, Some(LogicalType::Unknown), _) => DataType::Null,
        (_, Some(LogicalType::Decimal(_)), _) | (_, None, ConvertedType::DECIMAL) => match column.get_precision() {
            digits @ 1..=38 => DataType::Decimal128(digits as u8, column.get_scale() as i8),
            _ => DataType::Binary,
        },
        (_, Some(LogicalType::Time(_)), _) | (_, None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
            DataType::Time64(TimeUnit::Microsecond)
        }
        (Physical::BOOLEAN, ..) => DataType::Boolean,
        (Physical::INT32, Some(LogicalType::Date), _) | (Physical::INT32, None, ConvertedType::DATE) => {
            DataType::Date32
        }
        (Physical::INT32, Some(LogicalType::Integer(kind)), _) if !kind.is_signed => DataType::UInt32,
        (Physical::INT32, None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32) => {
            DataType::UInt32
        }
        (Physical::INT32, ..) => DataType::Int32,
        (Physical::INT64, Some(LogicalType::Timestamp(kind)), _) => match kind.unit {
            ParquetUnit::MILLIS => DataType::Timestamp(TimeUnit::Millisecond, None),
            ParquetUnit::MICROS => DataType::Timestamp(TimeUnit::Microsecond, None),
            ParquetUnit::NANOS => DataType::Timestamp(TimeUnit::Nanosecond, None),
        },
        (Physical::INT64, None, ConvertedType::TIMESTAMP_MILLIS) => DataType::Timestamp(TimeUnit::Millisecond, None),
        (Physical::INT64, None, ConvertedType::TIMESTAMP_MICROS) => DataType::Timestamp(TimeUnit::Microsecond, None),
        (Physical::INT64, Some(LogicalType::Integer(kind)), _) if !kind.is_signed => DataType::UInt64,
        (Physical::INT64, None, ConvertedType::UINT_64) => DataType::UInt64,
        (Physical::INT64, ..) => DataType::Int64,
        (Physical::INT96, ..) => DataType::Timestamp(TimeUnit::Nanosecond, None),
        (Physical::FLOAT, ..) => DataType::Float32,
        (Physical::DOUBLE, ..) => DataType::Float64,
        (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json), _) => DataType::Utf8,
        (Physical::BYTE_ARRAY, None, ConvertedType::UTF8 | ConvertedType::JSON) => DataType::Utf8,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) => DataType::Float32,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, ..) => DataType::Binary,
    }
}

pub fn pass_over(column: &mut ColumnReader, rows: usize) -> Result<usize, ParquetError> {
    match column {
        ColumnReader::BoolColumnReader(column) => column.skip_records(rows),
        ColumnReader::Int32ColumnReader(column) => column.skip_records(rows),
        ColumnReader::Int64ColumnReader(column) => column.skip_records(rows),
        ColumnReader::Int96ColumnReader(column) => column.skip_records(rows),
        ColumnReader::FloatColumnReader(column) => column.skip_records(rows),
        ColumnReader::DoubleColumnReader(column) => column.skip_records(rows),
        ColumnReader::ByteArrayColumnReader(column) => column.skip_records(rows),
        ColumnReader::FixedLenByteArrayColumnReader(column) => column.skip_records(rows),
    }
}

pub fn read_rows(column: &mut ColumnReader, kind: &DataType, rows: usize) -> Result<ArrayRef, ParquetError> {
    macro_rules! array {
        ($array:ty, $column:expr, $convert:expr) => {{
            let (values, nulls) = values_of($column, rows, $convert)?;
            Arc::new(<$array>::new(values.into(), nulls)) as ArrayRef
        }};
    }
    macro_rules! decimals {
        ($column:expr, $convert:expr) => {{
            let (values, nulls) = values_of($column, rows, $convert)?;
            Arc::new(Decimal128Array::new(values.into(), nulls).with_data_type(kind.clone())) as ArrayRef
        }};
    }
    let is_decimal = matches!(kind, DataType::Decimal128(..));
    let is_unsigned = matches!(kind, DataType::UInt32 | DataType::UInt64);
    Ok(match column {
        ColumnReader::BoolColumnReader(column) => array!(BooleanArray, column, |value| value),
        ColumnReader::Int32ColumnReader(column) if is_decimal => decimals!(column, i128::from),
        ColumnReader::Int64ColumnReader(column) if is_decimal => decimals!(column, i128::from),
        ColumnReader::ByteArrayColumnReader(column) if is_decimal => decimals!(column, |value| whole(value.data())),
        ColumnReader::FixedLenByteArrayColumnReader(column) if is_decimal => {
            decimals!(column, |value| whole(value.data()))
        }
        ColumnReader::Int32ColumnReader(column) if is_unsigned => array!(UInt32Array, column, |value| value as u32),
        ColumnReader::Int32ColumnReader(column) => match kind {
            DataType::Date32 => array!(Date32Array, column, |value| value),
            _ => array!(Int32Array, column, |value| value),
        },
        ColumnReader::Int64ColumnReader(column) if is_unsigned => array!(UInt64Array, column, |value| value as u64),
        ColumnReader::Int64ColumnReader(column) => match kind {
            DataType::Timestamp(TimeUnit::Millisecond, _) => array!(TimestampMillisecondArray, column, |value| value),
            DataType::Timestamp(TimeUnit::Microsecond, _) => array!(TimestampMicrosecondArray, column, |value| value),
            DataType::Timestamp(_, _) => array!(TimestampNanosecondArray, column, |value| value),
            _ => array!(Int64Array, column, |value| value),
        },
        ColumnReader::Int96ColumnReader(column) => {
            array!(TimestampNanosecondArray, column, |value| value.to_nanos())
        }
        ColumnReader::FloatColumnReader(column) => array!(Float32Array, column, |value| value),
        ColumnReader::DoubleColumnReader(column) => array!(Float64Array, column, |value| value),
        ColumnReader::FixedLenByteArrayColumnReader(column) => {
            array!(Float32Array, column, |value| half(value.data()))
        }
        ColumnReader::ByteArrayColumnReader(column) => {
            let (values, _) = values_of(column, rows, Some)?;
            let texts = values.iter().map(|value| value.as_ref().map(|bytes| bytes.as_utf8()).transpose());
            Arc::new(texts.collect::<Result<StringArray, _>>()?)
        }
    })
}

fn values_of<T: PhysicalType, V: Default>(
    column: &mut ColumnReaderImpl<T>,
    rows: usize,
    convert: impl Fn(T::T) -> V,
) -> Result<(Vec<V>, Option<NullBuffer>), ParquetError> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    let (found, ..) = column.read_records(rows, Some(&mut levels), None, &mut values)?;
    if found < rows {
        return Err(ParquetError::General("a column has fewer rows than its row group".to_owned()));
    }
    let all = values.len() == rows;
    let mut values = values.into_iter().map(convert);
    if all {
        return Ok((values.collect(), None));
    }
    let is_there: Vec<bool> = levels.iter().map(|level| *level > 0).collect();
    let spread = is_there.iter().map(|there| if *there { values.next() } else { None });
    Ok((spread.map(Option::unwrap_or_default).collect(), Some(NullBuffer::from(is_there.clone()))))
}

/// Decodes a signed big-endian integer. If there are more than 16 bytes, only the last 16 count.
fn whole(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte > 127) { -1 } else { 0 };
    bytes.iter().fold(sign, |number: i128, byte| number << 8 | i128::from(*byte))
}

fn half(bytes: &[u8]) -> f32 {
    type Half = <arrow_array::types::Float16Type as arrow_array::ArrowPrimitiveType>::Native;
    bytes.try_into().map_or(f32::NAN, |bytes| Half::from_le_bytes(bytes).to_f32())
}
