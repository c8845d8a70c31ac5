//! Several inputs, compressed inputs, and copied columns.
#![allow(clippy::unwrap_used)]

use crate::common::{Outcome, Place, table, unhinted};
use crate::tables::{gzip, npy, utf16, zstd};
use eigenhedge::streams;
use eigenhedge_io::{Format, Layout, Selector, Source, Stream};

fn rows() -> Vec<Vec<f64>> {
    streams::three_subspaces(1).into_iter().take(90).collect()
}

/// Writes a table to one file, and in parts to three: plain, with reversed columns in gzip, and in UTF-16 without a
/// header in zstd.
fn split(place: &Place) {
    let rows = rows();
    place.write("all.csv", table(&rows));
    place.write("a.csv", table(&rows[..40]));
    let turned = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    place.write("b.csv.gz", gzip(table(&rows[40..70]).lines().map(turned).collect::<String>().as_bytes()));
    let bare: String = table(&rows[70..]).lines().skip(1).map(|line| format!("{line}\n")).collect();
    place.write("c.csv.zst", zstd(&utf16(&bare, u16::to_le_bytes)));
}

fn done(outcome: &Outcome) {
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
}

#[test]
fn several_files_give_what_their_concatenation_gives() {
    let place = Place::new();
    split(&place);
    let options = "-k 2 --seed 3 --standardize running --quiet";
    done(&place.run(&format!("run all.csv {options} --out one.csv")));
    done(&place.run(&format!("run a.csv b.csv.gz c.csv.zst {options} --out many.csv")));
    assert_eq!(place.read("one.csv"), place.read("many.csv"));
    let losses = |inputs: &str| {
        let out = place.run(&format!("compare {inputs} -k 2 --learners leader --warm-up 20")).out;
        let loss = |line: &str| line.split("  ").filter(|cell| !cell.is_empty()).take(2).collect::<String>();
        out.lines().take(4).map(loss).collect::<Vec<_>>()
    };
    assert_eq!(losses("all.csv"), losses("a.csv b.csv.gz c.csv.zst"));
}

#[test]
fn a_run_goes_on_with_a_file_that_was_not_there_before() {
    let place = Place::new();
    split(&place);
    let run = |inputs: &str, more: &str| {
        done(&place.run(&format!("run {inputs} -k 2 --quiet --out out.csv {more}")));
    };
    run("a.csv b.csv.gz c.csv.zst", "");
    let wanted = place.read("out.csv");
    run("a.csv", "--snapshot run.snap");
    run("a.csv b.csv.gz", "--resume run.snap --snapshot run.snap");
    run("a.csv b.csv.gz c.csv.zst", "--resume run.snap");
    assert_eq!(place.read("out.csv"), wanted);
}

const LOG: &str =
    "when,id,x,y,z\n2024-01-01,\"a, b\",1,2,3\n2024-01-02,c,2,1,4\n2024-01-03,\"\",5,1,1\n2024-01-05,d,0,1,2\n";

#[test]
fn kept_columns_and_times_are_copied_into_answers_of_every_form() {
    let place = Place::new();
    place.write("log.csv", LOG);
    for form in ["csv", "tsv", "jsonl", "parquet"] {
        done(&place.run(&format!("run log.csv -k 1 --quiet --time when --copy-columns id --out out.{form}")));
        let path = place.path(&format!("out.{form}"));
        let keep = vec![Selector::Name("when".into()), Selector::Name("id".into())];
        let layout = Layout { keep, ..Layout::new(Format::of_path(&path)) };
        let mut stream = Stream::open(&Source::File(path), &layout).unwrap();
        assert_eq!(stream.columns(), ["row", "expected_loss", "loss", "z0"], "{form}");
        let mut found = Vec::new();
        while stream.next_row().unwrap().is_some() {
            found.push(stream.row().kept.join("|"));
        }
        assert_eq!(found, ["2024-01-01|a, b", "2024-01-02|c", "2024-01-03|", "2024-01-05|d"], "{form}");
    }
    assert!(place.read("out.csv").starts_with("row,when,id,expected_loss,loss,z0\n0,2024-01-01,\"a, b\","));
}

#[test]
fn columns_of_words_can_be_left_out_by_type_and_are_named() {
    let place = Place::new();
    place.write("log.csv", LOG);
    let outcome = place.run("run log.csv -k 1 --summary json --columns numeric --exclude when --out numeric.csv");
    assert_eq!(
        (outcome.status, outcome.err.as_str()),
        (0, "eigenhedge: read as: 3 columns of numbers, 1 left out: id\n")
    );
    done(&place.run("run log.csv -k 1 --quiet --exclude when,id --out excluded.csv"));
    assert_eq!(place.read("numeric.csv"), place.read("excluded.csv"));
}

#[test]
fn times_are_the_axis_of_pictures_unless_they_go_back() {
    let place = Place::new();
    place.write("log.csv", LOG);
    place.write("back.csv", LOG.replace("2024-01-05", "2023-12-31"));
    done(&place.run("run log.csv -k 1 --quiet --time when --copy-columns id --report page.html --plot page.svg"));
    assert!(place.read("page.html").contains("\"dated_x\":true"));
    assert!(place.read("page.svg").contains(">2024-01-03<"));
    assert!(place.read("page.html").contains("<td>2024-01-05</td>"), "a row with a large loss is named by its time");
    done(&place.run("run back.csv -k 1 --quiet --time when --copy-columns id --plot back.svg"));
    assert!(!place.read("back.svg").contains(">2024-01-02<"));
}

#[test]
fn wrong_inputs_have_their_sentences() {
    let place = Place::new();
    place.write("log.csv", LOG);
    place.write("a.csv", "x,y\n1,2\n3,4\n");
    place.write("b.csv", "x,w\n1,2\n");
    place.write("bad.csv", "x,y\n5,6\n7,oops\n");
    place.write("loss.csv", "loss,x,y\na,1,2\nb,3,4\n");
    place.write("a.npy", npy(&vec![vec![1.0, 2.0], vec![3.0, 4.0]], crate::tables::Order::C));
    let packed = gzip(&b"1,2\n".repeat(9999));
    place.write("cut.csv.gz", &packed[..packed.len() / 2]);
    let cases = [
        ("a.csv -k 1 --plot x.png", 2, "--plot writes SVG, so that its name must end in .svg, got x.png"),
        (
            "a.csv a.npy -k 1",
            2,
            "several inputs must be of one format, csv like the first, got npy in a.npy; --format says what they are",
        ),
        ("a.csv - -k 1", 2, "several inputs must be files, got - among them"),
        ("a.npy -k 1 --copy-columns 0", 2, "--copy-columns has no effect with the format npy, which has only numbers"),
        ("a.npy -k 1 --time 0", 2, "--time has no effect with the format npy, which has only numbers"),
        (
            "a.npy -k 1 --columns numeric",
            2,
            "--columns numeric has no effect with the format npy, which has only numbers",
        ),
        ("log.csv -k 1 --time w*", 2, "--time must be one column, got the pattern \"w*\""),
        (
            "log.csv -k 1 --no-header --copy-columns id",
            2,
            "--copy-columns must hold positions when there is --no-header, got \"id\"",
        ),
        (
            "a.csv -k 1 --out out.csv.gz",
            2,
            "--out writes csv, tsv, jsonl, parquet or npy, by the end of the name, got out.csv.gz",
        ),
        ("log.csv -k 1 --copy-columns name", 1, "log.csv: there is no column \"name\" in the header"),
        (
            "log.csv -k 1 --time id --exclude when",
            1,
            "log.csv, line 2, column 1 (\"id\"): must be a date such as 2024-02-29 or 2024-02-29T12:30:00, or seconds since \
             1970, got \"a, b\"",
        ),
        ("a.csv b.csv -k 1", 1, "b.csv: there is no column \"y\" in the header"),
        ("a.csv missing.csv -k 1", 1, "missing.csv: there is no such file"),
        ("a.csv bad.csv -k 1", 1, "bad.csv, line 3, column 1 (\"y\"): must be a finite number, got \"oops\""),
        ("cut.csv.gz -k 1", 1, "cut.csv.gz: cannot be read: its gzip data are damaged or end too early"),
    ];
    let files = place.files();
    for (arguments, status, sentence) in cases {
        let outcome = place.run(&format!("run {arguments} --quiet"));
        let err = unhinted(&outcome.err);
        assert!(err.starts_with(&format!("eigenhedge: {sentence}")), "{arguments}: {err}");
        assert_eq!((outcome.status, err.lines().count()), (status, 1), "{arguments}: {err}");
        assert_eq!(place.files(), files, "{arguments}");
    }
}
