//! A stream: its learner, its waiting orders, and values that can be read without waiting.
//!
//! The rows of a request are read and logged as an order. Once the order is durable, it enters the inbox, in log order.
//! The pool applies it and returns the answers. Queries use the inbox too, so that they see all earlier orders.

use super::engine::{Engine, Outcome, Places, Saved};
use super::feed::Feed;
use super::log::event;
use super::memory::{Memory, Unloading, check_learner, measured, trim};
use super::options::StreamOptions;
use super::order::{Logged, Order};
use super::pool::{Pool, Worked};
use super::problem::Problem;
use super::repeats::{Repeats, Reply, RequestKey};
use super::shape::Shape;
use super::store::{Action, Snapshot, Store, StoreQueue};
use super::webhook::{Target, Webhooks};
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum number of jobs that a stream runs before other streams get a turn.
const TURN: usize = 64;
/// Time for which a request waits until its stream is loaded, and the pause between two attempts.
const PATIENCE: Duration = Duration::from_secs(10);
const BLINK: Duration = Duration::from_millis(10);
/// Size of a learner after which its memory is returned to the system at once, in bytes.
const TRIMMED: u64 = 1 << 20;
/// Minimum log size for a snapshot, in bytes. The log must also be larger than the previous snapshot.
const LOG_BYTES: u64 = 4 << 20;
/// Maximum number of waiting requests per stream.
pub const WAITING: usize = 256;

/// Resources shared by all streams.
pub struct Shared {
    pub store: Arc<Store>,
    pub queue: StoreQueue,
    pub pool: Arc<Pool<Handle>>,
    pub places: Places,
    pub webhooks: Webhooks,
    pub memory: Memory,
    /// Streams whose learners are in memory, by id.
    loaded: Mutex<HashMap<u64, Weak<Handle>>>,
    /// Counter of the uses of streams.
    clock: AtomicU64,
    /// Lock for work on large learners, so that the working space of only one is allocated at a time.
    large: Mutex<()>,
    /// Lock for building learners on trial.
    trial: Mutex<()>,
}

impl Shared {
    /// Creates the resources of streams of which none is loaded.
    pub fn new(
        store: Arc<Store>,
        queue: StoreQueue,
        pool: Arc<Pool<Handle>>,
        places: Places,
        webhooks: Webhooks,
        memory: Memory,
    ) -> Self {
        let (loaded, clock, large, trial) = (Mutex::default(), AtomicU64::new(0), Mutex::default(), Mutex::default());
        Self { store, queue, pool, places, webhooks, memory, loaded, clock, large, trial }
    }

    /// Unloads the least recently used idle streams until a learner of this size fits into memory. Returns false if no
    /// stream is idle.
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

/// Counters of a stream, for the metrics.
#[derive(Debug, Default)]
pub struct StreamCounts {
    pub rows: AtomicU64,
    pub skipped: AtomicU64,
    pub alarms: AtomicU64,
    pub requests: AtomicU64,
    pub snapshots: AtomicU64,
    pub unloads: AtomicU64,
}

/// Stream with its learner and queue.
pub struct Handle {
    pub id: u64,
    pub name: String,
    pub options: Arc<StreamOptions>,
    pub counts: StreamCounts,
    pub feed: Feed,
    shared: Arc<Shared>,
    inbox: Mutex<Inbox>,
    slot: Mutex<Slot>,
    shape: RwLock<Option<Arc<Shape>>>,
    repeats: Mutex<Repeats>,
    waiting: AtomicUsize,
    /// Size of the learner in memory when it was last loaded, in bytes.
    bytes: AtomicU64,
    /// Value of the clock at the most recent use.
    used: AtomicU64,
    is_loaded: AtomicBool,
    was_loaded: AtomicBool,
    /// Reason why the learner could not be loaded from the store.
    failed: Mutex<Option<String>>,
    is_unloading: AtomicBool,
    is_deleted: AtomicBool,
}

type Job = Box<dyn FnOnce(&Arc<Handle>, &mut Slot) + Send>;

#[derive(Default)]
struct Inbox {
    jobs: VecDeque<Job>,
    /// True while the stream is in the queue of the pool or a thread is working on it.
    is_in_line: bool,
}

/// Place among the waiting requests of a stream. It is released on drop.
pub struct Turn(Arc<Handle>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended() -> Problem {
    Problem::unavailable(
        "the service is stopping, or the stream had to be read from its store again; the request may have been carried \
         out: repeat it with the same Idempotency-Key",
    )
}

impl Handle {
    /// Opens a stream. [`Self::load`] loads its state from the store.
    pub fn open(id: u64, name: String, options: Arc<StreamOptions>, shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self {
            id,
            name,
            options,
            counts: StreamCounts::default(),
            feed: Feed::default(),
            shared,
            inbox: Mutex::default(),
            slot: Mutex::default(),
            shape: RwLock::default(),
            repeats: Mutex::default(),
            waiting: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            used: AtomicU64::new(0),
            is_loaded: AtomicBool::new(false),
            was_loaded: AtomicBool::new(false),
            failed: Mutex::default(),
            is_unloading: AtomicBool::new(false),
            is_deleted: AtomicBool::new(false),
        })
    }

    /// Loads the learner in the background, unless it is loaded.
    pub fn load_soon(self: &Arc<Self>) {
        self.push(Box::new(|handle, slot| _ = slot.engine(handle)));
    }

    /// Returns true once the state has been loaded or loading has failed.
    pub fn was_loaded(&self) -> bool {
        self.was_loaded.load(Ordering::Acquire)
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Loads the learner from the store if it is not in memory. Waits until other streams have made room for it. An
    /// order must not be logged before, because it would be replayed during loading, and its request would get no
    /// answer.
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

    /// Returns an error with the limit if the learner, or all learners, have no memory to grow.
    pub fn check_memory(&self) -> Result<(), Problem> {
        self.shared.memory.check_stream(self.bytes())?;
        self.shared.memory.check_learners(0)
    }

    /// Returns an error if no learner can be built for the first rows, or if it would be too large.
    pub fn check_first(&self, shape: &Shape) -> Result<(), Problem> {
        let memory = &self.shared.memory;
        check_learner(memory, &self.options, shape.width)?;
        let _trial = lock(&self.shared.trial);
        memory.check_stream(Engine::check(&self.options, shape)?)
    }

    /// Tells the stream to save and drop its learner. Returns the bytes that this will free.
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

    /// Returns an error if the state could not be loaded.
    pub fn check_loaded(&self) -> Result<(), Problem> {
        match &*lock(&self.failed) {
            None => Ok(()),
            Some(reason) => Err(Problem::unavailable(format!("the stream {:?} cannot be used: {reason}", self.name))),
        }
    }

    /// Returns an error if the options of the stream differ from `options`.
    pub fn same(&self, options: &StreamOptions) -> Result<(), Problem> {
        if self.options.given == options.given {
            return Ok(());
        }
        let name = &self.name;
        let sentence = format!("the stream {name:?} exists with other options; DELETE it first, or take another name");
        Err(Problem::conflict(sentence))
    }

    /// Returns the columns, or `None` before the first row.
    pub fn shape(&self) -> Option<Arc<Shape>> {
        self.shape.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Marks the stream as deleted.
    pub fn delete(&self) {
        self.is_deleted.store(true, Ordering::Release);
        self.feed.close();
        lock(&self.shared.loaded).remove(&self.id);
    }

    /// Takes a place among the waiting requests. Returns `Err` if all [`WAITING`] places are taken.
    pub fn enter(self: &Arc<Self>) -> Result<Turn, Problem> {
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = Turn(Arc::clone(self));
        if before >= WAITING {
            return Err(Problem::busy(format!("{WAITING} requests wait for the stream already")));
        }
        Ok(turn)
    }

    /// Runs `question` after all earlier orders have been applied.
    pub async fn ask<R: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Engine) -> Result<R, Problem> + Send + 'static,
    ) -> Result<R, Problem> {
        let (sender, answer) = oneshot::channel();
        self.push(Box::new(move |handle, slot| {
            let found = slot.engine(handle).and_then(question);
            // The client may have disconnected.
            let _ = sender.send(found);
            handle.shared.make_room(0);
        }));
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Returns the reply to an earlier request with this key, or `None` if there is none.
    pub fn answered(&self, key: &RequestKey) -> Option<Reply> {
        lock(&self.repeats).answer(key)
    }

    /// Logs an order and applies it. A repeated request gets the same answer as the first. `held` is dropped or returned
    /// after the order has been applied, even if the client disconnects.
    pub async fn order<H: Send + 'static>(self: &Arc<Self>, logged: Logged, held: H) -> Result<(Vec<u8>, H), Problem> {
        if let Some(reply) = logged.key.as_ref().and_then(|key| self.answered(key)) {
            return reply.map(|answers| (answers, held));
        }
        let (sender, answer) = oneshot::channel();
        let bytes = logged.to_bytes()?;
        let size = bytes.len() as u64;
        let handle = Arc::clone(self);
        // The client may have disconnected, so nobody may receive the reply.
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

    /// Writes a snapshot if there have been orders since the previous one. Waits until the snapshot is durable.
    pub async fn save(self: &Arc<Self>) {
        let (sender, saved) = oneshot::channel();
        self.push(Box::new(move |handle, slot| match slot.log_bytes {
            0 => _ = sender.send(()),
            _ => slot.save(handle, move || _ = sender.send(())),
        }));
        // A failure is harmless: the log is sufficient to restore the state.
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
        // The state in memory may be inconsistent, so it will be loaded from the store again.
        lock(&self.slot).forget(self);
    }
}

/// Learner, with its position in the log.
#[derive(Default)]
pub struct Slot {
    engine: Option<Engine>,
    /// Log position of the most recently applied order.
    applied: u64,
    pub log_bytes: u64,
    snapshot_bytes: u64,
    is_saving: bool,
    /// Replies to orders that were replayed while their requests were waiting, by log position.
    replayed: HashMap<u64, Reply>,
}

impl Slot {
    /// Drops the learner. Requests wait until it is loaded from the store again.
    pub fn forget(&mut self, handle: &Handle) {
        *self = Self::default();
        handle.is_loaded.store(false, Ordering::SeqCst);
        lock(&handle.shared.loaded).remove(&handle.id);
    }

    /// Drops the learner of an idle stream if its snapshot is up to date, and otherwise saves it first.
    pub fn unload(&mut self, handle: &Arc<Handle>, unloading: Unloading) {
        if self.engine.is_none() || self.is_saving || handle.waiting() > 0 {
            return;
        }
        if self.log_bytes > 0 {
            // The stream is unloaded once it is saved, unless others have made room or it is in use again.
            return self.save(handle, move || drop(unloading));
        }
        handle.is_loaded.store(false, Ordering::SeqCst);
        if handle.waiting() > 0 {
            // A request has come in the meantime and relies on the learner.
            return handle.is_loaded.store(true, Ordering::SeqCst);
        }
        self.forget(handle);
        *lock(&handle.repeats) = Repeats::default();
        handle.feed.rest();
        handle.counts.unloads.fetch_add(1, Ordering::Relaxed);
        if handle.bytes() > TRIMMED {
            trim();
        }
    }

    /// Returns the learner, and loads it from the store if necessary.
    pub fn engine(&mut self, handle: &Arc<Handle>) -> Result<&mut Engine, Problem> {
        if handle.is_deleted.load(Ordering::Acquire) {
            return Err(Problem::no_stream(&handle.name));
        }
        if self.engine.is_none() {
            let (loaded, bytes) = measured(|| self.load(handle));
            let bytes = bytes - loaded.as_ref().map_or(0, |cached| *cached);
            handle.bytes.store(bytes.max(0).cast_unsigned(), Ordering::Relaxed);
            if loaded.is_ok() {
                lock(&handle.shared.loaded).insert(handle.id, Arc::downgrade(handle));
                handle.is_loaded.store(true, Ordering::SeqCst);
            }
            *lock(&handle.failed) = loaded.err();
            handle.was_loaded.store(true, Ordering::Release);
        }
        handle.check_loaded()?;
        self.engine.as_mut().ok_or_else(ended)
    }

    /// Reads the most recent snapshot and replays the orders after it. Returns the bytes by which the cache of the store has
    /// grown, which are not those of the learner.
    fn load(&mut self, handle: &Arc<Handle>) -> Result<i64, String> {
        let Shared { store, places, memory, .. } = &*handle.shared;
        *self = Self::default();
        let mut repeats = Repeats::default();
        let options = Arc::clone(&handle.options);
        let (snapshot, mut cached) = measured(|| store.snapshot(handle.id));
        let snapshot = snapshot?;
        cached -= snapshot.as_ref().map_or(0, Snapshot::in_memory).cast_signed() as i64;
        let mut engine = match snapshot {
            None => Engine::new(options, places.clone()),
            Some(snapshot) => {
                let (around, answered): (Vec<u8>, Repeats) = postcard::from_bytes(&snapshot.around)
                    .map_err(|error| format!("its snapshot is damaged: {error}"))?;
                (self.applied, repeats) = (snapshot.upto, answered);
                self.snapshot_bytes = snapshot.learner.as_ref().map_or(0, Saved::length);
                memory.check_stream(self.snapshot_bytes / 2).map_err(|problem| problem.detail().to_owned())?;
                Engine::load(options, places.clone(), &around, snapshot.learner)?
            }
        };
        let (mut applied, mut bytes, mut replayed) = (self.applied, 0, HashMap::new());
        loop {
            let (orders, grown) = measured(|| store.orders(handle.id, applied));
            let orders = orders?;
            let held: usize = orders.iter().map(|(_, order)| order.capacity()).sum();
            cached += grown - (held + orders.capacity() * size_of::<(u64, Vec<u8>)>()).cast_signed() as i64;
            if orders.is_empty() {
                break;
            }
            for (place, order) in orders {
                if place != applied + 1 {
                    return Err(format!("its log is damaged: order {} is missing before order {place}", applied + 1));
                }
                let logged = Logged::from_bytes(&order)?;
                let reply = match logged.key.as_ref().and_then(|key| repeats.answer(key)) {
                    Some(reply) => reply,
                    None => {
                        let outcome = logged.order.carry_out(&mut engine);
                        if let Some(reason) = outcome.broken {
                            return Err(reason);
                        }
                        let reply = reply_of(outcome);
                        logged.key.iter().for_each(|key| repeats.end(key, &reply));
                        reply
                    }
                };
                (applied, bytes) = (place, bytes + order.len() as u64);
                if handle.waiting() > 0 {
                    replayed.insert(place, reply);
                }
            }
        }
        (self.applied, self.log_bytes, self.replayed) = (applied, bytes, replayed);
        handle.counts.rows.store(engine.counts().rows, Ordering::Relaxed);
        handle.counts.skipped.store(engine.counts().skipped, Ordering::Relaxed);
        handle.counts.alarms.store(engine.alarms(), Ordering::Relaxed);
        handle.publish_shape(&engine);
        handle.feed.restore(&engine);
        *lock(&handle.repeats) = repeats;
        self.engine = Some(engine);
        Ok(cached)
    }

    /// Applies an order that is durable.
    pub fn carry_out(&mut self, handle: &Arc<Handle>, place: u64, bytes: u64, logged: &Logged) -> Reply {
        self.engine(handle)?;
        if self.applied >= place {
            // The learner was loaded again, and the replay has applied this order.
            return self.replayed.remove(&place).unwrap_or_else(|| Err(ended()));
        }
        self.replayed.clear();
        if let Some(reply) = logged.key.as_ref().and_then(|key| lock(&handle.repeats).answer(key)) {
            // Two requests with this key ran at the same time, and both were logged.
            (self.applied, self.log_bytes) = (place, self.log_bytes + bytes);
            return reply;
        }
        let Some(engine) = &mut self.engine else { return Err(ended()) };
        let before = engine.notices().count;
        let (outcome, grown) = measured(|| logged.order.carry_out(engine));
        let grown = grown - outcome.answers.capacity().cast_signed() as i64;
        handle.bytes.store(handle.bytes().saturating_add_signed(grown), Ordering::Relaxed);
        if let Some(reason) = outcome.broken {
            self.forget(handle);
            // The order is durable: loading the learner again applies it.
            return match self.engine(handle) {
                Ok(_) => self.replayed.remove(&place).unwrap_or_else(|| Err(ended())),
                Err(_) => Err(Problem::unavailable(format!(
                    "the rows are stored, but the learner cannot be used now: {reason}; repeat the request with the same \
                     Idempotency-Key for its answers"
                ))),
            };
        }
        handle.count(engine);
        handle.feed.publish(engine, before, &logged.order, &outcome);
        handle.tell(engine, before);
        if handle.shape().is_none() || matches!(logged.order, Order::Model(_)) {
            handle.publish_shape(engine);
        }
        let reply = reply_of(outcome);
        if let Some(key) = &logged.key {
            lock(&handle.repeats).end(key, &reply);
        }
        (self.applied, self.log_bytes) = (place, self.log_bytes + bytes);
        if self.log_bytes > LOG_BYTES.max(self.snapshot_bytes) && !self.is_saving {
            self.save(handle, || ());
        }
        reply
    }

    /// Sends a snapshot to the store, unless other snapshots take the memory for it. Calls `saved` when the write has
    /// succeeded or failed.
    pub fn save(&mut self, handle: &Arc<Handle>, saved: impl FnOnce() + Send + 'static) {
        // The second copy is the learner that is read back.
        let size = handle.bytes();
        let Some(mut reserved) = handle.shared.memory.copy(2 * size) else { return };
        let Some(engine) = &mut self.engine else { return };
        let Ok((around, learner)) = engine.save() else { return };
        let (options, places) = (Arc::clone(&handle.options), handle.shared.places.clone());
        let copy = learner.as_ref().map(Saved::copy).transpose().map_err(|error| error.to_string());
        if let Err(reason) = copy.and_then(|copy| Engine::load(options, places, &around, copy)) {
            // The snapshot replaces orders, so it must be readable. The log alone restores the same state.
            event("snapshot_refused", json!({ "stream": handle.name, "reason": reason }));
            self.snapshot_bytes = 2 * self.log_bytes;
            return;
        }
        reserved.keep(size);
        let Ok(around) = postcard::to_stdvec(&(around, &*lock(&handle.repeats))) else { return };
        let (bytes, size) = (std::mem::take(&mut self.log_bytes), learner.as_ref().map_or(0, Saved::length));
        self.is_saving = true;
        let owner = Arc::clone(handle);
        let done = move |outcome: Result<u64, Problem>| {
            drop(reserved);
            saved();
            owner.push(Box::new(move |handle, slot| {
                slot.is_saving = false;
                match outcome {
                    Ok(_) => {
                        slot.snapshot_bytes = size;
                        handle.counts.snapshots.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => slot.log_bytes += bytes,
                }
                handle.shared.make_room(0);
            }));
        };
        let action = Action::Snapshot { id: handle.id, upto: self.applied, around, learner };
        if handle.shared.queue.send(action, done).is_err() {
            (self.is_saving, self.log_bytes) = (false, bytes);
        }
    }
}

impl Handle {
    fn publish_shape(&self, engine: &Engine) {
        *self.shape.write().unwrap_or_else(PoisonError::into_inner) = engine.shape();
    }

    /// Sends the alarms and drifts with ids above `before` to the webhook of the stream.
    fn tell(&self, engine: &Engine, before: u64) {
        let Some(target) = self.options.webhook.as_deref().and_then(|text| Target::from_text(text).ok()) else {
            return;
        };
        for notice in engine.notices().after(before) {
            if !["alarm", "drift", "returned"].contains(&notice.kind.as_str()) {
                continue;
            }
            let mut told = serde_json::to_value(notice).unwrap_or_default();
            told["stream"] = self.name.clone().into();
            self.shared.webhooks.tell(target.clone(), told.to_string());
        }
    }

    fn count(&self, engine: &Engine) {
        let counts = engine.counts();
        self.counts.rows.store(counts.rows, Ordering::Relaxed);
        self.counts.skipped.store(counts.skipped, Ordering::Relaxed);
        self.counts.alarms.store(engine.alarms(), Ordering::Relaxed);
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the answers, or the problem if no row was learned.
fn reply_of(outcome: Outcome) -> Reply {
    match outcome.refused {
        Some(problem) if outcome.learned == 0 => Err(problem),
        _ => Ok(outcome.answers),
    }
}
