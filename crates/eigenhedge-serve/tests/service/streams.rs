//! Streams give exactly the results of the library, in every format of rows.

use super::client::{Client, object, objects, rows, start};
use eigenhedge::options::Options;
use eigenhedge::{Columns, Kind, Model, Monitor, MonitorOptions, SavedKind, Standardize, Standardizer};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn names() -> Option<Vec<String>> {
    Some(["a", "b", "c", "d"].map(str::to_owned).to_vec())
}

fn model() -> Model {
    let setup = Options::new(Kind::Tracking, 2).resolve(str::to_owned).unwrap();
    let columns = Columns::new(names(), Standardizer::new(Standardize::None, 4));
    let mut model = Model::of(&setup, 4).unwrap().with_columns(columns);
    model.ask_for_coordinates(true);
    model
}

/// Compares an answer with a step of the library bit for bit.
fn check(model: &mut Model, row: &[f64], answer: &Value, number: usize) {
    let loss = model.step(row).unwrap();
    assert_eq!(answer["row"], number);
    assert_eq!(answer["expected_loss"].as_f64(), Some(loss.expected));
    assert_eq!(answer["loss"].as_f64(), Some(loss.realised));
    for (i, z) in model.coordinates().iter().enumerate() {
        assert_eq!(answer[format!("z{i}")].as_f64(), Some(*z));
    }
}

#[test]
fn rows_in_any_form_give_the_answers_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"kind": "model", "k": 2, "learner": "tracking"}));
    let rows = rows(40, 1);
    let send = |kind: &str, body: String| {
        client.send("POST", "/v1/streams/s/rows", &format!("Content-Type: {kind}\r\n"), body.as_bytes()).lines()
    };
    let mut answers = client.rows("s", &objects(&rows[..10])).lines();
    answers.extend(send("application/json", format!("[{}]", objects(&rows[10..20]).join(", "))));
    let csv: Vec<String> =
        rows[20..30].iter().map(|row| format!("{:?},{:?},{:?},{:?}", row[3], row[0], row[1], row[2])).collect();
    answers.extend(send("text/csv", format!("d,a,b,c\n{}\n", csv.join("\n"))));
    answers.extend(rows[30..35].iter().flat_map(|row| send("application/json; charset=utf-8", object(row))));
    let arrays: Vec<String> = rows[35..].iter().map(|row| format!("{row:?}")).collect();
    answers.extend(send("application/x-ndjson", arrays.join("\n")));
    let mut model = model();
    assert_eq!(answers.len(), rows.len());
    for (i, (row, answer)) in rows.iter().zip(&answers).enumerate() {
        check(&mut model, row, answer, i);
    }
    let summary = client.get("/v1/streams/s/summary").json();
    assert_eq!(summary, serde_json::to_value(model.summary()).unwrap());
    let saved = client.get("/v1/streams/s/model");
    assert_eq!(Model::from_bytes(&saved.body), Ok(model));
}

#[test]
fn a_stream_by_key_is_a_stream_for_each_key() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 2, "learner": "tracking", "by": "who"}));
    let rows = rows(200, 2);
    let key = |t: usize| format!("key {}", (t * t) % 7);
    let keyed = |t: usize| format!("{{\"who\":{:?},{}", key(t), &object(&rows[t])[1..]);
    let mut answers = Vec::new();
    for block in (0..rows.len()).collect::<Vec<_>>().chunks(33) {
        answers.extend(client.rows("s", &block.iter().map(|t| keyed(*t)).collect::<Vec<_>>()).lines());
    }
    let mut models: BTreeMap<String, Model> = BTreeMap::new();
    for (t, answer) in answers.iter().enumerate() {
        assert_eq!(answer["who"], key(t));
        check(models.entry(key(t)).or_insert_with(model), &rows[t], answer, t);
    }
    let summary = client.get("/v1/streams/s/summary?key=key%201").json();
    let wanted = serde_json::to_value(models["key 1"].summary()).unwrap();
    assert_eq!(summary["groups"][0]["expected_loss"], wanted["expected_loss"]);
    assert_eq!(client.get("/v1/streams/s/summary").json()["total"]["rows"], 200);
    let saved = client.get("/v1/streams/s/model").body;
    assert_eq!(SavedKind::of(&saved), Ok(SavedKind::Models));
}

#[test]
fn a_monitor_gives_verdicts_notices_and_takes_a_new_reference() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("m", &json!({"kind": "monitor", "warm_up": 200}));
    let mut rows = rows(600, 3);
    rows[500..].iter_mut().for_each(|row| row[0] += 30.0);
    let answers = client.rows("m", &objects(&rows)).lines();
    let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(200), ..MonitorOptions::default() }, 4)
        .unwrap()
        .with_names(names());
    for (row, answer) in rows.iter().zip(&answers) {
        let verdict = monitor.step(row).unwrap();
        assert_eq!(answer["alarm"], u64::from(verdict.alarm));
        assert_eq!(answer["score"].as_f64(), Some(verdict.score).filter(|score| score.is_finite()));
        assert_eq!(answer["state"], verdict.state().name());
    }
    let summary = client.get("/v1/streams/m/summary").json();
    assert_eq!(summary["alarms"], monitor.totals().alarms);
    assert!(summary["alarms"].as_u64().unwrap() > 0 && summary["incidents_total"].as_u64().unwrap() > 0);
    assert!(summary["listed"].as_array().unwrap().iter().any(|notice| notice["kind"] == "opened"));
    assert_eq!(client.send("POST", "/v1/streams/m/accept", "", b"").status, 200);
    monitor.accept().unwrap();
    let later = client.rows("m", &objects(&rows[550..560])).lines();
    for (i, (row, answer)) in rows[550..560].iter().zip(&later).enumerate() {
        let verdict = monitor.step_numbered(600 + i as u64, row).unwrap();
        assert_eq!(answer["score"].as_f64(), Some(verdict.score));
        assert_eq!(answer["state"], "normal");
    }
    assert_eq!(client.get("/v1/streams/m/summary").json()["accepted"], 1);
}

#[test]
fn scoring_learns_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    let rows = objects(&rows(300, 4));
    for options in [json!({"k": 2}), json!({"kind": "monitor", "warm_up": 100})] {
        client.make("s", &options);
        client.rows("s", &rows[..250]);
        let before = client.get("/v1/streams/s/model").body;
        let body = rows[250..].join("\n");
        let score =
            || client.send("POST", "/v1/streams/s/score", "Content-Type: application/x-ndjson\r\n", body.as_bytes());
        let first = score();
        assert_eq!(first.lines().len(), 50);
        assert_eq!(first.text(), score().text());
        assert_eq!(client.get("/v1/streams/s/model").body, before);
        assert_eq!(client.send("DELETE", "/v1/streams/s", "", b"").status, 204);
    }
}

#[test]
fn a_model_moves_to_another_stream_and_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    let rows = objects(&rows(260, 5));
    for options in [
        json!({"k": 2, "learner": "leader", "standardize": "running"}),
        json!({"kind": "monitor", "warm_up": 100}),
        json!({"k": 1, "by": "who"}),
    ] {
        let rows: Vec<String> = rows.iter().map(|row| format!("{{\"who\":\"x\",{}", &row[1..])).collect();
        let rows = if options.get("by").is_some() { rows } else { objects(&super::client::rows(260, 5)) };
        client.make("one", &options);
        client.make("two", &options);
        client.rows("one", &rows[..200]);
        let saved = client.get("/v1/streams/one/model").body;
        let put = client.send("PUT", "/v1/streams/two/model", "", &saved);
        assert_eq!(put.status, 200, "{}", put.text());
        let strip = |lines: Vec<Value>| -> Vec<Value> {
            lines
                .into_iter()
                .map(|mut line| {
                    line["row"] = Value::Null;
                    line
                })
                .collect()
        };
        let (one, two) = (client.rows("one", &rows[200..]), client.rows("two", &rows[200..]));
        assert_eq!(strip(one.lines()), strip(two.lines()));
        for name in ["one", "two"] {
            client.send("DELETE", &format!("/v1/streams/{name}"), "", b"");
        }
    }
}

#[test]
fn copied_columns_after_an_uploaded_model_are_those_of_the_first_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (mut service, mut client) = start(folder.path());
    let rows = rows(170, 7);
    let body = |columns: &str, range: std::ops::Range<usize>| {
        let line = |t: usize| {
            let (clock, row) = (format!("{:02}:{:02}", t / 60, t % 60), &rows[t]);
            match columns {
                "Date,Time,x,y,z" => format!("2026-03-01,{clock},{:?},{:?},{:?}\n", row[0], row[1], row[2]),
                "at,x,y,z" => format!("2026-03-01 {clock},{:?},{:?},{:?}\n", row[0], row[1], row[2]),
                _ => format!("{:?},run,{:?},{:?}\n", row[0], row[1], row[2]),
            }
        };
        format!("{columns}\n{}", range.map(line).collect::<String>())
    };
    let cases = [
        (json!({"time": ["Date", "Time"]}), "Date,Time,x,y,z", "Date Time"),
        (json!({"time": 0}), "at,x,y,z", "at"),
        (json!({"copy_columns": [1]}), "x,kind,y,z", "kind"),
        (json!({"copy_columns": ["k*"]}), "x,kind,y,z", "kind"),
    ];
    for (own, columns, copied) in cases {
        let mut options = json!({"kind": "monitor", "warm_up": 100});
        options.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        client.make("one", &options);
        client.make("two", &options);
        let send = |client: Client, path: &str, range: std::ops::Range<usize>| -> Vec<Value> {
            let body = body(columns, range);
            let path = format!("/v1/streams/{path}");
            let mut lines = client.send("POST", &path, "Content-Type: text/csv\r\n", body.as_bytes()).lines();
            lines.iter_mut().for_each(|line| line["row"] = Value::Null);
            lines
        };
        send(client, "one/rows", 0..150);
        let saved = client.get("/v1/streams/one/model").body;
        assert_eq!(client.send("PUT", "/v1/streams/two/model", "", &saved).status, 200);
        service.stop();
        (service, client) = start(folder.path());
        assert_eq!(send(client, "two/score", 150..152), send(client, "one/score", 150..152));
        for range in [150..160, 160..170] {
            let answers = send(client, "two/rows", range.clone());
            assert!(answers[0][copied].is_string(), "{}", answers[0]);
            assert_eq!(answers, send(client, "one/rows", range));
        }
        for name in ["one", "two"] {
            client.send("DELETE", &format!("/v1/streams/{name}"), "", b"");
        }
    }
    drop(service);
}

#[test]
fn a_row_that_the_learner_refuses_is_answered_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 2, "learner": "tracking", "norm_bound": 10, "center": "none", "mixing": "none"}));
    let mut rows = rows(6, 6);
    rows.iter_mut().for_each(|row| row[3] = 0.5);
    rows[3][0] = 99.0;
    let answers = client.rows("s", &objects(&rows)).lines();
    assert_eq!(answers.len(), 6);
    let sentence = answers[3]["error"].as_str().unwrap();
    assert!(sentence.starts_with("the norm of the row must not exceed the norm bound 10, got"), "{sentence}");
    let alone = client.rows("s", &objects(&rows[3..4]));
    assert_eq!((alone.status, alone.json()["row"].as_u64()), (422, Some(0)));
    let summary = client.get("/v1/streams/s/summary").json();
    assert_eq!((&summary["rows"], &summary["skipped_rows"]), (&json!(5), &json!(2)));
}
