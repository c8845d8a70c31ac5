//! Long loops that Control-C can end.

use pyo3::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long a loop may go on without asking whether it should end.
const PATIENCE: Duration = Duration::from_millis(100);
/// Rows between two looks at the clock.
const LOT: usize = 32;

/// Calls `work` for one lot of 0, 1, … `count - 1` after another with the interpreter lock released, and asks for signals
/// now and then.
///
/// An error, which names a position in its lot, or an interrupt ends the loop; what was done before stays done.
pub fn each_lot<E: Send>(
    py: Python<'_>,
    count: usize,
    mut work: impl FnMut(Range<usize>) -> Result<(), (usize, E)> + Send,
    refused: impl Fn(usize, E) -> PyErr,
) -> PyResult<()> {
    let mut next = 0;
    while next < count {
        let outcome = py.detach(|| {
            let start = Instant::now();
            while next < count && start.elapsed() <= PATIENCE {
                let end = (next + LOT).min(count);
                work(next..end).map_err(|(i, error)| (next + i, error))?;
                next = end;
            }
            Ok(())
        });
        outcome.map_err(|(row, error)| refused(row, error))?;
        if next < count {
            py.check_signals()?;
        }
    }
    Ok(())
}

/// The same for one number after another.
pub fn each<E: Send>(
    py: Python<'_>,
    count: usize,
    mut work: impl FnMut(usize) -> Result<(), E> + Send,
    refused: impl Fn(usize, E) -> PyErr,
) -> PyResult<()> {
    let lot = |mut lot: Range<usize>| lot.try_for_each(|i| work(i).map_err(|error| (i % LOT, error)));
    each_lot(py, count, lot, refused)
}
