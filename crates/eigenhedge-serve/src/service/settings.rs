//! Settings of a service.

use super::memory::LEAST_MEMORY;
use super::token::Tokens;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    pub store: PathBuf,
    /// Access tokens. If `None`, the service listens only on this machine.
    pub tokens: Option<Tokens>,
    pub hosts: Vec<String>,
    pub max_memory: u64,
    pub max_streams: usize,
    pub webhooks: WebhookSettings,
    pub try_page: Option<PathBuf>,
    pub log_requests: bool,
    pub limits: Limits,
}

#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// Allowed hosts, as `HOST:PORT`.
    pub hosts: Vec<String>,
    pub headers: Option<PathBuf>,
    pub ca: Option<PathBuf>,
    /// A template has the name of its file without the extension.
    pub templates: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub body: usize,
    pub connections: usize,
    pub head_time: Duration,
    pub body_time: Duration,
    /// Time for which a write may wait for the client to read.
    pub answer_time: Duration,
    pub head_bytes: usize,
    pub headers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 << 20,
            connections: 1024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            answer_time: Duration::from_secs(30),
            head_bytes: 64 << 10,
            headers: 64,
        }
    }
}

impl Settings {
    pub fn new(store: PathBuf) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], crate::live::PORT)),
            store,
            tokens: None,
            hosts: Vec::new(),
            max_memory: eigenhedge_io::MaxMemory::of_machine().bytes(),
            max_streams: 10_000,
            webhooks: WebhookSettings::default(),
            try_page: None,
            log_requests: false,
            limits: Limits::default(),
        }
    }

    pub fn check(&self) -> Result<(), String> {
        if self.max_memory < LEAST_MEMORY {
            let (least, found) = (LEAST_MEMORY >> 20, self.max_memory);
            return Err(format!("--max-memory must be at least {least}M, got {found} bytes"));
        }
        if self.listen.ip().is_loopback() || self.tokens.is_some() {
            return Ok(());
        }
        Err(format!(
            "{} can be reached by other machines, which needs --token-file FILE: lines of a scope (read, write or admin) and a token; \
             put a reverse proxy with TLS before it, because tokens would travel in the clear",
            self.listen
        ))
    }
}
