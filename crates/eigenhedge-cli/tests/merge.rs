//! Models of parts of a table, merged into one.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::streams;
use serde_json::Value;

const OPTIONS: &str = "-k 2 --learner leader --quiet";

fn place() -> Place {
    let (place, rows) = (Place::new(), streams::iid(6, 2, 0.3, 300, 5).rows);
    place.write("all.csv", table(&rows));
    for (part, range) in [0..40, 40..41, 41..300].into_iter().enumerate() {
        place.write(&format!("{part}.csv"), table(&rows[range]));
    }
    place
}

fn numbers(place: &Place, command: &str) -> Vec<f64> {
    let outcome = place.run(command);
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    outcome.out.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_merged_model_is_that_of_the_whole_table() {
    let place = place();
    for name in ["all", "0", "1", "2"] {
        assert_eq!(place.run(&format!("run {name}.csv {OPTIONS} --snapshot {name}.eh")).status, 0);
    }
    let outcome = place.run("merge 2.eh 0.eh 1.eh --out merged.eh");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("read       300 rows of 6 numbers\n"), "{}", outcome.out);
    assert!(outcome.out.contains("without 3 first rows, each of which fixes the center of a part"), "{}", outcome.out);
    let wanted = numbers(&place, "transform all.eh all.csv");
    let found = numbers(&place, "transform merged.eh all.csv");
    wanted.iter().zip(&found).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
    let summary = place.run("merge 0.eh 1.eh 2.eh --out again.eh --summary json").out;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["rows"], &summary["uncharged_rows"]), (&Value::from(300), &Value::from(3)));
    // The merged model can be continued with another table, but it has no run to resume.
    assert_eq!(place.run("run 0.csv --start-from merged.eh --quiet --snapshot next.eh").status, 0);
    let outcome = place.run(&format!("run 0.csv {OPTIONS} --resume merged.eh"));
    assert_eq!(outcome.status, 1, "{}", outcome.err);
}

#[test]
fn learners_by_key_are_united() {
    let place = Place::new();
    let rows = streams::iid(6, 2, 0.3, 90, 5).rows;
    let lines = |range: std::ops::Range<usize>, keys: [&str; 2]| -> String {
        let line = |t: usize| {
            format!("{},{}\n", keys[t % 2], rows[t].iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        };
        "key,a,b,c,d,e,f\n".to_owned() + &range.map(line).collect::<String>()
    };
    place.write("0.csv", lines(0..40, ["pump", "fan"]));
    place.write("1.csv", lines(40..90, ["fan", "motor"]));
    for name in ["0", "1"] {
        assert_eq!(place.run(&format!("run {name}.csv {OPTIONS} --group-by key --snapshot {name}.eh")).status, 0);
    }
    let outcome = place.run("merge 0.eh 1.eh --out both.eh");
    assert_eq!((outcome.status, outcome.out.as_str(), outcome.err.as_str()), (0, "3 models, 90 rows\n", ""));
    assert_eq!(place.run("merge both.eh 0.eh --out again.eh --summary json").out, "{\"groups\":3,\"rows\":130}\n");
    assert!(place.run("merge 0.eh 0.csv --out no.eh").err.contains("0.csv"));
}

#[test]
fn what_cannot_be_merged_is_refused_and_nothing_is_written() {
    let place = place();
    let save = |name: &str, options: &str| {
        assert_eq!(place.run(&format!("run 0.csv {options} --quiet --snapshot {name}.eh")).status, 0);
    };
    save("leader", "-k 2 --learner leader");
    save("three", "-k 3 --learner leader");
    save("auto", "-k 2");
    save("fewer", "-k 2 --learner leader --exclude x0");
    save("scaled", "-k 2 --learner leader --standardize running");
    place.write("damaged.eh", "nothing");
    let cases = [
        ("leader.eh three.eh", "three.eh cannot be merged: k must be 2 as in the first model, got 3"),
        (
            "auto.eh auto.eh",
            "auto.eh cannot be merged: the learner must be one of leader, anchored, product-sets, got auto",
        ),
        ("leader.eh auto.eh", "auto.eh cannot be merged: the learner must be leader as in the first model, got auto"),
        ("leader.eh fewer.eh", "fewer.eh cannot be merged: a row of the other model must have 6 entries, got 5"),
        ("scaled.eh scaled.eh", "each part has divided its rows by scales of its own"),
        ("leader.eh damaged.eh", "damaged.eh: is not a file saved by eigenhedge"),
        ("leader.eh missing.eh", "missing.eh cannot be read"),
    ];
    for (models, sentence) in cases {
        let outcome = place.run(&format!("merge {models} --out out.eh"));
        assert_eq!(outcome.status, 1);
        assert!(outcome.err.contains(sentence), "{}", outcome.err);
        assert!(!place.path("out.eh").exists());
    }
    assert_eq!(place.run("merge leader.eh --out out.eh").status, 2);
}
