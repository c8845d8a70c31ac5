//! `run --group-by`: one model for each value of a column.

use super::block::Block;
use super::group_summary::{Total, json, summaries, text};
use super::progress::Progress;
use super::resume_state::{ResumeState, agree_with_model, in_effect, layout_of_model, options, saved_options};
use super::session::{Step, as_it_is};
use super::words::{by_name, list_skipped, misfit, stopped_early, waits};
use crate::args::SummaryForm;
use crate::files::{MOST_IN_MEMORY, scratch_folder};
use crate::plan::{Beginning, Plan};
use crate::stdout;
use crate::stop::StopSignal;
use crate::table::{allow_learners, open_like, say_reading, say_times};
use anyhow::{Context, Result, anyhow};
use eigenhedge::options::Setup;
use eigenhedge::{Columns, Error, Fleet, Loss, Model, Standardizer};
use eigenhedge_io::{
    Answer, Answers, GroupStore, Layout, Reservation, Row, Source, Stream, Target, open_fleet, save_fleet,
};
use eigenhedge_pages::counted;
use eigenhedge_pages::number::readable;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Models by key, with their input stream and results.
struct Session<'a> {
    plan: &'a Plan,
    fleet: Fleet<Model>,
    stream: Stream,
    answers: Answers,
    /// Index of the key among the copied columns.
    key: usize,
    block: Block,
    rows: u64,
    lost: f64,
    before: Duration,
    start: Instant,
    options: (Map<String, Value>, Map<String, Value>),
    /// Lock that prevents another run from writing the snapshot.
    _reservation: Option<Reservation>,
}

/// Initial state of a session: the models, and the state that an earlier part of the run has saved.
struct Begun {
    fleet: Fleet<Model>,
    stream: Stream,
    options: (Map<String, Value>, Map<String, Value>),
    before: Option<ResumeState>,
}

impl Begun {
    /// Starts at the first row of a table, with new or saved models.
    fn new(plan: &Plan, layout: &Layout, most: usize) -> Result<Self> {
        let (fleet, stream, learner) = match &plan.beginning {
            Beginning::Setup(setup) => {
                let stream = Stream::open(&plan.source, &as_it_is(layout))?;
                let (fleet, setup) = fresh(plan, setup, &stream, most)?;
                (fleet, stream, in_effect(&setup)?)
            }
            Beginning::Model(given) => {
                let (mut fleet, saved) = open_fleet::<Model>(&given.path, most)?;
                let mut model = fleet.fresh().clone();
                model.resume_state = saved;
                let mut options = saved_options(&model)?;
                given.new_missing(model.spec().learner, &mut options, |missing| {
                    fleet.change(|member| member.set_missing(missing))
                })?;
                model.set_missing(fleet.fresh().spec().missing)?;
                agree_with_model(given, &given.path, &model, &options)?;
                let layout = layout_of_model(given, &given.path, &model, layout)?;
                let stream = open_like(&model, &plan.source, &as_it_is(&layout))?;
                (fleet, stream, options)
            }
        };
        if !plan.quiet {
            say_reading(&stream);
        }
        let options = (options(plan, &plan.layout, Some(stream.reading())), learner);
        Ok(Self { fleet, stream, options, before: None })
    }

    /// Resumes the models of a snapshot after its last row.
    fn resume(plan: &Plan, layout: &Layout, path: &Path, most: usize) -> Result<Self> {
        let (fleet, saved) = open_fleet::<Model>(path, most)?;
        let before = ResumeState::from_bytes(&saved, path)?;
        let now = options(plan, &plan.layout, before.stream.reading().cloned());
        before.agree(path, plan, &now)?;
        let names = fleet.fresh().columns().names.as_deref();
        let layout = match &plan.beginning {
            Beginning::Setup(_) => layout.clone(),
            Beginning::Model(given) => layout_of_model(given, path, fleet.fresh(), layout)?,
        };
        let stream = Stream::resume(&plan.source, &as_it_is(&layout), &before.stream, names)?;
        before.agree_on_table(path, &now)?;
        let learner = match &plan.beginning {
            Beginning::Setup(setup) => {
                let learner = in_effect(&fresh(plan, setup, &stream, usize::MAX)?.1)?;
                before.agree_on_learner(path, &learner)?;
                learner
            }
            Beginning::Model(given) => {
                agree_with_model(given, path, fleet.fresh(), &before.options)?;
                before.options.clone()
            }
        };
        Ok(Self { fleet, stream, options: (now, learner), before: Some(before) })
    }
}

/// Creates models for this table that have not learned any rows yet.
fn fresh(plan: &Plan, setup: &Setup, stream: &Stream, most: usize) -> Result<(Fleet<Model>, Setup)> {
    let length = stream.columns().len();
    allow_learners(stream, &[setup.spec.learner])?;
    let fits = |error: Error| anyhow!("{}: {}", stream.source(), misfit(&error, plan.layout.format, stream));
    let setup = setup.for_rows(length).map_err(fits)?;
    let columns = Columns::new(stream.own_names(), Standardizer::new(plan.layout.standardize, length));
    let model = Model::of(&setup, length, true).map_err(fits)?.with_columns(columns);
    let fleet = Fleet::new(model)?;
    Ok((fleet.with_store(most, Box::new(GroupStore::new(&scratch_folder(plan.keep.snapshot.as_deref())))), setup))
}

/// Approximate number of rows in a block per known key.
const ROWS_PER_KEY: usize = 8;
/// Minimum and maximum number of rows in a block.
const FEWEST_ROWS: usize = 256;
const MOST_ROWS: usize = 65_536;
/// Maximum number of values in a block.
const BLOCK_NUMBERS: usize = 1 << 21;

/// Learns from a table with one model per key, writes the results and prints a summary.
pub fn run(plan: &Plan) -> Result<()> {
    let signal = StopSignal::listen()?;
    let mut session = match Session::open(plan, &signal) {
        Err(_) if signal.to_stop() => return stopped_early(),
        outcome => outcome?,
    };
    let mut progress = Progress::new(plan.quiet, &plan.target, session.rows);
    let ended = session.learn(&mut progress, &signal);
    progress.finish();
    let ended = ended?;
    if session.rows == 0 {
        return stopped_early();
    }
    session.save(ended)?;
    if waits(plan.keep.snapshot.as_deref(), session.rows, ended) { Ok(()) } else { session.close() }
}

impl<'a> Session<'a> {
    fn open(plan: &'a Plan, signal: &StopSignal) -> Result<Self> {
        // Each model scales its own columns.
        let layout = Layout { stop: signal.waits.clone(), ..plan.layout.clone() };
        let reservation = plan.keep.snapshot.as_deref().map(Reservation::of).transpose()?.flatten();
        let most = plan.max_groups.unwrap_or(MOST_IN_MEMORY);
        let begun = match &plan.keep.resume {
            None => Begun::new(plan, &layout, most)?,
            Some(path) => Begun::resume(plan, &layout, path, most)?,
        };
        let Begun { mut fleet, stream, options, before } = begun;
        fleet.ask_for_coordinates(plan.target != Target::Nowhere);
        let (kept, at_once) = (fleet.fresh().spec().kept, plan.source == Source::Standard);
        let answers = match &before {
            None => Answers::open(&plan.target, plan.form, kept, at_once)?,
            Some(before) => Answers::resume(&plan.target, plan.form, kept, at_once, &before.answers)?,
        };
        Ok(Self {
            answers: answers.with_texts(stream.kept_columns())?.with_safe_cells(plan.safe_cells),
            key: place_of_key(&stream)?,
            block: Block::default(),
            rows: stream.rows(),
            lost: 0.0,
            before: before.map_or(Duration::ZERO, |before| before.elapsed()),
            start: Instant::now(),
            plan,
            fleet,
            stream,
            options,
            _reservation: reservation,
        })
    }

    /// Learns rows. Returns true at the end of the table, and false after a stop signal.
    fn learn(&mut self, progress: &mut Progress, signal: &StopSignal) -> Result<bool> {
        loop {
            if signal.to_stop() {
                return Ok(false);
            }
            match self.step() {
                Err(_) if signal.to_stop() => return Ok(false),
                outcome => match outcome? {
                    Step::Learned => {}
                    Step::Refused => continue,
                    Step::Ended => return Ok(true),
                },
            }
            progress.tick_with(self.rows, &self.stream, || format!("lost {}", readable(self.lost)));
            match &self.plan.keep.snapshot_every {
                Some(every) if self.rows.is_multiple_of(*every) => self.save(false)?,
                _ => {}
            }
        }
    }

    /// Returns the number of rows in the next block. It is one for a pipe; otherwise there are several rows
    /// per key, so that a model stays in the cache. Blocks end where snapshots are due.
    fn block_rows(&self) -> usize {
        if !self.plan.source.is_regular() {
            return 1;
        }
        let by_memory = BLOCK_NUMBERS / self.fleet.fresh().length().max(1);
        let most = (ROWS_PER_KEY * self.fleet.keys().len()).clamp(FEWEST_ROWS, MOST_ROWS).min(by_memory).max(1);
        match self.plan.keep.snapshot_every {
            Some(every) => (every - self.rows % every).min(most as u64) as usize,
            None => most,
        }
    }

    /// Learns from the next rows.
    fn step(&mut self) -> Result<Step> {
        let most = self.block_rows();
        let Self { fleet, stream, answers, key, block, .. } = self;
        block.read(stream, most)?;
        let (rows, delivered) = block.rows();
        let rows: Vec<&[f64]> = rows.iter().map(Row::numbers).collect();
        if rows.is_empty() {
            return Ok(Step::Ended);
        }
        let keys: Vec<&str> = delivered.iter().map(|row| &row.kept[*key][..]).collect();
        let kept = fleet.fresh().spec().kept;
        let mut coordinates = vec![0.0; rows.len() * kept];
        let mut outcomes: Vec<Result<Loss, Error>> = vec![Ok(Loss::default()); rows.len()];
        fleet.step_all(&keys, &rows, |i, outcome| {
            outcomes[i] = outcome.map(|(loss, model)| {
                let found = model.coordinates();
                coordinates[i * kept..][..found.len()].copy_from_slice(found);
                loss
            });
        })?;
        let mut learned = 0;
        for ((row, outcome), coordinates) in delivered.iter().zip(outcomes).zip(coordinates.chunks(kept)) {
            match outcome {
                Ok(loss) => {
                    let (row, texts, expected_loss) = (row.number, &row.kept[..], loss.expected);
                    answers.write(&Answer { row, expected_loss, loss: loss.realised, coordinates, texts })?;
                    self.lost += expected_loss;
                    learned += 1;
                }
                Err(error) => {
                    let reason = by_name(&error, stream);
                    stream.refuse_row(row, reason)?;
                }
            }
        }
        self.rows += learned;
        Ok(if learned > 0 { Step::Learned } else { Step::Refused })
    }

    fn save(&mut self, ended: bool) -> Result<()> {
        let Some(path) = &self.plan.keep.snapshot else { return Ok(()) };
        let elapsed = self.before + self.start.elapsed();
        let (state, position) = (self.stream.state(), self.answers.sync()?);
        let mut around = ResumeState::new(self.options.clone(), state, position, elapsed, None);
        around.ended = ended;
        Ok(save_fleet(path, &mut self.fleet, &around.to_bytes()?)?)
    }

    /// Completes the results, then prints the summary.
    fn close(self) -> Result<()> {
        let Self { plan, mut fleet, stream, answers, before, start, .. } = self;
        let seconds = (before + start.elapsed()).as_secs_f64();
        answers.finish()?;
        list_skipped(&stream);
        if !plan.quiet {
            say_times(&stream);
        }
        let Some(form) = plan.summary else { return Ok(()) };
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
        if plan.target == Target::Standard {
            return io::stderr().write_all(shown.as_bytes()).context("standard error cannot be written");
        }
        stdout::print(&shown)
    }
}

/// Returns the index of the key among the copied columns.
fn place_of_key(stream: &Stream) -> Result<usize> {
    stream.first_kept().context("--group-by names a column that is kept")
}
