//! Routes that learn rows, score rows and accept a reference.

use super::replies::{Answer, SMALL_BODY, lines, read_body};
use crate::service::gate::App;
use crate::service::memory::{Reserved, need_of_rows};
use crate::service::order::{Logged, Order};
use crate::service::problem::Problem;
use crate::service::repeats::RequestKey;
use crate::service::rows::{BodyForm, Rows};
use crate::service::stream::Handle;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use std::sync::Arc;

/// Larger bodies are parsed on a thread of their own.
const SMALL: usize = 16 << 10;

pub async fn learn(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Answer {
    let handle = app.core.find(&name)?;
    let form = form_of(&headers)?;
    let turn = handle.enter()?;
    let (body, memory) = read_body(&app, &headers, body, usize::MAX).await?;
    let key = request_key(&headers, &body)?;
    handle.load().await?;
    // A repeated request needs no memory for rows.
    if let Some(reply) = key.as_ref().and_then(|key| handle.answered(key)) {
        return Ok(lines(reply?, memory));
    }
    handle.check_memory()?;
    let (rows, memory) = read_rows(&handle, form, body, memory).await?;
    let logged = Logged::new(key, Order::Rows(Box::new(rows)));
    let (answers, (memory, _turn)) = handle.order(logged, (memory, turn)).await?;
    Ok(lines(answers, memory))
}

pub async fn score(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Answer {
    let handle = app.core.find(&name)?;
    let form = form_of(&headers)?;
    let _turn = handle.enter()?;
    let (body, memory) = read_body(&app, &headers, body, usize::MAX).await?;
    handle.load().await?;
    let (rows, memory) = read_rows(&handle, form, body, memory).await?;
    Ok(lines(handle.ask(move |engine| engine.score(&rows)).await?, memory))
}

pub async fn accept(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Answer {
    let handle = app.core.find(&name)?;
    let turn = handle.enter()?;
    let (body, memory) = read_body(&app, &headers, body, SMALL_BODY).await?;
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
    handle.load().await?;
    handle.order(Logged::new(request, Order::Accept { key }), (memory, turn)).await?;
    Ok(Json(json!({ "accepted": true })).into_response())
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

/// The first rows of a stream must fit its options.
async fn read_rows(
    handle: &Arc<Handle>,
    form: BodyForm,
    body: Vec<u8>,
    mut memory: Reserved,
) -> Result<(Rows, Reserved), Problem> {
    let (handle, is_small) = (Arc::clone(handle), body.len() <= SMALL);
    let (shape, last_time, learned) = {
        let seen = handle.seen();
        (seen.shape.clone(), seen.last_time, seen.counts.rows)
    };
    let is_first = shape.is_none();
    let read = move || {
        let rows = Rows::read(&handle.options, (shape.as_deref(), last_time), (form, &body), &mut memory)?;
        drop(body);
        if let Some(found) = rows.shape.as_ref().filter(|_| is_first) {
            handle.check_first(found)?;
        }
        if let Some(shape) = rows.shape.as_ref().or(shape.as_deref()) {
            let need = need_of_rows(&handle.options, shape, &rows, learned);
            memory.keep(need);
            memory.add(need - memory.bytes)?;
        }
        Ok((rows, memory))
    };
    if is_small && !is_first {
        return read();
    }
    let ended = |_| Err(Problem::unavailable("the request could not be read; try again"));
    tokio::task::spawn_blocking(read).await.unwrap_or_else(ended)
}
