//! Error responses: `application/problem+json` (RFC 9457), with one sentence each.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use eigenhedge_io::printable;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;

const LONGEST: usize = 1000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    status: u16,
    pub detail: String,
    row: Option<u64>,
    column: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status: status.as_u16(), detail: printable(&cut(&detail.into())), row: None, column: None }
    }

    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub fn unsound(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub fn no_stream(name: &str) -> Self {
        let sentence = format!("there is no stream {name:?}; PUT /v1/streams/{{name}} makes one");
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub fn busy(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail)
    }

    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    pub fn store_full(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, detail)
    }

    /// The index of the row is that in the request.
    #[must_use]
    pub fn at(mut self, row: Option<u64>, column: Option<&str>) -> Self {
        (self.row, self.column) = (row, column.map(|column| printable(&cut(column))));
        self
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Replaces the middle of a long sentence, usually a value, by `…`.
pub fn cut(sentence: &str) -> Cow<'_, str> {
    if sentence.chars().nth(LONGEST).is_none() {
        return sentence.into();
    }
    let (first, last) = (sentence.chars().take(LONGEST / 2), sentence.chars().rev().take(LONGEST / 2 - 1));
    let last: String = last.collect();
    first.chain(['…']).chain(last.chars().rev()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_cut_in_the_middle() {
        for length in [0, 1, 499, 500, 501, 999, 1000, 1001, 5000] {
            let long: String = ('ä'..='ü').cycle().take(length).collect();
            let shown = cut(&long);
            assert_eq!(shown.chars().count(), length.min(LONGEST));
            assert_eq!(shown.contains('…'), length > LONGEST);
            assert_eq!((shown.chars().next(), shown.chars().last()), (long.chars().next(), long.chars().last()));
        }
    }
}
