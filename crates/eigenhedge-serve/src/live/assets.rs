//! The files of every page, and the shell of one.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use eigenhedge_report::page::live;

/// The folder of the files of pages.
pub const FOLDER: &str = "/live/";

/// Routes to the scripts and the style sheet of pages.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    live::assets().into_iter().fold(Router::new(), |routes, asset| {
        let kind = [(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, "no-cache")];
        // One copy for all answers.
        let text = axum::body::Bytes::from(asset.text);
        routes.route(&format!("{FOLDER}{}", asset.name), get(move || async move { (kind, text) }))
    })
}

/// A page whose parts come from the address `feed`.
pub fn shell(title: &str, feed: &str) -> impl IntoResponse + use<> {
    Html(live::shell(title, FOLDER, feed))
}
