//! HTTP client over plain sockets, and test rows.

use eigenhedge::Random;
use eigenhedge_serve::service::{Service, Settings};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// Response. It is not comparable as a whole, because its head contains the time.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn lines(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns true for the statuses of requests for which the service has no memory.
    pub fn has_no_memory(&self) -> bool {
        [413, 429, 507].contains(&self.status)
    }

    /// Checks that the response is an error, and returns its sentence.
    pub fn detail(&self) -> String {
        assert!(self.head.to_ascii_lowercase().contains("content-type: application/problem+json"), "{}", self.head);
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        problem["detail"].as_str().unwrap().to_owned()
    }
}

/// Client of the service at an address.
#[derive(Debug, Clone, Copy)]
pub struct Client(pub SocketAddr);

impl Client {
    /// Sends bytes and reads the whole response.
    pub fn raw(self, bytes: &[u8]) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(self.0)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        // The server may respond and close the connection before it has read everything.
        let written = stream.write_all(bytes);
        let mut text = Vec::new();
        let read = stream.read_to_end(&mut text);
        if text.is_empty() {
            written?;
            read?;
        }
        // With `Expect: 100-continue`, the server sends this status first.
        if text.starts_with(b"HTTP/1.1 100") {
            let end = text.windows(4).position(|window| window == b"\r\n\r\n").map_or(text.len(), |end| end + 4);
            text.drain(..end);
        }
        let end = text.windows(4).position(|window| window == b"\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        let head = String::from_utf8_lossy(&text[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let mut body = text[end + 4..].to_vec();
        if chunked {
            body = unchunk(&body).ok_or(io::ErrorKind::UnexpectedEof)?;
        } else if let Some(length) = stated_length(&head)
            && body.len() < length
        {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Answer { status, head, body })
    }

    /// Sends bytes, and repeats them for up to a minute while the status is 429.
    pub fn raw_when_free(self, bytes: &[u8]) -> io::Result<Answer> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.raw(bytes)?;
            if answer.status != 429 || Instant::now() > deadline {
                return Ok(answer);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a request. `headers` are header lines that end in CRLF.
    pub fn try_send(self, method: &str, path: &str, headers: &str, body: &[u8]) -> io::Result<Answer> {
        let mut bytes = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    /// Returns the number of times that streams were unloaded.
    pub fn unloads(self) -> u64 {
        let metrics = self.get("/metrics").text();
        let lines = metrics.lines().filter(|line| line.contains("unloads_total{"));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    }

    pub fn send(self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        self.try_send(method, path, headers, body).unwrap()
    }

    pub fn get(self, path: &str) -> Answer {
        self.send("GET", path, "", b"")
    }

    pub fn put(self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, "Content-Type: application/json\r\n", body.to_string().as_bytes())
    }

    pub fn make(self, name: &str, options: &Value) {
        let answer = self.put(&format!("/v1/streams/{name}"), options);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    /// Sends rows as JSON lines.
    pub fn rows(self, name: &str, rows: &[String]) -> Answer {
        let path = format!("/v1/streams/{name}/rows");
        self.send("POST", &path, "Content-Type: application/x-ndjson\r\n", rows.join("\n").as_bytes())
    }

    /// Waits until all streams are loaded from the store. On a slow machine this can take minutes.
    pub fn wait(self) {
        let deadline = Instant::now() + Duration::from_secs(600);
        while Instant::now() < deadline {
            if self.try_send("GET", "/ready", "", b"").is_ok_and(|answer| answer.status == 200) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the service is not ready");
    }
}

fn stated_length(head: &str) -> Option<usize> {
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-length:"))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).ok()?, 16).ok()?;
        bytes = &bytes[end + 2..];
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(bytes.get(..length)?);
        bytes = bytes.get(length + 2..)?;
    }
}

/// Returns settings for tests: an arbitrary port and little memory.
pub fn settings(folder: &Path) -> Settings {
    let mut settings = Settings::new(folder.to_owned());
    settings.listen = "127.0.0.1:0".parse().unwrap();
    settings.max_memory = 256 << 20;
    settings
}

/// Starts a service and waits until it is ready.
pub fn start(folder: &Path) -> (Service, Client) {
    let service = Service::start(settings(folder)).unwrap();
    let client = Client(service.address());
    client.wait();
    (service, client)
}

/// Returns rows of four columns: two factors and noise, with an outlier in every 97th row.
pub fn rows(count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut row = |t: usize| {
        let (u, v) = (random.normal(), random.normal());
        let fault = if t % 97 == 96 { 8.0 } else { 0.0 };
        let noise: [f64; 4] = std::array::from_fn(|_| 0.1 * random.normal());
        vec![u + noise[0], u - v + noise[1], v + noise[2], 2.0 * v + noise[3] + fault]
    };
    (0..count).map(&mut row).collect()
}

/// Returns a row as a JSON object with the keys a, b, c and d.
pub fn object(row: &[f64]) -> String {
    let names = ["a", "b", "c", "d"];
    let cells: Vec<String> = names.iter().zip(row).map(|(name, x)| format!("\"{name}\":{x:?}")).collect();
    format!("{{{}}}", cells.join(","))
}

pub fn objects(rows: &[Vec<f64>]) -> Vec<String> {
    rows.iter().map(|row| object(row)).collect()
}

/// Responses from which a client can see the state of a stream: status and body of each.
pub type State = Vec<(u16, Vec<u8>)>;

pub fn state(client: Client, name: &str) -> State {
    // The summary comes first, because it loads the stream.
    let get = |end: &str| {
        let head = format!("GET /v1/streams/{name}{end} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = client.raw_when_free(head.as_bytes()).unwrap();
        (answer.status, answer.body)
    };
    ["/summary", "/model", ""].map(get).to_vec()
}
