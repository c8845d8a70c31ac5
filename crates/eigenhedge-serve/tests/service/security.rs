//! Tests of tokens, host names and origins.

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
fn the_page_for_browsers_needs_no_token_and_keeps_its_policy() {
    let folder = tempfile::tempdir().unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../eigenhedge-web/page/page.html");
    let mut shown = settings(folder.path());
    (shown.tokens, shown.try_page) = (Some(tokens()), Some(page.into()));
    let service = Service::start(shown.clone()).unwrap();
    let answer = Client(service.address()).send("GET", "/try", "", b"");
    assert_eq!((answer.status, answer.text()), (200, std::fs::read_to_string(page).unwrap()));
    assert!(answer.head.contains("connect-src 'none'; form-action 'none'"), "{}", answer.head);
    service.stop();
    let other = folder.path().join("other.html");
    std::fs::write(&other, "<html></html>").unwrap();
    shown.try_page = Some(other);
    assert!(Service::start(shown.clone()).err().unwrap().contains("must be the file eigenhedge.html"));
    shown.try_page = None;
    let service = Service::start(shown).unwrap();
    assert_eq!(Client(service.address()).send("GET", "/try", "", b"").status, 404);
}

#[test]
fn the_scope_depends_on_the_route_and_not_on_the_name_of_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let mut guarded = settings(folder.path());
    guarded.tokens = Some(tokens());
    let service = Service::start(guarded).unwrap();
    let client = Client(service.address());
    let csv = format!("{WRITE}Content-Type: text/csv\r\n");
    for name in ["model", "score", "backup", "rows", "summary", "s"] {
        let path = format!("/v1/streams/{name}");
        let send = |method: &str, end: &str, headers: &str, body: &[u8]| {
            client.send(method, &format!("{path}{end}"), headers, body).status
        };
        assert_eq!(send("PUT", "", READ, b"{\"k\":1}"), 403, "{name}");
        assert_eq!(send("PUT", "", WRITE, b"{\"k\":1}"), 201, "{name}");
        assert_eq!(send("POST", "/rows", &csv, b"a,b\n1,2\n3,5\n"), 200, "{name}");
        assert_eq!(send("PUT", "/model", WRITE, b""), 403, "{name}");
        assert_eq!(send("DELETE", "", WRITE, b""), 403, "{name}");
        assert_eq!(send("POST", "", READ, b""), 403, "{name}");
    }
}

#[test]
fn with_tokens_too_only_names_of_the_service_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    for hosts in [vec![], vec!["plant.example".to_owned()]] {
        let mut guarded = settings(&folder.path().join(hosts.len().to_string()));
        (guarded.tokens, guarded.hosts) = (Some(tokens()), hosts.clone());
        let service = Service::start(guarded).unwrap();
        let ask = |host: &str| {
            let text = format!("GET /v1/streams HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{READ}\r\n");
            Client(service.address()).raw(text.as_bytes()).unwrap().status
        };
        for host in ["localhost", "localhost:8750", "127.0.0.1:1", "[::1]:8750", "10.1.2.3:8750"] {
            assert_eq!(ask(host), 200, "{host}");
        }
        for host in ["evil.example", "[::1].evil.com", "localhost:evil.com", "localhost.evil.com", "[::1]evil.com:80"] {
            assert_eq!(ask(host), 403, "{host}");
        }
        assert_eq!(ask("plant.example"), if hosts.is_empty() { 403 } else { 200 });
    }
}

#[test]
fn the_cookie_is_secure_behind_a_proxy_with_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    for (header, is_secure) in [
        ("", false),
        ("X-Forwarded-Proto: http\r\n", false),
        ("X-Forwarded-Proto: https\r\n", true),
        ("X-Forwarded-Proto: HTTPS, http\r\n", true),
        ("Forwarded: for=1.2.3.4;proto=https;by=2.3.4.5\r\n", true),
        ("Forwarded: for=1.2.3.4; proto=http, proto=https\r\n", false),
    ] {
        let answer = client.send("POST", "/login", header, b"read-0123456789abcdef");
        assert_eq!((answer.status, answer.head.contains("; Secure")), (204, is_secure), "{header}");
    }
    assert_eq!(client.send("POST", "/login", "", &[b'a'; 513]).status, 413);
}

#[test]
fn an_error_never_repeats_a_long_value() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(folder.path());
    client.make("s", &json!({"k": 1}));
    let csv = "Content-Type: text/csv\r\n";
    assert_eq!(client.send("POST", "/v1/streams/s/rows", csv, b"a,b\n1,2\n3,5\n").status, 200);
    let long = "x".repeat(1 << 20);
    let answers = [
        client.put("/v1/streams/t", &json!({"k": 1, "kind": &long[..60_000]})),
        client.put("/v1/streams/t", &json!({&long[..60_000]: 1})),
        client.send("POST", "/v1/streams/s/rows", csv, format!("a,b\n1,{long}\n").as_bytes()),
        client.send("POST", "/v1/streams/s/rows", csv, format!("a,{long}\n1,2\n").as_bytes()),
        client.send(
            "POST",
            "/v1/streams/s/score",
            "Content-Type: application/json\r\n",
            format!("{{\"a\":\"{long}\"}}").as_bytes(),
        ),
        client.send("POST", "/v1/streams/s/accept", "", format!("{{\"key\":[\"{}\"]}}", &long[..60_000]).as_bytes()),
        client.send("POST", "/v1/streams/s/rows", &format!("Content-Type: {}\r\n", &long[..60_000]), b"1"),
    ];
    for (i, answer) in answers.iter().enumerate() {
        assert!((400..500).contains(&answer.status), "{i}: {}", answer.status);
        assert!(answer.detail().chars().count() <= 1000 && answer.body.len() < 3000, "{i}: {}", answer.body.len());
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (_service, client) = start(&folder.path().join("a/b"));
    client.make("s", &json!({"k": 1}));
    let mode = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a"), mode("a/b"), mode("a/b/store.redb")), (0o700, 0o700, 0o600));
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
    // Column names may contain any text and are returned unchanged.
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
