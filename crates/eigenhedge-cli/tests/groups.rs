//! Runs with one model per key.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, unhinted};
use eigenhedge::streams;
use std::fmt::Write;

const KEYS: usize = 11;

/// Returns 300 pairs of a key and a row. The keys recur irregularly.
fn lines() -> Vec<(String, String)> {
    let rows = streams::iid(6, 2, 0.3, 300, 5).rows;
    let line = |(t, row): (usize, Vec<f64>)| {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        (format!("machine {}", (t * t + t / 5) % KEYS), cells.join(","))
    };
    rows.into_iter().enumerate().map(line).collect()
}

fn table(lines: &[(String, String)]) -> String {
    let mut text = String::from("a,b,machine,c,d,e,f\n");
    for (key, cells) in lines {
        let (left, right) = cells.match_indices(',').nth(1).map(|(i, _)| cells.split_at(i)).unwrap();
        writeln!(text, "{left},{key}{right}").unwrap();
    }
    text
}

const OPTIONS: &str = "-k 2 --seed 3 --standardize running --group-by machine";

#[test]
fn learners_by_key_are_separate_runs() {
    let place = Place::new();
    let lines = lines();
    place.write("all.csv", table(&lines));
    let outcome = place.run(&format!("run all.csv {OPTIONS} --out all.out.csv"));
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let mut keys: Vec<&String> = lines.iter().map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(outcome.out.lines().filter(|line| line.starts_with("machine ")).count(), keys.len());
    let answers = place.read("all.out.csv");
    assert!(answers.starts_with("row,machine,expected_loss,loss,z0,z1\n"));
    for key in keys {
        let own: Vec<(String, String)> = lines.iter().filter(|(other, _)| other == key).cloned().collect();
        place.write("one.csv", table(&own));
        let options = OPTIONS.replace("--group-by", "--exclude");
        assert_eq!(place.run(&format!("run one.csv {options} --quiet --out one.out.csv")).status, 0);
        let after_row = |line: &str| line.split_once(',').unwrap().1.to_owned();
        let wanted: Vec<String> = place.read("one.out.csv").lines().skip(1).map(after_row).collect();
        let strip = |line: &str| after_row(line).strip_prefix(&format!("{key},")).map(str::to_owned);
        let found: Vec<String> = answers.lines().skip(1).filter_map(strip).collect();
        assert_eq!(found, wanted, "{key}");
    }
}

#[test]
fn it_does_not_matter_how_many_are_in_memory_or_where_the_run_was_stopped() {
    let place = Place::new();
    let lines = lines();
    place.write("t.csv", table(&lines));
    let run = |more: &str| {
        let outcome = place.run(&format!("run t.csv {OPTIONS} --quiet --out out.csv {more}"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{more}");
    };
    run("--snapshot whole.eh");
    let (answers, whole) = (place.read("out.csv"), std::fs::read(place.path("whole.eh")).unwrap());
    run("--max-groups 3");
    assert_eq!(place.read("out.csv"), answers);
    for most in ["", "--max-groups 2"] {
        place.write("t.csv", table(&lines[..140]));
        run(&format!("{most} --snapshot run.eh --snapshot-every 50"));
        place.write("t.csv", table(&lines));
        run(&format!("{most} --snapshot run.eh --resume run.eh"));
        assert_eq!(place.read("out.csv"), answers, "{most}");
        // The ends of the files hold the learners, which are bitwise equal. The time spent differs.
        let end = |bytes: &[u8]| bytes[bytes.len() - whole.len() / 2..].to_vec();
        assert_eq!(end(&std::fs::read(place.path("run.eh")).unwrap()), end(&whole), "{most}");
    }
    assert!(!place.files().iter().any(|name| name.contains("eigenhedge-groups")), "{:?}", place.files());
}

#[test]
fn the_key_may_be_the_time_and_any_column_that_is_kept() {
    let place = Place::new();
    place.write("t.csv", "day,a,b,id\n2024-01-01,1,2,x\n2024-01-02,2,1,y\n2024-01-01,3,5,z\n");
    for (options, texts) in [
        ("--group-by day --time 0 --copy-columns id", "day,id"),
        ("--group-by id --time day", "day,id"),
        ("--group-by 3 --copy-columns id,day", "id,day"),
    ] {
        let outcome = place.run(&format!("run t.csv -k 1 {options} --columns a,b --out out.csv --summary json"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{options}");
        assert!(place.read("out.csv").starts_with(&format!("row,{texts},expected_loss,")), "{options}");
        let groups = if options.starts_with("--group-by day") { 2 } else { 3 };
        assert!(outcome.out.contains(&format!("\"groups\":{groups},")), "{options}: {}", outcome.out);
    }
}

#[test]
fn the_summary_has_a_line_for_each_key_and_a_total() {
    let place = Place::new();
    place.write("t.csv", table(&lines()));
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&format!("run t.csv {OPTIONS} --summary json")).out).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let sum = |name: &str| groups.iter().map(|group| group[name].as_f64().unwrap()).sum::<f64>();
    assert_eq!(json["total"]["rows"], 300);
    assert_eq!(json["total"]["groups"].as_u64().unwrap() as usize, groups.len());
    for name in ["rows", "expected_loss", "loss", "kept_energy"] {
        let total = json["total"][name].as_f64().unwrap();
        assert!((sum(name) - total).abs() <= 1e-9 * total, "{name}");
    }
    let text = place.run(&format!("run t.csv {OPTIONS} --max-groups 4")).out;
    assert!(text.lines().any(|line| line.starts_with("total") && line.contains("300")), "{text}");
    assert!(text.lines().last().unwrap().contains(" models, "), "{text}");
}

#[test]
fn misuse_is_one_sentence() {
    let place = Place::new();
    place.write("t.csv", table(&lines()[..20]));
    place.write("t.npy", b"");
    let cases = [
        ("t.csv -k 2 --group-by machin", 1, "there is no column \"machin\" in the header; did you mean \"machine\"?"),
        ("t.csv -k 2 --group-by 'm*'", 2, "--group-by must be one column, got the pattern \"m*\""),
        (
            "t.csv -k 2 --group-by machine --standardize warmup:9",
            2,
            "--standardize warmup:ROWS has no effect with --group-by",
        ),
        ("t.csv -k 2 --group-by machine --report r.html", 2, "cannot be used with"),
        ("t.csv -k 2 --group-by machine --max-groups 0", 2, "0 is not in 1.."),
        ("t.csv -k 2 --max-groups 3", 2, "--group-by <COLUMN>"),
        ("t.npy -k 2 --group-by machine", 2, "--group-by has no effect with the format npy"),
        ("t.csv -k 6 --group-by machine", 1, "-k must be less than the number of selected columns, 6, got 6"),
    ];
    for (arguments, status, sentence) in cases {
        let outcome = place.run(&format!("run {arguments}").replace('\'', ""));
        assert_eq!(outcome.status, status, "{arguments}: {}", outcome.err);
        assert!(unhinted(&outcome.err).contains(sentence), "{arguments}: {}", outcome.err);
    }
    assert_eq!(place.run("run t.csv -k 2 --group-by machine --quiet --snapshot f.eh").status, 0);
    let sentence = "holds a model for each key, not one model";
    for command in
        ["transform f.eh t.csv", "export f.eh --out f.json", "run t.csv -k 2 --resume f.eh --exclude machine"]
    {
        let outcome = place.run(command);
        assert!(outcome.status == 1 && outcome.err.contains(sentence), "{command}: {}", outcome.err);
    }
    let told = place.run("inspect f.eh").out;
    assert!(told.contains("models of 6 numbers") && told.contains("options    learner auto"), "{told}");
    let told: serde_json::Value = serde_json::from_str(&place.run("inspect f.eh --summary json").out).unwrap();
    assert_eq!(told["groups"].as_array().unwrap().len() as u64, told["total"]["groups"].as_u64().unwrap());
    let seeds = "run t.csv -k 2 --group-by machine --seed 4 --resume f.eh";
    assert!(place.run(seeds).err.contains("--seed must be as in f.eh, 0, got 4"));
}

#[test]
fn a_second_table_begins_with_the_models_of_the_first() {
    let place = Place::new();
    let lines = lines();
    place.write("all.csv", table(&lines));
    place.write("first.csv", table(&lines[..200]));
    place.write("second.csv", table(&lines[200..]));
    assert_eq!(place.run(&format!("run all.csv {OPTIONS} --quiet --out all.out.csv")).status, 0);
    assert_eq!(place.run(&format!("run first.csv {OPTIONS} --quiet --out 1.csv --snapshot f.eh")).status, 0);
    let second = "run second.csv --group-by machine --start-from f.eh --quiet --out 2.csv";
    let outcome = place.run(second);
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let answers = |name: &str| -> Vec<String> {
        place.read(name).lines().skip(1).map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
    };
    assert_eq!(answers("2.csv"), answers("all.out.csv")[200..]);
    let other = place.run(&format!("{second} -k 3"));
    assert!(other.status == 1 && other.err.contains("-k must be as in f.eh, 2, got 3"), "{}", other.err);
}
