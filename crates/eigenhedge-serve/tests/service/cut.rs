//! Requests of every kind, cut at random moments, with kills and restarts. Every request takes
//! effect once or not at all.
//!
//! A second, undisturbed ("calm") service receives the requests that have taken effect, one after
//! the other and uncut. After each batch of requests, the streams of both services must be equal
//! bit for bit. If a request was cut, either outcome is allowed until the streams are first
//! compared. A request for which there is no memory (413, 429, 507) has no effect.
//!
//! Under a memory limit most streams are wide, so that they are unloaded and loaded meanwhile.

use super::child::Child;
use super::client::{Answer, Client, rows, start, state};
use eigenhedge::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Environment variables: number of requests, seed, and memory limit in bytes.
const REQUESTS: &str = "EIGENHEDGE_CUT_REQUESTS";
const SEED: &str = "EIGENHEDGE_SEED";
const MEMORY: &str = "EIGENHEDGE_CUT_MEMORY";
/// Names of the streams. Under a memory limit, all but the first [`NARROW`] are wide.
const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
const NARROW: usize = 3;
/// Number of columns of a wide stream, whose learner takes 1.5 to 3 MB.
const WIDE: usize = 440;
/// Smallest memory limit in bytes, which leaves 8 MB for all learners.
const SMALLEST: u64 = 32 << 20;

fn options() -> [Value; 4] {
    [
        json!({"k": 2, "exclude": "who"}),
        json!({"k": 1, "learner": "tracking", "exclude": "who"}),
        json!({"kind": "monitor", "warm_up": 60, "lags": 0, "exclude": "who"}),
        json!({"k": 1, "learner": "tracking", "by": "who"}),
    ]
}

/// Time at which a client closes its socket.
#[derive(Debug, Clone, Copy)]
enum Cut {
    /// After the answer.
    Never,
    /// After this many bytes of the request.
    Bytes(usize),
    /// After this time from the end of the request.
    Time(Duration),
}

#[derive(Clone)]
struct Request {
    name: &'static str,
    kind: &'static str,
    bytes: Vec<u8>,
    cut: Cut,
}

impl Debug for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, bytes, cut } = self;
        write!(out, "{kind} of {name} with {} bytes, cut {cut:?}", bytes.len())
    }
}

impl Request {
    /// Sends the request. Returns the response, or `None` if the connection was cut or failed.
    fn send(&self, client: Client) -> Option<Answer> {
        match self.cut {
            Cut::Never => client.raw(&self.bytes).ok(),
            Cut::Bytes(count) => {
                let _ = TcpStream::connect(client.0).and_then(|mut socket| socket.write_all(&self.bytes[..count]));
                None
            }
            Cut::Time(time) => {
                if let Ok(mut socket) = TcpStream::connect(client.0) {
                    let _ = socket.write_all(&self.bytes);
                    std::thread::sleep(time);
                }
                None
            }
        }
    }

    fn can_have_happened(&self) -> bool {
        !matches!(self.cut, Cut::Bytes(count) if count < self.bytes.len())
    }

    /// Returns the request without the cut.
    fn whole(&self) -> Self {
        Self { cut: Cut::Never, ..self.clone() }
    }
}

struct Soak {
    random: Random,
    folder: tempfile::TempDir,
    memory: Option<u64>,
    child: Option<Child>,
    calm: Client,
    /// Number of blocks of rows so far, and last idempotency key.
    next: (u64, u64),
    /// Saved models by the width and the options of their streams.
    models: HashMap<String, Vec<u8>>,
    /// Numbers of requests by kind: all, unknown outcome with effect, unknown outcome without.
    counts: BTreeMap<&'static str, [u64; 3]>,
    kills: u64,
    restarts: u64,
    backups: u64,
    /// Numbers of requests without memory, and of unloaded streams.
    busy: u64,
    unloads: u64,
}

impl Soak {
    fn client(&self) -> Client {
        self.child.as_ref().unwrap().client
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn width(&self, name: &str) -> usize {
        if self.memory.is_some() && !NAMES[..NARROW].contains(&name) { WIDE } else { 4 }
    }

    /// Returns a block of rows that is sent once. Its columns are in random order.
    fn block(&mut self, name: &str) -> Vec<u8> {
        let width = self.width(name);
        let many = if width == WIDE { 40 } else { 120 };
        let count = 1 + self.below(if self.next.0.is_multiple_of(5) { many } else { 12 });
        self.next.0 += 1;
        let mut order: Vec<usize> = (0..=width).collect();
        (1..=width).for_each(|i| order.swap(i, self.random.below(i + 1)));
        let line = |row: &Vec<f64>| {
            // Later columns are multiples of the first four, with disturbances.
            let number =
                |i: usize| row[i % 4] * (1 + i / 4) as f64 + 0.1 * ((1 + i / 4) as f64 * row[(i + 1) % 4]).sin();
            let cell = |i: usize| format!("\"c{i}\":{:?}", if i < 4 { row[i] } else { number(i) });
            let mut cells: Vec<String> = (0..width).map(cell).collect();
            cells.push(format!("\"who\":\"{}\"", u8::from(row[0] > 0.0)));
            let cells: Vec<&str> = order.iter().map(|i| cells[*i].as_str()).collect();
            format!("{{{}}}\n", cells.join(","))
        };
        rows(count, 1000 + self.next.0).iter().map(line).collect::<String>().into_bytes()
    }

    fn request(&mut self, name: &'static str, kind: &'static str) -> Request {
        let path = format!("/v1/streams/{name}");
        let ndjson = "Content-Type: application/x-ndjson\r\n";
        let (line, headers, body) = match kind {
            "create" => {
                let chosen = self.random.below(4);
                (format!("PUT {path}"), String::new(), options()[chosen].to_string().into_bytes())
            }
            "delete" => (format!("DELETE {path}"), String::new(), Vec::new()),
            "rows" => (format!("POST {path}/rows"), ndjson.to_owned(), self.block(name)),
            "keyed rows" => {
                self.next.1 += 1;
                let headers = format!("{ndjson}Idempotency-Key: {}\r\n", self.next.1);
                (format!("POST {path}/rows"), headers, self.block(name))
            }
            "score" => (format!("POST {path}/score"), ndjson.to_owned(), self.block(name)),
            "accept" => (format!("POST {path}/accept"), String::new(), Vec::new()),
            "put model" => {
                let model = self.models.get(&self.key_of_model(name)).cloned().unwrap_or_default();
                (format!("PUT {path}/model"), String::new(), model)
            }
            "backup" => ("GET /v1/backup".to_owned(), String::new(), Vec::new()),
            "list" => ("GET /v1/streams".to_owned(), String::new(), Vec::new()),
            end => (format!("GET {path}/{end}"), String::new(), Vec::new()),
        };
        let length = body.len();
        let mut bytes = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        )
        .into_bytes();
        bytes.extend(body);
        let cut = match self.below(8) {
            0..2 if kind != "events" => Cut::Never,
            2 => Cut::Bytes(self.below(bytes.len() + 1)),
            _ => Cut::Time(Duration::from_micros(
                self.below(if self.width(name) == WIDE { 20_000 } else { 2000 }) as u64
            )),
        };
        Request { name, kind, bytes, cut }
    }

    /// Returns requests that change different streams, followed by requests that change nothing.
    fn batch(&mut self) -> (Vec<Request>, Vec<Request>) {
        let mut names = NAMES.to_vec();
        (1..names.len()).for_each(|i| names.swap(i, self.random.below(i + 1)));
        names.truncate(1 + self.below(4));
        let mut changes = Vec::new();
        for name in names {
            let is_there = self.calm.get(&format!("/v1/streams/{name}")).status == 200;
            let kinds: &[&'static str] = match is_there {
                true => &["rows", "rows", "keyed rows", "keyed rows", "accept", "put model", "create", "delete"],
                false => &["create", "create", "create", "create", "rows", "delete"],
            };
            let kind = kinds[self.below(kinds.len())];
            changes.push(self.request(name, kind));
        }
        let mut reads = Vec::new();
        for _ in 0..self.below(3) {
            let (name, kind) = (NAMES[self.below(NAMES.len())], self.below(6));
            reads.push(self.request(name, ["score", "summary", "model", "events", "backup", "list"][kind]));
        }
        (changes, reads)
    }

    /// Waits until other connections are closed and a later command has been applied.
    fn settle(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut quiet = 0;
        while quiet < 4 {
            let metrics = self.client().get("/metrics").text();
            quiet = if metrics.contains("\neigenhedge_connections 1\n") { quiet + 1 } else { 0 };
            assert!(Instant::now() < deadline, "connections stay open");
            std::thread::sleep(Duration::from_millis(1));
        }
        let head = "POST /v1/streams/last/rows HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let rest = "Content-Type: application/x-ndjson\r\nContent-Length: 13\r\n\r\n{\"a\":1,\"b\":2}";
        let answer = self.client().raw_when_free(format!("{head}{rest}").as_bytes()).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    fn compare(&self, name: &str, when: &str) {
        assert!(state(self.client(), name) == state(self.calm, name), "the stream {name} differs {when}");
    }

    /// Sends a request to the calm service if it has taken effect, and compares the stream.
    fn resolve(&mut self, request: &Request, answer: Option<&Answer>) {
        let whole = request.whole();
        self.counts.entry(request.kind).or_default()[0] += 1;
        if answer.is_some_and(Answer::has_no_memory) {
            self.busy += 1;
            return self.compare(request.name, &format!("after the refused {request:?}"));
        }
        if let Some(answer) = answer {
            let calm = whole.send(self.calm).unwrap();
            assert_eq!(answer.status, calm.status, "{request:?}: {} and {}", answer.text(), calm.text());
            // A new stream may not be loaded yet.
            let text = |answer: &Answer| answer.text().replace("\"is_loaded\":false", "\"is_loaded\":true");
            assert_eq!(text(answer), text(&calm), "{request:?}");
            return self.compare(request.name, &format!("after {request:?}"));
        }
        let has_happened = state(self.client(), request.name) != state(self.calm, request.name);
        self.counts.entry(request.kind).or_default()[if has_happened { 1 } else { 2 }] += 1;
        if has_happened {
            assert!(request.can_have_happened(), "{request:?}");
            assert!(whole.send(self.calm).unwrap().status < 300, "{request:?}");
            self.compare(request.name, &format!("after the cut {request:?}"));
        }
        if request.kind == "keyed rows" && self.below(2) == 0 {
            // A repetition has the answers of the first request, unless that had no effect.
            let answer = self.client().raw_when_free(&whole.bytes).unwrap();
            if !has_happened && answer.has_no_memory() {
                self.busy += 1;
                return self.compare(request.name, &format!("after the refused repetition of {request:?}"));
            }
            let calm = whole.send(self.calm).unwrap();
            let told = format!("{request:?}, happened {has_happened}: {} and {}", answer.text(), calm.text());
            assert!((answer.status, answer.body) == (calm.status, calm.body), "{told}");
        }
    }

    fn restart(&mut self, is_kill: bool) {
        self.unloads += self.client().unloads();
        let child = self.child.take().unwrap();
        if is_kill {
            child.kill()
        } else {
            child.stop()
        }
        *(if is_kill { &mut self.kills } else { &mut self.restarts }) += 1;
        self.child = Some(start_child(self.folder.path(), self.memory));
        self.client().wait();
    }

    /// Checks the response to a read. `is_calm` is false if its stream was changed meanwhile.
    fn check_read(&mut self, request: &Request, answer: Option<&Answer>, is_calm: bool, changed: &[&str]) {
        self.counts.entry(request.kind).or_default()[0] += 1;
        let Some(answer) = answer else { return };
        if answer.has_no_memory() {
            self.busy += 1;
            return;
        }
        match request.kind {
            "backup" => {
                assert_eq!(answer.status, 200);
                self.backups += 1;
                if self.backups <= 3 {
                    self.check_backup(&answer.body, changed);
                }
            }
            "list" => assert_eq!(answer.status, 200),
            _ if is_calm => {
                let calm = request.whole().send(self.calm).unwrap();
                assert!((answer.status, &answer.body) == (calm.status, &calm.body), "{request:?}");
            }
            _ => assert!([200, 404, 409, 422].contains(&answer.status), "{request:?}: {}", answer.text()),
        }
    }

    fn check_backup(&self, bytes: &[u8], changed: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("store.redb"), bytes).unwrap();
        let (_service, client) = start(folder.path());
        for name in NAMES.iter().filter(|name| !changed.contains(name)) {
            assert!(state(client, name) == state(self.calm, name), "the stream {name} differs in the backup");
        }
    }

    /// Returns the key of a stream in `models`: its width and its options.
    fn key_of_model(&self, name: &str) -> String {
        let described = self.calm.get(&format!("/v1/streams/{name}")).json();
        format!("{} {}", self.width(name), described["options"])
    }

    /// Saves some models for later uploads.
    fn keep_models(&mut self) {
        for name in NAMES {
            let model = self.calm.get(&format!("/v1/streams/{name}/model"));
            if model.status == 200 && self.below(4) == 0 {
                self.models.insert(self.key_of_model(name), model.body);
            }
        }
    }

    fn fill(&mut self) {
        for (i, name) in NAMES.iter().enumerate() {
            if self.width(name) != WIDE {
                continue;
            }
            for client in [self.client(), self.calm] {
                client.make(name, &options()[i % 4]);
            }
            let request = Request { cut: Cut::Never, ..self.request(name, "rows") };
            let answer = self.client().raw_when_free(&request.bytes).unwrap();
            assert!((answer.status, answer.body) == (200, request.send(self.calm).unwrap().body), "{name}");
        }
    }

    fn run(&mut self, requests: u64) {
        self.fill();
        let mut sent = 0;
        while sent < requests {
            let (changes, reads) = self.batch();
            sent += (changes.len() + reads.len()) as u64;
            let changed: Vec<&str> = changes.iter().map(|request| request.name).collect();
            let will_kill = self.below(12) == 0;
            let pause = Duration::from_micros(self.below(6000) as u64);
            let client = self.client();
            let answers: Vec<Option<Answer>> = std::thread::scope(|scope| {
                let all: Vec<_> =
                    changes.iter().chain(&reads).map(|request| scope.spawn(move || request.send(client))).collect();
                if will_kill {
                    std::thread::sleep(pause);
                    self.restart(true);
                }
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            self.settle();
            let (of_changes, of_reads) = answers.split_at(changes.len());
            // Reads are compared before the calm service receives the changes.
            for (request, answer) in reads.iter().zip(of_reads) {
                self.check_read(request, answer.as_ref(), !changed.contains(&request.name), &changed);
            }
            for (request, answer) in changes.iter().zip(of_changes) {
                self.resolve(request, answer.as_ref());
            }
            match self.below(16) {
                0 => self.restart(true),
                1 => self.restart(false),
                2 => self.keep_models(),
                _ => continue,
            }
            NAMES.iter().for_each(|name| self.compare(name, "after a restart"));
        }
        self.restart(false);
        NAMES.iter().for_each(|name| self.compare(name, "at the end"));
    }
}

fn start_child(folder: &Path, memory: Option<u64>) -> Child {
    Child::try_start(folder, memory).unwrap_or_else(|(status, text)| panic!("{status:?}: {text}"))
}

fn soak(requests: u64, seed: u64, memory: Option<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let (_service, calm) = start(folder.path());
    let folder = tempfile::tempdir().unwrap();
    let child = start_child(folder.path(), memory);
    child.client.make("last", &json!({"k": 1}));
    let mut soak = Soak {
        random: Random::seeded(seed),
        folder,
        memory,
        child: Some(child),
        calm,
        next: (0, 0),
        models: HashMap::new(),
        counts: BTreeMap::new(),
        kills: 0,
        restarts: 0,
        backups: 0,
        busy: 0,
        unloads: 0,
    };
    soak.run(requests);
    let Soak { kills, restarts, backups, counts, busy, unloads, .. } = soak;
    println!("seed {seed}: {requests} requests, {kills} kills, {restarts} restarts, {backups} backups");
    println!("memory limit {memory:?}: {busy} requests refused for lack of memory, {unloads} unloads");
    println!("kind: requests, of unknown outcome: carried out, not carried out or without effect");
    counts.iter().for_each(|(kind, [all, done, not])| println!("  {kind}: {all}, {done}, {not}"));
    let unknown = |place: usize| counts.values().map(|count| count[place]).sum::<u64>();
    assert!(unknown(1) > 0 && unknown(2) > 0, "cuts must leave both outcomes possible");
    assert!(memory.is_none() || unloads >= requests / 20, "streams must be unloaded meanwhile");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn cut_requests_happen_once_or_not_at_all() {
    soak(number(REQUESTS).unwrap_or(120), number(SEED).unwrap_or(1), None);
}

#[test]
fn cut_requests_happen_once_or_not_at_all_while_streams_are_unloaded() {
    soak(number(REQUESTS).unwrap_or(40), number(SEED).unwrap_or(1), Some(number(MEMORY).unwrap_or(SMALLEST)));
}
