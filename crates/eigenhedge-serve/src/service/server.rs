//! The server: accepts connections within limits, until it is stopped.

use super::app::App;
use super::core::Core;
use super::log::event;
use super::metrics::Metrics;
use super::routes::router;
use super::settings::Settings;
use crate::live::{Guard, Shutdown, ShutdownSwitch};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Time that running requests have to finish at shutdown.
const REQUESTS: Duration = Duration::from_millis(2500);
/// Time for writing snapshots at shutdown, after running requests have ended.
const SNAPSHOTS: Duration = Duration::from_millis(1500);

/// Service that runs in its own threads. It stops when dropped.
pub struct Service {
    address: SocketAddr,
    switch: ShutdownSwitch,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Opens the store and starts listening.
    pub fn start(settings: Settings) -> Result<Self, String> {
        settings.check()?;
        let listen = settings.listen;
        let refused = |error: std::io::Error| format!("cannot listen on {listen}: {error}");
        let listener = TcpListener::bind(listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let core = Core::open(settings)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("the threads of the service cannot be started: {error}"))?;
        let (switch, shutdown) = ShutdownSwitch::new();
        let thread = std::thread::Builder::new().name("service".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, core, shutdown));
            // Tasks that still run have exceeded their time limit.
            runtime.shutdown_timeout(Duration::from_millis(500));
        });
        let thread = thread.map_err(|error| format!("the thread of the service cannot be started: {error}"))?;
        event("listening", json!({ "address": address.to_string() }));
        Ok(Self { address, switch, thread: Some(thread) })
    }

    /// Returns the address on which the service listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the service. Waits up to 5 s until requests in progress are answered and snapshots are written.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.switch.pull();
        // A panic of the server does not damage the store.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

async fn serve(listener: TcpListener, core: Arc<Core>, mut shutdown: Shutdown) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let limits = core.settings.limits;
    let guard = match &core.settings.tokens {
        None => Guard::default(),
        Some(_) => Guard::with_names(names(&core.settings)),
    };
    let metrics = Arc::new(Metrics::default());
    let app = App { core: Arc::clone(&core), metrics: Arc::clone(&metrics), guard, shutdown: shutdown.clone() };
    let routes = router(app);
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let stream = tokio::select! {
            () = shutdown.wait() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // Usually too many files are open. Wait until some are closed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            connections.spawn(refuse(stream));
            continue;
        };
        let (routes, shutdown, metrics) = (routes.clone(), shutdown.clone(), Arc::clone(&metrics));
        connections.spawn(async move {
            metrics.connections.fetch_add(1, Ordering::Relaxed);
            converse(stream, routes, limits, shutdown).await;
            metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    end(core, connections).await;
}

/// Waits for running requests, writes snapshots, and closes the store.
async fn end(core: Arc<Core>, mut connections: JoinSet<()>) {
    let start = Instant::now();
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(REQUESTS, all).await;
    connections.abort_all();
    core.save_all(SNAPSHOTS).await;
    core.close().await;
    event("stopped", json!({ "seconds": start.elapsed().as_secs_f64() }));
}

/// Returns the host names that a service with tokens accepts: the given names and its own address.
fn names(settings: &Settings) -> Vec<String> {
    let mut names = settings.hosts.clone();
    names.push(settings.listen.ip().to_string());
    names
}

/// Serves the requests of a connection until it closes or the service stops.
async fn converse(stream: TcpStream, routes: Router, limits: super::settings::Limits, mut shutdown: Shutdown) {
    let _ = stream.set_nodelay(true);
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes)
        .half_close(false);
    let connection = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    tokio::pin!(connection);
    tokio::select! {
        // An error of a connection concerns only its client.
        _ = &mut connection => {}
        () = shutdown.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Rejects a connection because there are too many.
async fn refuse(mut stream: TcpStream) {
    const BODY: &str =
        "{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"too many connections\"}";
    let head = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    let answered = async {
        stream.write_all(head.as_bytes()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), answered).await;
}
