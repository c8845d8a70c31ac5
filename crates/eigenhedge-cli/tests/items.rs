//! Runs over strings, sets and rankings. Also runs of `experts` and `pair`.
#![allow(clippy::unwrap_used)]

use crate::common::Place;

fn lines(count: usize) -> String {
    let line = |i: usize| match i % 3 {
        0 => format!("disk sd{} failed at sector {}\n", i % 5, 37 * i),
        1 => format!("user u{} logged in\n", i % 7),
        _ => format!("GET /items/{i} 200\n"),
    };
    (0..count).map(line).collect()
}

fn ok(place: &Place, arguments: &str) -> String {
    let outcome = place.run(arguments);
    assert_eq!(outcome.status, 0, "{arguments}: {}", outcome.err);
    outcome.out
}

#[test]
fn a_run_over_a_log_is_resumed_and_its_model_used() {
    let place = Place::new();
    place.write("all.log", lines(120));
    place.write("a.log", lines(70));
    let options = "-k 2 --kernel spectrum --items words --substring 1 --budget 20 --quiet";
    ok(&place, &format!("run all.log {options} --out whole.csv --snapshot whole.snap"));
    ok(&place, &format!("run a.log {options} --out out.csv --snapshot run.snap"));
    place.write("a.log", lines(120));
    ok(&place, &format!("run a.log {options} --out out.csv --resume run.snap --snapshot run.snap"));
    assert_eq!(place.read("out.csv"), place.read("whole.csv"));
    assert_eq!(ok(&place, "transform run.snap all.log"), ok(&place, "transform whole.snap all.log"));
    place.write("b.log", lines(10));
    ok(&place, "run b.log --start-from run.snap --snapshot on.snap --quiet");
    let outcome =
        place.run(&format!("run a.log {} --out out.csv --resume run.snap", options.replace("words", "chars")));
    assert!(outcome.err.contains("--items must be as in run.snap, words, got chars"), "{}", outcome.err);
    place.write("z.csv", "z0,z1\n0.1,0.2\n");
    assert!(place.run("reconstruct run.snap z.csv").err.contains("look for the best of several candidates"));
}

#[test]
fn sets_stand_in_a_column_of_texts_or_arrays() {
    let place = Place::new();
    place.write("a.jsonl", "{\"s\":[\"a\",\"b\"],\"y\":1}\n{\"s\":[\"b\",\"c\"],\"y\":2}\n{\"s\":[\"d\"],\"y\":5}\n");
    place.write("a.csv", "y,s\n1,a b\n2,b c\n5,d\n");
    let run = |file: &str, command: &str| ok(&place, &format!("{command} {file} --columns s --kernel jaccard"));
    for command in ["run -k 1 --out - --quiet", "kernel-pca -k 1", "kernel-ridge --target y"] {
        assert_eq!(run("a.jsonl", command), run("a.csv", command), "{command}");
    }
    let prediction: f64 = run("a.csv", "kernel-ridge --alpha 1e-9 --target y")
        .lines()
        .nth(3)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((prediction - 5.0).abs() < 1e-6, "{prediction}");
    let refusals = [
        ("run a.csv -k 1 --kernel jaccard", "must have one column: name it with --columns; 2 are selected"),
        (
            "run a.csv -k 1 --kernel jaccard --columns s --standardize running",
            "--standardize has no effect with a kernel of",
        ),
        ("run a.csv -k 1 --kernel rbf --columns y --items words", "--items has no effect with the kernel rbf"),
        ("kernel-ridge a.csv --columns y --target s --kernel jaccard", "the target must be a number, got \"a b\""),
    ];
    for (arguments, sentence) in refusals {
        let outcome = place.run(arguments);
        assert!(outcome.status > 0 && outcome.err.contains(sentence), "{arguments}: {}", outcome.err);
    }
}

#[test]
fn two_tables_are_told_apart_or_not() {
    let place = Place::new();
    ok(&place, "make iid --dim 5 --rows 120 --seed 1 --out a.csv");
    ok(&place, "make iid --dim 5 --rows 100 --seed 2 --out b.csv");
    let p_value = |arguments: &str| -> f64 {
        let told: serde_json::Value =
            serde_json::from_str(&ok(&place, &format!("mmd {arguments} --summary json"))).unwrap();
        told["p_value"].as_f64().unwrap()
    };
    assert_eq!(p_value("a.csv b.csv --gamma 1"), 1.0 / 200.0);
    assert_eq!(p_value("a.csv a.csv"), 1.0);
    // Columns are found by name.
    let (a, b) = (place.read("a.csv"), place.read("b.csv"));
    let halves = |text: &str| -> [String; 2] {
        let (header, rows) = text.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        [&rows[..40], &rows[40..]].map(|rows| format!("{header}\n{}\n", rows.join("\n")))
    };
    let [first, second] = halves(&a);
    let reversed = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    place.write("first.csv", first);
    place.write("reversed.csv", second.lines().map(reversed).collect::<String>());
    place.write("second.csv", second);
    let straight = p_value("first.csv second.csv --splits 99 --seed 3");
    assert!(straight > 0.05);
    assert_eq!(straight, p_value("first.csv reversed.csv --splits 99 --seed 3"));
    assert!(ok(&place, "mmd first.csv second.csv").contains("read         40 and 80 rows of 5 numbers"));
    place.write("monday.log", lines(60));
    place.write("tuesday.log", lines(60).replace("failed", "is well").replace("logged in", "was refused"));
    assert!(p_value("monday.log tuesday.log --kernel spectrum --items words --substring 1") < 0.05);
    place.write(
        "narrow.csv",
        b.lines().map(|line| line[..line.rfind(',').unwrap()].to_owned() + "\n").collect::<String>(),
    );
    place.write("empty.csv", "x0,x1,x2,x3,x4\n");
    for (arguments, sentence) in [
        ("mmd a.csv narrow.csv", "narrow.csv: must have the same columns, but \"x4\" is missing"),
        (
            "mmd narrow.csv a.csv --no-header --on-bad-row skip",
            "must have 4 selected columns like the first table, got 5",
        ),
        ("mmd a.csv b.csv --standardize running", "each table would get a scale of its own"),
        ("mmd a.csv b.csv --splits 0", "invalid value '0' for '--splits <N>'"),
        ("mmd a.csv empty.csv", "empty.csv: must hold at least one row, got only a header"),
        ("mmd a.csv b.csv --kernel none", "invalid value"),
    ] {
        let outcome = place.run(arguments);
        assert!(outcome.status > 0 && outcome.err.contains(sentence), "{arguments}: {}", outcome.err);
    }
}

#[test]
fn rankings_are_rows_of_distinct_numbers() {
    let place = Place::new();
    place.write("a.csv", "a,b,c\n1,2,3\n1,3,2\n3,2,1\n");
    place.write("b.csv", "a,b,c\n1,20,300\n1,30,2\n3,2,1.5\n");
    let run = |file: &str| ok(&place, &format!("run {file} -k 1 --kernel kendall --out - --quiet"));
    assert_eq!(run("a.csv"), run("b.csv"));
    place.write("c.csv", "a,b,c\n1,2,2\n");
    assert!(
        place.run("run c.csv -k 1 --kernel mallows").err.contains("unlike those before it, to be a ranking, got 2")
    );
}

#[test]
fn experts_and_pairs_have_all_their_learners_and_theorems() {
    let place = Place::new();
    let rows: String =
        (0..80).map(|i| format!("{},{},{}\n", i % 2, (i % 3) as f64 / 2.0, (i % 5) as f64 / 4.0)).collect();
    place.write("l.csv", format!("a,b,c\n{rows}"));
    for (options, bound) in [
        ("--learner capped-hedge", "(JMLR Theorem 3): it holds"),
        ("--learner product-sets", "(JMLR section 4.1): it holds"),
        ("--learner leader", "none: no theorem covers the learner leader"),
        ("--learner perturbed-leader --out out.csv", "none: no theorem covers the learner perturbed-leader"),
        ("--mixing past-average", "(JMLR Theorem 3, with the price of mixing): it holds"),
    ] {
        let out = ok(&place, &format!("experts l.csv -k 1 {options}"));
        assert!(out.contains(bound), "{options}: {out}");
    }
    assert!(place.read("out.csv").starts_with("row,expected_loss,loss\n"));
    assert_eq!(place.run("experts l.csv -k 1 --learner leader --mixing fixed-share").status, 1);
    let out = ok(&place, "pair l.csv l.csv -k 1 --alpha 0 --norm-bound 2 --center none --directions d.csv");
    assert!(out.contains("(JMLR Theorem 6, section 9): it holds"), "{out}");
    assert!(
        place.read("d.csv").starts_with("kept,left_a,left_b,left_c,right_a,right_b,right_c\n0.99"),
        "{}",
        place.read("d.csv")
    );
    assert!(ok(&place, "pair l.csv l.csv -k 1 --alpha 0").contains("none: the theorem needs --norm-bound"));
}

#[test]
fn a_pair_of_independent_tables_is_not_the_pair_of_their_means() {
    let place = Place::new();
    let table = |step: usize| -> String {
        let row =
            |i: usize| format!("{},{}\n", 10.0 + (i * step % 101) as f64 / 50.0, (i * i * step % 89) as f64 / 44.0);
        "a,b\n".to_owned() + &(0..600).map(row).collect::<String>()
    };
    place.write("l.csv", table(37));
    place.write("r.csv", table(53));
    let gain = |options: &str| -> f64 {
        let out = ok(&place, &format!("pair l.csv r.csv -k 1 {options}"));
        let line = out.lines().find(|line| line.starts_with("best")).unwrap();
        line.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap()
    };
    // Uncentered tables share the direction of their means (11, 1). Centered, they share none.
    assert!(gain("--center none") > 600.0 * 100.0);
    assert!(gain("") < 100.0, "{}", gain(""));
}
