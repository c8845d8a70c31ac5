//! Server-sent events.
//!
//! A [`Source`] is asked for the next event when the connection has taken the one before: there is no queue, so a slow client costs one
//! event of memory. A comment every [`HEARTBEAT`] keeps proxies from closing a quiet connection, and finds clients that are gone.

use super::shutdown::Shutdown;
use axum::http::HeaderMap;
use axum::response::sse;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

/// Between two signs of life.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// After this time a browser connects again.
pub const RETRY: Duration = Duration::from_millis(500);

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id: what a client sends back as `Last-Event-ID`. Without line ends.
    pub id: String,
    /// Its kind. Without line ends.
    pub name: &'static str,
    /// Its data; line ends are kept.
    pub data: String,
}

/// A sequence of events for one client.
pub trait Source: Send + 'static {
    /// The next event, when there is one; none at the end.
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

/// The events as an answer, until the source or the program ends.
pub fn respond(source: impl Source, shutdown: Shutdown) -> Response {
    let events = stream::unfold((source, shutdown, true), |(mut source, mut shutdown, is_first)| async move {
        if is_first {
            // At once, so that a client sees that it is connected.
            let hello = sse::Event::default().retry(RETRY).comment("eigenhedge");
            return Some((Ok::<_, Infallible>(hello), (source, shutdown, false)));
        }
        let next = tokio::select! {
            biased;
            () = shutdown.wait() => None,
            next = source.next() => next,
        };
        let Event { id, name, data } = next?;
        Some((Ok(sse::Event::default().id(id).event(name).data(data)), (source, shutdown, false)))
    });
    sse::Sse::new(events).keep_alive(sse::KeepAlive::new().interval(HEARTBEAT).text("alive")).into_response()
}

/// The id of the last event that a client has seen.
pub fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|id| id.to_str().ok())
}
