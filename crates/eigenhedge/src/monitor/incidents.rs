//! Incidents: stretches of rows in which something was wrong, each reported once.
//!
//! **Opening.** An incident opens when a score of `scales` exceeds its limit, or when a column is
//! stuck, silent, or was constant and moved. The score of a single row or of a jump must exceed [`SINGLE`] times its
//! limit. A score that has opened an incident must be usual again before it can open another one.
//!
//! **Raised limits.** Limits from a warm-up of n rows have relative errors of about 1/√n. Each incident therefore raises
//! the logarithm of the limits that it exceeds by [`RAISE`]`/√n`, up to a sum of
//! [`MOST_RAISED`]. One raise decays in [`OVERLAP`] times the requested time between false incidents. A stream whose
//! limits were too low on some time scale has a few incidents, then none.
//!
//! **End.** The first score, in the order of `scales`, that exceeded its limit determines the end.
//! The level of four rows replaces that of a single row. The incident ends when this score is usual:
//!
//! - below the value that a certain share of normal scores exceeds (`scales`),
//! - or below [`UNCERTAIN`]`/√n` of the limit,
//! - or below both the limit and [`RETURNED`] of its largest value in the incident.
//!
//! It does not end while a slower level exceeds its limit and is still above [`FALLING`] of its peak: a fault that grows
//! slowly is usual for a few rows now and then.
//!
//! If a limit is exceeded again within [`GAP`] rows, the incident continues. If a score suddenly becomes [`WORSE`] times
//! as large as before, another one opens. With [`Mode::Adapt`](super::Mode::Adapt), alarms inside an incident are
//! suppressed for [`QUIET`] rows after its report.

use super::causes::{Cause, Causes, NAMED};
use super::flags::Flags;
use super::repeats::Repeats;
use super::scales::{Bar, JUMP, OVERLAP, REMEMBERED, Scales, Scores};
use super::shape::Parts;
use crate::error::Error;
use crate::scratch::Scratch;
use crate::state::{LARGEST, count, ensure, entries, within};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Raise of the logarithm of a limit by an incident that exceeds it, times the square root of the
/// number of warm-up rows.
const RAISE: f64 = 6.0;
/// Multiple of its limit that the score of a single row or of a jump must exceed. Less unusual rows are only alarms.
const SINGLE: f64 = 1.2;
const MOST_RAISED: f64 = 3.0;
/// Share of a limit, times the square root of the number of warm-up rows, below which a score is usual.
const UNCERTAIN: f64 = 5.0;
/// Share of its largest value in an incident below which a score is usual if it does not exceed its limit.
const RETURNED: f64 = 0.15;
/// Share of its largest value in an incident below which a slower level counts as falling.
const FALLING: f64 = 0.8;
/// Severity (of probability 1/2) from which an incident ends by the limits at its opening, before it raised them.
const LIKELY: f64 = 0.3;
const GAP: u64 = 32;
const QUIET: u64 = 250;
/// Factor by which a ratio of score to limit must exceed earlier ones of an incident to open another.
const WORSE: f64 = 10.0;
/// Rows per block of scores, which are compared with earlier blocks: slowly becoming worse is no new incident.
const AGAIN: u64 = 50;
/// Logarithm of the factor by which limits are raised while the reference is borrowed.
const BORROWED: f64 = 1.5;
/// Number of row indices that are stored, for the first row of an incident.
const REMEMBERED_ROWS: usize = 129;
const SPIKE_ROWS: u64 = 5;
/// Index of the score of the level with the longest memory.
const SLOWEST: usize = 3;

/// Symptom by which an incident is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Sign {
    /// At most five unusual rows.
    Spike,
    /// A level that differs from the reference.
    Shift,
    /// A level that slowly moves away from the reference.
    Drift,
    /// A column that repeats one value for longer than normal.
    Stuck,
    /// A column that was constant in the reference and has another value.
    Moved,
    /// A column whose cells are missing for longer than normal.
    Silent,
}

impl Sign {
    const ALL: [Self; 6] = [Self::Spike, Self::Shift, Self::Drift, Self::Stuck, Self::Moved, Self::Silent];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["spike", "shift", "drift", "stuck", "moved", "silent"][self as usize]
    }
}

/// Stretch of rows in which something was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Incident {
    /// Sequence number of the incident, from 1.
    pub incident: u64,
    /// Estimated index of the first row.
    pub start: u64,
    /// Index of the row at which the incident was reported.
    pub reported: u64,
    /// Index of the last row so far.
    pub end: u64,
    /// True if the incident has ended.
    pub is_over: bool,
    /// Index of the row with the greatest severity.
    pub peak: u64,
    /// Minus the decimal logarithm of the probability that normal rows have such an incident in the
    /// requested time ([`MonitorOptions::incident_time`](super::MonitorOptions::incident_time)).
    pub severity: f64,
    /// Number of rows from the report to the last row, both included.
    pub rows: u64,
    /// Number of rows since the report whose score exceeded the alarm limit. Suppressed alarms count.
    pub alarms: u64,
    signs: [bool; 6],
    /// Columns with the largest deviations at the peak, largest share first.
    pub causes: [Option<Cause>; NAMED],
}

impl Incident {
    /// Returns the symptoms of the incident.
    pub fn signs(&self) -> impl Iterator<Item = Sign> {
        let signs = self.signs;
        Sign::ALL.into_iter().filter(move |sign| signs[*sign as usize])
    }

    /// Returns the severity in a word: minor, major (at least 1) or critical (at least 3).
    pub fn grade(&self) -> &'static str {
        grade(self.severity)
    }

    fn set(&mut self, sign: Sign, is: bool) {
        self.signs[sign as usize] = is;
    }
}

/// Returns a severity in a word: minor, major (at least 1) or critical (at least 3).
pub fn grade(severity: f64) -> &'static str {
    match severity {
        s if s >= 3.0 => "critical",
        s if s >= 1.0 => "major",
        _ => "minor",
    }
}

/// Faults of single columns at a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns {
    /// Index of a stuck column, and the length of its run as a multiple of the limit.
    pub stuck: Option<(usize, f64)>,
    /// Index of a column that was constant and has another value, and true if that value is new.
    pub moved: Option<(usize, bool)>,
    /// Index of a column without values, and its run of missing cells as a multiple of the limit.
    pub silent: Option<(usize, f64)>,
}

impl Columns {
    fn are_new(&self) -> bool {
        self.stuck.is_some() || self.moved.is_some_and(|(_, is_new)| is_new) || self.silent.is_some()
    }

    /// A run of x times its limit, which has a probability of about 1e-6, has the severity `6 (x - 1)`, at most 6. A
    /// moved column has at least severity 1.
    fn severity(&self) -> f64 {
        let runs = [self.stuck, self.silent].into_iter().flatten();
        let of_runs = runs.map(|(_, excess)| (6.0 * (excess - 1.0)).clamp(0.0, 6.0)).fold(0.0, f64::max);
        of_runs.max(if self.moved.is_some() { 1.0 } else { 0.0 })
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Step {
    pub opened: Option<Incident>,
    pub closed: Option<Incident>,
    pub inside: Option<u64>,
    /// True if an alarm of the row is suppressed.
    pub is_quiet: bool,
}

/// Incident that is ongoing, or that ended within the last [`GAP`] rows and may reopen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Open {
    incident: Incident,
    /// Positions in the stream, counted without skipped rows.
    start: u64,
    reported: u64,
    end: u64,
    /// Smallest index of a score that exceeded its limit, except the jump.
    fastest: Option<usize>,
    /// True if, among the levels, only the slowest exceeded its limit at the report.
    is_slow: bool,
    is_live: bool,
    /// Factors of the limits when the incident opened.
    factors: Scores,
    peaks: Scores,
    exceeded: [bool; JUMP + 1],
    /// Largest ratio of score to limit before the previous block, in it, and in the current block.
    largest: [f64; 3],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Incidents {
    pub scales: Scales,
    time: f64,
    /// Logarithm of the factor by which incidents have raised each limit. It decays.
    raised: Scores,
    is_borrowed: bool,
    /// False for a score that has not been usual since an incident.
    armed: [bool; REMEMBERED],
    /// First position after each score was last usual.
    since: [u64; REMEMBERED],
    /// Numbers of the last rows of the present table and reference.
    numbers: VecDeque<u64>,
    open: Option<Open>,
    count: u64,
    #[serde(skip)]
    parts: Scratch<Parts>,
}

impl Incidents {
    pub fn new(scales: Scales, time: f64) -> Self {
        Self {
            scales,
            time,
            raised: [0.0; JUMP + 1],
            is_borrowed: false,
            armed: [true; REMEMBERED],
            since: [0; REMEMBERED],
            numbers: VecDeque::with_capacity(REMEMBERED_ROWS),
            open: None,
            count: 0,
            parts: Scratch::default(),
        }
    }

    pub fn open(&self) -> Option<&Incident> {
        self.open.as_ref().filter(|open| open.is_live).map(|open| &open.incident)
    }

    /// Returns the incident that is over but could still reopen.
    pub fn closing(&self) -> Option<Incident> {
        let open = self.open.as_ref().filter(|open| !open.is_live)?;
        Some(Incident { is_over: true, ..open.incident })
    }

    pub fn start(&self) -> Option<u64> {
        self.open.as_ref().filter(|open| open.is_live).map(|open| open.start)
    }

    /// Closes the incident, or with `even_live` false only one that is over but could still reopen.
    pub fn close(&mut self, even_live: bool) -> Option<Incident> {
        let open = self.open.take_if(|open| even_live || !open.is_live)?;
        Some(Incident { is_over: true, ..open.incident })
    }

    /// Continues the numbers of the incidents of an earlier reference. Incidents start after its last row.
    pub fn continue_from(&mut self, earlier: &Self) {
        self.count = earlier.count;
    }

    /// Moves the reference to these column means of another stream, raises the limits, and forgets all incidents.
    pub fn lend(&mut self, means: &[f64]) {
        self.scales.move_to(means);
        *self = Self { is_borrowed: true, ..Self::new(self.scales.clone(), self.time) };
    }

    /// Scores a row in standard units, with its lags and flags, and opens or closes incidents.
    pub fn enter(
        &mut self,
        (number, position): (u64, u64),
        (vector, of_flags): (&[f64], f64),
        columns: Columns,
        (flags, repeats, causes): (&Flags, &Repeats, &mut Causes),
        (follows, is_alarm): (bool, bool),
    ) -> Step {
        let scores = self.scales.enter(vector, of_flags);
        if let Some(Open { start, reported, end, .. }) = &mut self.open {
            // Earlier versions saved positions that count skipped rows.
            [start, reported, end].into_iter().for_each(|at| *at = position.min(*at));
        }
        if self.numbers.back().is_some_and(|last| number < *last) {
            // A new table has begun, in which its incidents start.
            self.numbers.clear();
        }
        if self.numbers.len() == REMEMBERED_ROWS {
            self.numbers.pop_front();
        }
        self.numbers.push_back(number);
        let error = self.scales.error();
        let decay = RAISE * error / (OVERLAP * self.time);
        self.raised.iter_mut().for_each(|raised| *raised = (*raised - decay).max(0.0));
        let borrowed = if self.is_borrowed { BORROWED } else { 0.0 };
        let factors = self.raised.map(|raised| (raised + borrowed).exp());
        let bars = self.scales.bars;
        let ratio = |i: usize| scores[i] / (bars[i].limit * factors[i]);
        let (ends, peaks) = self.open.as_ref().map_or((factors, Scores::default()), |open| {
            (if open.incident.severity < LIKELY { factors } else { open.factors }, open.peaks)
        });
        let is_usual = |i: usize| {
            let Bar { limit, usual, .. } = bars[i];
            scores[i] < ends[i] * usual.max(UNCERTAIN * error * limit).max(limit.min(RETURNED * peaks[i] / ends[i]))
        };
        for i in (0..REMEMBERED).filter(|i| is_usual(*i)) {
            (self.armed[i], self.since[i]) = (true, position + 1);
        }
        let first = (0..REMEMBERED).find(|i| self.armed[*i] && ratio(*i) > if *i == 0 { SINGLE } else { 1.0 });
        let has_jump = ratio(JUMP) > SINGLE;
        let fires = first.is_some() || has_jump || columns.are_new();
        let severity = (0..=JUMP).map(|i| bars[i].severity(ratio(i))).fold(columns.severity(), f64::max);
        let mut step = Step::default();
        let largest = (0..=JUMP).map(ratio).fold(0.0, f64::max);
        if self.open.as_mut().is_some_and(|open| open.is_much_worse(position, largest)) {
            step.closed = self.close(true);
        }
        if fires && self.open.is_none() {
            let start = first.map_or(position, |i| self.since[i].min(position));
            step.opened = Some(self.begin((number, position), start, first, factors));
        }
        if let Some(open) = &mut self.open {
            open.fastest = open.fastest.into_iter().chain(first).min();
            let is_moved = open.incident.signs[Sign::Moved as usize] && columns.moved.is_some();
            let grows = |i: usize| open.exceeded[i] && ratio(i) > 1.0 && scores[i] > FALLING * open.peaks[i];
            let holds = is_moved || (1..=SLOWEST).any(grows) || open.fastest.is_some_and(|i| !is_usual(i.max(1)));
            let goes_on = holds || has_jump || columns.are_new();
            open.is_live = if step.opened.is_none() && open.is_live { goes_on } else { fires };
            if open.is_live {
                let jump = has_jump.then_some(JUMP).filter(|_| first.is_none_or(|i| ratio(i) < ratio(JUMP)));
                let blamed = jump.or(first);
                let is_peak = severity > open.incident.severity || step.opened.is_some();
                open.peaks = std::array::from_fn(|i| open.peaks[i].max(scores[i]));
                open.extend((number, position), severity, columns, is_alarm);
                step.inside = Some(open.incident.incident);
                step.is_quiet = follows && step.opened.is_none() && position - open.reported <= QUIET;
                if is_peak && (blamed.is_some() || columns.are_new()) {
                    open.incident.causes =
                        self.scales.blame(blamed, columns, (flags, repeats), causes, &mut self.parts.0);
                }
                step.opened = step.opened.map(|_| open.incident);
            } else {
                if position == open.end + 1 {
                    self.armed = std::array::from_fn(is_usual);
                }
                if position - open.end > GAP {
                    step.closed = self.close(false);
                }
            }
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.is_live) {
            for i in (0..=JUMP).filter(|i| ratio(*i) > 1.0) {
                if !std::mem::replace(&mut open.exceeded[i], true) {
                    self.raised[i] = (self.raised[i] + RAISE * error).min(MOST_RAISED);
                }
            }
        }
        if follows {
            self.scales.follow(&scores, self.raised.iter().copied().fold(0.0, f64::max));
        }
        step
    }

    fn begin(&mut self, (number, position): (u64, u64), start: u64, first: Option<usize>, factors: Scores) -> Incident {
        self.count += 1;
        let back = usize::try_from(position - start).unwrap_or(usize::MAX).min(self.numbers.len() - 1);
        let incident = Incident {
            incident: self.count,
            start: self.numbers[self.numbers.len() - 1 - back],
            reported: number,
            end: number,
            is_over: false,
            peak: number,
            severity: 0.0,
            rows: 0,
            alarms: 0,
            signs: [false; 6],
            causes: [None; NAMED],
        };
        let (start, is_slow) = (position - back as u64, first == Some(SLOWEST));
        let open = Open {
            incident,
            start,
            reported: position,
            end: position,
            fastest: first,
            is_slow,
            is_live: true,
            factors,
            peaks: Scores::default(),
            exceeded: [false; JUMP + 1],
            largest: [1.0; 3],
        };
        self.open = Some(open);
        incident
    }

    pub fn check_state(&self, d: usize, width: usize) -> Result<(), Error> {
        self.scales.check_state(d)?;
        within("the time between incidents", self.time, 1.0..=1e9)?;
        entries("the raises of limits", &self.raised, 0.0..=MOST_RAISED)?;
        ensure(self.numbers.len() <= REMEMBERED_ROWS, "only the last row numbers must be kept")?;
        self.numbers.iter().chain(&self.since).try_for_each(|row| count("the row of an incident", *row))?;
        count("the number of incidents", self.count)?;
        let Some(open) = &self.open else { return Ok(()) };
        let Open { incident, start, reported, end, fastest, .. } = open;
        for row in [start, reported, end, &incident.start, &incident.reported, &incident.end, &incident.peak] {
            count("the row of an incident", *row)?;
        }
        ensure(start <= reported && reported <= end, "an incident must be reported after it began")?;
        ensure(fastest.is_none_or(|i| i < REMEMBERED), "a score of an incident must exist")?;
        entries("the ratios of an incident", &open.largest, 0.0..=LARGEST)?;
        entries("the factors of an incident", &open.factors, 1.0..=LARGEST)?;
        entries("the scores of an incident", &open.peaks, 0.0..=LARGEST)?;
        within("the severity of an incident", incident.severity, 0.0..=LARGEST)?;
        let causes = incident.causes.iter().flatten();
        causes.map(|cause| cause.column).try_for_each(|column| ensure(column < width, "a cause must be a column"))
    }
}

impl Open {
    /// Returns true if the ratio of score to limit is far above those of all earlier blocks: another fault.
    fn is_much_worse(&mut self, position: u64, ratio: f64) -> bool {
        if (position - self.reported).is_multiple_of(AGAIN) {
            let [told, before, now] = self.largest;
            self.largest = [told.max(before), now, 1.0];
        }
        self.largest[2] = self.largest[2].max(ratio);
        self.is_live && position - self.reported > 2 * AGAIN && ratio > WORSE * self.largest[0].max(self.largest[1])
    }

    fn extend(&mut self, (number, position): (u64, u64), severity: f64, columns: Columns, is_alarm: bool) {
        let incident = &mut self.incident;
        self.end = position;
        incident.end = number;
        incident.rows = position - self.reported + 1;
        incident.alarms += u64::from(is_alarm);
        if severity > incident.severity {
            (incident.severity, incident.peak) = (severity, number);
        }
        incident.signs[Sign::Stuck as usize] |= columns.stuck.is_some();
        incident.signs[Sign::Silent as usize] |= columns.silent.is_some();
        incident.signs[Sign::Moved as usize] |= columns.moved.is_some_and(|(_, is_new)| is_new);
        let has_scores = self.fastest.is_some() || !incident.signs[3..].contains(&true);
        let is_long = position - self.start >= SPIKE_ROWS;
        incident.set(Sign::Spike, has_scores && !is_long);
        incident.set(Sign::Shift, has_scores && is_long && !self.is_slow);
        incident.set(Sign::Drift, has_scores && is_long && self.is_slow);
    }
}

impl Scales {
    /// Returns the main causes of a score, if any, and of the faults in `columns`.
    fn blame(
        &self,
        score: Option<usize>,
        columns: Columns,
        (flags, repeats): (&Flags, &Repeats),
        causes: &mut Causes,
        parts: &mut Parts,
    ) -> [Option<Cause>; NAMED] {
        causes.ranks.fill(0.0);
        if let Some(score) = score {
            self.parts(score, parts);
            causes.rank(&self.shape, parts);
            repeats.suspect(&mut causes.ranks);
        }
        flags.add_deviations(&mut causes.ranks);
        let single = [columns.moved.map(|(j, _)| j), columns.silent.map(|(j, _)| j), columns.stuck.map(|(j, _)| j)];
        single.into_iter().flatten().for_each(|column| causes.blame(column));
        causes.named()
    }
}
