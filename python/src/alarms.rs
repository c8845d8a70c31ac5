//! Results of monitors as arrays and dictionaries.

use crate::arrays::table;
use eigenhedge::{Cause, Monitor, Verdict};
use eigenhedge_pages::monitor::Occurrence;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const CAUSES: usize = 3;
/// Code that marks a missing drift, change or cause.
const NONE: i64 = -1;
/// Upper bound on the number of values per row in the result, without contributions.
pub const NUMBERS: usize = 18;

/// Results for rows, stored column by column.
#[derive(Default)]
pub struct Answers {
    /// Columns `row`, `drift_since` and `change`.
    rows: [Vec<i64>; 3],
    /// Columns `score`, `q`, `t2`, `limit`, `q_limit` and `t2_limit`.
    numbers: [Vec<f64>; 6],
    alarm: Vec<bool>,
    causes: Vec<i64>,
    shares: Vec<f64>,
    contributions: Vec<f64>,
    /// Events, changes and drifts, each with the position of the row that reported it.
    reports: [Vec<(usize, Occurrence)>; 3],
}

impl Answers {
    /// Appends the verdict on the most recent row of the monitor, and what the row revealed. If `contributions` contains
    /// the number of columns, also appends the contribution of each column.
    pub fn enter(&mut self, monitor: &Monitor, verdict: Verdict, found: Vec<Occurrence>, contributions: Option<usize>) {
        let Verdict { row, score, q, t2, limit, alarm, .. } = verdict;
        let place = self.alarm.len();
        let [q_limit, t2_limit] = monitor.statistic_limits(&verdict);
        let or_none = |row: Option<u64>| row.map_or(NONE, |row| row as i64);
        let rows = [row as i64, or_none(verdict.drift_since), or_none(verdict.change.map(|change| change.start))];
        self.rows.iter_mut().zip(rows).for_each(|(column, row)| column.push(row));
        let numbers = [score, q, t2, limit, q_limit, t2_limit];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        self.alarm.push(alarm);
        for i in 0..CAUSES {
            let cause = verdict.causes.get(i).copied().flatten();
            self.causes.push(cause.map_or(NONE, |cause| cause.column as i64));
            self.shares.push(cause.map_or(f64::NAN, |cause| cause.share));
        }
        for one in found {
            let list = match (one.is_change(), one.is_drift()) {
                (true, _) => 1,
                (_, true) => 2,
                _ => 0,
            };
            self.reports[list].push((place, one));
        }
        if let Some(width) = contributions {
            self.contributions.extend(contributions_to_q(monitor, &verdict, width));
        }
    }

    /// Returns a dictionary of arrays by name and of lists of events, drifts and changes. With keys, each list entry
    /// contains the key of its row. `limit` is the limit of the score by the reference alone, `names` are the columns.
    pub fn into_dict<'py>(
        self,
        py: Python<'py>,
        limit: Option<f64>,
        width: Option<usize>,
        (names, keys): (&[String], Option<&[String]>),
    ) -> PyResult<Bound<'py, PyDict>> {
        let (count, found) = (self.alarm.len(), PyDict::new(py));
        for (name, column) in ["row", "drift_since", "change"].into_iter().zip(self.rows) {
            found.set_item(name, column.into_pyarray(py))?;
        }
        for (name, column) in ["score", "q", "t2", "limit", "q_limit", "t2_limit"].into_iter().zip(self.numbers) {
            found.set_item(name, column.into_pyarray(py))?;
        }
        found.set_item("alarm", self.alarm.into_pyarray(py))?;
        found.set_item("causes", self.causes.into_pyarray(py).reshape([count, CAUSES])?)?;
        found.set_item("shares", table(py, self.shares, count, CAUSES)?)?;
        let contributions = width.map(|width| table(py, self.contributions, count, width)).transpose()?;
        found.set_item("contributions", contributions)?;
        found.set_item("reference_limit", limit.unwrap_or(f64::NAN))?;
        for (name, reports) in ["events", "changes", "drifts"].into_iter().zip(self.reports) {
            let dict = |(place, one): (usize, Occurrence)| {
                let report = Report::new(&one, names).into_pyobject(py)?;
                keys.map_or(Ok(()), |keys| report.set_item("key", &keys[place])).map(|()| report)
            };
            found.set_item(name, reports.into_iter().map(dict).collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(found)
    }
}

/// Returns the contribution of each column, summed over lags, to the Q statistic of the most recent row. Returns NaN
/// for each column if the row has no score.
fn contributions_to_q(monitor: &Monitor, verdict: &Verdict, width: usize) -> Vec<f64> {
    if verdict.score.is_nan() {
        return vec![f64::NAN; width];
    }
    let (of_cells, _) = monitor.contributions();
    (0..width).map(|j| of_cells.iter().skip(j).step_by(width).sum()).collect()
}

/// Event, change or drift, with the positions of its causes. It becomes a dictionary in Python.
#[derive(IntoPyObject)]
pub struct Report {
    kind: String,
    start: u64,
    end: u64,
    peak: u64,
    strength: f64,
    alarms: u64,
    causes: Vec<(usize, f64)>,
}

impl Report {
    pub fn new(one: &Occurrence, names: &[String]) -> Self {
        let Occurrence { kind, start, end, peak, alarms, .. } = one;
        let place = |(name, share): &(String, f64)| Some((names.iter().position(|other| other == name)?, *share));
        Self {
            kind: kind.clone(),
            start: *start,
            end: *end,
            peak: *peak,
            strength: if one.is_drift() { f64::NAN } else { one.strength },
            alarms: *alarms,
            causes: one.causes.iter().filter_map(place).collect(),
        }
    }
}

/// Returns the causes as pairs of column position and share.
pub fn pairs(causes: &[Option<Cause>]) -> Vec<(usize, f64)> {
    causes.iter().flatten().map(|cause| (cause.column, cause.share)).collect()
}
