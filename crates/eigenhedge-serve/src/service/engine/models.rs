//! Models of a stream: a single one, or one per key.

use super::outcome::Outcome;
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::options::{Setup, spelled};
use eigenhedge::{Columns, Error, Fleet, Loss, Model, Standardize, Standardizer};
use eigenhedge_io::{answer_cells, answer_columns, json_cells};
use eigenhedge_pages::run::Recorder;
use eigenhedge_pages::{Downsampler, Keep};
use serde_json::{Value, json};

pub struct OneModel {
    pub model: Box<Model>,
    pub recorder: Box<Recorder>,
}

impl OneModel {
    pub fn new(mut model: Model, has_time: bool) -> Self {
        model.ask_for_coordinates(true);
        let recorder = Box::new(Recorder::new(&model, has_time));
        Self { model: Box::new(model), recorder }
    }

    pub fn learn(&mut self, rows: &Rows, first: u64, shape: &Shape, outcome: &mut Outcome) {
        let Self { model, recorder } = self;
        let block = model.block_rows().max(1);
        let mut next = 0;
        while next < rows.count() {
            let start = next;
            let end = (start + block).min(rows.count());
            let chunk: Vec<&[f64]> = (start..end).map(|i| rows.row(i)).collect();
            let ended = model.step_each(&chunk, |model, loss| {
                answer(model.coordinates(), loss, (rows, next, first), shape, outcome);
                let text = rows.texts(next).first().map_or("", String::as_str);
                let moment = rows.time(next).map(|seconds| (seconds, text));
                recorder.enter(first + rows.number(next), moment, loss, model);
                next += 1;
            });
            if let Err((i, error)) = ended {
                next = start + i;
                outcome.refuse_row(&error, (rows, next, first), shape);
                next += 1;
            }
        }
    }

    pub fn score(&mut self, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
        (0..rows.count()).for_each(|i| score_row(&mut self.model, rows, i, shape, outcome));
    }

    pub fn summary(&self, skipped: u64) -> Value {
        summary_of(&self.model, skipped)
    }
}

/// `count` names the quantity that limits k.
pub fn misfit(count: &str) -> impl Fn(Error) -> Problem {
    move |error| match error {
        Error::Kept { kept, dimension } => {
            Problem::unsound(format!("k must be less than the number of {count}, {dimension}, got {kept}"))
        }
        error => Problem::unsound(spelled(&error, |name| name.replace('-', "_"))),
    }
}

pub fn fresh(setup: &Setup, standardize: Standardize, shape: &Shape) -> Result<Model, Problem> {
    let columns = Columns::new(shape.names.clone(), Standardizer::new(standardize, shape.width));
    Ok(Model::of(setup, shape.width).map_err(misfit("selected columns"))?.with_columns(columns))
}

fn score_row(model: &mut Model, rows: &Rows, i: usize, shape: &Shape, outcome: &mut Outcome) {
    let mut coordinates = Vec::new();
    match model.transform(rows.row(i), &mut coordinates) {
        Ok(loss) => {
            let loss = Loss { expected: loss, realised: loss };
            answer(&coordinates, loss, (rows, i, 0), shape, outcome);
        }
        Err(error) => outcome.refuse_row(&error, (rows, i, 0), shape),
    }
}

fn answer(
    coordinates: &[f64],
    loss: Loss,
    (rows, i, first): (&Rows, usize, u64),
    shape: &Shape,
    outcome: &mut Outcome,
) {
    let row = first + rows.number(i);
    let columns = answer_columns(&shape.kept, coordinates.len());
    json_cells(&columns, &answer_cells(row, rows.texts(i), loss, coordinates), &mut outcome.answers);
    outcome.learned += 1;
    outcome.last = Some(i);
    outcome.loss += loss.expected;
}

fn summary_of(model: &Model, skipped: u64) -> Value {
    let mut summary = model.summary();
    summary.skipped_rows = skipped;
    serde_json::to_value(summary).unwrap_or_default()
}

pub const LISTED: usize = 1000;
const POINTS: usize = 400;

pub struct ModelsByKey {
    pub fleet: Box<Fleet<Model>>,
    pub record: Downsampler,
}

type Step = Result<(Loss, Vec<f64>), Error>;

impl ModelsByKey {
    pub fn new(mut fleet: Fleet<Model>) -> Self {
        fleet.ask_for_coordinates(true);
        Self { fleet: Box::new(fleet), record: Downsampler::new(Keep::Largest, POINTS, 1) }
    }

    pub fn learn(&mut self, rows: &Rows, first: u64, shape: &Shape, outcome: &mut Outcome) {
        let Self { fleet, record } = self;
        let keys: Vec<&str> = (0..rows.count()).map(|i| rows.key_and_time(i, shape).0).collect();
        let all: Vec<&[f64]> = (0..rows.count()).map(|i| rows.row(i)).collect();
        let mut found: Vec<Option<Step>> = vec![None; all.len()];
        let ended = fleet.step_all(&keys, &all, |i, step| {
            found[i] = Some(step.map(|(loss, coordinates)| (loss, coordinates.to_vec())));
        });
        if let Err(error) = ended {
            return outcome.broken = Some(error.to_string());
        }
        for (i, step) in found.into_iter().enumerate() {
            let Some(step) = step else { continue };
            match step {
                Ok((loss, coordinates)) => {
                    answer(&coordinates, loss, (rows, i, first), shape, outcome);
                    record.push(first + rows.number(i), &[loss.expected]);
                }
                Err(error) => outcome.refuse_row(&error, (rows, i, first), shape),
            }
        }
    }

    pub fn score(&mut self, rows: &Rows, shape: &Shape, outcome: &mut Outcome) {
        let fleet = &mut self.fleet;
        for i in 0..rows.count() {
            let (key, _) = rows.key_and_time(i, shape);
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

    pub fn summary(&mut self, skipped: u64, key: Option<&str>) -> Result<Value, Error> {
        let fleet = &mut self.fleet;
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
}
