//! Open connections, up to a limit. A connection is *known* after an accepted request with a token, or without tokens
//! after a GET request. At the limit, a new connection displaces the oldest unknown one, so that slow or silent clients
//! without a token never keep out clients with one.

use crate::lock;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::Sleep;

#[derive(Debug)]
pub struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// Open connections by id, oldest first. Dropping the sender closes the connection.
    places: BTreeMap<u64, (Known, oneshot::Sender<()>)>,
}

#[derive(Debug, Clone, Default)]
pub struct Known(Arc<AtomicBool>);

impl Known {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub struct Place {
    connections: Arc<Connections>,
    id: u64,
    pub known: Known,
    pub displaced: oneshot::Receiver<()>,
}

impl Connections {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Returns `None` if known connections take all places.
    pub fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut open = lock(&self.open);
        if open.places.len() >= self.most {
            let is_unknown = |(_, (known, _)): &(&u64, &(Known, _))| !known.0.load(Ordering::Relaxed);
            let oldest = *open.places.iter().find(is_unknown)?.0;
            open.places.remove(&oldest);
        }
        let (id, known) = (open.next, Known::default());
        open.next += 1;
        let (sender, displaced) = oneshot::channel();
        open.places.insert(id, (known.clone(), sender));
        Some(Place { connections: Arc::clone(self), id, known, displaced })
    }

    pub fn count(&self) -> usize {
        lock(&self.open).places.len()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.connections.open).places.remove(&self.id);
    }
}

/// Connection on which a write fails after a time limit.
pub struct TimedWrites {
    stream: TcpStream,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl TimedWrites {
    pub fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, waiting: None }
    }

    fn timed(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let limit = self.limit;
        ready!(self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit))).as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedWrites {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for TimedWrites {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.timed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_unknown_connection_gives_way_and_a_known_one_never() {
        let connections = Connections::new(3);
        let mut places: Vec<Place> = (0..3).map(|_| connections.enter().unwrap()).collect();
        places[0].known.set();
        let newest = connections.enter().unwrap();
        assert!(places[0].displaced.try_recv() == Err(oneshot::error::TryRecvError::Empty));
        assert!(places[1].displaced.try_recv() == Err(oneshot::error::TryRecvError::Closed));
        drop(places.remove(1));
        assert_eq!(connections.count(), 3);
        places[1].known.set();
        newest.known.set();
        assert!(connections.enter().is_none());
        drop(newest);
        assert!(connections.enter().is_some());
    }
}
