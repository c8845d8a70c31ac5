//! Middleware that checks every request first, then counts its response and adds security headers.

use super::app::App;
use super::problem::Problem;
use super::token::{Scope, Tokens};
use crate::live::guard::{Refusal, protect};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Instant;

/// Name of the cookie that contains the token of a browser.
pub const COOKIE: &str = "eigenhedge";

/// Checks a request, passes it to the handler, and counts and protects the response.
pub async fn gate(State(app): State<App>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match check(&app, &method, &path, request.headers()) {
        Ok(()) => next.run(request).await,
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

fn check(app: &App, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let is_about_health = matches!(path, "/health" | "/ready");
    if app.shutdown.is_pulled() && path != "/health" {
        return Err(Problem::unavailable("the service is stopping; try again in a moment"));
    }
    check_names(app, headers)?;
    match (&app.core.settings.tokens, scope(method, path)) {
        (Some(tokens), Some(wanted)) if !is_about_health => allow(tokens, wanted, headers),
        _ => Ok(()),
    }
}

/// Rejects requests from pages of other sites, and requests for a host name that is not that of the service.
///
/// A service with tokens but without a list of host names accepts any name, because a page of another site
/// does not know a token.
fn check_names(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |refusal: Refusal| Problem::new(StatusCode::FORBIDDEN, refusal.to_string());
    let settings = &app.core.settings;
    if settings.tokens.is_none() || !settings.hosts.is_empty() {
        return app.guard.check(headers).map_err(refused);
    }
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let origin = text(header::ORIGIN).map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    if origin.is_some() && origin != text(header::HOST) { Err(refused(Refusal::Origin)) } else { Ok(()) }
}

/// Returns the scope that a request needs, or `None` for a public path. The pages are public, but their data is not.
pub fn scope(method: &Method, path: &str) -> Option<Scope> {
    let end = path.rsplit('/').next().unwrap_or("");
    match (method, path) {
        (_, "/metrics") => Some(Scope::Read),
        (_, "/v1/backup") => Some(Scope::Admin),
        (_, path) if !path.starts_with("/v1/") => None,
        (&Method::GET | &Method::HEAD, _) => Some(Scope::Read),
        (&Method::POST, _) if end == "score" => Some(Scope::Read),
        (&Method::POST, _) => Some(Scope::Write),
        (&Method::PUT, _) if end != "model" => Some(Scope::Write),
        _ => Some(Scope::Admin),
    }
}

/// Returns `Ok` if the token of the request has the scope.
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

/// Returns the token from the `Authorization` header, or from the cookie if there is no such header.
fn token_of(headers: &HeaderMap) -> Option<&[u8]> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = value.as_bytes().split_at_checked(7)?;
        return scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii());
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, token)| token.as_bytes())
}
