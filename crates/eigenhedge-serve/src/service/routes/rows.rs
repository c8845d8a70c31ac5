//! Routes that learn rows, score rows and accept a reference.

use super::replies::{json, lines, read_body};
use crate::service::app::App;
use crate::service::engine::Engine;
use crate::service::order::{Logged, Order};
use crate::service::problem::Problem;
use crate::service::repeats::RequestKey;
use crate::service::rows::{BodyForm, Rows};
use crate::service::stream::Handle;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json as object};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size of a body that is parsed on the server's own threads, in bytes. Larger bodies are parsed in a separate
/// thread, so that they do not delay other requests.
const SMALL: usize = 16 << 10;
/// Approximate memory that a request needs, in bytes per byte of its body.
const IN_MEMORY: usize = 4;

/// Handles `POST …/rows`: learns rows and returns an answer for each.
pub async fn learn(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Response {
    match learn_rows(&app, &name, &headers, body).await {
        Ok(answers) => lines(answers),
        Err(problem) => problem.into_response(),
    }
}

async fn learn_rows(app: &App, name: &str, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let handle = app.core.find(name)?;
    let form = form_of(headers)?;
    let _turn = handle.enter()?;
    let body = read_body(app, headers, body).await?;
    let _memory = take_memory(app, body.len())?;
    let key = request_key(headers, &body)?;
    wait_for_load(&handle).await?;
    let rows = read_rows(&handle, form, body).await?;
    handle.order(Logged { key, order: Order::Rows(Box::new(rows)) }).await
}

/// Handles `POST …/score`: scores rows without learning from them, and returns an answer for each.
pub async fn score(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Response {
    match score_rows(&app, &name, &headers, body).await {
        Ok(answers) => lines(answers),
        Err(problem) => problem.into_response(),
    }
}

async fn score_rows(app: &App, name: &str, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let handle = app.core.find(name)?;
    let form = form_of(headers)?;
    let _turn = handle.enter()?;
    let body = read_body(app, headers, body).await?;
    let _memory = take_memory(app, body.len())?;
    wait_for_load(&handle).await?;
    let rows = read_rows(&handle, form, body).await?;
    handle.ask(move |engine| engine.score(&rows)).await
}

/// Handles `POST …/accept`: makes the most recent rows of a monitor its reference.
pub async fn accept(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Response {
    let accepted = async {
        let handle = app.core.find(&name)?;
        let _turn = handle.enter()?;
        let body = read_body(&app, &headers, body).await?;
        let request = request_key(&headers, &body)?;
        let key = match body.trim_ascii() {
            [] => None,
            body => match serde_json::from_slice(body) {
                Ok(Value::Object(fields)) => match fields.get("key") {
                    None | Some(Value::Null) => None,
                    Some(Value::String(key)) => Some(key.clone()),
                    Some(other) => return Err(Problem::unsound(format!("key must be a text, got {other}"))),
                },
                _ => return Err(Problem::malformed("the body must be empty or a JSON object with the field key")),
            },
        };
        wait_for_load(&handle).await?;
        handle.order(Logged { key: request, order: Order::Accept { key } }).await
    };
    match accepted.await {
        Ok(_) => json(StatusCode::OK, &object!({ "accepted": true })),
        Err(problem) => problem.into_response(),
    }
}

fn form_of(headers: &HeaderMap) -> Result<BodyForm, Problem> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|text| text.to_str().ok());
    found.and_then(BodyForm::of).ok_or_else(|| {
        let found = found.unwrap_or("nothing");
        let arrow = if cfg!(feature = "parquet") { ", application/vnd.apache.arrow.stream" } else { "" };
        let sentence =
            format!("the Content-Type must be application/json, application/x-ndjson or text/csv{arrow}, got {found}");
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence)
    })
}

fn request_key(headers: &HeaderMap, body: &[u8]) -> Result<Option<RequestKey>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    RequestKey::new(key.to_str().unwrap_or(""), body).map(Some)
}

/// Reserves memory for a request until the permit is dropped. Returns `Err` if too little is free.
pub fn take_memory(app: &App, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let kilobytes = u32::try_from(IN_MEMORY * bytes / 1024 + 1).unwrap_or(u32::MAX);
    let memory = Arc::clone(&app.core.request_memory);
    memory.try_acquire_many_owned(kilobytes).map_err(|_| {
        Problem::busy("the requests that wait take all the memory for them; send less at once, or raise --max-memory")
    })
}

/// Waits until the stream is loaded from the store. An order that is logged during loading would be replayed during
/// loading, and its request would get no answer.
pub async fn wait_for_load(handle: &Arc<Handle>) -> Result<(), Problem> {
    if handle.is_loaded() { Ok(()) } else { handle.ask(|_| Ok(())).await }
}

/// Reads the rows of a body. The first rows of a stream must be compatible with the options of the stream.
async fn read_rows(handle: &Arc<Handle>, form: BodyForm, body: Bytes) -> Result<Rows, Problem> {
    let (options, shape, length) = (Arc::clone(&handle.options), handle.shape(), body.len());
    let read = move || {
        let rows = Rows::read(&options, shape.as_deref(), form, &body)?;
        rows.shape.as_ref().map_or(Ok(()), |shape| Engine::check(&options, shape))?;
        Ok(rows)
    };
    if length <= SMALL {
        return read();
    }
    let ended = |_| Err(Problem::unavailable("the request could not be read; try again"));
    tokio::task::spawn_blocking(read).await.unwrap_or_else(ended)
}
