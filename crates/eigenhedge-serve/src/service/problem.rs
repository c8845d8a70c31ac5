//! Answers that say what is wrong: `application/problem+json` (RFC 9457), one sentence each.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use eigenhedge_io::printable;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A request that cannot be met: a status and a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    status: u16,
    detail: String,
    row: Option<u64>,
    column: Option<String>,
}

impl Problem {
    /// A problem of this status.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status: status.as_u16(), detail: printable(&detail.into()), row: None, column: None }
    }

    /// Something malformed.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Options or rows that make no sense.
    pub fn unsound(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// There is no such stream.
    pub fn no_stream(name: &str) -> Self {
        let sentence = format!("there is no stream {name:?}; PUT /v1/streams/{{name}} makes one");
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    /// Something that contradicts what is there.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// Too much at once.
    pub fn busy(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail)
    }

    /// Too large.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    /// The service stops, or cannot answer now.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// The store cannot take more.
    pub fn store_full(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, detail)
    }

    /// The same about a row of the request, from 0, and a column of it.
    #[must_use]
    pub fn at(mut self, row: Option<u64>, column: Option<&str>) -> Self {
        (self.row, self.column) = (row, column.map(printable));
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The sentence.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut object = json!({
            "type": "about:blank",
            "title": status.canonical_reason().unwrap_or("Problem"),
            "status": self.status,
            "detail": self.detail,
        });
        if let (Some(fields), Some(row)) = (object.as_object_mut(), self.row) {
            fields.insert("row".to_owned(), row.into());
        }
        if let (Some(fields), Some(column)) = (object.as_object_mut(), self.column) {
            fields.insert("column".to_owned(), column.into());
        }
        let mut response = Response::new(Body::from(object.to_string()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
