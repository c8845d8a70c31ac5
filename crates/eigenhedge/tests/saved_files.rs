//! Files of all versions of the saved form, in `tests/saved/VERSION`. They are read, and learning
//! continues as it did when they were written.
//!
//! `cargo xtask saved` adds the missing files of the current version. It never changes a file.
#![allow(clippy::unwrap_used)]

use eigenhedge::kernel::{TextItems, VectorKernel};
use eigenhedge::registry::REGISTRY;
use eigenhedge::{
    Choose, Columns, Fleet, FleetMember, Kind, Limit, Missing, Mixing, Mode, Model, Moments, Monitor, MonitorOptions,
    Rebaseline, SavedKind, Spec, Standardize, Standardizer, streams,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Relative tolerance of results, because other processors round differently.
const TOLERANCE: f64 = 1e-9;
/// Key of a text in the summary, which may be reworded.
const SENTENCE: &str = "bound_reason";
const ADVICE: &str = "Every file that a release wrote must stay readable: increase VERSION in saved.rs, read the old form \
    too, and add files of the new form with `cargo xtask saved`. docs/src/stability.md says more.";

/// Rows that follow a saved file, and the results when the file was written.
#[derive(Serialize, Deserialize)]
struct Continuation {
    rows: Vec<Vec<f64>>,
    answers: Vec<Vec<f64>>,
    /// Summary of a model or totals of a monitor before the rows.
    summary: Value,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Reads a saved file and learns from rows. Returns the results as numbers.
fn answers(bytes: &[u8], rows: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, String> {
    let refused = |refusal| format!("the file {refusal}");
    Ok(match SavedKind::of(bytes).map_err(refused)? {
        SavedKind::Model => model_answers(Model::from_bytes(bytes).map_err(refused)?, rows),
        SavedKind::Monitor => monitor_answers(Monitor::from_bytes(bytes).map_err(refused)?, rows),
        SavedKind::Moments => moments_answers(Moments::from_bytes(bytes).map_err(refused)?, rows),
        SavedKind::Models => member_answers::<Model>(bytes, rows)?,
        SavedKind::Monitors => member_answers::<Monitor>(bytes, rows)?,
        kind => return Err(format!("no test for {kind}")),
    })
}

fn model_answers(mut model: Model, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    model.ask_for_coordinates(true);
    let step = |row: &Vec<f64>| {
        let loss = model.step(row).unwrap();
        [&[loss.expected, loss.realised], model.coordinates()].concat()
    };
    rows.iter().map(step).collect()
}

fn summary(bytes: &[u8]) -> Value {
    match SavedKind::of(bytes).unwrap() {
        SavedKind::Model => serde_json::to_value(Model::from_bytes(bytes).unwrap().summary()).unwrap(),
        SavedKind::Monitor => serde_json::to_value(Monitor::from_bytes(bytes).unwrap().totals()).unwrap(),
        _ => Value::Null,
    }
}

/// Returns a message with the path of a value that differs. Keys that no longer exist are ignored,
/// because they belong to the interface and not to the saved form.
fn difference(found: &Value, expected: &Value, path: &str) -> Option<String> {
    let differs = || Some(format!("{path}: {found} was {expected}"));
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected
            .iter()
            .filter(|(key, _)| *key != SENTENCE)
            .find_map(|(key, expected)| difference(found.get(key)?, expected, &format!("{path}.{key}"))),
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            found.iter().zip(expected).find_map(|(found, expected)| difference(found, expected, &format!("{path}[]")))
        }
        (Value::Number(a), Value::Number(b)) if is_near(a.as_f64().unwrap(), b.as_f64().unwrap()) => None,
        _ if found == expected => None,
        _ => differs(),
    }
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0)
}

fn monitor_answers(mut monitor: Monitor, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let step = |row: &Vec<f64>| {
        let verdict = monitor.step(row).unwrap();
        let causes = verdict.causes.iter().flatten().flat_map(|cause| [cause.column as f64, cause.share]);
        let flags = [f64::from(u8::from(verdict.alarm)), verdict.incident.map_or(-1.0, |number| number as f64)];
        let numbers = [verdict.score, verdict.q, verdict.t2, verdict.limit].map(|x| if x.is_nan() { -1.0 } else { x });
        numbers.into_iter().chain(flags).chain(causes).collect()
    };
    rows.iter().map(step).collect()
}

fn moments_answers(mut moments: Moments, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    moments.update(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
    let best = moments.best(moments.kept(), true, false).low();
    vec![moments.mean().unwrap(), vec![moments.rows() as f64, moments.weight(), best]]
}

fn member_answers<T: FleetMember>(bytes: &[u8], rows: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, String> {
    let index = Fleet::<T>::index(&mut std::io::Cursor::new(bytes)).map_err(|refusal| format!("the file {refusal}"))?;
    assert!(index.parts.len() > 1);
    let parts = index.parts.iter().map(|(_, at, length)| &bytes[*at as usize..(at + length) as usize]);
    let of_parts: Result<Vec<_>, String> = parts.map(|part| answers(part, rows)).collect();
    Ok(of_parts?.concat())
}

#[test]
fn files_of_every_version_are_read_and_go_on() {
    write_missing();
    let mut files = 0;
    for file in entries(&root()).iter().flat_map(|version| entries(version)) {
        if file.extension().is_none_or(|extension| extension != "eh") {
            continue;
        }
        let text = fs::read_to_string(file.with_extension("json")).unwrap();
        let expected: Continuation = serde_json::from_str(&text).unwrap();
        let bytes = fs::read(&file).unwrap();
        let found =
            answers(&bytes, &expected.rows).unwrap_or_else(|reason| panic!("{}: {reason}. {ADVICE}", file.display()));
        let different = difference(&summary(&bytes), &expected.summary, "summary");
        assert_eq!(different, None, "{}. {ADVICE}", file.display());
        assert_eq!(found.len(), expected.answers.len(), "{}: answers. {ADVICE}", file.display());
        for (t, (found, expected)) in found.iter().zip(&expected.answers).enumerate() {
            let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| is_near(*a, *b));
            assert!(same, "{}, answer {t}: {found:?} was {expected:?}. {ADVICE}", file.display());
        }
        files += 1;
    }
    assert!(files >= cases().len(), "{files} files");
}

#[test]
fn the_newest_version_has_a_file_of_every_case() {
    write_missing();
    let version = version();
    for (name, ..) in cases() {
        let file = root().join(version.to_string()).join(format!("{name}.eh"));
        assert!(file.exists(), "{} is missing: `cargo xtask saved` writes it", file.display());
    }
    let newest = entries(&root()).iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).max();
    assert_eq!(newest, Some(version), "a file of a later version than this program writes");
}

/// Writes missing files of this version if EIGENHEDGE_WRITE is set. Never changes a file.
fn write_missing() {
    static WRITTEN: Once = Once::new();
    let write = || {
        let folder = root().join(version().to_string());
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes, rows) in cases() {
            let file = folder.join(format!("{name}.eh"));
            if !file.exists() {
                let continuation =
                    Continuation { answers: answers(&bytes, &rows).unwrap(), summary: summary(&bytes), rows };
                let text = serde_json::to_string(&continuation).unwrap();
                fs::write(file.with_extension("json"), text + "\n").unwrap();
                fs::write(&file, bytes).unwrap();
                println!("wrote {}", file.display());
            }
        }
    };
    if std::env::var_os("EIGENHEDGE_WRITE").is_some() {
        WRITTEN.call_once(write);
    }
}

fn version() -> u32 {
    let bytes = Moments::new(2, 1, Missing::Fail).unwrap().to_bytes().unwrap();
    u32::from_le_bytes(bytes[8..12].try_into().unwrap())
}

type Case = (String, Vec<u8>, Vec<Vec<f64>>);

/// Returns small files of all kinds, of all learners, and of options that save data of their own.
fn cases() -> Vec<Case> {
    let mut cases = model_cases();
    cases.extend(monitor_cases());
    let names: BTreeSet<&str> = cases.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    cases
}

fn model_cases() -> Vec<Case> {
    let rows = streams::iid(6, 2, 0.3, 44, 1).rows;
    let (before, after) = rows.split_at(40);
    let rbf = VectorKernel::Rbf { gamma: 0.5 };
    let poly = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 1.0 };
    let tracking = Spec::new(Kind::Tracking, 2);
    let mut specs: Vec<(String, Spec)> = REGISTRY
        .iter()
        .map(|entry| (entry.name.to_owned(), Spec::new(entry.kind, if entry.kind == Kind::Oja { 1 } else { 2 })))
        .collect();
    let mut add = |name: &str, spec: Spec| specs.push((name.to_owned(), spec));
    add("tracking-fixed-share", Spec { mixing: Mixing::FixedShare { alpha: 0.01 }, ..tracking.clone() });
    add("tracking-past-average", Spec { mixing: Mixing::PastAverage { alpha: 0.01 }, ..tracking.clone() });
    add("anchored-self-confident", Spec { self_confident: true, center: None, ..Spec::new(Kind::Anchored, 2) });
    add("leader-max-rank", Spec { max_rank: Some(3), ..Spec::new(Kind::Leader, 2) });
    add("auto-rbf", Spec { kernel: Some(rbf.clone()), budget: Some(6), ..Spec::new(Kind::Auto, 2) });
    add("tracking-rbf", Spec { kernel: Some(rbf), budget: Some(8), ..tracking.clone() });
    add("anchored-polynomial", Spec { kernel: Some(poly), budget: Some(8), ..Spec::new(Kind::Anchored, 2) });
    let learned = |mut model: Model, rows: &[Vec<f64>]| {
        rows.iter().for_each(|row| _ = model.step(row).unwrap());
        model.to_bytes().unwrap()
    };
    let case = |(name, spec): (String, Spec)| {
        (format!("model-{name}"), learned(Model::new(spec, 6, 3).unwrap(), before), after.to_vec())
    };
    let mut cases: Vec<Case> = specs.into_iter().map(case).collect();

    let names = (0..6).map(|i| format!("sensor {i}")).collect();
    let columns = Columns::new(Some(names), Standardizer::new(Standardize::Running, 6));
    let mut gaps = before.to_vec();
    gaps.iter_mut().skip(5).step_by(7).for_each(|row| row[3] = f64::NAN);
    let filling = Spec { missing: Missing::Fill, ..tracking.clone() };
    let model = Model::new(filling, 6, 3).unwrap().with_columns(columns);
    cases.push(("model-standardized-filled".to_owned(), learned(model, &gaps), after.to_vec()));

    let texts = ["disk full", "disk nearly full", "fan slow", "fan stopped", "disk full again", "fan slow again"];
    let items = |text: &&str| {
        let mut row = Vec::new();
        TextItems::Words.append(text, &mut row);
        row
    };
    let texts: Vec<Vec<f64>> = texts.iter().map(items).collect();
    let kernel = Some(VectorKernel::Jaccard { items: TextItems::Words });
    let model = Model::new(Spec { kernel, budget: Some(4), ..tracking }, 1, 3).unwrap();
    cases.push(("model-jaccard".to_owned(), learned(model, &texts[..4]), texts[4..].to_vec()));

    let mut moments = Moments::new(6, 2, Missing::Fail).unwrap();
    moments.update(&before.iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
    cases.push(("moments".to_owned(), moments.to_bytes().unwrap(), after.to_vec()));

    let mut fleet = Fleet::new(Model::new(Spec::new(Kind::Anchored, 2), 6, 3).unwrap()).unwrap();
    before.iter().zip(0..).for_each(|(row, t)| _ = fleet.step(["left", "right"][t % 2], row).unwrap());
    let mut bytes = Vec::new();
    fleet.write(b"{}", &mut bytes).unwrap();
    cases.push(("models".to_owned(), bytes, after.to_vec()));
    cases
}

fn monitor_cases() -> Vec<Case> {
    let rows = streams::faults(4, 2, 0.3, 404, 1);
    let (before, after) = rows.split_at(400);
    let options = || MonitorOptions { warm_up: Some(100), ..MonitorOptions::default() };
    let several = [
        ("monitor", options()),
        ("monitor-lags", MonitorOptions { lags: Choose::Fixed(1), ..options() }),
        (
            "monitor-freeze",
            MonitorOptions { mode: Mode::Freeze(100), limit: Limit::Conformal(0.02), ..MonitorOptions::default() },
        ),
        ("monitor-rebaseline", MonitorOptions { rebaseline: Rebaseline::After(150), standardize: false, ..options() }),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for (name, options) in several {
        let mut monitor = Monitor::new(options, 4).unwrap();
        before.iter().for_each(|row| _ = monitor.step(row).unwrap());
        cases.push((name.to_owned(), monitor.to_bytes().unwrap(), after.to_vec()));
    }
    let mut fleet =
        Fleet::of_monitors(Monitor::new(MonitorOptions { warm_up: Some(50), ..options() }, 4).unwrap()).unwrap();
    for (row, t) in before.iter().zip(0..) {
        let step = |monitor: &mut Monitor| monitor.step(row).map(drop);
        fleet.with_pool(["left", "right"][t % 2], 2, step).unwrap();
    }
    let mut bytes = Vec::new();
    fleet.write(b"{}", &mut bytes).unwrap();
    cases.push(("monitors".to_owned(), bytes, after.to_vec()));
    cases
}
