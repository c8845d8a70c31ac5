//! Kernels without `--gamma`, on columns with values in the thousands.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::Random;

/// Returns rows with standard deviation 200 around a level. The last column depends on the first.
fn rows(level: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut row = || (0..3).map(|_| level + 200.0 * random.normal()).collect::<Vec<f64>>();
    let with_target = |mut row: Vec<f64>| {
        row.push((row[0] / 300.0).sin());
        row
    };
    (0..120).map(|_| with_target(row())).collect()
}

fn ok(place: &Place, arguments: &str) -> (String, String) {
    let outcome = place.run(arguments);
    assert_eq!(outcome.status, 0, "{arguments}: {}", outcome.err);
    (outcome.out, outcome.err)
}

#[test]
fn without_gamma_rows_of_any_unit_are_related() {
    let place = Place::new();
    place.write("a.csv", table(&rows(1000.0, 1)));
    place.write("b.csv", table(&rows(1300.0, 2)));
    let (out, err) = ok(&place, "mmd a.csv b.csv");
    assert!(out.contains("p-value      0.0050"), "{out}");
    assert!(err.contains("--gamma") && err.contains("from the scale of the first rows"), "{err}");
    // If all rows were unrelated, the share of the first component would be 1/120.
    let (out, _) = ok(&place, "kernel-pca a.csv -k 2 --columns 0,1,2");
    let share: f64 = out.lines().nth(1).unwrap().rsplit_once(' ').unwrap().1.trim_end_matches('%').parse().unwrap();
    assert!(share > 5.0, "{out}");
    let (out, _) = ok(&place, "kernel-ridge a.csv --target 3 --alpha 0.01");
    let predictions = out.lines().skip(1).map(|line| line.split_once(',').unwrap().0.parse::<f64>().unwrap());
    let error = predictions.zip(rows(1000.0, 1)).map(|(found, row)| (found - row[3]).abs()).fold(0.0, f64::max);
    assert!(error < 0.1, "{error}");
    // A message reports a gamma that does not fit.
    for (gamma, word) in [("1", "nearly the identity"), ("1e-12", "nearly constant")] {
        let (_, err) = ok(&place, &format!("kernel-pca a.csv -k 2 --gamma {gamma}"));
        assert!(err.contains(word) && !err.contains("first rows"), "{err}");
    }
}

#[test]
fn a_run_computes_gamma_once_and_saves_it() {
    let place = Place::new();
    let all = table(&rows(1000.0, 1));
    place.write("a.csv", &all);
    for kernel in ["rbf", "matern32", "laplacian"] {
        let options = format!("-k 2 --kernel {kernel} --learner leader --budget 30");
        let (_, err) = ok(&place, &format!("run a.csv {options} --out whole.csv --snapshot whole.snap"));
        assert!(err.contains("from the scale of the first rows"), "{kernel}: {err}");
        // Further rows do not change the saved gamma.
        place.write("b.csv", &all);
        ok(&place, &format!("run b.csv {options} --out part.csv --snapshot part.snap"));
        let more: String = table(&rows(5.0, 3)).lines().skip(1).map(|line| format!("{line}\n")).collect();
        place.write("b.csv", format!("{all}{more}"));
        ok(&place, &format!("run b.csv {options} --out part.csv --resume part.snap --snapshot part.snap"));
        assert!(place.read("part.csv").starts_with(&place.read("whole.csv")));
        let gamma = |file: &str| {
            let told: serde_json::Value =
                serde_json::from_str(&ok(&place, &format!("inspect {file} --summary json")).0).unwrap();
            told["options"].clone()
        };
        assert_eq!(gamma("part.snap"), gamma("whole.snap"));
    }
    let outcome = place.feed("run - -k 2 --kernel rbf", &all);
    assert!(outcome.err.contains("--gamma is one over the number of columns"), "{}", outcome.err);
}
