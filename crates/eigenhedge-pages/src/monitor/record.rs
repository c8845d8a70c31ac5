//! Data for the page of a monitor, recorded during the run in bounded memory.
//!
//! Each interval of rows is represented by its row with the largest score.

use super::occurrence::Occurrence;
use crate::number::readable;
use eigenhedge::{Monitor, Verdict};
use eigenhedge_io::printable;
use eigenhedge_report::number::grouped;
use eigenhedge_report::{Curve, Downsampler, Keep, Moment, MonitorReport, Table, Watched};
use serde::{Deserialize, Serialize};

/// Maximum number of points of a curve.
const POINTS: usize = 750;
/// Maximum number of rows in the heat map of contributions.
const CELLS: usize = 240;
/// Maximum number of events, drifts and changes that are marked in charts.
const MARKED: usize = 12;
/// Maximum number of events, drifts and changes in the table.
const LISTED: usize = 25;
/// Number of values recorded per row: score, limit of the reference, Q, its limit, T², its limit, alarm, drift and
/// time.
const NUMBERS: usize = 9;
/// Index of the alarm flag among the recorded values.
const ALARM: usize = 6;
/// Index of the drift flag among the recorded values.
const DRIFT: usize = 7;

/// Downsampled results of one monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Values listed at [`NUMBERS`].
    rows: Downsampler,
    /// Score, and contribution of each column relative to the limit of Q.
    cells: Downsampler,
    /// Values of the columns at evenly spaced rows.
    signals: Downsampler,
    /// False if the times are not in order. The axis then shows row numbers.
    is_in_order: bool,
    last_time: f64,
    /// Buffer for the score and the contributions of a row.
    #[serde(skip)]
    buffer: Vec<f64>,
}

/// Maximum number of columns whose values are recorded. If a row has more columns, no values are recorded.
const SIGNALS: usize = 1000;

/// Returns the number of columns whose values are recorded.
fn signals(width: usize) -> usize {
    if width <= SIGNALS { width } else { 0 }
}

/// Maximum number of keys with charts of their own.
const KEYS: usize = 200;
/// Maximum number of points of a curve of one key.
const KEY_POINTS: usize = 200;
/// Maximum number of heat-map rows of one key.
const KEY_CELLS: usize = 60;

/// Records of one monitor, or of the first keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Records {
    width: usize,
    by_key: bool,
    records: Vec<Record>,
}

impl Records {
    /// Creates empty records for `width` columns, for one monitor or one per key.
    pub fn new(width: usize, by_key: bool) -> Self {
        Self { width, by_key, records: Vec::new() }
    }

    /// Returns the record of the key at this position, and creates it if necessary. Returns `None` beyond the first
    /// `KEYS` keys.
    pub fn of(&mut self, place: usize) -> Option<&mut Record> {
        let (points, cells) = if self.by_key { (KEY_POINTS, KEY_CELLS) } else { (POINTS, CELLS) };
        while self.records.len() <= place && self.records.len() < KEYS {
            self.records.push(Record::new(self.width, points, cells));
        }
        self.records.get_mut(place)
    }

    /// Returns the record at this position, or `None` if there is none.
    pub fn get(&self, place: usize) -> Option<&Record> {
        self.records.get(place)
    }

    /// Returns true if the records are for rows with `width` columns.
    pub fn fits(&self, width: usize) -> bool {
        let mut new = Self::new(self.width, self.by_key);
        let is_like = |record: &Record| new.of(0).is_some_and(|new| record.is_like(new));
        self.width == width && self.records.len() <= KEYS && self.records.iter().all(is_like)
    }
}

impl Record {
    /// Creates an empty record for `width` columns.
    fn new(width: usize, points: usize, cells: usize) -> Self {
        Self {
            rows: Downsampler::new(Keep::Largest, points, NUMBERS),
            cells: Downsampler::new(Keep::Largest, cells, 1 + width),
            signals: Downsampler::new(Keep::First, points, signals(width)),
            is_in_order: true,
            last_time: f64::NEG_INFINITY,
            buffer: Vec::new(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.rows.is_like(&other.rows) && self.cells.is_like(&other.cells) && self.signals.is_like(&other.signals)
    }

    /// Records the row that the monitor processed most recently.
    pub fn enter(&mut self, verdict: &Verdict, time: Option<f64>, raw: &[f64], monitor: &Monitor) {
        let Verdict { row, score, q, t2, alarm, drift_since, .. } = *verdict;
        let [q_limit, t2_limit] = monitor.statistic_limits(verdict);
        let limit = monitor.limit().filter(|_| !score.is_nan()).unwrap_or(f64::NAN);
        let flag = |is: bool| f64::from(u8::from(is));
        let (alarm, drift) = (flag(alarm), flag(drift_since.is_some()));
        self.rows.push(row, &[score, limit, q, q_limit, t2, t2_limit, alarm, drift, time.unwrap_or(f64::NAN)]);
        // A row of the warm-up has neither a score nor contributions. Missing numbers become NaN.
        let shares = monitor.column_contributions(verdict).iter().filter(|_| !score.is_nan());
        self.buffer.clear();
        self.buffer.extend(std::iter::once(score).chain(shares.map(|share| share / q_limit)));
        self.cells.push(row, &self.buffer);
        self.signals.push(row, &raw[..signals(raw.len())]);
        if let Some(time) = time {
            self.is_in_order &= time >= self.last_time;
            self.last_time = time;
        }
    }

    /// Returns the score of each interval, and a flag that is true for an alarm.
    pub fn scores(&self) -> (Vec<f64>, Vec<bool>) {
        (self.rows.curve(0).1, self.rows.curve(ALARM).1.iter().map(|is| *is > 0.0).collect())
    }

    /// Builds the charts of a monitor. `columns` are the names of its columns, and `listed` are its events. If `all` is
    /// true, Q, T² and contributions are included.
    pub fn report(&self, columns: &[String], time: Option<&str>, listed: &[&Occurrence], all: bool) -> MonitorReport {
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
        let mut charts = vec![score];
        if all {
            charts.push(watched(2, "Distance from the directions (Q)", "Q", STATISTIC));
            charts.push(watched(4, "Place along the directions (T²)", "T²", STATISTIC));
        }
        let cells = |index: usize| self.cells.curve(index).1;
        let contributions = columns.iter().enumerate().map(|(j, name)| (name.clone(), cells(j + 1)));
        let times = time.map(|name| Curve::of(name, &self.rows, NUMBERS - 1));
        MonitorReport {
            rows: self.rows.curve(0).0,
            watched: charts,
            moments: strongest(listed, MARKED).into_iter().map(moment).collect(),
            cell_rows: self.cells.curve(0).0,
            contributions: if all { contributions.collect() } else { Vec::new() },
            signal_rows: self.signals.curve(0).0,
            signals: match columns.len() <= SIGNALS {
                true => worst_columns(columns, listed, if all { 4 } else { 2 })
                    .into_iter()
                    .map(|j| (columns[j].clone(), self.signals.curve(j).1))
                    .collect(),
                false => Vec::new(),
            },
            worst: table(listed),
            times: times.filter(|_| self.is_in_order),
            ..MonitorReport::default()
        }
    }
}

/// Returns at most `most` columns: first the causes of an ongoing drift, then those with the largest total share.
fn worst_columns(columns: &[String], listed: &[&Occurrence], most: usize) -> Vec<usize> {
    let mut shares = vec![0.0; columns.len()];
    for (name, share) in listed.iter().flat_map(|one| &one.causes) {
        if let Some(j) = columns.iter().position(|column| column == name) {
            shares[j] += share;
        }
    }
    let mut order: Vec<usize> = (0..columns.len()).filter(|j| shares[*j] > 0.0).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let drift = listed.iter().rev().find(|one| one.is_drift()).filter(|one| one.kind == "drift");
    let of_drift = |j: &usize| drift.and_then(|one| one.causes.iter().position(|(name, _)| *name == columns[*j]));
    order.sort_by_key(|j| of_drift(j).unwrap_or(usize::MAX));
    order.truncate(most);
    order
}

const SCORE: &str = "How unusual each row is compared with the reference. The dashed line is the limit of the reference: about the \
                     asked share of rows like it lie above. An alarm stands out from the reference and from the last rows, so it \
                     may lie below the line. Drift: the level has left the reference. Where many rows share a pixel, the one \
                     with the largest score is shown. Vertical lines are the strongest events, drifts and changes.";
const STATISTIC: &str = "The limit is estimated from the reference. Alarms come from the score, not from this chart.";

/// Returns at most `most` entries in the order of rows: the strongest events and changes, and the most recent drifts.
/// Changes and drifts take at most a third each.
fn strongest<'a>(listed: &[&'a Occurrence], most: usize) -> Vec<&'a Occurrence> {
    let of = |is_change: bool, most: usize| {
        let mut all: Vec<&'a Occurrence> =
            listed.iter().copied().filter(|one| one.is_change() == is_change && !one.is_drift()).collect();
        all.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        all.truncate(most);
        all
    };
    let changes = of(true, most / 3);
    let drifts: Vec<&'a Occurrence> = listed.iter().copied().filter(|one| one.is_drift()).collect();
    let drifts = drifts[drifts.len().saturating_sub(most / 3)..].to_vec();
    let mut all = of(false, most - changes.len() - drifts.len());
    all.extend(changes);
    all.extend(drifts);
    all.sort_by_key(|one| one.start);
    all
}

fn moment(one: &Occurrence) -> Moment {
    let cause = one.causes.first().map_or(String::new(), |(name, _)| printable(name));
    let label = match one.kind.as_str() {
        "rise" | "fall" => "change".to_owned(),
        "drift" => format!("drift {cause}"),
        "returned" => "returned".to_owned(),
        "accepted" => "accepted".to_owned(),
        _ => cause,
    };
    let (row, time) = if one.kind == "returned" { (one.end, None) } else { (one.start, one.start_seconds) };
    Moment { row: row as f64, time, label }
}

/// Builds the table of the strongest events, drifts and changes, with their causes.
fn table(listed: &[&Occurrence]) -> Table {
    let line = |one: &Occurrence| {
        let causes = one.causes.iter().map(|(name, share)| format!("{} ({:.0} %)", printable(name), 100.0 * share));
        let time = if one.start_time.is_empty() { String::new() } else { printable(&one.start_time) };
        vec![
            one.kind.clone(),
            causes.collect::<Vec<_>>().join(", "),
            time,
            grouped(one.start),
            grouped(one.end),
            if one.is_drift() { String::new() } else { readable(one.strength) },
        ]
    };
    let columns = ["kind", "causes (share)", "time", "first row", "last row", "strength"];
    Table {
        title: "Events, drifts and changes, in the order of their rows".into(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: strongest(listed, LISTED).into_iter().map(line).collect(),
        caption: match listed.len().saturating_sub(LISTED) {
            0 => STRENGTH.into(),
            more => format!("{STRENGTH} {more} weaker entries are left out."),
        },
        ..Table::default()
    }
}

const STRENGTH: &str = "Strength: the largest score of an event; for a change, how much more likely the new level is than the old \
                        one (a logarithm). A share is the part of the squared deviations that a column accounts for.";
