//! Long work that Control-C can end.

use crate::errors::refused_row;
use eigenhedge::{Error, cancellable};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time that a loop goes on without asking for signals, unless a single row takes longer.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time between two questions for signals while another thread works.
const POLL: Duration = Duration::from_millis(50);
/// Rows before the first look at the clock, and most between two.
const FIRST: usize = 4;
const MOST: usize = 32;

/// Calls `work` for one lot of 0, 1, … `count - 1` after another with the interpreter lock released, and asks for signals
/// now and then. Lots begin small, and grow while they take little time.
///
/// An error, which names a position in its lot, or an interrupt ends the loop; what was done before stays done.
pub fn each_lot(
    py: Python<'_>,
    count: usize,
    work: impl FnMut(Range<usize>) -> Result<(), (usize, Error)> + Send,
) -> PyResult<()> {
    each_of_most(py, count, MOST, work)
}

/// The same for one number after another, with a look at the clock after each.
pub fn each(py: Python<'_>, count: usize, mut work: impl FnMut(usize) -> Result<(), Error> + Send) -> PyResult<()> {
    each_of_most(py, count, 1, |lot| work(lot.start).map_err(|error| (0, error)))
}

fn each_of_most(
    py: Python<'_>,
    count: usize,
    most: usize,
    mut work: impl FnMut(Range<usize>) -> Result<(), (usize, Error)> + Send,
) -> PyResult<()> {
    let (mut next, mut lot) = (0, FIRST.min(most));
    while next < count {
        let outcome = py.detach(|| {
            let start = Instant::now();
            let mut now = start;
            while next < count && now - start <= PATIENCE {
                let (end, began) = ((next + lot).min(count), now);
                work(next..end).map_err(|(i, error)| (next + i, error))?;
                next = end;
                now = Instant::now();
                lot = match now - began {
                    taken if taken > PATIENCE => (lot / 2).max(1),
                    taken if taken < PATIENCE / 2 => (2 * lot).min(most),
                    _ => lot,
                };
            }
            Ok(())
        });
        outcome.map_err(|(row, error)| refused_row(row, &error))?;
        if next < count {
            py.check_signals()?;
        }
    }
    Ok(())
}

/// Does one piece of work on a thread of its own, with the interpreter lock released, and asks for signals meanwhile.
///
/// An interrupt returns at once. The work is told to end, which it does at its next kernel row; a dense decomposition
/// comes to its end unseen. So that this is sound, the work owns all that it reads.
pub fn alone<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let (sender, mut receiver) = channel();
    let worker = thread::Builder::new().name("eigenhedge".into()).spawn(move || {
        // Nobody listens after an interrupt.
        let _ = sender.send(cancellable(flag, work));
    })?;
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(POLL)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| cancelled.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => Err(PyRuntimeError::new_err("the computation ended without a result")),
                };
            }
        }
    }
}
