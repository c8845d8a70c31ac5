//! The settings of a service.

use super::token::Tokens;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a service.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen at.
    pub listen: SocketAddr,
    /// Folder of the store.
    pub store: PathBuf,
    /// Tokens; without them, only this machine may ask.
    pub tokens: Option<Tokens>,
    /// Names by which the service may be asked for, besides those of this machine.
    pub hosts: Vec<String>,
    /// Memory for learners and requests.
    pub max_memory: u64,
    /// Streams at most.
    pub max_streams: usize,
    /// Addresses that may be told of alarms: `HOST:PORT`.
    pub webhook_hosts: Vec<String>,
    /// True if each request is logged.
    pub log_requests: bool,
    /// Limits of requests.
    pub limits: Limits,
}

/// Limits of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Connections.
    pub connections: usize,
    /// Time for the head of a request.
    pub head_time: Duration,
    /// Time for its body.
    pub body_time: Duration,
    /// Bytes of its head.
    pub head_bytes: usize,
    /// Headers.
    pub headers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 << 20,
            connections: 1024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            head_bytes: 64 << 10,
            headers: 64,
        }
    }
}

impl Settings {
    /// The usual settings: this machine only, no tokens.
    pub fn new(store: PathBuf) -> Self {
        Self {
            listen: crate::live::ListenAddress::default().socket(),
            store,
            tokens: None,
            hosts: Vec::new(),
            max_memory: eigenhedge_io::MaxMemory::of_machine().bytes(),
            max_streams: 10_000,
            webhook_hosts: Vec::new(),
            log_requests: false,
            limits: Limits::default(),
        }
    }

    /// An error, with what to do, if other machines could ask without a token.
    pub fn check(&self) -> Result<(), String> {
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
