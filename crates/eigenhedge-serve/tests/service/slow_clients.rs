//! Tests with clients that send or read slowly, or not at all.

use super::client::{Client, settings};
use eigenhedge_serve::service::{Limits, Service, Settings, Tokens};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

const TOKEN: &str = "Authorization: Bearer admin-0123456789abcdef\r\n";
/// Requests that have a body.
const BODIES: [&str; 6] = [
    "POST /login",
    "PUT /v1/streams/t",
    "POST /v1/streams/s/rows",
    "POST /v1/streams/s/score",
    "POST /v1/streams/s/accept",
    "PUT /v1/streams/s/model",
];

fn impatient(folder: &Path) -> Settings {
    let mut settings = settings(folder);
    settings.tokens = Some(Tokens::from_text("admin admin-0123456789abcdef\n").unwrap());
    settings.limits = Limits {
        connections: 16,
        head_time: Duration::from_millis(400),
        body_time: Duration::from_millis(400),
        answer_time: Duration::from_millis(400),
        ..settings.limits
    };
    settings
}

fn make(client: Client) {
    let body = json!({"k": 1}).to_string();
    assert_eq!(client.send("PUT", "/v1/streams/s", TOKEN, body.as_bytes()).status, 201);
    let csv = format!("{TOKEN}Content-Type: text/csv\r\n");
    assert_eq!(client.send("POST", "/v1/streams/s/rows", &csv, b"a,b\n1,2\n3,5\n").status, 200);
}

#[test]
fn a_body_has_a_time_limit_on_every_route() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(impatient(folder.path())).unwrap();
    let client = Client(service.address());
    make(client);
    let start = Instant::now();
    let slow: Vec<TcpStream> = BODIES
        .iter()
        .map(|request| {
            let mut stream = TcpStream::connect(client.0).unwrap();
            let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n{TOKEN}");
            write!(stream, "{head}Content-Length: 100\r\n\r\n1").unwrap();
            stream
        })
        .collect();
    for (mut stream, request) in slow.into_iter().zip(BODIES) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        assert!(text.starts_with("HTTP/1.1 400") && text.contains("must arrive within"), "{request}: {text}");
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_client_that_never_reads_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(impatient(folder.path())).unwrap();
    let client = Client(service.address());
    make(client);
    let mut deaf = TcpStream::connect(client.0).unwrap();
    deaf.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n{TOKEN}\r\n");
    let start = Instant::now();
    // Responses fill the buffers of the connection. The service then closes it, and writing fails.
    let closed = std::iter::repeat_n((), 1 << 20).find_map(|()| deaf.write_all(request.as_bytes()).err());
    let kind = closed.expect("the connection is closed").kind();
    assert!(![std::io::ErrorKind::TimedOut, std::io::ErrorKind::WouldBlock].contains(&kind), "{kind}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn slow_clients_do_not_keep_out_those_with_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = impatient(folder.path());
    (settings.limits.head_time, settings.limits.body_time) = (Duration::from_secs(60), Duration::from_secs(60));
    let service = Service::start(settings).unwrap();
    let client = Client(service.address());
    make(client);
    let mut listener = TcpStream::connect(client.0).unwrap();
    write!(listener, "GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n{TOKEN}\r\n").unwrap();
    assert!(listener.read(&mut [0; 64]).unwrap() > 0);
    let heads = ["", "GET / HT", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n1"];
    let mut slow = Vec::new();
    for i in 0..64 {
        let mut stream = TcpStream::connect(client.0).unwrap();
        stream.write_all(heads[i % heads.len()].as_bytes()).unwrap();
        slow.push(stream);
        assert_eq!(client.send("GET", "/v1/streams/s/summary", TOKEN, b"").status, 200);
    }
    // The listener has a token, so it is still connected.
    let csv = format!("{TOKEN}Content-Type: text/csv\r\n");
    client.send("POST", "/v1/streams/s/rows", &csv, b"a,b\n1,2\n3,5\n");
    listener.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(listener.read(&mut [0; 64]).unwrap() > 0);
}
