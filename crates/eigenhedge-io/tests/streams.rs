//! Every format gives equal bits, from the start and from any row. Damaged files give an error.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::*;
use eigenhedge::Missing;
use eigenhedge::kernel::{TextItems, item_number};
use eigenhedge_io::{Error, Format, Layout, OnBadRow, Selector, Source, Stream, StreamState, read_array};
use std::path::Path;
use tempfile::TempDir;

struct Case {
    directory: TempDir,
    name: String,
}

impl Case {
    fn new(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let case = Self { directory: tempfile::tempdir().unwrap(), name: name.to_owned() };
        std::fs::write(case.directory.path().join(name), bytes).unwrap();
        case
    }

    fn source(&self) -> Source {
        Source::File(self.directory.path().join(&self.name))
    }

    fn layout(&self) -> Layout {
        Layout::new(Format::of_path(Path::new(&self.name)))
    }

    fn open(&self, layout: &Layout) -> Result<Stream, Error> {
        Stream::open(&self.source(), layout)
    }

    /// Reads all rows. Error messages omit the folder.
    fn read(&self, layout: &Layout) -> Result<Matrix, String> {
        let message = |error: Error| error.to_string().replace(&format!("{}/", self.directory.path().display()), "");
        rest(&mut self.open(layout).map_err(message)?).map_err(message)
    }
}

fn rest(stream: &mut Stream) -> Result<Matrix, Error> {
    let mut rows = Matrix::new();
    while let Some(row) = stream.next_row()? {
        rows.push(row.to_vec());
    }
    Ok(rows)
}

fn bits(matrix: &Matrix) -> Vec<Vec<u64>> {
    matrix.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect()
}

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| Selector::from_text(text)).collect()
}

/// The files in `tests/data` were written by NumPy 2.4 with `save` and `savez_compressed`.
#[test]
fn files_of_numpy_give_the_bits_that_were_saved() {
    let saved = vec![vec![0.1, -2.5, 3e-7], vec![5e-324, 1e22, -0.0]];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (name, array) in [("c.npy", None), ("fortran.npy", None), ("arrays.npz", Some("rows".to_owned()))] {
        let layout = Layout { array: array.clone(), ..Layout::new(Format::of_path(Path::new(name))) };
        let mut stream = Stream::open(&Source::File(folder.join(name)), &layout).unwrap();
        assert_eq!(bits(&rest(&mut stream).unwrap()), bits(&saved), "{name}");
        if name != "fortran.npy" {
            let whole = read_array(&folder.join(name), array.as_deref()).unwrap();
            assert_eq!((&whole.shape[..], bits(&vec![whole.numbers])), (&[2, 3][..], bits(&vec![saved.concat()])));
        }
    }
    let labels = read_array(&folder.join("arrays.npz"), Some("labels")).unwrap();
    assert_eq!((labels.shape, labels.numbers), (vec![2], vec![7.0, 9.0]));
}

#[test]
fn the_reason_of_the_system_is_the_source_and_is_said_once() {
    // The path continues below a file.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml/rows.npy");
    let error = read_array(&path, None).unwrap_err();
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>()).unwrap();
    assert_eq!(source.kind(), std::io::ErrorKind::NotADirectory);
    let sentence = format!("{}: cannot be read", path.display());
    assert_eq!(error.to_string(), sentence);
    assert_eq!(format!("{error:#}"), format!("{sentence}: {source}"));
}

#[test]
fn a_whole_array_that_is_not_sound_gives_a_sentence() {
    let cases = [
        (npy_raw("'<f8'", "(2, 2)", "True", &[0; 32]), "its numbers are in Fortran order"),
        (npy_raw("'<f8'", "(2, 2)", "False", &[0; 31]), "unexpected end of file"),
        (npy_raw("'<f8'", "(4294967296, 4294967296)", "False", &[]), "are too many"),
        (npy_raw("'<f8'", "(1152921504606846975,)", "False", &[]), "the array would take"),
        (npy_raw("'<U4'", "(2,)", "False", &[0; 32]), "must hold real numbers"),
        (b"no array".to_vec(), "it does not start like one"),
    ];
    for (bytes, sentence) in cases {
        let case = Case::new("t.npy", bytes);
        let error = format!("{:#}", read_array(&case.directory.path().join("t.npy"), None).unwrap_err());
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn every_format_of_one_matrix_gives_the_same_bits() {
    for (rows, columns) in [(41, 6), (1, 2), (5, 1), (3, 200)] {
        let matrix = matrix(rows, columns);
        for (name, bytes) in all_formats(&matrix) {
            let case = Case::new(name, bytes);
            let read = case.read(&case.layout()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(bits(&read), bits(&matrix), "{name}, {rows} x {columns}");
        }
    }
}

#[test]
fn columns_come_in_the_order_asked_for_in_every_format() {
    let matrix = matrix(20, 6);
    let wanted: Matrix = matrix.iter().map(|row| vec![row[4], row[0], row[5]]).collect();
    for (name, bytes) in all_formats(&matrix) {
        let case = Case::new(name, bytes);
        let layout = Layout { columns: selectors(&["4", "0", "3", "5"]), exclude: selectors(&["3"]), ..case.layout() };
        assert_eq!(bits(&case.read(&layout).unwrap()), bits(&wanted), "{name}");
        if name != "arrays.jsonl" && case.layout().format.has_names() {
            let columns = selectors(&["x4", "0", "x?"]);
            let layout = Layout { columns, exclude: selectors(&["x1", "x2", "x3"]), ..case.layout() };
            assert_eq!(bits(&case.read(&layout).unwrap()), bits(&wanted), "{name}");
            assert_eq!(case.open(&layout).unwrap().columns(), ["x4", "x0", "x5"], "{name}");
        }
    }
}

fn saved(stream: &mut Stream) -> (StreamState, Option<Vec<String>>) {
    postcard::from_bytes(&postcard::to_stdvec(&(stream.state(), stream.own_names())).unwrap()).unwrap()
}

fn resume(case: &Case, layout: &Layout, (state, names): &(StreamState, Option<Vec<String>>)) -> Result<Stream, Error> {
    Stream::resume(&case.source(), layout, state, names.as_deref())
}

#[test]
fn the_columns_of_a_model_are_found_by_name_wherever_they_stand() {
    let matrix = matrix(9, 4);
    let wanted = ["x2", "x0"].map(str::to_owned).to_vec();
    for (name, bytes) in all_formats(&matrix) {
        let case = Case::new(name, bytes);
        let layout = Layout { model_columns: Some(wanted.clone()), ..case.layout() };
        let mut stream = case.open(&layout).unwrap();
        if !layout.format.has_names() || name == "arrays.jsonl" {
            assert_eq!((stream.columns().len(), stream.own_names()), (4, None), "{name}");
            continue;
        }
        assert_eq!(stream.columns(), wanted, "{name}");
        assert_eq!(stream.own_names().as_ref(), Some(&wanted), "{name}");
        let chosen: Vec<Vec<f64>> = matrix.iter().map(|row| vec![row[2], row[0]]).collect();
        assert_eq!(bits(&rest(&mut stream).unwrap()), bits(&chosen), "{name}");
    }
}

#[test]
fn a_stream_taken_up_at_any_row_delivers_what_was_still_to_come() {
    let matrix = matrix(37, 4);
    for (name, bytes) in all_formats(&matrix) {
        let case = Case::new(name, bytes);
        let layout = Layout { columns: selectors(&["3", "1"]), ..case.layout() };
        let whole = case.read(&layout).unwrap();
        // Stops around the ends of batches, row groups and warm-up, and at every fifth row.
        let stops = (0..=matrix.len()).filter(|stop| *stop < 11 || stop % 5 == 0 || *stop > 34);
        for stop in stops {
            let mut stream = case.open(&layout).unwrap();
            for _ in 0..stop {
                stream.next_row().unwrap().unwrap();
            }
            let mut resumed = resume(&case, &layout, &saved(&mut stream)).unwrap();
            assert_eq!(resumed.rows(), stop as u64);
            let left = rest(&mut resumed).unwrap_or_else(|error| panic!("{name} at {stop}: {error}"));
            assert_eq!(bits(&left), bits(&whole[stop..].to_vec()), "{name} at {stop}");
            assert_eq!(resumed.row_number() + 1, matrix.len() as u64, "{name} at {stop}");
        }
    }
}

#[test]
fn places_are_the_same_after_a_stop() {
    let text = "a,b\n1,2\n\n3,4\nx,1\n5,6\n7,oops\n8,9\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let case = Case::new("t.csv", text);
        let layout = Layout { on_bad_row: OnBadRow::Skip, ..case.layout() };
        let mut whole = case.open(&layout).unwrap();
        assert_eq!(rest(&mut whole).unwrap().len(), 4);
        let messages: Vec<String> = whole.messages().map(str::to_owned).collect();
        assert!(messages[0].ends_with("t.csv, line 5, column 0 (\"a\"): must be a finite number, got \"x\""));
        assert!(messages[1].ends_with("line 7, column 1 (\"b\"): must be a finite number, got \"oops\""));
        for stop in 0..=4 {
            let mut stream = case.open(&layout).unwrap();
            let places: Vec<(String, u64)> = (0..stop)
                .map(|_| {
                    stream.next_row().unwrap().unwrap();
                    (stream.place(), stream.row_number())
                })
                .collect();
            let lines = [(2, 0), (4, 1), (6, 3), (8, 5)];
            for ((place, row), (line, number)) in places.iter().zip(lines) {
                assert!(place.ends_with(&format!("t.csv, line {line}")), "{place}");
                assert_eq!(*row, number);
            }
            let mut resumed = resume(&case, &layout, &saved(&mut stream)).unwrap();
            rest(&mut resumed).unwrap();
            assert_eq!((resumed.rows(), resumed.skipped()), (4, 2), "at {stop}");
            assert_eq!(resumed.messages().collect::<Vec<_>>(), messages, "at {stop}");
        }
    }
}

#[test]
fn a_refused_row_counts_as_bad() {
    let case = Case::new("t.csv", "1\n2\n1000\n4\n");
    let clean = Case::new("t.csv", "1\n2\n4\n");
    let layout = Layout { on_bad_row: OnBadRow::Skip, ..case.layout() };
    let wanted = clean.read(&layout).unwrap();
    let mut stream = case.open(&layout).unwrap();
    let mut rows = Matrix::new();
    while let Some(row) = stream.next_row().unwrap() {
        let row = row.to_vec();
        if stream.row_number() == 2 {
            stream.refuse("too far".into()).unwrap();
        } else {
            rows.push(row);
        }
    }
    assert_eq!(bits(&rows), bits(&wanted));
    assert_eq!((stream.rows(), stream.skipped(), saved(&mut stream).0), (3, 1, stream.state()));
    assert!(stream.messages().next().unwrap().ends_with("t.csv, line 3: too far"));
    let mut strict = case.open(&case.layout()).unwrap();
    strict.next_row().unwrap();
    assert!(strict.refuse("no".into()).unwrap_err().to_string().ends_with("t.csv, line 1: no"));
}

#[test]
fn another_table_is_not_taken_up() {
    let case = Case::new("t.csv", "a,b\n1,2\n3,4\n5,6\n");
    let layout = case.layout();
    let mut stream = case.open(&layout).unwrap();
    rest(&mut stream).unwrap();
    let state = saved(&mut stream);
    let resume = |case: &Case| resume(case, &layout, &state).err().unwrap().to_string();
    let renamed = Case::new("t.csv", "a,c\n1,2\n3,4\n5,6\n");
    assert!(resume(&renamed).ends_with("stopped: \"c\" stands where \"b\" stood"), "{}", resume(&renamed));
    let shorter = Case::new("t.csv", "a,b\n1,2\n");
    assert!(resume(&shorter).ends_with("the 3 rows that were read before the run was stopped, got 1"));
}

#[test]
fn integers_and_single_precision_are_read_as_they_are() {
    let data: Vec<u8> = [1i32, -2, 3, i32::MIN].iter().flat_map(|x| x.to_le_bytes()).collect();
    let case = Case::new("t.npy", npy_raw("'<i4'", "(2, 2)", "False", &data));
    assert_eq!(case.read(&case.layout()).unwrap(), [[1.0, -2.0], [3.0, -2147483648.0]]);
    let data: Vec<u8> = [0.1f32, -2.5, 3.0, 1e-40].iter().flat_map(|x| x.to_be_bytes()).collect();
    let case = Case::new("t.npy", npy_raw("'>f4'", "(2, 2)", "True", &data));
    assert_eq!(case.read(&case.layout()).unwrap(), [[f64::from(0.1f32), 3.0], [-2.5, f64::from(1e-40f32)]]);
    let case = Case::new("t.npy", npy_raw("'|u1'", "(1, 3)", "False", &[0, 7, 255]));
    assert_eq!(case.read(&case.layout()).unwrap(), [[0.0, 7.0, 255.0]]);
}

#[test]
fn files_that_were_cut_or_changed_give_a_sentence_and_never_a_panic() {
    let matrix = matrix(23, 3);
    for (name, bytes) in all_formats(&matrix) {
        let step = (bytes.len() / 40).max(1);
        let cut = (0..bytes.len()).step_by(step).map(|end| bytes[..end].to_vec());
        let changed = (0..bytes.len()).step_by(step).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            bytes
        });
        for bytes in cut.chain(changed) {
            let case = Case::new(name, bytes);
            // Truncated text may still be a valid table. Any error message is accepted.
            if let Err(message) = case.read(&case.layout()) {
                assert!(message.starts_with(name) && !message.contains('\n'), "{message}");
            }
        }
    }
}

#[test]
fn a_cut_array_or_archive_is_never_taken_for_a_whole_one() {
    let matrix = matrix(23, 3);
    for (name, bytes) in all_formats(&matrix) {
        if !name.ends_with(".npy") && !name.ends_with(".npz") && !name.ends_with(".parquet") {
            continue;
        }
        // An odd step cuts at every position within an element.
        for end in (0..bytes.len()).step_by(bytes.len() / 150 * 2 + 1) {
            let case = Case::new(name, &bytes[..end]);
            assert!(case.read(&case.layout()).is_err(), "{name} cut at {end}");
        }
    }
}

#[test]
fn missing_cells_of_every_sign_are_delivered_in_place_or_passed_over() {
    let csv = "a,b,c\n1,,3\n4,NaN,6\nna,N/A,null\n,-,9\nnone,?,10\n";
    let jsonl = "{\"a\":1,\"b\":null,\"c\":3}\n{\"a\":4,\"c\":6}\n{}\n{\"c\":9}\n{\"c\":10,\"b\":null}\n";
    let libsvm = "0 1:1 2: 3:3\n0 1:4 2:nan 3:6\n0 1:nan 2:na 3:?\n0 1:nan 2:nan 3:9\n0 1:nan 2:nan 3:10\n";
    let wanted = [[1.0, f64::NAN, 3.0], [4.0, f64::NAN, 6.0], [f64::NAN, f64::NAN, 9.0], [f64::NAN, f64::NAN, 10.0]];
    let shown = |rows: &[Vec<f64>]| rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>();
    for (name, text) in [("t.csv", csv), ("t.jsonl", jsonl), ("t.libsvm", libsvm)] {
        let case = Case::new(name, text);
        // Otherwise a column without numbers would be left out.
        let layout = || Layout { keeps_text: true, ..case.layout() };
        let mut stream = case.open(&Layout { missing: Some(Missing::Fill), ..layout() }).unwrap();
        let rows = rest(&mut stream).unwrap();
        assert_eq!(shown(&rows), shown(&wanted.map(Vec::from)), "{name}");
        assert_eq!(stream.skipped(), 1, "{name}");
        assert!(stream.messages().next().unwrap().ends_with("must hold at least one number, got missing cells only"));
        let skips = Layout { missing: Some(Missing::Skip), ..layout() };
        let all = case.read(&skips).unwrap_err();
        assert!(all.contains("all 5 are bad"), "{all}");
        let failing = case.read(&Layout { missing: Some(Missing::Fail), ..layout() }).unwrap_err();
        assert!(
            failing.ends_with("; --missing skip passes such rows over, --missing fill fills such cells in"),
            "{failing}"
        );
        assert!(!case.read(&layout()).unwrap_err().contains("--missing"));
    }
}

#[test]
fn other_bad_rows_still_fail_when_rows_with_missing_cells_are_passed_over() {
    let case = Case::new("t.csv", "a,b\n1,2\n3,\n5,6\n7,inf\n");
    let layout = Layout { missing: Some(Missing::Skip), ..case.layout() };
    assert_eq!(
        case.read(&layout).unwrap_err(),
        "t.csv, line 5, column 1 (\"b\"): must be a finite number, got \"inf\""
    );
}

#[test]
fn a_first_line_of_numbers_and_signs_for_missing_ones_is_no_header() {
    let case = Case::new("t.csv", "1,NA\n3,4\n");
    let rows = case.read(&Layout { missing: Some(Missing::Fill), ..case.layout() }).unwrap();
    assert!(rows.len() == 2 && rows[0][1].is_nan());
}

#[test]
fn every_format_delivers_missing_cells_in_place() {
    let mut holes = matrix(20, 4);
    (holes[3][1], holes[7][0], holes[19][3]) = (f64::NAN, f64::NAN, f64::NAN);
    let shown = |rows: &Matrix| rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>();
    for (name, mut bytes) in all_formats(&holes) {
        if name.contains(".jsonl") {
            // JSON has no NaN. Compressed and UTF-16 files are not modified here.
            let Some(text) = String::from_utf8(bytes).ok().filter(|text| text.contains("NaN")) else { continue };
            bytes = text.replace("NaN", "null").into_bytes();
        }
        let case = Case::new(name, bytes);
        let rows = case.read(&Layout { missing: Some(Missing::Fill), ..case.layout() }).unwrap();
        assert_eq!(shown(&rows), shown(&holes), "{name}");
        let skipped = case.read(&Layout { missing: Some(Missing::Skip), ..case.layout() }).unwrap();
        assert_eq!(skipped.len(), 17, "{name}");
    }
}

#[test]
fn texts_and_arrays_become_the_numbers_of_their_items() {
    let words = |texts: &[&str]| texts.iter().map(|text| item_number(text)).collect::<Vec<f64>>();
    let wanted = vec![words(&["bread", "milk"]), words(&["eggs", "1", "true"])];
    let cases = [
        ("a.lines", "bread, milk\n\neggs 1 true\n"),
        ("a.log", "[\"bread\", \"milk\"]\n[\"eggs\", 1, true]\n"),
        ("a.csv", "id,text\n7,bread milk\n8,\"eggs, 1; true\"\n"),
        ("a.jsonl", "{\"id\": 1, \"text\": \"bread milk\"}\n{\"id\": 2, \"text\": [\"eggs\", 1, true]}\n"),
    ];
    for (name, text) in cases {
        let case = Case::new(name, text);
        let has_id = text.contains("id");
        let columns = selectors(if has_id { &["text"] } else { &[] });
        let keep = selectors(if has_id { &["id"] } else { &[] });
        let layout = Layout { items: Some(TextItems::Words), columns, keep, ..case.layout() };
        assert_eq!(case.read(&layout).unwrap(), wanted, "{name}");
        let mut stream = case.open(&layout).unwrap();
        stream.next_row().unwrap();
        assert_eq!(stream.columns(), [if has_id { "text" } else { "line" }], "{name}");
        assert_eq!((stream.row().kept.len(), stream.kept_columns().len()), (usize::from(has_id), usize::from(has_id)));
        let (state, names) = (stream.state(), stream.own_names());
        let mut again = Stream::resume(&case.source(), &layout, &state, names.as_deref()).unwrap();
        assert_eq!(rest(&mut again).unwrap(), wanted[1..], "{name}");
    }
}

#[test]
fn a_column_that_is_the_text_may_be_kept_too() {
    let case = Case::new("a.jsonl", "{\"t\": [\"x\", \"y\"]}\n");
    let layout = Layout { items: Some(TextItems::Chars), keep: selectors(&["t"]), ..case.layout() };
    let layout = Layout { columns: selectors(&["t"]), ..layout };
    let mut stream = case.open(&layout).unwrap();
    assert_eq!(stream.next_row().unwrap().unwrap().len(), 2);
    assert_eq!(stream.row().kept, ["[\"x\",\"y\"]"]);
}

#[test]
fn rows_that_are_no_items_are_refused_by_place() {
    let refusal = |text: &str, columns: &[&str]| {
        let case = Case::new("a.jsonl", text);
        case.read(&Layout { items: Some(TextItems::Words), columns: selectors(columns), ..case.layout() }).unwrap_err()
    };
    let message = refusal("{\"a\": \"x\", \"b\": 1}\n", &[]);
    assert_eq!(message, "a.jsonl: rows that are texts must have one column: name it with --columns; 2 are selected");
    let message = refusal("{\"a\": \"x\"}\n{\"a\": [1, null]}\n", &["a"]);
    assert_eq!(
        message,
        "a.jsonl, line 2, column 0 (\"a\"): an array must hold texts, numbers or truth values, got \"null\""
    );
    let message = refusal("{\"a\": \"x\"}\n{\"a\": \" \"}\n", &["a"]);
    assert_eq!(message, "a.jsonl, line 2, column 0 (\"a\"): must hold at least one item, got none");
}

/// Returns everything that a stream reports about its rows, with or without reading ahead.
fn told(case: &Case, layout: &Layout, ahead: bool, from: Option<&StreamState>) -> Vec<String> {
    let mut stream = match from {
        None => case.open(layout).unwrap(),
        Some(state) => Stream::resume(&case.source(), layout, state, None).unwrap(),
    };
    if ahead {
        assert!(stream.read_ahead(&case.source(), layout).unwrap());
    }
    let mut told = Vec::new();
    loop {
        match stream.next_row().map(|row| row.map(<[f64]>::to_vec)) {
            Ok(Some(row)) => {
                let (place, kept, number) = (stream.place(), stream.row().kept.to_vec(), stream.row_number());
                let state = serde_json::to_string(&stream.state()).unwrap();
                told.push(format!("{row:?} {place} {kept:?} {number} {state}"));
                if let (true, Err(error)) = (row[0] == 7.0, stream.refuse("seven".to_owned())) {
                    told.push(error.to_string());
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                told.push(format!("{error:#}"));
                break;
            }
        }
    }
    told.push(serde_json::to_string(&stream.state()).unwrap());
    told.push(format!("{} {} {:?}", stream.rows(), stream.skipped(), stream.messages().collect::<Vec<_>>()));
    told
}

#[test]
fn rows_read_ahead_are_those_of_the_reader() {
    let rows: String = (0..900).map(|i| format!("{i},{},{}\n", 0.1 * f64::from(i), i % 7)).collect();
    let csv = |bad: &str| format!("a,b,c\n{rows}{bad}\n{rows}");
    let skip = |layout: Layout| Layout { on_bad_row: OnBadRow::Skip, keep: selectors(&["c"]), ..layout };
    for bad in ["1,x,2", "1,2", "1,,2", "", "\"open"] {
        let case = Case::new("t.csv", csv(bad));
        let fail = Layout { columns: selectors(&["b"]), ..case.layout() };
        assert_eq!(told(&case, &fail, true, None), told(&case, &fail, false, None), "{bad:?}");
        let skip = skip(case.layout());
        assert_eq!(told(&case, &skip, true, None), told(&case, &skip, false, None), "{bad:?}");
        let mut stream = case.open(&skip).unwrap();
        (0..500).for_each(|_| assert!(stream.next_row().unwrap().is_some()));
        let state = Some(stream.state());
        let (ahead, wanted) = (told(&case, &skip, true, state.as_ref()), told(&case, &skip, false, state.as_ref()));
        assert_eq!(ahead, wanted, "{bad:?}, from row 500");
    }
    let case = Case::new("short.csv", "1,2\n3,4\n");
    assert_eq!(told(&case, &case.layout(), true, None), told(&case, &case.layout(), false, None));
}

#[test]
fn sparse_rows_come_with_their_filled_cells() {
    let dense: String = (1..=40).map(|i| format!(" {i}:{i}")).collect();
    let text = format!("0 2:1.5 40:-2\n1\n0{dense}\n0 5:1 3:1\n0 7:0 8:4\n0 9:1\n");
    let case = Case::new("t.libsvm", text);
    let layout = Layout { dim: Some(40), on_bad_row: OnBadRow::Skip, ..case.layout() };
    let row = |cells: &[(usize, f64)]| {
        let mut row = vec![0.0; 40];
        cells.iter().for_each(|(i, x)| row[*i] = *x);
        row
    };
    let all = (1..=40).map(f64::from).collect();
    let wanted = [row(&[(1, 1.5), (39, -2.0)]), row(&[]), all, row(&[(7, 4.0)]), row(&[(8, 1.0)])];
    let filled = [Some(&[1, 39][..]), Some(&[]), None, Some(&[7]), Some(&[8])];
    for reads_ahead in [false, true] {
        let mut stream = case.open(&layout).unwrap();
        if reads_ahead {
            assert!(stream.read_ahead(&case.source(), &layout).unwrap());
        }
        for (wanted, filled) in wanted.iter().zip(filled) {
            assert_eq!(stream.next_row().unwrap().unwrap(), wanted);
            assert_eq!((stream.row().numbers(), stream.row().filled()), (&wanted[..], filled));
        }
        assert!(stream.next_row().unwrap().is_none());
        assert_eq!(stream.skipped(), 1);
    }
    let some = Layout { columns: selectors(&["39", "1"]), ..layout };
    assert_eq!(case.read(&some).unwrap()[0], [-2.0, 1.5]);
}
