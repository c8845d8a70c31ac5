//! Resident memory stays below the limit plus a constant under seeded load of every kind.
//!
//! `cargo xtask soak memory` sets `EIGENHEDGE_SOAK_SECONDS` and `EIGENHEDGE_SEED`.

use super::child::Child;
use super::client::Client;
use eigenhedge::Random;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Memory limit of the service, in bytes.
const LIMIT: u64 = 128 << 20;
/// Memory of the program itself in bytes, including connections and fragmentation.
const CONSTANT: u64 = 64 << 20;
/// Minimum duration, in seconds, of a run whose memory must not grow.
const FLAT_AFTER: u64 = 120;
const CLIENTS: u64 = 6;
const STREAMS: usize = 24;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn most(part: &[u64]) -> u64 {
    part.iter().copied().max().unwrap_or(0)
}

fn median(part: &[u64]) -> u64 {
    let mut sorted = part.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// Returns the memory that the service has allocated, in bytes.
fn used(client: Client) -> Option<u64> {
    let metrics = client.try_send("GET", "/metrics", "", b"").ok()?.text();
    let line = metrics.lines().find_map(|line| line.strip_prefix("eigenhedge_allocated_bytes "))?;
    line.parse::<f64>().ok().map(|bytes| bytes as u64)
}

/// Starts a service with a memory limit in bytes, and waits until it is ready.
fn start(folder: &Path, limit: u64) -> Child {
    let child = Child::try_start(folder, Some(limit)).unwrap_or_else(|(_, text)| panic!("{text}"));
    child.client.wait();
    child
}

/// Returns the resident memory of a process in bytes, or `None` if the system does not report it.
fn resident(id: u32) -> Option<u64> {
    memory(id, "VmRSS:")
}

/// Returns a memory size of a process, such as `VmRSS:`, in bytes.
fn memory(id: u32, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?)
}

/// Returns random rows as CSV. If `by_key` is true, they have a key column `who`.
fn table(random: &mut Random, rows: usize, width: usize, by_key: bool) -> Vec<u8> {
    let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
    let mut text = format!("{}{}\n", if by_key { "who," } else { "" }, names.join(","));
    for _ in 0..rows {
        if by_key {
            text += &format!("k{},", random.below(5000));
        }
        let cells: Vec<String> = (0..width).map(|_| format!("{:.3}", random.normal())).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text.into_bytes()
}

/// Client that sends random requests and counts the statuses.
struct Load<'a> {
    client: Client,
    random: Random,
    statuses: &'a Mutex<std::collections::BTreeMap<u16, u64>>,
    open: Vec<TcpStream>,
}

impl Load<'_> {
    fn send(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<u16> {
        // The service may close the connection of a refused body before its response is read.
        let answer = self.client.try_send(method, path, headers, body).ok()?;
        let (status, text) = (answer.status, answer.text());
        assert!([200, 201, 204, 400, 404, 409, 413, 422, 429, 507].contains(&status), "{method} {path}: {text}");
        *self.statuses.lock().unwrap().entry(status).or_default() += 1;
        Some(status)
    }

    /// Sends a request or a part of it. The connection stays open without being read.
    fn leave(&mut self, method: &str, path: &str, headers: &str, length: usize, body: &[u8]) {
        let Ok(mut stream) = TcpStream::connect(self.client.0) else { return };
        stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n");
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        self.open.push(stream);
        if self.open.len() > 40 {
            self.open.drain(..20);
        }
    }

    fn step(&mut self) {
        let i = self.random.below(STREAMS);
        // The index of a stream determines its width and its options.
        let width = [2, 3, 8, 16, 64, 200, 600, 4096][i % 8];
        let options = match i % 6 {
            0 => json!({"k": 1}),
            1 => json!({"kind": "monitor", "warm_up": 20}),
            2 => json!({"k": 1, "by": "who"}),
            3 => json!({"kind": "monitor", "by": "who", "warm_up": 20}),
            4 => json!({"k": 1, "learner": "tracking"}),
            _ => json!({"k": 1, "learner": "leader", "kernel": "gaussian", "budget": 20}),
        };
        let (by_key, path) = (options.get("by").is_some(), format!("/v1/streams/s{i}"));
        let csv = "Content-Type: text/csv\r\n";
        let most = if self.random.uniform() < 0.1 { 40_000 } else { 2000 };
        let rows = 1 + self.random.below(1 + most / width);
        let random = &mut self.random;
        match random.below(20) {
            0 => _ = self.send("DELETE", &path, "", b""),
            1 => _ = self.send("GET", &format!("{path}/summary"), "", b""),
            2 => _ = self.send("GET", &format!("{path}/model"), "", b""),
            3 if random.uniform() < 0.2 => _ = self.send("GET", "/v1/backup", "", b""),
            4 => {
                let body = table(random, rows, width, by_key);
                self.send("POST", &format!("{path}/score"), csv, &body);
            }
            5 => {
                let saved = self.client.try_send("GET", &format!("{path}/model"), "", b"");
                if let Ok(saved) = saved.map(|answer| answer.body) {
                    self.send("PUT", &format!("{path}/model"), "", &saved);
                }
            }
            6 => {
                let part = vec![b'1'; 1 << (10 + random.below(14))];
                self.leave("POST", &format!("{path}/rows"), csv, 30 << 20, &part);
            }
            7 => {
                let body = table(random, rows, width, by_key);
                self.leave("POST", &format!("{path}/rows"), csv, body.len(), &body);
            }
            8 => {
                let page = ["/events", "/events", "/events", "/page"][random.below(4)];
                self.leave("GET", &format!("{path}{page}"), "", 0, b"");
            }
            9 => {
                let long = "x".repeat(1 << (8 + random.below(13)));
                self.send("PUT", &path, "", json!({"k": 1, "columns": [long]}).to_string().as_bytes());
            }
            10 => {
                let mut body = b"who,c0\n".to_vec();
                body.extend(std::iter::repeat_n(b'y', 1 << (8 + random.below(14))));
                self.send("POST", &format!("{path}/rows"), csv, &body);
            }
            11 => {
                for _ in 0..20 {
                    let key = self.random.uniform();
                    let body = table(&mut self.random, 1, width.min(8), by_key);
                    self.send("POST", &format!("{path}/rows"), &format!("{csv}Idempotency-Key: {key}\r\n"), &body);
                }
            }
            12..15 => _ = self.send("PUT", &path, "", options.to_string().as_bytes()),
            _ => {
                let body = table(random, rows, width, by_key);
                self.send("POST", &format!("{path}/rows"), csv, &body);
            }
        }
    }
}

#[test]
fn resident_memory_stays_below_the_limit_under_every_kind_of_load() {
    let (seconds, seed) = (number("EIGENHEDGE_SOAK_SECONDS", 6), number("EIGENHEDGE_SEED", 1));
    let folder = tempfile::tempdir().unwrap();
    let child = start(folder.path(), LIMIT);
    let client = child.client;
    let (is_over, statuses, requests) = (AtomicBool::new(false), Mutex::default(), AtomicU64::new(0));
    let start = Instant::now();
    let id = child.id();
    let (mut samples, mut allocated) = (Vec::<u64>::new(), Vec::new());
    std::thread::scope(|scope| {
        for i in 0..CLIENTS {
            let random = Random::seeded(seed.wrapping_mul(1000) + i);
            let (is_over, statuses, requests) = (&is_over, &statuses, &requests);
            scope.spawn(move || {
                let mut load = Load { client, random, statuses, open: Vec::new() };
                while !is_over.load(Ordering::Relaxed) {
                    load.step();
                    requests.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while start.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(50));
            samples.extend(resident(id));
            if samples.len().is_multiple_of(20) {
                allocated.extend(used(client));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        // Clients then do not wait for the responses to their last requests.
        child.kill();
    });
    let tenths = |all: &[u64], of: fn(&[u64]) -> u64| -> Vec<u64> {
        all.chunks(all.len().div_ceil(10).max(1)).map(|part| of(part) >> 20).collect()
    };
    println!(
        "{} requests in {seconds} s with seed {seed}, statuses {:?}; for each tenth in MB: largest resident memory {:?}, \
         median {:?}, median of the memory in use {:?}",
        requests.load(Ordering::Relaxed),
        statuses.lock().unwrap(),
        tenths(&samples, most),
        tenths(&samples, median),
        tenths(&allocated, median),
    );
    assert!(most(&samples) <= LIMIT + CONSTANT);
    // Leaks and fragmentation grow with time. Short runs still create streams.
    if seconds >= FLAT_AFTER {
        let third = samples.len() / 3;
        let (middle, last) = (median(&samples[third..2 * third]), median(&samples[2 * third..]));
        assert!(last <= middle + middle / 20, "the median grows from {} to {} MB", middle >> 20, last >> 20);
    }
}

#[test]
fn options_take_no_memory_whatever_they_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let child = start(folder.path(), LIMIT);
    for learner in ["auto", "tracking", "perturbed-leader", "gha", "apex"] {
        for k in [8000, 65_536] {
            let options = json!({"k": k, "learner": learner});
            assert_eq!(child.client.put(&format!("/v1/streams/{learner}{k}"), &options).status, 201, "{options}");
        }
    }
    // The description of the service tries such options too.
    assert_eq!(child.client.get("/openapi.json").status, 200);
    if let Some(bytes) = memory(child.id(), "VmHWM:") {
        assert!(bytes <= LIMIT, "{bytes}");
    }
}

#[test]
fn wide_streams_and_unfinished_bodies_do_not_exceed_the_limit() {
    // Limit, streams, columns, bodies, and bytes sent of each body. `cargo xtask soak memory` sets the variable.
    let (limit, streams, width, bodies, bytes) = match std::env::var("EIGENHEDGE_SOAK_SECONDS") {
        Ok(_) => (256 << 20, 30, 1500, 100, 29 << 20),
        Err(_) => (LIMIT, 16, 700, 16, 4 << 20),
    };
    let folder = tempfile::tempdir().unwrap();
    let child = start(folder.path(), limit);
    let client = child.client;
    let mut random = Random::seeded(3);
    // On a slow machine, memory may be short while other streams are being saved.
    let send = |client: Client, method: &str, path: &str, headers: &str, body: &[u8]| {
        let send = || client.send(method, path, headers, body);
        let answers = std::iter::repeat_with(|| {
            let answer = send();
            (answer.status == 429).then(|| std::thread::sleep(Duration::from_millis(200)));
            answer
        });
        answers.take(100).find(|answer| answer.status != 429).unwrap_or_else(send)
    };
    let learn = |client: Client, path: &str, body: &[u8]| {
        send(client, "POST", &format!("{path}/rows"), "Content-Type: text/csv\r\nIdempotency-Key: once\r\n", body)
    };
    let (wide, body) = (table(&mut random, 2, 4096, false), table(&mut random, 2, width, false));
    let paths: Vec<String> = (0..streams).map(|i| format!("/v1/streams/w{i}")).collect();
    let mut answers = Vec::new();
    for path in &paths {
        let answer = send(client, "PUT", path, "", br#"{"k": 1}"#);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let answer = learn(client, path, &wide);
        assert_eq!(answer.status, 507, "{}", answer.text());
        let named = format!("--max-memory {:.1} MB", limit as f64 / 1e6);
        assert!(answer.detail().contains(&named), "{}", answer.detail());
        let answer = learn(client, path, &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answers.push(answer.body);
    }
    // An unloaded stream has lost nothing and learns nothing twice, now and after a restart.
    let is_once = |client: Client| {
        for (path, answer) in paths.iter().zip(&answers) {
            assert!(learn(client, path, &body).body == *answer, "{path}");
            let summary = send(client, "GET", &format!("{path}/summary"), "", b"");
            assert_eq!(summary.json()["rows"], 2);
        }
    };
    is_once(client);
    assert!(client.unloads() > 0, "some streams were unloaded");
    child.kill();
    let child = start(folder.path(), limit);
    let client = child.client;
    is_once(client);
    let bytes = vec![b'1'; bytes];
    let mut open = Vec::new();
    let mut refused = 0;
    for _ in 0..bodies {
        let mut stream = TcpStream::connect(client.0).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let head = "POST /v1/streams/w0/rows HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n";
        write!(stream, "{head}Content-Length: 31000000\r\n\r\n").unwrap();
        let _ = stream.write_all(&bytes);
        let mut answer = [0; 12];
        refused += u32::from(stream.read(&mut answer).is_ok() || answer.starts_with(b"HTTP"));
        open.push(stream);
    }
    if let Some(bytes) = resident(child.id()) {
        println!("{streams} streams of {width} columns and {bodies} unfinished bodies: {} MB", bytes >> 20);
        assert!(bytes <= limit + CONSTANT, "{bytes}");
        assert!(refused > 0, "some bodies did not fit");
    }
    child.kill();
}
