//! Engine of `monitor`: monitors with their results, events and record.

use super::hook::Hook;
use super::metrics::Metrics;
use crate::args::MonitorArgs;
use crate::commands::session::words::{by_name, say};
use crate::commands::session::{Engine, Session};
use crate::live::Shared;
use anyhow::{Result, anyhow};
use eigenhedge::{Error, Fleet, Mode, Monitor, Verdict};
use eigenhedge_io::{
    Answers, Delivered, Position, Stream, printable, printable_path, save_fleet, verdict_cells, write_private,
};
use eigenhedge_pages::monitor::{Facts, Journal, Notice, Occurrence, RowAt, Seen};
use eigenhedge_pages::{counted, to_text};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, MutexGuard};

pub struct Monitors<'a> {
    pub(super) args: &'a MonitorArgs,
    /// Monitors by key. Without `--group-by` there is a single one, with an empty key. The shared monitor
    /// learns the first rows of all keys, and keys with few rows borrow its reference.
    pub(super) fleet: Fleet<Monitor>,
    /// Index of the key among the copied columns, or `None` without `--group-by`.
    pub(super) key: Option<usize>,
    pub(super) has_times: bool,
    pub(super) answers: Answers,
    /// True if results on standard output wait for the first score, because the table may be read again.
    pub(super) holds: bool,
    /// Verdicts that wait, with the copied cells of their rows.
    pub(super) held: Vec<(Verdict, Vec<String>)>,
    pub(super) events: Answers,
    pub(super) watched: Arc<Shared<Watched>>,
    /// True once `--accept` has taken effect.
    pub(super) is_accepted: bool,
    /// Number of parts of the warm-up. Each key contributes at most one part to the shared reference.
    pub(super) parts: u64,
    pub(super) block_rows: usize,
    /// Command that is run for incidents.
    pub(super) hook: Option<Hook>,
    pub(super) metrics: Option<Metrics<'a>>,
}

/// Record of the monitors, for summaries and pages.
#[derive(Debug, Default)]
pub struct Watched {
    pub journal: Journal,
    pub skipped: u64,
    pub in_memory: usize,
}

/// State of monitors that is saved with them.
#[derive(Debug, Serialize, Deserialize)]
pub struct MonitorState {
    /// Extent of the list of events that is safely on disk.
    pub events: Position,
    /// Journal, serialized as a string.
    pub journal: String,
    pub is_accepted: bool,
}

impl Engine for Monitors<'_> {
    type State = MonitorState;

    fn rows(&self) -> u64 {
        self.watched().journal.rows
    }

    fn block_rows(&self) -> usize {
        self.block_rows
    }

    fn learn(&mut self, rows: &[Delivered], stream: &mut Stream) -> Result<()> {
        let watched = Arc::clone(&self.watched);
        let mut held = watched.lock();
        for row in rows {
            self.step(row, &mut held.journal, stream)?;
        }
        (held.skipped, held.in_memory) = (stream.skipped(), self.fleet.in_memory());
        if let Some(metrics) = &mut self.metrics {
            metrics.tick(&held.journal)?;
        }
        drop(held);
        watched.touch();
        Ok(())
    }

    fn progress(&mut self) -> String {
        counted(self.watched().journal.totals.alarms, "alarm")
    }

    fn sync(&mut self) -> Result<(Position, MonitorState)> {
        let (answers, events) = (self.answers.sync()?, self.events.sync()?);
        let journal = to_text(&self.watched().journal);
        Ok((answers, MonitorState { events, journal, is_accepted: self.is_accepted }))
    }

    fn write(&mut self, path: &Path, resume_state: Vec<u8>) -> Result<()> {
        if self.key.is_some() {
            return Ok(save_fleet(path, &mut self.fleet, &resume_state)?);
        }
        let mut monitor = self.fleet.get("")?.unwrap_or_else(|| self.fleet.fresh().clone());
        monitor.resume_state = resume_state;
        Ok(write_private(path, &eigenhedge::checked_bytes(&monitor)?)?)
    }
}

impl Monitors<'_> {
    pub fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.hold()
    }

    fn step(&mut self, row: &Delivered, journal: &mut Journal, stream: &mut Stream) -> Result<()> {
        let (key, time) = self.key_and_time(row);
        let place = (self.fleet.position(key).unwrap_or(self.fleet.keys().len()), key);
        let accepts = self.args.accept.is_some_and(|first| first <= row.number) && !self.is_accepted;
        let names = (stream.columns(), accepts);
        let at = RowAt { number: row.number, cells: row.row.numbers(), time, seconds: row.time };
        match self.fleet.with_pool(key, self.parts, |monitor| journal.step(place, monitor, &at, names)) {
            Ok(seen) => {
                self.is_accepted |= accepts && seen.verdict.accepted;
                self.tell(&seen, row, stream);
                self.holds &= seen.verdict.score.is_nan();
                if self.holds {
                    self.held.push((seen.verdict, row.kept.clone()));
                } else {
                    self.release(stream)?;
                    self.answers.write(&verdict_cells(&seen.verdict, &row.kept, stream.columns()))?;
                }
                seen.found.iter().try_for_each(|occurrence| self.list(occurrence))
            }
            Err(error @ Error::TooFewRows { .. }) => Err(anyhow!("{}: {error}", stream.source())),
            Err(error @ Error::Store(_)) => Err(error.into()),
            Err(error) => {
                let reason = by_name(&error, stream);
                Ok(stream.refuse_row(row, reason)?)
            }
        }
    }

    /// Writes the verdicts that wait.
    fn release(&mut self, stream: &Stream) -> Result<()> {
        for (verdict, texts) in std::mem::take(&mut self.held) {
            self.answers.write(&verdict_cells(&verdict, &texts, stream.columns()))?;
        }
        Ok(())
    }

    /// Returns the key and the time of a row as text. Each is empty if its column is missing.
    fn key_and_time<'r>(&self, row: &'r Delivered) -> (&'r str, &'r str) {
        (self.key.map_or("", |key| &row.kept[key]), if self.has_times { &row.kept[0] } else { "" })
    }

    fn list(&mut self, occurrence: &Occurrence) -> Result<()> {
        let detail = self.args.events_detail;
        if !detail && !occurrence.is_incident() {
            return Ok(());
        }
        Ok(self.events.write(&occurrence.cells(self.key.is_some(), self.has_times, detail))?)
    }

    /// Runs the hook when an incident opens or closes.
    fn tell(&mut self, seen: &Seen, row: &Delivered, stream: &Stream) {
        let (key, time) = self.key_and_time(row);
        let Some(hook) = &mut self.hook else { return };
        let notices = seen.notices(key, time, stream.columns());
        notices.iter().filter(|one| Notice::URGENT.contains(&one.kind.as_str())).for_each(|one| hook.tell(one));
    }

    pub fn write_metrics(&mut self) -> Result<()> {
        let Self { metrics: Some(metrics), watched, .. } = self else { return Ok(()) };
        metrics.write(&watched.hold().journal)
    }

    /// Returns true if no monitor has completed its warm-up.
    pub fn is_too_short(&self) -> bool {
        !self.watched().journal.tracks.iter().any(|track| track.is_ready)
    }

    /// Returns a warm-up length with which a table of this many rows, which is too short, can be read, or `None` if that would not
    /// help.
    ///
    /// It is a third of the number of rows. If a length was given and the number of keys was unknown, it is
    /// the given length.
    pub fn shorter_warm_up(&self, rows: u64, knows_keys: bool) -> Option<u64> {
        let (options, width) = (self.fleet.fresh().options(), self.fleet.fresh().width());
        if options.warm_up.is_some() || options.mode != Mode::Adapt {
            let given = options.warm_up_rows(width);
            return (self.key.is_some() && !knows_keys && rows > given).then_some(given);
        }
        let least = options.least_warm_up(width) as u64;
        (rows >= 2 * least).then(|| (rows / 3).max(least))
    }

    /// Returns the number of warm-up rows if it follows from the number of columns and every row belongs to it.
    pub fn usual_warm_up(&self) -> Option<u64> {
        let (fresh, options) = (self.fleet.fresh(), self.fleet.fresh().options());
        let is_chosen = options.warm_up.is_some() || options.mode != Mode::Adapt || fresh.is_ready();
        (!is_chosen && self.key.is_none() && self.rows() == 0).then(|| options.warm_up_rows(fresh.width()))
    }

    pub fn keys(&self) -> u64 {
        self.fleet.keys().len() as u64
    }

    pub fn too_short(&self, stream: &Stream) -> anyhow::Error {
        let wanted = self.fleet.fresh().options().warm_up_rows(self.fleet.fresh().width());
        let (source, rows, watched) = (stream.source(), self.rows(), self.watched());
        let longest = watched.journal.tracks.iter().max_by_key(|track| track.in_table.rows);
        let found = match longest.filter(|_| self.key.is_some()) {
            Some(track) => {
                let (key, most) = (printable(&track.key), track.in_table.rows);
                format!("{rows} rows of {} keys, at most {most} of one ({key})", self.keys())
            }
            None => rows.to_string(),
        };
        let of_key = if self.key.is_some() { " of one key" } else { "" };
        anyhow!(
            "{source}: must have more rows{of_key} than the warm-up, {wanted}, got {found}; --warm-up takes fewer, and --train \
             another table"
        )
    }

    pub fn shared(&self) -> Arc<Shared<Watched>> {
        Arc::clone(&self.watched)
    }

    /// Returns facts about the table and the monitors, for a page of the table while it is read.
    pub fn facts_so_far(&self, stream: &Stream) -> Facts {
        let fresh = self.fleet.fresh();
        self.facts(stream, Some(fresh.options().warm_up_rows(fresh.width())))
    }

    fn facts(&self, stream: &Stream, running: Option<u64>) -> Facts {
        let args = self.args;
        Facts {
            source: stream.source(),
            columns: stream.shown_columns(),
            // The first copied column is that of times.
            time: stream.kept_columns().into_iter().next().filter(|_| self.has_times),
            by: args.group_by.clone(),
            first_line: stream.first_line(),
            skipped: stream.skipped(),
            limit: self.fleet.fresh().options().limit,
            reference: match (&args.train, &args.start_from) {
                (Some(path), _) => Some(format!("{} of {}", counted(self.trained_rows(), "row"), printable_path(path))),
                (None, Some(path)) => Some(format!("as in {}", printable_path(path))),
                (None, None) => None,
            },
            in_memory: self.fleet.in_memory(),
            running,
        }
    }

    /// Returns the number of rows in the table given by `--train`.
    fn trained_rows(&self) -> u64 {
        self.fleet.fresh().totals().warm_up
    }
}

impl Session<'_, Monitors<'_>> {
    /// Ends ongoing events, completes the results, and returns the data of the summary.
    pub fn finish(self) -> Result<Finished> {
        let Self { mut engine, stream, .. } = self;
        let mut journal = std::mem::take(&mut engine.watched.hold().journal);
        let keys: Vec<String> = engine.fleet.keys().map(str::to_owned).collect();
        for (place, key) in keys.into_iter().enumerate() {
            let close = |monitor: &mut Monitor| Ok(journal.close(place, monitor, stream.columns()));
            let closed = engine.fleet.with(&key, close)?;
            closed.iter().try_for_each(|occurrence| engine.list(occurrence))?;
        }
        journal.open_incidents(stream.columns()).iter().try_for_each(|occurrence| engine.list(occurrence))?;
        let facts = engine.facts(&stream, None);
        engine.release(&stream)?;
        engine.answers.finish()?;
        engine.events.finish()?;
        engine.hook.and_then(Hook::finish).iter().for_each(|sentence| say(sentence));
        Ok(Finished { stream, facts, journal })
    }
}

/// Data of a session whose results are complete.
pub struct Finished {
    pub stream: Stream,
    pub facts: Facts,
    pub journal: Journal,
}
