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
