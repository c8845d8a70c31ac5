//! Monitors of a stream: a single one with an empty key, or one per key.

use super::models::LISTED;
use super::notice::{Notice, Notices};
use super::outcome::{Counts, Outcome, refused};
use super::record::Record;
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::options::spelled;
use eigenhedge::{Error, Fleet, Monitor, MonitorOptions, MonitorTotals, POOL_PARTS};
use eigenhedge_io::{json_cells, verdict_cells, verdict_columns};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Builds monitors for rows of this shape.
pub fn fresh(options: &MonitorOptions, shape: &Shape, by_key: bool) -> Result<Fleet<Monitor>, Problem> {
    let fits = |error: Error| match error {
        Error::Kept { kept, dimension } => Problem::unsound(format!(
            "k must be less than the number of selected columns times lags, {dimension}, got {kept}"
        )),
        error => Problem::unsound(spelled(&error, |name| name.replace('-', "_"))),
    };
    let monitor = Monitor::new(options.clone(), shape.width).map_err(fits)?.with_names(shape.names.clone());
    if by_key { Fleet::of_monitors(monitor) } else { Fleet::new(monitor) }.map_err(fits)
}

/// Returns the key and the time of a row. The key of a single monitor is empty.
fn beside<'a>(rows: &'a Rows, i: usize, shape: &Shape) -> (&'a str, &'a str) {
    let text = |place: usize| rows.texts(i).get(place).map_or("", String::as_str);
    (shape.key.map_or("", text), if shape.has_time { text(0) } else { "" })
}

/// Scores rows and learns from them.
pub fn learn(
    fleet: &mut Fleet<Monitor>,
    rows: &Rows,
    first: u64,
    shape: &Shape,
    (notices, record): (&mut Notices, &mut Record),
    outcome: &mut Outcome,
) {
    let columns = verdict_columns(&shape.kept);
    let names: Vec<String> = (0..shape.width).map(|column| shape.name(column)).collect();
    for i in 0..rows.count() {
        let number = first + rows.number(i);
        let (key, time) = beside(rows, i, shape);
        let row = rows.row(i);
        let looked = fleet.with_pool(key, row, POOL_PARTS, |monitor| {
            let verdict = monitor.step_numbered(number, row)?;
            Ok((verdict, monitor.open_event().map(|event| event.start), monitor.limit().unwrap_or(f64::NAN)))
        });
        match looked {
            Ok((verdict, event_start, limit)) => {
                json_cells(&columns, &verdict_cells(&verdict, rows.texts(i), &names), &mut outcome.answers);
                outcome.learned += 1;
                outcome.alarms += u64::from(verdict.alarm);
                record.enter_score(number, verdict.score, limit);
                outcome.score = Some(verdict.score).filter(|score| score.is_finite());
                let found = Notice::of_row(&verdict, event_start, key, time, &names);
                found.into_iter().for_each(|notice| notices.push(notice));
            }
            Err(error @ Error::Store(_)) => return outcome.broken = Some(error.to_string()),
            Err(error) => {
                let (sentence, column) = refused(&error, shape);
                outcome.refuse(number, rows.number(i), &sentence, column);
            }
        }
    }
}

/// Scores rows with copies of the monitors, so that nothing is learned.
pub fn score(fleet: &mut Fleet<Monitor>, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
    let columns = verdict_columns(&shape.kept);
    let names: Vec<String> = (0..shape.width).map(|column| shape.name(column)).collect();
    let mut copies: HashMap<&str, Monitor> = HashMap::new();
    for i in 0..rows.count() {
        let (key, _) = beside(rows, i, shape);
        let number = rows.number(i);
        if !copies.contains_key(key) {
            match fleet.get(key) {
                Ok(Some(monitor)) if monitor.is_ready() => _ = copies.insert(key, monitor.frozen()),
                Ok(Some(_)) => {
                    outcome.refuse(number, number, "the monitor must be past its warm-up to score rows", None);
                    continue;
                }
                Ok(None) => {
                    let sentence = format!("the key must be one that has had rows, got {key:?}");
                    outcome.refuse(number, number, &sentence, None);
                    continue;
                }
                Err(error) => {
                    outcome.refuse(number, number, &error.to_string(), None);
                    continue;
                }
            }
        }
        let Some(monitor) = copies.get_mut(key) else { continue };
        match monitor.step_numbered(number, rows.row(i)) {
            Ok(verdict) => {
                json_cells(&columns, &verdict_cells(&verdict, rows.texts(i), &names), &mut outcome.answers);
                outcome.learned += 1;
            }
            Err(error) => {
                let (sentence, column) = refused(&error, shape);
                outcome.refuse(number, number, &sentence, column);
            }
        }
    }
}

/// Returns the summary of all monitors, or of one key.
pub fn summary(
    fleet: &mut Fleet<Monitor>,
    counts: &Counts,
    notices: &Notices,
    key: Option<&str>,
) -> Result<Value, Error> {
    let keys: Vec<String> = match key {
        Some(key) => fleet.position(key).map(|_| key.to_owned()).into_iter().collect(),
        None => fleet.keys().map(str::to_owned).collect(),
    };
    let mut totals = MonitorTotals::default();
    let mut monitors = Vec::new();
    for key in &keys {
        let state = fleet.with(key, |monitor| {
            totals.add_since(&MonitorTotals::default(), &monitor.totals());
            Ok(state(key, monitor))
        })?;
        if monitors.len() < LISTED {
            monitors.push(state);
        }
    }
    let listed: Vec<&Notice> = notices.after(0).filter(|notice| key.is_none_or(|key| notice.key == key)).collect();
    Ok(json!({
        "rows": totals.rows,
        "skipped_rows": counts.skipped + totals.passed_over,
        "scored_rows": totals.scored,
        "alarms": totals.alarms,
        "events": totals.events,
        "changes": totals.changes,
        "drift_rows": totals.drift_rows,
        "drifts": totals.drifts,
        "accepted": totals.accepted,
        "keys": keys.len(),
        "monitors": monitors,
        "listed": listed,
    }))
}

/// Returns the state of one key's monitor.
fn state(key: &str, monitor: &Monitor) -> Value {
    let totals = monitor.totals();
    json!({
        "key": key,
        "warm_up": totals.warm_up,
        "waiting_rows": monitor.waiting_rows(),
        "rows": totals.rows,
        "alarms": totals.alarms,
        "directions": monitor.directions(),
        "lags": monitor.lags(),
        "differences": monitor.has_differences(),
        "limit": monitor.limit(),
        "borrowed_reference": monitor.is_borrowed(),
        "drift_rows": totals.drift_rows,
        "drift_since": monitor.open_drift().map(|report| report.since),
    })
}
