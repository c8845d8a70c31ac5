//! Routes for operators: health, metrics, backup.

use super::replies::{Answer, file_body, json, parameter};
use crate::service::app::App;
use crate::service::metrics::of_keys;
use crate::service::problem::Problem;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json as object;

pub async fn health() -> Response {
    json(StatusCode::OK, &object!({ "status": "ok" }))
}

pub async fn ready(State(app): State<App>) -> Answer {
    app.core.check_ready()?;
    Ok(json(StatusCode::OK, &object!({ "status": "ready" })))
}

pub async fn description(State(app): State<App>) -> Response {
    json(StatusCode::OK, &crate::service::openapi::document(&app.core.settings.webhooks.hosts))
}

pub async fn metrics(State(app): State<App>, RawQuery(query): RawQuery) -> Answer {
    if app.core.is_starting() {
        return Err(Problem::unavailable("streams are being read from the store, so their numbers are not known yet"));
    }
    let text = match parameter(query.as_deref(), "keys") {
        None => app.metrics.text(&app.core),
        Some(name) => {
            let handle = app.core.find(&name)?;
            let _turn = handle.enter()?;
            handle.load().await?;
            of_keys(&name, handle.ask(|engine| Ok(engine.keys())).await?)
        }
    };
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

pub async fn backup(State(app): State<App>) -> Answer {
    let store = app.core.shared.store.clone();
    // A backup opens a second database, which has its own cache.
    let mut memory = app.core.memory.request();
    memory.add(app.core.memory.cache())?;
    let made = tokio::task::spawn_blocking(move || (store.backup(), memory).0).await;
    let (file, length) = made.unwrap_or_else(|_| Err(Problem::unavailable("the backup failed")))?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"store.redb\""),
    ];
    Ok((headers, file_body(file, length)).into_response())
}
