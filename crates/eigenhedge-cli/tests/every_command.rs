//! Laws of all commands that read or write a table: formats, column names and errors. The commands
//! are taken from the help of the program, so that a new command cannot be forgotten.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use crate::tables;
use eigenhedge::Missing;
use eigenhedge_io::{Form, Format, Layout, Selector, Source, Stream};
use std::collections::BTreeSet;

/// Command that reads or writes a table.
struct Case {
    /// Command line. `T` is replaced by a table, and `OUT` by the output options.
    line: &'static str,
    /// Command line in which the columns of `P` must be those of a model or of `T`, or empty.
    by_name: &'static str,
}

const CASES: [Case; 14] = [
    Case { line: "run T -k 2 --quiet OUT", by_name: "run P --start-from model.eh --quiet OUT" },
    Case { line: "monitor T --warm-up 60 --quiet OUT", by_name: "monitor P --start-from monitor.eh --quiet OUT" },
    Case { line: "compare T -k 2 --learners leader --plot result.svg", by_name: "" },
    Case { line: "scree T", by_name: "" },
    Case { line: "transform model.eh T OUT", by_name: "transform model.eh P OUT" },
    Case { line: "reconstruct three.eh T OUT --exclude 3", by_name: "" },
    Case { line: "make iid --rows 30 --dim 4 OUT", by_name: "" },
    Case { line: "pair T T -k 1 OUT", by_name: "" },
    Case { line: "experts T -k 1 OUT", by_name: "" },
    Case { line: "pca T -k 2 OUT", by_name: "" },
    Case { line: "kernel-pca T -k 2 OUT", by_name: "" },
    Case { line: "kernel-ridge T --target 3 OUT", by_name: "kernel-ridge T --target x3 --predict P OUT" },
    Case { line: "preimage T -k 2 OUT", by_name: "" },
    Case { line: "mmd T T --splits 9", by_name: "mmd T P --splits 9" },
];

/// Command lines that write a table with another option than `--out`.
const OTHER_TABLES: [&str; 5] = [
    "run T -k 2 --quiet --reconstruct FILE",
    "run T -k 2 --quiet --missing fill --filled FILE",
    "monitor T --warm-up 60 --quiet --events FILE",
    "pca T -k 2 --components FILE",
    "pair T T -k 1 --directions FILE",
];

/// Returns numbers from 0 to 1, because `experts` accepts only such losses.
fn matrix() -> tables::Matrix {
    let cell = |i: usize, j: usize| ((i * (37 + 2 * j) + 11 * j + i * i) % 101) as f64 / 101.0;
    (0..90).map(|i| (0..4).map(|j| 0.5 * cell(i, j) + 0.5 * cell(i, 0)).collect()).collect()
}

fn folder() -> Place {
    let place = Place::new();
    place.write("t.csv", tables::table(&matrix(), ",", "\n"));
    for (k, name) in [(2, "model.eh"), (3, "three.eh")] {
        assert_eq!(place.run(&format!("run t.csv -k {k} --quiet --snapshot {name}")).status, 0);
    }
    assert_eq!(place.run("monitor t.csv --warm-up 60 --quiet --snapshot monitor.eh").status, 0);
    place
}

/// Returns the names of the commands that have this option in their help.
fn commands_with(place: &Place, option: &str) -> BTreeSet<String> {
    let help = place.run("--help").out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help" && place.run(&format!("{name} --help")).out.contains(option)).collect()
}

fn name(line: &str) -> String {
    line.split(' ').next().unwrap().to_owned()
}

/// Runs a command line that must succeed. Returns its plot or its standard output.
fn result(place: &Place, line: &str) -> String {
    let outcome = place.run(line);
    assert_eq!(outcome.status, 0, "{line}: {}", outcome.err);
    if line.contains("result.svg") { place.read("result.svg") } else { outcome.out }
}

/// Replaces `T`, `P` and `OUT` in a command line.
fn filled(line: &str, table: &str, permuted: &str, out: &str) -> String {
    let word = |word: &str| match word {
        "T" => table.to_owned(),
        "P" => permuted.to_owned(),
        "OUT" => out.to_owned(),
        word => word.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_with_a_table_has_a_case() {
    let place = Place::new();
    let with = |word: &str| CASES.iter().filter(|case| case.line.contains(word)).map(|case| name(case.line)).collect();
    let reads: BTreeSet<String> = with(" T");
    assert_eq!(commands_with(&place, "--format <FORMAT>"), reads);
    let writes: BTreeSet<String> = with("OUT");
    assert_eq!(commands_with(&place, "--out-format <FORM>"), writes);
    assert!(writes.is_superset(&commands_with(&place, "--out <FILE|->")));
}

#[test]
fn every_command_reads_the_same_rows_from_every_format() {
    let place = folder();
    // A column without a name is called `0` or `x0`, depending on the command.
    let nameless = |text: String| text.replace('x', "");
    for case in CASES.iter().filter(|case| case.line.contains(" T")) {
        let wanted = nameless(result(&place, &filled(case.line, "t.csv", "", "--out -")));
        for (name, bytes) in tables::all_formats(&matrix()) {
            place.write(name, bytes);
            let line = filled(case.line, name, "", "--out -");
            let found = nameless(result(&place, &line)).replace(&name.replace('x', ""), "t.csv");
            assert!(found == wanted, "{line}:\n{found}\ninstead of\n{wanted}");
        }
    }
}

#[test]
fn every_command_reads_tables_as_plants_export_them() {
    let place = folder();
    let line = |row: &Vec<f64>| row.iter().map(|x| format!("{x:?}").replace('.', ",")).collect::<Vec<_>>().join(";");
    let rows: Vec<String> = matrix().iter().map(line).collect();
    let header = "x0;x1;x2;x3\r\n";
    place.write("units.csv", format!("{header}°C;bar;m³/h;%\r\n{}\r\n", rows.join("\r\n")));
    place.write("sep.csv", format!("\u{feff}sep=;\r\n{header}{}\r\n", rows.join("\r\n")));
    place.write("lines.csv", format!("Export of line 3\r\n\r\n{header}{}\r\n", rows.join("\r\n")));
    let help = |name: &str| place.run(&format!("{name} --help")).out;
    for case in CASES.iter().filter(|case| case.line.contains(" T")) {
        let plain =
            if help(&name(case.line)).contains("--answers-as") { "--out - --answers-as csv" } else { "--out -" };
        let wanted = result(&place, &filled(case.line, "t.csv", "", "--out -"));
        for table in ["units.csv", "sep.csv", "lines.csv"] {
            let line = filled(case.line, table, "", plain);
            let found = result(&place, &line).replace(table, "t.csv");
            assert!(found == wanted, "{line}:\n{found}\ninstead of\n{wanted}");
        }
    }
}

#[test]
fn advice_about_an_empty_cell_names_options_of_the_command() {
    let place = folder();
    let mut table =
        matrix().iter().map(|row| format!("{},{},{},{}\n", row[0], row[1], row[2], row[3])).collect::<String>();
    table.insert_str(0, "x0,x1,x2,x3\n");
    let at = table.match_indices('\n').nth(70).unwrap().0 + 1;
    let cell = at..at + table[at..].find(',').unwrap();
    table.replace_range(cell, "");
    place.write("hole.csv", table);
    for case in CASES.iter().filter(|case| case.line.contains(" T")) {
        let outcome = place.run(&filled(case.line, "hole.csv", "", "--out -"));
        let help = place.run(&format!("{} --help", name(case.line))).out;
        let words = outcome.err.split(|c: char| c.is_whitespace() || c == ';' || c == ',');
        let advised: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
        if outcome.status != 0 {
            assert!(
                outcome.err.contains("line 72") && outcome.err.contains("empty cell"),
                "{}: {}",
                case.line,
                outcome.err
            );
            assert!(!advised.is_empty(), "{}: {}", case.line, outcome.err);
        }
        assert!(advised.iter().all(|option| help.contains(option)), "{}: {}", case.line, outcome.err);
    }
}

#[test]
fn columns_that_were_named_are_found_in_any_order_and_others_are_refused() {
    let place = folder();
    let write = |file: &str, names: [&str; 5], order: [usize; 4]| {
        let line = |row: &Vec<f64>| {
            let cells: Vec<String> = order.iter().map(|j| format!("{:?}", row[*j])).collect();
            format!("{},-9.0\n", cells.join(","))
        };
        place.write(file, names.join(",") + "\n" + &matrix().iter().map(line).collect::<String>());
    };
    write("p.csv", ["x2", "x3", "x0", "x1", "more"], [2, 3, 0, 1]);
    write("foreign.csv", ["x2", "x3", "y", "x1", "more"], [2, 3, 0, 1]);
    for case in CASES.iter().filter(|case| !case.by_name.is_empty()) {
        let wanted = result(&place, &filled(case.by_name, "t.csv", "t.csv", "--out -"));
        let found = result(&place, &filled(case.by_name, "t.csv", "p.csv", "--out -"));
        assert!(found == wanted, "{}:\n{found}\ninstead of\n{wanted}", case.by_name);
        let refused = place.run(&filled(case.by_name, "t.csv", "foreign.csv", "--out -"));
        assert_eq!(refused.status, 1, "{}", case.by_name);
        assert!(refused.err.contains("must have the same columns, but \"x0\" is missing"), "{}", refused.err);
    }
    // The target column may be missing, and it is not a feature.
    let line = "kernel-ridge t.csv --target x0 --predict";
    let wanted = result(&place, &format!("{line} t.csv"));
    place.write("without.csv", tables::table(&matrix(), ",", "\n").replace("x0", "y"));
    assert_eq!(result(&place, &format!("{line} without.csv")), wanted);
    let refused = place.run(&format!("{line} p.csv --standardize running"));
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("--standardize has no effect with --predict"), "{}", refused.err);
}

/// Returns the names and numbers of the `wanted` columns, or of all numeric columns if empty.
fn numbers(place: &Place, file: &str, wanted: &[String]) -> (Vec<String>, Vec<Vec<Option<u64>>>) {
    let path = place.path(file);
    let columns = wanted.iter().map(|name| Selector::Name(name.clone())).collect();
    let layout = Layout { columns, missing: Some(Missing::Fill), ..Layout::new(Format::of_path(&path)) };
    let mut stream = Stream::open(&Source::File(path), &layout).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = stream.next_row().unwrap() {
        rows.push(row.iter().map(|x| Some(x.to_bits()).filter(|_| !x.is_nan())).collect());
    }
    (stream.columns().to_vec(), rows)
}

#[test]
fn every_command_writes_the_same_table_in_every_format() {
    let place = folder();
    let outs = CASES.iter().filter(|case| case.line.contains("OUT")).map(|case| case.line.replace("OUT", "--out FILE"));
    for line in outs.chain(OTHER_TABLES.map(str::to_owned)) {
        let line = filled(&line, "t.csv", "", "");
        let mut wanted = None;
        // JSON lines come first, because two-word columns are read as numbers only in CSV and TSV.
        for form in [Form::Jsonl, Form::Csv, Form::Tsv, Form::Parquet] {
            let file = format!("out.{}", form.name());
            result(&place, &line.replace("FILE", &file));
            if line.contains("--events") {
                continue;
            }
            let (names, rows) = wanted.get_or_insert_with(|| numbers(&place, &file, &[]));
            assert!(names.len() > 1 && !rows.is_empty(), "{line}");
            let found = numbers(&place, &file, names);
            assert!(found == (names.clone(), rows.clone()), "{line} {file}");
            if line.contains("--out") && form != Form::Parquet {
                let printed = result(&place, &line.replace("FILE", &format!("- --out-format {}", form.name())));
                assert!(printed == place.read(&file), "{line}: {printed}");
            }
        }
    }
    // An empty list of events has a header.
    place.write("calm.csv", "a,b\n".to_owned() + &"1,2\n".repeat(100));
    result(&place, "monitor calm.csv --warm-up 60 --quiet --events events.csv");
    assert_eq!(place.read("events.csv").lines().count(), 1);
    assert!(place.read("events.csv").starts_with("kind,incident,start,reported,end,"));
}

#[test]
fn tables_of_numbers_are_written_as_arrays() {
    let place = folder();
    for line in
        ["make iid --rows 30 --dim 4 --out FILE", "run t.csv -k 2 --quiet --out FILE", "pca t.csv -k 2 --out FILE"]
    {
        result(&place, &line.replace("FILE", "out.csv"));
        result(&place, &line.replace("FILE", "out.npy"));
        // A column of row numbers is read only if it is named.
        let names: Vec<String> = place.read("out.csv").lines().next().unwrap().split(',').map(str::to_owned).collect();
        let ((_, wanted), (_, found)) = (numbers(&place, "out.csv", &names), numbers(&place, "out.npy", &[]));
        assert!(names.len() > 1 && wanted[0].len() == names.len() && found == wanted, "{line}");
    }
    let refused = place.run("make plant --rows 30 --out plant.npy");
    assert!(refused.status == 1 && !place.path("plant.npy").exists(), "{}", refused.err);
    assert!(refused.err.contains("npy: has only numbers, and the column \"time\" is text"), "{}", refused.err);
    let refused = place.run("make iid --out - --out-format npy");
    assert!(refused.err.contains("--out must be a file when it is written as npy"), "{}", refused.err);
}

#[test]
fn tables_that_cannot_be_written_are_refused_before_any_work() {
    let place = folder();
    let files = place.files();
    let outs = CASES.iter().filter(|case| case.line.contains("OUT")).map(|case| case.line.replace("OUT", "--out FILE"));
    for line in outs.chain(OTHER_TABLES.map(str::to_owned)) {
        let line = filled(&line, "absent.csv", "", "");
        for end in ["npz", "arrow", "feather", "libsvm", "xlsx", "ods", "csv.gz", "jsonl.zst", "html"] {
            let outcome = place.run(&line.replace("FILE", &format!("out.{end}")));
            assert_eq!(outcome.status, 2, "{line} {end}: {}", outcome.err);
            assert!(
                outcome.err.contains("writes csv, tsv, jsonl, parquet or npy, by the end of the name, got out."),
                "{line}"
            );
        }
        if line.contains("absent.csv") {
            let outcome = place.run(&line.replace("FILE", "absent.csv"));
            assert!(outcome.status > 0 && place.files() == files, "{line}");
            place.write("absent.csv", "x0,x1,x2,x3\n");
            let outcome = place.run(&line.replace("FILE", "absent.csv"));
            assert!(outcome.status == 2 && outcome.err.contains("must not be the"), "{line}: {}", outcome.err);
            std::fs::remove_file(place.path("absent.csv")).unwrap();
        }
    }
    assert_eq!(place.files(), files);
}
