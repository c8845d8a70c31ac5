//! The addresses of the service.

mod operations;
mod pages;
mod rows;
mod streams;

use super::core::Core;
use super::gate::gate;
use super::metrics::Metrics;
use super::problem::Problem;
use crate::live::{Guard, Shutdown};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What requests need.
#[derive(Clone)]
pub struct App {
    pub core: Arc<Core>,
    pub metrics: Arc<Metrics>,
    pub guard: Guard,
    pub shutdown: Shutdown,
}

/// A path of the service and its methods, for the routes and for the description of them.
pub struct Route {
    pub path: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the description"))]
    pub methods: &'static [&'static str],
    make: fn() -> MethodRouter<App>,
}

/// All paths.
pub const ROUTES: &[Route] = &[
    Route { path: "/v1/streams", methods: &["get"], make: || get(streams::list) },
    Route {
        path: "/v1/streams/{name}",
        methods: &["get", "put", "delete"],
        make: || get(streams::show).put(streams::create).delete(streams::delete),
    },
    Route { path: "/v1/streams/{name}/rows", methods: &["post"], make: || post(rows::learn) },
    Route { path: "/v1/streams/{name}/score", methods: &["post"], make: || post(rows::score) },
    Route { path: "/v1/streams/{name}/summary", methods: &["get"], make: || get(streams::summary) },
    Route {
        path: "/v1/streams/{name}/model",
        methods: &["get", "put"],
        make: || get(streams::model).put(streams::replace_model),
    },
    Route { path: "/v1/streams/{name}/accept", methods: &["post"], make: || post(rows::accept) },
    Route { path: "/v1/streams/{name}/events", methods: &["get"], make: || get(streams::events) },
    Route { path: "/v1/backup", methods: &["get"], make: || get(operations::backup) },
    Route { path: "/metrics", methods: &["get"], make: || get(operations::metrics) },
    Route { path: "/health", methods: &["get"], make: || get(operations::health) },
    Route { path: "/ready", methods: &["get"], make: || get(operations::ready) },
    Route { path: "/openapi.json", methods: &["get"], make: || get(operations::description) },
    Route { path: "/", methods: &["get"], make: || get(pages::first) },
    Route { path: "/streams/{name}", methods: &["get"], make: || get(pages::stream) },
    Route { path: "/v1/page", methods: &["get"], make: || get(pages::first_feed) },
    Route { path: "/v1/streams/{name}/page", methods: &["get"], make: || get(pages::stream_feed) },
    Route { path: "/login", methods: &["post"], make: || post(pages::login) },
    Route { path: "/service/service.js", methods: &["get"], make: || get(pages::script) },
    Route { path: "/service/service.css", methods: &["get"], make: || get(pages::style) },
];

/// The service as a router.
pub fn router(app: App) -> Router {
    let routes = ROUTES.iter().fold(Router::new(), |routes, route| routes.route(route.path, (route.make)()));
    routes
        .merge(crate::live::assets::routes())
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "the address exists, but not with this method")
        })
        .layer(middleware::from_fn_with_state(app.clone(), gate))
        .with_state(app)
}

/// JSON as an answer.
fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Lines of JSON as an answer.
fn lines(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/x-ndjson")], bytes).into_response()
}

/// Reads a body within the limits of size and time.
async fn read_body(app: &App, headers: &HeaderMap, body: Body) -> Result<axum::body::Bytes, Problem> {
    let limits = app.core.settings.limits;
    let too_large = || Problem::too_large(format!("the body must be at most {} bytes", limits.body));
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > limits.body as u64) {
        return Err(too_large());
    }
    if let Some(coding) = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let sentence = format!("the body must not be compressed, got {coding:?}");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
    }
    match tokio::time::timeout(limits.body_time, axum::body::to_bytes(body, limits.body)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.to_string().contains("length limit") => Err(too_large()),
        Ok(Err(error)) => Err(Problem::malformed(format!("the body cannot be read: {error}"))),
        Err(_) => Err(Problem::malformed(format!("the body must arrive within {} s", in_seconds(limits.body_time)))),
    }
}

fn in_seconds(time: Duration) -> u64 {
    time.as_secs()
}

/// The value of a parameter of the query, percent-decoded.
fn parameter(query: Option<&str>, name: &str) -> Option<String> {
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
