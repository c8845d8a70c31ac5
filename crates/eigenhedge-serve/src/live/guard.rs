//! Guards against pages of other sites, which can make a browser send requests to this machine: with a form, a script,
//! or a host name that now resolves to 127.0.0.1 (DNS rebinding). `Host`, `Origin` or `Sec-Fetch-Site` reveal them.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use eigenhedge_pages::page::live::POLICY;
use std::net::IpAddr;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct Guard {
    names: Arc<[String]>,
    /// Accepts every IP address as `Host`. This is safe, because DNS rebinding needs a host name.
    any_address: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "the name of the server must be localhost, its address or a name of --host; a proxy must send one of them as `Host`"
    )]
    Host,
    #[error("the request must come from a page of this server")]
    Origin,
}

impl Guard {
    pub fn with_names(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().map(|name| name.to_ascii_lowercase()).collect(), any_address: true }
    }

    /// Rejects requests for other hosts, and requests from pages of other sites except links.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).filter(|_| headers.get_all(header::HOST).iter().count() == 1);
        let Some(host) = host.filter(|host| self.knows(host, self.any_address)) else { return Err(Refusal::Host) };
        let of_page = |origin: &str| {
            let found = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            found.is_some_and(|found| found == host || self.knows(found, false))
        };
        let is_cross = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site")
            && headers.get("sec-fetch-mode").is_none_or(|mode| mode != "navigate");
        match text(header::ORIGIN) {
            Some(origin) if !of_page(origin) => Err(Refusal::Origin),
            _ if is_cross => Err(Refusal::Origin),
            _ => Ok(()),
        }
    }

    fn knows(&self, host: &str, any_address: bool) -> bool {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, port)) if name.contains(':') => (name, port),
            Some(_) => return false,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        name == "localhost"
            || name.parse().is_ok_and(|address: IpAddr| any_address || address.is_loopback())
            || self.names.contains(&name)
    }
}

pub async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut answer = match guard.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => (StatusCode::FORBIDDEN, format!("{refusal}\n")).into_response(),
    };
    protect(answer.headers_mut());
    answer
}

pub fn protect(headers: &mut HeaderMap) {
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, headers: &[(&'static str, &str)]) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        guard.check(&map)
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let guard = Guard::default();
        for host in ["localhost", "LOCALHOST:8750", "127.0.0.1:8750", "127.0.0.7", "[::1]:8750", "[::1]"] {
            assert_eq!(check(&guard, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8750",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "[::1",
            "127.0.0.1.evil",
            "[::1].evil.com",
            "[::1]:evil.com",
            "localhost:evil.com",
            "localhost:",
            "localhost:1:2",
            "127.0.0.1:80.evil",
            "[localhost]",
            "[127.0.0.1]",
            "::1",
            "localhost@evil.com",
            "localhost:8750@evil.com",
        ] {
            assert_eq!(check(&guard, &[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(check(&guard, &[]), Err(Refusal::Host));
        assert_eq!(check(&guard, &[("host", "localhost"), ("host", "localhost")]), Err(Refusal::Host));
        let named = Guard::with_names(["Plant.example".to_owned()]);
        assert_eq!(check(&named, &[("host", "plant.example:443"), ("origin", "https://plant.example")]), Ok(()));
        assert_eq!(check(&named, &[("host", "10.0.0.1:8750"), ("origin", "http://10.0.0.1:8750")]), Ok(()));
        assert_eq!(check(&named, &[("host", "10.0.0.1"), ("origin", "http://10.0.0.2")]), Err(Refusal::Origin));
        assert_eq!(check(&named, &[("host", "evil.example")]), Err(Refusal::Host));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let guard = Guard::default();
        let ask = |name: &'static str, value: &str| check(&guard, &[("host", "localhost:8750"), (name, value)]);
        assert_eq!(ask("origin", "http://localhost:8750"), Ok(()));
        for origin in ["http://evil.example", "null", "https://localhost.evil.example", "file://", "localhost"] {
            assert_eq!(ask("origin", origin), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(ask("sec-fetch-site", "same-origin"), Ok(()));
        assert_eq!(ask("sec-fetch-site", "none"), Ok(()));
        assert_eq!(ask("sec-fetch-site", "cross-site"), Err(Refusal::Origin));
        let navigated = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(check(&guard, &navigated), Ok(()), "a link from elsewhere may lead here");
    }
}
