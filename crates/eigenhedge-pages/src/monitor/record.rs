//! Chart data of a monitor, recorded in bounded memory.
//!
//! An interval of rows is represented by the row with the largest score, and by the extremes of each column.

use crate::downsample::{Downsampler, Keep};
use eigenhedge::{Monitor, Verdict};
use serde::{Deserialize, Serialize};

const POINTS: usize = 750;
const CELLS: usize = 240;
/// Number of values per row: score, limit, Q, its limit, T², its limit, alarm, incident and time.
pub(super) const NUMBERS: usize = 9;
pub(super) const ALARM: usize = 6;
pub(super) const INCIDENT: usize = 7;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub rows: Downsampler,
    /// Score, then the contributions of the columns relative to the limit of Q.
    pub cells: Downsampler,
    /// Smallest values of the columns in an interval of rows, then the largest values.
    pub signals: Downsampler,
    /// Mean and standard deviation of each column in the reference, or empty if unknown.
    pub usual: Vec<[f64; 2]>,
    /// False once a time was earlier than the previous one.
    pub is_in_order: bool,
    last_time: f64,
    #[serde(skip)]
    buffer: Vec<f64>,
}

/// Maximum number of columns. Column values of wider rows are not recorded.
pub(super) const SIGNALS: usize = 1000;

fn signals(width: usize) -> usize {
    if width <= SIGNALS { width } else { 0 }
}

const KEYS: usize = 200;
const KEY_POINTS: usize = 200;
const KEY_CELLS: usize = 60;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Records {
    width: usize,
    by_key: bool,
    records: Vec<Record>,
}

impl Records {
    pub fn new(width: usize, by_key: bool) -> Self {
        Self { width, by_key, records: Vec::new() }
    }

    pub fn of(&mut self, place: usize) -> Option<&mut Record> {
        let (points, cells) = if self.by_key { (KEY_POINTS, KEY_CELLS) } else { (POINTS, CELLS) };
        while self.records.len() <= place && self.records.len() < KEYS {
            self.records.push(Record::new(self.width, points, cells));
        }
        self.records.get_mut(place)
    }

    pub fn get(&self, place: usize) -> Option<&Record> {
        self.records.get(place)
    }

    pub fn fits(&self, width: usize) -> bool {
        let mut new = Self::new(self.width, self.by_key);
        let is_like = |record: &Record| new.of(0).is_some_and(|new| record.is_like(new));
        self.width == width && self.records.len() <= KEYS && self.records.iter().all(is_like)
    }
}

impl Record {
    fn new(width: usize, points: usize, cells: usize) -> Self {
        Self {
            rows: Downsampler::new(Keep::Largest, points, NUMBERS),
            cells: Downsampler::new(Keep::Largest, cells, 1 + width),
            signals: Downsampler::new(Keep::Extremes, points / 2, 2 * signals(width)),
            usual: Vec::new(),
            is_in_order: true,
            last_time: f64::NEG_INFINITY,
            buffer: Vec::new(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.rows.is_like(&other.rows) && self.cells.is_like(&other.cells) && self.signals.is_like(&other.signals)
    }

    pub fn enter(&mut self, verdict: &Verdict, time: Option<f64>, raw: &[f64], monitor: &Monitor) {
        let Verdict { row, score, q, t2, alarm, incident, .. } = *verdict;
        let [q_limit, t2_limit] = monitor.statistic_limits(verdict);
        let limit = monitor.limit().filter(|_| !score.is_nan()).unwrap_or(f64::NAN);
        let flag = |is: bool| f64::from(u8::from(is));
        let (alarm, incident) = (flag(alarm), flag(incident.is_some()));
        self.rows.push(row, &[score, limit, q, q_limit, t2, t2_limit, alarm, incident, time.unwrap_or(f64::NAN)]);
        // A warm-up row has neither a score nor contributions. The missing values become NaN.
        let shares = monitor.column_contributions(verdict).iter().filter(|_| !score.is_nan());
        self.buffer.clear();
        self.buffer.extend(std::iter::once(score).chain(shares.map(|share| share / q_limit)));
        self.cells.push(row, &self.buffer);
        let values = &raw[..signals(raw.len())];
        if self.usual.is_empty() || verdict.accepted {
            let standardizer = &monitor.columns().standardizer;
            let usual = standardizer.mean().zip(standardizer.scale()).map(|(mean, scale)| [mean, scale]);
            self.usual = usual.take(values.len()).collect();
        }
        self.buffer.clear();
        self.buffer.extend(values.iter().chain(values));
        self.signals.push(row, &self.buffer);
        if let Some(time) = time {
            self.is_in_order &= time >= self.last_time;
            self.last_time = time;
        }
    }

    pub fn scores(&self) -> (Vec<f64>, Vec<bool>) {
        (self.rows.curve("", 0).values, self.rows.curve("", ALARM).values.iter().map(|is| *is > 0.0).collect())
    }
}
