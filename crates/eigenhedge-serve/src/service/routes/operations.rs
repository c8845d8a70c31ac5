//! For those who run the service: health, metrics, backup.

use super::replies::json;
use crate::service::app::App;
use crate::service::file_body::file_body;
use crate::service::problem::Problem;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json as object;

/// `GET /health`: the service answers.
pub async fn health() -> Response {
    json(StatusCode::OK, &object!({ "status": "ok" }))
}

/// `GET /ready`: all streams have been read from the store.
pub async fn ready(State(app): State<App>) -> Response {
    match app.core.is_ready() {
        true => json(StatusCode::OK, &object!({ "status": "ready" })),
        false => Problem::unavailable("streams are being read from the store").into_response(),
    }
}

/// `GET /openapi.json`: the addresses, for programs.
pub async fn description() -> Response {
    json(StatusCode::OK, &crate::service::openapi::document())
}

/// `GET /metrics`, in Prometheus' text form.
pub async fn metrics(State(app): State<App>) -> Response {
    let text = app.metrics.text(&app.core);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// `GET /v1/backup`: a copy of the store, which is one itself.
pub async fn backup(State(app): State<App>) -> Response {
    let store = app.core.shared.store.clone();
    let made = tokio::task::spawn_blocking(move || store.backup()).await;
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
