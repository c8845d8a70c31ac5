//! Thread pool for all streams. At most one thread works on a stream at a time.

use crate::lock;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

pub trait Worked: Send + Sync + 'static {
    /// Does part of the work. Returns true if there is more.
    fn work(self: &Arc<Self>) -> bool;

    fn panicked(&self);
}

pub struct Pool<T> {
    line: Mutex<Line<T>>,
    more: Condvar,
}

struct Line<T> {
    waiting: VecDeque<Arc<T>>,
    has_ended: bool,
}

impl<T: Worked> Pool<T> {
    pub fn start(threads: usize) -> Arc<Self> {
        let line = Line { waiting: VecDeque::new(), has_ended: false };
        let pool = Arc::new(Self { line: Mutex::new(line), more: Condvar::new() });
        for _ in 0..threads.max(1) {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.run());
        }
        pool
    }

    pub fn push(&self, one: Arc<T>) {
        lock(&self.line).waiting.push_back(one);
        self.more.notify_one();
    }

    pub fn end(&self) {
        lock(&self.line).has_ended = true;
        self.more.notify_all();
    }

    fn run(&self) {
        while let Some(one) = self.next() {
            match catch_unwind(AssertUnwindSafe(|| one.work())) {
                Ok(false) => {}
                Ok(true) => self.push(one),
                Err(_) => {
                    one.panicked();
                    self.push(one);
                }
            }
        }
    }

    fn next(&self) -> Option<Arc<T>> {
        let mut line = lock(&self.line);
        loop {
            if let Some(one) = line.waiting.pop_front() {
                return Some(one);
            }
            if line.has_ended {
                return None;
            }
            line = self.more.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
