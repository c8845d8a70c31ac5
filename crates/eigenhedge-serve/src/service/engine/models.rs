//! Models of a stream: a single one, or one per key.

use super::outcome::{Outcome, Places, refused};
use super::record::Record;
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::options::{Setup, spelled};
use eigenhedge::{Columns, Error, Fleet, FleetMember, Loss, Model, Standardize, Standardizer};
use eigenhedge_io::{Answer, GroupStore, json_answer};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// Maximum number of keys in a summary.
pub const LISTED: usize = 1000;
/// Bytes in memory per byte of a saved member. Measured for `auto` over 8 columns: 10 after two rows, 8 after sixty.
const IN_MEMORY: u64 = 10;
/// Approximate growth of a saved member during its first rows.
const GROWTH: u64 = 4;
/// Minimum size assumed for a saved member, in bytes.
const LEAST: u64 = 4096;
/// Minimum number of members in memory.
const FEWEST: u64 = 64;

/// A single model.
pub struct OneModel(pub Box<Model>);

impl OneModel {
    /// Wraps a model and turns on its coordinates.
    pub fn new(mut model: Model) -> Self {
        model.ask_for_coordinates(true);
        Self(Box::new(model))
    }

    /// Learns rows.
    pub fn learn(&mut self, rows: &Rows, first: u64, shape: &Shape, record: &mut Record, outcome: &mut Outcome) {
        let block = self.0.block_rows().max(1);
        let mut next = 0;
        while next < rows.count() {
            let start = next;
            let end = (start + block).min(rows.count());
            let chunk: Vec<&[f64]> = (start..end).map(|i| rows.row(i)).collect();
            let ended = self.0.step_each(&chunk, |model, loss| {
                answer(model.coordinates(), loss, (rows, next, first), shape, outcome);
                record.enter_loss(first + rows.number(next), loss.expected, model.coordinates());
                next += 1;
            });
            if let Err((i, error)) = ended {
                next = start + i;
                let (sentence, column) = refused(&error, shape);
                outcome.refuse(first + rows.number(next), rows.number(next), &sentence, column);
                next += 1;
            }
        }
    }

    /// Scores rows without learning from them.
    pub fn score(&mut self, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
        (0..rows.count()).for_each(|i| score_row(&mut self.0, rows, i, shape, outcome));
    }

    /// Returns the summary.
    pub fn summary(&self, skipped: u64) -> Value {
        summary_of(&self.0, skipped)
    }
}

/// Builds a model for rows of this shape.
pub fn fresh(setup: &Setup, standardize: Standardize, shape: &Shape) -> Result<Model, Problem> {
    let fits = |error: Error| match error {
        Error::Kept { kept, dimension } => {
            Problem::unsound(format!("k must be less than the number of selected columns, {dimension}, got {kept}"))
        }
        error => Problem::unsound(spelled(&error, |name| name.replace('-', "_"))),
    };
    let columns = Columns::new(shape.names.clone(), Standardizer::new(standardize, shape.width));
    Ok(Model::of(setup, shape.width, true).map_err(fits)?.with_columns(columns))
}

/// Turns on the coordinates of a fleet's models.
pub fn asking(mut fleet: Fleet<Model>) -> Fleet<Model> {
    fleet.ask_for_coordinates(true);
    fleet
}

/// Loss and coordinates of a row, or the error.
type Step = Result<(Loss, Vec<f64>), Error>;

/// Learns rows, each with the model of its key.
pub fn learn_by_key(
    fleet: &mut Fleet<Model>,
    rows: &Rows,
    first: u64,
    shape: &Shape,
    record: &mut Record,
    outcome: &mut Outcome,
) {
    let place = shape.key.unwrap_or(0);
    let keys: Vec<&str> = (0..rows.count()).map(|i| rows.texts(i).get(place).map_or("", String::as_str)).collect();
    let all: Vec<&[f64]> = (0..rows.count()).map(|i| rows.row(i)).collect();
    let mut found: Vec<Option<Step>> = vec![None; all.len()];
    let ended = fleet.step_all(&keys, &all, |i, step| {
        found[i] = Some(step.map(|(loss, model)| (loss, model.coordinates().to_vec())));
    });
    if let Err(error) = ended {
        return outcome.broken = Some(error.to_string());
    }
    for (i, step) in found.into_iter().enumerate() {
        let Some(step) = step else { continue };
        match step {
            Ok((loss, coordinates)) => {
                answer(&coordinates, loss, (rows, i, first), shape, outcome);
                record.enter_loss(first + rows.number(i), loss.expected, &coordinates);
            }
            Err(error) => {
                let (sentence, column) = refused(&error, shape);
                outcome.refuse(first + rows.number(i), rows.number(i), &sentence, column);
            }
        }
    }
}

/// Scores rows, each with the model of its key.
pub fn score_by_key(fleet: &mut Fleet<Model>, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
    for i in 0..rows.count() {
        let key = shape.key.and_then(|place| rows.texts(i).get(place)).map_or("", String::as_str);
        if fleet.position(key).is_none() {
            let sentence = format!("the key must be one that has had rows, got {key:?}");
            outcome.refuse(rows.number(i), rows.number(i), &sentence, None);
            continue;
        }
        let scored = fleet.with(key, |model| {
            score_row(model, rows, i, shape, outcome);
            Ok(())
        });
        if let Err(error) = scored {
            outcome.refuse(rows.number(i), rows.number(i), &error.to_string(), None);
        }
    }
}

fn score_row(model: &mut Model, rows: &Rows, i: usize, shape: &Shape, outcome: &mut Outcome) {
    let mut coordinates = Vec::new();
    match model.transform(rows.row(i), &mut coordinates) {
        Ok(loss) => {
            let loss = Loss { expected: loss, realised: loss };
            answer(&coordinates, loss, (rows, i, 0), shape, outcome);
        }
        Err(error) => {
            let (sentence, column) = refused(&error, shape);
            outcome.refuse(rows.number(i), rows.number(i), &sentence, column);
        }
    }
}

/// Appends the answer to a row.
fn answer(
    coordinates: &[f64],
    loss: Loss,
    (rows, i, first): (&Rows, usize, u64),
    shape: &Shape,
    outcome: &mut Outcome,
) {
    let row = first + rows.number(i);
    let (expected_loss, realised, texts) = (loss.expected, loss.realised, rows.texts(i));
    let answer = Answer { row, expected_loss, loss: realised, coordinates, texts };
    json_answer(&answer, &shape.kept, &mut outcome.answers);
    outcome.learned += 1;
    outcome.loss += loss.expected;
}

/// Returns the summary of a model, with the number of skipped rows.
fn summary_of(model: &Model, skipped: u64) -> Value {
    let mut summary = model.summary();
    summary.skipped_rows = skipped;
    serde_json::to_value(summary).unwrap_or_default()
}

/// Returns the summaries of all keys, or of one key.
pub fn summary_by_key(fleet: &mut Fleet<Model>, skipped: u64, key: Option<&str>) -> Result<Value, Error> {
    let keys: Vec<String> = match key {
        Some(key) => fleet.position(key).map(|_| key.to_owned()).into_iter().collect(),
        None => fleet.keys().take(LISTED).map(str::to_owned).collect(),
    };
    let mut groups = Vec::new();
    for key in &keys {
        let mut summary = fleet.with(key, |model| Ok(summary_of(model, 0)))?;
        if let Some(fields) = summary.as_object_mut() {
            fields.insert("key".to_owned(), json!(key));
        }
        groups.push(summary);
    }
    let sum = |name: &str| groups.iter().filter_map(|group| group.get(name).and_then(Value::as_f64)).sum::<f64>();
    let rows: u64 = groups.iter().filter_map(|group| group.get("rows").and_then(Value::as_u64)).sum();
    Ok(json!({
        "keys": fleet.keys().len(),
        "skipped_rows": skipped,
        "total": { "keys": groups.len(), "rows": rows, "expected_loss": sum("expected_loss"), "loss": sum("loss"),
            "kept_energy": sum("kept_energy") },
        "groups": groups,
    }))
}

/// Attaches a disk store to a fleet, for members that do not fit in memory.
pub fn keep_in<T: FleetMember>(fleet: &mut Box<Fleet<T>>, places: &Places) {
    if !fleet.has_store() {
        let bytes = fleet.fresh().to_bytes().map_or(LEAST, |bytes| bytes.len() as u64);
        let most = most_in_memory((GROWTH * bytes).max(LEAST), places.fleet_bytes.load(Ordering::Relaxed));
        fleet.set_store(most, Box::new(GroupStore::new(&places.folder)));
    }
}

/// Limits the number of members in memory, by the size of the largest saved member so far.
pub fn limit_memory<T: FleetMember>(fleet: &mut Fleet<T>, key: &str, budget: u64, largest: &mut u64) {
    let Ok(bytes) = fleet.with(key, |member| Ok(member.to_bytes()?.len() as u64)) else { return };
    if bytes > *largest {
        *largest = bytes;
        fleet.set_most(most_in_memory(bytes.max(LEAST), budget));
    }
}

/// Returns the number of members in memory before the size of a member is known.
pub fn few_in_memory(places: &Places) -> usize {
    most_in_memory(GROWTH * LEAST, places.fleet_bytes.load(Ordering::Relaxed))
}

fn most_in_memory(bytes: u64, budget: u64) -> usize {
    usize::try_from((budget / (IN_MEMORY * bytes)).max(FEWEST)).unwrap_or(usize::MAX)
}

/// Sets the memory of each fleet, given the number of fleets.
pub fn share_memory(places: &Places, max_memory: u64, fleets: u64) {
    places.fleet_bytes.store(max_memory / 4 / fleets.max(1), Ordering::Relaxed);
}
