//! Columns of every type in Parquet files, compared with Arrow files that another library reads.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::{arrow_file, parquet};
use arrow_array::types::Int32Type;
use arrow_array::*;
use eigenhedge::Missing;
use eigenhedge_io::{Format, Layout, Selector, Source, Stream};
use std::sync::Arc;

const ROWS: usize = 50;

fn cells<T>(cell: impl Fn(usize) -> T) -> impl Iterator<Item = Option<T>> {
    (0..ROWS).map(move |i| (i % 7 != 3).then(|| cell(i)))
}

/// Returns a column of decimal numbers. `cell` returns a number in units of the last digit.
fn decimals(digits: u8, scale: i8, cell: impl Fn(usize) -> i128) -> ArrayRef {
    Arc::new(cells(cell).collect::<Decimal128Array>().with_precision_and_scale(digits, scale).unwrap())
}

fn numbers() -> Vec<(&'static str, ArrayRef)> {
    let big = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let halves = cells(|i| i as f32 / 8.0 - 3.0);
    let half = |x: Option<f32>| x.map(<types::Float16Type as ArrowPrimitiveType>::Native::from_f32);
    vec![
        ("i8", Arc::new(cells(|i| big(i) as i8).collect::<Int8Array>())),
        ("i16", Arc::new(cells(|i| big(i) as i16).collect::<Int16Array>())),
        ("i32", Arc::new(cells(|i| if i == 0 { i32::MIN } else { big(i) as i32 }).collect::<Int32Array>())),
        ("i64", Arc::new(cells(|i| if i == 1 { i64::MAX } else { big(i) as i64 }).collect::<Int64Array>())),
        ("u8", Arc::new(cells(|i| big(i) as u8).collect::<UInt8Array>())),
        ("u16", Arc::new(cells(|i| big(i) as u16).collect::<UInt16Array>())),
        ("u32", Arc::new(cells(|i| if i == 0 { u32::MAX } else { big(i) as u32 }).collect::<UInt32Array>())),
        ("u64", Arc::new(cells(|i| if i == 1 { u64::MAX } else { big(i) }).collect::<UInt64Array>())),
        ("f16", Arc::new(halves.map(half).collect::<Float16Array>())),
        ("f32", Arc::new(cells(|i| (i as f32).sqrt()).collect::<Float32Array>())),
        ("f64", Arc::new(cells(|i| (i as f64).sqrt()).collect::<Float64Array>())),
        ("small", decimals(7, 3, |i| 1234 - 99 * i as i128)),
        ("middle", decimals(15, 2, |i| (big(i) >> 15) as i128)),
        ("large", decimals(38, 9, |i| i128::from(big(i) as i64) << 40)),
        ("all", Arc::new((0..ROWS as i32).map(Some).collect::<Int32Array>())),
    ]
}

fn others() -> Vec<(&'static str, ArrayRef)> {
    let at = |i: usize| 1_704_067_200_123_456_789 - 86_399_000_000_000 * (i as i64) * 1000;
    vec![
        ("text", Arc::new(cells(|i| "é".repeat(i % 4)).collect::<StringArray>())),
        ("long", Arc::new(cells(|i| format!("line {i}")).collect::<LargeStringArray>())),
        ("flag", Arc::new(cells(|i| i % 3 == 0).collect::<BooleanArray>())),
        ("day", Arc::new(cells(|i| 19_000 - 700 * i as i32).collect::<Date32Array>())),
        ("milli", Arc::new(cells(|i| at(i) / 1_000_000).collect::<TimestampMillisecondArray>())),
        ("micro", Arc::new(cells(|i| at(i) / 1000).collect::<TimestampMicrosecondArray>().with_timezone("UTC"))),
        ("nano", Arc::new(cells(at).collect::<TimestampNanosecondArray>())),
    ]
}

/// Numbers of a row as bits, and its copied texts.
type Row = (Vec<u64>, Vec<String>);

/// Reads all rows. On an error, returns the part of the message after the file name.
fn read(name: &str, bytes: &[u8], layout: impl Fn(Layout) -> Layout) -> Result<Vec<Row>, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let layout = layout(Layout { missing: Some(Missing::Fill), ..Layout::new(Format::of_path(&path)) });
    let message = |error: eigenhedge_io::Error| error.to_string().rsplit(name).next().unwrap().to_owned();
    let mut stream = Stream::open(&Source::File(path), &layout).map_err(message)?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next_row().map_err(message)? {
        let bits = row.iter().map(|x| x.to_bits()).collect();
        rows.push((bits, stream.row().kept.to_vec()));
    }
    Ok(rows)
}

#[test]
fn every_type_that_is_a_number_or_a_text_is_read_as_from_an_arrow_file() {
    let columns = [numbers(), others()].concat();
    let batch = [RecordBatch::try_from_iter(columns).unwrap()];
    let keep: Vec<Selector> = others().iter().map(|(name, _)| Selector::from_text(name)).collect();
    let layout = |layout: Layout| Layout { keep: keep.clone(), ..layout };
    let wanted = read("t.arrow", &arrow_file(&batch), layout).unwrap();
    assert_eq!((wanted.len(), wanted[0].0.len(), wanted[0].1.len()), (ROWS, 15, 7));
    assert!(wanted[3].0[..14].iter().all(|bits| f64::from_bits(*bits).is_nan()), "a row with missing cells");
    assert_eq!(wanted[1].0[3], (i64::MAX as f64).to_bits());
    assert_eq!(wanted[1].0[11], 1.135f64.to_bits());
    for compression in [parquet::basic::Compression::UNCOMPRESSED, parquet::basic::Compression::SNAPPY] {
        assert_eq!(read("t.parquet", &parquet(&batch, compression), layout).as_ref(), Ok(&wanted));
    }
}

#[test]
fn types_that_are_neither_are_refused_by_name_and_may_stand_beside() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>((0..ROWS).map(|i| Some(vec![Some(i as i32); i % 3])));
    let bytes = BinaryArray::from_iter_values((0..ROWS).map(|i| [i as u8]));
    let durations = (0..ROWS as i64).map(Some).collect::<DurationMicrosecondArray>();
    let refused: [(&str, ArrayRef); 3] =
        [("list", Arc::new(lists)), ("bytes", Arc::new(bytes)), ("duration", Arc::new(durations))];
    for (name, column) in refused {
        let (before, after) = (numbers().remove(10), numbers().remove(14));
        let batch = [RecordBatch::try_from_iter([before, (name, column), after]).unwrap()];
        let file = parquet(&batch, parquet::basic::Compression::SNAPPY);
        let message = read("t.parquet", &file, |layout| Layout { keeps_text: true, ..layout }).unwrap_err();
        assert!(message.contains(name) && message.contains("the type"), "{message}");
        let keep = |layout| Layout { only_numeric: true, keep: vec![Selector::from_text(name)], ..layout };
        assert!(read("t.parquet", &file, keep).unwrap_err().contains(name));
        // The columns inside a nested column do not shift the columns after it.
        let rows = read("t.parquet", &file, |layout| Layout { only_numeric: true, ..layout }).unwrap();
        assert_eq!(rows[5].0, [5f64.sqrt().to_bits(), 5f64.to_bits()]);
    }
}
