//! Notices are sent once and in order, over outages and kills. Silent devices and metrics.

use super::child::Child;
use super::client::{Client, object, objects, rows, settings, start};
use super::receiver::{Receiver, header, json as body};
use eigenhedge_serve::service::{Service, check_store};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Returns 900 rows with faults at rows 500 to 599 and 700 to 799.
fn faulty() -> Vec<String> {
    let mut rows = rows(900, 3);
    for (t, row) in rows.iter_mut().enumerate() {
        row[3] += match (t / 100, t % 97) {
            (5 | 7, _) => 40.0,
            // Compensates the outliers of the test rows.
            (_, 96) => -8.0,
            _ => 0.0,
        };
    }
    objects(&rows)
}

/// Returns the value of the first metric whose line starts with this name.
fn metric(client: Client, name: &str) -> f64 {
    let text = client.get("/metrics").text();
    let line = text.lines().find(|line| line.starts_with(&format!("eigenhedge_{name}")));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn notices_come_once_and_in_order_over_outages_and_kills() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start());
    receiver.is_down.store(true, Ordering::SeqCst);
    let options = json!({"kind": "monitor", "warm_up": 200, "webhook": format!("http://{}/hook?a=b", receiver.host)});
    let mut child = Child::with_host(folder.path(), &receiver.host);
    child.client.make("m", &options);
    for block in faulty().chunks(100) {
        assert_eq!(child.client.rows("m", block).status, 200);
        child.kill();
        child = Child::with_host(folder.path(), &receiver.host);
        child.client.wait();
    }
    let listed = child.client.get("/v1/streams/m/summary").json()["listed"].clone();
    let urgent = |one: &&Value| ["opened", "worse", "closed"].contains(&one["kind"].as_str().unwrap());
    let wanted: Vec<u64> =
        listed.as_array().unwrap().iter().filter(urgent).map(|one| one["id"].as_u64().unwrap()).collect();
    assert!(wanted.len() >= 4, "{listed}");
    assert_eq!(metric(child.client, "notices_waiting{stream=\"m\"}"), wanted.len() as f64);
    let incidents = child.client.get("/v1/streams/m/incidents").json();
    assert!(incidents["incidents"].as_array().unwrap().len() >= 2, "{incidents}");
    receiver.is_down.store(false, Ordering::SeqCst);
    let got = receiver.wait(wanted.len());
    wait_until("all are counted", || metric(child.client, "notices_sent_total{") == wanted.len() as f64);
    // Sent notices are not sent again after their state is stored.
    std::thread::sleep(Duration::from_secs(1));
    child.kill();
    let child = Child::with_host(folder.path(), &receiver.host);
    child.client.wait();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(receiver.got().len(), got.len());
    assert_eq!(got.iter().map(|got| body(got)["id"].as_u64().unwrap()).collect::<Vec<_>>(), wanted);
    let first = body(&got[0]);
    assert_eq!((&first["kind"], &first["stream"], &first["held_back"]), (&json!("opened"), &json!("m"), &json!(0)));
    assert!(first["text"].as_str().unwrap().starts_with("m: incident opened: d "), "{first}");
    let keys: Vec<&str> = got.iter().map(|got| header(got, "Idempotency-Key")).collect();
    assert_eq!(keys[0], format!("m-1-{}", wanted[0]));
    assert!(got[0].0.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{}", got[0].0);
    assert_eq!((metric(child.client, "notices_dropped_total{"), metric(child.client, "notices_waiting{")), (0.0, 0.0));
}

#[test]
fn https_with_an_own_authority_headers_and_templates() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let receiver = Receiver::encrypted(&path("ca.pem"));
    let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
    write("headers", &format!("# tokens\n{} Authorization: Bearer secret-of-the-relay\n", receiver.host));
    write("pager.json", "{\"title\": \"{stream} {kind}\", \"body\": \"{sentence}\", \"level\": \"{grade}\"}");
    let mut settings = settings(&path("store"));
    settings.webhooks.hosts = vec![receiver.host.clone()];
    settings.webhooks.ca = Some(path("ca.pem"));
    settings.webhooks.headers = Some(path("headers"));
    settings.webhooks.templates = vec![path("pager.json")];
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = Service::start(settings.clone()).map(|_| ()).unwrap_err();
        assert!(open.contains("mode 600"), "{open}");
        std::fs::set_permissions(path("headers"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let service = Service::start(settings.clone()).unwrap();
    let client = Client(service.address());
    let url = format!("https://{}/x", receiver.host);
    let wrong = client.put("/v1/streams/m", &json!({"kind": "monitor", "webhook": url, "template": "page"})).detail();
    assert_eq!(wrong, "template must be one of json, slack, teams, text, pager, got \"page\"");
    let wrong = client.put("/v1/streams/m", &json!({"kind": "monitor", "webhook": "https://elsewhere/x"})).detail();
    assert_eq!(wrong, "webhook must be on the list of --webhook-host, got elsewhere:443");
    let rows = &faulty()[..560];
    for (i, template) in ["json", "slack", "teams", "text", "pager"].into_iter().enumerate() {
        client.make(template, &json!({"kind": "monitor", "warm_up": 200, "webhook": url, "template": template}));
        client.rows(template, rows).lines();
        let got = receiver.wait(i + 1)[i].clone();
        assert_eq!(header(&got, "Authorization"), "Bearer secret-of-the-relay");
        assert_eq!(header(&got, "Host"), receiver.host);
        let text = format!("{template}: incident opened: d ");
        match template {
            "json" => assert!(body(&got)["text"].as_str().unwrap().starts_with(&text)),
            "slack" => assert!(body(&got)["text"].as_str().unwrap().starts_with(&text)),
            "teams" => {
                let block = &body(&got)["attachments"][0]["content"]["body"][0]["text"];
                assert!(block.as_str().unwrap().starts_with(&text), "{block}");
            }
            "text" => assert!(got.1.starts_with(&text) && header(&got, "Content-Type").starts_with("text/plain")),
            _ => assert_eq!((&body(&got)["title"], &body(&got)["level"]), (&json!("pager opened"), &json!("critical"))),
        }
    }
    // Without the certificate of the authority, the receiver is not trusted, and notices wait.
    service.stop();
    settings.webhooks.ca = None;
    let service = Service::start(settings).unwrap();
    let client = Client(service.address());
    client.wait();
    client.rows("json", &faulty()[560..700]).lines();
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(receiver.got().len(), 5);
    assert!(metric(client, "notices_waiting{stream=\"json\"}") >= 1.0);
}

#[test]
fn minimum_severity_and_duration_and_the_limit_per_hour_hold_notices_back() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start());
    let mut settings = settings(folder.path());
    settings.webhooks.hosts = vec![receiver.host.clone()];
    let service = Service::start(settings).unwrap();
    let client = Client(service.address());
    let url = format!("http://{}/", receiver.host);
    let base = json!({"kind": "monitor", "warm_up": 200, "webhook": url});
    let with = |fields: Value| {
        let mut options = base.clone();
        options.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        options
    };
    let urgent = |name: &str| {
        let listed = client.get(&format!("/v1/streams/{name}/summary")).json()["listed"].clone();
        let kinds = listed.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned());
        kinds.filter(|kind| ["opened", "worse", "closed"].contains(&kind.as_str())).collect::<Vec<_>>()
    };
    // No incident is that severe or that long.
    client.make("severe", &with(json!({"min_severity": 1e6})));
    client.make("long", &with(json!({"min_duration": 300})));
    for name in ["severe", "long"] {
        client.rows(name, &faulty()).lines();
        assert_eq!(urgent(name), Vec::<String>::new(), "{name}");
        assert_eq!(client.get(&format!("/v1/streams/{name}")).json()["open_incidents"], 0);
    }
    // With one notice per hour, the others are held back.
    client.make("few", &with(json!({"notices_per_hour": 1})));
    client.rows("few", &faulty()).lines();
    let count = urgent("few").len() as f64;
    assert!(count >= 4.0);
    wait_until("held", || metric(client, "notices_held_back{stream=\"few\"}") == count - 1.0);
    assert_eq!(receiver.got().len(), 1);
    let wrong = |fields: Value| client.put("/v1/streams/wrong", &with(fields)).detail();
    assert_eq!(wrong(json!({"notices_per_hour": 0})), "notices_per_hour must be at least 1, got 0");
    assert!(wrong(json!({"quiet_hours": "late"})).starts_with("quiet_hours must be two times of day"));
    assert!(wrong(json!({"silent_after": 7})).starts_with("silent_after must be a duration"));
    assert!(wrong(json!({"min_severity": "bad"})).starts_with("min_severity must be minor, major"));
    let alone = client.put("/v1/streams/wrong", &json!({"k": 1, "template": "slack"})).detail();
    assert_eq!(alone, "template has no effect without webhook");
}

#[test]
fn a_silent_device_is_an_incident_until_its_next_row() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make(
        "m",
        &json!({"kind": "monitor", "group-by": "who", "time": "at", "warm_up": 100, "silent_after": "10min"}),
    );
    let rows = rows(120, 4);
    let row = |key: &str, minute: usize| {
        let (day, hour) = (1 + minute / 1440, minute / 60 % 24);
        format!(
            "{{\"at\":\"2026-03-{day:02}T{hour:02}:{:02}:00Z\",\"who\":\"{key}\",{}",
            minute % 60,
            &object(&rows[minute])[1..]
        )
    };
    for minute in 0..60 {
        let keys: &[&str] = if minute < 20 { &["a", "b"] } else { &["a"] };
        client.rows("m", &keys.iter().map(|key| row(key, minute)).collect::<Vec<_>>()).lines();
    }
    assert_eq!((metric(client, "incidents_open{"), metric(client, "silent_keys{")), (1.0, 1.0));
    let silences = |key: &str| client.get(&format!("/v1/streams/m/incidents?key={key}")).json()["incidents"].clone();
    let open = silences("b");
    assert_eq!((&open[0]["signs"], &open[0]["end"]), (&json!(["silent"]), &Value::Null));
    assert_eq!(open[0]["sentence"], "b: no rows since 2026-03-01T00:19:00Z (critical)");
    assert_eq!(silences("a"), json!([]));
    client.rows("m", &[row("b", 60)]).lines();
    assert_eq!(silences("b")[0]["end_time"], "2026-03-01T01:00:00Z");
    assert_eq!((metric(client, "incidents_open{"), metric(client, "silent_keys{")), (0.0, 0.0));
    // Silence in wall-clock time, if no row arrives at all.
    client.make("clock", &json!({"k": 1, "silent_after": "1s"}));
    client.rows("clock", &objects(&rows[..9])).lines();
    wait_until("silent by the clock", || metric(client, "silent_keys{stream=\"clock\"}") == 1.0);
    // A device that is gone for good can be accepted.
    assert_eq!(client.send("POST", "/v1/streams/clock/accept", "", b"").status, 200);
    assert_eq!(metric(client, "silent_keys{stream=\"clock\"}"), 0.0);
}

#[test]
fn silences_do_not_depend_on_how_rows_are_split() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    // One device pauses twice, another one has rows just before and after its limit.
    let sends = |key: &str, minute: usize| match key {
        "b" => !(20..40).contains(&minute) && !(70..95).contains(&minute),
        "c" => minute.is_multiple_of(11),
        _ => true,
    };
    let cells = rows(120, 4);
    let of_minute = |minute: usize| {
        let row = |key: &str| {
            let (hour, rest) = (minute / 60, &object(&cells[minute])[1..]);
            format!("{{\"at\":\"2026-03-01T{hour:02}:{:02}:00Z\",\"who\":\"{key}\",{rest}", minute % 60)
        };
        ["a", "b", "c"].into_iter().filter(|key| sends(key, minute)).map(row).collect::<Vec<_>>()
    };
    let all: Vec<String> = (0..120).flat_map(of_minute).collect();
    let incidents = |size: usize| {
        let name = format!("by-{size}");
        let options = json!({"k": 1, "by": "who", "time": "at", "silent_after": "10min"});
        client.make(&name, &options);
        all.chunks(size).for_each(|part| assert_eq!(client.rows(&name, part).lines().len(), part.len()));
        client.get(&format!("/v1/streams/{name}/incidents")).json()["incidents"].clone()
    };
    let wanted = incidents(1);
    let count = |key: &str| wanted.as_array().unwrap().iter().filter(|one| one["key"] == key).count();
    assert_eq!((count("a"), count("b"), count("c")), (0, 2, 10), "{wanted}");
    for size in [7, 50, all.len()] {
        assert_eq!(incidents(size), wanted, "{size}");
    }
}

#[test]
fn a_scrape_during_the_start_is_no_dip_and_a_store_can_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    for i in 0..8 {
        client.make(&format!("m{i}"), &json!({"kind": "monitor", "warm_up": 100}));
        client.rows(&format!("m{i}"), &objects(&rows(300, i))).lines();
    }
    let last = metric(client, "last_row_seconds{");
    assert!(last > 1.7e9, "{last}");
    service.stop();
    let report = check_store(settings(folder.path())).unwrap();
    assert!(report.lines().any(|line| line.starts_with("m3 ") && line.contains(" 300 ")), "{report}");
    assert!(report.ends_with("those that wait.\n") && report.contains("8 streams, "), "{report}");
    let (_service, client) = start(folder.path());
    let mut waited = 0;
    loop {
        let answer = client.get("/metrics");
        if answer.status == 503 {
            waited += 1;
            continue;
        }
        for i in 0..8 {
            assert!(
                answer.text().contains(&format!("eigenhedge_rows_total{{stream=\"m{i}\"}} 300\n")),
                "{}",
                answer.text()
            );
        }
        break;
    }
    println!("{waited} scrapes during the start");
    let missing = check_store(settings(&folder.path().join("none"))).unwrap_err();
    assert!(missing.ends_with("is not a folder"), "{missing}");
}

#[test]
fn requests_are_told_in_their_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    let wrong = |options: Value| client.put("/v1/streams/s", &options).detail();
    assert_eq!(
        wrong(json!({"kind": "monitor", "warmup": 9})),
        "there is no option \"warmup\" of a monitor; did you mean \"warm_up\"?"
    );
    assert!(wrong(json!({"k": 1, "grup-by": "who"})).contains("grup-by"));
    client.make("s", &json!({"k": 1, "group-by": "who"}));
    assert_eq!(client.put("/v1/streams/s", &json!({"k": 1, "group_by": "who"})).status, 200);
    // An absent key of a JSON row is a missing cell.
    client.make("gaps", &json!({"k": 1, "learner": "leader", "missing": "fill"}));
    let rows: Vec<String> = objects(&rows(30, 5));
    client.rows("gaps", &rows).lines();
    let answers = client.rows("gaps", &["{\"a\":1,\"c\":0.5,\"d\":1}".to_owned()]);
    assert_eq!(answers.lines().len(), 1, "{}", answers.text());
    client.make("whole", &json!({"k": 1, "learner": "leader"}));
    client.rows("whole", &rows).lines();
    let told = client.rows("whole", &["{\"a\":1,\"c\":0.5,\"d\":1}".to_owned()]).detail();
    assert!(told.contains("\"b\"") && !told.contains("--"), "{told}");
}

#[test]
fn the_dashboard_and_the_alert_rules_use_metrics_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("m", &json!({"kind": "monitor"}));
    client.wait();
    let metrics = client.get("/metrics").text();
    let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
    for file in ["grafana.json", "alerts.yml"] {
        let text = std::fs::read_to_string(format!("{deploy}/{file}")).unwrap();
        let is_name = |sign: char| sign.is_ascii_lowercase() || sign == '_';
        let names =
            text.match_indices("eigenhedge_").map(|(at, _)| text[at..].split(|sign| !is_name(sign)).next().unwrap());
        let names: Vec<&str> = names.collect();
        assert!(names.len() > 5, "{file}");
        names.iter().for_each(|name| assert!(metrics.contains(&format!("\n{name}")), "{name} of {file}"));
    }
    // `promtool` checks the rules if it is installed.
    let checked =
        std::process::Command::new("promtool").args(["check", "rules", &format!("{deploy}/alerts.yml")]).output();
    if let Ok(output) = checked {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
