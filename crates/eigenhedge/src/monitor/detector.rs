//! One score of a row: directions, tail probabilities, limit, and the gate that says which rows teach them.
//!
//! Setting: `s = -(log p_Q + log p_T² + log p_M)`, a score and no p-value, because the three depend on each other.
//!
//! **What teaches mean and scatter**: rows while the running mean of scores is at most its limit at level [`GATE`]; of a row whose
//! own score is over the limit g at that level, only the share g/s of its distance from the mean. A fault then teaches nothing,
//! whatever its length: its first rows have large scores, and the running mean is over its limit soon. Rows over the limit are not left
//! out, because under drift those are the rows on the side where the mean must go.
//!
//! **What moves the limit**: every row while not much more than half of the last ones passed that limit, when it comes and when
//! [`DELAY`] rows have followed it, each as at most [`CLIP`] times the limit of alarms. A limit that learned only from rows below it would be a ratchet: cut off again and
//! again, it would fall until 17 % of normal rows passed it.
//!
//! **Warm-up again**: after [`LONGEST_CLOSURE`] rows that taught nothing, the last rows are the new normal. Sooner would
//! absorb long faults.
//!
//! Limits are found again every [`RENEWAL`] rows, directions too if rows are not long.

use super::calibration::{Working, out_of_sample};
use super::directions::{Directions, Kept, Parts};
use super::options::{Limit, Mode};
use super::statistics::Moments;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::Scratch;
use crate::state::{LARGEST, count, ensure, entries, within};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Level of the limits of the gate.
const GATE: f64 = 0.1;
/// Weight of a row in running means.
const STEP: f64 = 0.1;
/// A score, or a running mean of scores, counts as at most this many limits.
const CLIP: f64 = 1.2;
/// Scores in the window that limits come from; more for limits that few rows pass.
const WINDOW: usize = 500;
const LONG_WINDOW: usize = 2000;
const RARE: f64 = 0.005;
/// Rows that must follow before a row moves the limit: the first rows of a fault are known by those behind them.
const DELAY: usize = 10;
/// Share of the last rows that may pass the gate's limit, with the row itself and with the rows behind it.
const CALM: f64 = 0.6;
/// Rows between two renewals of the limits.
const RENEWAL: u64 = 25;
/// Rows that teach nothing before there is a new warm-up.
const LONGEST_CLOSURE: u64 = 1000;

/// A score of rows of d numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Detector {
    rule: Limit,
    kept: Kept,
    /// Rows on each side of a fold that are left out.
    gap: usize,
    pub directions: Directions,
    moments: [Moments; 3],
    scores: Ring,
    averages: Ring,
    pub limits: Limits,
    /// Running mean of scores, and of the rows that passed the gate's limit.
    average: f64,
    passing: f64,
    /// The last rows, which do not move the limit yet.
    pending: VecDeque<Pending>,
    /// Rows that were looked at.
    rows: u64,
    /// Rows since one taught something, and the last of them if there are many.
    shut: u64,
    closed_rows: Vec<Vec<f64>>,
    /// Rows of a warm-up.
    warm_up: usize,
    /// Warm-ups after the first.
    pub renewals: u64,
    #[serde(skip)]
    pub parts: Scratch<Parts>,
    #[serde(skip)]
    working: Scratch<Working>,
}

/// Limits of the score and of its running mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Limits {
    pub alarm: f64,
    pub gate: f64,
    average_gate: f64,
    /// Rows that are worth one independent row.
    pub tau: f64,
}

/// A row that does not move the limit yet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Pending {
    score: f64,
    average: f64,
    statistics: [f64; 3],
    /// True if the last rows with it did not pass the gate's limit too often.
    is_normal: bool,
}

/// The last scores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Ring {
    values: Vec<f64>,
    oldest: usize,
    most: usize,
}

impl Ring {
    fn new(values: &[f64], most: usize) -> Self {
        let mut ring = Vec::with_capacity(most);
        ring.extend_from_slice(&values[values.len().saturating_sub(most)..]);
        Self { values: ring, oldest: 0, most }
    }

    fn push(&mut self, value: f64) {
        if self.values.len() < self.most {
            self.values.push(value);
        } else {
            self.values[self.oldest] = value;
            self.oldest = (self.oldest + 1) % self.most;
        }
    }

    fn in_order(&self) -> impl Iterator<Item = f64> {
        let (late, early) = self.values.split_at(self.oldest);
        early.iter().chain(late).copied()
    }

    fn check_state(&self, most: usize) -> Result<(), Error> {
        let fits = !self.values.is_empty() && self.values.len() <= most && self.most == most;
        let is_full = self.values.len() == most;
        ensure(fits && self.oldest < most && (is_full || self.oldest == 0), "a limit must come from the last scores")?;
        entries("scores", &self.values, 0.0..=LARGEST)
    }
}

/// The statistics of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub score: f64,
    pub q: f64,
    pub t2: f64,
    m: f64,
    pub limit: f64,
}

impl Detector {
    /// Fitted to a warm-up: rows in the columns of a matrix.
    pub fn fit(rows: &Matrix, gap: usize, kept: Kept, rule: Limit) -> Self {
        let directions = Directions::fit(rows, 0..0, kept);
        let floors = [directions.floor, 1e-9, 1e-9];
        let statistics = out_of_sample(rows, gap, kept);
        let moments = [0, 1, 2].map(|i| Moments::of(statistics.iter().map(|row| row[i]), floors[i]));
        let scores: Vec<f64> = statistics.iter().map(|row| score(&moments, row)).collect();
        let mut average = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let follow = |s: &f64| {
            average += STEP * (s - average);
            average
        };
        let averages: Vec<f64> = scores.iter().map(follow).collect();
        let most = window(rule);
        let mut detector = Self {
            rule,
            kept,
            gap,
            directions,
            moments,
            scores: Ring::new(&scores, most),
            averages: Ring::new(&averages, most),
            limits: Limits::default(),
            average: scores.iter().sum::<f64>() / scores.len().max(1) as f64,
            passing: 0.0,
            pending: VecDeque::with_capacity(DELAY + 1),
            rows: 0,
            shut: 0,
            closed_rows: Vec::new(),
            warm_up: rows.columns(),
            renewals: 0,
            parts: Scratch::default(),
            working: Scratch::default(),
        };
        detector.set_limits();
        detector
    }

    /// The scores that the limits come from, in the order of their rows.
    pub fn recent_scores(&self) -> impl Iterator<Item = f64> {
        self.scores.in_order()
    }

    /// Finds the limits of the scores in the window.
    fn set_limits(&mut self) {
        let working = &mut self.working.0;
        let tau = working.load(self.averages.in_order());
        let average_gate = working.limit(Limit::Auto(GATE), tau);
        let tau = working.load(self.scores.in_order());
        let (alarm, gate) = (working.limit(self.rule, tau), working.limit(Limit::Auto(GATE), tau));
        self.limits = Limits { alarm, gate, average_gate, tau };
    }

    /// Values of Q and of T² that normal rows pass at the rate of the limit.
    pub fn statistic_limits(&self) -> [f64; 2] {
        let rate = self.rule.rate();
        [self.moments[0].exceeded_with(rate), self.moments[1].exceeded_with(rate)]
    }

    /// The statistics of a row.
    pub fn look(&mut self, row: &[f64]) -> Scored {
        // New directions cost the cube of the length, and the memory is long. They come before a row, so that behind it the
        // directions are still those that it was looked at with.
        if self.rows.is_multiple_of(RENEWAL.max(self.directions.length() as u64 / 4)) {
            self.directions.refresh();
        }
        let statistics = self.directions.look(row, &mut self.parts.0);
        let [q, t2, m] = statistics;
        Scored { score: score(&self.moments, &statistics), q, t2, m, limit: self.limits.alarm }
    }

    /// Learns from the row that was looked at, as far as the mode lets it; `is_sound` is false for a row that must not teach.
    /// True if there was a new warm-up.
    pub fn learn(&mut self, row: &[f64], scored: &Scored, mode: Mode, is_sound: bool) -> bool {
        if matches!(mode, Mode::Freeze(_)) {
            return false;
        }
        let Limits { alarm, gate, average_gate, .. } = self.limits;
        let s = scored.score;
        self.rows += 1;
        self.average += STEP * (s.min(CLIP * alarm) - self.average);
        self.passing += STEP * (f64::from(u8::from(s > gate)) - self.passing);
        let is_open = mode == Mode::Learn;
        if is_open || is_sound && self.average <= average_gate {
            self.directions.learn(row, if is_open || s <= gate { 1.0 } else { gate / s });
            self.shut = 0;
            self.closed_rows.clear();
        } else {
            self.shut += 1;
        }
        let is_calm = is_open || self.passing <= CALM;
        let is_normal = is_open || is_sound && is_calm;
        let statistics = [scored.q, scored.t2, scored.m];
        self.pending.push_back(Pending { score: s, average: self.average, statistics, is_normal });
        if self.pending.len() > DELAY
            && let Some(earlier) = self.pending.pop_front().filter(|earlier| earlier.is_normal && is_calm)
        {
            self.scores.push(earlier.score.min(CLIP * alarm));
            self.averages.push(earlier.average.min(CLIP * average_gate));
            let memory = self.scores.most as f64;
            for (moments, x) in self.moments.iter_mut().zip(earlier.statistics) {
                moments.follow(x, memory);
            }
        }
        if self.rows.is_multiple_of(RENEWAL) {
            self.set_limits();
        }
        self.renew(row)
    }

    /// Collects rows that teach nothing; true if they became the new normal.
    fn renew(&mut self, row: &[f64]) -> bool {
        let wanted = self.warm_up as u64;
        if self.shut == 0 || self.shut + wanted <= LONGEST_CLOSURE {
            return false;
        }
        self.closed_rows.push(row.to_vec());
        if self.shut < LONGEST_CLOSURE || (self.closed_rows.len() as u64) < wanted {
            return false;
        }
        let mut rows = Matrix::zeros(row.len(), 0);
        self.closed_rows.iter().for_each(|row| rows.push_column(row));
        let (renewals, count) = (self.renewals + 1, self.rows);
        *self = Self { renewals, rows: count, ..Self::fit(&rows, self.gap, self.kept, self.rule) };
        true
    }

    /// Checks what was read from bytes, for rows of d numbers.
    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        self.directions.check_state(d)?;
        self.moments.iter().try_for_each(Moments::check_state)?;
        let rate = self.rule.rate();
        ensure(rate > 0.0 && rate < 1.0, "a limit must have a rate between 0 and 1")?;
        self.scores.check_state(window(self.rule))?;
        self.averages.check_state(window(self.rule))?;
        let Limits { alarm, gate, average_gate, tau } = self.limits;
        for limit in [alarm, gate, average_gate, self.average] {
            within("a limit of scores", limit, -LARGEST..=LARGEST)?;
        }
        within("the rows that are worth one", tau, 1.0..=LARGEST)?;
        within("the share of rows that pass", self.passing, 0.0..=1.0)?;
        ensure(self.pending.len() <= DELAY, "rows that wait must be the last ones")?;
        for row in &self.pending {
            entries("statistics of rows that wait", &row.statistics, 0.0..=LARGEST)?;
            entries("scores of rows that wait", &[row.score, row.average], 0.0..=LARGEST)?;
        }
        count("rows of a monitor", self.rows)?;
        count("rows of a monitor", self.shut)?;
        ensure(self.closed_rows.len() <= self.warm_up, "rows of a new warm-up must be as many as those of the first")?;
        self.closed_rows.iter().try_for_each(|row| crate::row::check_row("a row of a warm-up", row, d))
    }
}

fn window(rule: Limit) -> usize {
    if rule.rate() < RARE { LONG_WINDOW } else { WINDOW }
}

fn score(moments: &[Moments; 3], statistics: &[f64; 3]) -> f64 {
    moments.iter().zip(statistics).map(|(moments, x)| -moments.log_p(*x)).sum()
}
