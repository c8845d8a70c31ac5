//! CSV: headers, column selection, and error locations.
#![allow(clippy::unwrap_used)]

use eigenhedge_io::{Format, Layout, Selector, Source, Stream};

fn all() -> Layout {
    Layout::new(Format::Csv)
}

fn read(text: &str, layout: &Layout) -> Result<Vec<Vec<f64>>, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    std::fs::write(&path, text).unwrap();
    let message =
        |error: eigenhedge_io::Error| error.to_string().replace(&format!("{}/", directory.path().display()), "");
    let mut stream = Stream::open(&Source::File(path), layout).map_err(message)?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next_row().map_err(message)? {
        rows.push(row.to_vec());
    }
    Ok(rows)
}

fn selecting(columns: &[&str], exclude: &[&str]) -> Layout {
    let selectors = |texts: &[&str]| texts.iter().map(|text| Selector::from_text(text)).collect();
    Layout { columns: selectors(columns), exclude: selectors(exclude), ..all() }
}

#[test]
fn a_header_has_no_numbers_unless_an_option_or_a_model_names_them() {
    let header = |header| Layout { header: Some(header), ..all() };
    let model = Layout { model_columns: Some(["a", "1"].map(str::to_owned).to_vec()), ..all() };
    let wordy = |line: usize, column: usize, word: &str, advice: &str| {
        format!(
            "table, line {line}, column {column}: must hold numbers, got {word:?}{advice}; --header reads the line as a header"
        )
    };
    let out = "; it can be left out with --exclude";
    let skip = "; --on-bad-row skip passes over the line";
    let doubt = |few: &str| {
        format!(
            "table: line 1 may be a header or a row: its numbers, {few}, …, are unlike those below; --header or --no-header settles it"
        )
    };
    let cases = [
        // The first row is bad.
        ("1,oops,3\n4,5,6\n", all(), Err(wordy(1, 1, "oops", &format!("{out} 1{skip}")))),
        ("1,oops,3\n4,5,6\n", header(true), Ok(vec![vec![4.0, 5.0, 6.0]])),
        ("1,oops\n", all(), Err(wordy(1, 1, "oops", &format!("{out} 1")))),
        // A column of text without a name.
        ("m1,1,2\nm2,5,4\n", all(), Err(wordy(1, 0, "m1", &format!("{out} 0")))),
        ("a,1\n3,4\n", model, Ok(vec![vec![3.0, 4.0]])),
        ("a,inf\n3,4\n", all(), Ok(vec![vec![3.0, 4.0]])),
        // Labels that are whole numbers above fractions, or far from the numbers below.
        ("0,1,2\n0.5,0.1,0.2\n1.5,1.1,3.2\n2.5,0.7,0.1\n", all(), Err(doubt("0, 1, 2"))),
        ("2019,2020\n5,7\n6,4\n4,5\n", all(), Err(doubt("2019, 2020"))),
        ("400.5,401.5\n0.5,0.7\n0.6,0.4\n0.4,0.5\n", all(), Err(doubt("400.5, 401.5"))),
        ("country,2019,2020\nA,5,7\nB,6,4\nC,4,5\n", all(), Err(doubt("2019, 2020"))),
        ("2019,2020\n5,7\n6,4\n4,5\n", header(true), Ok(vec![vec![5.0, 7.0], vec![6.0, 4.0], vec![4.0, 5.0]])),
        (
            "9,8\n.5,.7\n.6,.4\n.4,.5\n",
            header(false),
            Ok(vec![vec![9.0, 8.0], vec![0.5, 0.7], vec![0.6, 0.4], vec![0.4, 0.5]]),
        ),
        // First-line numbers like those below.
        ("1,2\n5,7\n6,4\n4,5\n", all(), Ok(vec![vec![1.0, 2.0], vec![5.0, 7.0], vec![6.0, 4.0], vec![4.0, 5.0]])),
    ];
    for (text, layout, wanted) in cases {
        assert_eq!(read(text, &layout), wanted, "{text}");
    }
}

#[test]
fn a_first_line_with_a_word_is_a_header_and_one_with_numbers_is_not() {
    let rows = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    assert_eq!(read("a,b\n1,2\n3,4\n", &all()), Ok(rows.clone()));
    assert_eq!(read("1,2\n3,4", &all()), Ok(rows.clone()));
    assert_eq!(read("\u{feff}a,b\r\n 1, 2 \r\n\r\n\"3\",4\r\n", &all()), Ok(rows));
}

#[test]
fn only_selected_cells_decide_about_the_header() {
    let layout = selecting(&["1"], &[]);
    assert_eq!(read("monday,1\ntuesday,2\n", &layout), Ok(vec![vec![1.0], vec![2.0]]));
    assert_eq!(read("day,x\ntuesday,2\n", &layout), Ok(vec![vec![2.0]]));
    assert_eq!(read("monday,1\ntuesday,2\n", &selecting(&[], &["0"])), Ok(vec![vec![1.0], vec![2.0]]));
}

#[test]
fn columns_come_in_the_order_asked_for() {
    assert_eq!(read("a,b,c\n1,2,3\n", &selecting(&["c", "0"], &[])), Ok(vec![vec![3.0, 1.0]]));
    assert_eq!(read("a,b,c\n1,2,3\n", &selecting(&["c", "0"], &["a"])), Ok(vec![vec![3.0]]));
    assert_eq!(read("s_1,b,s_2\n1,2,3\n", &selecting(&["b", "s_*"], &[])), Ok(vec![vec![2.0, 1.0, 3.0]]));
    assert_eq!(read("s_1,b,s_2\n1,2,3\n", &selecting(&["s_2", "*"], &["?_1"])), Ok(vec![vec![3.0, 2.0]]));
    assert_eq!(read("a*,ab\n1,2\n", &selecting(&["a*"], &[])), Ok(vec![vec![1.0]]), "a name before a pattern");
}

#[test]
fn messages_count_lines_as_an_editor_does() {
    let message = |line| Err(format!("table, line {line}, column 0: must be a finite number, got \"x\""));
    assert_eq!(read("1\n2\nx\n", &all()), message(3));
    assert_eq!(read("1\r\n2\r\nx\r\n", &all()), message(3));
    assert_eq!(read("1\n\n\n2\n\nx\n", &all()), message(6));
    assert_eq!(read("1\r\n\r\n2\r\n\r\nx", &all()), message(5));
    assert_eq!(read("1\r2\rx\r", &all()), message(3));
    assert_eq!(
        read("\"name\nof it\"\n1\n\"x\"\n", &all()),
        Err("table, line 4, column 0 (\"name\\nof it\"): must be a finite number, got \"x\"".into())
    );
}
