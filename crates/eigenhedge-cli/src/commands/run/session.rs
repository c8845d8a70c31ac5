//! One model with its input stream and results, started or resumed from a snapshot.

use super::block::{Block, step_rows};
use super::resume_state::{ResumeState, agree_with_model, in_effect, layout_of_model, options, saved_options};
use super::words::{by_name, misfit, say, uncapped};
use crate::files::read_model;
use crate::live::Shared;
use crate::plan::{Beginning, Given, Plan};
use crate::stop::StopSignal;
use crate::table::{allow_learners, open_like, say_reading};
use anyhow::{Result, anyhow};
use eigenhedge::options::Setup;
use eigenhedge::{Columns, Model, Standardize, Standardizer};
use eigenhedge_io::{
    Answer, Answers, Delivered, Layout, Output, Position, Reservation, Source, Stream, Target, write_whole,
};
use eigenhedge_pages::run::Recorder;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// Model, with its input stream and results.
pub struct Session<'a> {
    plan: &'a Plan,
    learned: Arc<Shared<Learned>>,
    /// Input stream.
    pub stream: Stream,
    answers: Output,
    /// Projections of rows.
    reconstructions: Output,
    block: Block,
    lot: Lot,
    /// True if coordinates are computed only for the rows shown in a plot.
    samples_coordinates: bool,
    /// True if the results were already complete, so that none may be added.
    closed: bool,
    /// Number of rows that the model had learned before this table.
    rows_before: u64,
    /// Time spent by earlier parts of the run.
    before: Duration,
    /// Options of the table and of the learner.
    options: (Map<String, Value>, Map<String, Value>),
    start: Instant,
    /// Lock that prevents another run from writing the snapshot.
    _reservation: Option<Reservation>,
}

/// Model, with the record for its page.
pub struct Learned {
    pub model: Model,
    pub recorder: Option<Recorder>,
    /// Number of the last row.
    pub row: u64,
}

/// Model before the first row of this table, with the options of its learner.
struct Start {
    model: Model,
    stream: Stream,
    layout: Layout,
    options: Map<String, Value>,
}

impl Start {
    /// Starts with a new model.
    fn afresh(plan: &Plan, setup: &Setup, layout: &Layout) -> Result<Self> {
        let stream = Stream::open(&plan.source, &as_it_is(layout))?;
        let length = stream.columns().len();
        allow_learners(&stream, &[setup.spec.learner])?;
        let fits = |error| anyhow!("{}: {}", stream.source(), misfit(&error, layout.format, &stream));
        let setup = setup.for_rows(length).map_err(fits)?;
        let columns = Columns::new(stream.own_names(), Standardizer::new(layout.standardize, length));
        let model = Model::of(&setup, length, true).map_err(fits)?.with_columns(columns);
        if !plan.quiet {
            uncapped(model.spec(), length).iter().for_each(|advice| say(advice));
        }
        Ok(Self { model, stream, layout: layout.clone(), options: in_effect(&setup)? })
    }

    /// Starts with a saved model and a new table.
    fn with_model(plan: &Plan, given: &Given, layout: &Layout) -> Result<Self> {
        let mut model = read_model(&given.path)?;
        let mut options = saved_options(&model)?;
        given.new_missing(model.spec().learner, &mut options, |missing| model.set_missing(missing))?;
        agree_with_model(given, &given.path, &model, &options)?;
        let layout = layout_of_model(given, &given.path, &model, layout)?;
        let stream = open_like(&model, &plan.source, &as_it_is(&layout))?;
        Ok(Self { model, stream, layout, options })
    }
}

/// Result of processing a block.
pub enum Step {
    /// Some rows were learned.
    Learned,
    /// All rows were skipped.
    Refused,
    /// The table has ended.
    Ended,
}

impl<'a> Session<'a> {
    /// Opens a session for the plan.
    pub fn open(plan: &'a Plan, signal: &StopSignal) -> Result<Self> {
        let layout = Layout { stop: signal.waits.clone(), ..plan.layout.clone() };
        let reservation = plan.keep.snapshot.as_deref().map(Reservation::of).transpose()?.flatten();
        match &plan.keep.resume {
            None => Self::begin(plan, &layout, reservation),
            Some(path) => Self::resume(plan, &layout, path, reservation),
        }
    }

    fn begin(plan: &'a Plan, layout: &Layout, reservation: Option<Reservation>) -> Result<Self> {
        let Start { mut model, stream, layout, options: learner_options } = match &plan.beginning {
            Beginning::Setup(setup) => Start::afresh(plan, setup, layout)?,
            Beginning::Model(given) => Start::with_model(plan, given, layout)?,
        };
        if !plan.quiet {
            say_reading(&stream);
        }
        ask(plan, &mut model)?;
        let answers = Answers::open(&plan.target, plan.form, model.spec().kept, at_once(plan))?;
        let answers = answers.with_texts(stream.kept_columns())?.with_safe_cells(plan.safe_cells);
        let recorder = plan.records().then(|| Recorder::new(&model, stream.has_time()));
        Ok(Self {
            options: match plan.keep.snapshot {
                Some(_) => (options(plan, &layout, Some(stream.reading())), learner_options),
                None => Default::default(),
            },
            block: Block::default(),
            lot: Lot::new(plan, &model),
            samples_coordinates: samples_coordinates(plan, &model),
            rows_before: model.totals().rows,
            learned: Arc::new(Shared::new(Learned { model, recorder, row: 0 })),
            plan,
            reconstructions: output(plan, reconstructions(plan, &stream, &plan.reconstruct.0, None)?),
            stream: ahead(plan, stream, &layout)?,
            answers: output(plan, answers),
            closed: false,
            before: Duration::ZERO,
            start: Instant::now(),
            _reservation: reservation,
        })
    }

    fn resume(plan: &'a Plan, layout: &Layout, path: &Path, reservation: Option<Reservation>) -> Result<Self> {
        let mut model = read_model(path)?;
        let before = ResumeState::from_bytes(&model.resume_state, path)?;
        let layout = &match &plan.beginning {
            Beginning::Setup(_) => layout.clone(),
            Beginning::Model(given) => layout_of_model(given, path, &model, layout)?,
        };
        let options = options(plan, layout, before.stream.reading().cloned());
        before.agree(path, plan, &options)?;
        let stream = Stream::resume(&plan.source, &as_it_is(layout), &before.stream, model.columns().names.as_deref())?;
        before.agree_on_table(path, &options)?;
        let learner_options = match &plan.beginning {
            Beginning::Setup(setup) => {
                let fits = |error| anyhow!("{}: {}", stream.source(), misfit(&error, layout.format, &stream));
                let now = in_effect(&setup.for_rows(stream.columns().len()).map_err(fits)?)?;
                before.agree_on_learner(path, &now)?;
                now
            }
            Beginning::Model(given) => {
                agree_with_model(given, path, &model, &before.options)?;
                before.options.clone()
            }
        };
        let resume = |target: &Target| {
            let kept = model.spec().kept;
            let answers = Answers::resume(target, plan.form, kept, at_once(plan), &before.answers)?;
            Ok(answers.with_texts(stream.kept_columns())?.with_safe_cells(plan.safe_cells))
        };
        let (answers, closed) = resumed(&plan.target, before.ended, resume)?;
        let (reconstructions, also_closed) = resumed(&plan.reconstruct.0, before.ended, |target| {
            reconstructions(plan, &stream, target, Some(&before.reconstructions))
        })?;
        let closed = closed || also_closed;
        ask(plan, &mut model)?;
        let recorder = before.recorder(&model, path)?;
        Ok(Self {
            rows_before: before.rows_before,
            before: before.elapsed(),
            options: (options, learner_options),
            block: Block::default(),
            lot: Lot::new(plan, &model),
            samples_coordinates: samples_coordinates(plan, &model),
            learned: Arc::new(Shared::new(Learned { model, recorder, row: stream.row_number() })),
            plan,
            reconstructions: output(plan, reconstructions),
            stream: ahead(plan, stream, layout)?,
            answers: output(plan, answers),
            closed,
            start: Instant::now(),
            _reservation: reservation,
        })
    }

    /// Returns the model and its record.
    pub fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.hold()
    }

    /// Returns the model and its record, to share them with the page thread.
    pub fn shared(&self) -> Arc<Shared<Learned>> {
        Arc::clone(&self.learned)
    }

    /// Returns the number of rows of this table learned so far.
    pub fn rows(&self) -> u64 {
        self.learned().model.totals().rows.saturating_sub(self.rows_before)
    }

    /// Returns the time spent, including earlier parts of the run.
    pub fn elapsed(&self) -> Duration {
        self.before + self.start.elapsed()
    }

    /// Learns the next row, or the next block if blocks are faster. Blocks end where snapshots are due.
    pub fn step(&mut self) -> Result<Step> {
        let most = match self.plan.keep.snapshot_every {
            Some(every) => (every - self.learned().model.totals().rows % every).min(self.lot.rows as u64) as usize,
            None => self.lot.rows,
        };
        let is_warming_up = self.learned().model.columns().standardizer.is_warming_up();
        match is_warming_up {
            true => self.block.read_warm_up(&mut self.stream, &mut self.learned.hold().model)?,
            false => self.block.read(&mut self.stream, most)?,
        }
        let (rows, delivered) = self.block.rows();
        if rows.is_empty() {
            return Ok(Step::Ended);
        }
        if self.closed {
            let answers = "answers that are complete cannot be continued in this form";
            return Err(anyhow!("{}: {answers}: the table has grown", self.stream.source()));
        }
        let start = Instant::now();
        let mut held = self.learned.lock();
        let Learned { model, recorder, row: last } = &mut *held;
        let (mut next, mut learned, mut written) = (0, 0, Ok(()));
        while next < rows.len() {
            let first = next;
            let end = match recorder.as_ref() {
                Some(recorder) if self.samples_coordinates => {
                    let is_wanted = |row: &Delivered| recorder.wants_coordinates(row.number);
                    model.ask_for_coordinates(is_wanted(&delivered[first]));
                    let later = delivered[first + 1..].iter().position(is_wanted);
                    if is_wanted(&delivered[first]) { first + 1 } else { later.map_or(rows.len(), |i| first + 1 + i) }
                }
                _ => rows.len(),
            };
            let outcome = step_rows(model, &rows[first..end], |model, loss| {
                let Delivered { number: row, kept: texts, time, .. } = &delivered[next];
                let row = *row;
                next += 1;
                learned += 1;
                if written.is_err() {
                    return;
                }
                let coordinates = model.coordinates();
                let (expected_loss, loss_drawn) = (loss.expected, loss.realised);
                let answer = Answer { row, expected_loss, loss: loss_drawn, coordinates, texts };
                written = self.answers.write(&answer);
                if written.is_ok() && self.plan.reconstruct.0 != Target::Nowhere {
                    written = self.reconstructions.write_row(model.reconstruction());
                }
                *last = row;
                if let Some(recorder) = recorder {
                    recorder.enter(row, time.zip(texts.first().map(String::as_str)), loss, model);
                }
            });
            if let Err((i, error)) = outcome {
                next = first + i;
                let reason = by_name(&error, &self.stream);
                self.stream.refuse_row(&delivered[next], reason)?;
                next += 1;
            }
        }
        drop(held);
        self.learned.touch();
        written?;
        self.lot.adapt(rows.len(), start.elapsed());
        Ok(if learned > 0 { Step::Learned } else { Step::Refused })
    }

    /// Saves a snapshot every `--snapshot-every` rows.
    pub fn save_in_time(&mut self) -> Result<()> {
        match &self.plan.keep.snapshot_every {
            Some(every) if self.learned().model.totals().rows.is_multiple_of(*every) => self.save(false),
            _ => Ok(()),
        }
    }

    /// Saves a snapshot if `--snapshot` is given. The results are synced to disk first, so that the snapshot never refers to
    /// missing bytes.
    pub fn save(&mut self, ended: bool) -> Result<()> {
        let Some(path) = &self.plan.keep.snapshot else { return Ok(()) };
        let elapsed = self.elapsed();
        let (state, position) = (self.stream.state(), self.answers.sync()?);
        let mut learned = self.learned.hold();
        let mut around = ResumeState::new(self.options.clone(), state, position, elapsed, learned.recorder.as_ref());
        around.reconstructions = self.reconstructions.sync()?;
        around.ended = ended;
        around.rows_before = self.rows_before;
        learned.model.resume_state = around.to_bytes()?;
        Ok(write_whole(path, &learned.model.to_bytes()?)?)
    }

    /// Completes the results and returns the data of the summary.
    pub fn finish(self) -> Result<Finished> {
        let (elapsed, rows) = (self.elapsed(), self.rows());
        self.answers.finish()?;
        self.reconstructions.finish()?;
        let Self { learned, stream, .. } = self;
        let Learned { model, recorder, .. } = Arc::into_inner(learned)
            .map(Shared::into_inner)
            .ok_or_else(|| anyhow!("the page still looks at the run"))?;
        let standardized = model.columns().standardizer.how() != Standardize::None;
        Ok(Finished { model, stream, recorder, rows, elapsed, standardized })
    }
}

/// Data of a session whose results are complete.
pub struct Finished {
    pub model: Model,
    pub stream: Stream,
    pub recorder: Option<Recorder>,
    /// Number of rows of this table that were learned, and the time spent.
    pub rows: u64,
    pub elapsed: Duration,
    /// True if losses are in standard units.
    pub standardized: bool,
}

/// Makes the model compute the values that are written for every row.
fn ask(plan: &Plan, model: &mut Model) -> Result<()> {
    model.ask_for_coordinates(plan.target != Target::Nowhere || plan.records());
    let asked = plan.reconstruct.0 != Target::Nowhere;
    model.ask_for_reconstructions(asked).map_err(|error| anyhow!("--reconstruct: {error}"))
}

/// Returns true if only a plot needs coordinates, and rows are not processed in blocks.
fn samples_coordinates(plan: &Plan, model: &Model) -> bool {
    plan.target == Target::Nowhere && model.block_rows() == 1
}

/// Opens the table of reconstructed rows, at its start or after a position.
fn reconstructions(
    plan: &Plan,
    stream: &Stream,
    target: &Target,
    position: Option<&Position>,
) -> Result<Answers, eigenhedge_io::Error> {
    Answers::of_rows(target, plan.reconstruct.1, stream.columns(), at_once(plan), position)
}

/// Resumes a file of results. Returns true if the file is already complete, so that no results may be added.
fn resumed(
    target: &Target,
    ended: bool,
    resume: impl Fn(&Target) -> Result<Answers, eigenhedge_io::Error>,
) -> Result<(Answers, bool)> {
    match resume(target) {
        Ok(answers) => Ok((answers, false)),
        Err(_) if ended && is_there(target) => Ok((resume(&Target::Nowhere)?, true)),
        Err(error) => Err(error.into()),
    }
}

fn at_once(plan: &Plan) -> bool {
    plan.source == Source::Standard
}

/// Sizes of the blocks in which rows are read and learned. Results do not depend on them.
struct Lot {
    rows: usize,
    fewest: usize,
    most: usize,
}

impl Lot {
    /// Chooses the initial size of blocks. Rows of a pipe are answered one by one.
    fn new(plan: &Plan, model: &Model) -> Self {
        let fewest = if plan.source.is_regular() { model.block_rows() } else { 1 };
        let most =
            if plan.source.is_regular() { fewest.max(MOST_NUMBERS / model.length().max(1)).min(MOST_ROWS) } else { 1 };
        Self { rows: fewest.min(most), fewest, most: most.max(fewest) }
    }

    /// Doubles the block size as long as a block takes little time. Signals and progress wait for the end of
    /// a block.
    fn adapt(&mut self, rows: usize, time: Duration) {
        if time > LONG {
            self.rows = self.fewest;
        } else if rows == self.rows && 2 * time < LONG {
            self.rows = (2 * self.rows).min(self.most);
        }
    }
}

/// Maximum number of rows in a block, unless the learner benefits from larger blocks.
const MOST_ROWS: usize = 256;
/// Maximum number of values in a block, with the same exception.
const MOST_NUMBERS: usize = 1 << 16;
/// Target for the maximum time per block.
const LONG: Duration = Duration::from_millis(20);

/// Returns true if reading and writing use threads of their own. This is not the case with `--threads 1` or a
/// single processor.
fn has_threads(plan: &Plan) -> bool {
    let count = plan.keep.threads.or_else(|| std::thread::available_parallelism().ok());
    count.is_some_and(|count| count.get() > 1)
}

/// Returns the stream. If threads are used, another thread reads it ahead.
fn ahead(plan: &Plan, mut stream: Stream, layout: &Layout) -> Result<Stream> {
    if has_threads(plan) {
        stream.read_ahead(&plan.source, &as_it_is(layout))?;
    }
    Ok(stream)
}

/// Returns the writer of results. If threads are used, it has a thread of its own.
fn output(plan: &Plan, answers: Answers) -> Output {
    if has_threads(plan) { Output::behind(answers) } else { Output::direct(answers) }
}

/// Returns the layout without scaling, because the model scales its columns itself.
pub fn as_it_is(layout: &Layout) -> Layout {
    Layout { standardize: Standardize::None, ..layout.clone() }
}

fn is_there(target: &Target) -> bool {
    matches!(target, Target::File(path) if path.is_file())
}
