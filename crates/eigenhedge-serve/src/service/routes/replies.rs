//! Request bodies and queries, and common responses.

use crate::live::Parameters;
use crate::service::gate::App;
use crate::service::memory::Reserved;
use crate::service::problem::Problem;
use crate::service::stream::{Handle, Turn};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

pub const SMALL_BODY: usize = 64 << 10;

pub type Answer = Result<Response, Problem>;

pub fn parameter<'a>(query: &'a Parameters, name: &str) -> Option<&'a str> {
    query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns a loaded stream, and a place among its waiting requests.
pub async fn loaded(app: &App, name: &str) -> Result<(Arc<Handle>, Turn), Problem> {
    let handle = app.core.find(name)?;
    let turn = handle.enter()?;
    handle.load().await?;
    Ok((handle, turn))
}

/// The memory stays reserved until the lines are sent.
pub fn lines(bytes: Vec<u8>, mut memory: Reserved) -> Response {
    memory.keep(bytes.capacity() as u64);
    let headers =
        [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (header::CONTENT_LENGTH, bytes.len().to_string())];
    let whole = stream::unfold((Some(Bytes::from(bytes)), memory), |(bytes, memory)| async move {
        Some((Ok::<_, Infallible>(bytes?), (None, memory)))
    });
    (headers, Body::from_stream(whole)).into_response()
}

/// A compressed body or more than `most` bytes is an error.
pub async fn read_body(
    app: &App,
    headers: &HeaderMap,
    body: Body,
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
        let mut pieces = body.into_data_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| Problem::malformed(format!("the body cannot be read: {error}")))?;
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

const PIECE: usize = 256 << 10;

pub fn file_body(file: File, length: u64) -> Body {
    let pieces = stream::try_unfold((file, 0), move |(mut file, sent)| async move {
        if sent >= length {
            return Ok(None);
        }
        let read = move || -> io::Result<(File, Vec<u8>)> {
            file.seek(SeekFrom::Start(sent))?;
            let mut piece = Vec::new();
            file.by_ref().take((length - sent).min(PIECE as u64)).read_to_end(&mut piece)?;
            if piece.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok((file, piece)) }
        };
        let (file, piece) = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        let sent = sent + piece.len() as u64;
        Ok::<_, io::Error>(Some((Bytes::from(piece), (file, sent))))
    });
    Body::from_stream(pieces)
}
