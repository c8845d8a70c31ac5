//! Server of one page, in its own thread.

use super::feed::Feed;
use super::guard::{Guard, guarded};
use super::sse::Shutdown;
use super::{assets, sse};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

const FEED: &str = "/live/feed";
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct LiveServer {
    address: SocketAddr,
    feed: Feed,
    switch: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

pub type Parameters = Query<Vec<(String, String)>>;

pub fn open_sections(query: Parameters) -> BTreeSet<String> {
    query.0.into_iter().filter(|(name, _)| name == "open").map(|(_, section)| section).collect()
}

#[derive(Debug, Clone)]
struct Context {
    feed: Feed,
    shutdown: Shutdown,
    title: String,
}

impl LiveServer {
    pub fn start(address: SocketAddr, title: &str) -> Result<Self, String> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                let next = SocketAddr::new(address.ip(), address.port().checked_add(1).unwrap_or(0));
                format!(
                    "{address} is in use by another program; {next} takes another port, and port 0 any that is free"
                )
            }
            _ => format!("cannot listen on {address}: {error}"),
        };
        let no_thread = |error: io::Error| format!("the thread of the page cannot be started: {error}");
        let listener = TcpListener::bind(address).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let (switch, shutdown) = Shutdown::new();
        let feed = Feed::default();
        let context = Context { feed: feed.clone(), shutdown, title: title.to_owned() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let thread = std::thread::Builder::new().name("live page".to_owned());
        let thread = thread.spawn(move || runtime.block_on(serve(listener, context))).map_err(no_thread)?;
        Ok(Self { address: bound, feed, switch: Some(switch), thread: Some(thread) })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn feed(&self) -> &Feed {
        &self.feed
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.switch = None;
        // A panic of the server must not fail the stream.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn serve(listener: TcpListener, context: Context) {
    let (mut stopping, mut stopped) = (context.shutdown.clone(), context.shutdown.clone());
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let served = axum::serve(listener, routes(context)).with_graceful_shutdown(async move { stopping.wait().await });
    // A client that does not read must not delay shutdown.
    let late = async {
        stopped.wait().await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        _ = served => {}
        () = late => {}
    }
}

fn routes(context: Context) -> Router {
    Router::new()
        .route("/", get(page))
        .route(FEED, get(events))
        .merge(assets::routes())
        .with_state(context)
        .layer(middleware::from_fn_with_state(Guard::default(), guarded))
}

async fn page(State(context): State<Context>) -> impl IntoResponse {
    assets::shell(&context.title, FEED)
}

async fn events(State(context): State<Context>, query: Parameters, headers: HeaderMap) -> Response {
    match context.feed.subscribe(sse::last_event_id(&headers), open_sections(query)) {
        Some(subscription) => sse::respond(subscription, context.shutdown),
        None => {
            let sentence = "too many pages are open; close one\n";
            (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "5")], sentence).into_response()
        }
    }
}
