//! Addresses on which a server listens.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub const PORT: u16 = 8750;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("must be an address such as 127.0.0.1:{PORT}, or a port")]
    Form,
    #[error(
        "must be an address of this machine alone, such as 127.0.0.1:{PORT}, because the page does not ask for a password; from another \
         machine, use `ssh -L {PORT}:127.0.0.1:{PORT} HOST`, or a reverse proxy that asks for one"
    )]
    Open,
}

/// Parses `ADDRESS`, `PORT` or `ADDRESS:PORT`. If other machines can reach it, the caller must require a token.
pub fn parse_address(text: &str) -> Result<SocketAddr, AddressError> {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let text = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
    let text = text.replacen("localhost", "127.0.0.1", 1);
    if let Ok(port) = text.strip_prefix(':').unwrap_or(&text).parse() {
        return Ok(SocketAddr::new(local, port));
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let bare: Result<IpAddr, _> = text.trim_start_matches('[').trim_end_matches(']').parse();
    bare.map(|address| SocketAddr::new(address, PORT)).map_err(|_| AddressError::Form)
}

pub fn parse_local(text: &str) -> Result<SocketAddr, AddressError> {
    parse_address(text).and_then(|found| if found.ip().is_loopback() { Ok(found) } else { Err(AddressError::Open) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_read_in_every_form() {
        for (text, address) in [
            ("127.0.0.1:8750", "127.0.0.1:8750"),
            ("127.0.0.2", "127.0.0.2:8750"),
            ("9000", "127.0.0.1:9000"),
            (":0", "127.0.0.1:0"),
            ("localhost", "127.0.0.1:8750"),
            ("http://localhost:81/", "127.0.0.1:81"),
            ("[::1]:81", "[::1]:81"),
            ("::1", "[::1]:8750"),
        ] {
            assert_eq!(parse_local(text).map(|read| read.to_string()), Ok(address.to_owned()), "{text}");
        }
    }

    #[test]
    fn other_addresses_are_refused_with_what_to_do() {
        for text in ["0.0.0.0", "0.0.0.0:8750", "[::]:8750", "192.168.1.2:80", "::ffff:10.0.0.1"] {
            assert_eq!(parse_local(text), Err(AddressError::Open), "{text}");
        }
        for text in ["", "data.csv", "127.0.0.1:99999", "example.org:80", "1.2.3"] {
            assert_eq!(parse_local(text), Err(AddressError::Form), "{text}");
        }
        let sentence = AddressError::Open.to_string();
        assert!(sentence.contains("ssh -L") && sentence.contains("reverse proxy"), "{sentence}");
    }
}
