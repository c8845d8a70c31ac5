//! Monitors by key, with a shared reference for keys that do not have their own yet.

use super::Monitor;
use crate::error::Error;
use crate::fleet::Fleet;

/// Number of parts of the warm-up of the shared reference. The first rows of a key fill at most one part, so
/// several keys contribute.
pub const POOL_PARTS: u64 = 8;

impl Fleet<Monitor> {
    /// Creates a fleet whose monitors are copies of this one. If the monitor has no reference, each key uses
    /// a shared one, computed from the first rows of all keys, until it has enough rows of its own.
    ///
    /// ```
    /// use eigenhedge::{Fleet, Monitor, MonitorOptions, streams};
    ///
    /// let mut fleet = Fleet::of_monitors(Monitor::new(MonitorOptions::default().with_warm_up(Some(200)), 8)?)?;
    /// for (t, row) in streams::faults(8, 2, 0.3, 900, 1).iter().enumerate() {
    ///     let key = if t % 2 == 0 { "pump 1" } else { "pump 2" };
    ///     fleet.with(key, |monitor| monitor.step(row))?;
    /// }
    /// let first = fleet.get("pump 1")?.unwrap();
    /// assert_eq!((fleet.keys().len(), first.totals().rows), (2, 450));
    /// # Ok::<(), eigenhedge::Error>(())
    /// ```
    pub fn of_monitors(fresh: Monitor) -> Result<Self, Error> {
        let mut fleet = Self::new(fresh)?;
        if !fleet.fresh().is_ready() {
            *fleet.common_mut() = Some(fleet.fresh().clone());
        }
        Ok(fleet)
    }

    /// Calls `work` with the monitor of a key. `work` must step it with `row`. The row may also be used for
    /// the shared reference: the first rows of a key fill at most one of its `parts`. A new key is added
    /// unless `work` fails.
    pub fn with_pool<R>(
        &mut self,
        key: &str,
        row: &[f64],
        parts: u64,
        work: impl FnOnce(&mut Monitor) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut common = self.common_mut().take();
        let outcome = self.with(key, |monitor| {
            if let Some(common) = common.as_ref().filter(|common| common.is_ready() && !monitor.is_ready()) {
                monitor.borrow_reference(common);
            }
            let outcome = work(monitor)?;
            if let Some(common) = common.as_mut().filter(|common| !common.is_ready() && !monitor.is_ready()) {
                pool_row(common, monitor, row, parts);
            }
            Ok(outcome)
        });
        *self.common_mut() = common;
        outcome
    }
}

/// Adds one of the first rows of a key to the warm-up of the shared reference.
fn pool_row(pool: &mut Monitor, monitor: &Monitor, row: &[f64], parts: u64) {
    let wanted = pool.options().warm_up_rows(pool.width());
    if monitor.totals().rows > wanted.div_ceil(parts) || pool.add_to_warm_up(row).is_err() {
        return;
    }
    if pool.waiting_rows() >= wanted {
        // The monitor of the key rejects a row that cannot be scaled.
        let _ = pool.end_warm_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MonitorOptions, streams};

    #[test]
    fn a_key_borrows_the_reference_of_all_and_then_has_its_own() {
        let options = MonitorOptions::default().with_warm_up(Some(80));
        let mut fleet = Fleet::of_monitors(Monitor::new(options, 4).unwrap()).unwrap();
        let rows = streams::iid(4, 2, 0.3, 400, 5).rows;
        let mut borrowed = 0;
        for (t, row) in rows.iter().enumerate() {
            let key = if t % 2 == 0 { "left" } else { "right" };
            let (is_borrowed, is_ready, number) = fleet
                .with_pool(key, row, 2, |monitor| {
                    monitor.step(row)?;
                    Ok((monitor.is_borrowed(), monitor.is_ready(), monitor.totals().rows))
                })
                .unwrap();
            borrowed += usize::from(is_borrowed);
            // Forty rows of each key are the shared warm-up; eighty are that of one key.
            assert_eq!(is_ready, number > 40, "{key} {number}");
            assert_eq!(is_borrowed, is_ready && number < 80, "{key} {number}");
        }
        assert_eq!(borrowed, 2 * 39);
    }
}
