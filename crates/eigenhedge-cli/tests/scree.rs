//! Losses for every number of directions.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table, unhinted};
use eigenhedge::streams;

/// Returns the numbers in a line: k, online loss, share kept, loss in hindsight, share kept.
fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().filter_map(|cell| cell.parse().ok()).collect()
}

#[test]
fn losses_are_those_of_the_leader_and_of_the_best_subspace_for_every_k() {
    // With many columns, the leader stores eight directions in addition to the largest k.
    for (columns, rank) in [(6, ""), (40, "--max-rank 13")] {
        let place = Place::new();
        place.write("t.csv", table(&streams::iid(columns, 3, 0.2, 400, 2).rows));
        let outcome = place.run("scree t.csv --max-k 5 --share 0.9 --plot scree.svg");
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
        let lines: Vec<Vec<f64>> = outcome.out.lines().skip(1).take(5).map(numbers).collect();
        for line in &lines {
            let k = line[0] as usize;
            let run = place.run(&format!("run t.csv -k {k} --learner leader {rank} --summary json --quiet")).out;
            let summary: serde_json::Value = serde_json::from_str(&run).unwrap();
            let near = |found: f64, key: &str| (found - summary[key].as_f64().unwrap()).abs() <= 2e-4 * found.abs();
            assert!(near(line[3], "best_loss"), "{line:?}: {summary}");
            // Losses differ a little, because a leader with few directions adds random ones.
            let wanted = summary["expected_loss"].as_f64().unwrap();
            assert!((line[1] - wanted).abs() <= 0.05 * wanted, "{line:?}: {wanted}");
        }
        assert!(lines.windows(2).all(|pair| pair[0][1] > pair[1][1] && pair[0][3] > pair[1][3]), "{lines:?}");
        let fewest = lines.iter().find(|line| line[2] >= 90.0).map_or(f64::NAN, |line| line[0]);
        let advice = format!("try -k {fewest}: the fewest directions that keep 90 %");
        assert!(fewest.is_nan() || outcome.out.contains(&advice), "{}", outcome.out);
        assert!(place.read("scree.svg").contains("in hindsight"));
    }
}

#[test]
fn what_cannot_be_suggested_is_said() {
    let place = Place::new();
    place.write("t.csv", table(&streams::iid(6, 3, 0.2, 100, 2).rows));
    let out = place.run("scree t.csv --max-k 1 --share 0.999").out;
    assert!(out.contains("no k up to 1 keeps 99.9 % of the energy"), "{out}");
    let cases = [
        ("scree t.csv --share 2", 2, "must be a number from 0 to 1"),
        ("scree t.csv --max-k 0", 2, "0 is not in 1.."),
        ("scree t.csv --plot x.png", 2, "--plot writes SVG"),
        ("scree missing.csv", 1, "missing.csv: there is no such file"),
        (
            "monitor t.csv -k 0.95",
            2,
            "must be a whole number; `eigenhedge scree INPUT --share 0.95` finds the number that keeps this share",
        ),
        ("run t.csv -k two", 2, "must be a whole number"),
    ];
    for (command, status, sentence) in cases {
        let outcome = place.run(command);
        assert_eq!(outcome.status, status, "{command}: {}", outcome.err);
        assert!(unhinted(&outcome.err).contains(sentence), "{command}: {}", outcome.err);
    }
}
