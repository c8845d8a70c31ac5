//! Drift verdict: the level of the rows has left the reference.
//!
//! Setting: s is the score of a row relative to the mean of the warm-up, and u the limit that a tenth of normal rows exceed.
//! The running mean `a ← a + 0.08 (ln(1 + s/u) - a)` detects slow faults. The logarithm limits the effect of single outliers.
//!
//! **Report**: a drift is reported when `a` exceeds its limit. The limit is the prediction limit of the values of `a`
//! in the warm-up (`limits`), at the level [`CLUSTER`] divided by the requested time between false reports. Because the
//! warm-up is short, reports correct the limit. Each report raises it by [`RAISE`] times its distance from the mean of
//! `a`, at most [`RAISES`] times, and the raise decays at the requested rate of reports. A stream whose limit was too
//! low has a few short reports, then none. A lasting fault causes one report.
//!
//! **End**: a drift ends when `a` falls below the level that a tenth of its normal values exceed. If a column wandered
//! in the warm-up (its autocorrelation time exceeds 1/[`WANDER`] of the rows), the level before a fault may differ from
//! that of the warm-up. In this case a drift also ends when `a` falls to [`RETURNED`] of its peak, unless the level is still
//! [`FAR`] times the limit, and starts again above that.
//!
//! Otherwise a drift lasts until it is accepted as the new reference.

use super::causes::{Cause, Causes, NAMED};
use super::limits::{TENTH, prediction_limit, time_between_independent, upper_quantile};
use crate::error::Error;
use crate::state::{LARGEST, count, ensure, within};
use serde::{Deserialize, Serialize};

/// Weight of a row in the running mean.
const STEP: f64 = 0.08;
/// Assumed number of rows above the limit for each false report. The limit is the quantile that a share `CLUSTER/time`
/// of normal values exceeds.
const CLUSTER: f64 = 10.0;
/// Maximum score of a warm-up row, as a multiple of the limit. It keeps outliers from raising the limit.
const CAP: f64 = 4.0;
/// Share of the distance between the mean and the limit by which each report raises the limit.
const RAISE: f64 = 0.3;
/// Maximum number of raises in effect.
const RAISES: f64 = 5.0;
/// Share of the peak level at which a drift ends if columns wander.
const RETURNED: f64 = 0.52;
/// Level, as a multiple of the limit of the score, above which rows are far from the reference, so that a drift goes on.
const FAR: f64 = 20.0;
/// Length of the warm-up, in autocorrelation times of a column, below which the column counts as wandering.
const WANDER: f64 = 8.0;

/// Report of a drift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DriftReport {
    /// Number of the first row of the drift.
    pub since: u64,
    /// Number of the row at which the drift was reported.
    pub reported: u64,
    /// Columns with the largest deviations between the start of the drift and the report.
    pub causes: [Option<Cause>; NAMED],
}

/// Detector of drift: running mean, its limits, and the ongoing drift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Drift {
    mean: f64,
    report_limit: f64,
    end_limit: f64,
    /// Amount by which a report raises both limits.
    raise: f64,
    /// Current sum of the raises, which decays.
    raised: f64,
    time: f64,
    wanders: bool,
    /// Largest level since the running mean exceeded the limit at which a drift ends.
    peak: f64,
    /// Number and position of the row at which the running mean exceeded the limit at which a drift ends. The field is
    /// `None` while the running mean is below this limit.
    left: Option<(u64, u64)>,
    open: Option<DriftReport>,
    causes: Causes,
}

/// Returns true if the autocorrelation time of a column is too large a share of the warm-up.
pub(super) fn wanders(column: &[f64]) -> bool {
    time_between_independent(column) > column.len() as f64 / WANDER
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DriftChange {
    Began(DriftReport),
    Ended(DriftReport),
}

impl Drift {
    /// Fits the limits to the scores of the warm-up, given as multiples of the reference limit.
    pub fn fit(scores: &[f64], time: f64, wanders: bool, width: usize) -> Self {
        let logs: Vec<f64> = scores.iter().map(|s| s.min(CAP).ln_1p()).collect();
        let start = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let mut mean = start;
        let follow = |x: &f64| {
            mean += STEP * (x - mean);
            mean
        };
        let means: Vec<f64> = logs.iter().map(follow).collect();
        let report_limit = prediction_limit(&means, (CLUSTER / time).min(TENTH));
        Self {
            mean: start,
            report_limit,
            end_limit: upper_quantile(&means, TENTH).min(report_limit),
            raise: RAISE * (report_limit - start).max(0.0),
            raised: 0.0,
            time,
            wanders,
            peak: 0.0,
            left: None,
            open: None,
            causes: Causes::new(width),
        }
    }

    pub fn open(&self) -> Option<&DriftReport> {
        self.open.as_ref()
    }

    /// Returns the position of the first row of the ongoing drift, or `None` if there is none.
    pub fn start(&self) -> Option<u64> {
        self.left.filter(|_| self.open.is_some()).map(|(_, position)| position)
    }

    /// Ends the ongoing drift. Lowers the running mean to the limit at which a drift ends, if the mean is higher.
    pub fn clear(&mut self) {
        (self.peak, self.left, self.open) = (0.0, None, None);
        self.mean = self.mean.min(self.end_limit);
        self.causes.clear();
    }

    /// Adds a row. `score` is given as a multiple of the reference limit. Returns the start or the end of a drift if it
    /// occurs at this row.
    pub fn enter(&mut self, (number, position): (u64, u64), score: f64, causes: &Causes) -> Option<DriftChange> {
        self.mean += STEP * (score.ln_1p() - self.mean);
        let level = self.mean.exp_m1();
        let end_limit = self.end_limit + self.raised;
        if self.mean <= end_limit {
            (self.peak, self.left) = (0.0, None);
            self.causes.clear();
        } else {
            self.causes.add(causes);
            self.peak = self.peak.max(level);
            self.left = self.left.or(Some((number, position)));
        }
        let is_back = self.left.is_none() || self.wanders && level <= FAR.min(RETURNED * self.peak);
        if self.open.is_some() {
            return if is_back { self.open.take().map(DriftChange::Ended) } else { None };
        }
        self.raised = (self.raised - self.raise / self.time).max(0.0);
        let (since, _) = self.left.filter(|_| !is_back && self.mean > self.report_limit + self.raised)?;
        self.raised = (self.raised + self.raise).min(RAISES * self.raise);
        let report = DriftReport { since, reported: number, causes: self.causes.named() };
        self.open = Some(report);
        Some(DriftChange::Began(report))
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        for limit in [self.mean, self.report_limit, self.end_limit, self.raise, self.raised, self.peak] {
            within("a level of drift", limit, 0.0..=LARGEST)?;
        }
        within("the time between drifts", self.time, 1.0..=1e9)?;
        self.causes.check_state(width)?;
        ensure(self.open.is_none() || self.left.is_some(), "a drift must have a first row")?;
        if let Some((number, position)) = self.left {
            count("the first row of a drift", number)?;
            count("the first row of a drift", position)?;
        }
        let Some(report) = self.open else { return Ok(()) };
        count("the row of a drift", report.reported)?;
        ensure(report.since <= report.reported, "a drift must be reported after it began")?;
        let causes = report.causes.iter().flatten();
        causes.map(|cause| cause.column).try_for_each(|column| ensure(column < width, "a cause must be a column"))
    }
}
