//! Server, which accepts connections up to a limit until it is stopped.

use super::connections::{Connections, Place, TimedWrites};
use super::core::Core;
use super::gate::App;
use super::log::event;
use super::metrics::Metrics;
use super::routes::router;
use super::settings::{Limits, Settings};
use crate::live::{Guard, Shutdown};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

const REQUESTS: Duration = Duration::from_millis(2500);
const THREADS: usize = 16;
const TRIM: Duration = Duration::from_secs(1);
const SNAPSHOTS: Duration = Duration::from_millis(1500);

pub struct Service {
    address: SocketAddr,
    switch: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    pub fn start(settings: Settings) -> Result<Self, String> {
        settings.check()?;
        super::memory::configure();
        let listen = settings.listen;
        let refused = |error: std::io::Error| format!("cannot listen on {listen}: {error}");
        let listener = TcpListener::bind(listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let core = Core::open(settings)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(THREADS)
            .build()
            .map_err(|error| format!("the threads of the service cannot be started: {error}"))?;
        let (switch, shutdown) = Shutdown::new();
        let thread = std::thread::Builder::new().name("service".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, core, shutdown));
            runtime.shutdown_timeout(Duration::from_millis(500));
        });
        let thread = thread.map_err(|error| format!("the thread of the service cannot be started: {error}"))?;
        event("listening", json!({ "address": address.to_string() }));
        Ok(Self { address, switch: Some(switch), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.switch = None;
        // A panic of the server does not damage the store.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn serve(listener: TcpListener, core: Arc<Core>, mut shutdown: Shutdown) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let limits = core.settings.limits;
    let guard = match &core.settings.tokens {
        None => Guard::default(),
        Some(_) => Guard::with_names(core.settings.hosts.iter().cloned()),
    };
    let places = Connections::new(limits.connections);
    let metrics = Arc::new(Metrics::new(Arc::clone(&places)));
    let app = App { core: Arc::clone(&core), metrics, guard, shutdown: shutdown.clone() };
    let routes = router(app);
    let background = Arc::clone(&core);
    tokio::spawn(async move {
        background.load_all().await;
        loop {
            tokio::time::sleep(TRIM).await;
            background.memory.trim(super::metrics::resident());
            background.look_for_silence().await;
        }
    });
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
        match places.enter() {
            Some(place) => _ = connections.spawn(converse(stream, routes.clone(), limits, shutdown.clone(), place)),
            None => refuse(stream),
        }
    }
    drop(listener);
    end(core, connections).await;
}

async fn end(core: Arc<Core>, mut connections: JoinSet<()>) {
    let start = Instant::now();
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(REQUESTS, all).await;
    connections.abort_all();
    core.save_all(SNAPSHOTS).await;
    core.close().await;
    event("stopped", json!({ "seconds": start.elapsed().as_secs_f64() }));
}

async fn converse(stream: TcpStream, routes: Router, limits: Limits, mut shutdown: Shutdown, mut place: Place) {
    let _ = stream.set_nodelay(true);
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes)
        .half_close(false);
    let known = place.known.clone();
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(known.clone());
        routes.call(request)
    });
    let connection = server.serve_connection(TokioIo::new(TimedWrites::new(stream, limits.answer_time)), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = &mut connection => {}
        _ = &mut place.displaced => {}
        () = shutdown.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

fn refuse(stream: TcpStream) {
    const BODY: &str =
        "{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"too many connections\"}";
    let head = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    // The response fits into the empty buffer.
    let _ = stream.into_std().and_then(|mut stream| {
        stream.write_all(head.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Write)
    });
}
