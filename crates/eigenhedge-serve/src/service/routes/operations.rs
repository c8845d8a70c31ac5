//! Routes for operators: health, metrics, backup.

use super::replies::{Answer, file_body, loaded, parameter};
use crate::live::Parameters;
use crate::service::gate::App;
use crate::service::metrics::of_keys;
use crate::service::problem::Problem;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub async fn health() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

pub async fn ready(State(app): State<App>) -> Answer {
    app.core.check_ready()?;
    Ok(Json(json!({ "status": "ready" })).into_response())
}

pub async fn description(State(app): State<App>) -> Response {
    Json(crate::service::openapi::document(&app.core.settings.webhooks.hosts)).into_response()
}

pub async fn metrics(State(app): State<App>, query: Parameters) -> Answer {
    if app.core.is_starting() {
        return Err(Problem::unavailable("streams are being read from the store, so their numbers are not known yet"));
    }
    let text = match parameter(&query, "keys") {
        None => app.metrics.text(&app.core),
        Some(name) => {
            let (handle, _turn) = loaded(&app, name).await?;
            of_keys(name, handle.ask(|engine| Ok(engine.keys())).await?)
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
