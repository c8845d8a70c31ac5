//! No answered row is lost: restarts, repeated requests, backups.

use super::child::Child;
use super::client::{Answer, Client, objects, rows, settings, start};
use eigenhedge_serve::service::Service;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn streams() -> Vec<(&'static str, Value)> {
    vec![
        ("model", json!({"k": 2})),
        ("monitor", json!({"kind": "monitor", "warm_up": 100})),
        ("keys", json!({"k": 1, "learner": "tracking", "by": "who"})),
        ("monitors", json!({"kind": "monitor", "warm_up": 60, "by": "who"})),
    ]
}

fn keyed(rows: &[String]) -> Vec<String> {
    rows.iter().enumerate().map(|(t, row)| format!("{{\"who\":\"{}\",{}", t % 3, &row[1..])).collect()
}

fn state(client: Client, name: &str) -> (Value, Vec<u8>) {
    let summary = client.get(&format!("/v1/streams/{name}/summary")).json();
    (summary, client.get(&format!("/v1/streams/{name}/model")).body)
}

#[test]
fn a_restart_changes_no_bit() {
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_service, one) = start(whole.path());
    let rows = keyed(&objects(&rows(400, 11)));
    let (mut service, mut two) = start(broken.path());
    for (name, options) in streams() {
        one.make(name, &options);
        two.make(name, &options);
    }
    for (i, block) in rows.chunks(57).enumerate() {
        for (name, _) in streams() {
            assert_eq!(one.rows(name, block).text(), two.rows(name, block).text());
        }
        if i % 2 == 1 {
            let begin = Instant::now();
            service.stop();
            assert!(begin.elapsed() < Duration::from_secs(5));
            (service, two) = start(broken.path());
        }
    }
    for (name, _) in streams() {
        assert_eq!(state(one, name), state(two, name), "{name}");
    }
    drop(service);
}

/// Some learners cannot be saved after hard rows. A restart then learns the rows again.
#[test]
fn a_restart_never_loses_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    let names = ["leader", "anchored", "forgetting-leader", "perturbed-leader", "product-sets"];
    for (i, learner) in names.iter().enumerate() {
        let options = json!({"k": 2, "learner": learner, "kernel": "polynomial", "budget": 10, "center": "none"});
        client.make(learner, &options);
        let mut rows = rows(200, 60 + i as u64);
        rows[60].iter_mut().for_each(|x| *x *= 1e3);
        assert_eq!(client.rows(learner, &objects(&rows)).status, 200);
    }
    let before: Vec<_> = names.iter().map(|name| state(client, name)).collect();
    service.stop();
    let (_service, client) = start(folder.path());
    for (name, before) in names.iter().zip(before) {
        assert!(state(client, name) == before, "{name}");
    }
}

#[test]
fn a_repeated_request_is_harmless_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    client.make("s", &json!({"k": 2}));
    let rows = objects(&rows(50, 12));
    let send = |client: Client, key: &str, rows: &[String]| {
        let headers = format!("Content-Type: application/x-ndjson\r\nIdempotency-Key: {key}\r\n");
        client.send("POST", "/v1/streams/s/rows", &headers, rows.join("\n").as_bytes())
    };
    let first = send(client, "one", &rows[..20]);
    assert_eq!(send(client, "one", &rows[..20]).text(), first.text());
    send(client, "two", &rows[20..]);
    let before = state(client, "s");
    assert_eq!(before.0["rows"], 50);
    assert_eq!(send(client, "one", &rows[1..20]).status, 409);
    service.stop();
    let (_service, client) = start(folder.path());
    assert_eq!(send(client, "one", &rows[..20]).body, first.body);
    assert_eq!(state(client, "s"), before);
    assert_eq!(send(client, "\u{e4}", &rows[..20]).status, 400);
}

#[test]
fn a_backup_is_a_store_with_the_same_streams() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_service, client) = start(folder.path());
    let rows = keyed(&objects(&rows(150, 13)));
    for (name, options) in streams() {
        client.make(name, &options);
        client.rows(name, &rows);
    }
    let backup = client.get("/v1/backup");
    assert_eq!(backup.status, 200);
    std::fs::write(other.path().join("store.redb"), &backup.body).unwrap();
    let (_copy, copied) = start(other.path());
    for (name, _) in streams() {
        assert_eq!(state(client, name), state(copied, name), "{name}");
    }
}

#[test]
fn skipped_rows_are_counted_however_they_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Child::start(folder.path());
    let good = objects(&rows(4, 31));
    let row = |a: &str, rest: &str| format!("{{\"a\":{a},\"b\":{rest},\"c\":{rest},\"d\":{rest}}}");
    let streams = [
        ("missing", json!({"k": 1, "missing": "skip"}), row("null", "1")),
        ("bad", json!({"k": 1, "on_bad_row": "skip"}), row("\"hot\"", "1")),
        ("monitor", json!({"kind": "monitor", "warm_up": 100}), row("null", "null")),
    ];
    let counts = |client: Client, name: &str| {
        let shown = client.get(&format!("/v1/streams/{name}")).json();
        (shown["rows"].clone(), shown["skipped_rows"].clone())
    };
    for (name, options, skipped) in &streams {
        let mut all = vec![good[0].clone(), skipped.clone(), good[1].clone(), good[2].clone()];
        all.extend([skipped.clone(), good[3].clone(), skipped.clone()]);
        if *name != "bad" {
            // Before the columns are known, too.
            all.insert(0, skipped.clone());
        }
        let whole = format!("{name}-whole");
        child.client.make(name, options);
        child.client.make(&whole, options);
        let each: Vec<Value> =
            all.iter().flat_map(|row| child.client.rows(name, std::slice::from_ref(row)).lines()).collect();
        assert_eq!(each, child.client.rows(&whole, &all).lines(), "{name}");
        let wanted = (json!(all.len()), json!(all.len() - good.len()));
        assert_eq!((counts(child.client, name), counts(child.client, &whole)), (wanted.clone(), wanted));
        assert_eq!(child.client.rows(name, &[]).status, 422);
    }
    let all = |client: Client| streams.each_ref().map(|(name, ..)| (counts(client, name), state(client, name)));
    let before = all(child.client);
    child.kill();
    child = Child::start(folder.path());
    child.client.wait();
    assert_eq!(all(child.client), before);
}

#[test]
fn the_repeated_hour_is_told_apart_by_the_last_learned_row() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Child::start(folder.path());
    let send = |client: Client, path: &str, clock: &str, x: &str| {
        let body = format!("time,x,y\n2025-10-26 {clock},{x},2\n");
        client.send("POST", &format!("/v1/streams/{path}"), "Content-Type: text/csv\r\n", body.as_bytes())
    };
    let time = |answer: &Answer| answer.lines()[0]["time"].clone();
    let names = ["kill", "stop", "score", "refusal"];
    for name in names {
        child.client.make(name, &json!({"k": 1, "timezone": "Europe/Berlin"}));
        let first = send(child.client, &format!("{name}/rows"), "02:30", "1");
        assert_eq!(time(&first), "2025-10-26T02:30:00+02:00");
    }
    assert_eq!(send(child.client, "score/score", "01:00", "1").status, 200);
    assert_eq!(send(child.client, "refusal/rows", "01:00", "1e300").status, 422);
    let later = |client: Client, name: &str| time(&send(client, &format!("{name}/rows"), "02:10", "1"));
    for name in ["score", "refusal"] {
        assert_eq!(later(child.client, name), "2025-10-26T02:10:00+01:00", "{name}");
    }
    child.kill();
    child = Child::start(folder.path());
    child.client.wait();
    assert_eq!(later(child.client, "kill"), "2025-10-26T02:10:00+01:00");
    child.stop();
    let (_service, client) = start(folder.path());
    assert_eq!(later(client, "stop"), "2025-10-26T02:10:00+01:00");
}

#[test]
fn a_store_is_used_by_one_service() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, _) = start(folder.path());
    let second = Service::start(settings(folder.path())).err().unwrap();
    assert!(second.ends_with("is used by another service"), "{second}");
}

#[test]
fn events_are_numbered_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    client.make("m", &json!({"kind": "monitor", "warm_up": 100}));
    client.rows("m", &objects(&rows(400, 14)));
    let listed = client.get("/v1/streams/m/summary").json()["listed"].as_array().unwrap().len();
    assert!(listed >= 2);
    let ids = |client: Client, last: &str| -> Vec<String> {
        use std::io::{BufRead, BufReader, Write};
        let mut stream = std::net::TcpStream::connect(client.0).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
        write!(stream, "GET /v1/streams/m/events HTTP/1.1\r\nHost: localhost\r\n{last}\r\n").unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let mut found = (String::new(), Vec::new());
        for line in lines {
            match (line.strip_prefix("event: "), line.strip_prefix("id: ")) {
                (Some(kind), _) => found.0 = kind.to_owned(),
                (_, Some(id)) => found.1.push(format!("{} {id}", found.0)),
                _ => {}
            }
        }
        found.1
    };
    let all = ids(client, "");
    assert!(!all.is_empty());
    service.stop();
    let (_service, client) = start(folder.path());
    let later = ids(client, "Last-Event-ID: 1\r\n");
    let notices: Vec<&String> = later.iter().collect();
    assert_eq!(notices.len(), listed - 1, "{later:?}");
}
