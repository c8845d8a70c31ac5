//! Single model of a stream, and functions shared with models by key.

use super::outcome::Outcome;
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::options::{Setup, spelled};
use eigenhedge::{Columns, Error, Loss, Model, Standardize, Standardizer};
use eigenhedge_io::{answer_cells, answer_columns, json_cells};
use eigenhedge_pages::run::Recorder;
use serde_json::Value;

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

pub(super) fn score_row(model: &mut Model, rows: &Rows, i: usize, shape: &Shape, outcome: &mut Outcome) {
    let mut coordinates = Vec::new();
    match model.transform(rows.row(i), &mut coordinates) {
        Ok(loss) => {
            let loss = Loss { expected: loss, realised: loss };
            answer(&coordinates, loss, (rows, i, 0), shape, outcome);
        }
        Err(error) => outcome.refuse_row(&error, (rows, i, 0), shape),
    }
}

pub(super) fn answer(
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

pub(super) fn summary_of(model: &Model, skipped: u64) -> Value {
    let mut summary = model.summary();
    summary.skipped_rows = skipped;
    serde_json::to_value(summary).unwrap_or_default()
}
