//! Server-sent events. A [`Source`] is polled once the connection has accepted the previous event, so a slow client
//! holds at most one event in memory. A comment every [`HEARTBEAT`] detects disconnected clients.

use axum::http::HeaderMap;
use axum::response::sse;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;
use tokio::sync::watch;

pub const HEARTBEAT: Duration = Duration::from_secs(15);
pub const RETRY: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: String,
    pub name: &'static str,
    pub data: String,
}

pub trait Source: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

pub fn respond(source: impl Source, shutdown: Shutdown) -> Response {
    let events = stream::unfold((source, shutdown, true), |(mut source, mut shutdown, is_first)| async move {
        if is_first {
            // Tells the client at once that it is connected.
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

pub fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|id| id.to_str().ok())
}

/// Signal to stop: the sender is dropped.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<()>);

impl Shutdown {
    pub fn new() -> (watch::Sender<()>, Self) {
        let (sender, receiver) = watch::channel(());
        (sender, Self(receiver))
    }

    pub async fn wait(&mut self) {
        while self.0.changed().await.is_ok() {}
    }

    pub fn is_pulled(&self) -> bool {
        self.0.has_changed().is_err()
    }
}
