//! Tokens, host names and origins.

use super::client::{Client, settings, start};
use eigenhedge_serve::service::{Service, Tokens};
use serde_json::json;

const READ: &str = "Authorization: Bearer read-0123456789abcdef\r\n";
const WRITE: &str = "Authorization: Bearer write-0123456789abcdef\r\n";
const ADMIN: &str = "Authorization: Bearer admin-0123456789abcdef\r\n";

fn tokens() -> Tokens {
    let text = "read read-0123456789abcdef\nwrite write-0123456789abcdef\nadmin admin-0123456789abcdef\n";
    Tokens::from_text(text).unwrap()
}

#[test]
fn other_machines_need_a_token() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let mut open = settings(folder.path());
        open.listen = address.parse().unwrap();
        let refusal = Service::start(open.clone()).err().unwrap();
        assert!(refusal.contains("--token-file") && refusal.contains("TLS"), "{refusal}");
        open.tokens = Some(tokens());
        open.check().unwrap();
    }
}

#[test]
fn a_token_allows_what_its_scope_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut guarded = settings(folder.path());
    guarded.tokens = Some(tokens());
    let service = Service::start(guarded).unwrap();
    let client = Client(service.address());
    let ndjson = "Content-Type: application/x-ndjson\r\n";
    let stream = json!({"k": 1}).to_string();
    let saved = |token: &str| client.send("GET", "/v1/streams/s/model", token, b"").body;
    let row = b"[1,2,3]";
    let send = |method: &str, path: &str, headers: &str, body: &[u8]| client.send(method, path, headers, body).status;
    let wrong = [
        "",
        "Authorization: Bearer nobody-0123456789abcdef\r\n",
        "Authorization: Basic abc\r\n",
        "Authorization: Bearer\r\n",
        "Cookie: eigenhedge=no\r\n",
    ];
    for token in wrong {
        for path in ["/v1/streams", "/metrics", "/v1/backup", "/v1/streams/s/summary"] {
            assert_eq!(send("GET", path, token, b""), 401, "{path} {token}");
        }
        assert_eq!(send("PUT", "/v1/streams/s", token, stream.as_bytes()), 401);
        assert_eq!(send("GET", "/health", token, b""), 200);
    }
    assert_eq!(send("PUT", "/v1/streams/s", READ, stream.as_bytes()), 403);
    assert_eq!(send("PUT", "/v1/streams/s", WRITE, stream.as_bytes()), 201);
    assert_eq!(send("POST", "/v1/streams/s/rows", &format!("{READ}{ndjson}"), row), 403);
    assert_eq!(send("POST", "/v1/streams/s/rows", &format!("{WRITE}{ndjson}"), row), 200);
    assert_eq!(send("POST", "/v1/streams/s/score", &format!("{READ}{ndjson}"), row), 200);
    assert_eq!(send("GET", "/v1/streams/s/summary", READ, b""), 200);
    assert_eq!(send("GET", "/metrics", "Cookie: a=b; eigenhedge=read-0123456789abcdef\r\n", b""), 200);
    assert_eq!(send("GET", "/v1/backup", WRITE, b""), 403);
    assert_eq!(send("GET", "/v1/backup", ADMIN, b""), 200);
    let bytes = saved(READ);
    assert_eq!(send("PUT", "/v1/streams/s/model", WRITE, &bytes), 403);
    assert_eq!(send("PUT", "/v1/streams/s/model", ADMIN, &bytes), 200);
    assert_eq!(send("DELETE", "/v1/streams/s", WRITE, b""), 403);
    assert_eq!(send("DELETE", "/v1/streams/s", ADMIN, b""), 204);
}

#[test]
fn pages_of_other_sites_and_rebound_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    let ask = |host: &str, more: &str| {
        let text = format!("GET /v1/streams HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        client.raw(text.as_bytes()).unwrap().status
    };
    assert_eq!(ask("localhost:8750", ""), 200);
    assert_eq!(ask("evil.example", ""), 403, "a name that was bound to this machine");
    assert_eq!(ask("localhost", "Origin: http://evil.example\r\n"), 403);
    assert_eq!(ask("localhost", "Origin: null\r\n"), 403);
    assert_eq!(ask("localhost", "Origin: http://localhost\r\n"), 200);
    let head = client.get("/v1/streams").head.to_ascii_lowercase();
    for header in
        ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff", "x-frame-options: deny"]
    {
        assert!(head.contains(header), "{head}");
    }
}

#[test]
fn hostile_names_are_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    for name in ["..", "%2e%2e", "..%2f..%2fetc", "%00", "a%0ab", "%3Cscript%3E", "a%20b", "-a", "%ff", &"x".repeat(65)]
    {
        for (method, end) in [("PUT", ""), ("GET", "/model"), ("POST", "/rows"), ("DELETE", "")] {
            let answer =
                client.send(method, &format!("/v1/streams/{name}{end}"), "Content-Type: text/csv\r\n", b"{\"k\":1}");
            assert_eq!(answer.status, 400, "{method} {name}: {}", answer.text());
        }
    }
    assert_eq!(client.send("PUT", "/v1/streams/../../etc/passwd", "", b"{\"k\":1}").status, 404);
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["commits", "store.redb"], "no path of a user reaches the disk");
    // Column names may contain anything. They are returned as text.
    client.make("s", &json!({"k": 1, "by": "</script>"}));
    let row = "{\"</script>\":\"<b>\\u0000\",\"<i>\":1,\"\\\"\":2}";
    let answer = client.rows("s", &[row.to_owned()]).lines();
    assert_eq!(answer[0]["</script>"], "<b>\0");
}

#[test]
fn a_hostile_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    client.rows("s", &["[1,2,3]".to_owned(), "[3,1,2]".to_owned()]);
    let good = client.get("/v1/streams/s/model").body;
    let before = client.get("/v1/streams/s/summary").text();
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        let answer = client.send("PUT", "/v1/streams/s/model", "", &bad);
        assert!([409, 422].contains(&answer.status), "{at}: {}", answer.status);
    }
    assert_eq!(client.send("PUT", "/v1/streams/s/model", "", &good[..good.len() / 2]).status, 422);
    assert_eq!(client.get("/v1/streams/s/summary").text(), before);
}
