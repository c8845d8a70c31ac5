//! Monitors by key that share their first rows: keys with few rows borrow the reference of all keys.

use super::{Monitor, Verdict};
use crate::error::Error;
use crate::fleet::Fleet;

impl Fleet<Monitor> {
    /// Parts of a warm-up, of which each key gives at most one to the reference of all keys.
    pub const PARTS: u64 = 8;

    /// Has the monitor of a key look at a row, with the number of the caller. `before` and `after` see the monitor around it.
    ///
    /// If the fleet has a [common](Fleet::common) monitor, the first rows of each key are added to its warm-up, up to one of
    /// `parts` parts of it; a key without a reference of its own borrows it when it is ready. An error leaves the monitor of the
    /// key as it was.
    pub fn step_pooled<R>(
        &mut self,
        key: &str,
        (number, row): (u64, &[f64]),
        parts: u64,
        before: impl FnOnce(&mut Monitor),
        after: impl FnOnce(&mut Monitor, Verdict) -> R,
    ) -> Result<R, Error> {
        let mut common = self.common_mut().take();
        let outcome = self.with(key, |monitor| {
            before(monitor);
            if let Some(common) = common.as_ref().filter(|common| common.is_ready() && !monitor.is_ready()) {
                monitor.borrow_reference(common);
            }
            let verdict = monitor.step_numbered(number, row)?;
            if let Some(common) = common.as_mut().filter(|common| !common.is_ready() && !monitor.is_ready()) {
                add_to_pool(common, monitor, row, parts);
            }
            Ok(after(monitor, verdict))
        });
        *self.common_mut() = common;
        outcome
    }
}

/// Gives the first rows of a key to the reference of all keys.
fn add_to_pool(pool: &mut Monitor, monitor: &Monitor, row: &[f64], parts: u64) {
    let wanted = pool.options().warm_up_rows(pool.width());
    if monitor.totals().rows > wanted.div_ceil(parts) || pool.add_to_warm_up(row).is_err() {
        return;
    }
    if pool.waiting_rows() >= wanted {
        // A row that cannot be scaled is refused by the monitor of its key.
        let _ = pool.end_warm_up();
    }
}
