//! Tests of the server of a live page, over plain sockets.
#![allow(clippy::unwrap_used)]

use eigenhedge_pages::page::live::Part;
use eigenhedge_serve::live::{LiveServer, PageState, parse_local};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn server() -> LiveServer {
    LiveServer::start(parse_local("0").unwrap(), "</title><script>window.broken=1</script>").unwrap()
}

fn state(text: &str) -> PageState {
    let json = format!("{{\"html\":\"<p>{text}</p>\",\"charts\":[]}}");
    let part = Part { key: "a".into(), within: String::new(), json };
    PageState { title: "t".into(), state: "running".into(), note: "n".into(), parts: vec![part] }
}

fn connect(server: &LiveServer) -> TcpStream {
    let url = server.url();
    let stream = TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/')).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Sends a request and reads the head of the response. Returns the connection and the head.
fn ask(server: &LiveServer, path: &str, headers: &str) -> (BufReader<TcpStream>, String) {
    let mut stream = connect(server);
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
    let (mut stream, mut head) = (BufReader::new(stream), String::new());
    while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
    (stream, head)
}

const LOCAL: &str = "Host: localhost:8750\r\nConnection: close\r\n";

/// Returns the lines of an event, without the empty line at its end and without chunk lengths.
fn event(stream: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended: {text}");
        match line.trim_end() {
            "" if text.contains("data:") => return text,
            line if line.contains(':') => text += &format!("{line}\n"),
            _ => {}
        }
    }
}

#[test]
fn pages_and_scripts_are_given_with_a_policy_and_escaped() {
    let server = server();
    for (path, kind) in [
        ("/", "text/html"),
        ("/live/page.css", "text/css"),
        ("/live/uplot.js", "text/javascript"),
        ("/live/charts.js", "text/javascript"),
        ("/live/live.js", "text/javascript"),
    ] {
        let (mut stream, head) = ask(&server, path, LOCAL);
        let mut body = String::new();
        stream.read_to_string(&mut body).unwrap();
        assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-type: {kind}")), "{head}");
        assert!(head.contains("content-security-policy: default-src 'none';script-src 'self'"), "{head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
        assert!(path != "/" || !body.contains("<script>"), "{body}");
    }
    assert!(ask(&server, "/../../etc/passwd", LOCAL).1.starts_with("HTTP/1.1 404"));
}

#[test]
fn other_names_and_other_sites_are_refused_everywhere() {
    let server = server();
    for path in ["/", "/live/feed", "/live/live.js", "/nothing"] {
        for headers in [
            "Host: evil.example\r\n",
            "Host: localhost\r\nOrigin: http://evil.example\r\n",
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        ] {
            let (_, head) = ask(&server, path, headers);
            assert!(head.starts_with("HTTP/1.1 403"), "{path} {headers}: {head}");
        }
    }
}

#[test]
fn events_have_ids_and_a_browser_that_returns_goes_on_after_its_own() {
    let server = server();
    server.feed().publish(state("one"));
    let (mut stream, head) = ask(&server, "/live/feed", LOCAL);
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let first = event(&mut stream);
    assert!(first.contains("retry:") && first.contains("event: page") && first.contains("<p>one</p>"), "{first}");
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(stream);
    let back = format!("{LOCAL}Last-Event-ID: {id}\r\n");
    let (mut stream, _) = ask(&server, "/live/feed", &back);
    server.feed().publish(state("two"));
    let next = event(&mut stream);
    assert!(next.contains("<p>two</p>") && !next.contains("<p>one</p>"), "{next}");
}

/// Publishing never waits, and a slow client receives the newest state.
#[test]
fn a_client_that_does_not_read_holds_nobody_up_and_gets_the_newest_state() {
    let server = server();
    let (mut slow, _) = ask(&server, "/live/feed", LOCAL);
    let large = "x".repeat(1 << 20);
    let began = Instant::now();
    for i in 0..200 {
        server.feed().publish(state(&format!("{i} {large}")));
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    server.feed().publish(state("the newest"));
    // Some of the 200 states were sent before the socket was full, and at most one waited.
    let mut count = 0;
    while !event(&mut slow).contains("the newest") {
        count += 1;
    }
    assert!(count < 50, "{count} states were kept for it");
}

#[test]
fn the_end_comes_soon_although_clients_are_connected() {
    let server = server();
    server.feed().publish(state(&"x".repeat(1 << 24)));
    let clients = [ask(&server, "/live/feed", LOCAL), ask(&server, "/live/feed", LOCAL)];
    let half = connect(&server);
    let began = Instant::now();
    drop(server);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    drop((clients, half));
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let server = server();
    let taken = parse_local(&server.url()).unwrap();
    let sentence = LiveServer::start(taken, "t").unwrap_err();
    assert!(sentence.contains("in use") && sentence.contains("takes another port"), "{sentence}");
}
