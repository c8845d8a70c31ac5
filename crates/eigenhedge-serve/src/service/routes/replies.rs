//! Request bodies and queries, and common responses.

use crate::service::app::App;
use crate::service::problem::Problem;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::time::Duration;

/// Returns a JSON response.
pub fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a response of JSON lines.
pub fn lines(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/x-ndjson")], bytes).into_response()
}

/// Reads a body. Returns an error if the body is compressed or exceeds the limits on size and time.
pub async fn read_body(app: &App, headers: &HeaderMap, body: Body) -> Result<axum::body::Bytes, Problem> {
    let limits = app.core.settings.limits;
    let too_large = || Problem::too_large(format!("the body must be at most {} bytes", limits.body));
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > limits.body as u64) {
        return Err(too_large());
    }
    if let Some(coding) = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let sentence = format!("the body must not be compressed, got {coding:?}");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
    }
    match tokio::time::timeout(limits.body_time, axum::body::to_bytes(body, limits.body)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.to_string().contains("length limit") => Err(too_large()),
        Ok(Err(error)) => Err(Problem::malformed(format!("the body cannot be read: {error}"))),
        Err(_) => Err(Problem::malformed(format!("the body must arrive within {} s", in_seconds(limits.body_time)))),
    }
}

fn in_seconds(time: Duration) -> u64 {
    time.as_secs()
}

/// Returns a query parameter, percent-decoded. Returns `None` if it is absent or not UTF-8.
pub fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name)?.1;
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*byte),
        }
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
