//! Invalid files, rows and options. Each gives a message and an exit status, and no output file.
//!
//! `refusals.rs` has these tests for CSV tables and for the options of learners.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::{Place, unhinted};
use crate::tables;
use crate::tables::{arrow_file, arrow_stream, batches, matrix, npy, npy_raw, npz, parquet};
use parquet::basic::Compression::UNCOMPRESSED;
use std::sync::Arc;
use zip::CompressionMethod;

/// File, options after `run FILE`, and expected result.
struct Case {
    file: &'static str,
    content: Vec<u8>,
    options: &'static str,
    status: i32,
    sentence: &'static str,
}

fn bad(file: &'static str, content: impl Into<Vec<u8>>, sentence: &'static str) -> Case {
    Case { file, content: content.into(), options: "-k 1", status: 1, sentence }
}

impl Case {
    fn with(self, options: &'static str) -> Self {
        Self { options, ..self }
    }

    fn usage(self) -> Self {
        Self { status: 2, ..self }
    }
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn text_cases() -> Vec<Case> {
    vec![
        bad(
            "t.csv",
            "a,b\nu,v\n",
            "t.csv, line 2, column 0 (\"a\"), column 1 (\"b\"): must hold numbers, got \"u\", \"v\"",
        ),
        bad("t.csv", "temp,pressure\n1,2\n", "t.csv: there is no column \"tmp\" in the header; did you mean \"temp\"?")
            .with("-k 1 --columns tmp,pressure"),
        bad("t.csv", "a,b\n1,2\n", "t.csv: no column matches \"sensor_*\"").with("-k 1 --columns sensor_*"),
        bad(
            "t.csv",
            "id,a,day,b\nfirst,1,monday,2\n",
            "t.csv, line 2, column 0 (\"id\"), column 2 (\"day\"): must hold numbers, got \"first\", \"monday\"; they can be \
             left out with --exclude id,day",
        )
        .with("-k 1 --columns id,a,day,b"),
        bad(
            "t.csv",
            "id,a,day,b\nfirst,1,2024-02-29,2\n",
            "t.csv, line 2, column 2 (\"day\"): must hold numbers, got \"2024-02-29\"; --time day takes it as the time",
        )
        .with("-k 1 --columns a,day,b"),
        bad(
            "t.csv",
            "monday,1,2\ntuesday,3,4\n",
            "t.csv, line 1, column 0: must hold numbers, got \"monday\"; it can be left out with --exclude 0; --header reads the line as a \
             header",
        ),
        bad(
            "t.csv",
            "a,b\nNA,2\n",
            "t.csv, line 2, column 0 (\"a\"): must be a finite number, got \"NA\"; --missing skip passes such rows over, --missing fill fills such cells in",
        ),
        bad(
            "t.csv",
            "a,b\nx,2\n1,\n",
            "t.csv: must hold at least one good row, but all 2 are bad; the first: t.csv, line 2, column 0 (\"a\"): must be \
             a finite number, got \"x\"",
        )
        .with("-k 1 --on-bad-row skip"),
        bad("t.csv", "a:b\n1:2\n", "t.csv: -k must be less than the number of selected columns, 1, got 1 (is \
             --delimiter right?)"),
        bad("t.npy", npy_raw("'<f8'", "(2, 1)", "False", &doubles(&[1.0, 2.0])), "t.npy: -k must be less than the number \
             of selected columns, 1, got 1"),
        bad("t.tsv", "a\tb\n1\t2\n1\n", "t.tsv, line 3: must have 2 cells like the first line, got 1"),
        bad("t.csv", b"PAR1....PAR1", "t.csv: must be csv, but the file starts like parquet; --format says what a file is"),
        bad("t.csv", b"\x1f\x8b\x08....", "t.csv: cannot be read: its gzip data are damaged or end too early: unexpected end of file"),
        bad("t.csv", b"1,2\n\xff\xfe,3\n", "t.csv, line 2, column 0: must be a finite number, got \"ÿþ\"").with("-k 1 --quiet"),
        bad("t.csv", "1,2\n1e200,3\n", "t.csv, line 2: column 0 must be finite once standardized, got 1e200")
            .with("-k 1 --standardize running"),
        bad("t.csv", "1,2\n1e200,3\n", "t.csv, line 2: column 0 must be finite once standardized, got 1e200")
            .with("-k 1 --standardize warmup:5"),
        bad("t.jsonl", "", "t.jsonl: must hold at least one row, got nothing"),
        bad("t.jsonl", "\n \n", "t.jsonl: must hold at least one row, got nothing"),
        bad("t.jsonl", "[1,2]\n[1,2\n", "t.jsonl, line 2: must be a JSON array or object: EOF while parsing a list after 4 \
             characters, got \"[1,2\""),
        bad("t.jsonl", "[1,2]\n[1,NaN]\n", "t.jsonl, line 2: must be a JSON array or object: expected value after 4 \
             characters, got \"[1,NaN]\""),
        bad("t.jsonl", "[1,2] [3,4]\n", "t.jsonl, line 1: must be a JSON array or object: trailing characters after 7 \
             characters, got \"[1,2] [3,4]\""),
        bad("t.jsonl", "3\n", "t.jsonl, line 1: must be a JSON array or object: invalid type: integer `3`, expected an array \
             or an object after 1 characters, got \"3\""),
        bad("t.jsonl", "[1,2]\n[1,2,3]\n", "t.jsonl, line 2: must have 2 cells like the first row, got 3"),
        bad("t.jsonl", "[1,2]\n[1]\n", "t.jsonl, line 2: must have 2 cells like the first row, got 1"),
        bad("t.jsonl", "[1,2]\n{\"a\":1}\n", "t.jsonl, line 2: must be an array like the first row, got an object"),
        bad("t.jsonl", "{\"a\":1,\"b\":2}\n[1,2]\n", "t.jsonl, line 2: must be an object like the first row, got an array"),
        bad("t.jsonl", "[1,2]\n[1,null]\n", "t.jsonl, line 2, column 1: must be a finite number, got null; --missing skip passes such rows over, --missing fill fills such cells in"),
        bad("t.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":1}\n", "t.jsonl, line 2, column 1 (\"b\"): must be a finite number, got \
             nothing; --missing skip passes such rows over, --missing fill fills such cells in"),
        bad("t.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"c\":3}\n", "t.jsonl, line 1, column 2 (\"c\"): must be a finite number, got \
             nothing; --missing skip passes such rows over, --missing fill fills such cells in"),
        bad("t.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"a\":3}\n", "t.jsonl, line 2: the key \"a\" must stand in an \
             object once, not twice"),
        bad("t.jsonl", "{\"a\":1,\"a\":2}\n", "t.jsonl, line 1: the key \"a\" must stand in an object once, not twice"),
        bad("t.jsonl", "[]\n", "t.jsonl: must have at least one column, got none"),
        bad("t.libsvm", "", "t.libsvm: must hold at least one row, got nothing"),
        bad("t.libsvm", "1\n-1\n", "t.libsvm: must have at least one column, got none"),
        bad("t.libsvm", "1 1:2 2:3\n1 0:2\n", "t.libsvm, line 2: an index must be a whole number from 1, got \"0\""),
        bad("t.libsvm", "1 1:2 2:3\n1 -1:2\n", "t.libsvm, line 2: an index must be a whole number from 1, got \"-1\""),
        bad("t.libsvm", "1 2:2 1:3\n", "t.libsvm, line 1: indices must increase, got 1 after 2"),
        bad("t.libsvm", "1 2:2 2:3\n", "t.libsvm, line 1: indices must increase, got 2 after 2"),
        bad("t.libsvm", "1 1:2 2:1\n1 1:2 2\n", "t.libsvm, line 2: must be a label and then INDEX:VALUE, got \"2\""),
        bad("t.libsvm", "1:2 2:3\n", "t.libsvm, line 1: must be a label and then INDEX:VALUE, got \"1:2\""),
        bad("t.libsvm", "1 1:2 2:x\n", "t.libsvm, line 1, column 1: must be a finite number, got \"x\""),
        bad("t.libsvm", "1 1:2 2:nan\n", "t.libsvm, line 1, column 1: must be a finite number, got \"nan\"; --missing skip passes such rows over, --missing fill fills such cells in"),
        bad("t.libsvm", "1 1:2 2:\n", "t.libsvm, line 1, column 1: must be a finite number, got an empty cell; --missing skip passes such rows over, --missing fill fills such cells in"),
        bad("t.libsvm", "1 1:2\n1 4:1\n", "t.libsvm, line 2: an index must not exceed the number of columns, 3, got 4")
            .with("-k 1 --dim 3"),
        bad("t.libsvm", "1 99999999999:2\n", "t.libsvm, line 1: 99999999999 columns would take 23.3T of memory, and \
             --max-memory allows 1G").with("-k 1 --max-memory 1G"),
    ]
}

fn array_cases() -> Vec<Case> {
    let table = npy(&matrix(5, 3), tables::Order::C);
    let named = |names: &[&'static str]| {
        npz(&names.iter().map(|name| (*name, table.clone())).collect::<Vec<_>>(), CompressionMethod::STORE)
    };
    let mut damaged = named(&["x"]);
    damaged[200] ^= 1;
    vec![
        bad("t.npy", "", "t.npy: must be a sound npy file: it ends within its header"),
        bad("t.npy", "1,2,3,4,5,6\n", "t.npy: must be a sound npy file: it does not start like one"),
        bad("t.npy", &table[..40], "t.npy: must be a sound npy file: it ends within its header"),
        bad("t.npy", &table[..table.len() - 1], "t.npy: must hold 5 rows, as its header says, got 4"),
        bad(
            "t.npy",
            b"\x93NUMPY\x07\x00......",
            "t.npy: must be a sound npy file: its version is 7, and 1 to 3 are known",
        ),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(2, 1, 2)", "False", &doubles(&[1.0; 4])),
            "t.npy: must have 2 dimensions, rows and \
             columns, got 3",
        ),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(4,)", "False", &doubles(&[1.0; 4])),
            "t.npy: must have 2 dimensions, rows and \
             columns, got 1",
        ),
        bad(
            "t.npy",
            npy_raw("'<c16'", "(1, 2)", "False", &doubles(&[1.0; 4])),
            "t.npy: must hold real numbers of 1 to 8 \
             bytes, got elements of type \"<c16\"",
        ),
        bad(
            "t.npy",
            npy_raw("'|O'", "(1, 2)", "False", b"...."),
            "t.npy: must hold real numbers of 1 to 8 bytes, got elements \
             of type \"|O\"",
        ),
        bad("t.npy", npy_raw("'<f8'", "(0, 2)", "False", b""), "t.npy: must hold at least one row, got nothing"),
        bad("t.npy", npy_raw("'<f8'", "(2, 0)", "False", b""), "t.npy: must have at least one column, got none"),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(9, 999999999999)", "False", b""),
            "t.npy: must hold 9 rows, as its header says, got 0",
        ),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(9999999999999, 999999999999)", "False", b""),
            "t.npy: must be a sound npy file: \
             9999999999999 x 999999999999 elements are too many",
        ),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(2, 2)", "False", &doubles(&[1.0, 2.0, f64::NAN, 4.0])),
            "t.npy, row 1, column 0: must \
             be a finite number, got NaN; --missing skip passes such rows over, --missing fill fills such cells in",
        ),
        bad(
            "t.npy",
            npy_raw("'<f8'", "(2, 2)", "True", &doubles(&[1.0, 2.0, f64::INFINITY, 4.0])),
            "t.npy, row 0, column 1: \
             must be a finite number, got inf",
        ),
        bad("t.npy", table.clone(), "t.npy: -k must be less than the number of selected columns, 3, got 3")
            .with("-k 3"),
        bad("t.npy", table.clone(), "t.npy: there is no column 3: positions run from 0 to 2")
            .with("-k 1 --columns 0,3"),
        bad("t.npz", "", "t.npz: must be a sound npz file: invalid Zip archive: Could not find EOCD"),
        bad("t.npz", named(&["x", "y"]), "t.npz: --array must be one of x, y, got nothing"),
        bad("t.npz", named(&["x", "y"]), "t.npz: --array must be one of x, y, got \"z\"").with("-k 1 --array z"),
        bad("t.npz", npz(&[], CompressionMethod::STORE), "t.npz: holds no arrays"),
        bad("t.npz", damaged, "t.npz: must be a sound npz file: the checksum of the array is wrong"),
    ]
}

fn columnar_cases() -> Vec<Case> {
    let table = batches(&matrix(5, 3), 5);
    let (plain, file, stream) = (parquet(&table, UNCOMPRESSED), arrow_file(&table), arrow_stream(&table));
    vec![
        bad("t.parquet", "", "t.parquet: must hold at least one row, got nothing"),
        bad(
            "t.parquet",
            &plain[..plain.len() - 9],
            "t.parquet: must be a sound parquet file: Parquet error: Invalid Parquet \
             file. Corrupt footer",
        ),
        bad(
            "t.parquet",
            file.clone(),
            "t.parquet: must be a sound parquet file: Parquet error: Invalid Parquet file. Corrupt \
             footer",
        ),
        bad(
            "t.parquet",
            parquet(&[with_gap()], UNCOMPRESSED),
            "t.parquet, row 1, column 1 (\"b\"): must be a finite number, \
             got a missing cell; --missing skip passes such rows over, --missing fill fills such cells in",
        ),
        bad(
            "t.parquet",
            parquet(&[with_words()], UNCOMPRESSED),
            "t.parquet, column 0 (\"id\"): must hold \
             numbers, got the type Utf8; it can be left out with --exclude id",
        )
        .with("-k 1 --columns id,b,ok"),
        bad("t.parquet", plain.clone(), "t.parquet: there is no column \"x11\"; did you mean \"x1\"?")
            .with("-k 1 --columns x0,x11"),
        bad(
            "t.parquet",
            parquet(&[with_words().slice(0, 0)], UNCOMPRESSED),
            "t.parquet: must hold at least one row, got \
             nothing",
        ),
        bad("t.arrow", "", "t.arrow: must hold at least one row, got nothing"),
        bad("t.arrow", "1,2,3,4\n", "t.arrow: must be a sound arrow file: it does not start like one"),
        bad("t.feather", b"FEA1....", "t.feather: must be a sound feather file: it starts like feather version 1"),
        bad("t.arrow", &file[..file.len() - 20], "t.arrow: must be a sound arrow file: it does not end in a footer"),
        bad("t.arrow", &stream[..stream.len() - 60], "t.arrow: must be a sound arrow file: it ends within a message"),
        bad(
            "t.arrow",
            arrow_file(&[with_gap()]),
            "t.arrow, row 1, column 1 (\"b\"): must be a finite number, got a missing \
             cell; --missing skip passes such rows over, --missing fill fills such cells in",
        ),
        bad(
            "t.arrow",
            arrow_stream(&[with_words()]),
            "t.arrow, column 0 (\"id\"): must hold numbers, got the type Utf8; it can be left out with --exclude id",
        )
        .with("-k 1 --columns id,b,ok"),
    ]
}

fn option_cases() -> Vec<Case> {
    let table = || "a,b\n1,2\n3,4\n";
    vec![
        bad("t.csv", table(), "--array has no effect with the format csv").with("-k 1 --array x").usage(),
        bad("t.csv", table(), "--dim has no effect with the format csv").with("-k 1 --dim 4").usage(),
        bad("t.jsonl", "[1,2]\n", "--no-header has no effect with the format jsonl").with("-k 1 --no-header").usage(),
        bad("t.npy", "", "--delimiter has no effect with the format npy").with("-k 1 --delimiter ;").usage(),
        bad("t.npy", "", "--columns must hold positions in npy, got \"a\"").with("-k 1 --columns a").usage(),
        bad("t.libsvm", "", "--exclude must hold positions in libsvm, got \"x*\"").with("-k 1 --exclude x*").usage(),
        bad("t.libsvm", "", "--dim must be at least 1, got 0").with("-k 1 --dim 0").usage(),
        bad("t.csv", table(), "--out must not be the input, got t.csv").with("-k 1 --out t.csv").usage(),
        bad("t.csv", table(), "--out must not be the input, got ./t.csv").with("-k 1 --out ./t.csv").usage(),
        bad("t.csv", table(), "--out must be a file when it is written as parquet")
            .with("-k 1 --out - --out-format parquet")
            .usage(),
        bad("t.csv", table(), "--out must be a file when it is written as parquet")
            .with("-k 1 --out /dev/null --out-format parquet")
            .usage(),
        bad("t.csv", table(), "--out-format has no effect without --out").with("-k 1 --out-format csv").usage(),
        bad("t.csv", table(), "no/out.csv cannot be written: No such file or directory (os error 2)")
            .with("-k 1 --out no/out.csv"),
        bad("t.csv", table(), ". cannot be written: is a directory").with("-k 1 --out ."),
    ]
}

/// Returns a batch with a missing cell in the second row of column `b`.
fn with_gap() -> arrow_array::RecordBatch {
    let column = |cells: &[Option<f64>]| Arc::new(cells.iter().copied().collect::<arrow_array::Float64Array>()) as _;
    let (a, b) = (column(&[Some(1.0), Some(2.0)]), column(&[Some(1.0), None]));
    arrow_array::RecordBatch::try_from_iter([("a", a), ("b", b)]).unwrap()
}

fn with_words() -> arrow_array::RecordBatch {
    let id: arrow_array::ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["x", "y"]));
    let b: arrow_array::ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.0, 2.0]));
    let ok: arrow_array::ArrayRef = Arc::new(arrow_array::BooleanArray::from(vec![true, false]));
    arrow_array::RecordBatch::try_from_iter([("id", id), ("b", b), ("ok", ok)]).unwrap()
}

#[test]
fn whatever_is_wrong_is_named_in_one_sentence_and_leaves_nothing_behind() {
    let cases = [text_cases(), array_cases(), columnar_cases(), option_cases()].into_iter().flatten();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases {
        let place = Place::new();
        place.write(case.file, &case.content);
        let out = if case.options.contains("--out") { "" } else { "--out out.csv" };
        let outcome = place.run(&format!("run {} {} {out}", case.file, case.options));
        let wanted = (case.status, String::new(), format!("eigenhedge: {}\n", case.sentence));
        let found = (outcome.status, outcome.out, unhinted(&outcome.err));
        if found != wanted || place.files() != [case.file] {
            wrong.push(format!(
                "{} {}:\n  wanted {wanted:?}\n  found  {found:?} {:?}",
                case.file,
                case.options,
                place.files()
            ));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 80, "{count}");
}

#[test]
fn pipes_that_cannot_be_read_are_refused_before_they_are() {
    let cases = [
        ("run - -k 1 --format parquet", 2, "standard input cannot be read as parquet: give a file"),
        ("run - -k 1 --format npz", 2, "standard input cannot be read as npz: give a file"),
        ("run - -k 1 --format libsvm", 2, "libsvm rows from standard input need --dim"),
        ("run - -k 1", 1, "standard input: must hold at least one row, got nothing"),
        ("run - -k 1 --format npy", 1, "standard input: must be a sound npy file: it ends within its header"),
    ];
    for (arguments, status, sentence) in cases {
        let outcome = Place::new().run(arguments);
        assert_eq!((outcome.status, outcome.err), (status, format!("eigenhedge: {sentence}\n")), "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_rights_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("t.csv", "1,2\n");
    std::fs::set_permissions(place.path("t.csv"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // A user with all permissions can read this file too.
    if std::fs::File::open(place.path("t.csv")).is_ok() {
        return;
    }
    let outcome = place.run("run t.csv -k 1");
    let sentence = "eigenhedge: t.csv: cannot be read: Permission denied (os error 13)\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (1, sentence));
}

#[test]
fn a_million_columns_are_no_reason_to_fail() {
    let place = Place::new();
    let row = |x: usize| (0..1_000_000).map(|i| ((i * x) % 10).to_string()).collect::<Vec<_>>().join(",") + "\n";
    place.write("wide.csv", row(3) + &row(7));
    let outcome = place.run("run wide.csv -k 1 --out - --quiet");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert_eq!(outcome.out.lines().count(), 3);
}
