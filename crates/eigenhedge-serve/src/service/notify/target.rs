//! Addresses of notices, and single attempts to send a notice over HTTP or HTTPS.

use crate::service::problem::Problem;
use crate::service::settings::WebhookSettings;
use crate::service::token::read_private;
use eigenhedge_io::printable_path;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    is_https: bool,
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// Parses `http://HOST[:PORT]/PATH` or `https://…`. The default ports are 80 and 443.
    pub fn from_text(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::unsound(format!("webhook must be https://HOST:PORT/PATH or http://…, got {text:?}"));
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let is_https = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong()),
        };
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, "/".to_owned()),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (authority, if is_https { 443 } else { 80 }),
        };
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_host) || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        Ok(Self { is_https, host: host.to_ascii_lowercase(), port, path })
    }

    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

#[derive(Debug)]
pub struct Transport {
    headers: Vec<(String, String)>,
    config: Arc<ClientConfig>,
}

impl Transport {
    pub fn new(settings: &WebhookSettings) -> Result<Self, String> {
        let mut headers = Vec::new();
        if let Some(path) = &settings.headers {
            for (number, line) in (1..).zip(read_private(path)?.lines().map(str::trim)) {
                let is_header =
                    |header: &str| header.contains(": ") && header.bytes().all(|byte| (b' '..127).contains(&byte));
                match line.split_once(' ') {
                    _ if line.is_empty() || line.starts_with('#') => {}
                    Some((host, header)) if settings.hosts.iter().any(|one| one == host) && is_header(header) => {
                        headers.push((host.to_owned(), header.to_owned()));
                    }
                    _ => {
                        let name = printable_path(path);
                        return Err(format!(
                            "{name}, line {number}: must be HOST:PORT of --webhook-host and NAME: VALUE"
                        ));
                    }
                }
            }
        }
        let mut authorities = RootCertStore::empty();
        if let Some(path) = &settings.ca {
            let refused = |error: &dyn std::fmt::Display| format!("{}: {error}", printable_path(path));
            for one in CertificateDer::pem_file_iter(path).map_err(|error| refused(&error))? {
                authorities.add(one.map_err(|error| refused(&error))?).map_err(|error| refused(&error))?;
            }
            if authorities.is_empty() {
                return Err(refused(&"has no certificate"));
            }
        } else if !settings.hosts.is_empty() {
            authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| error.to_string())?;
        let config = Arc::new(builder.with_root_certificates(authorities).with_no_client_auth());
        Ok(Self { headers, config })
    }

    pub fn send(&self, target: &Target, key: &str, (kind, body): (&str, &str)) -> io::Result<u16> {
        let address = (target.host.as_str(), target.port).to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let authority = target.authority();
        let own = self.headers.iter().filter(|(host, _)| *host == authority);
        let own: String = own.map(|(_, header)| format!("{header}\r\n")).collect();
        let is_usual = target.port == if target.is_https { 443 } else { 80 };
        let host = if is_usual { &target.host } else { &authority };
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Idempotency-Key: {key}\r\n{own}Connection: close\r\n\r\n{body}",
            target.path,
            body.len()
        );
        if !target.is_https {
            return exchange(stream, &request);
        }
        let name = ServerName::try_from(target.host.clone()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.config), name).map_err(io::Error::other)?;
        exchange(StreamOwned::new(connection, stream), &request)
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> io::Result<u16> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut line = String::new();
    // The limit protects against a faulty server.
    Read::take(BufReader::new(stream), 256).read_line(&mut line)?;
    line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_read() {
        let target = Target::from_text("http://Relay.local:9000/a/b?c=d").unwrap();
        assert_eq!((target.authority(), target.path.as_str()), ("relay.local:9000".to_owned(), "/a/b?c=d"));
        assert_eq!(Target::from_text("http://relay").unwrap().authority(), "relay:80");
        assert_eq!(Target::from_text("https://relay/x").unwrap().authority(), "relay:443");
        let wrong = [
            "ftp://relay/",
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
}
