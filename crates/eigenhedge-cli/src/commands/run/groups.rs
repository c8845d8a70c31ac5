//! Engine of `run --group-by`: one model for each value of a column.

use super::group_summary::{Total, json, summaries, text};
use super::model::at_once;
use super::options::RunState;
use super::start::Start;
use crate::args::SummaryForm;
use crate::commands::session::words::{by_name, close_table, say};
use crate::commands::session::{Engine, Options, Session, Snapshots};
use crate::plan::Plan;
use crate::stop::StopSignal;
use anyhow::{Context, Result};
use eigenhedge::{Error, Fleet, Loss, Model};
use eigenhedge_io::{Answers, Position, Row, Stream, answer_cells, answer_columns, save_fleet};
use eigenhedge_pages::counted;
use eigenhedge_pages::number::readable;
use std::path::Path;
use std::time::Duration;

pub struct ModelsByKey<'a> {
    plan: &'a Plan,
    fleet: Fleet<Model>,
    answers: Answers,
    key: usize,
    rows: u64,
    lost: f64,
    options: Options,
}

const ROWS_PER_KEY: usize = 8;
const FEWEST_ROWS: usize = 256;
const MOST_ROWS: usize = 65_536;
const BLOCK_NUMBERS: usize = 1 << 21;

impl<'a> ModelsByKey<'a> {
    pub fn session(plan: &'a Plan, signal: &StopSignal) -> Result<Session<'a, Self>> {
        let snapshots = Snapshots::new(plan.args.keep.snapshot.as_deref(), plan.args.keep.snapshot_every)?;
        let Start { models: mut fleet, stream, options, learner_options, saved, .. } =
            Start::<Fleet<Model>>::of(plan, signal)?;
        fleet.ask_for_coordinates(plan.out.is_wanted());
        let kept = fleet.fresh().spec().kept;
        let (columns, position) =
            (answer_columns(&stream.kept_columns(), kept), saved.as_ref().map(|saved| &saved.answers));
        let how = (plan.args.answers_as.dialect(&stream), plan.args.beside.safe_cells);
        let answers = plan.out.of_stream(columns, position, at_once(plan), how)?;
        let engine = Self {
            answers,
            key: stream.first_kept().context("--group-by names a column that is kept")?,
            rows: stream.rows(),
            lost: 0.0,
            options: learner_options,
            plan,
            fleet,
        };
        let before = saved.map_or(Duration::ZERO, |saved| saved.elapsed());
        Ok(Session::new(engine, stream, snapshots, options, before))
    }

    pub fn close(self, stream: &Stream, elapsed: Duration) -> Result<()> {
        let Self { plan, mut fleet, answers, .. } = self;
        let seconds = elapsed.as_secs_f64();
        answers.finish()?;
        close_table(stream, &plan.args.table, plan.args.quiet)?.iter().for_each(|sentence| say(sentence));
        let Some(form) = plan.summary() else { return Ok(()) };
        let in_memory = fleet.in_memory();
        let groups = summaries(&mut fleet)?;
        let total = Total::of(&groups, stream.skipped(), seconds);
        let shown = match form {
            SummaryForm::Text => {
                let (models, rate) = (counted(groups.len() as u64, "model"), total.rows as f64 / seconds.max(1e-9));
                text(&groups, &total) + &format!("{models}, {in_memory} in memory; {rate:.0} rows a second\n")
            }
            SummaryForm::Json => json(&groups, &total)?,
        };
        plan.out.print(&shown)
    }
}

impl Engine for ModelsByKey<'_> {
    type State = RunState;

    fn rows(&self) -> u64 {
        self.rows
    }

    fn block_rows(&self) -> usize {
        if !self.plan.source.is_regular() {
            return 1;
        }
        let by_memory = BLOCK_NUMBERS / self.fleet.fresh().length().max(1);
        (ROWS_PER_KEY * self.fleet.keys().len()).clamp(FEWEST_ROWS, MOST_ROWS).min(by_memory).max(1)
    }

    fn learn(&mut self, rows: &[Row], stream: &mut Stream) -> Result<()> {
        let numbers: Vec<&[f64]> = rows.iter().map(|row| row.numbers()).collect();
        let keys: Vec<&str> = rows.iter().map(|row| &row.kept[self.key][..]).collect();
        let kept = self.fleet.fresh().spec().kept;
        let mut coordinates = vec![0.0; rows.len() * kept];
        let mut outcomes: Vec<Result<Loss, Error>> = vec![Ok(Loss::default()); rows.len()];
        self.fleet.step_all(&keys, &numbers, |i, outcome| {
            outcomes[i] = outcome.map(|(loss, found)| {
                coordinates[i * kept..][..found.len()].copy_from_slice(found);
                loss
            });
        })?;
        for ((row, outcome), coordinates) in rows.iter().zip(outcomes).zip(coordinates.chunks(kept)) {
            match outcome {
                Ok(loss) => {
                    self.answers.write(&answer_cells(row.number, &row.kept, loss, coordinates))?;
                    self.lost += loss.expected;
                    self.rows += 1;
                }
                Err(error) => {
                    let reason = by_name(&error, stream);
                    stream.refuse_row(row, reason)?;
                }
            }
        }
        Ok(())
    }

    fn progress(&mut self) -> String {
        format!("lost {}", readable(self.lost))
    }

    fn sync(&mut self) -> Result<(Position, RunState)> {
        Ok((self.answers.sync()?, RunState { options: self.options.clone(), ..RunState::default() }))
    }

    fn write(&mut self, path: &Path, resume_state: Vec<u8>) -> Result<()> {
        Ok(save_fleet(path, &mut self.fleet, &resume_state)?)
    }
}
