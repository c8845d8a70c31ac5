//! Engine of `run`: one model, its results and the record for its page.

use super::options::{RunState, SavedRun};
use super::start::Start;
use crate::commands::session::words::by_name;
use crate::commands::session::{Block, Engine, Options, Session, Snapshots, step_rows};
use crate::destination::Destination;
use crate::live::{Live, Shared};
use crate::plan::Plan;
use crate::stop::StopSignal;
use anyhow::{Result, anyhow};
use eigenhedge::{Loss, Model};
use eigenhedge_io::{
    Answers, Column, Position, Row, Source, Stream, Target, answer_cells, answer_columns, filled_cells, filled_columns,
    filled_names, number_cells, number_columns, write_private,
};
use eigenhedge_pages::number::readable;
use eigenhedge_pages::run::{Recorder, page_so_far};
use eigenhedge_pages::{file_name, to_text};
use std::path::Path;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

pub struct OneModel<'a> {
    plan: &'a Plan,
    learned: Arc<Shared<Learned>>,
    answers: Answers,
    reconstructions: Answers,
    filled: Answers,
    lot: BlockSizes,
    /// Only a plot needs coordinates.
    samples_coordinates: bool,
    /// A file of results was already complete and cannot be continued.
    closed: bool,
    rows_before: u64,
    options: Options,
    regret_per_row: Option<f64>,
    /// The regret costs an eigendecomposition, so it is computed anew when the number of rows has doubled.
    next_regret: u64,
}

pub struct Learned {
    pub model: Model,
    pub recorder: Option<Recorder>,
    pub row: u64,
}

impl<'a> OneModel<'a> {
    pub fn session(plan: &'a Plan, signal: &StopSignal) -> Result<Session<'a, Self>> {
        let snapshots = Snapshots::new(plan.args.keep.snapshot.as_deref(), plan.args.keep.snapshot_every)?;
        let Start { models: mut model, mut stream, layout, options, learner_options, saved } =
            Start::<Model>::of(plan, signal)?;
        model.ask_for_coordinates(plan.out.is_wanted() || plan.records());
        let asked = model.ask_for_reconstructions(plan.reconstruct.is_wanted());
        asked.map_err(|error| anyhow!("--reconstruct: {error}"))?;
        let kept = model.spec().kept;
        let ended = saved.as_ref().is_some_and(|saved| saved.ended);
        let mut closed = false;
        let mut open = |to: &Destination, columns: Vec<Column>, position: fn(&SavedRun) -> &Position| {
            let (position, how) =
                (saved.as_ref().map(position), (plan.args.answers_as.dialect(&stream), plan.args.beside.safe_cells));
            let answers = match to.of_stream(columns.clone(), position, at_once(plan), how) {
                Err(_) if ended && matches!(&to.target, Target::File(path) if path.is_file()) => {
                    closed = true;
                    Answers::open(&Target::Nowhere, to.form, columns, false, None)?
                }
                opened => opened?,
            };
            anyhow::Ok(if has_threads(plan) { answers.behind() } else { answers })
        };
        let texts = stream.kept_columns();
        let answers = open(&plan.out, answer_columns(&texts, kept), |saved| &saved.answers)?;
        let columns = number_columns(stream.columns());
        let reconstructions = open(&plan.reconstruct, columns, |saved| &saved.engine.reconstructions)?;
        let filled = open(&plan.filled, filled_columns(&texts, stream.columns()), |saved| &saved.engine.filled)?;
        let (recorder, rows_before, before) = match (&saved, &plan.args.keep.resume) {
            (Some(saved), Some(path)) => {
                (saved.engine.recorder(&model, path)?, saved.engine.rows_before, saved.elapsed())
            }
            _ => {
                let recorder = plan.records().then(|| Recorder::new(&model, stream.has_time()));
                (recorder, model.totals().rows, Duration::ZERO)
            }
        };
        let engine = Self {
            plan,
            lot: BlockSizes::new(plan, &model),
            samples_coordinates: !plan.out.is_wanted() && model.block_rows() == 1,
            learned: Arc::new(Shared::new(Learned { model, recorder, row: stream.row_number() })),
            answers,
            reconstructions,
            filled,
            closed,
            rows_before,
            options: learner_options,
            regret_per_row: None,
            next_regret: FIRST,
        };
        if has_threads(plan) {
            stream.read_ahead(&plan.source, &layout)?;
        }
        Ok(Session::new(engine, stream, snapshots, options, before))
    }

    pub fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock()
    }

    pub fn finish(self) -> Result<Learned> {
        self.answers.finish()?;
        self.reconstructions.finish()?;
        self.filled.finish()?;
        Arc::into_inner(self.learned).map(Shared::into_inner).ok_or_else(|| anyhow!("the page still looks at the run"))
    }
}

impl Engine for OneModel<'_> {
    type State = RunState;

    fn rows(&self) -> u64 {
        self.learned().model.totals().rows.saturating_sub(self.rows_before)
    }

    fn block_rows(&self) -> usize {
        self.lot.rows
    }

    fn read(&mut self, block: &mut Block, stream: &mut Stream, most: usize) -> Result<()> {
        let is_warming_up = self.learned().model.columns().standardizer.is_warming_up();
        let read = match is_warming_up {
            true => block.read_warm_up(stream, &mut self.learned.lock().model),
            false => block.read(stream, most),
        };
        Ok(read?)
    }

    fn learn(&mut self, rows: &[Row], stream: &mut Stream) -> Result<()> {
        if self.closed {
            let answers = "answers that are complete cannot be continued in this form";
            return Err(anyhow!("{}: {answers}: the table has grown", stream.source()));
        }
        let start = Instant::now();
        let mut held = self.learned.lock();
        let Learned { model, recorder, row: last } = &mut *held;
        let (is_written, is_reconstructed) = (self.plan.out.is_wanted(), self.plan.reconstruct.is_wanted());
        let is_filled = self.plan.filled.is_wanted();
        let is_watched = recorder.is_some() || is_written || is_reconstructed || is_filled;
        let (mut next, mut written) = (0, Ok(()));
        while next < rows.len() {
            let first = next;
            let end = match recorder.as_ref() {
                Some(recorder) if self.samples_coordinates => {
                    let is_wanted = |row: &Row| recorder.wants_coordinates(row.number);
                    model.ask_for_coordinates(is_wanted(&rows[first]));
                    let later = rows[first + 1..].iter().position(is_wanted);
                    if is_wanted(&rows[first]) { first + 1 } else { later.map_or(rows.len(), |i| first + 1 + i) }
                }
                _ => rows.len(),
            };
            let each = |model: &Model, loss: Loss| {
                let cells = &rows[next];
                let Row { number: row, kept: texts, time, .. } = cells;
                let row = *row;
                next += 1;
                if written.is_err() {
                    return;
                }
                if is_written {
                    written = self.answers.write(&answer_cells(row, texts, loss, model.coordinates()));
                }
                if written.is_ok() && is_reconstructed {
                    written = self.reconstructions.write(&number_cells(model.reconstruction()));
                }
                if written.is_ok() && is_filled {
                    let row = model.filled().map_or(cells.numbers(), |filled| &filled.row);
                    let names = filled_names(cells.numbers(), stream.columns());
                    written = self.filled.write(&filled_cells(texts, row, &names));
                }
                if let Some(recorder) = recorder {
                    recorder.enter(row, time.zip(texts.first().map(String::as_str)), loss, model);
                }
            };
            let lot = &rows[first..end];
            let outcome = step_rows(model, lot, is_watched.then_some(each));
            let learned = outcome.as_ref().map_or_else(|(i, _)| *i, |()| lot.len());
            next = first + learned;
            if let Some(learned) = rows[first..next].last() {
                *last = learned.number;
            }
            if let Err((_, error)) = outcome {
                let reason = by_name(&error, stream);
                stream.refuse_row(&rows[next], reason)?;
                next += 1;
            }
        }
        drop(held);
        self.learned.touch();
        written?;
        self.lot.adapt(rows.len(), start.elapsed());
        Ok(())
    }

    fn progress(&mut self) -> String {
        let learned = self.learned.lock();
        let (model, rows) = (&learned.model, learned.model.totals().rows);
        if rows >= self.next_regret && model.length() <= LONGEST && model.spec().kernel.is_none() {
            self.next_regret = 2 * rows;
            self.regret_per_row = model.interim_summary().regret.map(|regret| regret.high() / rows as f64);
        }
        let regret =
            self.regret_per_row.map_or(String::new(), |regret| format!(", regret per row {}", readable(regret)));
        format!("lost {}{regret}", readable(model.totals().expected_loss))
    }

    fn sync(&mut self) -> Result<(Position, RunState)> {
        let (answers, reconstructions) = (self.answers.sync()?, self.reconstructions.sync()?);
        let (options, rows_before) = (self.options.clone(), self.rows_before);
        let report = self.learned().recorder.as_ref().map(to_text);
        let filled = self.filled.sync()?;
        Ok((answers, RunState { reconstructions, filled, report, options, rows_before }))
    }

    fn write(&mut self, path: &Path, resume_state: Vec<u8>) -> Result<()> {
        let mut learned = self.learned.lock();
        learned.model.resume_state = resume_state;
        Ok(write_private(path, &eigenhedge::checked_bytes(&learned.model)?)?)
    }
}

/// Longest rows, and first number of rows, for which the progress shows the regret.
const LONGEST: usize = 512;
const FIRST: u64 = 1024;

pub fn at_once(plan: &Plan) -> bool {
    plan.source == Source::Standard
}

struct BlockSizes {
    rows: usize,
    fewest: usize,
    most: usize,
}

impl BlockSizes {
    fn new(plan: &Plan, model: &Model) -> Self {
        if !plan.source.is_regular() {
            return Self { rows: 1, fewest: 1, most: 1 };
        }
        let fewest = model.block_rows();
        // Threads wait for each other at the end of a block, so larger blocks save time.
        let times = if plan.args.keep.threads.is_some_and(|count| count.get() > 1) { 4 } else { 1 };
        let most = fewest.max(times * MOST_NUMBERS / model.length().max(1)).min(times * MOST_ROWS);
        Self { rows: fewest.min(most), fewest, most: most.max(fewest) }
    }

    /// Signals and the progress display wait for the end of a block, so blocks take little time.
    fn adapt(&mut self, rows: usize, time: Duration) {
        if time > LONG {
            self.rows = self.fewest;
        } else if rows == self.rows && 2 * time < LONG {
            self.rows = (2 * self.rows).min(self.most);
        }
    }
}

/// With one thread, unless the learner needs larger blocks.
const MOST_ROWS: usize = 256;
const MOST_NUMBERS: usize = 1 << 16;
const LONG: Duration = Duration::from_millis(20);

fn has_threads(plan: &Plan) -> bool {
    let count = plan.args.keep.threads.or_else(|| std::thread::available_parallelism().ok());
    count.is_some_and(|count| count.get() > 1)
}

impl Session<'_, OneModel<'_>> {
    pub fn show(&self, live: &mut Live) {
        let (source, columns) = (file_name(&self.stream.source()).to_owned(), self.stream.columns().to_vec());
        live.follow(Arc::clone(&self.engine.learned), move |Learned { model, recorder, row }, _| {
            let page = page_so_far(&source, &columns, recorder.as_ref()?, model, *row)?;
            Some((page, model.totals().rows))
        });
    }
}
