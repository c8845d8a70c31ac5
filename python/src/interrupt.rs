//! Long loops that Control-C can end.

use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How long a loop may go on without asking whether it should end.
const PATIENCE: Duration = Duration::from_millis(100);
/// Rows between two looks at the clock.
const STRIDE: usize = 16;

/// Calls `work` for 0, 1, … `count - 1` with the interpreter lock released, and asks for signals now and then.
///
/// An error, or an interrupt, ends the loop; what was done before stays done.
pub fn each<E: Send>(
    py: Python<'_>,
    count: usize,
    mut work: impl FnMut(usize) -> Result<(), E> + Send,
    refused: impl Fn(usize, E) -> PyErr,
) -> PyResult<()> {
    let mut next = 0;
    while next < count {
        let outcome = py.detach(|| {
            let start = Instant::now();
            while next < count {
                work(next).map_err(|error| (next, error))?;
                next += 1;
                if next % STRIDE == 0 && start.elapsed() > PATIENCE {
                    break;
                }
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
