//! Page `eigenhedge.html` at `/try`, which finds faults in tables in the browser.

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use std::path::Path;

pub struct TryPage {
    text: Bytes,
    /// Forbids all requests, even to this service.
    policy: HeaderValue,
}

impl TryPage {
    /// Reads the page. Returns an error if its content security policy does not forbid requests.
    pub fn read(path: &Path) -> Result<Self, String> {
        let refused = |reason: String| format!("--try {}: {reason}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let start = text.split_once("<meta http-equiv=\"Content-Security-Policy\" content=\"");
        let policy = start.and_then(|(_, rest)| rest.split_once('"')).map(|(policy, _)| policy);
        let policy = policy.filter(|policy| policy.contains("connect-src 'none'"));
        let policy = policy.and_then(|policy| HeaderValue::from_str(policy).ok());
        let policy = policy.ok_or_else(|| refused("must be the file eigenhedge.html of this program".to_owned()))?;
        Ok(Self { text: text.into(), policy })
    }

    pub fn respond(&self) -> Response {
        let headers = [
            (header::CONTENT_SECURITY_POLICY, self.policy.clone()),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        (headers, Html(self.text.clone())).into_response()
    }
}
