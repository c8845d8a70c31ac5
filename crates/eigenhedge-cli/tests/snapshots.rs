//! Snapshots can be saved, resumed and rejected. Old snapshots remain readable.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::options::{OPTIONS, fill};
use eigenhedge::{Kind, Model, Spec, streams};
use serde_json::Value;

fn place() -> Place {
    let place = Place::new();
    place.write("data.csv", table(&streams::switching(6, 2, 2, 60, 3)));
    place
}

const RUN: &str = "run data.csv -k 2 --out out.csv --summary json";

fn ok(place: &Place, arguments: &str) -> String {
    let outcome = place.run(arguments);
    assert_eq!(outcome.status, 0, "{arguments}: {}", outcome.err);
    outcome.out
}

#[test]
fn a_table_that_has_grown_is_gone_on_with() {
    let place = place();
    let all = place.read("data.csv");
    let some: String = all.lines().take(81).map(|line| line.to_owned() + "\n").collect();
    ok(&place, &format!("{RUN} --report whole.html"));
    let (answers, page) = (place.read("out.csv"), place.read("whole.html"));
    place.write("data.csv", some);
    ok(&place, &format!("{RUN} --report page.html --snapshot run.snap"));
    assert_eq!(place.read("out.csv").lines().count(), 81);
    place.write("data.csv", &all);
    ok(&place, &format!("{RUN} --report page.html --snapshot run.snap --resume run.snap"));
    assert_eq!(place.read("out.csv"), answers);
    assert_eq!(place.read("page.html"), page);
    // Resuming works even if no rows are left.
    ok(&place, &format!("{RUN} --report page.html --resume run.snap"));
    assert_eq!((place.read("out.csv"), place.read("page.html")), (answers, page));
}

#[test]
fn another_run_is_refused_by_the_name_of_what_differs() {
    let place = place();
    ok(&place, &format!("{RUN} --snapshot run.snap"));
    let base = "data.csv -k 2 --out out.csv";
    let cases = [
        (format!("{base} --seed 4"), "--seed must be as in run.snap, 0, got 4"),
        ("data.csv -k 3 --out out.csv".into(), "-k must be as in run.snap, 2, got 3"),
        (format!("{base} --learner leader"), "--learner must be as in run.snap, auto, got leader"),
        (format!("{base} --center none"), "--center must be as in run.snap, running, got none"),
        (format!("{base} --standardize running"), "--standardize must be as in run.snap, none, got running"),
        (format!("{base} --no-header"), "--no-header must be as in run.snap, false, got true"),
        ("data.csv -k 2".into(), "--out must be as in run.snap, out.csv, got none"),
        ("data.csv -k 2 --out other.csv".into(), "--out must be as in run.snap, out.csv, got other.csv"),
        (format!("{base} --segments 2"), "--segments must be as in run.snap, 0, got 2"),
        (
            format!("{base} --exclude x2"),
            "data.csv: must have the columns it had when the run was stopped: \"x3\" stands where \"x2\" stood",
        ),
        (
            format!("{base} --report page.html"),
            "--report needs what a run with --report, --plot or --live records, and run.snap holds none of it",
        ),
    ];
    for (arguments, sentence) in cases {
        let outcome = place.run(&format!("run {arguments} --resume run.snap"));
        assert_eq!((outcome.status, outcome.err), (1, format!("eigenhedge: {sentence}\n")), "{arguments}");
    }
    place.write("data.csv", place.read("data.csv").replacen("\n", "\n9", 1));
    let outcome = place.run(&format!("run {base} --resume run.snap"));
    let sentence = "eigenhedge: the table must be that of run.snap, but its first row is another one\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (1, sentence));
}

#[test]
fn every_option_can_be_typed_is_remembered_and_may_not_change() {
    let help = Place::new().run("run --help").out.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = place();
    for option in OPTIONS {
        let name = option.name;
        // A kernel of strings reads one column.
        let data = if option.example.contains("spectrum") { "data.csv --columns x0" } else { "data.csv" };
        let value = if option.placeholder.is_empty() { String::new() } else { format!("<{}> ", option.placeholder) };
        let text = fill(option.help, |name| format!("--{name}"));
        assert!(help.contains(&format!("--{name} {value}{text}")), "--{name} {value}{text}\n{help}");
        assert!(option.default.is_empty() || help.contains(&format!("{text} [default: {}]", option.default)), "{name}");
        let rest = without(option.example, name);
        assert_ne!(rest.trim(), option.example, "{name}");
        ok(&place, &format!("run {data} -k 2 --quiet --snapshot run.snap {}", option.example));
        let summary: Value = serde_json::from_str(&ok(&place, "inspect run.snap --summary json")).unwrap();
        let value = &summary["resume_state"]["options"][name];
        assert!(!value.is_null(), "{name}: {summary}");
        // If the scale of the kernel is not given, the run uses that of the snapshot.
        let other = if ["gamma", "length-scale"].contains(&name) {
            ok(&place, &format!("run {data} -k 2 --quiet --resume run.snap {rest}"));
            format!("{rest} --{name} 0.123")
        } else {
            rest
        };
        let outcome = place.run(&format!("run {data} -k 2 --quiet --resume run.snap {other}"));
        assert!(outcome.err.starts_with(&format!("eigenhedge: --{name} must be as in run.snap, ")), "{}", outcome.err);
        assert_eq!(outcome.status, 1, "{name}");
        // The summary contains only options that the state of the learner determines.
        if !["learner", "ceiling", "horizon", "eta", "seed"].contains(&name) {
            assert_eq!(&summary["options"][name.replace('-', "_")], value, "{name}");
            assert!(ok(&place, "inspect run.snap").contains(&format!("{name} {}", shown(value))), "{name}");
        }
        ok(&place, &format!("run {data} -k 2 --quiet --resume run.snap {}", option.example));
    }
}

/// Returns the command-line options without one of them.
fn without(example: &str, name: &str) -> String {
    let kept = |part: &&str| part.split_whitespace().next().is_some_and(|first| first != name);
    example.split("--").filter(kept).map(|part| format!(" --{part}")).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map(eigenhedge::options::exact).unwrap(),
        other => other.to_string(),
    }
}

#[test]
fn wrong_places_are_refused_before_the_work() {
    let place = place();
    let cases = [
        ("--snapshot data.csv", 2, "--snapshot must not be the input, got data.csv"),
        ("--report -", 2, "--report must be a file, got -"),
        ("--report a.html --plot a.html", 2, "--plot must not be --report, got a.html"),
        (
            "--snapshot nowhere/run.snap",
            1,
            "nowhere/run.snap cannot be written: there is no folder nowhere; create it first",
        ),
        ("--report .", 1, ". cannot be written: it is a folder; name a file in it"),
        ("--resume absent.snap", 1, "absent.snap cannot be read: No such file or directory (os error 2)"),
        ("--resume data.csv", 1, "data.csv: is not a file saved by eigenhedge: --snapshot writes such files"),
    ];
    for (arguments, status, sentence) in cases {
        let outcome = place.run(&format!("run data.csv -k 2 {arguments}"));
        assert_eq!((outcome.status, outcome.err), (status, format!("eigenhedge: {sentence}\n")), "{arguments}");
    }
    assert_eq!(place.run("run data.csv -k 2 --snapshot-every 5").status, 2);
    assert_eq!(place.run("run data.csv -k 2 --threads 0").status, 2);
    assert_eq!(place.files(), ["data.csv"]);
}

#[test]
fn the_number_of_threads_changes_no_digit_of_the_summary() {
    let place = Place::new();
    place.run("make drift --dim 12 -k 3 --rows 700 --seed 4 --out data.csv");
    let summary = |arguments: &str| {
        let outcome = place.run(&format!("run data.csv -k 3 --summary json {arguments}"));
        assert_eq!(outcome.status, 0, "{}", outcome.err);
        let mut summary: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
        summary.as_object_mut().unwrap().retain(|name, _| !name.contains("second"));
        summary
    };
    let alone = summary("--threads 1");
    assert_eq!(alone["rows"], 700);
    for arguments in ["--threads 2", "--threads 3", "--threads 2 --out answers.csv"] {
        assert_eq!(summary(arguments), alone, "{arguments}");
    }
}

#[test]
fn a_model_of_another_program_can_be_used_but_not_resumed() {
    let place = place();
    let mut run = Model::new(Spec::bare(Kind::Tracking, 2), 6, 0).unwrap();
    streams::switching(6, 2, 2, 60, 3).iter().for_each(|row| _ = run.step(row).unwrap());
    let around: [&[u8]; 4] = [b"", b"\x80\x04pickled", br#"{"feature_names":["a"],"more":[1,2]}"#, b"[1,2]"];
    for resume_state in around {
        run.resume_state = resume_state.to_vec();
        place.write("model.snap", run.to_bytes().unwrap());
        let text = ok(&place, "inspect model.snap");
        let share = 100.0 * run.totals().kept_energy / (run.totals().kept_energy + run.totals().loss);
        assert!(text.contains("tracking") && text.contains(&format!(", {share:.1} % of the energy")), "{text}");
        let value: Value = serde_json::from_str(&ok(&place, "inspect model.snap --summary json")).unwrap();
        assert_eq!(value["rows"], 120);
        assert_eq!(ok(&place, "transform model.snap data.csv").lines().count(), 121);
        let outcome = place.run("run data.csv -k 2 --resume model.snap");
        let sentence = "eigenhedge: model.snap: must have been saved by `eigenhedge run` to be resumed; `inspect` can \
                        read it\n";
        assert_eq!((outcome.status, outcome.err.as_str()), (1, sentence));
    }
}

#[test]
fn a_file_of_another_version_is_refused() {
    let place = place();
    assert_eq!(place.run("run data.csv -k 2 --snapshot other.snap").status, 0);
    let mut bytes = std::fs::read(place.path("other.snap")).unwrap();
    bytes[8] = 7;
    place.write("other.snap", bytes);
    for command in ["inspect other.snap", "transform other.snap data.csv", "run data.csv -k 2 --resume other.snap"] {
        let outcome = place.run(command);
        let sentence = "eigenhedge: other.snap: is a file of version 7, and this program reads version 1\n";
        assert_eq!((outcome.status, outcome.err.as_str()), (1, sentence));
    }
}
