//! `run` gives the results of the library, row by row, and prints them exactly.
#![allow(clippy::unwrap_used)]

use crate::common::{Outcome, Place, table};
use eigenhedge::registry::REGISTRY;
use eigenhedge::{Kind, Mixing, Model, NormBound, RunningCenter, Spec, Standardize, Standardizer, streams};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

fn stream() -> Vec<Vec<f64>> {
    streams::switching(6, 2, 2, 60, 3)
}

fn library(spec: Spec, seed: u64) -> (Model, Vec<Vec<f64>>) {
    let mut run = Model::new(spec, 6, seed).unwrap();
    run.ask_for_coordinates(true);
    let mut answers = Vec::new();
    for row in stream() {
        let loss = run.step(&row).unwrap();
        let mut answer = vec![loss.expected, loss.realised];
        answer.extend_from_slice(run.coordinates());
        answers.push(answer);
    }
    (run, answers)
}

/// Returns the numbers of an output table without the row numbers, which are checked.
fn answers(text: &str) -> Vec<Vec<f64>> {
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let lines = text.lines().skip(1).enumerate();
    lines
        .map(|(i, line)| {
            let (row, rest) = line.split_once(',').unwrap();
            assert_eq!(row, i.to_string());
            rest.split(',').map(number).collect()
        })
        .collect()
}

fn bits(rows: &[Vec<f64>]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn answers_read_back_bit_equal_to_the_library() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let base = |kind| Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 2) };
    let tracking = |mixing| Spec { mixing, ..base(Kind::Tracking) };
    let cases = [
        ("", base(Kind::Auto)),
        ("--learner tracking", tracking(Mixing::FixedShare { alpha: 1e-3 })),
        (
            "--learner tracking --eta auto",
            Spec { self_confident: true, ..tracking(Mixing::FixedShare { alpha: 1e-3 }) },
        ),
        ("--learner tracking --mixing none --eta 2.5", Spec { eta: 2.5, ..tracking(Mixing::None) }),
        ("--learner tracking --mixing past-average --alpha 0.01", tracking(Mixing::PastAverage { alpha: 0.01 })),
        ("--learner anchored --center none", Spec { center: None, self_confident: true, ..base(Kind::Anchored) }),
        ("--learner gha", Spec { eta: 0.05, ..base(Kind::Gha) }),
        (
            "--learner anchored --eta 3 --kernel rbf --gamma 0.3 --budget 20",
            Spec {
                eta: 3.0,
                kernel: Some(eigenhedge::kernel::VectorKernel::Rbf { gamma: 0.3 }),
                budget: Some(20),
                ..base(Kind::Anchored)
            },
        ),
        (
            "--kernel poly --gamma 0.16666666666666666 --degree 2 --coef0 0",
            Spec {
                kernel: Some(eigenhedge::kernel::VectorKernel::Polynomial { gamma: 1.0 / 6.0, degree: 2, coef0: 0.0 }),
                ..base(Kind::Auto)
            },
        ),
        ("--learner leader --mixing none", base(Kind::Leader)),
        ("--learner forgetting-leader --forget 0.8", Spec { forget: 0.8, ..base(Kind::ForgettingLeader) }),
        (
            "--learner anchored --eta 1 --center-prior 2 --select corners",
            Spec {
                center: Some(RunningCenter { prior: 2.0, ..RunningCenter::MEAN }),
                select: eigenhedge::simplex::Select::Corners,
                ..base(Kind::Anchored)
            },
        ),
        (
            "--learner tracking --mixing none --feature-dim 40",
            Spec { dimension: Some(eigenhedge::simplex::Multiplicity::Finite(40)), ..tracking(Mixing::None) },
        ),
        (
            "--learner tracking --mixing none --feature-dim inf",
            Spec { dimension: Some(eigenhedge::simplex::Multiplicity::Infinite), ..tracking(Mixing::None) },
        ),
    ];
    for (options, spec) in cases {
        let outcome = place.run(&format!("run data.csv -k 2 --seed 9 --out out.csv --quiet {options}"));
        assert_eq!((outcome.status, outcome.out.as_str(), outcome.err.as_str()), (0, "", ""), "{options}");
        let text = place.read("out.csv");
        assert_eq!(text.lines().next(), Some("row,expected_loss,loss,z0,z1"));
        assert_eq!(bits(&answers(&text)), bits(&library(spec, 9).1), "{options}");
    }
}

fn numbers(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// Options, scaling, and the number of rows that determine the scale at each row index.
type Standardized = (&'static str, Standardize, fn(usize) -> usize);

#[test]
fn projections_are_in_units_and_under_the_names_of_the_input_and_lose_what_is_charged() {
    let place = Place::new();
    let named = table(&stream()).replacen("x0,x1", "\"a, b\",temperature", 1);
    place.write("data.csv", &named);
    let raw = numbers(&named.replacen("\"a, b\"", "a", 1));
    let cases: [Standardized; 4] = [
        ("", Standardize::None, |_| 0),
        ("--standardize warmup:40", Standardize::Warmup(40), |_| 40),
        ("--standardize running", Standardize::Running, |row| row),
        ("--learner anchored --center none", Standardize::None, |_| 0),
    ];
    for (options, how, measured) in cases {
        let arguments = format!("run data.csv -k 2 --quiet --out out.csv --reconstruct rows.csv {options}");
        assert_eq!(place.run(&arguments), Outcome { status: 0, out: String::new(), err: String::new() }, "{options}");
        let text = place.read("rows.csv");
        assert_eq!(text.lines().next(), Some("\"a, b\",temperature,x2,x3,x4,x5"));
        let (rows, answers) = (numbers(&text.replacen("\"a, b\"", "a", 1)), answers(&place.read("out.csv")));
        assert_eq!(rows.len(), raw.len());
        // From the third row on, no column is constant.
        for (t, (row, projected)) in raw.iter().zip(&rows).enumerate().skip(2) {
            let mut standardizer = Standardizer::new(how, 6);
            raw.iter().take(measured(t)).for_each(|row| standardizer.count_in(row));
            standardizer.settle();
            let (mut scaled, means) = (Vec::new(), standardizer.mean().chain([0.0; 6]).take(6).collect::<Vec<f64>>());
            standardizer.apply(row, &mut scaled).unwrap();
            let scale = |i: usize| (row[i] - means[i]) / scaled[i];
            let lost: f64 = (0..6).map(|i| ((row[i] - projected[i]) / scale(i)).powi(2)).sum();
            assert!(
                (lost - answers[t][1]).abs() < 1e-9 * lost.max(1.0),
                "{options}, row {t}: {lost} {}",
                answers[t][1]
            );
        }
    }
}

#[test]
fn projections_that_make_no_sense_are_refused() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let cases = [
        (
            "--reconstruct rows.csv --kernel rbf",
            "--reconstruct: projections of rows need plain rows; those of features have pre-images, which a saved model finds",
        ),
        (
            "--reconstruct rows.csv --learner gha",
            "--reconstruct: projections of rows need a learner over subspaces, which this one is not",
        ),
        (
            "--reconstruct rows.csv --feature-dim 9",
            "--reconstruct: projections of rows need the space of the rows, not a larger one",
        ),
        ("--reconstruct -", "--reconstruct must be a file, got -"),
        ("--reconstruct data.csv", "--reconstruct must not be the input, got data.csv"),
        ("--out a.csv --reconstruct a.csv", "--reconstruct must not be --out, got a.csv"),
        ("--reconstruct a.csv --report a.csv", "--report must not be --reconstruct, got a.csv"),
        ("--out a.csv --report ./a.csv", "--report must not be --out, got ./a.csv"),
        ("--reconstruct /dev/null --out-format csv", "--out-format has no effect without --out"),
    ];
    for (arguments, sentence) in cases {
        let outcome = place.run(&format!("run data.csv -k 2 {arguments}"));
        assert_eq!((outcome.status, outcome.err), (2, format!("eigenhedge: {sentence}\n")), "{arguments}");
    }
    assert_eq!(place.files(), ["data.csv"]);
}

#[test]
fn a_resumed_run_goes_on_with_coordinates_and_projections_to_the_last_byte() {
    for form in ["csv", "tsv", "jsonl"] {
        let place = Place::new();
        let lines: Vec<String> = table(&stream()).lines().map(|line| line.to_owned() + "\n").collect();
        let run = |rows: usize, more: &str| {
            place.write("data.csv", lines[..=rows].concat());
            let run = "run data.csv -k 2 --quiet --standardize running --snapshot run.snap";
            let outcome = place.run(&format!("{run} --out out.csv --reconstruct rows.{form} {more}"));
            assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{form}");
        };
        run(120, "");
        let whole =
            ["out.csv".to_owned(), format!("rows.{form}")].map(|name| std::fs::read(place.path(&name)).unwrap());
        run(50, "");
        run(120, "--resume run.snap");
        let parts =
            ["out.csv".to_owned(), format!("rows.{form}")].map(|name| std::fs::read(place.path(&name)).unwrap());
        assert!(whole == parts, "{form}");
    }
}

#[test]
fn the_json_summary_has_the_promised_keys_and_the_library_s_numbers() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let outcome = place
        .run("run data.csv -k 2 --learner tracking --mixing none --center none --norm-bound 1 --summary json --quiet");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let summary: Value = serde_json::from_str(&outcome.out).unwrap();
    let spec = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Tracking, 2) };
    let (run, _) = library(spec, 0);
    let (best, bound) = (run.summary().best_loss.unwrap().exact().unwrap(), run.summary().bound);
    let options = serde_json::json!({
        "learner": "tracking", "eta": 1.0, "mixing": "none", "center": "none", "clip": "none", "norm_bound": 1.0, "segments": 0,
        "select": "systematic", "coordinates": "aligned", "best": "auto", "missing": "fail",
    });
    let expected = [
        ("rows", Value::from(120)),
        ("skipped_rows", Value::from(0)),
        ("dim", Value::from(6)),
        ("feature_dim", Value::from(6)),
        ("k", Value::from(2)),
        ("learner", Value::from("tracking")),
        ("eta", Value::from(1.0)),
        ("options", options),
        ("uncharged_rows", Value::from(0)),
        ("first_row_loss", Value::Null),
        ("expected_loss", Value::from(run.totals().expected_loss)),
        ("loss", Value::from(run.totals().loss)),
        ("kept_energy", Value::from(run.totals().kept_energy)),
        ("best_loss", Value::from(best)),
        ("regret", Value::from(run.totals().expected_loss - best)),
        ("bound", Value::from(bound)),
        ("bound_holds", Value::from(true)),
        ("bound_reason", Value::from("JMLR Theorem 6")),
        (
            "certificate",
            serde_json::json!({"price": 0.0, "hedge_term": 0.0, "budget_error": 0.0, "healed_rows": 0, "clipped_rows": 0,
                "filled_rows": 0, "missing_cells": 0}),
        ),
        ("advice", Value::Null),
        ("members", Value::Array(Vec::new())),
        ("partitions", Value::Array(Vec::new())),
        ("shifting_bound", Value::Null),
        ("rank_mean", Value::from(run.totals().rank_mean())),
        ("rank_max", Value::from(run.totals().rank_max)),
    ];
    for (key, value) in &expected {
        assert_eq!(&summary[key], value, "{key}");
    }
    let seconds = summary["seconds"].as_f64().unwrap();
    assert_eq!(summary["rows_per_second"].as_f64().unwrap(), 120.0 / seconds);
    assert_eq!(summary.as_object().unwrap().len(), expected.len() + 2);
}

#[test]
fn what_does_not_exist_is_null() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    for entry in REGISTRY {
        let kept = kept_by(entry.kind);
        let outcome = place.run(&format!("run data.csv -k {kept} --summary json --learner {}", entry.name));
        let summary: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(summary["learner"], entry.name);
        // Anchored tunes its rate unless one is given.
        let tuned = entry.kind == Kind::Anchored;
        assert_eq!(summary["eta"].is_null(), !entry.kind.reads("eta") || tuned, "{}", entry.name);
        // With a running mean and no norm bound, only anchored and auto have a guarantee.
        let promised = matches!(entry.kind, Kind::Anchored | Kind::Auto);
        assert_eq!(summary["bound"].is_null(), !promised, "{}", entry.name);
        assert_eq!(summary["bound_holds"], if promised { Value::from(true) } else { Value::Null });
    }
}

/// Returns the number of directions. Oja's rule has one.
fn kept_by(kind: Kind) -> usize {
    if kind == Kind::Oja { 1 } else { 2 }
}

#[test]
fn the_text_summary_says_why_there_is_no_bound() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let cases = [
        ("--learner tracking", "none: no theorem covers this learner with a running center; try center none"),
        ("--learner tracking --center none", "none: the theorem needs a norm bound given in advance: norm-bound Q"),
        (
            "--learner tracking --center none --norm-bound 1 --eta auto",
            "none: no theorem covers this learner with a rate that changes",
        ),
        ("--learner anchored --select top", "none: no theorem covers choices that are not drawn"),
        ("--select top", "none: no theorem covers choices that are not drawn"),
        ("--learner leader", "none: no theorem covers this learner"),
        ("--kernel rbf --budget 5", "none: no theorem covers a budget on atoms"),
    ];
    for (options, reason) in cases {
        let outcome = place.run(&format!("run data.csv -k 2 {options}"));
        let line = outcome.out.lines().find(|line| line.starts_with("bound ")).unwrap();
        assert_eq!(line.trim_start_matches("bound").trim(), reason, "{options}");
    }
    let tracking = "--learner tracking --center none --norm-bound 1";
    let infinite = format!("{tracking} --feature-dim inf");
    for options in ["", tracking, &infinite, "--learner anchored", "--kernel rbf", "--kernel rbf --learner anchored"] {
        let outcome = place.run(&format!("run data.csv -k 2 {options}"));
        assert!(outcome.out.contains("): it holds"), "{}", outcome.out);
    }
}

#[test]
fn segments_are_found_where_the_stream_changes() {
    let place = Place::new();
    place.write("data.csv", table(&streams::switching(6, 2, 2, 64, 3)));
    let outcome = place.run("run data.csv -k 2 --center none --segments 2");
    assert!(outcome.out.contains("2 segments, cut before rows 64"), "{}", outcome.out);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_choices() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let out = |seed: u64| place.run(&format!("run data.csv -k 2 --out - --quiet --seed {seed}")).out;
    assert_eq!(out(1), out(1));
    assert_ne!(out(1), out(2));
}

#[test]
fn standard_input_gives_the_bytes_that_a_file_gives() {
    let place = Place::new();
    place.write("data.csv", table(&stream()));
    let from_file = place.run("run data.csv -k 2 --out - --quiet");
    assert_eq!(place.feed("run - -k 2 --out - --quiet", table(&stream())), from_file);
}

#[test]
fn each_row_is_answered_before_the_next_is_sent() {
    let place = Place::new();
    for first in ["a,b,c\n1,2,3\n", "1,2,3\n", "1,2,3\r\n"] {
        let mut child = place
            .command("run - -k 1 --out -")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        input.write_all(first.as_bytes()).unwrap();
        assert_eq!(output.next().unwrap().unwrap(), "row,expected_loss,loss,z0");
        assert!(output.next().unwrap().unwrap().starts_with("0,"));
        for row in 1..20 {
            writeln!(input, "{row},2,{}", 2 * row).unwrap();
            let answer = output.next().unwrap().unwrap();
            assert!(answer.starts_with(&format!("{row},")), "{answer}");
        }
        drop(input);
        assert!(output.next().is_none());
        let left = child.wait_with_output().unwrap();
        assert!(left.status.success());
        assert!(String::from_utf8(left.stderr).unwrap().contains("20 rows of 3 numbers"));
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = Place::new();
    let rows: Vec<Vec<f64>> = (0..20_000).map(|i| vec![f64::from(i % 100), 1.0, 2.0]).collect();
    place.write("data.csv", table(&rows));
    let mut child =
        place.command("run data.csv -k 1 --out -").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let left = child.wait_with_output().unwrap();
    assert_eq!((left.status.code(), left.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn columns_are_selected_by_name_and_position() {
    let place = Place::new();
    place.write("data.csv", "id;a;b;c\nfirst;1;2;3\nsecond;2;1;0\nthird;5;5;1\n");
    place.write("plain.csv", "c,a,b\n3,1,2\n0,2,1\n1,5,5\n");
    let wanted = place.run("run plain.csv -k 1 --out - --quiet");
    assert_eq!(wanted.status, 0);
    assert_eq!(place.run("run data.csv -k 1 --out - --answers-as csv --quiet --delimiter ; --columns c,a,b"), wanted);
    assert_eq!(place.run("run data.csv -k 1 --out - --answers-as csv --quiet --delimiter ; --columns 3,1,b"), wanted);
    assert_eq!(
        place.run("run data.csv -k 1 --out - --answers-as csv --quiet --delimiter ; --columns 3,1,0,b --exclude id"),
        wanted
    );
}

#[test]
fn strange_but_sound_tables_give_a_normal_result() {
    let place = Place::new();
    let cases = [
        ("one row", "1,2,3\n"),
        ("one row without a line end", "1,2,3"),
        ("constant columns", "1,2,5\n1,2,6\n1,2,7\n"),
        ("all rows equal", "1,2,3\n1,2,3\n1,2,3\n1,2,3\n"),
        ("all zero", "0,0,0\n0,0,0\n"),
        ("negative zero", "-0.0,0,-0\n0,0,0\n"),
        ("tiny", "1e-150,2e-150,0\n3e-300,1e-310,5e-324\n2e-150,0,0\n"),
        ("large", "1e149,0,2\n1,1e149,2\n1,2,3\n"),
        ("blank lines and spaces", "\n1, 2,3\n\n4,5 ,6\n\n"),
        ("quotes", "\"a\",\"b\",\"c, d\"\n\"1\",\"2\",\"3\"\n"),
        ("a byte order mark", "\u{feff}1,2,3\n4,5,6\n"),
    ];
    for (name, content) in cases {
        place.write("data.csv", content);
        for entry in REGISTRY {
            for options in ["", "--center none"] {
                let kept = kept_by(entry.kind);
                let outcome = place.run(&format!("run data.csv -k {kept} --learner {} --out - {options}", entry.name));
                assert_eq!(outcome.status, 0, "{name}, {}: {}", entry.name, outcome.err);
                let rows = answers(&outcome.out);
                assert!(rows.iter().flatten().all(|x| x.is_finite()), "{name}, {}: {rows:?}", entry.name);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new();
    place.write("data.csv", "1,2,3\n");
    assert_eq!(place.run("run data.csv -k 1 --out /dev/null --quiet").status, 0);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[cfg(unix)]
#[test]
fn an_output_file_has_the_rights_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("data.csv", "1,2,3\n");
    assert_eq!(place.run("run data.csv -k 1 --out out.csv --quiet").status, 0);
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.csv"), mode("data.csv"));
}

#[test]
fn long_rows_of_a_file_are_answered_like_those_of_a_pipe_whatever_is_refused() {
    let place = Place::new();
    let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(600, 3, 0.1, 5).take(75).collect();
    // Rows beyond the norm bound: the first of a block, one in the middle, and two in succession.
    for row in [16, 25, 40, 41] {
        rows[row].iter_mut().for_each(|x| *x *= 1e3);
    }
    let mut text = table(&rows);
    let broken = text.lines().nth(53).unwrap().replacen(',', ",what,", 1);
    text = text.replace(text.lines().nth(53).unwrap(), &broken);
    place.write("data.csv", &text);
    let options = "-k 3 --learner tracking --norm-bound 100 --summary json";
    let without_time = |out: &str| {
        let mut summary: Value = serde_json::from_str(out).unwrap();
        _ = ["seconds", "rows_per_second"].map(|key| summary.as_object_mut().unwrap().remove(key).unwrap());
        summary
    };
    let file = place.run(&format!("run data.csv {options} --on-bad-row skip --out file.csv"));
    let pipe = place.feed(&format!("run - {options} --on-bad-row skip --out pipe.csv"), &text);
    assert_eq!((file.status, pipe.status), (0, 0), "{} {}", file.err, pipe.err);
    assert_eq!(place.read("file.csv").lines().count(), 1 + 75 - 5);
    assert_eq!(place.read("file.csv"), place.read("pipe.csv"));
    assert_eq!(without_time(&file.out), without_time(&pipe.out));
    assert_eq!(file.err.replace("data.csv", "standard input"), pipe.err);

    // The rows before a bad row in a block are learned before its error is reported.
    let refused = place.run(&format!("run data.csv {options} --on-bad-row fail --out -"));
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("line 18") && refused.err.contains("norm"), "{}", refused.err);
    assert_eq!(refused.out.lines().count(), 1 + 16);

    // Snapshots are saved in the middle of a block.
    let saving =
        place.run(&format!("run data.csv {options} --on-bad-row skip --out saved.csv --snapshot s --snapshot-every 7"));
    assert_eq!(saving.status, 0, "{}", saving.err);
    assert_eq!(place.read("file.csv"), place.read("saved.csv"));
}
