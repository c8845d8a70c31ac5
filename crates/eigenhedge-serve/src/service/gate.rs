//! Middleware that checks every request.

use super::connections::Known;
use super::core::Core;
use super::metrics::Metrics;
use super::problem::Problem;
use super::token::{Scope, Tokens};
use crate::live::guard::{Refusal, protect};
use crate::live::{Guard, Shutdown};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Instant;

pub const COOKIE: &str = "eigenhedge";

/// State that all requests share.
#[derive(Clone)]
pub struct App {
    pub core: Arc<Core>,
    pub metrics: Arc<Metrics>,
    pub guard: Guard,
    pub shutdown: Shutdown,
}

pub async fn gate(State(app): State<App>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match check(&app, &request) {
        Ok(is_known) => {
            request.extensions().get().filter(|_| is_known).into_iter().for_each(Known::set);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    protect(response.headers_mut());
    let status = response.status();
    app.metrics.count(status, start.elapsed());
    if app.core.settings.log_requests {
        super::log::request(&method, &path, status, start.elapsed());
    }
    response
}

/// Returns true if the request makes its connection known ([`super::connections`]).
fn check(app: &App, request: &Request) -> Result<bool, Problem> {
    let route = request.extensions().get().map_or(request.uri().path(), MatchedPath::as_str);
    if app.shutdown.is_pulled() && route != "/health" {
        return Err(Problem::unavailable("the service is stopping; try again in a moment"));
    }
    let refused = |refusal: Refusal| Problem::new(StatusCode::FORBIDDEN, refusal.to_string());
    app.guard.check(request.headers()).map_err(refused)?;
    match (&app.core.settings.tokens, scope(request.method(), route)) {
        (Some(tokens), Some(wanted)) => allow(tokens, wanted, request.headers()).map(|()| true),
        (None, Some(Scope::Read)) => Ok(request.method() == Method::GET),
        _ => Ok(false),
    }
}

/// Returns the scope that a request needs, or `None` for public routes, such as pages without their data.
pub fn scope(method: &Method, route: &str) -> Option<Scope> {
    match (method, route) {
        (_, "/metrics") => Some(Scope::Read),
        (_, "/v1/backup") => Some(Scope::Admin),
        (_, route) if !route.starts_with("/v1/") => None,
        (&Method::GET | &Method::HEAD, _) | (&Method::POST, "/v1/streams/{name}/score") => Some(Scope::Read),
        (&Method::POST, _) | (&Method::PUT, "/v1/streams/{name}") => Some(Scope::Write),
        _ => Some(Scope::Admin),
    }
}

fn allow(tokens: &Tokens, wanted: Scope, headers: &HeaderMap) -> Result<(), Problem> {
    let found = token_of(headers).and_then(|token| tokens.scope(token));
    match found {
        None => {
            let sentence = "a token is needed: Authorization: Bearer TOKEN, one of --token-file";
            Err(Problem::new(StatusCode::UNAUTHORIZED, sentence))
        }
        Some(scope) if scope < wanted => {
            let (found, wanted) = (scope.name(), wanted.name());
            Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("the token has the scope {found}, but this request needs {wanted}"),
            ))
        }
        Some(_) => Ok(()),
    }
}

fn token_of(headers: &HeaderMap) -> Option<&[u8]> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = value.as_bytes().split_at_checked(7)?;
        return scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii());
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, token)| token.as_bytes())
}
