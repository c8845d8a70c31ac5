//! Monitors of a stream: a single one with an empty key, or one per key.

use super::models::{LISTED, misfit};
use super::notice::Notices;
use super::outcome::Outcome;
use super::silence::Arrival;
use crate::service::notice_rules::NoticeRules;
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::{Error, Fleet, Monitor, MonitorOptions, POOL_PARTS};
use eigenhedge_io::{json_cells, verdict_cells, verdict_columns};
use eigenhedge_pages::monitor::{Journal, Notice, Occurrence, RowAt, json};
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub fn fresh(options: &MonitorOptions, shape: &Shape, by_key: bool) -> Result<Fleet<Monitor>, Problem> {
    let fits = misfit("selected columns times (lags + 1)");
    let monitor = Monitor::new(options.clone(), shape.width).map_err(&fits)?.with_names(shape.names.clone());
    if by_key { Fleet::of_monitors(monitor) } else { Fleet::new(monitor) }.map_err(fits)
}

pub struct Monitors {
    pub fleet: Box<Fleet<Monitor>>,
    pub journal: Journal,
}

impl Monitors {
    pub fn new(fleet: Fleet<Monitor>, by_key: bool) -> Self {
        let journal = Journal::default().with_charts(fleet.fresh().width(), by_key);
        Self { fleet: Box::new(fleet), journal }
    }

    pub fn of(mut fleet: Fleet<Monitor>, by_key: bool) -> Result<Self, Error> {
        let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
        let mut journal = Journal::default();
        for key in keys {
            journal = fleet.with(&key, |monitor| Ok(std::mem::take(&mut journal).with_monitor(&key, monitor)))?;
        }
        let journal = journal.with_charts(fleet.fresh().width(), by_key);
        Ok(Self { fleet: Box::new(fleet), journal })
    }

    pub fn learn(
        &mut self,
        rows: &Rows,
        (first, at): (u64, f64),
        shape: &Shape,
        (rules, notices): (&NoticeRules, &mut Notices),
        outcome: &mut Outcome,
    ) {
        let Self { fleet, journal } = self;
        let columns = verdict_columns(&shape.kept);
        let names = shape.all_names();
        for i in 0..rows.count() {
            let number = first + rows.number(i);
            let (key, time) = rows.key_and_time(i, shape);
            let place = (fleet.position(key).unwrap_or(fleet.keys().len()), key);
            let row = RowAt { number, cells: rows.row(i), time, seconds: rows.time(i) };
            let looked =
                fleet.with_pool(key, POOL_PARTS, |monitor| journal.step(place, monitor, &row, (&names, false)));
            match looked {
                Ok(seen) => {
                    let verdict = &seen.verdict;
                    json_cells(&columns, &verdict_cells(verdict, rows.texts(i), &names), &mut outcome.answers);
                    outcome.learned += 1;
                    outcome.last = Some(i);
                    outcome.alarms += u64::from(verdict.alarm);
                    outcome.score = Some(verdict.score).filter(|score| score.is_finite());
                    let arrival = Arrival { key, row: number, time, seconds: rows.time(i), at };
                    notices.see(rules, (journal, place.0), &seen, &arrival, &names);
                }
                Err(error @ Error::Store(_)) => return outcome.broken = Some(error.to_string()),
                Err(error) => outcome.refuse_row(&error, (rows, i, first), shape),
            }
        }
        notices.refresh(journal, &names);
    }

    /// Scores rows with copies of the monitors, so that the monitors do not learn.
    pub fn score(&mut self, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
        let fleet = &mut self.fleet;
        let columns = verdict_columns(&shape.kept);
        let names = shape.all_names();
        let mut copies: HashMap<&str, Monitor> = HashMap::new();
        for i in 0..rows.count() {
            let (key, _) = rows.key_and_time(i, shape);
            let number = rows.number(i);
            let copy = match copies.entry(key) {
                Entry::Occupied(copy) => Ok(copy.into_mut()),
                Entry::Vacant(place) => match fleet.get(key) {
                    Ok(Some(monitor)) if monitor.is_ready() => Ok(place.insert(monitor.frozen())),
                    Ok(Some(_)) => Err("the monitor must be past its warm-up to score rows".to_owned()),
                    Ok(None) => Err(format!("the key must be one that has had rows, got {key:?}")),
                    Err(error) => Err(error.to_string()),
                },
            };
            let monitor = match copy {
                Ok(monitor) => monitor,
                Err(sentence) => {
                    outcome.refuse(number, number, &sentence, None);
                    continue;
                }
            };
            match monitor.step_numbered(number, rows.row(i)) {
                Ok(verdict) => {
                    json_cells(&columns, &verdict_cells(&verdict, rows.texts(i), &names), &mut outcome.answers);
                    outcome.learned += 1;
                }
                Err(error) => outcome.refuse_row(&error, (rows, i, 0), shape),
            }
        }
    }

    pub fn accept(&mut self, key: &str, next: u64, names: &[String]) -> Result<Option<Occurrence>, Problem> {
        let Self { fleet, journal } = self;
        let Some(place) = fleet.position(key) else {
            return Err(Problem::unsound(format!("key must be one that has had rows, got {key:?}")));
        };
        let accepted = fleet.with(key, |monitor| journal.accept(place, monitor, next, names));
        accepted.map_err(|error| Problem::unsound(error.to_string()))
    }

    pub fn summary(&self, skipped: u64, notices: &Notices, key: Option<&str>, names: &[String]) -> Value {
        let part = key.map(|key| self.journal.of_key(key));
        let journal = part.as_ref().unwrap_or(&self.journal);
        let mut summary = json(journal, skipped, names);
        let listed: Vec<&Notice> = notices.after(0).filter(|notice| key.is_none_or(|key| notice.key == key)).collect();
        if let Some(fields) = summary.as_object_mut() {
            fields.insert("keys".to_owned(), journal.tracks.len().into());
            fields.insert("listed".to_owned(), serde_json::to_value(listed).unwrap_or_default());
            fields.get_mut("monitors").and_then(Value::as_array_mut).into_iter().for_each(|all| all.truncate(LISTED));
        }
        summary
    }
}
