//! All input and output formats give equal numbers.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use crate::tables;
use eigenhedge_io::{Format, Layout, Selector, Source, Stream};

#[test]
fn every_format_of_one_matrix_gives_the_same_bytes_out() {
    let place = Place::new();
    let matrix = tables::matrix(40, 5);
    let mut wanted = None;
    for (name, bytes) in tables::all_formats(&matrix) {
        place.write(name, bytes);
        let outcome = place.run(&format!("run {name} -k 2 --out - --quiet --standardize running"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{name}");
        assert_eq!(outcome.out.lines().count(), 41);
        assert_eq!(&outcome.out, wanted.get_or_insert(outcome.out.clone()), "{name}");
    }
}

#[test]
fn every_format_that_can_comes_through_a_pipe() {
    let place = Place::new();
    let matrix = tables::matrix(40, 5);
    place.write("t.csv", tables::table(&matrix, ",", "\n"));
    let wanted = place.run("run t.csv -k 2 --out - --quiet");
    let c = tables::Order::C;
    let cases = [
        ("csv", tables::table(&matrix, ",", "\n").into_bytes()),
        ("tsv", tables::table(&matrix, "\t", "\n").into_bytes()),
        ("jsonl", tables::json_objects(&matrix).into_bytes()),
        ("npy", tables::npy(&matrix, c)),
        ("npy", tables::npy(&matrix, tables::Order::Fortran)),
        ("arrow", tables::arrow_stream(&tables::batches(&matrix, 7))),
        ("libsvm --dim 5", tables::libsvm(&matrix).into_bytes()),
    ];
    for (format, bytes) in cases {
        let outcome = place.feed(&format!("run - -k 2 --out - --quiet --format {format}"), &bytes);
        assert_eq!(outcome, wanted, "{format}");
    }
}

#[test]
fn every_form_of_the_answers_holds_the_same_numbers() {
    let place = Place::new();
    place.write("t.csv", tables::table(&tables::matrix(40, 5), ",", "\n"));
    let read = |name: &str| {
        let path = place.path(name);
        // A column of row numbers is read only if it is named.
        let columns = ["row", "expected_loss", "loss", "z0", "z1"].map(|name| Selector::Name(name.to_owned())).to_vec();
        let layout = Layout { columns, ..Layout::new(Format::of_path(&path)) };
        let mut stream = Stream::open(&Source::File(path.clone()), &layout).unwrap();
        let mut numbers: Vec<u64> = Vec::new();
        while let Some(row) = stream.next_row().unwrap() {
            numbers.extend(row.iter().map(|x| x.to_bits()));
        }
        (stream.columns().to_vec(), numbers)
    };
    for name in ["out.csv", "out.tsv", "out.jsonl", "out.parquet"] {
        assert_eq!(place.run(&format!("run t.csv -k 2 --out {name} --quiet")).status, 0, "{name}");
        assert_eq!(read(name), read("out.csv"), "{name}");
    }
    assert_eq!(read("out.csv").0, ["row", "expected_loss", "loss", "z0", "z1"]);
    let lines = place.run("run t.csv -k 2 --out - --out-format jsonl --quiet").out;
    assert_eq!(lines, place.read("out.jsonl"));
}

#[test]
fn bad_rows_are_skipped_counted_and_listed() {
    let place = Place::new();
    let rows = |bad: &[usize]| -> String {
        let cell = |i: usize| if bad.contains(&i) { "oops".to_owned() } else { i.to_string() };
        (0..12).map(|i| format!("{},{},1\n", cell(i), i * i % 7)).collect()
    };
    place.write("bad.csv", "a,b,c\n".to_owned() + &rows(&[1, 3, 4, 5, 6, 7, 8]));
    let outcome = place.run("run bad.csv -k 1 --on-bad-row skip --allow-skipped --out out.csv --summary json");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let summary: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((summary["rows"].as_u64(), summary["skipped_rows"].as_u64()), (Some(5), Some(7)));
    let place_of = |line: usize| {
        format!("eigenhedge: skipped: bad.csv, line {line}, column 0 (\"a\"): must be a finite number, got \"oops\"\n")
    };
    let listed: String = [3, 5, 6, 7, 8].map(place_of).concat() + "eigenhedge: skipped: 2 more\n";
    assert_eq!(outcome.err, listed);
    // Row numbers are those of the input table.
    let numbers: Vec<String> =
        place.read("out.csv").lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect();
    assert_eq!(numbers, ["0", "2", "9", "10", "11"]);
    // A row that the learner rejects is skipped too.
    place.write("far.csv", "1,2\n3,4\n1e200,1\n5,6\n");
    let outcome = place.run("run far.csv -k 1 --on-bad-row skip --out out.csv");
    assert!(outcome.out.contains("3 rows of 2 numbers; 1 bad row passed over"), "{}", outcome.out);
    assert!(outcome.err.starts_with("eigenhedge: skipped: far.csv, line 3: the squared norm"), "{}", outcome.err);
}

#[test]
fn standardized_losses_are_said_to_be() {
    let place = Place::new();
    place.write("t.csv", tables::table(&tables::matrix(40, 5), ",", "\n"));
    for how in ["running", "warmup:10"] {
        let outcome = place.run(&format!("run t.csv -k 2 --standardize {how}"));
        assert!(outcome.out.contains("losses are in squared standard deviations"), "{}", outcome.out);
    }
    assert!(!place.run("run t.csv -k 2").out.contains("standard deviations"));
}

#[test]
fn missing_cells_are_filled_in_or_their_rows_skipped() {
    let place = Place::new();
    let row = |i: u32| {
        let t = f64::from(i * 37 % 101) / 50.0 - 1.0;
        let cells = [t, 2.0 * t, -t, 3.0 * t + f64::from(i % 7) / 100.0].map(|x| x.to_string());
        let shown = |(j, cell): (usize, &String)| if (i as usize + j) % 9 == 3 { String::new() } else { cell.clone() };
        cells.iter().enumerate().map(shown).collect::<Vec<_>>().join(",")
    };
    let text = (0..200).map(row).collect::<Vec<_>>().join("\n");
    place.write("holes.csv", format!("a,b,c,d\n{text}\n,,,\n"));
    let filled = place.run("run holes.csv -k 1 --missing fill --standardize running --out out.csv --summary json");
    assert_eq!(filled.status, 0, "{}", filled.err);
    let summary: serde_json::Value = serde_json::from_str(&filled.out).unwrap();
    assert_eq!((&summary["rows"], &summary["skipped_rows"]), (&200.into(), &1.into()));
    assert_eq!(summary["certificate"]["missing_cells"], 90);
    assert!(summary["best_loss"].is_null());
    assert!(!place.read("out.csv").to_lowercase().contains("nan"));
    assert_eq!(place.read("out.csv").lines().count(), 201);
    let text = place.run("run holes.csv -k 1 --missing fill");
    assert!(text.out.contains("filled     90 rows with 90 missing cells"), "{}", text.out);
    assert!(text.out.contains("best       unknown: cells of the rows are missing"), "{}", text.out);
    let skipped = place.run("run holes.csv -k 1 --missing skip --summary json");
    let summary: serde_json::Value = serde_json::from_str(&skipped.out).unwrap();
    assert_eq!((&summary["rows"], &summary["skipped_rows"]), (&110.into(), &91.into()));
    let compared = place.run("compare holes.csv -k 1 --missing skip --learners leader");
    assert_eq!(compared.status, 0, "{}", compared.err);
}

#[test]
fn filled_tables_have_all_cells_and_name_the_filled_ones() {
    let place = Place::new();
    let cell = |t: usize, j: usize| (0.1 * t as f64 + j as f64).sin() * (j + 1) as f64;
    let is_hole = |t: usize, j: usize| t > 20 && (t * 7 + j * 3).is_multiple_of(11);
    let table = |rows: usize| {
        let line = |t: usize| {
            let cells = (0..4).map(|j| if is_hole(t, j) { String::new() } else { format!("{:?}", cell(t, j)) });
            format!("2024-01-01 00:{:02}:{:02},{}\n", t / 60, t % 60, cells.collect::<Vec<_>>().join(","))
        };
        "time,a,b,c,d\n".to_owned() + &(0..rows).map(line).collect::<String>()
    };
    place.write("t.csv", table(200));
    let line = "run t.csv -k 2 --time time --missing fill --quiet";
    assert!(place.run("run t.csv -k 2 --filled f.csv").err.contains("--filled needs --missing fill"));
    assert_eq!(place.run(&format!("{line} --filled f.csv")).status, 0);
    let filled = place.read("f.csv");
    assert!(filled.starts_with("time,a,b,c,d,filled\n2024-01-01 00:00:00,"), "{filled}");
    let (mut squares, mut holes) = (0.0, 0.0);
    for (t, line) in filled.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let names: Vec<&str> = (0..4).filter(|j| is_hole(t, *j)).map(|j| ["a", "b", "c", "d"][j]).collect();
        assert_eq!(cells[5], names.join(" "), "{line}");
        for j in 0..4 {
            let error = cells[j + 1].parse::<f64>().unwrap() - cell(t, j);
            assert!(is_hole(t, j) || error == 0.0, "{line}");
            (squares, holes) = (squares + error * error, holes + f64::from(u8::from(is_hole(t, j))));
        }
    }
    // The four sines span two directions, which can be learned from a few rows.
    assert!(holes > 50.0 && (squares / holes).sqrt() < 0.1, "{squares} {holes}");
    // A resumed run continues the file when the table has grown.
    place.write("t.csv", table(120));
    assert_eq!(place.run(&format!("{line} --filled g.csv --snapshot s.eh")).status, 0);
    place.write("t.csv", table(200));
    assert_eq!(place.run(&format!("{line} --filled g.csv --resume s.eh")).status, 0);
    assert_eq!(place.read("g.csv"), filled);
}
