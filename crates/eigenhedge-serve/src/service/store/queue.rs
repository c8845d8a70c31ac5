//! The one writer of the store: orders that wait are committed together.
//!
//! While a commit waits for the disk, new orders gather; the next commit takes all of them. A commit costs the same for one order as
//! for a thousand, so that the time of the disk is shared.

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

/// Orders that wait at most, and those of one commit.
const WAITING: usize = 4096;
/// Bytes of one commit, at most, unless one order has more.
const COMMIT_BYTES: u64 = 16 << 20;

/// A change of the store.
pub enum Action {
    /// A new stream.
    Create { name: String, id: u64, options: Vec<u8> },
    /// The end of a stream.
    Delete { name: String, id: u64 },
    /// An order of a stream.
    Append { id: u64, bytes: Vec<u8> },
    /// The state after an order, in place of the orders up to it.
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

/// Told the place of the order once the change is durable, or why it is not there.
pub type Done = Box<dyn FnOnce(Result<u64, Problem>) + Send>;

/// A change, and the function that is told of it.
pub struct Op {
    pub action: Action,
    pub done: Done,
}

/// Numbers of commits.
#[derive(Debug, Default)]
pub struct StoreCounts {
    pub commits: AtomicU64,
    pub orders: AtomicU64,
    pub bytes: AtomicU64,
    pub failures: AtomicU64,
    /// Nanoseconds of all commits.
    pub nanoseconds: AtomicU64,
}

/// Sender of changes to the store.
pub struct StoreQueue {
    sender: Sender<Op>,
    pub counts: Arc<StoreCounts>,
}

impl StoreQueue {
    /// Starts the writer; `next` is the place of the next order of each stream.
    pub fn start(store: Arc<Store>, next: HashMap<u64, u64>) -> (Self, JoinHandle<()>) {
        let (sender, receiver) = channel(WAITING);
        let counts = Arc::new(StoreCounts::default());
        let mut writer = Writer { store, next, counts: Arc::clone(&counts) };
        let thread = thread::spawn(move || writer.run(receiver));
        (Self { sender, counts }, thread)
    }

    /// Hands in a change; if too many wait or the writer has ended, it comes back.
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
    /// Commits until nobody can hand in any more.
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

    /// One transaction. After an error of the database it is opened again, so that the next one can succeed.
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

/// Writes a change; the place of an order, or that its stream has ended.
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
