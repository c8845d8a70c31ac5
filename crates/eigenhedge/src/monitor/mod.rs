//! Monitoring: scores, alarms, incidents, causes and change points for rows of sensor readings.
//!
//! Setting: rows arrive one at a time. The first rows are the warm-up. They are the *reference* and
//! count as normal, except for outliers. Each later row is tested for two things:
//!
//! - **Alarm**: the row is unusual compared with the reference and, with [`Mode::Adapt`], with the most recent rows.
//! - **Incident**: the row is part of a stretch in which something is wrong, on one of several time scales.
//!
//! Update: columns are standardized, nearly constant columns become `flags`, and earlier rows are appended (`lags`).
//! The warm-up determines directions (`shape`), tail probabilities of the parts along and outside them (`tails`), and
//! limits (`warm_up`). `channel` scores each row relative to the reference and to the level of the most recent rows.
//! `scales` scores running means of the rows, by which `incidents` opens and closes incidents.
//!
//! Guarantee: none. The book reports measured rates of false alarms for many kinds of streams.
//!
//! Cost: O(dk) per row for d values per row, including lags, and k directions. O(d³) for a warm-up.
//!
//! Not done: kernels, which would need separate limits.
//!
//! References: Jackson and Mudholkar (1979) for Q; Alcala and Qin (2009) for contributions;
//! Siegmund and Venkatraman (1995) for the likelihood ratio.

mod by_key;
mod causes;
mod changes;
mod channel;
mod events;
mod factor_model;
mod flags;
mod incidents;
mod lags;
mod last_rows;
mod limits;
mod option_table;
mod options;
mod repeats;
mod rounding;
mod saved;
mod scales;
mod shape;
mod step;
mod tails;
mod verdict;
mod warm_up;

pub use by_key::POOL_PARTS;
pub use causes::Cause;
pub use changes::Change;
pub use events::Event;
pub use incidents::{Incident, Sign, grade};
pub use option_table::{MONITOR_OPTIONS, MonitorOption};
pub use options::{Choose, Limit, Mode, MonitorOptions, Rebaseline};
pub use shape::Kept;
pub use verdict::{State, Verdict};

use crate::columns::{Columns, cannot_standardize};
use crate::error::Error;
use crate::num::largest;
use crate::registry::Missing;
use crate::row::{check_cells, check_row};
use crate::scratch::Scratch;
use crate::standardize::Standardizer;
use causes::Causes;
use changes::Changes;
use channel::Channel;
use events::Events;
use flags::Flags;
use incidents::Incidents;
use lags::Lags;
use last_rows::LastRows;
use repeats::Repeats;
use rounding::Rounding;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Largest absolute value of a cell, so that sums of fourth powers remain finite.
const LARGEST_CELL: f64 = 1e70;

/// Streaming monitor for sensor data: computes scores, limits, alarms, incidents and change points.
///
/// ```
/// use eigenhedge::{Monitor, MonitorOptions, Random};
///
/// let mut random = Random::seeded(1);
/// let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(200), ..MonitorOptions::default() }, 3)?;
/// for t in 0..300 {
///     let x = random.normal();
///     let fault = if t == 299 { 9.0 } else { 0.0 };
///     let verdict = monitor.step(&[x, -x + 0.1 * random.normal(), x + 0.1 * random.normal() + fault])?;
///     if t == 299 {
///         assert!(verdict.alarm && verdict.causes[0].unwrap().column == 2);
///     }
/// }
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    options: MonitorOptions,
    columns: Columns,
    width: usize,
    /// Rows of the warm-up. Empty once the warm-up has ended.
    waiting: Vec<Vec<f64>>,
    is_borrowed: bool,
    fitted: Option<Box<Fitted>>,
    totals: MonitorTotals,
    /// Bytes that the calling program saves with the monitor, in a format of its own. Empty by default.
    pub resume_state: Vec<u8>,
    #[serde(skip)]
    row: Scratch<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fitted {
    levels: Channel,
    lags: Lags,
    /// Scoring of the differences between rows, or `None` if they are not scored.
    differences: Option<Differences>,
    flags: Flags,
    repeats: Repeats,
    rounding: Rounding,
    incidents: Incidents,
    changes: Changes,
    events: Events,
    last_rows: LastRows,
    #[serde(skip)]
    causes: Scratch<Causes>,
    #[serde(skip)]
    incident_causes: Scratch<Causes>,
    #[serde(skip)]
    half_steps: Scratch<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Differences {
    channel: Channel,
    lags: Lags,
    standardizer: Standardizer,
    /// Previous row in standard units, or empty if there is none.
    previous: Vec<f64>,
    #[serde(skip)]
    step: Scratch<Vec<f64>>,
    #[serde(skip)]
    causes: Scratch<Causes>,
}

/// Counts of rows, alarms, events, incidents and change points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MonitorTotals {
    /// Number of rows passed to [`Monitor::step`], including warm-up and skipped rows.
    pub rows: u64,
    /// Number of warm-up rows, or 0 until the warm-up has ended.
    pub warm_up: u64,
    /// Number of rows skipped because of missing cells.
    pub passed_over: u64,
    /// Number of rows with a score.
    pub scored: u64,
    /// Number of rows with an alarm.
    pub alarms: u64,
    /// Number of events that have ended.
    pub events: u64,
    /// Number of reported change points.
    pub changes: u64,
    /// Number of rows inside incidents, from the report of each incident on.
    pub incident_rows: u64,
    /// Number of reported incidents.
    pub incidents: u64,
    /// Number of times that recent rows became the new reference.
    pub accepted: u64,
}

impl MonitorTotals {
    /// Returns the number of rows that were not skipped.
    fn without_skipped(&self) -> u64 {
        self.rows.saturating_sub(self.passed_over)
    }

    /// Adds the counts of the rows between two totals of one monitor, `before` and `after`.
    pub fn add_since(&mut self, before: &Self, after: &Self) {
        let (mut before, mut after) = (*before, *after);
        for ((sum, before), after) in self.counts().into_iter().zip(before.counts()).zip(after.counts()) {
            *sum += after.saturating_sub(*before);
        }
    }

    fn counts(&mut self) -> [&mut u64; 10] {
        let Self { rows, warm_up, passed_over, scored, alarms, events, changes, incident_rows, incidents, accepted } =
            self;
        [rows, warm_up, passed_over, scored, alarms, events, changes, incident_rows, incidents, accepted]
    }
}

/// Prints the options and the totals, but not the state, which is long.
impl fmt::Debug for Monitor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, width, totals, .. } = self;
        let mut out = out.debug_struct("Monitor");
        out.field("options", options).field("width", width).field("totals", totals).finish_non_exhaustive()
    }
}

impl Monitor {
    /// Creates a monitor for rows of `width` columns.
    pub fn new(options: MonitorOptions, width: usize) -> Result<Self, Error> {
        options.check(width)?;
        Ok(Self {
            options,
            columns: Columns::default(),
            width,
            waiting: Vec::new(),
            is_borrowed: false,
            fitted: None,
            totals: MonitorTotals::default(),
            resume_state: Vec::new(),
            row: Scratch::default(),
        })
    }

    /// Sets the names of the columns. Without one distinct name for each column, they are unnamed.
    #[must_use]
    pub fn with_names(mut self, names: Option<Vec<String>>) -> Self {
        let names = names.filter(|names| names.len() == self.width);
        self.columns = Columns::new(names, self.columns.standardizer.clone());
        self
    }

    /// Returns the options of the monitor.
    pub fn options(&self) -> &MonitorOptions {
        &self.options
    }

    /// Returns the names and scale of the columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the counts of rows, alarms and reports so far.
    pub fn totals(&self) -> MonitorTotals {
        self.totals
    }

    /// Returns true if rows are scored: after the warm-up, or with a borrowed reference.
    pub fn is_ready(&self) -> bool {
        self.fitted.is_some()
    }

    /// Returns true while the reference is borrowed from another monitor ([`Self::borrow_reference`]).
    pub fn is_borrowed(&self) -> bool {
        self.is_borrowed
    }

    /// Returns the number of previous rows appended to each row.
    pub fn lags(&self) -> usize {
        self.options.lags(self.width)
    }

    /// Returns the number of directions kept, or `None` before there is a reference.
    pub fn directions(&self) -> Option<usize> {
        self.fitted.as_ref().map(|fitted| fitted.levels.shape.basis.columns())
    }

    /// Returns the limit of the score by the reference alone, which at most about the requested share of normal rows
    /// exceed, or `None` before there is a reference.
    pub fn limit(&self) -> Option<f64> {
        self.fitted.as_ref().map(|fitted| fitted.levels.fixed_limit)
    }

    /// Returns the ongoing incident.
    pub fn open_incident(&self) -> Option<&Incident> {
        self.fitted.as_ref()?.incidents.open()
    }

    /// Returns the incident that is over but could still reopen.
    pub fn closing_incident(&self) -> Option<Incident> {
        self.fitted.as_ref()?.incidents.closing()
    }

    /// Closes and returns an incident that is over but could still reopen, for example at the end of a table.
    pub fn close_incident(&mut self) -> Option<Incident> {
        self.fitted.as_mut()?.incidents.close(false)
    }

    /// Returns the length of the warm-up in mean autocorrelation times of the columns, if it is too short to distinguish
    /// faults from slow normal changes.
    pub fn short_reference(&self) -> Option<f64> {
        self.fitted.as_ref()?.incidents.scales.too_short()
    }

    /// Returns the indices, in ascending order, of the columns whose last 20 values have at least two decimals fewer
    /// than in the warm-up. From the start of a table on, a column counts until its first value with more decimals.
    pub fn rounded_columns(&self) -> impl Iterator<Item = usize> {
        self.fitted.iter().flat_map(|fitted| fitted.rounding.coarse())
    }

    /// Returns true if the differences between consecutive rows are scored too.
    pub fn has_differences(&self) -> bool {
        self.fitted.as_ref().is_some_and(|fitted| fitted.differences.is_some())
    }

    /// Returns the ongoing event.
    pub fn open_event(&self) -> Option<&Event> {
        self.fitted.as_ref()?.events.open.as_ref()
    }

    /// Ends and returns the ongoing event, for example at the end of a table.
    pub fn close_event(&mut self) -> Option<Event> {
        let event = self.fitted.as_mut()?.events.close();
        self.totals.events += u64::from(event.is_some());
        event
    }

    /// Changes the handling of missing cells.
    pub fn set_missing(&mut self, missing: Missing) {
        self.options.missing = missing;
    }

    /// Prepares for the first row of a new table: forgets the previous row and the lagged rows.
    pub fn begin_table(&mut self) {
        if let Some(fitted) = &mut self.fitted {
            fitted.lags.clear();
            fitted.rounding.begin_table();
            fitted.incidents.scales.begin_table();
            if let Some(differences) = &mut fitted.differences {
                differences.lags.clear();
                differences.previous.clear();
            }
        }
    }

    /// Returns a copy that scores the rows of a new table relative to the present reference, with [`Mode::Freeze`].
    pub fn frozen(&self) -> Self {
        let mut copy = self.clone();
        // A borrowed reference has no warm-up of its own.
        let least = self.options.least_warm_up(self.width) as u64;
        copy.options.mode = Mode::Freeze(self.totals.warm_up.max(least));
        copy.options.rebaseline = Rebaseline::Never;
        copy.begin_table();
        copy.close_event();
        if let Some(fitted) = &mut copy.fitted {
            fitted.repeats.clear();
            fitted.incidents.close(true);
            (copy.waiting, copy.is_borrowed) = (Vec::new(), false);
        }
        copy
    }

    /// Returns the contributions of cells to Q and to T² of the last row scored since the monitor was loaded. Entry
    /// `l · width + j` belongs to column j, l rows earlier.
    pub fn contributions(&self) -> (Vec<f64>, Vec<f64>) {
        self.fitted.as_ref().map_or_else(Default::default, |fitted| {
            causes::contributions(&fitted.levels.shape, &fitted.levels.reference_parts.0)
        })
    }

    /// Scores a row, in input units, and then updates the monitor with it. On an error nothing changes.
    pub fn step(&mut self, raw: &[f64]) -> Result<Verdict, Error> {
        self.step_numbered(self.totals.rows, raw)
    }

    /// Adds a row to the warm-up, even beyond its requested length, until [`Self::end_warm_up`]. Skipped rows are not
    /// counted. Has no effect once the monitor has its own reference.
    pub fn add_to_warm_up(&mut self, raw: &[f64]) -> Result<(), Error> {
        if self.is_passed_over(raw)? || self.fitted.is_some() && !self.is_borrowed {
            return Ok(());
        }
        check_size(raw)?;
        self.waiting.push(raw.to_vec());
        Ok(())
    }

    /// Returns the number of warm-up rows so far, or 0 once the warm-up has ended.
    pub fn waiting_rows(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Returns true if the row is skipped because of missing cells.
    fn is_passed_over(&self, raw: &[f64]) -> Result<bool, Error> {
        let check = if self.options.missing == Missing::Fail { check_row } else { check_cells };
        check("row", raw, self.width)?;
        let missing = raw.iter().filter(|x| x.is_nan()).count();
        Ok(missing == raw.len() || missing > 0 && self.options.missing == Missing::Skip)
    }

    /// Scores a row like [`Self::step`]. Verdicts, events, incidents and changes use `number` as the index of the row.
    pub fn step_numbered(&mut self, number: u64, raw: &[f64]) -> Result<Verdict, Error> {
        if self.is_passed_over(raw)? {
            self.totals.rows += 1;
            self.totals.passed_over += 1;
            return Ok(Verdict::without_score(number));
        }
        if self.fitted.is_none() {
            self.add_to_warm_up(raw)?;
            let seen = self.waiting.len() as u64;
            if seen >= self.options.warm_up_rows(self.width)
                && let Err(error) = self.end_warm_up()
            {
                self.waiting.pop();
                return Err(error);
            }
            self.totals.rows += 1;
            return Ok(Verdict::without_score(number));
        }
        let row = &mut self.row.0;
        self.columns.standardizer.apply(raw, row).map_err(|index| cannot_standardize(raw, index))?;
        check_size(row)?;
        let (position, of_whole) = (self.totals.rows, self.totals.without_skipped());
        self.totals.rows += 1;
        let Some(fitted) = &mut self.fitted else { return Ok(Verdict::without_score(number)) };
        let mut verdict = fitted.step(raw, row, (number, position, of_whole), &self.options);
        self.totals.count(&verdict);
        if self.is_borrowed {
            self.waiting.push(raw.to_vec());
            let is_due = self.waiting.len() as u64 >= self.options.warm_up_rows(self.width);
            if is_due {
                let open = self.fitted.as_mut().and_then(|fitted| fitted.incidents.close(true));
                if self.end_warm_up().is_err() {
                    // No reference can be computed from the rows so far. The next row tries again.
                    self.waiting.pop();
                }
                verdict.closed = verdict.closed.or(open);
            }
        }
        if let Rebaseline::After(rows) = self.options.rebaseline
            && self.incident_rows().is_some_and(|since| since >= rows)
            && let Ok(closed) = self.accept()
        {
            verdict.accepted = true;
            verdict.closed = verdict.closed.or(closed);
        }
        Ok(verdict)
    }

    /// Returns the number of rows since the start of the ongoing incident, without skipped ones.
    fn incident_rows(&self) -> Option<u64> {
        let start = self.fitted.as_ref()?.incidents.start()?;
        Some(self.totals.without_skipped().saturating_sub(start))
    }
}

fn check_size(row: &[f64]) -> Result<(), Error> {
    let seen = row.iter().filter(|x| !x.is_nan());
    let size = seen.fold(0f64, |size, x| size.max(x.abs()));
    if size <= LARGEST_CELL { Ok(()) } else { Err(Error::Overflow { largest: largest(row) }) }
}
