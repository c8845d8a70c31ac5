//! Routes for operators: health, metrics, backup.

use super::replies::json;
use crate::service::app::App;
use crate::service::file_body::file_body;
use crate::service::problem::Problem;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json as object;

/// Handles `GET /health`: shows that the service is running.
pub async fn health() -> Response {
    json(StatusCode::OK, &object!({ "status": "ok" }))
}

/// Handles `GET /ready`: reports whether all streams are loaded from the store.
pub async fn ready(State(app): State<App>) -> Response {
    match app.core.check_ready() {
        Ok(()) => json(StatusCode::OK, &object!({ "status": "ready" })),
        Err(problem) => problem.into_response(),
    }
}

/// Handles `GET /openapi.json`: returns the OpenAPI description.
pub async fn description(State(app): State<App>) -> Response {
    json(StatusCode::OK, &crate::service::openapi::document(&app.core.settings.webhook_hosts))
}

/// Handles `GET /metrics`: returns metrics in the Prometheus text format.
pub async fn metrics(State(app): State<App>) -> Response {
    let text = app.metrics.text(&app.core);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// Handles `GET /v1/backup`: returns a copy of the store file.
pub async fn backup(State(app): State<App>) -> Response {
    let store = app.core.shared.store.clone();
    // A backup has a cache of its own.
    let mut memory = app.core.memory.request();
    if let Err(problem) = memory.add(app.core.memory.cache()) {
        return problem.into_response();
    }
    let made = tokio::task::spawn_blocking(move || (store.backup(), memory).0).await;
    match made.unwrap_or_else(|_| Err(Problem::unavailable("the backup failed"))) {
        Ok((file, length)) => {
            let headers = [
                (header::CONTENT_TYPE, "application/octet-stream"),
                (header::CONTENT_DISPOSITION, "attachment; filename=\"store.redb\""),
            ];
            (headers, file_body(file, length)).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}
