//! Malformed and hostile requests: no panic, no undocumented status, constant memory.

use super::client::{Client, object, rows, settings};
use eigenhedge::Random;
use eigenhedge_serve::service::Service;
use serde_json::json;

/// Environment variable: number of requests.
const COUNT: &str = "EIGENHEDGE_FUZZ";
const DOCUMENTED: [u16; 17] = [200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 503, 507, 303];

struct Fuzzer {
    random: Random,
}

impl Fuzzer {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    fn body(&mut self) -> Vec<u8> {
        let rows: Vec<String> = rows(1 + self.below(3), 1).iter().map(|row| object(row)).collect();
        let mut body = match self.below(9) {
            0 => rows.join("\n").into_bytes(),
            1 => format!("[{}]", rows.join(",")).into_bytes(),
            2 => b"a,b,c,d\n1,2,3,4\n5,6,,x\n".to_vec(),
            3 => json!({"k": self.below(5), "learner": "leader", "by": self.below(2)}).to_string().into_bytes(),
            4 => "[".repeat(1 + self.below(5000)).into_bytes(),
            5 => "{\"a\":".repeat(1 + self.below(5000)).into_bytes(),
            6 => b"{\"a\":1e999,\"b\":-0,\"c\":null,\"d\":\"\\ud800\"}".to_vec(),
            7 => (0..self.below(300)).map(|_| self.below(256) as u8).collect(),
            _ => b"{\"kind\":\"monitor\",\"key\":\"\",\"k\":99999999999999999999}".to_vec(),
        };
        for _ in 0..self.below(4) {
            if !body.is_empty() {
                let at = self.below(body.len());
                match self.below(3) {
                    0 => body[at] ^= 1 << self.below(8),
                    1 => body.truncate(at),
                    _ => body.insert(at, self.below(256) as u8),
                }
            }
        }
        body
    }

    /// Returns a request for an existing path. Its body may be damaged.
    fn nearly_good(&mut self) -> Vec<u8> {
        let (method, path) = self
            .pick(&[
                "POST /v1/streams/s/rows",
                "POST /v1/streams/s/rows",
                "POST /v1/streams/s/score",
                "GET /v1/streams/s/summary",
                "GET /v1/streams/s/model",
                "PUT /v1/streams/s/model",
                "PUT /v1/streams/t",
                "POST /v1/streams/t/rows",
                "POST /v1/streams/t/accept",
                "DELETE /v1/streams/t",
                "GET /openapi.json",
            ])
            .split_once(' ')
            .unwrap();
        let kind = self.pick(&["application/json", "text/csv", "application/x-ndjson"]);
        let key = if self.below(4) == 0 { format!("Idempotency-Key: {}\r\n", self.below(9)) } else { String::new() };
        let body = self.body();
        let length = body.len();
        let mut bytes = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{key}\r\n"
        )
        .into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }

    fn request(&mut self) -> Vec<u8> {
        if self.below(2) == 0 {
            return self.nearly_good();
        }
        let method = self.pick(&["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "get", "", "OPTIONS", "X\u{1}"]);
        let name = self.pick(&["s", "t", "..", "%2e%2e", "a%00", "<b>", "", "%f0", "s%2Frows"]);
        let end = self.pick(&["", "/rows", "/score", "/summary", "/model", "/accept", "/events/x", "/rows/"]);
        let path = match self.below(6) {
            0 => self
                .pick(&[
                    "/",
                    "/metrics",
                    "/health",
                    "/v1/backup/x",
                    "*",
                    "//",
                    "/v1",
                    "http://localhost/health",
                    "/?\u{7f}",
                ])
                .to_owned(),
            _ => format!("/v1/streams/{name}{end}{}", self.pick(&["", "?key=%", "?key=%e4&&=", "?"])),
        };
        let host = self.pick(&["localhost", "localhost", "localhost", "evil.example", ""]);
        let kind = self.pick(&[
            "application/json",
            "text/csv",
            "application/x-ndjson",
            "image/png",
            "",
            "\u{1}",
            "text/csv; charset=\"",
            "application/vnd.apache.arrow.stream",
        ]);
        let extra = self.pick(&[
            "",
            "Idempotency-Key: x\r\n",
            "Idempotency-Key: \r\n",
            "Last-Event-ID: -1\r\n",
            "Origin: null\r\n",
            "Expect: 100-continue\r\n",
            "Authorization: \u{7f}\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\n",
        ]);
        let body = self.body();
        let stated = match self.below(8) {
            0 => body.len() / 2,
            _ => body.len(),
        };
        let mut bytes =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {stated}\r\n{extra}\r\n").into_bytes();
        if self.below(6) == 0 {
            bytes.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
        }
        bytes.extend_from_slice(&body);
        if self.below(20) == 0 {
            let at = self.below(bytes.len());
            bytes.truncate(at);
        }
        bytes
    }
}

#[test]
fn hostile_requests_are_answered_with_documented_statuses() {
    let count: usize = std::env::var(COUNT).ok().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let folder = tempfile::tempdir().unwrap();
    let mut small = settings(folder.path());
    small.limits.head_time = std::time::Duration::from_millis(150);
    small.limits.body_time = std::time::Duration::from_millis(150);
    small.max_streams = 8;
    let service = Service::start(small).unwrap();
    let client = Client(service.address());
    let mut fuzzer = Fuzzer { random: Random::seeded(41) };
    let mut statuses = std::collections::BTreeMap::new();
    let mut memory = None;
    for i in 0..count {
        if i % 200 == 0 {
            let _ = client.put("/v1/streams/s", &json!({"k": 2}));
        }
        if i == count / 5 {
            memory = resident();
        }
        let request = fuzzer.request();
        let shown = String::from_utf8_lossy(&request[..request.len().min(400)]).into_owned();
        match client.raw(&request) {
            Ok(answer) => {
                assert!(DOCUMENTED.contains(&answer.status), "{} to {shown}", answer.status);
                *statuses.entry(answer.status).or_insert(0) += 1;
            }
            // A truncated request or a head that is not HTTP may have no response.
            Err(_) => *statuses.entry(0).or_insert(0) += 1,
        }
    }
    assert_eq!(client.get("/health").status, 200);
    assert!(statuses.len() >= 8, "{statuses:?}");
    if let (Some(before), Some(after)) = (memory, resident()) {
        println!("{count} requests: {statuses:?}; memory {} to {} MB", before >> 20, after >> 20);
        assert!(after < before + (64 << 20), "memory grew from {before} to {after}");
    }
}

fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?)
}
