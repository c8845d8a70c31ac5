//! Monitors by key, with a shared reference for keys that do not have their own yet.

use super::Monitor;
use crate::error::Error;
use crate::fleet::Fleet;

/// Recommended `parts` for [`Fleet::with_pool`].
pub const POOL_PARTS: u64 = 8;

impl Fleet<Monitor> {
    /// Creates a fleet whose monitors are copies of `fresh`. If `fresh` has no reference, keys stepped by
    /// [`Self::with_pool`] share one, from the first rows of all keys, until they have enough rows of their own.
    ///
    /// ```
    /// use eigenhedge::{Fleet, Monitor, MonitorOptions, streams};
    ///
    /// let mut fleet = Fleet::of_monitors(Monitor::new(MonitorOptions { warm_up: Some(200), ..MonitorOptions::default() }, 8)?)?;
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

    /// Calls `work`, which must step the monitor of a key by one row. The rows of one key fill at most the share
    /// `1/parts` of the warm-up of the shared reference. A new key is added unless `work` fails.
    pub fn with_pool<R>(
        &mut self,
        key: &str,
        parts: u64,
        work: impl FnOnce(&mut Monitor) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut common = self.common_mut().take();
        let outcome = self.with(key, |monitor| {
            let before = monitor.waiting_rows();
            let lender = common.as_ref().filter(|common| common.is_ready() && !monitor.is_ready());
            let outcome = match lender {
                None => work(monitor)?,
                Some(common) => {
                    // A copy, so that a rejected row changes nothing.
                    let mut borrower = monitor.clone();
                    borrower.borrow_reference(common);
                    let outcome = work(&mut borrower)?;
                    *monitor = borrower;
                    outcome
                }
            };
            let is_new = monitor.waiting_rows() > before && !monitor.is_ready();
            if let Some(common) = common.as_mut().filter(|common| is_new && !common.is_ready()) {
                pool_row(common, monitor, parts);
            }
            Ok(outcome)
        });
        *self.common_mut() = common;
        outcome
    }
}

/// Adds a row of a key to the warm-up of the shared reference. Because keys may have different
/// levels, the deviation of the row from the earlier rows of the key is added.
fn pool_row(pool: &mut Monitor, monitor: &Monitor, parts: u64) {
    let wanted = pool.options().warm_up_rows(pool.width());
    // The first row of a key has no deviation.
    if monitor.waiting_rows() > wanted.div_ceil(parts) + 1 {
        return;
    }
    let Some(deviation) = monitor.last_deviation() else { return };
    if pool.add_to_warm_up(&deviation).is_err() {
        return;
    }
    if pool.waiting_rows() >= wanted {
        // After an error the shared reference remains in its warm-up, and the next row tries again.
        let _ = pool.end_warm_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MonitorOptions, streams};

    #[test]
    fn a_key_borrows_the_reference_of_all_and_then_has_its_own() {
        let options = MonitorOptions { warm_up: Some(80), ..MonitorOptions::default() };
        let mut fleet = Fleet::of_monitors(Monitor::new(options, 4).unwrap()).unwrap();
        let rows = streams::iid(4, 2, 0.3, 400, 5).rows;
        let mut borrowed = 0;
        for (t, row) in rows.iter().enumerate() {
            let key = if t % 2 == 0 { "left" } else { "right" };
            let (is_borrowed, is_ready, number) = fleet
                .with_pool(key, 2, |monitor| {
                    monitor.step(row)?;
                    Ok((monitor.is_borrowed(), monitor.is_ready(), monitor.totals().rows))
                })
                .unwrap();
            borrowed += usize::from(is_borrowed);
            // Forty deviations of each key fill the shared warm-up. A key needs eighty rows.
            assert_eq!(is_ready, number > 41, "{key} {number}");
            assert_eq!(is_borrowed, is_ready && number < 80, "{key} {number}");
        }
        assert_eq!(borrowed, 2 * 38);
    }

    #[test]
    fn a_copy_that_scores_keeps_the_borrowed_reference() {
        let options = MonitorOptions { warm_up: Some(80), ..MonitorOptions::default() };
        let mut fleet = Fleet::of_monitors(Monitor::new(options, 4).unwrap()).unwrap();
        let rows = streams::iid(4, 2, 0.3, 400, 5).rows;
        for (t, row) in rows.iter().take(100).enumerate() {
            let key = if t % 2 == 0 { "left" } else { "right" };
            fleet.with_pool(key, 2, |monitor| monitor.step(row)).unwrap();
        }
        let monitor = fleet.get("left").unwrap().unwrap();
        assert!(monitor.is_borrowed());
        let mut fresh = Monitor::from_bytes(&monitor.frozen().to_bytes().unwrap()).unwrap();
        let mut used = fresh.clone();
        rows[100..300].iter().for_each(|row| _ = used.step(row).unwrap());
        assert_eq!(used.step(&rows[300]).unwrap().score, fresh.step(&rows[300]).unwrap().score);
    }

    #[test]
    fn the_shared_reference_holds_for_keys_of_different_levels() {
        let options = MonitorOptions { warm_up: Some(400), ..MonitorOptions::default() };
        let mut fleet = Fleet::of_monitors(Monitor::new(options, 4).unwrap()).unwrap();
        let (mut scored, mut alarms, mut found) = (0u64, 0u64, 0u64);
        for (t, row) in streams::iid(4, 2, 0.5, 20 * 300, 9).rows.iter().enumerate() {
            let (key, number) = (t % 20, t / 20);
            let is_fault = key % 2 == 0 && number >= 250;
            let level = 100.0 * key as f64;
            let row: Vec<f64> = (0..4)
                .map(|j| row[j] + level * (1.0 + j as f64) + if is_fault && j == 1 { 6.0 } else { 0.0 })
                .collect();
            let (verdict, is_borrowed) = fleet
                .with_pool(&key.to_string(), POOL_PARTS, |monitor| Ok((monitor.step(&row)?, monitor.is_borrowed())))
                .unwrap();
            assert!(is_borrowed || verdict.score.is_nan(), "{key} {number}");
            if is_fault {
                found += u64::from(verdict.alarm || verdict.incident.is_some());
            } else if !verdict.score.is_nan() {
                (scored, alarms) = (scored + 1, alarms + u64::from(verdict.alarm));
            }
        }
        assert!(scored > 4000 && alarms * 100 < 4 * scored && alarms * 1000 > 2 * scored, "{alarms} of {scored}");
        assert!(found * 10 >= 10 * 50 * 9, "{found} of 500 rows of faults");
    }
}
