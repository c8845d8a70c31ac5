//! Request bodies and queries, and common responses.

use crate::service::app::App;
use crate::service::memory::Reserved;
use crate::service::problem::Problem;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use hyper::body::{Body as _, Frame, SizeHint};
use serde_json::Value;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

pub const SMALL_BODY: usize = 64 << 10;

pub type Answer = Result<Response, Problem>;

pub fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The memory stays reserved until the lines are sent.
pub fn lines(bytes: Vec<u8>, mut memory: Reserved) -> Response {
    memory.keep(bytes.capacity() as u64);
    let body = Body::new(Held { body: bytes.into(), _memory: memory });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

struct Held {
    body: Body,
    _memory: Reserved,
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A compressed body or more than `most` bytes is an error.
pub async fn read_body(
    app: &App,
    headers: &HeaderMap,
    mut body: Body,
    most: usize,
) -> Result<(Vec<u8>, Reserved), Problem> {
    let limits = app.core.settings.limits;
    let most = most.min(limits.body);
    let too_large = || Problem::too_large(format!("the body must be at most {most} bytes"));
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    if let Some(coding) = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let sentence = format!("the body must not be compressed, got {coding:?}");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
    }
    let mut memory = app.core.memory.request();
    let mut bytes = Vec::new();
    let read = async {
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let unreadable = |error| Problem::malformed(format!("the body cannot be read: {error}"));
            let Ok(piece) = frame.map_err(unreadable)?.into_data() else { continue };
            if bytes.len() + piece.len() > most {
                return Err(too_large());
            }
            // A growing vector takes up to twice the memory of its content.
            memory.add(2 * piece.len() as u64)?;
            bytes.extend_from_slice(&piece);
        }
        Ok(())
    };
    let slow = |_| Problem::malformed(format!("the body must arrive within {} s", limits.body_time.as_secs()));
    tokio::time::timeout(limits.body_time, read).await.map_err(slow)??;
    Ok((bytes, memory))
}

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

const PIECE: usize = 256 << 10;

pub fn file_body(file: File, length: u64) -> Body {
    let pieces = stream::unfold((Some(file), 0), move |(file, sent)| async move {
        let mut file = file?;
        if sent >= length {
            return None;
        }
        let read = move || -> io::Result<(File, Vec<u8>)> {
            file.seek(SeekFrom::Start(sent))?;
            let mut piece = Vec::new();
            file.by_ref().take((length - sent).min(PIECE as u64)).read_to_end(&mut piece)?;
            Ok((file, piece))
        };
        match tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into())) {
            Ok((_, piece)) if piece.is_empty() => {
                Some((Err(io::Error::from(io::ErrorKind::UnexpectedEof)), (None, sent)))
            }
            Ok((file, piece)) => {
                let sent = sent + piece.len() as u64;
                Some((Ok(Bytes::from(piece)), (Some(file), sent)))
            }
            Err(error) => Some((Err(error), (None, sent))),
        }
    });
    Body::from_stream(pieces)
}
