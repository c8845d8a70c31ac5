//! Tables in any unit and with any offset. Losses scale with the square of the unit. An offset does not change the
//! losses after the first row.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::streams;
use serde_json::Value;

fn rows(factor: f64, shift: f64) -> Vec<Vec<f64>> {
    let place = |i: usize, x: f64| factor * x + shift * (1.5 + i as f64).cos().round();
    let rows = streams::switching(5, 2, 2, 70, 3).into_iter();
    rows.map(|row| row.into_iter().enumerate().map(|(i, x)| place(i, x + 0.1)).collect()).collect()
}

fn place(factor: f64, shift: f64) -> Place {
    let place = Place::new();
    place.write("data.csv", table(&rows(factor, shift)));
    place
}

fn text(place: &Place, arguments: &str) -> String {
    let outcome = place.run(arguments);
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{arguments}");
    outcome.out
}

fn column(text: &str, name: &str) -> Vec<f64> {
    let at = text.lines().next().unwrap().split(',').position(|cell| cell == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

fn assert_near(a: f64, b: f64, size: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * size, "{what}: {a} against {b}");
}

/// Returns the names and losses in the table of `compare`, sorted by name.
fn contenders(text: &str) -> Vec<(String, f64)> {
    let lines = text.lines().skip(1).filter(|line| line.len() > 48 && !line.starts_with("charged"));
    let mut all: Vec<(String, f64)> =
        lines.map(|line| (line[..34].trim().to_owned(), line[34..48].trim().parse().unwrap())).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn every_command_takes_tables_in_any_unit() {
    let commands = |place: &Place| {
        let summary: Value = serde_json::from_str(&text(
            place,
            "run data.csv -k 2 --out out.csv --snapshot model.snap --report page.html --plot plot.svg --segments 2 \
             --summary json --quiet",
        ))
        .unwrap();
        let compared = contenders(&text(place, "compare data.csv -k 2 --report compare.html --plot compare.svg"));
        text(place, "inspect model.snap");
        let inspected: Value = serde_json::from_str(&text(place, "inspect model.snap --summary json")).unwrap();
        text(place, "transform model.snap data.csv --out z.csv");
        let pca = text(place, "pca data.csv -k 2");
        let kernel = text(place, "kernel-pca data.csv -k 2 --kernel linear");
        assert!(!pca.contains("NaN") && !kernel.contains("NaN"), "{pca}{kernel}");
        (
            summary,
            compared,
            inspected,
            column(&place.read("out.csv"), "expected_loss"),
            column(&place.read("z.csv"), "z0"),
        )
    };
    let (summary, compared, _, losses, coordinates) = commands(&place(1.0, 0.0));
    let total = summary["expected_loss"].as_f64().unwrap();
    for factor in [1e-150, 1e-75, 1e75, 1e150] {
        let unit = factor * factor;
        let (scaled, contenders, _, found, turned) = commands(&place(factor, 0.0));
        for key in ["expected_loss", "loss", "best_loss", "regret", "bound", "first_row_loss"] {
            let (a, b) = (summary[key].as_f64().unwrap(), scaled[key].as_f64().unwrap() / unit);
            assert_near(a, b, a.abs().max(total), &format!("{key} at {factor:e}"));
        }
        assert_eq!(summary["bound_holds"], scaled["bound_holds"]);
        for (a, b) in losses.iter().zip(&found) {
            assert_near(*a, b / unit, total, "loss");
        }
        for (a, b) in coordinates.iter().zip(&turned) {
            assert_near(a.abs(), b.abs() / factor, 1e3, "coordinate");
        }
        for ((name, a), (other, b)) in compared.iter().zip(&contenders) {
            assert_eq!(name, other);
            // The printed numbers have five digits, or four after the decimal point.
            assert!((a - b / unit).abs() <= 2e-4 * a + 1e-4, "{name} at {factor:e}: {a} against {b}");
        }
    }
}

#[test]
fn rows_that_cannot_be_squared_are_refused_with_a_sentence() {
    for command in
        ["run data.csv -k 2", "compare data.csv -k 2", "pca data.csv -k 2", "kernel-pca data.csv -k 2 --kernel linear"]
    {
        for (factor, sentence) in [(1e-170, "squared norm"), (1e157, "squared norm")] {
            let outcome = place(factor, 0.0).run(command);
            assert_eq!(outcome.status, 1, "{command}, {factor:e}: {}", outcome.err);
            let fits = outcome.err.contains(sentence) || outcome.err.contains("kernel of the row");
            assert!(fits && outcome.err.lines().count() == 1, "{command}, {factor:e}: {}", outcome.err);
        }
    }
}

#[test]
fn where_a_table_lies_changes_no_later_answer() {
    let answers = |place: &Place| {
        let summary = text(place, "run data.csv -k 2 --out out.csv --summary json --quiet");
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let compared = contenders(&text(place, "compare data.csv -k 2"));
        (summary, compared, column(&place.read("out.csv"), "expected_loss"))
    };
    let (summary, compared, losses) = answers(&place(1.0, 0.0));
    for shift in [100.0, 1e6, -1e6] {
        let (moved, contenders, found) = answers(&place(1.0, shift));
        for key in ["expected_loss", "loss", "best_loss", "bound"] {
            let (a, b) = (summary[key].as_f64().unwrap(), moved[key].as_f64().unwrap());
            assert_near(a, b, a, &format!("{key} at {shift}"));
        }
        assert!(moved["first_row_loss"].as_f64().unwrap() > 1e3, "the first row is told by itself");
        assert_eq!(losses.len(), found.len());
        for (a, b) in losses.iter().zip(&found).skip(1) {
            assert_near(*a, *b, 1.0, "loss");
        }
        for ((name, a), (other, b)) in compared.iter().zip(&contenders) {
            assert_eq!(name, other);
            assert!((a - b).abs() <= 2e-4 * a + 1e-4, "{name} at {shift}: {a} against {b}");
        }
    }
}

#[test]
fn compare_charges_everybody_for_the_same_rows_and_says_which() {
    let place = place(1.0, 50.0);
    let out = text(&place, "compare data.csv -k 2");
    assert!(out.contains("charged: 40 rows, from row 100 on: the PCA is fitted to the 100 before"), "{out}");
    // Rows from the hundredth on are in the second subspace, which a learner must have found.
    assert!(contenders(&out).iter().all(|(_, loss)| *loss < 60.0), "{out}");
    let out = text(&place, "compare data.csv -k 2 --warm-up 500");
    assert!(out.contains("charged: 139 rows, from row 1 on: row 0 fixes the center"), "{out}");
    assert!(!out.contains("PCA of the first"), "{out}");
    let out = text(&place, "compare data.csv -k 2 --warm-up 500 --center none");
    assert!(out.contains("charged: 140 rows;"), "{out}");
}
