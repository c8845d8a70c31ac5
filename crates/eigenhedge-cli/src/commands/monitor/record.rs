//! The data of a page of a monitor, recorded on the way in bounded memory.
//!
//! Of each stretch of rows, the one with the largest score is kept.

use super::occurrence::Occurrence;
use super::session::Finished;
use crate::args::MonitorArgs;
use crate::files::file_name;
use crate::number::readable;
use eigenhedge::{Monitor, Verdict};
use eigenhedge_io::printable;
use eigenhedge_report::number::grouped;
use eigenhedge_report::{Curve, Downsampler, Keep, Mark, MonitorReport, Table, Watched};
use serde::{Deserialize, Serialize};

/// Points of a curve.
const POINTS: usize = 750;
/// Moments in the picture of contributions.
const CELLS: usize = 240;
/// Events and changes that are marked, and that are listed.
const MARKED: usize = 12;
const LISTED: usize = 25;
/// Numbers that are recorded for each row: score, limit of the reference, q, its limit, t2, its limit, alarm, drift, time.
const NUMBERS: usize = 9;
const ALARM: usize = 6;
const DRIFT: usize = 7;

/// Records a monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    rows: Downsampler,
    /// Score, then contributions in limits of Q.
    cells: Downsampler,
    /// False once a row was earlier than the one before: rows are then the axis.
    is_in_order: bool,
    last_time: f64,
}

/// Keys that have charts of their own, at most; and points and moments of each.
const KEYS: usize = 200;
const KEY_POINTS: usize = 200;
const KEY_CELLS: usize = 60;

/// The records of all monitors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    width: usize,
    by_key: bool,
    records: Vec<Record>,
}

impl Records {
    /// For rows of this many columns, of one monitor or of one for each key.
    pub fn new(width: usize, by_key: bool) -> Self {
        Self { width, by_key, records: Vec::new() }
    }

    /// The record of the key at this position; none if there are too many keys.
    pub fn of(&mut self, place: usize) -> Option<&mut Record> {
        let (points, cells) = if self.by_key { (KEY_POINTS, KEY_CELLS) } else { (POINTS, CELLS) };
        while self.records.len() <= place && self.records.len() < KEYS {
            self.records.push(Record::new(self.width, points, cells));
        }
        self.records.get_mut(place)
    }

    /// The record of one monitor.
    pub fn get(&self, place: usize) -> Option<&Record> {
        self.records.get(place)
    }

    /// True if they are for rows of this many columns.
    pub fn fits(&self, width: usize) -> bool {
        let mut new = Self::new(self.width, self.by_key);
        let is_like = |record: &Record| new.of(0).is_some_and(|new| record.is_like(new));
        self.width == width && self.records.len() <= KEYS && self.records.iter().all(is_like)
    }
}

impl Record {
    /// For rows of this many columns.
    fn new(width: usize, points: usize, cells: usize) -> Self {
        Self {
            rows: Downsampler::new(Keep::Largest, points, NUMBERS),
            cells: Downsampler::new(Keep::Largest, cells, 1 + width),
            is_in_order: true,
            last_time: f64::NEG_INFINITY,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.rows.is_like(&other.rows) && self.cells.is_like(&other.cells)
    }

    /// Enters the row that the monitor looked at last.
    pub fn enter(&mut self, verdict: &Verdict, time: Option<f64>, _row: &[f64], monitor: &Monitor) {
        let Verdict { row, score, q, t2, alarm, drift_since, .. } = *verdict;
        let [q_limit, t2_limit] = monitor.statistic_limits(verdict);
        let limit = monitor.limit().filter(|_| !score.is_nan()).unwrap_or(f64::NAN);
        let flag = |is: bool| f64::from(u8::from(is));
        let (alarm, drift) = (flag(alarm), flag(drift_since.is_some()));
        self.rows.push(row, &[score, limit, q, q_limit, t2, t2_limit, alarm, drift, time.unwrap_or(f64::NAN)]);
        let shares = monitor.column_contributions(verdict).iter().map(|share| share / q_limit);
        self.cells.push(row, &std::iter::once(score).chain(shares).collect::<Vec<_>>());
        if let Some(time) = time {
            self.is_in_order &= time >= self.last_time;
            self.last_time = time;
        }
    }

    /// The page.
    pub fn page(&self, finished: &Finished, args: &MonitorArgs, account: &str) -> MonitorReport {
        let curve = |index: usize| self.rows.curve(index).1;
        let watched = |place: usize, title: &str, name: &str, caption: &str| Watched {
            title: title.into(),
            name: name.into(),
            caption: caption.into(),
            values: curve(place),
            limits: curve(place + 1),
            marked: Vec::new(),
        };
        let flagged = |name: &str, flag: usize| {
            let values = curve(0).into_iter().zip(curve(flag));
            (name.to_owned(), values.map(|(score, is)| if is > 0.0 { score } else { f64::NAN }).collect())
        };
        let mut score = watched(0, "Score", "score", SCORE);
        score.marked = vec![flagged("drift", DRIFT), flagged("alarm", ALARM)];
        let facts = account.lines().map(|line| line.split_at(line.len().min(11)));
        let columns = finished.stream.columns().iter().enumerate();
        let (times, has_times) =
            (Curve::of(args.time.as_deref().unwrap_or("time"), &self.rows, NUMBERS - 1), args.time.is_some());
        MonitorReport {
            title: format!("eigenhedge monitor: {}", file_name(&finished.stream.source())),
            subtitle: "Scores, alarms, drift, changes and causes".into(),
            facts: facts
                .filter(|(name, _)| !["", "next", "report", "list"].contains(&name.trim()))
                .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
                .collect(),
            rows: self.rows.curve(0).0,
            watched: vec![
                score,
                watched(2, "Distance from the directions (Q)", "Q", STATISTIC),
                watched(4, "Place along the directions (T²)", "T²", STATISTIC),
            ],
            marks: strongest(&finished.listed, MARKED).into_iter().map(mark).collect(),
            cell_rows: self.cells.curve(0).0,
            contributions: columns.map(|(j, name)| (name.clone(), self.cells.curve(j + 1).1)).collect(),
            worst: table(&finished.listed),
            times: (has_times && self.is_in_order).then_some(times),
        }
    }
}

const SCORE: &str = "How unusual each row is compared with the reference. The asked share of rows like the reference pass the \
                     dashed limit. An alarm is also unusual compared with the last rows. A drift is a level that has left the \
                     reference. Where many rows share a pixel, the one with the largest score is shown. Vertical lines are \
                     events, with the column that caused them, drifts and changes.";
const STATISTIC: &str =
    "Normal rows pass the limit as often as alarms were asked for. Alarms come from the score alone.";

/// The strongest events and changes and the first drifts, a third of each if there are that many, in the order of their rows.
fn strongest(listed: &[Occurrence], most: usize) -> Vec<&Occurrence> {
    let of = |is_change: bool, most: usize| {
        let mut all: Vec<&Occurrence> =
            listed.iter().filter(|one| one.is_change() == is_change && !one.is_drift()).collect();
        all.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        all.truncate(most);
        all
    };
    let changes = of(true, most / 3);
    let mut drifts: Vec<&Occurrence> = listed.iter().filter(|one| one.is_drift()).collect();
    drifts.truncate(most / 3);
    let mut all = of(false, most - changes.len() - drifts.len());
    all.extend(changes);
    all.extend(drifts);
    all.sort_by_key(|one| one.start);
    all
}

fn mark(one: &Occurrence) -> Mark {
    let cause = one.causes.first().map_or(String::new(), |(name, _)| printable(name));
    let label = match one.kind.as_str() {
        "rise" | "fall" => "change".to_owned(),
        "drift" => format!("drift {cause}"),
        "returned" => "returned".to_owned(),
        "accepted" => "accepted".to_owned(),
        _ => cause,
    };
    let row = if one.kind == "returned" { one.end } else { one.start };
    Mark { x: row as f64, label }
}

/// The strongest events and changes with their causes.
fn table(listed: &[Occurrence]) -> Table {
    let line = |one: &Occurrence| {
        let causes = one.causes.iter().map(|(name, share)| format!("{} ({:.0} %)", printable(name), 100.0 * share));
        let time = if one.start_time.is_empty() { String::new() } else { printable(&one.start_time) };
        vec![
            one.kind.clone(),
            grouped(one.start),
            grouped(one.end),
            time,
            if one.is_drift() { String::new() } else { readable(one.strength) },
            causes.collect::<Vec<_>>().join(", "),
        ]
    };
    let columns = ["kind", "first row", "last row", "time", "strength", "causes (share)"];
    Table {
        title: "Worst moments".into(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: strongest(listed, LISTED).into_iter().map(line).collect(),
        ..Table::default()
    }
}
