//! Receiver of notices over HTTP or HTTPS, which can be down.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Head and body of a received request.
pub type Got = (String, String);

#[derive(Clone)]
pub struct Receiver {
    /// Address as `HOST:PORT`.
    pub host: String,
    pub is_down: Arc<AtomicBool>,
    got: Arc<Mutex<Vec<Got>>>,
}

/// Reads a request and responds with 200. Returns `None` if the connection fails.
fn take(mut stream: impl Read + Write) -> Option<Got> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?.parse().ok()?;
            if body.len() >= length {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
                stream.flush().ok()?;
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&part[..read]),
        }
    }
}

impl Receiver {
    pub fn start() -> Self {
        Self::serve(None)
    }

    /// Starts a receiver over HTTPS. Writes the certificate of a new authority to `ca`.
    pub fn encrypted(ca: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(ca, authority.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = config.with_no_client_auth().with_single_cert(vec![own.der().clone()], key.into()).unwrap();
        Self::serve(Some(Arc::new(config)))
    }

    fn serve(config: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("localhost:{}", listener.local_addr().unwrap().port());
        let made = Self { host, is_down: Arc::default(), got: Arc::default() };
        let own = made.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if own.is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let got = match &config {
                    None => take(stream),
                    Some(config) => take(StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), stream)),
                };
                own.got.lock().unwrap().extend(got);
            }
        });
        made
    }

    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Waits for at least `count` notices. Returns all received notices.
    pub fn wait(&self, count: usize) -> Vec<Got> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.got().len() < count {
            assert!(Instant::now() < deadline, "{count} notices are awaited, got {:?}", self.got());
            thread::sleep(Duration::from_millis(20));
        }
        self.got()
    }
}

/// Returns the value of a header, or an empty string if it is absent.
pub fn header<'a>(got: &'a Got, name: &str) -> &'a str {
    got.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or("")
}

pub fn json(got: &Got) -> Value {
    serde_json::from_str(&got.1).unwrap_or_else(|error| panic!("{error}: {}", got.1))
}
