//! The only writer of the store. It commits waiting orders together.
//!
//! While a commit waits for the disk, new orders queue up, and the next commit takes all of them. A commit costs about
//! as much for one order as for a thousand.

use super::{LOG, STREAMS, Store, remove, unwritable, write_snapshot};
use crate::service::engine::Saved;
use crate::service::problem::Problem;
use redb::WriteTransaction;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of changes in the queue, and in a commit.
const WAITING: usize = 4096;
/// Maximum size of a commit, in bytes. A single change may exceed it.
const COMMIT_BYTES: u64 = 16 << 20;

/// Change to the store.
pub enum Action {
    /// Adds a stream.
    Create { name: String, id: u64, options: Vec<u8> },
    /// Deletes a stream.
    Delete { name: String, id: u64 },
    /// Appends an order to the log of a stream.
    Append { id: u64, bytes: Vec<u8> },
    /// Replaces the orders up to `upto` by the state after them.
    Snapshot { id: u64, upto: u64, around: Vec<u8>, learner: Option<Saved> },
}

impl Action {
    fn bytes(&self) -> u64 {
        match self {
            Self::Create { options, .. } => options.len() as u64,
            Self::Delete { .. } => 0,
            Self::Append { bytes, .. } => bytes.len() as u64,
            Self::Snapshot { around, learner, .. } => around.len() as u64 + learner.as_ref().map_or(0, Saved::length),
        }
    }
}

/// Callback that receives the log position once the change is durable, or a problem if the change failed.
pub type Done = Box<dyn FnOnce(Result<u64, Problem>) + Send>;

/// Change with its callback.
pub struct Op {
    pub action: Action,
    pub done: Done,
}

/// Counters of commits.
#[derive(Debug, Default)]
pub struct StoreCounts {
    pub commits: AtomicU64,
    pub orders: AtomicU64,
    pub bytes: AtomicU64,
    pub failures: AtomicU64,
    /// Total time of all commits, in nanoseconds.
    pub nanoseconds: AtomicU64,
}

/// Queue of changes for the writer thread.
pub struct StoreQueue {
    sender: Sender<Op>,
    pub counts: Arc<StoreCounts>,
}

impl StoreQueue {
    /// Starts the writer thread. `next` maps each stream to the log position of its next order.
    pub fn start(store: Arc<Store>, next: HashMap<u64, u64>) -> (Self, JoinHandle<()>) {
        let (sender, receiver) = channel(WAITING);
        let counts = Arc::new(StoreCounts::default());
        let mut writer = Writer { store, next, counts: Arc::clone(&counts) };
        let thread = thread::spawn(move || writer.run(receiver));
        (Self { sender, counts }, thread)
    }

    /// Submits a change. If the queue is full or the writer has stopped, returns the change as an error.
    pub fn send(&self, op: Op) -> Result<(), Op> {
        self.sender.try_send(op).map_err(|refused| refused.into_inner())
    }
}

struct Writer {
    store: Arc<Store>,
    next: HashMap<u64, u64>,
    counts: Arc<StoreCounts>,
}

impl Writer {
    /// Commits changes until all senders are dropped.
    fn run(&mut self, mut waiting: Receiver<Op>) {
        while let Some(first) = waiting.blocking_recv() {
            let mut bytes = first.action.bytes();
            let mut group = vec![first];
            while group.len() < WAITING && bytes < COMMIT_BYTES {
                let Ok(op) = waiting.try_recv() else { break };
                bytes += op.action.bytes();
                group.push(op);
            }
            self.commit(group, bytes);
        }
        self.store.close();
    }

    fn commit(&mut self, mut group: Vec<Op>, bytes: u64) {
        let start = Instant::now();
        let mut next = self.next.clone();
        let outcome = self.store.check_room(bytes).and_then(|()| self.write(&mut group, &mut next));
        let add = |counter: &AtomicU64, by: u64| counter.fetch_add(by, Ordering::Relaxed);
        match outcome {
            Ok(places) => {
                self.next = next;
                add(&self.counts.commits, 1);
                add(&self.counts.orders, group.len() as u64);
                add(&self.counts.bytes, bytes);
                add(&self.counts.nanoseconds, u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
                group.into_iter().zip(places).for_each(|(op, place)| (op.done)(place));
            }
            Err(problem) => {
                add(&self.counts.failures, 1);
                group.into_iter().for_each(|op| (op.done)(Err(problem.clone())));
            }
        }
    }

    /// Runs one transaction. After an error, reopens the database so that the next transaction can succeed.
    fn write(&self, group: &mut [Op], next: &mut HashMap<u64, u64>) -> Result<Vec<Result<u64, Problem>>, Problem> {
        let outcome = self.transact(group, next);
        outcome.map_err(|error| {
            self.store.reopen();
            unwritable(error)
        })
    }

    fn transact(
        &self,
        group: &mut [Op],
        next: &mut HashMap<u64, u64>,
    ) -> Result<Vec<Result<u64, Problem>>, redb::Error> {
        let database = self.store.database.read().unwrap_or_else(PoisonError::into_inner);
        let closed = || std::io::Error::other("it is closed after an error of the disk");
        let write = database.as_ref().ok_or_else(closed)?.begin_write()?;
        let places = group.iter_mut().map(|op| apply(&write, &mut op.action, next)).collect::<Result<_, _>>()?;
        write.commit()?;
        Ok(places)
    }
}

/// Writes a change. Returns the log position of an order or a snapshot, and 0 for other changes. Returns a problem if
/// the stream was deleted.
fn apply(
    write: &WriteTransaction,
    action: &mut Action,
    next: &mut HashMap<u64, u64>,
) -> Result<Result<u64, Problem>, redb::Error> {
    let gone = || Err(Problem::no_stream("that was deleted"));
    match action {
        Action::Create { name, id, options } => {
            write.open_table(STREAMS)?.insert(name.as_str(), (*id, options.as_slice()))?;
            next.insert(*id, 1);
            Ok(Ok(0))
        }
        Action::Delete { name, id } => {
            remove(write, name, *id)?;
            next.remove(id);
            Ok(Ok(0))
        }
        Action::Append { id, bytes } => {
            let Some(place) = next.get_mut(id) else { return Ok(gone()) };
            write.open_table(LOG)?.insert((*id, *place), bytes.as_slice())?;
            *place += 1;
            Ok(Ok(*place - 1))
        }
        Action::Snapshot { id, upto, around, learner } => {
            if !next.contains_key(id) {
                return Ok(gone());
            }
            write_snapshot(write, *id, *upto, around, learner.as_mut())?;
            Ok(Ok(*upto))
        }
    }
}
