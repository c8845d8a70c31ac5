//! Long computations that Control-C can interrupt.

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

/// Time after which signals are checked.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time between two checks for signals while another thread works.
const POLL: Duration = Duration::from_millis(50);
/// Number of indices in the first range.
const FIRST: usize = 4;
/// Maximum number of indices in a range of [`each_lot`].
pub const MOST: usize = 32;

/// Calls `work` for successive ranges of `0..count`, with the interpreter lock released, and checks for signals
/// periodically. Ranges grow while they take little time. `work` returns an error with its index within the range.
/// An error or an interrupt ends the loop. The work on previous ranges is not undone.
pub fn each_lot(
    py: Python<'_>,
    count: usize,
    work: impl FnMut(Range<usize>) -> Result<(), (usize, Error)> + Send,
) -> PyResult<()> {
    each_between(py, count, (1, MOST), work)
}

pub fn each(py: Python<'_>, count: usize, mut work: impl FnMut(usize) -> Result<(), Error> + Send) -> PyResult<()> {
    each_between(py, count, (1, 1), |lot| work(lot.start).map_err(|error| (0, error)))
}

/// Calls `work` for ranges of `least` to `most` indices. Only the last range may be shorter.
pub fn each_between(
    py: Python<'_>,
    count: usize,
    (least, most): (usize, usize),
    mut work: impl FnMut(Range<usize>) -> Result<(), (usize, Error)> + Send,
) -> PyResult<()> {
    let (mut next, mut lot) = (0, FIRST.clamp(least, most));
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
                    taken if taken > PATIENCE => (lot / 2).max(least),
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

/// Runs a computation on a separate thread, with the interpreter lock released, and checks for signals meanwhile.
/// After an interrupt, this function returns at once. The computation stops at its next kernel row, but a dense
/// decomposition continues to its end in the background.
pub fn alone<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let (sender, mut receiver) = channel();
    let worker = thread::Builder::new().name("eigenhedge".into()).spawn(move || {
        // After an interrupt, the receiver no longer exists.
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
