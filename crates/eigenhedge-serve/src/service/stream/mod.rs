//! A stream: its learner, its waiting jobs, and values that can be read without waiting. A command enters the inbox once it
//! is durable, in log order. Queries use the inbox too, so they see the effect of earlier commands.

mod slot;

use super::engine::{Counts, Engine, Places};
use super::feed::Feed;
use super::fields::are_same;
use super::memory::{Memory, check_learner};
use super::notify::{Line, Outbox};
use super::options::StreamOptions;
use super::order::{Logged, Order};
use super::pool::{Pool, Worked};
use super::problem::Problem;
use super::repeats::{Repeats, Reply, RequestKey};
use super::shape::Shape;
use super::store::{Action, Store, StoreQueue};
use crate::lock;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const TURN: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);
const BLINK: Duration = Duration::from_millis(10);
pub const WAITING: usize = 256;

pub struct Shared {
    pub store: Arc<Store>,
    pub queue: StoreQueue,
    pub pool: Arc<Pool<Handle>>,
    pub places: Places,
    pub outbox: Outbox,
    pub memory: Memory,
    pub loaded: Mutex<HashMap<u64, Weak<Handle>>>,
    pub clock: AtomicU64,
    /// Only one large learner at a time has working space.
    pub large: Mutex<()>,
    pub trial: Mutex<()>,
}

impl Shared {
    /// Unloads idle streams, least recently used first. Returns false if nothing can be unloaded.
    fn make_room(&self, bytes: u64) -> bool {
        let excess = self.memory.excess(bytes);
        if excess == 0 {
            return true;
        }
        let mut idle: Vec<Arc<Handle>> = lock(&self.loaded).values().filter_map(Weak::upgrade).collect();
        idle.retain(|handle| handle.waiting() == 0 && !handle.is_unloading.load(Ordering::Relaxed));
        idle.sort_by_key(|handle| handle.used.load(Ordering::Relaxed));
        let mut freed = 0;
        for handle in &idle {
            if freed < excess {
                freed += handle.unload();
            }
        }
        freed > 0
    }
}

/// Newest state of a stream, which can be read without waiting for its learner.
#[derive(Default)]
pub struct Seen {
    pub counts: Counts,
    pub alarms: u64,
    pub snapshots: u64,
    pub unloads: u64,
    /// Number of reported ongoing incidents, silences included.
    pub incidents: u64,
    pub silent: u64,
    /// Sentence of the most severe ongoing incident.
    pub worst: String,
    pub shape: Option<Arc<Shape>>,
    pub last_time: Option<f64>,
    /// Wall-clock time until which no key can become silent.
    silence_due: f64,
    /// True also if loading has failed.
    pub was_loaded: bool,
    failed: Option<String>,
}

pub struct Handle {
    pub id: u64,
    pub name: String,
    pub options: Arc<StreamOptions>,
    pub feed: Feed,
    pub line: Option<Arc<Line>>,
    seen: Mutex<Seen>,
    shared: Arc<Shared>,
    inbox: Mutex<Inbox>,
    slot: Mutex<Slot>,
    repeats: Mutex<Repeats>,
    waiting: AtomicUsize,
    /// Estimated size of the learner. The last value remains after unloading.
    bytes: AtomicU64,
    used: AtomicU64,
    is_loaded: AtomicBool,
    is_unloading: AtomicBool,
    is_deleted: AtomicBool,
}

type Job = Box<dyn FnOnce(&Arc<Handle>, &mut Slot) + Send>;

#[derive(Default)]
struct Inbox {
    jobs: VecDeque<Job>,
    is_in_line: bool,
}

pub struct Turn(Arc<Handle>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn ended() -> Problem {
    Problem::unavailable(
        "the service is stopping, or the stream had to be read from its store again; the request may have been carried \
         out: repeat it with the same Idempotency-Key",
    )
}

impl Handle {
    pub fn open(id: u64, name: String, options: Arc<StreamOptions>, sent: &[u8], shared: Arc<Shared>) -> Arc<Self> {
        let line = options.rules.hook.as_ref().and_then(|hook| Line::new((id, name.clone()), hook, sent));
        line.iter().for_each(|line| shared.outbox.add(line));
        Arc::new(Self {
            id,
            name,
            options,
            feed: Feed::default(),
            line,
            seen: Mutex::new(Seen { silence_due: f64::INFINITY, ..Seen::default() }),
            shared,
            inbox: Mutex::default(),
            slot: Mutex::default(),
            repeats: Mutex::default(),
            waiting: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            used: AtomicU64::new(0),
            is_loaded: AtomicBool::new(false),
            is_unloading: AtomicBool::new(false),
            is_deleted: AtomicBool::new(false),
        })
    }

    pub fn load_soon(self: &Arc<Self>) {
        self.push(Box::new(|handle, slot| _ = slot.engine(handle)));
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Waits for room. Called before a command is logged, because loading would replay the command without an answer.
    pub async fn load(self: &Arc<Self>) -> Result<(), Problem> {
        self.used.store(self.shared.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if self.is_loaded.load(Ordering::SeqCst) {
            return Ok(());
        }
        let start = Instant::now();
        while self.shared.memory.excess(self.bytes()) > 0 && start.elapsed() < PATIENCE {
            if !self.shared.make_room(self.bytes()) && self.shared.memory.check_learners(self.bytes()).is_ok() {
                break;
            }
            tokio::time::sleep(BLINK).await;
        }
        self.shared.memory.check_learners(self.bytes())?;
        self.ask(|_| Ok(())).await
    }

    pub fn check_memory(&self) -> Result<(), Problem> {
        self.shared.memory.check_stream(self.bytes())?;
        self.shared.memory.check_learners(0)
    }

    pub fn check_first(&self, shape: &Shape) -> Result<(), Problem> {
        let memory = &self.shared.memory;
        check_learner(memory, &self.options, shape.width)?;
        let _trial = lock(&self.shared.trial);
        memory.check_stream(Engine::check(&self.options, shape)?)
    }

    /// Returns the number of bytes to be freed, or 0 if already queued.
    fn unload(self: &Arc<Self>) -> u64 {
        if self.is_unloading.swap(true, Ordering::Relaxed) {
            return 0;
        }
        let bytes = self.bytes();
        let unloading = self.shared.memory.unloading(bytes);
        self.push(Box::new(move |handle, slot| {
            handle.is_unloading.store(false, Ordering::Relaxed);
            slot.unload(handle, unloading);
        }));
        bytes
    }

    pub fn check_loaded(&self) -> Result<(), Problem> {
        match &self.seen().failed {
            None => Ok(()),
            Some(reason) => Err(Problem::unavailable(format!("the stream {:?} cannot be used: {reason}", self.name))),
        }
    }

    pub fn same(&self, options: &StreamOptions) -> Result<(), Problem> {
        if are_same(&self.options.given, &options.given) {
            return Ok(());
        }
        let name = &self.name;
        let sentence = format!("the stream {name:?} exists with other options; DELETE it first, or take another name");
        Err(Problem::conflict(sentence))
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    pub fn delete(&self) {
        self.is_deleted.store(true, Ordering::Release);
        self.feed.close();
        lock(&self.shared.loaded).remove(&self.id);
    }

    pub fn enter(self: &Arc<Self>) -> Result<Turn, Problem> {
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = Turn(Arc::clone(self));
        if before >= WAITING {
            return Err(Problem::busy(format!("{WAITING} requests wait for the stream already")));
        }
        Ok(turn)
    }

    /// Runs `question` after all earlier commands have been applied.
    pub async fn ask<R: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Engine) -> Result<R, Problem> + Send + 'static,
    ) -> Result<R, Problem> {
        let (sender, answer) = oneshot::channel();
        self.push(Box::new(move |handle, slot| {
            let found = slot.engine(handle).and_then(question);
            let _ = sender.send(found);
            handle.shared.make_room(0);
        }));
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    pub fn answered(&self, key: &RequestKey) -> Option<Reply> {
        lock(&self.repeats).answer(key)
    }

    /// Logs and applies a command. `held` lives until the command is applied, even if the client disconnects.
    pub async fn order<H: Send + 'static>(self: &Arc<Self>, logged: Logged, held: H) -> Result<(Vec<u8>, H), Problem> {
        if let Some(reply) = logged.key.as_ref().and_then(|key| self.answered(key)) {
            return reply.map(|answers| (answers, held));
        }
        let (sender, answer) = oneshot::channel();
        let bytes = logged.to_bytes()?;
        let size = bytes.len() as u64;
        let handle = Arc::clone(self);
        // The client may have disconnected, so the reply may have no receiver.
        let done = move |place: Result<u64, Problem>| match place {
            Ok(place) => {
                handle.push(Box::new(move |handle, slot| {
                    let reply = slot.carry_out(handle, place, size, &logged);
                    let _ = sender.send(reply.map(|answers| (answers, held)));
                    handle.shared.make_room(0);
                }));
            }
            Err(problem) => _ = sender.send(Err(problem)),
        };
        self.shared.queue.send(Action::Append { id: self.id, bytes }, done)?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    pub async fn save(self: &Arc<Self>) {
        let (sender, saved) = oneshot::channel();
        self.push(Box::new(move |handle, slot| match slot.log_bytes {
            0 => _ = sender.send(()),
            _ => slot.save(handle, move || _ = sender.send(())),
        }));
        // A failure is harmless, because the log is sufficient to restore the state.
        let _ = saved.await;
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut inbox = lock(&self.inbox);
        inbox.jobs.push_back(job);
        if !std::mem::replace(&mut inbox.is_in_line, true) {
            drop(inbox);
            self.shared.pool.push(Arc::clone(self));
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut inbox = lock(&self.inbox);
        let job = inbox.jobs.pop_front();
        inbox.is_in_line = job.is_some();
        job
    }
}

impl Worked for Handle {
    fn work(self: &Arc<Self>) -> bool {
        for _ in 0..TURN {
            let Some(job) = self.next_job() else { return false };
            let is_large = self.bytes() > self.shared.memory.of_stream() / 4;
            let large = is_large.then(|| lock(&self.shared.large));
            job(self, &mut lock(&self.slot));
            drop(large);
        }
        true
    }

    fn panicked(&self) {
        // The state in memory may be inconsistent, so the next job loads it from the store.
        lock(&self.slot).forget(self);
    }
}

#[derive(Default)]
pub struct Slot {
    engine: Option<Engine>,
    applied: u64,
    pub log_bytes: u64,
    snapshot_bytes: u64,
    is_saving: bool,
    /// Replies to commands that were replayed while their requests were waiting.
    replayed: HashMap<u64, Reply>,
}

impl Handle {
    /// `before` is the earlier number of notices.
    fn publish(&self, engine: &Engine, before: u64) {
        let notices = &engine.notices;
        let mut seen = self.seen();
        (seen.counts, seen.alarms, seen.last_time) = (engine.counts, engine.alarms(), engine.last_time);
        (seen.shape, seen.silence_due) = (engine.shape(), notices.silences.due());
        if notices.count > before || notices.has_told() {
            let open = notices.open();
            (seen.incidents, seen.silent) = (open.len() as u64, notices.silences.open.len() as u64);
            seen.worst = open.into_iter().next().unwrap_or_default();
        }
        drop(seen);
        if let Some(line) = &self.line {
            self.shared.outbox.push(line, notices.urgent_after(line.entered()));
        }
    }

    pub async fn look_for_silence(self: &Arc<Self>, since: f64) {
        let logged = Logged::new(None, Order::Clock { since });
        if logged.at <= self.seen().silence_due {
            return;
        }
        // After a failure, the next call tries again.
        if self.load().await.is_ok() {
            let _ = self.order(logged, ()).await;
        }
    }
}
