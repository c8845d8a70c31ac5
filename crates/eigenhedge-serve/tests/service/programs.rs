//! Tests with a message broker and with Prometheus, skipped if they are not installed.

use super::child::Child;
use super::client::{Answer, Client, objects, rows, start};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Program that is killed on drop.
struct Program(std::process::Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program. If it is not installed, prints a message and returns `None`.
fn program(name: &str, arguments: &[&str]) -> Option<Program> {
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(Program).map_err(|error| eprintln!("skipped: {name}: {error}")).ok()
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn wait(what: &str, mut is_reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_reached() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Runs the command from the book with the addresses of this test.
#[test]
fn rows_come_from_a_message_broker() {
    let broker = free_address();
    let port = broker.port().to_string();
    let clients = ["mosquitto_sub", "mosquitto_pub"];
    if clients.iter().any(|name| program(name, &["--help"]).is_none()) {
        return;
    }
    let Some(_broker) = program("mosquitto", &["-p", &port]) else { return };
    let book = include_str!("../../../../docs/src/service.md");
    let line = book.lines().find(|line| line.starts_with("mosquitto_sub")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("press", &json!({"k": 1}));
    let command = line.replace("mosquitto_sub", &format!("exec mosquitto_sub -p {port}"));
    let command = command.replace("localhost:8750", &client.0.to_string());
    wait("the broker listens", || std::net::TcpStream::connect(broker).is_ok());
    let Some(_subscriber) = program("sh", &["-c", &command]) else { return };
    let publish = |row: &str| {
        let sent = Command::new("mosquitto_pub").args(["-p", &port, "-t", "sensors", "-m", row]).status();
        assert!(sent.unwrap().success());
    };
    let count = || client.get("/v1/streams/press/summary").json()["rows"].as_u64().unwrap_or(0);
    let rows = objects(&rows(30, 3));
    wait("the first row arrives", || {
        publish(&rows[0]);
        std::thread::sleep(Duration::from_millis(300));
        count() > 0
    });
    let before = count();
    rows[1..].iter().for_each(|row| publish(row));
    wait("all rows arrive", || count() >= before + 29);
}

/// Counters of a killed service never fall, and there is a gap instead of a zero.
#[test]
fn prometheus_scrapes_a_restart_without_a_dip() {
    let (folder, listen, own) = (tempfile::tempdir().unwrap(), free_address(), free_address());
    let config = folder.path().join("prometheus.yml");
    let jobs = "scrape_configs:\n  - job_name: eigenhedge\n    scrape_interval: 100ms\n    scrape_timeout: 100ms\n    static_configs:\n";
    std::fs::write(&config, format!("{jobs}      - targets: ['{listen}']\n")).unwrap();
    let data = format!("--storage.tsdb.path={}", folder.path().join("data").display());
    let arguments = [format!("--config.file={}", config.display()), data, format!("--web.listen-address={own}")];
    let Some(_prometheus) = program("prometheus", &arguments.each_ref().map(String::as_str)) else { return };
    let store = folder.path().join("store");
    let child = Child::at(&store, listen);
    child.client.make("press", &json!({"kind": "monitor", "warm_up": 100}));
    let lines = objects(&rows(20_000, 7));
    lines.chunks(2000).for_each(|lines| assert_eq!(child.client.rows("press", lines).status, 200));
    let values = |metric: &str| -> Vec<f64> {
        let answer = Client(own).try_send("GET", &format!("/api/v1/query?query={metric}[10m]"), "", b"");
        let found: Value = answer.ok().filter(|answer: &Answer| answer.status == 200).map_or(Value::Null, |a| a.json());
        let samples = found["data"]["result"][0]["values"].as_array().cloned().unwrap_or_default();
        samples.iter().map(|sample| sample[1].as_str().unwrap().parse().unwrap()).collect()
    };
    // Wait for several scrapes, because a dip could occur between two of them.
    let is_told = |count: f64| values("eigenhedge_rows_total").iter().filter(|rows| **rows >= count).count() > 3;
    wait("the rows are scraped", || is_told(20_000.0));
    child.kill();
    wait("the gap is scraped", || values("up").last() == Some(&0.0));
    let child = Child::at(&store, listen);
    child.client.wait();
    assert_eq!(child.client.rows("press", &lines[..50]).status, 200);
    wait("the rows after the restart are scraped", || is_told(20_050.0));
    for metric in ["eigenhedge_rows_total", "eigenhedge_skipped_rows_total", "eigenhedge_last_row_seconds"] {
        let values = values(metric);
        assert!(values.len() > 3 && values.is_sorted(), "{metric}: {values:?}");
    }
    let up = values("up");
    assert!(up.contains(&0.0) && up.last() == Some(&1.0), "{up:?}");
}
