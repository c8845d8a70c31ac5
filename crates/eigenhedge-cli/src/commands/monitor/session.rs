//! A monitoring session: monitors with their input stream, results and events.

use super::hook::{Hook, Notice};
use super::pages::{Counter, MonitorPages};
use crate::args::MonitorArgs;
use crate::commands::run::words::{by_name, say};
use anyhow::{Result, anyhow};
use eigenhedge::{Cause, Error, Fleet, Mode, Monitor};
use eigenhedge_io::{Answers, Reservation, Stream, printable, printable_path, verdict_cells};
use eigenhedge_pages::counted;
use eigenhedge_pages::monitor::{Facts, Journal, Occurrence, RowAt, Seen};
use serde_json::{Map, Value};

/// Monitors, with their input stream, results and events.
pub struct Session<'a> {
    pub(super) args: &'a MonitorArgs,
    pub stream: Stream,
    /// Monitors by key. Without `--group-by` there is a single monitor, with an empty key. With it, a shared monitor
    /// learns the first rows of all keys, and keys with few rows use its reference.
    pub(super) fleet: Fleet<Monitor>,
    /// Index of the key among the copied columns. `None` without `--group-by`.
    pub(super) key: Option<usize>,
    pub(super) has_times: bool,
    pub(super) answers: Answers,
    pub(super) events: Answers,
    /// Record of all events, drifts and changes that the monitors have reported.
    pub(super) journal: Journal,
    /// True once `--accept` has taken effect.
    pub(super) is_accepted: bool,
    /// Number of parts into which the shared warm-up is divided. Each key contributes at most one part.
    pub(super) parts: u64,
    pub(super) options: Map<String, Value>,
    pub(super) row: Vec<f64>,
    /// Slot in which the journal is shared with the page thread while the session waits for a row.
    pub(super) counter: Option<Counter>,
    /// Command that is run for alarms and drifts.
    pub(super) hook: Option<Hook>,
    /// Lock that prevents another run from writing the snapshot.
    pub(super) _reservation: Option<Reservation>,
}

impl Session<'_> {
    /// Returns the number of rows of this table processed so far.
    pub fn rows(&self) -> u64 {
        self.journal.rows
    }

    /// Returns the number of alarms so far.
    pub fn alarms(&self) -> u64 {
        self.journal.totals.alarms
    }

    /// Processes the next row. Returns false at the end of the table.
    pub fn step(&mut self) -> Result<bool> {
        self.lend();
        let next = self.stream.next_row().map(|next| {
            self.row.clear();
            self.row.extend_from_slice(next.unwrap_or_default());
            next.is_some()
        });
        self.take_back();
        if !next? {
            return Ok(false);
        }
        let Self { fleet, stream, journal, row, .. } = self;
        let key = self.key.map_or("", |key| &stream.kept()[key]);
        let place = (fleet.position(key).unwrap_or(fleet.keys().len()), key);
        let (number, seconds, parts) = (stream.row_number(), stream.time(), self.parts);
        let time = if self.has_times { &stream.kept()[0] } else { "" };
        let row = RowAt { number, cells: row, time, seconds };
        let accepts = self.args.accept.is_some_and(|row| row <= number) && !self.is_accepted;
        let names = (stream.columns(), accepts);
        match fleet.with_pool(key, parts, |monitor| journal.step(place, monitor, &row, names)) {
            Ok(seen) => {
                self.is_accepted |= accepts && seen.verdict.accepted;
                self.tell(&seen);
                self.answer(&seen)?;
            }
            Err(error @ Error::TooFewRows { .. }) => return Err(anyhow!("{}: {error}", self.stream.source())),
            Err(error @ Error::Store(_)) => return Err(error.into()),
            Err(error) => {
                let reason = by_name(&error, &self.stream);
                self.stream.refuse(reason)?;
            }
        }
        Ok(true)
    }

    /// Makes the journal available to the page thread while the session waits for a row.
    fn lend(&mut self) {
        if let Some(counter) = &self.counter {
            let facts = (self.stream.skipped(), self.fleet.in_memory());
            *counter.hold() = Some((std::mem::take(&mut self.journal), facts));
            counter.touch();
        }
    }

    fn take_back(&mut self) {
        if let Some((journal, _)) = self.counter.as_ref().and_then(|counter| counter.lock().take()) {
            self.journal = journal;
        }
    }

    /// Writes the result of a row, and the events that the row revealed.
    fn answer(&mut self, seen: &Seen) -> Result<()> {
        let cells = verdict_cells(&seen.verdict, self.stream.kept(), self.stream.columns());
        self.answers.write_cells(&cells)?;
        seen.found.iter().try_for_each(|occurrence| self.list(occurrence))
    }

    fn list(&mut self, occurrence: &Occurrence) -> Result<()> {
        Ok(self.events.write_cells(&occurrence.cells(self.key.is_some(), self.has_times))?)
    }

    /// Runs the hook for the first alarm of an event and for the start or end of a drift.
    fn tell(&mut self, seen: &Seen) {
        let Self { hook: Some(hook), stream, .. } = self else { return };
        let verdict = &seen.verdict;
        let (key, row) = (self.key.map_or("", |key| &stream.kept()[key]), verdict.row);
        let time = if self.has_times { &stream.kept()[0] } else { "" };
        let score = Some(verdict.score).filter(|score| score.is_finite());
        let named = |causes: &[Option<Cause>]| {
            causes.iter().flatten().map(|cause| (stream.columns()[cause.column].as_str(), cause.share)).collect()
        };
        if seen.begins_event {
            hook.tell(&Notice { kind: "alarm", key, row, time, score, causes: named(&verdict.causes) });
        }
        for one in seen.found.iter().filter(|one| one.kind == "drift" || one.kind == "returned") {
            let causes = one.causes.iter().map(|(name, share)| (name.as_str(), *share)).collect();
            hook.tell(&Notice { kind: &one.kind, key, row, time, score, causes });
        }
    }

    /// Saves a snapshot if the number of rows is a multiple of `--snapshot-every`.
    pub fn save_in_time(&mut self) -> Result<()> {
        match self.args.snapshot_every {
            Some(every) if self.rows().is_multiple_of(every) => self.save(),
            _ => Ok(()),
        }
    }

    /// Returns true if no monitor has completed its warm-up.
    pub fn is_too_short(&self) -> bool {
        !self.journal.tracks.iter().any(|track| track.is_ready)
    }

    /// Returns a shorter warm-up with which the table can be read again, or `None` if that would not help.
    ///
    /// The warm-up is a third of the rows. If the user gave a length and the number of keys was unknown, it is that
    /// length.
    pub fn shorter_warm_up(&self, knows_keys: bool) -> Option<u64> {
        let (options, width) = (self.fleet.fresh().options(), self.fleet.fresh().width());
        if options.warm_up.is_some() || options.mode != Mode::Adapt {
            let given = options.warm_up_rows(width);
            return (self.key.is_some() && !knows_keys && self.rows() > given).then_some(given);
        }
        let least = options.least_warm_up(width) as u64;
        (self.rows() >= 2 * least).then(|| (self.rows() / 3).max(least))
    }

    /// Returns the number of keys so far.
    pub fn keys(&self) -> u64 {
        self.fleet.keys().len() as u64
    }

    /// Creates the error for a table that is too short.
    pub fn too_short(&self) -> anyhow::Error {
        let wanted = self.fleet.fresh().options().warm_up_rows(self.fleet.fresh().width());
        let (source, rows) = (self.stream.source(), self.rows());
        let longest = self.journal.tracks.iter().max_by_key(|track| track.in_table.rows);
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

    /// Returns a builder of live pages, or `None` without `--live`.
    pub fn pages(&self) -> Option<MonitorPages> {
        let fresh = self.fleet.fresh();
        let warm_up = fresh.options().warm_up_rows(fresh.width());
        Some(MonitorPages::new(Counter::clone(self.counter.as_ref()?), self.facts(Some(warm_up))))
    }

    /// Returns facts about the table and the monitors, for summaries and pages. `running` is the warm-up length while
    /// the session runs.
    pub fn facts(&self, running: Option<u64>) -> Facts {
        let (stream, args) = (&self.stream, self.args);
        Facts {
            source: stream.source(),
            columns: stream.columns().to_vec(),
            // The first copied column contains the times.
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

    /// Ends ongoing events, completes the results, and returns the data for the summary.
    pub fn finish(mut self) -> Result<Finished> {
        let keys: Vec<String> = self.fleet.keys().map(str::to_owned).collect();
        for (place, key) in keys.into_iter().enumerate() {
            let Self { fleet, journal, stream, .. } = &mut self;
            let closed = fleet.with(&key, |monitor| Ok(journal.close(place, monitor, stream.columns())))?;
            closed.iter().try_for_each(|occurrence| self.list(occurrence))?;
        }
        let facts = self.facts(None);
        let Self { stream, answers, events, journal, hook, .. } = self;
        answers.finish()?;
        events.finish()?;
        hook.and_then(Hook::finish).iter().for_each(|sentence| say(sentence));
        Ok(Finished { stream, facts, journal })
    }
}

/// Data of a session whose results are complete.
pub struct Finished {
    pub stream: Stream,
    pub facts: Facts,
    pub journal: Journal,
}
