//! Routes that create, show and delete streams, and return their summaries, models and events.

use super::replies::{Answer, SMALL_BODY, file_body, loaded, parameter, read_body};
use crate::live::Parameters;
use crate::live::sse::{self, Event, Source};
use crate::service::engine::Saved;
use crate::service::feed::FeedEvent;
use crate::service::gate::App;
use crate::service::options::StreamOptions;
use crate::service::order::{Logged, Order};
use crate::service::problem::Problem;
use crate::service::stream::Handle;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Memory of a model, in bytes per byte of its file.
const IN_MEMORY: u64 = 4;

fn described(handle: &Handle) -> Value {
    let seen = handle.seen();
    json!({
        "name": handle.name,
        "kind": handle.options.kind(),
        "options": handle.options.given,
        "rows": seen.counts.rows,
        "skipped_rows": seen.counts.skipped,
        "alarms": seen.alarms,
        "open_incidents": seen.incidents,
        "columns": seen.shape.as_ref().map(|shape| shape.all_names()),
        "is_loaded": seen.was_loaded,
    })
}

pub async fn list(State(app): State<App>) -> Response {
    let streams: Vec<Value> = app.core.all().iter().map(|handle| described(handle)).collect();
    Json(json!({ "streams": streams })).into_response()
}

pub async fn show(State(app): State<App>, Path(name): Path<String>) -> Answer {
    Ok(Json(described(&*app.core.find(&name)?)).into_response())
}

pub async fn create(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Answer {
    let (body, _memory) = read_body(&app, &headers, body, SMALL_BODY).await?;
    app.core.memory.check_learners(0)?;
    let options: Value = serde_json::from_slice(&body)
        .map_err(|error| Problem::malformed(format!("the options of a stream must be JSON: {error}")))?;
    let (handle, is_new) = app.core.create(&name, StreamOptions::new(&options)?).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(described(&handle))).into_response())
}

pub async fn delete(State(app): State<App>, Path(name): Path<String>) -> Answer {
    app.core.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub async fn summary(State(app): State<App>, Path(name): Path<String>, query: Parameters) -> Answer {
    let (handle, _turn) = loaded(&app, &name).await?;
    let summary = handle.ask(move |engine| engine.summary(parameter(&query, "key"))).await?;
    Ok(Json(summary).into_response())
}

pub async fn incidents(State(app): State<App>, Path(name): Path<String>, query: Parameters) -> Answer {
    let (handle, _turn) = loaded(&app, &name).await?;
    let incidents = handle.ask(move |engine| Ok(engine.incidents(parameter(&query, "key")))).await?;
    Ok(Json(json!({ "incidents": incidents })).into_response())
}

pub async fn model(State(app): State<App>, Path(name): Path<String>) -> Answer {
    let (handle, _turn) = loaded(&app, &name).await?;
    let body = match handle.ask(|engine| engine.model_file()).await? {
        Saved::Memory(bytes) => Body::from(bytes),
        Saved::File(file, length) => file_body(file, length),
    };
    let place = format!("attachment; filename=\"{}.eh\"", handle.name);
    let headers = [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, place)];
    Ok((headers, body).into_response())
}

pub async fn replace_model(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Answer {
    let handle = app.core.find(&name)?;
    let turn = handle.enter()?;
    let (body, mut memory) = read_body(&app, &headers, body, usize::MAX).await?;
    memory.add(IN_MEMORY * body.len() as u64)?;
    handle.load().await?;
    app.core.memory.check_learners(0)?;
    handle.order(Logged::new(None, Order::Model(body)), (memory, turn)).await?;
    Ok(Json(described(&handle)).into_response())
}

pub async fn events(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap) -> Answer {
    let handle = app.core.find(&name)?;
    app.core.memory.check_learners(0)?;
    handle.load().await?;
    let after = sse::last_event_id(&headers).and_then(|id| id.parse().ok());
    let (before, receiver) = handle.feed.listen(after).ok_or_else(|| Problem::no_stream(&name))?;
    let last = after.unwrap_or(0);
    Ok(sse::respond(Listener { before: before.into(), receiver, last, handle }, app.shutdown.clone()))
}

struct Listener {
    before: VecDeque<FeedEvent>,
    receiver: Receiver<FeedEvent>,
    last: u64,
    handle: Arc<Handle>,
}

impl Source for Listener {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let event = match self.before.pop_front() {
                Some(event) => event,
                None => match self.receiver.recv().await {
                    Ok(event) => event,
                    // Missed points are lost. Missed notices are read from the feed.
                    Err(RecvError::Lagged(_)) => {
                        self.before = self.handle.feed.listen(Some(self.last))?.0.into();
                        continue;
                    }
                    Err(RecvError::Closed) => return None,
                },
            };
            if event.id.is_some_and(|id| id <= self.last) {
                continue;
            }
            self.last = event.id.unwrap_or(self.last);
            return Some(Event { id: self.last.to_string(), name: event.kind, data: event.data.to_string() });
        }
    }
}
