//! Conversion of the cells of a column to text.

use crate::dates;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

pub fn can_be_text(kind: &DataType) -> bool {
    let plain = matches!(
        kind,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Boolean
            | DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(_, _)
    );
    plain || kind.is_integer() || kind.is_floating()
}

/// Returns a cell as text: the shortest number that reads back exactly, a date in ISO 8601, or nothing if missing.
pub fn text_of(array: &ArrayRef, row: usize) -> String {
    if row >= array.len() || array.is_null(row) {
        return String::new();
    }
    macro_rules! number {
        ($type:ty) => {
            array.as_primitive_opt::<$type>().map(|array| array.value(row).to_string())
        };
    }
    macro_rules! moment {
        ($type:ty, $in_second:expr) => {
            array.as_primitive_opt::<$type>().map(|array| moment(array.value(row), $in_second))
        };
    }
    let text = match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().map(|array| array.value(row).to_owned()),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|array| array.value(row).to_owned()),
        DataType::Utf8View => array.as_string_view_opt().map(|array| array.value(row).to_owned()),
        DataType::Boolean => array.as_boolean_opt().map(|array| array.value(row).to_string()),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => number!(Float16Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Date32 => {
            let array = array.as_primitive_opt::<Date32Type>();
            array.map(|array| dates::text(86400 * i64::from(array.value(row)), 0, false))
        }
        DataType::Date64 => moment!(Date64Type, 1000),
        DataType::Timestamp(TimeUnit::Second, _) => moment!(TimestampSecondType, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moment!(TimestampMillisecondType, 1000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => moment!(TimestampMicrosecondType, 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moment!(TimestampNanosecondType, 1_000_000_000),
        _ => None,
    };
    text.unwrap_or_default()
}

fn moment(units: i64, in_second: i64) -> String {
    let nanoseconds = units.rem_euclid(in_second) * (1_000_000_000 / in_second);
    dates::text(units.div_euclid(in_second), nanoseconds as u32, true)
}
