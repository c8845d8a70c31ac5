//! Results of monitors as arrays and dictionaries.

use crate::arrays::table;
use crate::classes::dictionary;
use eigenhedge::{Monitor, Verdict, grade};
use eigenhedge_pages::monitor::{Journal, Occurrence};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const CAUSES: usize = 3;
const NONE: i64 = -1;
/// Upper bound on the number of values in the result per input row, without contributions.
pub const NUMBERS: usize = 18;

#[derive(Default)]
pub struct Answers {
    rows: [Vec<i64>; 3],
    numbers: [Vec<f64>; 6],
    alarm: Vec<bool>,
    causes: Vec<i64>,
    shares: Vec<f64>,
    contributions: Vec<f64>,
    reports: [Vec<Occurrence>; 3],
}

impl Answers {
    /// Appends the verdict on the most recent row of the monitor. `contributions` is the number of columns, or `None`
    /// to leave out the contributions to Q.
    pub fn enter(&mut self, monitor: &Monitor, verdict: Verdict, found: Vec<Occurrence>, contributions: Option<usize>) {
        let Verdict { row, score, q, t2, limit, alarm, .. } = verdict;
        let [q_limit, t2_limit] = monitor.statistic_limits(&verdict);
        let or_none = |row: Option<u64>| row.map_or(NONE, |row| row as i64);
        let rows = [row as i64, or_none(verdict.incident), or_none(verdict.change.map(|change| change.start))];
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
            let list = match (one.is_event(), one.is_incident()) {
                (true, _) => 0,
                (_, true) => 2,
                _ => 1,
            };
            self.reports[list].push(one);
        }
        if let Some(width) = contributions {
            self.contributions.extend(contributions_to_q(monitor, &verdict, width));
        }
    }

    pub fn enter_incidents(&mut self, journal: &Journal, names: &[String]) {
        self.reports[2].extend(journal.open_incidents(names).into_iter().chain(journal.closing_incidents(names)));
    }

    pub fn into_dict<'py>(
        self,
        py: Python<'py>,
        limit: Option<f64>,
        width: Option<usize>,
        (names, by_key): (&[String], bool),
    ) -> PyResult<Bound<'py, PyDict>> {
        let count = self.alarm.len();
        let [row, incident, change] = self.rows.map(|column| column.into_pyarray(py));
        let [score, q, t2, limits, q_limit, t2_limit] = self.numbers.map(|column| column.into_pyarray(py));
        let [events, changes, incidents] = self.reports.map(|reports| {
            let dict = |one: Occurrence| {
                let report = report(py, &one, names)?;
                if by_key {
                    report.set_item("key", &one.key)?;
                }
                PyResult::Ok(report)
            };
            reports.into_iter().map(dict).collect::<PyResult<Vec<_>>>()
        });
        Ok(dictionary! { py;
            "row": row, "incident": incident, "change": change,
            "score": score, "q": q, "t2": t2, "limit": limits, "q_limit": q_limit, "t2_limit": t2_limit,
            "alarm": self.alarm.into_pyarray(py), "causes": self.causes.into_pyarray(py).reshape([count, CAUSES])?,
            "shares": table(py, self.shares, count, CAUSES)?,
            "contributions": width.map(|width| table(py, self.contributions, count, width)).transpose()?,
            "reference_limit": limit.unwrap_or(f64::NAN),
            "events": events?, "changes": changes?, "incidents": incidents?,
        })
    }
}

/// Returns the contributions of the columns, summed over lags, or NaN for a row without a score.
fn contributions_to_q(monitor: &Monitor, verdict: &Verdict, width: usize) -> Vec<f64> {
    if verdict.score.is_nan() {
        return vec![f64::NAN; width];
    }
    let (of_cells, _) = monitor.contributions();
    (0..width).map(|j| of_cells.iter().skip(j).step_by(width).sum()).collect()
}

/// Returns an event, a change or an incident as a dictionary. Python code adds the times.
pub fn report<'py>(py: Python<'py>, one: &Occurrence, names: &[String]) -> PyResult<Bound<'py, PyDict>> {
    let Occurrence { kind, start, end, peak, strength, alarms, .. } = one;
    let place = |(name, share): &(String, f64)| Some((names.iter().position(|other| other == name)?, *share));
    let causes: Vec<(usize, f64)> = one.causes.iter().filter_map(place).collect();
    let Some(facts) = &one.incident else {
        let strength = if kind == "accepted" { f64::NAN } else { *strength };
        return Ok(dictionary! { py;
            "kind": kind, "start": start, "end": end, "start_time": None::<f64>, "end_time": None::<f64>, "peak": peak,
            "strength": strength, "alarms": alarms, "causes": causes,
        });
    };
    Ok(dictionary! { py;
        "incident": facts.number, "start": start, "reported": facts.reported, "end": facts.is_over.then_some(end),
        "start_time": None::<f64>, "reported_time": None::<f64>, "end_time": None::<f64>, "severity": strength,
        "grade": grade(*strength), "signs": facts.signs.split(' ').collect::<Vec<_>>(),
        "rows": facts.rows, "alarms": alarms, "peak": peak, "causes": causes,
    })
}
