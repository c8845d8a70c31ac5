//! Thread that builds the page, and the server that shows it.

use super::Shared;
use crate::say::say;
use crate::stop::StopSignal;
use anyhow::{Result, anyhow};
use eigenhedge_pages::Page;
use eigenhedge_pages::number::grouped;
use eigenhedge_serve::live::{AddressError, Feed, LiveServer, PageState, parse_local};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(250);
/// Ratio of the pause after a page to the time that building the page took.
const REST: u32 = 10;
const LONGEST: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    parse_local(text).map_err(|error| match error {
        AddressError::Form => format!("{error}; write INPUT before --live"),
        AddressError::Open => error.to_string(),
    })
}

#[derive(Debug)]
pub struct Live {
    server: LiveServer,
    thread: Option<PageThread>,
}

impl Live {
    pub fn start(address: Option<SocketAddr>, title: &str) -> Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let server = LiveServer::start(address, title).map_err(|reason| anyhow!("--live: {reason}"))?;
        say(&format!("live: open {} in a browser", server.url()));
        server.feed().publish(PageState {
            title: title.to_owned(),
            state: "waiting".into(),
            note: "Waiting for the first row.".into(),
            parts: Page { title: title.to_owned(), ..Page::default() }.parts(),
        });
        Ok(Some(Self { server, thread: None }))
    }

    /// `page` returns the page of a state, with the content of the open sections, and the number of rows.
    pub fn follow<T: Send + 'static>(
        &mut self,
        state: Arc<Shared<T>>,
        page: impl Fn(&T, &BTreeSet<String>) -> Option<(Page, u64)> + Send + 'static,
    ) {
        self.thread = None;
        let (feed, is_over) = (self.server.feed().clone(), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("page".to_owned());
        // Without a thread, the page is not updated until the end. The stream is not affected.
        let handle = thread.spawn(move || make_pages(&state, page, &feed, &ends)).ok();
        self.thread = Some(PageThread { feed: self.server.feed().clone(), is_over, handle });
    }

    pub fn rest(&mut self) {
        self.thread = None;
    }

    pub fn end(mut self, page: &Page, rows: u64, exit: bool, signal: &StopSignal) {
        self.thread = None;
        let note =
            format!("The stream ended after {} rows. The page stays until the program is stopped.", grouped(rows));
        let closing = format!("The stream ended after {} rows, and the program with it.", grouped(rows));
        let stays = !exit && !signal.to_stop();
        self.server.feed().publish(PageState {
            title: page.title.clone(),
            state: "ended".into(),
            note: if stays { note } else { closing },
            parts: page.parts(),
        });
        if stays {
            say(&format!("live: the last page stays at {} until Ctrl-C", self.server.url()));
        }
        // Gives connected browsers time to receive the last page.
        std::thread::sleep(LOOK);
        while stays && !signal.to_stop() {
            std::thread::sleep(LOOK);
        }
    }
}

#[derive(Debug)]
struct PageThread {
    feed: Feed,
    is_over: Arc<AtomicBool>,
    handle: Option<JoinHandle<()>>,
}

impl Drop for PageThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.feed.wake();
        // A panic while building a page must not fail the stream.
        let _ = self.handle.take().map(JoinHandle::join);
    }
}

fn make_pages<T>(
    state: &Shared<T>,
    page: impl Fn(&T, &BTreeSet<String>) -> Option<(Page, u64)>,
    feed: &Feed,
    is_over: &AtomicBool,
) {
    // An empty page has been published, and no browser has connected yet.
    let (mut made, mut heard, mut pause) = (0, 0, PAUSE);
    loop {
        let watch = feed.wait(heard, pause);
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let version = state.version();
        let is_due = watch.is_watched && version > 0 && (version != made || watch.version != heard);
        heard = watch.version;
        if !is_due {
            continue;
        }
        let began = Instant::now();
        let Some((page, rows)) = page(&state.lock(), &watch.open) else { continue };
        made = version;
        let note = format!("Running: {} rows so far.", grouped(rows));
        let (title, state) = (page.title.clone(), "running".to_owned());
        feed.publish(PageState { title, state, note, parts: page.parts() });
        let took = began.elapsed();
        pause = (REST * took).clamp(PAUSE, LONGEST);
        // This limits the cost of repeated connections to half of a processor.
        std::thread::sleep(took);
    }
}
