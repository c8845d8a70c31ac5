//! Models of a stream, one for each key.

use super::models::{answer, score_row, summary_of};
use super::outcome::Outcome;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::{Error, Fleet, Loss, Model};
use eigenhedge_pages::{Downsampler, Keep};
use serde_json::{Value, json};

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
        let place = shape.key.unwrap_or(0);
        let keys: Vec<&str> = (0..rows.count()).map(|i| rows.texts(i).get(place).map_or("", String::as_str)).collect();
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
