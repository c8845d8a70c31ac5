//! `run --group-by`: one learner for each value of a column.

use super::block::Block;
use super::progress::Progress;
use super::resume_state::{ResumeState, in_effect, options};
use super::session::Step;
use super::{list_skipped, misfit, sentence, stopped_early, waits};
use crate::args::SummaryForm;
use crate::number::readable;
use crate::plan::{Beginning, Plan};
use crate::stdout;
use crate::stop::StopSignal;
use crate::summary::counted;
use crate::table::{allow_learners, say_reading, say_times};
use anyhow::{Context, Result, anyhow};
use eigenhedge::options::Setup;
use eigenhedge::{Columns, Error, Fleet, Loss, Run, RunSummary, Snapshot, Standardize, Standardizer};
use eigenhedge_io::{
    Answer, Answers, GroupStore, Layout, Reservation, Source, Stream, Target, open_fleet, printable, save_fleet,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Learners, a stream and answers.
struct Session<'a> {
    plan: &'a Plan,
    fleet: Fleet,
    stream: Stream,
    answers: Answers,
    /// Place of the key among the texts that go along with a row.
    key: usize,
    block: Block,
    rows: u64,
    lost: f64,
    before: Duration,
    start: Instant,
    options: (Map<String, Value>, Map<String, Value>),
    /// Keeps another run from the snapshot.
    _reservation: Option<Reservation>,
}

/// Rows of a block for each key that is known, about.
const ROWS_PER_KEY: usize = 8;
/// Rows of a block, at least and at most, unless its numbers are too many.
const FEWEST_ROWS: usize = 256;
const MOST_ROWS: usize = 65_536;
/// Numbers of a block, at most.
const BLOCK_NUMBERS: usize = 1 << 21;
/// Lines of the text summary for keys, at most.
const MOST_LINES: usize = 40;

/// Reads, learns, answers, and sums up.
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
        let Beginning::Setup(setup) = &plan.beginning else {
            return Err(anyhow!("--start-from has no effect with --group-by"));
        };
        // Each learner has a scale of its own.
        let layout = Layout { stop: signal.waits.clone(), standardize: Standardize::None, ..plan.layout.clone() };
        let reservation = plan.keep.snapshot.as_deref().map(Reservation::of).transpose()?.flatten();
        let at_once = plan.source == Source::Standard;
        let most = plan.max_groups.unwrap_or(usize::MAX);
        Ok(match &plan.keep.resume {
            None => {
                let stream = Stream::open(&plan.source, &layout)?;
                if !plan.quiet {
                    say_reading(&stream);
                }
                let (mut fleet, setup) = Self::fresh(plan, setup, &stream, most)?;
                fleet.ask_for_coordinates(plan.target != Target::Nowhere);
                let answers = Answers::open(&plan.target, plan.form, setup.spec.kept, at_once)?;
                let options = (options(plan, &plan.layout, Some(stream.reading())), in_effect(&setup)?);
                let (before, start) = (Duration::ZERO, Instant::now());
                let answers = answers.with_texts(stream.kept_columns())?.with_safe_cells(plan.safe_cells);
                let (key, block, rows, lost) = (place_of_key(&stream)?, Block::default(), 0, 0.0);
                let _reservation = reservation;
                Self { plan, fleet, stream, answers, key, block, rows, lost, before, start, options, _reservation }
            }
            Some(path) => {
                let (mut fleet, saved) = open_fleet(path, most)?;
                fleet.ask_for_coordinates(plan.target != Target::Nowhere);
                let before = ResumeState::from_bytes(&saved, path)?;
                let now = options(plan, &plan.layout, before.stream.reading().cloned());
                before.agree(path, plan, &now)?;
                let names = fleet.fresh().columns.names.clone();
                let plain = Columns::new(names, Standardizer::new(Standardize::None, 0));
                let stream = Stream::resume(&plan.source, &layout, &before.stream, &plain)?;
                before.agree_on_table(path, &now)?;
                let (_, setup) = Self::fresh(plan, setup, &stream, usize::MAX)?;
                let learner = in_effect(&setup)?;
                before.agree_on_learner(path, &learner)?;
                let answers = Answers::resume(&plan.target, plan.form, setup.spec.kept, at_once, &before.answers)?;
                let answers = answers.with_texts(stream.kept_columns())?.with_safe_cells(plan.safe_cells);
                let (key, block, rows, lost) = (place_of_key(&stream)?, Block::default(), stream.rows(), 0.0);
                let (options, _reservation) = ((now, learner), reservation);
                let (before, start) = (before.elapsed(), Instant::now());
                Self { plan, fleet, stream, answers, key, block, rows, lost, before, start, options, _reservation }
            }
        })
    }

    /// Learners without rows, for this table.
    fn fresh(plan: &Plan, setup: &Setup, stream: &Stream, most: usize) -> Result<(Fleet, Setup)> {
        let length = stream.columns().len();
        allow_learners(stream, &[setup.spec.learner])?;
        let fits = |error: Error| anyhow!("{}: {}", stream.source(), misfit(&error, plan.layout.format, stream));
        let setup = setup.for_rows(length).map_err(fits)?;
        let run = Run::of(&setup, length, true).map_err(fits)?;
        let standardizer = Standardizer::new(plan.layout.standardize, length);
        let columns = Columns::new(Some(stream.columns().to_vec()), standardizer);
        let mut fleet = Fleet::new(run, columns)?;
        if most < usize::MAX {
            let folder = plan.keep.snapshot.as_deref().and_then(|path| path.parent().map(std::path::Path::to_owned));
            let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(std::env::temp_dir);
            fleet = fleet.with_store(most, Box::new(GroupStore::new(&folder)));
        }
        Ok((fleet, setup))
    }

    /// Learns row after row; true if the table came to its end.
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

    /// Rows that are read before they are learned: one from a pipe, else some for each key, so that a learner comes into the
    /// cache for several of them. Blocks end where snapshots are due.
    fn block_rows(&self) -> usize {
        if !self.plan.source.is_regular() {
            return 1;
        }
        let by_memory = BLOCK_NUMBERS / self.fleet.fresh().run.length().max(1);
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
        if rows.is_empty() {
            return Ok(Step::Ended);
        }
        let keys: Vec<&str> = delivered.iter().map(|row| &row.kept[*key][..]).collect();
        let kept = fleet.fresh().run.spec().kept;
        let mut coordinates = vec![0.0; rows.len() * kept];
        let mut outcomes: Vec<Result<Loss, Error>> = vec![Ok(Loss::default()); rows.len()];
        fleet.step_all(&keys, &rows, |i, outcome| {
            outcomes[i] = outcome.map(|(loss, run)| {
                let found = run.coordinates();
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
                Err(error) => stream.refuse_row(row, sentence(&error))?,
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

    /// The answers are there before the summary is.
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
        let groups = accounts(&mut fleet)?;
        let total = Total::of(&groups, stream.skipped(), seconds);
        let shown = match form {
            SummaryForm::Text => {
                let (learners, rate) = (counted(groups.len() as u64, "learner"), total.rows as f64 / seconds.max(1e-9));
                text(&groups, &total) + &format!("{learners}, {in_memory} in memory; {rate:.0} rows a second\n")
            }
            SummaryForm::Json => json(&groups, &total)?,
        };
        if plan.target == Target::Standard {
            return io::stderr().write_all(shown.as_bytes()).context("standard error cannot be written");
        }
        stdout::print(&shown)
    }
}

/// The accounts of saved learners, with their options.
pub fn inspect(path: &Path, as_json: bool) -> Result<String> {
    let (mut fleet, _) = open_fleet(path, usize::MAX)?;
    let groups = accounts(&mut fleet)?;
    let total = Total::of(&groups, 0, 0.0);
    if as_json {
        return json(&groups, &total);
    }
    let Snapshot { run, columns, .. } = fleet.fresh();
    let options: Vec<String> = run.setup().values().map(|(option, value)| format!("{} {value}", option.name)).collect();
    let names = columns.names.as_deref().unwrap_or_default();
    let learners = counted(groups.len() as u64, "learner");
    Ok(format!(
        "{}{learners} of {}\noptions    {}\ncolumns    {}\n",
        text(&groups, &total),
        counted(run.length() as u64, "number"),
        options.join(", "),
        printable(&names.join(", "))
    ))
}

/// The account of each key, in the order of their first rows.
fn accounts(fleet: &mut Fleet) -> Result<Vec<Group>> {
    let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
    let account = |key: String| {
        let summary = fleet.get(&key)?.context("each key has a learner")?.run.summary();
        Ok(Group { key, summary })
    };
    keys.into_iter().map(account).collect()
}

/// One object for programs.
fn json(groups: &[Group], total: &Total) -> Result<String> {
    Ok(serde_json::to_string(&serde_json::json!({ "total": total, "groups": groups }))? + "\n")
}

/// Place of the key among the texts that go along with a row.
fn place_of_key(stream: &Stream) -> Result<usize> {
    stream.first_kept().context("--group-by names a column that is kept")
}

/// The account of a key.
#[derive(Serialize)]
struct Group {
    key: String,
    #[serde(flatten)]
    summary: RunSummary,
}

/// The accounts of all keys, added up.
#[derive(Serialize)]
struct Total {
    groups: usize,
    rows: u64,
    skipped_rows: u64,
    expected_loss: f64,
    loss: f64,
    kept_energy: f64,
    /// Loss of the best subspace of each key; none if one is not known.
    best_loss: Option<f64>,
    seconds: f64,
}

impl Total {
    fn of(groups: &[Group], skipped_rows: u64, seconds: f64) -> Self {
        let sum = |of: fn(&RunSummary) -> f64| groups.iter().map(|group| of(&group.summary)).sum();
        Self {
            groups: groups.len(),
            rows: groups.iter().map(|group| group.summary.rows).sum(),
            skipped_rows,
            expected_loss: sum(|summary| summary.expected_loss),
            loss: sum(|summary| summary.loss),
            kept_energy: sum(|summary| summary.kept_energy),
            best_loss: groups.iter().map(|group| Some(group.summary.best_loss?.low())).sum(),
            seconds,
        }
    }
}

/// One line for each key, those that lost most if there are many, and the total.
fn text(groups: &[Group], total: &Total) -> String {
    let mut text = String::new();
    let mut shown: Vec<&Group> = groups.iter().collect();
    if shown.len() > MOST_LINES {
        shown.sort_by(|a, b| b.summary.expected_loss.total_cmp(&a.summary.expected_loss));
        shown.truncate(MOST_LINES);
    }
    let width = shown.iter().map(|group| printable(&group.key).chars().count()).max().unwrap_or(0).clamp(5, 40);
    // Writing to a string cannot fail.
    let mut line = |key: &str, rows: String, lost: String, best: String, kept: String| {
        let _ = writeln!(text, "{key:<width$}  {rows:>10}  {lost:>14}  {best:>14}  {kept:>7}");
    };
    let share = |kept: f64, lost: f64| match kept + lost {
        whole if whole > 0.0 => format!("{:.1} %", 100.0 * kept / whole),
        _ => "-".to_owned(),
    };
    let known = |best: Option<f64>| best.map_or("unknown".to_owned(), readable);
    line("key", "rows".into(), "lost, expected".into(), "best".into(), "kept".into());
    for Group { key, summary } in &shown {
        let best = known(summary.best_loss.map(|best| best.low()));
        let kept = share(summary.kept_energy, summary.loss);
        line(&printable(key), summary.rows.to_string(), readable(summary.expected_loss), best, kept);
    }
    let lost = readable(total.expected_loss);
    line("total", total.rows.to_string(), lost, known(total.best_loss), share(total.kept_energy, total.loss));
    if groups.len() > shown.len() {
        let more = groups.len() - shown.len();
        let _ = writeln!(text, "{} that lost less are not listed; --summary json has all", counted(more as u64, "key"));
    }
    text
}
