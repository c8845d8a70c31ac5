//! Tests of every status and of its message.

use super::client::{Client, objects, rows, settings, start};
use eigenhedge_serve::service::Service;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const NDJSON: &str = "Content-Type: application/x-ndjson\r\n";

#[test]
fn each_refusal_has_its_status_and_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = settings(folder.path());
    small.limits.body = 1 << 16;
    small.max_streams = 2;
    let service = Service::start(small).unwrap();
    let client = Client(service.address());
    let post = |path: &str, headers: &str, body: &[u8]| client.send("POST", path, headers, body);
    client.make("s", &json!({"k": 2}));
    assert_eq!(client.put("/v1/streams/s", &json!({"k": 2})).status, 200);
    client.rows("s", &objects(&rows(9, 1)));
    let cases = [
        (400, client.send("PUT", "/v1/streams/t", "", b"{")),
        (400, client.send("PUT", "/v1/streams/t", "", b"[]")),
        (400, client.put("/v1/streams/..", &json!({"k": 2}))),
        (400, post("/v1/streams/s/rows", "Content-Type: application/json\r\n", b"[1,")),
        (400, post("/v1/streams/s/accept", "", b"7")),
        (404, client.get("/v1/streams/t")),
        (404, client.get("/v2")),
        (404, post("/v1/streams/t/rows", NDJSON, b"[1]")),
        (405, client.send("PATCH", "/v1/streams/s", "", b"")),
        (409, client.put("/v1/streams/s", &json!({"k": 3}))),
        (413, post("/v1/streams/s/rows", NDJSON, &vec![b' '; (1 << 16) + 1])),
        (415, post("/v1/streams/s/rows", "Content-Type: image/png\r\n", b"1")),
        (415, post("/v1/streams/s/rows", "", b"1")),
        (415, post("/v1/streams/s/rows", &format!("{NDJSON}Content-Encoding: gzip\r\n"), b"1")),
        (422, client.put("/v1/streams/t", &json!({"k": 0}))),
        (422, client.put("/v1/streams/t", &json!({"k": 2, "learner": "oracle"}))),
        (422, post("/v1/streams/s/rows", NDJSON, b"{\"a\":1,\"b\":2,\"c\":3,\"d\":\"x\"}")),
        (422, post("/v1/streams/s/rows", NDJSON, b"")),
        (422, post("/v1/streams/s/accept", "", b"")),
        (422, client.send("PUT", "/v1/streams/s/model", "", b"no model")),
    ];
    for (status, answer) in cases {
        assert_eq!(answer.status, status, "{}", answer.text());
        let sentence = answer.detail();
        assert!(sentence.len() > 10 && !sentence.contains('\n'), "{sentence}");
    }
    client.make("t", &json!({"k": 2}));
    let third = client.put("/v1/streams/u", &json!({"k": 2}));
    assert_eq!(third.status, 429);
    assert!(third.head.to_ascii_lowercase().contains("retry-after: 1"));
    assert_eq!(
        client.rows("t", &["[1,2]".to_owned()]).detail(),
        "k must be less than the number of selected columns, 2, got 2"
    );
}

#[test]
fn options_are_the_same_by_value() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    let options = |warm_up: Value, columns: Value| json!({"kind": "monitor", "warm_up": warm_up, "columns": columns});
    client.make("s", &options(json!(20), json!([0, 1, 2])));
    let status = |warm_up, columns| client.put("/v1/streams/s", &options(warm_up, columns)).status;
    assert_eq!(status(json!(20.0), json!([0, 1.0, 2])), 200);
    assert_eq!(status(json!(20), json!([0, 1.0])), 409);
    assert_eq!(status(json!(21.0), json!([0, 1, 2])), 409);
}

#[test]
fn a_bad_cell_is_named_as_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    let body = "time,x,y\n2024-01-01,1,2\n2024-01-02,1,?\n";
    let answer = client.send("POST", "/v1/streams/s/rows", "Content-Type: text/csv\r\n", body.as_bytes());
    let problem = answer.json();
    assert_eq!((&problem["row"], &problem["column"]), (&json!(1), &json!("2 (\"y\")")), "{problem}");
    let sentence = answer.detail();
    assert!(sentence.starts_with("the request, line 3, column 2 (\"y\"): must be a finite number"), "{sentence}");
    assert_eq!(client.get("/v1/streams/s/summary").json()["rows"], 0, "nothing of the request was learned");
}

#[test]
fn a_bad_first_row_is_no_header() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    let send = |body: &str| client.send("POST", "/v1/streams/s/rows", "Content-Type: text/csv\r\n", body.as_bytes());
    let learned = |wanted: u64| assert_eq!(client.get("/v1/streams/s/summary").json()["rows"], wanted);
    // Before and after the columns are known.
    for rows in [0, 2] {
        let answer = send("1,oops,3\n4,5,6\n");
        assert_eq!(answer.status, 422);
        assert!(answer.detail().starts_with("the request, line 1, column 1: must hold numbers, got \"oops\""));
        learned(rows);
        if rows == 0 {
            assert_eq!(send("1,2,3\n4,5,6\n").status, 200);
        }
    }
}

#[cfg(unix)]
#[test]
fn the_folder_of_a_new_store_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("new/store");
    let (_service, _client) = start(&store);
    for made in [&store, &folder.path().join("new")] {
        assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn too_many_requests_connections_and_slow_clients_are_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = settings(folder.path());
    small.limits.connections = 3;
    small.limits.head_time = Duration::from_millis(300);
    small.limits.body_time = Duration::from_millis(300);
    let service = Service::start(small).unwrap();
    let client = Client(service.address());
    client.make("s", &json!({"k": 1}));
    let mut slow = TcpStream::connect(client.0).unwrap();
    write!(slow, "POST /v1/streams/s/rows HTTP/1.1\r\nHost: localhost\r\n{NDJSON}Content-Length: 9\r\n\r\n[1,")
        .unwrap();
    let mut text = String::new();
    slow.read_to_string(&mut text).ok();
    assert!(text.starts_with("HTTP/1.1 400") && text.contains("the body must arrive within"), "{text}");
    let silent: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(client.0).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(client.get("/health").status, 200, "the oldest silent connection gives way");
    let listen = || {
        let mut listener = TcpStream::connect(client.0).unwrap();
        write!(listener, "GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert!(listener.read(&mut [0; 64]).unwrap() > 0);
        listener
    };
    let listeners = [listen(), listen(), listen()];
    assert_eq!(client.get("/health").status, 429);
    drop(listeners);
    // Silent connections are closed.
    for mut stream in silent {
        assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
    }
    // The service notices closed connections a moment later.
    let closed = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        client.get("/health").status == 200
    });
    assert!(closed, "connections that were closed leave room");
    let many = (0..80).map(|i| format!("X-{i}: 1\r\n")).collect::<String>();
    assert_eq!(client.send("GET", "/health", &many, b"").status, 431);
}

#[test]
fn a_service_that_stops_says_so_and_ends_open_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    let mut listener = TcpStream::connect(client.0).unwrap();
    write!(listener, "GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut start = [0; 12];
    listener.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    let begin = std::time::Instant::now();
    service.stop();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    listener.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut rest = Vec::new();
    listener.read_to_end(&mut rest).unwrap();
    assert!(client.try_send("GET", "/health", "", b"").is_err());
}

#[test]
fn metrics_count_rows_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    client.rows("s", &objects(&rows(9, 1)));
    client.get("/nothing");
    let text = client.get("/metrics").text();
    for line in
        ["eigenhedge_rows_total{stream=\"s\"} 9", "eigenhedge_requests_total{status=\"404\"} 1", "eigenhedge_streams 1"]
    {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}

#[test]
fn metrics_of_keys_are_bounded_and_name_those_with_incidents_first() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("m", &json!({"kind": "monitor", "by": "who", "warm_up": 40}));
    let key = |i: usize| if i == 1001 { "with \"quotes\" and \\".to_owned() } else { format!("key {i}") };
    let row = |i: usize, row: &str| format!("{{\"who\":{},{}", json!(key(i)), &row[1..]);
    let mut lines: Vec<String> = objects(&rows(1002, 1)).iter().enumerate().map(|(i, one)| row(i, one)).collect();
    lines.extend(objects(&rows(90, 2)).iter().map(|one| row(1001, one)));
    lines.push(row(1001, "{\"a\":1e6,\"b\":0,\"c\":0,\"d\":0}"));
    assert_eq!(client.rows("m", &lines).status, 200);
    let text = client.get("/metrics?keys=m").text();
    assert!(text.contains("\neigenhedge_keys{stream=\"m\"} 1002\n"), "{text}");
    let first = "eigenhedge_key_severity{stream=\"m\",key=\"with \\\"quotes\\\" and \\\\\"} ";
    let severities: Vec<&str> = text.lines().filter(|line| line.starts_with("eigenhedge_key_severity{")).collect();
    let severity: f64 =
        severities[0].strip_prefix(first).unwrap_or_else(|| panic!("{}", severities[0])).parse().unwrap();
    assert!(severities.len() == 1000 && severity > 1.0, "{severity}");
    assert_eq!(client.get("/metrics?keys=nothing").status, 404);
}
