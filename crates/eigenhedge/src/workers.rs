//! Thread pool for tasks of a few microseconds.
//!
//! Starting a thread takes longer than many learners need for a row. The threads are therefore started once. They poll
//! for a task for [`PATIENCE`] and then sleep until a task arrives. The pieces of a task are moved to the threads, so
//! each thread owns the piece that it processes.

use crate::threads::threads;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Task that is divided into pieces.
pub(crate) trait Task: Send + Sync {
    /// Processes pieces until all have been started. Several threads may call this method at once.
    fn help(&self);
}

/// Time for which an idle thread polls for a task before it sleeps.
const PATIENCE: Duration = Duration::from_micros(100);
/// Number of polls between two checks of the clock or two yields.
const LOOKS: usize = 64;

#[derive(Default)]
struct Pool {
    /// Number of tasks offered so far.
    number: AtomicU64,
    task: Mutex<Option<Arc<dyn Task>>>,
    has_task: Condvar,
    /// Number of sleeping threads.
    asleep: AtomicUsize,
    /// Number of threads started.
    started: Mutex<usize>,
}

/// Offers a task to the other threads and returns immediately. The caller must then call [`Task::help`] itself and wait
/// for the pieces that other threads have started.
pub(crate) fn share(task: Arc<dyn Task>) {
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();
    let pool = POOL.get_or_init(Arc::default);
    pool.start(threads() - 1);
    let mut present = pool.task.lock().unwrap_or_else(PoisonError::into_inner);
    *present = Some(task);
    pool.number.fetch_add(1, Ordering::Release);
    let has_sleepers = pool.asleep.load(Ordering::Relaxed) > 0;
    drop(present);
    if has_sleepers {
        pool.has_task.notify_all();
    }
}

/// Polls until the condition holds, yielding the processor from time to time.
pub(crate) fn wait_until(holds: impl Fn() -> bool) {
    for look in 0_usize.. {
        if holds() {
            return;
        }
        if look % LOOKS == LOOKS - 1 { thread::yield_now() } else { spin_loop() }
    }
}

impl Pool {
    /// Starts threads until `wanted` threads exist or the system refuses to start one.
    fn start(self: &Arc<Self>, wanted: usize) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        while *started < wanted {
            let pool = Arc::clone(self);
            if thread::Builder::new().name("worker".to_owned()).spawn(move || pool.work()).is_err() {
                return;
            }
            *started += 1;
        }
    }

    fn work(&self) {
        let mut seen = 0;
        loop {
            self.wait_for_task(seen);
            let present = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            seen = self.number.load(Ordering::Acquire);
            let task = present.clone();
            drop(present);
            task.iter().for_each(|task| task.help());
        }
    }

    /// Waits for a task with a number other than `seen`.
    fn wait_for_task(&self, seen: u64) {
        let is_new = || self.number.load(Ordering::Acquire) != seen;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            for _ in 0..LOOKS {
                if is_new() {
                    return;
                }
                spin_loop();
            }
        }
        let mut present = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        while !is_new() {
            present = self.has_task.wait(present).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}
