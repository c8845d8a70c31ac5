//! Saved models on other tables: scale, column names, reconstruction, and export.
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use eigenhedge::batch::{Center, Pca};
use eigenhedge::{Model, streams};
use serde_json::Value;

const NAMES: [&str; 5] = ["flow", "temp", "p, bar", "level", "speed"];

fn rows() -> Vec<Vec<f64>> {
    let mut rows = streams::iid(5, 2, 0.2, 120, 3).rows;
    let units = [(1.0, 0.0), (100.0, 20.0), (1e-3, 1.0), (5.0, -3.0), (3000.0, 1e4)];
    rows.iter_mut().for_each(|row| row.iter_mut().zip(units).for_each(|(x, (unit, offset))| *x = unit * *x + offset));
    rows
}

/// Returns a table of these columns, given by name and index. Without an index, it holds text.
fn csv(rows: &[Vec<f64>], columns: &[(&str, Option<usize>)]) -> String {
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let mut text = line(columns.iter().map(|(name, _)| quoted(name)).collect());
    for row in rows {
        let cell =
            |(_, place): &(&str, Option<usize>)| place.map_or("text".into(), |place| format!("{:?}", row[place]));
        text += &line(columns.iter().map(cell).collect());
    }
    text
}

fn all_columns() -> Vec<(&'static str, Option<usize>)> {
    NAMES.into_iter().zip((0..5).map(Some)).collect()
}

fn numbers(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

fn place() -> Place {
    let place = Place::new();
    place.write("t.csv", csv(&rows(), &all_columns()));
    place
}

fn ok(place: &Place, arguments: &str) -> String {
    let outcome = place.run(arguments);
    assert_eq!(outcome.status, 0, "{arguments}: {}", outcome.err);
    outcome.out
}

#[test]
fn rows_come_back_as_from_pca_of_standardized_columns() {
    let rows = rows();
    let count = rows.len() as f64;
    let mean: Vec<f64> = (0..5).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / count).collect();
    let spread = |i: usize| (rows.iter().map(|row| (row[i] - mean[i]).powi(2)).sum::<f64>() / count).sqrt();
    let spread: Vec<f64> = (0..5).map(spread).collect();
    let standard: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..5).map(|i| (row[i] - mean[i]) / spread[i]).collect()).collect();
    let pca = Pca::fit(&standard, 2, Center::Mean).unwrap();
    let place = place();
    for learner in ["leader", "anchored"] {
        ok(&place, &format!("run t.csv -k 2 --learner {learner} --standardize warmup:120 --snapshot m.snap --quiet"));
        ok(&place, "transform m.snap t.csv --out z.csv");
        ok(&place, "reconstruct m.snap z.csv --out back.csv");
        let text = place.read("back.csv");
        assert_eq!(text.lines().next(), Some("flow,temp,\"p, bar\",level,speed"));
        let (back, embedded) = (numbers(&text), numbers(&place.read("z.csv")));
        for t in 0..rows.len() {
            let loss = pca.loss(&standard[t]).unwrap();
            assert!((embedded[t][1] - loss).abs() < 1e-6, "{learner}, row {t}: {} {loss}", embedded[t][1]);
            let wanted = pca.inverse_transform(&pca.transform(&standard[t]).unwrap()).unwrap();
            for i in 0..5 {
                let wanted = mean[i] + spread[i] * wanted[i];
                assert!((back[t][i] - wanted).abs() < 1e-6 * spread[i], "{learner}, row {t}, column {i}");
            }
        }
    }
}

#[test]
fn columns_are_found_by_name_wherever_they_stand() {
    let place = place();
    ok(&place, "run t.csv -k 2 --standardize running --snapshot m.snap --quiet");
    let wanted = ok(&place, "transform m.snap t.csv");
    let mut moved: Vec<_> = all_columns().into_iter().rev().collect();
    place.write("reversed.csv", csv(&rows(), &moved));
    moved.insert(2, ("note", None));
    moved.insert(0, ("id", Some(1)));
    place.write("more.csv", csv(&rows(), &moved));
    let objects: String = rows()
        .iter()
        .map(|row| {
            let cell = |i: usize| format!("{:?}:{:?}", NAMES[i], row[i]);
            let cells: Vec<String> = [3, 1, 4, 0, 2].into_iter().map(cell).collect();
            format!("{{\"note\":\"x\",{}}}\n", cells.join(","))
        })
        .collect();
    place.write("keys.jsonl", objects);
    let bare: String = place.read("t.csv").lines().skip(1).map(|line| line.to_owned() + "\n").collect();
    place.write("bare.csv", bare);
    for input in ["reversed.csv", "more.csv", "keys.jsonl", "bare.csv", "more.csv --exclude id,note"] {
        assert_eq!(ok(&place, &format!("transform m.snap {input}")), wanted, "{input}");
    }
    // A table without names gives a model without names.
    ok(&place, "run bare.csv -k 2 --standardize running --snapshot bare.snap --quiet");
    assert_eq!(ok(&place, "transform bare.snap t.csv"), wanted);
    let back = ok(&place, "transform bare.snap t.csv --out z.csv") + &ok(&place, "reconstruct bare.snap z.csv");
    assert!(back.starts_with("x0,x1,x2,x3,x4\n"), "{back}");
}

#[test]
fn coordinates_may_stand_in_any_order() {
    let place = place();
    ok(&place, "run t.csv -k 2 --snapshot m.snap --quiet");
    ok(&place, "transform m.snap t.csv --out z.csv");
    let swapped = ok(&place, "reconstruct m.snap z.csv");
    let lines = numbers(&place.read("z.csv"));
    place.write("y.csv", lines.iter().fold("z1,z0\n".to_owned(), |text, z| text + &format!("{:?},{:?}\n", z[3], z[2])));
    assert_eq!(ok(&place, "reconstruct m.snap y.csv"), swapped);
}

/// Format, delimiter, decimal sign and missing cells are properties of a table, not of a model.
#[test]
fn a_saved_model_or_monitor_takes_a_table_of_another_form_and_with_gaps() {
    let place = place();
    let rows = streams::iid(3, 1, 0.3, 300, 5).rows;
    let table = |rows: &[Vec<f64>], delimiter: &str, decimal: &str, gap: Option<usize>| {
        let line = |(t, row): (usize, &Vec<f64>)| {
            let cell = |(j, x): (usize, &f64)| {
                if gap == Some(t) && j == 1 { String::new() } else { format!("{x:?}").replace('.', decimal) }
            };
            row.iter().enumerate().map(cell).collect::<Vec<_>>().join(delimiter)
        };
        let lines: Vec<String> = rows.iter().enumerate().map(line).collect();
        format!("a{delimiter}b{delimiter}c\nLINES\n").replace("LINES", &lines.join("\n"))
    };
    place.write("first.csv", table(&rows[..200], ",", ".", None));
    place.write("plain.csv", table(&rows[200..], ",", ".", None));
    place.write("other.csv", table(&rows[200..], ";", ",", None));
    place.write("gaps.csv", table(&rows[200..], "|", ".", Some(40)));
    for (command, options) in [("run", "-k 1"), ("monitor", "--warm-up 100")] {
        ok(&place, &format!("{command} first.csv {options} --snapshot s.eh -q"));
        let answers = |input: &str| {
            ok(&place, &format!("{command} {input} --start-from s.eh -q --answers-as csv --out z.csv"));
            place.read("z.csv")
        };
        assert_eq!(answers("other.csv"), answers("plain.csv"), "{command}");
        assert_eq!(answers("other.csv --delimiter ; --decimal ,"), answers("plain.csv"), "{command}");
        let (skipped, filled) = (answers("gaps.csv --missing skip"), answers("gaps.csv --missing fill"));
        assert_ne!(skipped, filled, "{command}");
        let failed = place.run(&format!("{command} gaps.csv --start-from s.eh --missing fail"));
        assert!(failed.err.contains("gaps.csv, line 42, column 1 (\"b\")"), "{}", failed.err);
        // A model that has filled cells in must keep `--missing fill`.
        ok(&place, &format!("{command} gaps.csv --start-from s.eh --missing fill --snapshot filled.eh -q"));
        let back = place.run(&format!("{command} plain.csv --start-from filled.eh --missing skip"));
        match command {
            "run" => assert!(back.err.contains("filled.eh: missing must stay fill"), "{}", back.err),
            _ => assert_eq!(back.status, 0, "{}", back.err),
        }
    }
}

#[test]
fn a_model_goes_on_with_the_other_half_bit_for_bit() {
    let place = place();
    let rows = rows();
    place.write("a.csv", csv(&rows[..50], &all_columns()));
    let reversed: Vec<_> = all_columns().into_iter().rev().collect();
    place.write("b.csv", csv(&rows[50..], &reversed));
    for options in [
        "--standardize running",
        "--standardize warmup:40 --learner tracking --seed 7",
        "--learner leader --segments 2",
        "--kernel rbf --gamma 0.1 --budget 20 --standardize running",
    ] {
        ok(&place, &format!("run t.csv -k 2 {options} --out whole.csv --snapshot whole.snap --quiet"));
        ok(&place, &format!("run a.csv -k 2 {options} --out first.csv --snapshot half.snap --quiet"));
        // Options that are given again must match.
        for typed in ["", options] {
            let arguments = format!("run b.csv {typed} --start-from half.snap --out second.csv --summary json");
            let summary: Value =
                serde_json::from_str(&ok(&place, &format!("{arguments} --snapshot end.snap"))).unwrap();
            assert_eq!(summary["rows"], 120, "{options}");
            let rate = 70.0 / summary["seconds"].as_f64().unwrap();
            assert!((summary["rows_per_second"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9, "{summary}");
            let answers =
                |name: &str| numbers(&place.read(name)).iter().map(|row| row[1..].to_vec()).collect::<Vec<_>>();
            assert_eq!(answers("second.csv"), answers("whole.csv")[50..], "{options}");
            let read = |name: &str| Model::from_bytes(&std::fs::read(place.path(name)).unwrap()).unwrap();
            let (mut end, mut whole) = (read("end.snap"), read("whole.snap"));
            [&mut end, &mut whole].into_iter().for_each(|model| model.resume_state.clear());
            assert!(end == whole, "{options}");
            // The run over the second table can be resumed.
            ok(&place, &format!("{arguments} --resume end.snap"));
        }
    }
}

#[test]
fn what_does_not_fit_a_model_is_refused_with_a_sentence() {
    let place = place();
    let rows = rows();
    ok(&place, "run t.csv -k 2 --standardize running --out answers.csv --snapshot m.snap --quiet");
    ok(&place, "run t.csv -k 2 --out answers.jsonl --quiet");
    ok(&place, "run t.csv -k 2 --kernel rbf --gamma 0.1 --snapshot kernel.snap --quiet");
    ok(&place, "transform m.snap t.csv --out z.csv");
    let mut renamed = all_columns();
    renamed[1].0 = "Temp";
    place.write("renamed.csv", csv(&rows, &renamed));
    place.write("dropped.csv", csv(&rows, &all_columns()[2..]));
    let mut twice = all_columns();
    twice.push(("flow", Some(3)));
    place.write("twice.csv", csv(&rows, &twice));
    place.write("bare.csv", "1,2,3\n4,5,6\n");
    place.write("huge.csv", csv(&[vec![1e308, -1e308, 0.0, 0.0, 0.0]], &all_columns()));
    place.write("gap.csv", "z0,z2\n1,2\n");
    place.write("flat.csv", "z0\n1\n");
    let answers = "must contain coordinates of `transform`, got the results of `run`, whose rows have different subspaces; \
                   `transform MODEL TABLE` computes coordinates for this model, and `run --reconstruct FILE` writes the \
                   projection of each row";
    let no_scale =
        |command: &str| format!("--standardize has no effect with {command}: the model holds the scale of its columns");
    let cases = [
        (
            "transform m.snap renamed.csv",
            1,
            "renamed.csv: must have the same columns, but \"temp\" is missing; did you mean \"Temp\"?".to_owned(),
        ),
        (
            "transform m.snap dropped.csv",
            1,
            "dropped.csv: must have the same columns, but \"flow\" and 1 more is missing".to_owned(),
        ),
        (
            "transform m.snap t.csv --exclude flow",
            1,
            "t.csv: must have the same columns, but \"flow\" is missing".to_owned(),
        ),
        (
            "transform m.snap twice.csv",
            1,
            "twice.csv: the column name \"flow\" must be unique, but the table has it more than once; use its position"
                .to_owned(),
        ),
        ("transform m.snap bare.csv", 1, "bare.csv: must have 5 selected columns like the model, got 3".to_owned()),
        ("transform m.snap t.csv --standardize running", 2, no_scale("transform")),
        ("reconstruct m.snap z.csv --standardize none", 2, no_scale("reconstruct")),
        ("reconstruct m.snap answers.csv", 1, format!("answers.csv: {answers}")),
        ("reconstruct m.snap answers.csv --columns z0,z1", 1, format!("answers.csv: {answers}")),
        ("reconstruct m.snap answers.jsonl", 1, format!("answers.jsonl: {answers}")),
        ("reconstruct m.snap gap.csv", 1, "gap.csv: must have the coordinates z0 to z1".to_owned()),
        ("reconstruct m.snap flat.csv", 1, "flat.csv: must have 2 coordinates like the model, got 1".to_owned()),
        (
            "export m.snap --out m.onnx",
            1,
            "m.onnx: must end in .json, .csv or .npz; .onnx is written by eigenhedge.export in Python".to_owned(),
        ),
        (
            "export kernel.snap --out m.json",
            1,
            "kernel.snap: must be a model without a kernel to be exported; `transform` can use it".to_owned(),
        ),
        ("run t.csv --start-from m.snap -k 3", 1, "-k must be as in m.snap, 2, got 3".to_owned()),
        ("run t.csv --start-from m.snap --seed 3", 1, "--seed must be as in m.snap, 0, got 3".to_owned()),
        (
            "run t.csv --start-from m.snap --learner leader",
            1,
            "--learner must be as in m.snap, auto, got leader".to_owned(),
        ),
        (
            "run t.csv --start-from m.snap --standardize none",
            1,
            "--standardize must be as in m.snap, running, got none".to_owned(),
        ),
        ("run t.csv --start-from m.snap --forget 0.9", 2, "--forget has no effect with the learner auto".to_owned()),
        (
            "run renamed.csv --start-from m.snap",
            1,
            "renamed.csv: must have the same columns, but \"temp\" is missing; did you mean \"Temp\"?".to_owned(),
        ),
        (
            "run bare.csv --start-from m.snap",
            1,
            "bare.csv: must have 5 selected columns like the model, got 3".to_owned(),
        ),
        (
            "run t.csv --start-from t.csv",
            1,
            "t.csv: is not a file saved by eigenhedge: --snapshot writes such files".to_owned(),
        ),
    ];
    for (arguments, status, sentence) in cases {
        let outcome = place.run(arguments);
        assert_eq!((outcome.status, outcome.err), (status, format!("eigenhedge: {sentence}\n")), "{arguments}");
    }
    let outcome = place.run("transform m.snap huge.csv");
    assert!(outcome.err.starts_with("eigenhedge: huge.csv, line 2: "), "{}", outcome.err);
    assert_eq!(place.run("run t.csv -k 0.5 --start-from m.snap").status, 2, "the model has its number");
}

#[cfg(feature = "parquet")]
#[test]
fn answers_of_a_run_are_refused_as_coordinates_in_parquet_too() {
    let place = place();
    ok(&place, "run t.csv -k 2 --out answers.parquet --snapshot m.snap --quiet");
    let outcome = place.run("reconstruct m.snap answers.parquet");
    assert!(outcome.status == 1 && outcome.err.contains("got the results of `run`"), "{}", outcome.err);
}

#[test]
fn an_exported_model_gives_the_same_coordinates() {
    let place = place();
    ok(&place, "run t.csv -k 2 --standardize running --snapshot m.snap --quiet");
    ok(&place, "export m.snap --out m.json");
    let map: Value = serde_json::from_str(&place.read("m.json")).unwrap();
    let columns: Vec<String> = serde_json::from_value(map["columns"].clone()).unwrap();
    assert_eq!(columns, NAMES);
    let list = |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
    let (mean, scale) = (list(&map["mean"]), list(&map["scale"]));
    let embedded = numbers(&ok(&place, "transform m.snap t.csv"));
    for (row, answer) in rows().iter().zip(&embedded) {
        for j in 0..2 {
            let component = list(&map["components"][j]);
            let z: f64 = (0..5).map(|i| component[i] * (row[i] - mean[i]) / scale[i]).sum();
            assert!((z - answer[2 + j]).abs() < 1e-9, "{z} {}", answer[2 + j]);
        }
    }
    let inspected: Value = serde_json::from_str(&ok(&place, "inspect m.snap --summary json")).unwrap();
    for key in ["columns", "mean", "scale", "components"] {
        assert_eq!(inspected[key], map[key], "{key}");
    }
    assert_eq!(inspected["standardize"], "running");
    let text = ok(&place, "inspect m.snap");
    assert!(text.contains("columns    flow, temp, p, bar, level, speed\n"), "{text}");
    assert!(
        text.contains("losses are in squared standard deviations") && !text.contains(" 0.0 % of the energy"),
        "{text}"
    );
}
