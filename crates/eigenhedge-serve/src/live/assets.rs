//! Scripts and style sheet that all pages share, and the HTML shell of a page.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use eigenhedge_pages::page::live;

pub const FOLDER: &str = "/live/";

pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    live::assets().into_iter().fold(Router::new(), |routes, (name, kind, text)| {
        let kind = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
        let text = axum::body::Bytes::from(text);
        routes.route(&format!("{FOLDER}{name}"), get(move || async move { (kind, text) }))
    })
}

pub fn shell(title: &str, feed: &str) -> impl IntoResponse + use<> {
    Html(live::shell(title, FOLDER, feed))
}
