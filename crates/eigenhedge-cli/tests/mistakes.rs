//! Common mistakes. Each error message must name the next step.

use crate::common::Place;
use std::fmt::Write as _;

const COLUMNS: [&str; 5] = ["temperature", "pressure", "flow", "speed", "power"];

/// Returns a table of sensors. `edit` may change the cells of a row.
fn table(delimiter: &str, rows: usize, edit: impl Fn(usize, &mut Vec<String>)) -> String {
    let mut text = COLUMNS.join(delimiter) + "\n";
    for t in 0..rows {
        let load = (0.7 * t as f64).sin() + 0.3 * (1.9 * t as f64).cos();
        let noise = |j: usize| 0.1 * ((t * (7 + 2 * j) + j) as f64 * 1.3).sin();
        let mut cells: Vec<String> = (0..COLUMNS.len()).map(|j| format!("{:.4}", load + noise(j))).collect();
        edit(t, &mut cells);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", cells.join(delimiter));
    }
    text
}

fn good() -> String {
    table(",", 600, |_, _| ())
}

fn folder() -> Place {
    let place = Place::new();
    let at = |row: usize, column: usize, text: &'static str| {
        move |t: usize, cells: &mut Vec<String>| {
            if t == row {
                cells[column] = text.to_owned();
            }
        }
    };
    place.write("pumps.csv", good());
    place.write("few.csv", table(",", 15, |_, _| ()));
    place.write("empty.csv", "");
    place.write("header.csv", "temperature,pressure\n");
    place.write("semicolons.csv", table(";", 600, |_, _| ()));
    place.write("offline.csv", table(",", 600, at(300, 2, "offline")));
    place.write("historian.csv", table(",", 600, at(300, 2, "Out of Serv")));
    place.write("dashes.csv", table(",", 600, at(300, 2, "-off-")));
    place.write("spaces.txt", "a b c\n  1.5  2 3\n  4 5  6\n");
    place.write("degrees.csv", "a,b\n1° N,2° E\n3° N,4° E\n");
    place.write("gap.csv", table(",", 600, at(300, 2, "")));
    place.write("infinite.csv", table(",", 600, at(300, 2, "inf")));
    place.write(
        "long_row.csv",
        table(",", 600, |t, cells| {
            if t == 40 {
                cells.push("1".into())
            }
        }),
    );
    place.write(
        "short_row.csv",
        table(",", 600, |t, cells| {
            if t == 40 {
                cells.truncate(3)
            }
        }),
    );
    place.write("thousands.csv", table(",", 600, at(300, 1, "\"1,000,5\"")));
    std::fs::create_dir(place.path("empty")).expect("a folder");
    place.write("quote.csv", table(",", 600, at(50, 4, "\"1.0")));
    let day = |t: usize, cells: &mut Vec<String>| cells.insert(0, format!("{:02}/03/2026", 1 + t % 9));
    place.write("dates.csv", format!("day,{}", table(",", 600, day)));
    place.write(
        "machines.csv",
        format!("machine,{}", table(",", 600, |t, cells| cells.insert(0, format!("m{}", t % 60)))),
    );
    let constant = |_: usize, cells: &mut Vec<String>| cells.iter_mut().for_each(|cell| *cell = "1".into());
    place.write("constant.csv", table(",", 600, constant));
    place.write("other.csv", good().replacen("power", "current", 1));
    place.write("array.json", "[[1, 2], [3, 4]");
    place.write("json.txt", "{\"a\": 1, \"b\": 2}\n");
    place.write("book.xlsx", b"PK\x03\x04 and the parts of a workbook");
    place.write("pumps.zip", b"PK\x03\x04 and a table");
    for command in [
        "run pumps.csv -k 2 --learner tracking --snapshot model.eh --quiet",
        "monitor pumps.csv --snapshot monitor.eh --quiet",
    ] {
        assert_eq!(place.run(command).status, 0, "{command}");
    }
    place
}

/// Commands, their exit status, and the part of the message that names the next step.
const MISTAKES: &[(&str, i32, &str)] = &[
    ("run pump.csv -k 2", 1, "pump.csv: there is no such file; did you mean \"pumps.csv\"?"),
    ("run data/pumps.csv -k 2", 1, "data/pumps.csv: there is no such file; the folder \"data\" does not exist"),
    ("run empty -k 2", 2, "empty is a folder without tables"),
    ("run empty.csv -k 2", 1, "empty.csv: must hold at least one row, got nothing"),
    ("run header.csv -k 1", 1, "header.csv: must hold at least one row, got only a header"),
    ("run book.xlsx -k 2", 1, "book.xlsx: must be a sound workbook file: "),
    ("run pumps.zip -k 2", 1, "pumps.zip: is a zip archive: unpack it, or give --format npz if it holds arrays"),
    ("run array.json -k 1", 1, "array.json: cannot be read: its JSON ends before the last bracket"),
    ("run json.txt -k 1", 1, "must be csv, but the file starts like JSON (jsonl); --format says what a file is"),
    ("make drift --turn nan", 2, "must be a finite number"),
    ("make iid --noise inf", 2, "must be a finite number"),
    ("make iid --dim 0", 2, "0 is not in 1.."),
    ("make iid -k 0", 2, "0 is not in 1.."),
    ("run pumps.csv -k 3 --kernel rbf --budget 2", 2, "--budget must be at least k, got 2"),
    (
        "run pumps.csv -k 2 --report r.txt",
        2,
        "--report writes an HTML page, so that its name must end in .html, got r.txt",
    ),
    (
        "monitor pumps.csv --report r.txt",
        2,
        "--report writes an HTML page, so that its name must end in .html, got r.txt",
    ),
    ("compare pumps.csv -k 2 --report r.txt", 2, "--report writes an HTML page"),
    ("demo --report r.txt", 2, "--report writes an HTML page"),
    ("pca pumps.csv -k 2 --out-format tsv", 2, "--out-format has no effect without --out"),
    ("pca pumps.csv -k 2 --components -", 2, "--components must be a file, got -"),
    (
        "run semicolons.csv -k 2 --delimiter ,",
        1,
        "-k must be less than the number of selected columns, 1, got 2 (is --delimiter right?)",
    ),
    (
        "run offline.csv -k 2",
        1,
        "line 302, column 2 (\"flow\"): must be a finite number, got \"offline\"; --na-values offline reads it as a missing cell",
    ),
    (
        "run historian.csv -k 2",
        1,
        "got \"Out of Serv\"; --na-values 'Out of Serv' reads it as a missing cell; --on-bad-row skip passes over bad rows",
    ),
    ("run dashes.csv -k 2", 1, "got \"-off-\"; --na-values=-off- reads it as a missing cell"),
    (
        "monitor spaces.txt",
        1,
        "line 2: must have commas, semicolons, tabs or bars between its cells, got spaces; awk '{$1=$1} 1' OFS=, writes commas",
    ),
    ("run degrees.csv -k 1", 1, "must hold numbers, got \"1° N\", \"2° E\"\n"),
    (
        "run gap.csv -k 2",
        1,
        "line 302, column 2 (\"flow\"): must be a finite number, got an empty cell; --missing skip passes such rows over, --missing fill",
    ),
    ("run infinite.csv -k 2", 1, "must be a finite number, got \"inf\"; --on-bad-row skip passes over bad rows"),
    (
        "run long_row.csv -k 2",
        1,
        "line 42: must have 5 cells like the first line, got 6 (is the delimiter right? \",\" was assumed); --on-bad-row skip",
    ),
    ("run short_row.csv -k 2", 1, "line 42: must have 5 cells like the first line, got 3"),
    ("run thousands.csv -k 2", 1, "got \"1,000,5\""),
    ("run quote.csv -k 2", 1, "line 52: a quote is opened here and not closed; --on-bad-row skip passes over bad rows"),
    (
        "monitor dates.csv",
        1,
        "\"01/03/2026\" can be two dates: 2026-03-01 with --time-format %d/%m/%Y, 2026-01-03 with --time-format %m/%d/%Y",
    ),
    (
        "monitor pumps.csv --time zeit",
        1,
        "there is no column \"zeit\" in the header; the columns are \"temperature\", \"pressure\"",
    ),
    (
        "run pumps.csv -k 2 --columns temperature,presure",
        1,
        "there is no column \"presure\" in the header; did you mean \"pressure\"?",
    ),
    (
        "run machines.csv -k 2 --group-by mashine",
        1,
        "there is no column \"mashine\" in the header; did you mean \"machine\"?",
    ),
    (
        "monitor pumps.csv --events e.xlsx",
        2,
        "--events writes csv, tsv, jsonl, parquet or npy, by the end of the name, got e.xlsx",
    ),
    ("monitor other.csv --start-from monitor.eh", 1, "other.csv: must have the same columns, but \"power\" is missing"),
    ("run pumps.csv -k 0", 2, "-k must be at least 1, got 0"),
    ("run pumps.csv -k 5", 1, "-k must be less than the number of selected columns, 5, got 5"),
    ("run pumps.csv -k two", 2, "invalid value 'two' for '-k <K|SHARE>': must be a whole number"),
    ("monitor pumps.csv --limit 5%", 2, "must be ALPHA, auto:ALPHA or conformal:P with a number between 0 and 1"),
    ("run pumps.csv -k 2 --learner pca", 2, "[possible values: auto, tracking, anchored"),
    ("run pumps.csv -k 2 --kernel gauss", 2, "[possible values: linear, polynomial, rbf"),
    ("run pumps.csv -k 2 --gamma 0.5", 2, "--gamma needs a --kernel"),
    ("run pumps.csv -k 2 --standardise", 2, "tip: a similar argument exists: '--standardize'"),
    ("run pumps.csv --n-components 2", 2, "tip: -k sets the number of directions"),
    ("export model.eh --to x.json", 2, "tip: --out writes the file"),
    ("monitor pumps.csv --kernel rbf", 2, "--kernel is an option of "),
    ("run pumps.csv -k 2 --events e.csv", 2, "tip: only `eigenhedge monitor` has --events"),
    ("runn pumps.csv", 2, "tip: a similar subcommand exists: 'run'"),
    ("run pumps.csv -k 2 --eta 1", 2, "--eta has no effect with the learner auto"),
    ("run pumps.csv -k 2 --out pumps.csv", 2, "--out must not be the input, got pumps.csv"),
    (
        "run pumps.csv -k 2 --report out.csv",
        2,
        "--report writes an HTML page, so that its name must end in .html, got out.csv",
    ),
    (
        "monitor pumps.csv --events page.html",
        2,
        "--events writes csv, tsv, jsonl, parquet or npy, by the end of the name, got page.html",
    ),
    (
        "monitor pumps.csv --report pages/page.html",
        1,
        "pages/page.html cannot be written: there is no folder pages; create it first",
    ),
    (
        "run pumps.csv -k 2 --resume pumps.csv",
        1,
        "pumps.csv: is not a file saved by eigenhedge: --snapshot writes such files",
    ),
    ("run pumps.csv -k 3 --resume model.eh", 1, "-k must be as in model.eh, 2, got 3"),
    (
        "monitor pumps.csv --start-from model.eh",
        1,
        "model.eh: holds one model, not one monitor: eigenhedge run takes it",
    ),
    (
        "run pumps.csv --start-from monitor.eh",
        1,
        "monitor.eh: holds one monitor, not one model: eigenhedge monitor takes it",
    ),
    (
        "merge model.eh model.eh --out all.eh",
        1,
        "the learner must be one of leader, anchored, product-sets, got tracking",
    ),
    (
        "monitor few.csv",
        1,
        "must have more rows than the warm-up, 400, got 15; --warm-up takes fewer, and --train another table",
    ),
    (
        "monitor machines.csv --group-by machine",
        1,
        "at most 10 of one (m59); --warm-up takes fewer, and --train another table",
    ),
];

#[test]
fn mistakes_are_answered_with_what_to_do_next() {
    let place = folder();
    for (command, status, said) in MISTAKES {
        let outcome = place.run(command);
        assert_eq!(outcome.status, *status, "{command}: {}", outcome.err);
        assert!(outcome.err.contains(said), "{command}: {}", outcome.err);
        assert_eq!(outcome.out, "", "{command}");
    }
    assert!(MISTAKES.len() >= 40);
}

#[test]
fn a_table_of_constants_is_explained() {
    let outcome = folder().run("monitor constant.csv");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    assert!(outcome.out.contains("every column was constant in the first rows"), "{}", outcome.out);
}

#[test]
fn options_whose_row_the_table_does_not_reach_are_named_at_the_end() {
    let place = folder();
    for (command, sentence) in [
        ("run pumps.csv -k 2 --standardize warmup:5000", "--standardize warmup:5000 has used all 600 rows"),
        ("pca pumps.csv -k 2 --standardize warmup:5000", "--standardize warmup:5000 has used all 600 rows"),
        ("monitor pumps.csv --accept 5000", "--accept 5000 had no effect on the 600 rows that were read"),
    ] {
        let outcome = place.run(command);
        assert!(outcome.status == 0 && outcome.err.contains(sentence), "{command}: {}", outcome.err);
        let enough = place.run(&command.replace("5000", "500"));
        assert!(enough.status == 0 && !enough.err.contains(sentence.split(' ').next().unwrap()), "{}", enough.err);
    }
}
