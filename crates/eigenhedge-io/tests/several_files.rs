//! Several files as one table, copied texts and times, and errors for files that do not fit.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::*;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use eigenhedge_io::{Error, Format, Layout, OnBadRow, Progress, Selector, Source, Stream};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

struct Files {
    directory: TempDir,
    source: Source,
    format: Format,
}

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let write = |(name, bytes): &(&str, &[u8])| {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let paths: Vec<_> = files.iter().map(write).collect();
        let format = Format::of_path(Path::new(files[0].0));
        Self { directory, source: Source::Several(paths.into_iter().map(Source::File).collect()), format }
    }

    fn layout(&self) -> Layout {
        Layout { dim: (self.format == Format::Libsvm).then_some(4), ..Layout::new(self.format) }
    }

    /// Reads all rows with their copied texts. Error messages omit the folder.
    fn read(&self, layout: &Layout) -> Result<Vec<Row>, String> {
        let message = |error: Error| format!("{error:#}").replace(&format!("{}/", self.directory.path().display()), "");
        rest(&mut Stream::open(&self.source, layout).map_err(message)?).map_err(message)
    }
}

type Row = (u64, Vec<u64>, Vec<String>, Option<f64>);

fn rest(stream: &mut Stream) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    while let Some(row) = stream.next_row()? {
        let bits = row.iter().map(|x| x.to_bits()).collect();
        rows.push((stream.row_number(), bits, stream.row().kept.to_vec(), stream.row().time));
    }
    Ok(rows)
}

fn resumed(source: &Source, layout: &Layout, stream: &mut Stream) -> Stream {
    let state = serde_json::to_string(&stream.state()).unwrap();
    Stream::resume(source, layout, &serde_json::from_str(&state).unwrap(), stream.own_names().as_deref()).unwrap()
}

fn texts(names: &[&str]) -> Vec<Selector> {
    names.iter().map(|name| Selector::from_text(name)).collect()
}

#[test]
fn several_files_are_their_concatenation_from_the_start_and_from_every_row() {
    let all = matrix(23, 4);
    let names: Vec<&str> = all_formats(&all).iter().map(|(name, _)| *name).collect();
    let piece = |rows: &[Vec<f64>], i: usize| all_formats(&rows.to_vec()).swap_remove(i).1;
    for (i, name) in names.iter().enumerate() {
        let whole = Files::new(&[(name, &piece(&all, i))]);
        let layout = whole.layout();
        let wanted = whole.read(&layout).unwrap();
        let parts = [&all[..9], &all[9..10], &all[10..]].map(|rows| piece(rows, i));
        let parts: Vec<(String, &[u8])> =
            (0..).zip(&parts).map(|(j, bytes)| (format!("{j}{name}"), &bytes[..])).collect();
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        let files = Files::new(&parts);
        assert_eq!(files.read(&layout).as_ref(), Ok(&wanted), "{name}");
        let mut stream = Stream::open(&files.source, &layout).unwrap();
        for row in 0..all.len() {
            let mut resumed = resumed(&files.source, &layout, &mut stream);
            assert_eq!(rest(&mut resumed).unwrap(), wanted[row..], "{name} from {row}");
            stream.next_row().unwrap();
        }
        assert!(stream.next_row().unwrap().is_none());
        assert!(matches!(stream.progress(), Progress::Bytes(_, all) if all > 0), "{name}");
    }
}

#[test]
fn columns_of_later_files_are_found_by_name_and_files_without_rows_are_passed_over() {
    let wanted = Files::new(&[("a.csv", b"x,y,z\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n")]);
    let wanted = wanted.read(&wanted.layout()).unwrap();
    let files = Files::new(&[
        ("a.csv", b"x,y,z\n1,2,3\n"),
        ("empty.csv", b""),
        ("b.csv", b"z,x,y\n6,4,5\n"),
        ("header.csv", b"x,y,z\n"),
        ("c.csv", b"7,8,9\n"),
        ("d.csv", b"y,z,x\n11,12,10\n"),
    ]);
    assert_eq!(files.read(&files.layout()), Ok(wanted.clone()));
    let chosen = Layout { columns: texts(&["x", "y", "z"]), ..files.layout() };
    let more = Files::new(&[("a.csv", b"x,y,z\n1,2,3\n4,5,6\n"), ("b.csv", b"w,z,y,x\n0,9,8,7\n0,12,11,10\n")]);
    assert_eq!(more.read(&chosen), Ok(wanted));
}

#[test]
fn a_line_that_repeats_the_header_is_no_row() {
    for text in ["a,b\n1,2\na,b\n3,4\n\u{feff}a,b\n", "\u{feff}a,b\r\n1,2\r\na,b\r\na,b\r\n3,4\r\n"] {
        let files = Files::new(&[("t.csv", text.as_bytes())]);
        let rows = files.read(&files.layout()).unwrap();
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1], "{text:?}");
        let mut stream = Stream::open(&files.source, &files.layout()).unwrap();
        stream.next_row().unwrap();
        let mut resumed = resumed(&files.source, &files.layout(), &mut stream);
        assert_eq!(rest(&mut resumed).unwrap(), rows[1..]);
    }
    // A header may be numeric if columns are selected by name. Rows equal to it are still rows.
    let files = Files::new(&[("t.csv", b"1,2\n1,2\n")]);
    let named = Layout { columns: vec![Selector::Name("1".into())], ..files.layout() };
    assert_eq!(files.read(&named).unwrap().len(), 1);
}

fn mixed() -> Vec<(&'static str, Vec<u8>)> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("when", DataType::Timestamp(TimeUnit::Millisecond, None), false),
        Field::new("x", DataType::Float64, false),
        Field::new("who", DataType::Utf8, true),
        Field::new("y", DataType::Float64, false),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMillisecondArray::from(vec![1_704_067_200_000, 1_704_070_800_500])),
        Arc::new(Float64Array::from(vec![1.0, 3.0])),
        Arc::new(StringArray::from(vec![Some("anna, b"), None])),
        Arc::new(Float64Array::from(vec![2.0, 4.0])),
    ];
    let batch = [RecordBatch::try_new(schema, columns).unwrap()];
    let csv = "when,x,who,y\n2024-01-01T00:00:00,1,\"anna, b\",2\n2024-01-01T01:00:00.5,3,,4\n";
    let json = "{\"when\":\"2024-01-01T00:00:00\",\"x\":1,\"who\":\"anna, b\",\"y\":2}\n\
                {\"y\":4,\"when\":\"2024-01-01T01:00:00.5\",\"x\":3,\"who\":null}\n";
    vec![
        ("t.csv", csv.into()),
        ("t.jsonl", json.into()),
        ("t.parquet", parquet(&batch, parquet::basic::Compression::SNAPPY)),
        ("t.arrow", arrow_file(&batch)),
        ("t.tsv.gz", gzip(csv.replace("anna, b", "anna; b").replace(',', "\t").replace(';', ",").as_bytes())),
    ]
}

#[test]
fn texts_and_times_go_along_with_rows_in_every_format_that_has_them() {
    let bits = |x: [f64; 2]| x.map(f64::to_bits).to_vec();
    let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
    let wanted = vec![
        (0, bits([1.0, 2.0]), words(["2024-01-01T00:00:00", "anna, b"]), Some(1_704_067_200.0)),
        (1, bits([3.0, 4.0]), words(["2024-01-01T01:00:00.5", ""]), Some(1_704_070_800.5)),
    ];
    for (name, bytes) in mixed() {
        let files = Files::new(&[(name, &bytes)]);
        let time = Some(Selector::from_text("when"));
        let layout = Layout { keep: texts(&["who"]), time: time.clone(), ..files.layout() };
        assert_eq!(files.read(&layout).as_ref(), Ok(&wanted), "{name}");
        let stream = Stream::open(&files.source, &layout).unwrap();
        assert_eq!(stream.kept_columns(), ["when", "who"]);
        assert_eq!(stream.columns(), ["x", "y"]);
        let numeric = Layout { only_numeric: true, ..files.layout() };
        let stream = Stream::open(&files.source, &numeric).unwrap();
        assert_eq!((stream.columns(), stream.left_out()), (&words(["x", "y"])[..], words(["when", "who"])), "{name}");
        let rows = files.read(&numeric).unwrap();
        assert_eq!(rows.iter().map(|row| &row.1).collect::<Vec<_>>(), [&wanted[0].1, &wanted[1].1], "{name}");
        let both = Layout { columns: texts(&["x", "y"]), keep: texts(&["x"]), ..files.layout() };
        assert_eq!(files.read(&both).unwrap()[1].1, wanted[1].1, "a feature that is kept too");
    }
}

#[test]
fn what_cannot_be_read_so_is_one_sentence_with_the_name_of_the_file() {
    let csv = b"a,b\n1,2\n3,4\n";
    let packed = gzip(csv);
    let mut damaged = packed.clone();
    damaged[packed.len() - 6] ^= 1;
    let frame = zstd(&csv.repeat(50));
    let odd = [0xff, 0xfe, b'a', 0, b'\n', 0, b'1'];
    let arrow = arrow_file(&batches(&matrix(10, 2), 5));
    let plain = |_: &mut Layout| {};
    type Change = Box<dyn Fn(&mut Layout)>;
    type Case = (Vec<(&'static str, Vec<u8>)>, Change, &'static str);
    let keep = |name: &'static str| -> Change { Box::new(move |layout| layout.keep = texts(&[name])) };
    let time = |name: &'static str| -> Change { Box::new(move |layout| layout.time = Some(Selector::from_text(name))) };
    let other = npy(&matrix(10, 3), Order::C);
    let b = |bytes: &[u8]| bytes.to_vec();
    let cases: Vec<Case> = vec![
        (
            vec![("t.csv.gz", b(&packed[..packed.len() - 9]))],
            Box::new(plain),
            "t.csv.gz: cannot be read: its gzip data are damaged or end too early",
        ),
        (
            vec![("t.csv.gz", b(&damaged))],
            Box::new(plain),
            "t.csv.gz: cannot be read: its gzip data are damaged or end too early",
        ),
        (vec![("t.csv.gz", b(csv))], Box::new(plain), "t.csv.gz: cannot be read: its gzip data are damaged"),
        (
            vec![("t.csv.zst", b(&frame[..frame.len() - 3]))],
            Box::new(plain),
            "t.csv.zst: cannot be read: its zstd data are damaged or end too early",
        ),
        (
            vec![("t.csv.zst", b(b"nothing of the kind"))],
            Box::new(plain),
            "t.csv.zst: cannot be read: its zstd data are damaged",
        ),
        (
            vec![("t.parquet.gz", b(&packed))],
            Box::new(plain),
            "t.parquet.gz: must not be compressed as a whole to be read as parquet: unpack it",
        ),
        (vec![("t.arrow.gz", b(&gzip(&arrow)))], Box::new(plain), "t.arrow.gz: must not be compressed as a whole"),
        (vec![("t.csv", b(&odd))], Box::new(plain), "t.csv: cannot be read: its UTF-16 text ends within a character"),
        (
            vec![("a.csv", b(csv)), ("b.csv", b(b"a,c\n1,2\n"))],
            Box::new(plain),
            "b.csv: there is no column \"b\" in the header",
        ),
        (
            vec![("a.csv", b(csv)), ("b.csv", b(b"a,b,c\n1,2,3\n"))],
            Box::new(plain),
            "b.csv: the column \"c\" must be in the first file too",
        ),
        (
            vec![("a.csv", b(csv)), ("b.csv", b(b"1,2,3\n"))],
            Box::new(plain),
            "b.csv: must have 2 columns like the first file, got 3",
        ),
        (
            vec![("a.csv", b(b"1,2\n")), ("b.csv", b(csv))],
            Box::new(plain),
            "b.csv: must have no header, like the first file",
        ),
        (vec![("a.csv", b(csv)), ("b.csv", b(b"a,b\n1,x\n"))], Box::new(plain), "b.csv, line 2, column 1 (\"b\")"),
        (
            vec![("a.npy", b(&npy(&matrix(10, 2), Order::C))), ("b.npy", b(&other))],
            Box::new(plain),
            "b.npy: must have 2 columns like the first file, got 3",
        ),
        (
            vec![("a.libsvm", b(b"1 1:1\n")), ("b.libsvm", b(b"1 2:1\n"))],
            Box::new(|layout| layout.dim = None),
            "a.libsvm: several LIBSVM files need the number of columns, --dim",
        ),
        (vec![("t.csv", b(csv))], keep("c"), "t.csv: there is no column \"c\" in the header"),
        (
            vec![("t.csv", b(b"t,x\n2024-01-01,1\nlater,2\n"))],
            time("t"),
            "t.csv, line 3, column 0 (\"t\"): must be a date such as",
        ),
        (
            vec![("t.csv", b(b"a,b\nu,v\n"))],
            Box::new(|layout| layout.only_numeric = true),
            "t.csv, line 2, column 0 (\"a\"), column 1 (\"b\"): must hold numbers, got \"u\", \"v\"",
        ),
    ];
    for (files, change, wanted) in cases {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        let case = Files::new(&files);
        let mut layout = case.layout();
        change(&mut layout);
        let message = case.read(&layout).unwrap_err();
        assert!(message.starts_with(wanted), "{message:?} for {wanted:?}");
        assert!(!message.contains('\n'), "{message:?}");
    }
    // A row with an invalid time is a bad row.
    let case = Files::new(&[("t.csv", b"t,x\n2024-01-01,1\nlater,2\n2024-01-02,3\n")]);
    let skipping = Layout { on_bad_row: OnBadRow::Skip, time: Some(Selector::Position(0)), ..case.layout() };
    assert_eq!(case.read(&skipping).unwrap().iter().map(|row| row.0).collect::<Vec<_>>(), [0, 2]);
}
