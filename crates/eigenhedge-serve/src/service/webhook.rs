//! Webhooks: incidents, sent to addresses that the operator allows.
//!
//! Each allowed host has a thread and a queue of bounded length. Streams never wait, and an unresponsive host does not
//! delay the others. A failed notice is sent again after a pause, which doubles each time. A notice is dropped and
//! logged if the queue is full or if sending it failed too often. The queues are not saved, but the events of the
//! stream contain all notices.

use super::log::event;
use super::problem::Problem;
use serde_json::json;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Maximum number of waiting notices per host.
const WAITING: usize = 256;
/// Maximum number of attempts to send a notice.
const TRIES: u32 = 6;
/// Pause after the first attempt. It doubles after each further attempt.
const PAUSE: Duration = Duration::from_millis(250);
/// Time limit for each of connecting, sending and receiving.
const PATIENCE: Duration = Duration::from_secs(5);

/// Address of a webhook. It uses plain HTTP, for a relay on the local network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// Parses `http://HOST[:PORT]/PATH`. The default port is 80.
    pub fn from_text(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::unsound(format!("webhook must be http://HOST:PORT/PATH, got {text:?}"));
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?;
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, "/".to_owned()),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (authority, 80),
        };
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_host) || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_ascii_lowercase(), port, path })
    }

    /// Returns `HOST:PORT`, as in the list of allowed addresses.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Sends a notice once. Returns the status of the response.
    fn send(&self, body: &str) -> io::Result<u16> {
        let address = (self.host.as_str(), self.port).to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (path, host, length) = (&self.path, self.authority(), body.len());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )?;
        let mut line = String::new();
        // A status line is short. The limit protects against a faulty server.
        io::Read::take(BufReader::new(stream), 256).read_line(&mut line)?;
        line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// Allowed hosts, each with a queue of notices.
#[derive(Debug, Default)]
pub struct Webhooks {
    queues: HashMap<String, SyncSender<(Target, String)>>,
}

impl Webhooks {
    /// Starts a thread for each allowed `HOST:PORT`.
    pub fn start(hosts: &[String]) -> Self {
        let queue = |host: &String| {
            let (sender, receiver) = sync_channel(WAITING);
            thread::spawn(move || tell_all(&receiver));
            (host.clone(), sender)
        };
        Self { queues: hosts.iter().map(queue).collect() }
    }

    /// Returns true if the address is allowed.
    pub fn allows(&self, target: &Target) -> bool {
        self.queues.contains_key(&target.authority())
    }

    /// Queues a notice for an address, without waiting. Drops and logs the notice if the queue is full.
    pub fn tell(&self, target: Target, notice: String) {
        let host = target.authority();
        let sent = self.queues.get(&host).is_some_and(|queue| queue.try_send((target, notice)).is_ok());
        if !sent {
            event("webhook_dropped", json!({ "host": host, "reason": "too many notices wait" }));
        }
    }
}

fn tell_all(waiting: &Receiver<(Target, String)>) {
    for (target, notice) in waiting {
        let mut pause = PAUSE;
        for attempt in 1..=TRIES {
            let outcome = target.send(&notice);
            match outcome {
                Ok(200..300) => break,
                // The receiver rejects the notice and would reject it again.
                Ok(status @ 400..500) if status != 408 && status != 429 => {
                    event("webhook_refused", json!({ "host": target.authority(), "status": status }));
                    break;
                }
                _ if attempt == TRIES => {
                    let reason = outcome.map_or_else(|error| error.to_string(), |status| format!("status {status}"));
                    event("webhook_dropped", json!({ "host": target.authority(), "reason": reason }));
                }
                _ => {
                    thread::sleep(pause);
                    pause *= 2;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn only_plain_addresses_are_read() {
        let target = Target::from_text("http://Relay.local:9000/a/b?c=d").unwrap();
        assert_eq!((target.authority(), target.path.as_str()), ("relay.local:9000".to_owned(), "/a/b?c=d"));
        assert_eq!(Target::from_text("http://relay").unwrap().authority(), "relay:80");
        let wrong = [
            "https://relay/",
            "relay",
            "http://",
            "http://a:b/",
            "http://user@host/",
            "http://h/\r\nX: 1",
            "file:///etc",
            "http://a b/",
        ];
        wrong.into_iter().for_each(|text| assert!(Target::from_text(text).is_err(), "{text}"));
    }

    #[test]
    fn a_notice_is_sent_again_until_it_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let hooks = Webhooks::start(std::slice::from_ref(&host));
        let target = Target::from_text(&format!("http://{host}/hook")).unwrap();
        assert!(hooks.allows(&target) && !hooks.allows(&Target::from_text("http://127.0.0.1:1/").unwrap()));
        hooks.tell(target, "{\"row\":7}".to_owned());
        for status in ["500 No", "200 OK"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let mut read = 0;
            while !request[..read].ends_with(b"{\"row\":7}") {
                read += stream.read(&mut request[read..]).unwrap();
            }
            assert!(request.starts_with(b"POST /hook HTTP/1.1\r\n"));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    }
}
