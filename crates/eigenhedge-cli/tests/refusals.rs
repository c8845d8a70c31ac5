//! Every error gives one sentence and the right exit status, and leaves no output file.

use crate::common::{HINT, Place, unhinted};

/// Table, options after `run data.csv`, exit status and message.
type Case = (&'static str, &'static str, i32, &'static str);

const DATA: &[Case] = &[
    ("", "-k 1", 1, "data.csv: must hold at least one row, got nothing"),
    ("\n\n", "-k 1", 1, "data.csv: must hold at least one row, got nothing"),
    ("a,b,c\n", "-k 1", 1, "data.csv: must hold at least one row, got only a header"),
    (
        "1,2,3\n4,5\n",
        "-k 1",
        1,
        "data.csv, line 2: must have 3 cells like the first line, got 2 (is the delimiter right? \",\" was assumed)",
    ),
    (
        "a,b\n1,2\n\n3,4,5\n",
        "-k 1",
        1,
        "data.csv, line 4: must have 2 cells like the first line, got 3 (is the delimiter right? \",\" was assumed)",
    ),
    (
        "1,2\n3,\n",
        "-k 1",
        1,
        "data.csv, line 2, column 1: must be a finite number, got an empty cell; --missing skip passes such rows over, --missing fill fills such cells in",
    ),
    (
        "1,,3\n4,5,6\n",
        "-k 1",
        1,
        "data.csv, line 1, column 1: must be a finite number, got an empty cell; --missing skip passes such rows over, --missing fill fills such cells in",
    ),
    (
        "a,temp\n1,2\n3,warm\n",
        "-k 1",
        1,
        "data.csv, line 3, column 1 (\"temp\"): must be a finite number, got \"warm\"",
    ),
    (
        "1,2\n3,NaN\n",
        "-k 1",
        1,
        "data.csv, line 2, column 1: must be a finite number, got \"NaN\"; --missing skip passes such rows over, --missing fill fills such cells in",
    ),
    (
        "nan,2\n3,4\n",
        "-k 1",
        1,
        "data.csv, line 1, column 0: must be a finite number, got \"nan\"; --missing skip passes such rows over, --missing fill fills such cells in",
    ),
    ("1,2\n3,inf\n", "-k 1 --missing fill", 1, "data.csv, line 2, column 1: must be a finite number, got \"inf\""),
    ("1,2\n3,x\n", "-k 1 --missing fill", 1, "data.csv, line 2, column 1: must be a finite number, got \"x\""),
    (
        "1,2\n3\n",
        "-k 1 --missing fill",
        1,
        "data.csv, line 2: must have 2 cells like the first line, got 1 (is the delimiter right? \",\" was assumed)",
    ),
    ("1,2\n3,\n", "-k 1 --missing fill --learner oja", 2, "--missing fill is not for the learner oja"),
    (
        "1,2\n3,\n",
        "-k 1 --missing fill --kernel rbf",
        2,
        "--missing fill is for plain rows: the features of a --kernel need all cells",
    ),
    ("1,2\n3,\n", "-k 1 --missing fill --segments 2", 2, "--segments has no effect with --missing fill"),
    (
        ",\n,NA\n",
        "-k 1 --missing fill",
        1,
        "data.csv: must hold at least one good row, but all 2 are bad; the first: data.csv, line 1: must hold at least \
         one number, got missing cells only",
    ),
    (
        "1,\n,2\n",
        "-k 1 --missing skip",
        1,
        "data.csv: must hold at least one good row, but all 2 are bad; the first: data.csv, line 1, column 1: must be a \
         finite number, got an empty cell",
    ),
    ("1,2\ninf,4\n", "-k 1", 1, "data.csv, line 2, column 0: must be a finite number, got \"inf\""),
    ("1,2\n1e999,4\n", "-k 1", 1, "data.csv, line 2, column 0: must be a finite number, got \"1e999\""),
    (
        "1.5,2\n\"3,5\",4\n",
        "-k 1",
        1,
        "data.csv, line 2, column 0: must be a finite number, got \"3,5\"; --decimal , reads decimal commas",
    ),
    ("x,y\n1,2\n", "-k 1 --no-header", 1, "data.csv, line 1, column 0: must be a finite number, got \"x\""),
    (
        "1,2\n3,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
        "-k 1",
        1,
        "data.csv, line 2, column 1: must be a finite number, got \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"…",
    ),
    (
        "1:2\n3:4\n",
        "-k 1",
        1,
        "data.csv: -k must be less than the number of selected columns, 1, got 1 (is --delimiter right?)",
    ),
    ("1,2,3\n", "-k 3", 1, "data.csv: -k must be less than the number of selected columns, 3, got 3"),
    ("1,2,3\n", "-k 2 --exclude 0", 1, "data.csv: -k must be less than the number of selected columns, 2, got 2"),
    (
        "1\n2\n",
        "-k 1",
        1,
        "data.csv: -k must be less than the number of selected columns, 1, got 1 (is --delimiter right?)",
    ),
    ("1,2,3\n", "-k 1 --feature-dim 2", 1, "data.csv: --feature-dim must be at least the length of a row, got 2"),
    (
        "1,2\n1e200,1\n",
        "-k 1",
        1,
        "data.csv, line 2: the squared norm of the row must be finite, got a largest entry of 1e200",
    ),
    (
        "1,0\n3,4\n",
        "-k 1 --center none --norm-bound 2",
        1,
        "data.csv, line 2: the norm of the row must not exceed the norm bound 2, got 5",
    ),
    (
        "a,b\n1,2\n",
        "-k 1 --columns a,zebra",
        1,
        "data.csv: there is no column \"zebra\" in the header; the columns are \"a\", \"b\"",
    ),
    (
        "1,2\n3,4\n",
        "-k 1 --exclude x",
        1,
        "data.csv: there is no column \"x\" in the header; the columns are \"1\", \"2\"",
    ),
    ("a,b\n1,2\n", "-k 1 --columns 0,2", 1, "data.csv: there is no column 2: positions run from 0 to 1"),
    (
        "a,a\n1,2\n",
        "-k 1 --columns a",
        1,
        "data.csv: the column name \"a\" must be unique, but the header has it more than once; use its position",
    ),
    ("a,b\n1,2\n", "-k 1 --columns a,b,0", 1, "data.csv: column 0 must be selected once, not twice"),
    ("a,b\n1,2\n", "-k 1 --exclude a,b", 1, "data.csv: at least one column must be left, but all are excluded"),
    ("1,2\n3,4\n", "-k 0", 2, "-k must be at least 1, got 0"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --eta -1", 2, "--eta must be positive and finite, got -1"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --eta 0", 2, "--eta must be positive and finite, got 0"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --eta nan", 2, "--eta must be positive and finite, got NaN"),
    ("1,2\n3,4\n", "-k 1 --eta inf --learner anchored", 2, "--eta must be positive and finite, got inf"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --alpha 1", 2, "--alpha must be at least 0 and less than 1, got 1"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --alpha -1e-9", 2, "--alpha must be at least 0 and less than 1, got -1e-9"),
    (
        "1,2\n3,4\n",
        "-k 1 --forget 0 --learner forgetting-leader",
        2,
        "--forget must be greater than 0 and at most 1, got 0",
    ),
    ("1,2\n3,4\n", "-k 1 --center-prior -2", 2, "--center-prior must be 0, or finite and at least 1e-100, got -2"),
    ("1,2\n3,4\n", "-k 1 --norm-bound 0", 2, "--norm-bound must be positive and finite, got 0"),
    ("1,2\n3,4\n", "-k 4 --feature-dim 4", 2, "-k must be less than --feature-dim 4, got 4"),
    ("1,2\n3,4\n", "-k 1 --eta 1 --learner leader", 2, "--eta has no effect with the learner leader"),
    ("1,2\n3,4\n", "-k 1 --forget 0.9", 2, "--forget has no effect with the learner auto"),
    (
        "1,2\n3,4\n",
        "-k 1 --mixing fixed-share --learner anchored",
        2,
        "--mixing has no effect with the learner anchored",
    ),
    ("1,2\n3,4\n", "-k 1 --alpha 0.1 --learner leader", 2, "--alpha has no effect with the learner leader"),
    ("1,2\n3,4\n", "-k 1 --learner tracking --alpha 0.1 --mixing none", 2, "--alpha has no effect with --mixing none"),
    ("1,2\n3,4\n", "-k 1 --center-prior 1 --center none", 2, "--center-prior has no effect with --center none"),
    (
        "1,2\n3,4\n",
        "-k 1 --no-header --columns a",
        2,
        "--columns must hold positions when there is --no-header, got \"a\"",
    ),
];

#[test]
fn bad_data_and_bad_values_are_named_in_one_sentence() {
    for (content, options, status, sentence) in DATA {
        let place = Place::new();
        place.write("data.csv", content);
        let outcome = place.run(&format!("run data.csv --out out.csv {options}"));
        assert_eq!(unhinted(&outcome.err), format!("eigenhedge: {sentence}\n"), "{content:?} with {options}");
        assert_eq!((outcome.status, outcome.out.as_str()), (*status, ""), "{content:?} with {options}");
        assert_eq!(place.files(), ["data.csv"], "{content:?} with {options}");
    }
}

#[test]
fn a_failed_run_leaves_an_older_output_as_it_was() {
    let place = Place::new();
    let rows: String = (0..5000).map(|i| format!("{i},1,2\n")).collect();
    place.write("data.csv", format!("{rows}1,2,oops\n"));
    place.write("out.csv", "older");
    assert_eq!(place.run("run data.csv -k 1 --out out.csv").status, 1);
    assert_eq!(place.read("out.csv"), "older");
    assert_eq!(place.files(), ["data.csv", "out.csv"]);
    place.write("data.csv", rows);
    assert_eq!(place.run("run data.csv -k 1 --out out.csv").status, 0);
    assert_eq!(place.read("out.csv").lines().count(), 5001);
    assert_eq!(place.files(), ["data.csv", "out.csv"]);
}

#[test]
fn a_pipe_is_named_and_answered_up_to_the_bad_row() {
    let outcome = Place::new().feed("run - -k 1 --out -", "1,2\n3,4\nfive,6\n");
    let sentence = "eigenhedge: standard input, line 3, column 0: must be a finite number, got \"five\"";
    let sign = "; --na-values five reads it as a missing cell";
    assert_eq!((outcome.status, outcome.err), (1, format!("{sentence}{sign}{HINT}\n")));
    assert_eq!(outcome.out.lines().count(), 3);
}

#[test]
fn a_pipe_goes_on_after_a_bad_row_when_bad_rows_are_skipped() {
    let rows = "1,2\n3,4\nfive,6\n7,8,9\n10,11\n";
    let outcome = Place::new().feed("run - -k 1 --on-bad-row skip --quiet --out -", rows);
    let numbers: Vec<&str> = outcome.out.lines().map(|line| line.split(',').next().unwrap_or("")).collect();
    assert_eq!((outcome.status, numbers), (0, vec!["row", "0", "1", "4"]), "{}", outcome.err);
    assert!(!outcome.err.contains(HINT), "{}", outcome.err);
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let place = Place::new();
    place.write("data.csv", "1,2\n3,4\n");
    std::fs::create_dir(place.path("folder")).unwrap();
    let cases = [
        ("run missing.csv -k 1", "missing.csv: there is no such file"),
        ("run data.csv -k 1 --out nowhere/out.csv", "nowhere/out.csv cannot be written: "),
        ("run data.csv -k 1 --out folder", "folder cannot be written: "),
    ];
    for (arguments, sentence) in cases {
        let outcome = place.run(arguments);
        assert!(outcome.err.starts_with(&format!("eigenhedge: {sentence}")), "{}", outcome.err);
        assert_eq!((outcome.status, outcome.err.lines().count()), (1, 1), "{}", outcome.err);
    }
}

#[test]
fn wrong_usage_ends_with_status_two_and_a_hint() {
    let place = Place::new();
    let cases = [
        ("", "Usage"),
        ("run", "required"),
        ("run -", "-k must be given when rows come through a pipe"),
        ("run data.csv -k two", "invalid value 'two'"),
        ("run data.csv -k -1", "-1"),
        ("rum data.csv -k 1", "'run'"),
        ("run data.csv -k 1 --lerner leader", "'--learner'"),
        ("run data.csv -k 1 --learner leadr", "'leader'"),
        ("run data.csv -k 1 --eta fast", "invalid value 'fast'"),
        ("run data.csv -k 1 --norm-bound big", "must be a number or auto"),
        ("run data.csv -k 1 --feature-dim 1.5", "must be a whole number or inf"),
        ("run data.csv -k 1 --delimiter ab", "must be one ASCII character"),
        ("run data.csv -k 1 --delimiter \"", "must be one ASCII character"),
        ("run data.csv -k 1 --select bottom", "systematic"),
        ("run data.csv -k 1 --summary xml", "json"),
        ("run data.csv -k 1 --seed -3", "-3"),
        ("run data.csv -k 1 --missing drop", "fail, skip, fill"),
        ("pca data.csv -k 1 --missing skip", "'--missing'"),
        ("compare data.csv -k 1 --missing fill", "--missing must be fail or skip for compare"),
    ];
    for (arguments, hint) in cases {
        let outcome = place.run(arguments);
        assert_eq!((outcome.status, outcome.out.as_str()), (2, ""), "{arguments}");
        assert!(outcome.err.contains(hint), "{arguments}: {}", outcome.err);
    }
}

#[test]
fn help_has_examples_and_lists_every_learner() {
    let help = Place::new().run("run --help");
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    assert!(help.out.contains("Examples:"));
    for entry in eigenhedge::registry::REGISTRY {
        assert!(help.out.contains(&format!("- {}:", entry.name)), "{}", entry.name);
    }
}
