//! Result files are either complete or absent. Interruptions do not change their bytes.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::{Matrix, matrix};
use eigenhedge::Loss;
use eigenhedge_io::{
    Answers, Cell, Form, Format, Layout, Position, Source, Stream, Target, answer_cells, answer_columns, number_cells,
    number_columns,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const KEPT: usize = 3;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, form: Form) -> PathBuf {
        self.0.path().join(format!("out.{}", form.name()))
    }

    fn target(&self, form: Form) -> Target {
        Target::File(self.path(form))
    }

    fn open(&self, form: Form) -> Result<Answers, String> {
        Answers::open(&self.target(form), form, answer_columns(&[], KEPT), false, None)
            .map_err(|error| error.to_string())
    }

    fn resume(&self, form: Form, position: &Position) -> Result<Answers, String> {
        let columns = answer_columns(&[], KEPT);
        Answers::open(&self.target(form), form, columns, false, Some(position)).map_err(|error| error.to_string())
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Returns the cells of an output row. `row` contains the two losses and the coordinates.
fn cells(number: u64, row: &[f64]) -> Vec<Cell<'static>> {
    answer_cells(number, &[], Loss { expected: row[0], realised: row[1] }, &row[2..])
}

fn write(answers: &mut Answers, rows: &Matrix, from: usize, to: usize) {
    for (i, row) in rows.iter().enumerate().take(to).skip(from) {
        // Leaves gaps in the row numbers, as after skipped rows.
        answers.write(&cells((i + i / 7) as u64, row)).unwrap();
    }
}

fn whole(form: Form, rows: &Matrix) -> Vec<u8> {
    let place = Place::new();
    let mut answers = place.open(form).unwrap();
    write(&mut answers, rows, 0, rows.len());
    answers.finish().unwrap();
    assert_eq!(place.files(), [format!("out.{}", form.name())]);
    std::fs::read(place.path(form)).unwrap()
}

#[test]
fn a_run_stopped_anywhere_and_resumed_writes_the_same_bytes() {
    let rows = matrix(30, KEPT + 2);
    for form in Form::ALL {
        let wanted = whole(form, &rows);
        for stop in 0..=rows.len() {
            let place = Place::new();
            let mut answers = place.open(form).unwrap();
            write(&mut answers, &rows, 0, stop);
            let position = answers.sync().unwrap();
            // Bytes after the sync may or may not reach the disk, and may be cut off anywhere.
            write(&mut answers, &rows, stop, (stop + 4).min(rows.len()));
            drop(answers);
            let part = place.0.path().join(format!(".out.{}.eigenhedge-part", form.name()));
            std::fs::File::options().append(true).open(&part).unwrap().write_all(b"17,0.2").unwrap();
            assert_eq!(place.files().len(), 1, "the target must not be there yet");
            let mut answers = place.resume(form, &position).unwrap();
            write(&mut answers, &rows, stop, rows.len());
            answers.finish().unwrap();
            assert_eq!(place.files(), [format!("out.{}", form.name())]);
            assert!(std::fs::read(place.path(form)).unwrap() == wanted, "{form:?} stopped at {stop}");
        }
    }
}

#[test]
fn another_thread_writes_the_same_bytes_and_says_the_same_positions() {
    let rows = matrix(3000, KEPT + 2);
    for form in Form::ALL {
        let (direct, behind) = (Place::new(), Place::new());
        let outputs = [direct.open(form).unwrap(), behind.open(form).unwrap().behind()];
        let positions = outputs.map(|mut output| {
            let mut positions = Vec::new();
            for (i, row) in rows.iter().enumerate() {
                output.write(&cells(i as u64, row)).unwrap();
                if i % 700 == 3 {
                    positions.push(output.sync().unwrap());
                }
            }
            output.finish().unwrap();
            positions
        });
        assert_eq!(positions[0], positions[1], "{form:?}");
        let bytes = |place: &Place| std::fs::read(place.path(form)).unwrap();
        assert!(bytes(&direct) == bytes(&behind), "{form:?}");
        // A run that fails before its first sync leaves nothing.
        let failed = Place::new();
        let mut output = failed.open(form).unwrap().behind();
        output.write(&cells(0, &rows[0])).unwrap();
        drop(output);
        assert_eq!(failed.files(), Vec::<String>::new(), "{form:?}");
    }
}

/// Returns the column names that a table in this form has. A NumPy array has positions instead.
fn names_in<T: ToString>(form: Form, names: &[T]) -> Vec<String> {
    let name = |(i, name): (usize, &T)| if form == Form::Npy { i.to_string() } else { name.to_string() };
    names.iter().enumerate().map(name).collect()
}

#[test]
fn answers_read_back_bit_for_bit_in_every_form() {
    let rows = matrix(30, KEPT + 2);
    for form in Form::ALL {
        let place = Place::new();
        std::fs::write(place.path(form), whole(form, &rows)).unwrap();
        let mut stream =
            Stream::open(&Source::File(place.path(form)), &Layout::new(Format::of_path(&place.path(form)))).unwrap();
        assert_eq!(stream.columns(), names_in(form, &["row", "expected_loss", "loss", "z0", "z1", "z2"]));
        for (i, wanted) in rows.iter().enumerate() {
            let row = stream.next_row().unwrap().unwrap();
            assert_eq!(row[0], (i + i / 7) as f64);
            assert!(row[1..].iter().zip(wanted).all(|(a, b)| a.to_bits() == b.to_bits()), "{form:?}: {row:?}");
        }
        assert!(stream.next_row().unwrap().is_none());
    }
}

#[test]
fn rows_under_their_names_read_back_bit_for_bit_in_every_form_stopped_or_not() {
    let rows = matrix(30, 3);
    let names = ["a, b", "say \"x\"", "c"].map(str::to_owned);
    for form in Form::ALL {
        for stop in [None, Some(0), Some(11)] {
            let place = Place::new();
            let target = place.target(form);
            let mut out = Answers::open(&target, form, number_columns(&names), false, None).unwrap();
            if let Some(stop) = stop {
                rows[..stop].iter().for_each(|row| out.write(&number_cells(row)).unwrap());
                let position = out.sync().unwrap();
                rows[stop..stop + 4].iter().for_each(|row| out.write(&number_cells(row)).unwrap());
                drop(out);
                out = Answers::open(&target, form, number_columns(&names), false, Some(&position)).unwrap();
            }
            rows[stop.unwrap_or(0)..].iter().for_each(|row| out.write(&number_cells(row)).unwrap());
            out.finish().unwrap();
            let layout = Layout::new(Format::of_path(&place.path(form)));
            let mut stream = Stream::open(&Source::File(place.path(form)), &layout).unwrap();
            assert_eq!(stream.columns(), names_in(form, &names));
            for wanted in &rows {
                let row = stream.next_row().unwrap().unwrap();
                assert!(row.iter().zip(wanted).all(|(a, b)| a.to_bits() == b.to_bits()), "{form:?}: {row:?}");
            }
            assert!(stream.next_row().unwrap().is_none());
        }
    }
}

#[test]
fn columns_without_names_are_given_some_and_repeated_names_differ() {
    let names = |names: &[&str]| -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        number_columns(&names).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&["0", "2"]), ["x0", "x2"]);
    assert_eq!(names(&["0", "a", "a"]), ["0", "a", "a_2"]);
}

#[test]
fn a_table_without_rows_has_its_columns() {
    for form in Form::ALL {
        let place = Place::new();
        place.open(form).unwrap().finish().unwrap();
        let bytes = std::fs::read(place.path(form)).unwrap();
        match form {
            Form::Csv => assert_eq!(bytes, b"row,expected_loss,loss,z0,z1,z2\n"),
            Form::Tsv => assert_eq!(bytes, b"row\texpected_loss\tloss\tz0\tz1\tz2\n"),
            Form::Jsonl => assert!(bytes.is_empty()),
            Form::Npy => assert!(bytes.starts_with(b"\x93NUMPY") && String::from_utf8_lossy(&bytes).contains("(0, 6)")),
            _ => assert!(bytes.starts_with(b"PAR1")),
        }
        // Resume from a position before the first row, also after the file is complete.
        let place = Place::new();
        let mut answers = place.open(form).unwrap();
        let position = answers.sync().unwrap();
        answers.finish().unwrap();
        if !form.needs_file() {
            place.resume(form, &position).unwrap().finish().unwrap();
            assert_eq!(std::fs::read(place.path(form)).unwrap(), bytes, "{form:?}");
        }
    }
}

#[test]
fn a_row_of_one_missing_cell_is_no_blank_line() {
    for form in [Form::Csv, Form::Tsv] {
        let place = Place::new();
        let columns = number_columns(&["a".to_owned()]);
        let mut out = Answers::open(&place.target(form), form, columns, false, None).unwrap();
        out.write(&[Cell::Number(f64::NAN)]).unwrap();
        out.finish().unwrap();
        assert_eq!(std::fs::read_to_string(place.path(form)).unwrap(), "a\n\"\"\n");
    }
}

#[test]
fn a_run_that_fails_leaves_nothing_unless_a_position_was_given_out() {
    let rows = matrix(3, KEPT + 2);
    let place = Place::new();
    std::fs::write(place.path(Form::Csv), "older").unwrap();
    let mut answers = place.open(Form::Csv).unwrap();
    write(&mut answers, &rows, 0, 3);
    drop(answers);
    assert_eq!(place.files(), ["out.csv"]);
    let mut answers = place.open(Form::Csv).unwrap();
    answers.sync().unwrap();
    drop(answers);
    assert_eq!(place.files(), [".out.csv.eigenhedge-part", "out.csv"]);
    assert_eq!(std::fs::read(place.path(Form::Csv)).unwrap(), b"older");
    // A stale staging file is overwritten.
    let mut answers = place.open(Form::Csv).unwrap();
    write(&mut answers, &rows, 0, 3);
    answers.finish().unwrap();
    assert_eq!(place.files(), ["out.csv"]);
    assert!(std::fs::read(place.path(Form::Csv)).unwrap() == whole(Form::Csv, &rows));
}

#[test]
fn two_runs_do_not_write_the_same_file_at_once() {
    let rows = matrix(3, KEPT + 2);
    let place = Place::new();
    let mut first = place.open(Form::Csv).unwrap();
    write(&mut first, &rows, 0, 2);
    let refused = place.open(Form::Csv).err().unwrap();
    assert!(refused.ends_with("out.csv is being written by another run"), "{refused}");
    write(&mut first, &rows, 2, 3);
    first.finish().unwrap();
    assert!(std::fs::read(place.path(Form::Csv)).unwrap() == whole(Form::Csv, &rows));
    place.open(Form::Csv).unwrap();
}

#[test]
fn a_staging_file_that_is_gone_or_shorter_is_refused() {
    let rows = matrix(3, KEPT + 2);
    let place = Place::new();
    let mut answers = place.open(Form::Csv).unwrap();
    write(&mut answers, &rows, 0, 3);
    let position = answers.sync().unwrap();
    drop(answers);
    let part = place.0.path().join(".out.csv.eigenhedge-part");
    std::fs::File::options().write(true).open(&part).unwrap().set_len(5).unwrap();
    let refused = place.resume(Form::Csv, &position).err().unwrap();
    let wanted = format!(
        "out.csv.eigenhedge-part: must still hold the {} bytes written before the run was stopped, got 5",
        position.bytes
    );
    assert!(refused.ends_with(&wanted), "{refused}");
    std::fs::remove_file(&part).unwrap();
    assert!(place.resume(Form::Csv, &position).err().unwrap().ends_with("got 0"));
    assert!(place.files().is_empty());
}

#[test]
fn the_end_of_a_name_says_the_form() {
    for form in Form::ALL {
        assert_eq!(Form::from_name(form.name()), Some(form));
        assert_eq!(Form::of_path(Path::new(&format!("x/OUT.{}", form.name().to_uppercase()))), Some(form));
    }
    assert_eq!(Form::of_path(Path::new("out.txt")), Some(Form::Csv));
    let others = Format::ALL.into_iter().filter(|format| Form::from_name(format.name()).is_none());
    for end in others.map(Format::name).chain(["csv.gz", "xlsx", "html", "CSV.ZST"]) {
        assert_eq!(Form::of_path(Path::new(&format!("out.{end}"))), None, "{end}");
    }
}

#[test]
fn answers_that_are_complete_are_cut_and_gone_on_with() {
    let rows = matrix(30, KEPT + 2);
    for form in [Form::Csv, Form::Tsv, Form::Jsonl] {
        let place = Place::new();
        let mut answers = place.open(form).unwrap();
        write(&mut answers, &rows, 0, 4);
        let position = answers.sync().unwrap();
        write(&mut answers, &rows, 4, rows.len());
        answers.finish().unwrap();
        let mut resumed = place.resume(form, &position).unwrap();
        write(&mut resumed, &rows, 4, rows.len());
        resumed.finish().unwrap();
        assert_eq!(std::fs::read(place.path(form)).unwrap(), whole(form, &rows), "{}", form.name());
        assert_eq!(place.files().len(), 1);
        // A file with another number of lines must come from another program.
        std::fs::write(place.path(form), "x".repeat(10_000)).unwrap();
        assert!(place.resume(form, &position).is_err_and(|error| error.contains("must still hold")));
        assert_eq!(place.files().len(), 1);
    }
}
