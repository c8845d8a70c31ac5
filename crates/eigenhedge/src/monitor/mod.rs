//! Monitoring: scores, limits, alarms, causes and change points for rows of sensors.
//!
//! Setting: rows arrive one at a time. The first ones are a warm-up that is taken as normal. Every row behind it has a score of
//! how unusual it is, and a limit that a stated share of normal rows passes.
//!
//! Update: columns are brought to a common scale ([`Columns`]), earlier rows are put beside each row (`lags`), and the rest is a
//! subspace (`directions`), tail probabilities of what lies in it and outside it (`statistics`), a limit from rows that the
//! model had not seen (`calibration`), and a gate that lets normal rows teach and faults not (`detector`). Beside it a counter of
//! values that repeat (`repeats`), moments at which the score changes its level (`changes`), the columns that cause a score
//! (`causes`), and alarms that belong together (`events`).
//!
//! Guarantee: none. Simulated rows pass a limit at 0.01 with a rate of 0.01, also when they remember 0.9 of the row before.
//!
//! Cost: O(d²) for a row that is learned, with d columns times lags; O(d³) every 25 rows.
//!
//! Not done: kernels, and learners other than a forgetting mean and scatter; both would need limits of their own.
//!
//! References: Jackson and Mudholkar (1979) for Q; Alcala and Qin (2009) for contributions; Siffer et al. (2017) for peaks over
//! a threshold; Siegmund and Venkatraman (1995) for the likelihood ratio.

mod calibration;
mod causes;
mod changes;
mod detector;
mod directions;
mod events;
mod factor_model;
mod fit;
mod lags;
mod options;
mod repeats;
mod saved;
mod shown;
mod statistics;

pub use causes::Cause;
pub use changes::Change;
pub use directions::Kept;
pub use events::Event;
pub use options::{Choose, Limit, Mode, MonitorOptions};
pub use saved::{SavedMonitors, is_monitor};

use crate::error::Error;
use crate::model::{Columns, cannot_standardize};
use crate::num::largest;
use crate::registry::Missing;
use crate::row::{check_cells, check_row};
use crate::scratch::Scratch;
use causes::{Causes, NAMED};
use changes::Changes;
use detector::Detector;
use events::{Alarm, Events};
use lags::Lags;
use repeats::Repeats;
use serde::{Deserialize, Serialize};

/// Largest cell, in standard units: its fourth power is finite with room for sums.
const LARGEST_CELL: f64 = 1e70;

/// Scores, limits and alarms for rows as they come.
///
/// ```
/// use eigenhedge::{Monitor, MonitorOptions, Random};
///
/// let mut random = Random::seeded(1);
/// let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(200), ..Default::default() }, 3)?;
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    options: MonitorOptions,
    columns: Columns,
    width: usize,
    /// Rows of the warm-up while it lasts.
    waiting: Vec<Vec<f64>>,
    fitted: Option<Box<Fitted>>,
    totals: MonitorTotals,
    #[serde(skip)]
    row: Scratch<Vec<f64>>,
}

/// All that there is once the warm-up is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fitted {
    levels: Detector,
    lags: Lags,
    /// A second detector for the differences between rows.
    differences: Option<Differences>,
    repeats: Repeats,
    changes: Changes,
    events: Events,
    #[serde(skip)]
    causes: Scratch<Causes>,
}

/// A detector for the differences between rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Differences {
    detector: Detector,
    lags: Lags,
    /// The row before; empty if there is none.
    previous: Vec<f64>,
    #[serde(skip)]
    causes: Scratch<Causes>,
}

/// Numbers of rows, alarms and what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MonitorTotals {
    /// Rows, the warm-up included.
    pub rows: u64,
    /// Rows of the warm-up.
    pub warm_up: u64,
    /// Rows that were passed over because cells were missing.
    pub passed_over: u64,
    /// Rows with an alarm.
    pub alarms: u64,
    /// Events that have ended.
    pub events: u64,
    /// Changes.
    pub changes: u64,
    /// Warm-ups after the first, each after a thousand rows that taught nothing.
    pub renewals: u64,
}

/// The answer of a monitor to a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Number of the row, from 0.
    pub row: u64,
    /// Minus the sum of the logarithms of three tail probabilities. NaN, as the next three are, during the warm-up, for the rows
    /// behind it that lack earlier rows, and for rows that are passed over.
    pub score: f64,
    /// Squared length of the part outside the directions.
    pub q: f64,
    /// Hotelling's T² of the part along them.
    pub t2: f64,
    /// Limit of the score.
    pub limit: f64,
    /// True if the score is over its limit, or a column is stuck.
    pub alarm: bool,
    /// The column that is stuck.
    pub stuck: Option<usize>,
    /// True if score, limit and causes are those of the differences between rows.
    pub of_differences: bool,
    /// The change that this row completes.
    pub change: Option<Change>,
    /// The event that ended before this row.
    pub event: Option<Event>,
    /// The first causes.
    pub causes: [Option<Cause>; NAMED],
    /// True if the rows up to this one became the new normal.
    pub renewed: bool,
}

impl Verdict {
    fn without_score(row: u64) -> Self {
        Self {
            row,
            score: f64::NAN,
            q: f64::NAN,
            t2: f64::NAN,
            limit: f64::NAN,
            alarm: false,
            stuck: None,
            of_differences: false,
            change: None,
            event: None,
            causes: [None; NAMED],
            renewed: false,
        }
    }
}

impl Monitor {
    /// A monitor before its first row, for rows of this many numbers.
    pub fn new(options: MonitorOptions, width: usize) -> Result<Self, Error> {
        options.check(width)?;
        Ok(Self {
            options,
            columns: Columns::default(),
            width,
            waiting: Vec::new(),
            fitted: None,
            totals: MonitorTotals::default(),
            row: Scratch::default(),
        })
    }

    /// The same with names of columns; names of which one stands for two columns are no names.
    #[must_use]
    pub fn with_names(mut self, names: Option<Vec<String>>) -> Self {
        let names = names.filter(|names| names.len() == self.width);
        self.columns = Columns::new(names, self.columns.standardizer.clone());
        self
    }

    /// The options.
    pub fn options(&self) -> &MonitorOptions {
        &self.options
    }

    /// Names and scale of the columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Numbers of rows and alarms.
    pub fn totals(&self) -> MonitorTotals {
        self.totals
    }

    /// True once the warm-up is over.
    pub fn is_ready(&self) -> bool {
        self.fitted.is_some()
    }

    /// Earlier rows beside each row.
    pub fn lags(&self) -> usize {
        self.options.lags(self.width)
    }

    /// Directions that are kept; none during the warm-up.
    pub fn directions(&self) -> Option<usize> {
        self.fitted.as_ref().map(|fitted| fitted.levels.directions.basis.columns())
    }

    /// Limit of the score of levels; none during the warm-up.
    pub fn limit(&self) -> Option<f64> {
        self.fitted.as_ref().map(|fitted| fitted.levels.limits.alarm)
    }

    /// True if the differences between rows have a score of their own.
    pub fn has_differences(&self) -> bool {
        self.fitted.as_ref().is_some_and(|fitted| fitted.differences.is_some())
    }

    /// The event that goes on.
    pub fn open_event(&self) -> Option<&Event> {
        self.fitted.as_ref().and_then(|fitted| fitted.events.open())
    }

    /// Ends the event that goes on, at the end of a table.
    pub fn close_event(&mut self) -> Option<Event> {
        let event = self.fitted.as_mut().and_then(|fitted| fitted.events.close());
        self.totals.events += u64::from(event.is_some());
        event
    }

    /// Forgets the last rows, because the next one does not follow them: it is from another table.
    pub fn begin_table(&mut self) {
        if let Some(fitted) = &mut self.fitted {
            fitted.lags.clear();
            if let Some(differences) = &mut fitted.differences {
                differences.lags.clear();
                differences.previous.clear();
            }
        }
    }

    /// A copy that gives scores and learns nothing, before the first row of a table.
    pub fn frozen(&self) -> Self {
        let mut copy = self.clone();
        copy.options.mode = Mode::Freeze(self.totals.warm_up);
        copy.begin_table();
        copy.close_event();
        if let Some(fitted) = &mut copy.fitted {
            fitted.repeats.clear();
        }
        copy
    }

    /// Contributions of the numbers of the row before to its Q and its T² of levels, lags included: entry `l · width + j` is that
    /// of column j, l rows before. They sum to Q and T². Empty before the first score.
    pub fn contributions(&self) -> (Vec<f64>, Vec<f64>) {
        self.fitted.as_ref().map_or_else(Default::default, |fitted| {
            causes::contributions(&fitted.levels.directions, &fitted.levels.parts.0)
        })
    }

    /// Looks at a row, in units of the input, then learns from it. An error leaves everything as it was.
    pub fn step(&mut self, raw: &[f64]) -> Result<Verdict, Error> {
        self.step_numbered(self.totals.rows, raw)
    }

    /// Adds a row to the warm-up, however many rows it has already; [`Self::end_warm_up`] ends it.
    pub fn add_to_warm_up(&mut self, raw: &[f64]) -> Result<(), Error> {
        if self.is_passed_over(raw)? {
            self.totals.passed_over += 1;
            return Ok(());
        }
        check_size(raw)?;
        self.waiting.push(raw.to_vec());
        Ok(())
    }

    /// True if missing cells keep a row out; an error if it is no row.
    fn is_passed_over(&self, raw: &[f64]) -> Result<bool, Error> {
        let check = if self.options.missing == Missing::Fail { check_row } else { check_cells };
        check("row", raw, self.width)?;
        let missing = raw.iter().filter(|x| x.is_nan()).count();
        Ok(missing == raw.len() || missing > 0 && self.options.missing == Missing::Skip)
    }

    /// The same with a number of the caller's in place of the position of the row: verdict, events and changes have it.
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
        let position = self.totals.rows;
        self.totals.rows += 1;
        let Some(fitted) = &mut self.fitted else { return Ok(Verdict::without_score(number)) };
        let verdict = fitted.step(raw, row, (number, position), &self.options);
        self.totals.alarms += u64::from(verdict.alarm);
        self.totals.events += u64::from(verdict.event.is_some());
        self.totals.changes += u64::from(verdict.change.is_some());
        self.totals.renewals += u64::from(verdict.renewed);
        Ok(verdict)
    }
}

impl Fitted {
    /// Looks at a row in standard units, then learns from it.
    fn step(
        &mut self,
        raw: &[f64],
        row: &mut [f64],
        (number, position): (u64, u64),
        options: &MonitorOptions,
    ) -> Verdict {
        let mut verdict = Verdict::without_score(number);
        let Self { levels, lags, differences, repeats, changes, events, causes } = self;
        repeats.push(raw);
        verdict.stuck = repeats.stuck();
        let is_sound = verdict.stuck.is_none();
        fill(levels, lags, row);
        verdict.event = events.close_before(position, options.event_gap);
        let causes = &mut causes.0;
        causes.ranks.resize(row.len(), 0.0);
        causes.shares.resize(row.len(), 0.0);
        causes.clear();
        let mut blamed = &*causes;
        if let Some(vector) = lags.row() {
            let scored = levels.look(vector);
            verdict.set(&scored);
            causes.load(&levels.directions, &levels.parts.0);
            verdict.change = changes.enter(number, scored.score, row, causes);
            verdict.renewed = levels.learn(vector, &scored, options.mode, is_sound);
            if verdict.renewed {
                changes.begin(levels.recent_scores(), levels.limits.tau);
            }
            blamed = &*causes;
        }
        if let Some(differences) = differences
            && let Some(scored) = differences.step(row, options.mode, is_sound)
            && (verdict.score.is_nan() || scored.score * verdict.limit > verdict.score * scored.limit)
        {
            verdict.set(&scored);
            verdict.of_differences = true;
            blamed = &differences.causes.0;
        }
        verdict.causes = blamed.named(verdict.stuck);
        verdict.alarm = verdict.score > verdict.limit || !is_sound;
        if verdict.alarm {
            let Verdict { score, limit, stuck, .. } = verdict;
            events.enter(Alarm { row: number, position, score, limit, stuck }, blamed);
        }
        verdict
    }
}

impl Differences {
    /// Looks at the difference from the row before, then learns from it.
    fn step(&mut self, row: &[f64], mode: Mode, is_sound: bool) -> Option<detector::Scored> {
        let Self { detector, lags, previous, causes } = self;
        if previous.is_empty() {
            previous.extend_from_slice(row);
            return None;
        }
        previous.iter_mut().zip(row).for_each(|(x, now)| *x = now - *x);
        lags.push(previous);
        previous.copy_from_slice(row);
        let vector = lags.row()?;
        let scored = detector.look(vector);
        causes.0.ranks.resize(row.len(), 0.0);
        causes.0.shares.resize(row.len(), 0.0);
        causes.0.load(&detector.directions, &detector.parts.0);
        detector.learn(vector, &scored, mode, is_sound);
        Some(scored)
    }
}

impl Verdict {
    fn set(&mut self, scored: &detector::Scored) {
        (self.score, self.limit, self.q, self.t2) = (scored.score, scored.limit, scored.q, scored.t2);
    }
}

/// Adds a row to the earlier ones, with its missing cells filled in from the directions; those of a row without earlier rows are at
/// the mean.
fn fill(levels: &mut Detector, lags: &mut Lags, row: &mut [f64]) {
    if !row.iter().any(|x| x.is_nan()) {
        return lags.push(row);
    }
    lags.push(row);
    match lags.row_mut() {
        Some(vector) => levels.directions.fill(vector),
        None => lags.last_mut().iter_mut().zip(levels.directions.mean()).for_each(|(x, mean)| {
            if x.is_nan() {
                *x = *mean;
            }
        }),
    }
    row.copy_from_slice(lags.last_mut());
}

fn check_size(row: &[f64]) -> Result<(), Error> {
    let seen = row.iter().filter(|x| !x.is_nan());
    let size = seen.fold(0f64, |size, x| size.max(x.abs()));
    if size <= LARGEST_CELL { Ok(()) } else { Err(Error::Overflow { largest: largest(row) }) }
}
