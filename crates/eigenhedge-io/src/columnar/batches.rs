//! Conversion of batches of columns to rows.

use crate::catch_panics::guarded;
use crate::dates;
use crate::reader::{
    Columns, Error, Fault, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace, bad_number,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};

pub const BATCH_CELLS: usize = 1 << 17;

pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Error>>>;

pub type Reopen = Box<dyn Fn(u64) -> Result<Batches, Error>>;

pub struct Table {
    input: InputSource,
    format: &'static str,
    batches: Batches,
    reopen: Option<(Reopen, u64)>,
    columns: Columns,
    order: Vec<usize>,
    kept: Vec<usize>,
    batch: Option<RecordBatch>,
    block: Vec<f64>,
    block_first: usize,
    at: usize,
    rows: u64,
    fills: bool,
}

/// Returns the selected columns, and the indices of the columns to decode in file order.
pub fn choose(input: &InputSource, layout: &Layout, schema: &Schema) -> Result<(Columns, Vec<usize>), Error> {
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let holds_text = |position: usize| !is_number(schema.field(position).data_type());
    let is_time = |position: usize| {
        let kind = schema.field(position).data_type();
        matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
    };
    let columns = Columns::choose_with_time(input, layout, Some(names), schema.fields().len(), holds_text, is_time)?;
    let types = columns.selected.iter().map(|position| (*position, schema.field(*position).data_type()));
    let named = |(position, kind): (usize, &DataType)| match kind.is_nested() {
        true => (position, "the type of lists or structures".to_owned()),
        false => (position, format!("the type {kind}")),
    };
    let bad: Vec<(usize, String)> = types.filter(|(_, kind)| !is_number(kind)).map(named).collect();
    if !bad.is_empty() {
        return Err(columns.not_numeric(&input.name(), &bad, (false, false), None, ""));
    }
    for position in &columns.kept {
        let kind = schema.field(*position).data_type();
        if !can_be_text(kind) {
            let reason = format!("{} cannot be kept as text, got the type {kind}", columns.label(*position));
            return Err(input.fault(Fault::Table(reason)));
        }
    }
    let mut projection = [&columns.selected[..], &columns.kept[..]].concat();
    projection.sort_unstable();
    projection.dedup();
    Ok((columns, projection))
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || matches!(kind, DataType::Boolean | DataType::Decimal128(..))
}

impl Table {
    pub fn open(
        input: &InputSource,
        layout: &Layout,
        (columns, projection): (Columns, Vec<usize>),
        batches: Batches,
        reopen: Option<(Reopen, u64)>,
    ) -> Result<Opened, Error> {
        let place = |position: &usize| projection.partition_point(|before| before < position);
        let mut table = Self {
            input: input.clone(),
            format: layout.format.name(),
            batches,
            reopen,
            order: columns.selected.iter().map(place).collect(),
            kept: columns.kept.iter().map(place).collect(),
            columns: columns.clone(),
            batch: None,
            block: Vec::new(),
            block_first: 0,
            at: 0,
            rows: 0,
            fills: layout.fills(),
        };
        if !table.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        Ok(Opened::new(table, columns))
    }

    fn advance(&mut self) -> Result<bool, Error> {
        loop {
            let next = guarded(|| self.batches.next()).map_err(|reason| unsound(&self.input, self.format, reason))?;
            self.batch = next.transpose()?;
            (self.at, self.block_first) = (0, 0);
            self.block.clear();
            if self.batch.as_ref().is_none_or(|batch| batch.num_rows() > 0) {
                return Ok(self.batch.is_some());
            }
        }
    }

    fn transpose(&mut self) -> Result<(), Error> {
        let Some(batch) = &self.batch else { return Ok(()) };
        let width = self.order.len();
        let rows = (BATCH_CELLS / width).max(1).min(batch.num_rows() - self.at);
        self.block_first = self.at;
        self.block.resize(rows * width, 0.0);
        for (place, &column) in self.order.iter().enumerate() {
            let array = batch.columns().get(column).map(|array| array.slice(self.at, rows));
            let known = array.is_some_and(|array| spread(&array, &mut self.block[place..], width));
            if !known {
                return Err(unsound(&self.input, self.format, "a batch does not have the columns of the schema"));
            }
        }
        Ok(())
    }

    fn bad_cell(&self, place: usize, value: f64) -> Error {
        let array = self.batch.as_ref().map(|batch| batch.column(self.order[place]));
        let found = match array {
            Some(array) if array.is_null(self.at - 1) => "a missing cell".to_owned(),
            _ => value.to_string(),
        };
        self.columns.at(self.place(), self.columns.selected[place], Fault::cell(found, value.is_nan()))
    }
}

/// Copies a column to every `width`-th cell, missing values as NaN. Returns false if not numeric.
fn spread(array: &ArrayRef, cells: &mut [f64], width: usize) -> bool {
    macro_rules! as_double {
        ($type:ty, $convert:expr) => {{
            let Some(array) = array.as_primitive_opt::<$type>() else { return false };
            let cells = cells.iter_mut().step_by(width);
            if array.null_count() == 0 {
                cells.zip(array.values()).for_each(|(cell, value)| *cell = $convert(*value));
            } else {
                cells.zip(array.iter()).for_each(|(cell, value)| *cell = value.map_or(f64::NAN, $convert));
            }
        }};
    }
    match array.data_type() {
        DataType::Int8 => as_double!(Int8Type, f64::from),
        DataType::Int16 => as_double!(Int16Type, f64::from),
        DataType::Int32 => as_double!(Int32Type, f64::from),
        DataType::Int64 => as_double!(Int64Type, |value| value as f64),
        DataType::UInt8 => as_double!(UInt8Type, f64::from),
        DataType::UInt16 => as_double!(UInt16Type, f64::from),
        DataType::UInt32 => as_double!(UInt32Type, f64::from),
        DataType::UInt64 => as_double!(UInt64Type, |value| value as f64),
        DataType::Float16 => as_double!(Float16Type, f64::from),
        DataType::Float32 => as_double!(Float32Type, f64::from),
        DataType::Float64 => as_double!(Float64Type, f64::from),
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi((*scale).into());
            as_double!(Decimal128Type, |value| value as f64 / unit);
        }
        DataType::Boolean => {
            let Some(array) = array.as_boolean_opt() else { return false };
            let cells = cells.iter_mut().step_by(width);
            cells
                .zip(array.iter())
                .for_each(|(cell, value)| *cell = value.map_or(f64::NAN, |value| f64::from(u8::from(value))));
        }
        _ => return false,
    }
    true
}

impl Reader for Table {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let numbers = row.cleared();
        if self.batch.as_ref().is_none_or(|batch| self.at == batch.num_rows()) && !self.advance()? {
            return Ok(false);
        }
        let width = self.order.len();
        // Skipped rows may leave the next row outside of the block.
        if (self.at - self.block_first + 1) * width > self.block.len() {
            self.transpose()?;
        }
        let start = (self.at - self.block_first) * width;
        numbers.extend_from_slice(&self.block[start..start + width]);
        self.at += 1;
        self.rows += 1;
        if let Some(bad) = bad_number(numbers, self.fills) {
            return Err(self.bad_cell(bad, numbers[bad]));
        }
        let columns = self.batch.as_ref().map_or(&[][..], RecordBatch::columns);
        let text = |place: &usize| columns.get(*place).map_or(String::new(), |array| text_of(array, self.at - 1));
        row.kept.extend(self.kept.iter().map(text));
        Ok(true)
    }

    fn place(&self) -> RowPlace {
        self.input.row(self.rows.saturating_sub(1))
    }

    fn position(&self) -> ReadPosition {
        ReadPosition { rows: self.rows, ..ReadPosition::default() }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if let Some((reopen, total)) = &self.reopen {
            self.rows = position.rows.min(*total);
            self.batches = reopen(self.rows)?;
            (self.batch, self.at, self.block_first) = (None, 0, 0);
            self.block.clear();
            return Ok(self.rows);
        }
        while self.rows < position.rows {
            let left = self.batch.as_ref().map_or(0, |batch| batch.num_rows() - self.at);
            if left == 0 && !self.advance()? {
                break;
            }
            let step = (position.rows - self.rows).min(left as u64);
            self.at += step as usize;
            self.rows += step;
        }
        Ok(self.rows)
    }

    fn progress(&self) -> Progress {
        self.reopen.as_ref().map_or(Progress::Unknown(self.rows), |(_, total)| Progress::Rows(self.rows, *total))
    }
}

pub fn unsound(input: &InputSource, format: &'static str, reason: impl std::fmt::Display) -> Error {
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    input.fault(Fault::Unsound { format, reason })
}

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
