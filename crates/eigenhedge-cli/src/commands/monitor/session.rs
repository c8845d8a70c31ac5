//! Monitors with their input stream and results.

use super::account::{Account, TableFacts};
use super::hook::{Hook, Notice};
use super::key_state::KeyState;
use super::lending::{Counter, Latest, Lent};
use super::occurrence::{Occurrence, Times};
use super::record::Records;
use super::state::{State, Track};
use crate::args::MonitorArgs;
use crate::commands::run::words::{by_name, say};
use anyhow::{Result, anyhow};
use eigenhedge::{Error, Event, Fleet, Mode, Monitor, MonitorTotals, Verdict};
use eigenhedge_io::{Answers, Reservation, Stream, printable, verdict_cells};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Number of recent rows whose times are kept, because a change begins before it is found.
const REMEMBERED: usize = 128;
/// Maximum number of events and changes kept for the summary.
const LISTED: usize = 1000;
/// Monitors with their input stream, results and events.
pub struct Session<'a> {
    pub(super) args: &'a MonitorArgs,
    pub stream: Stream,
    /// The monitors; without `--group-by` there is one, with an empty key. The shared monitor has the first rows of all keys:
    /// keys with few rows borrow its reference.
    pub(super) fleet: Fleet<Monitor>,
    /// Index of the key among the copied columns; `None` without `--group-by`.
    pub(super) key: Option<usize>,
    pub(super) has_times: bool,
    pub(super) answers: Answers,
    pub(super) events: Answers,
    pub(super) state: State,
    /// Data of the page, if one was requested.
    pub(super) records: Option<Records>,
    /// Number of parts of the warm-up. Each key contributes at most one part to the shared reference.
    pub(super) parts: u64,
    pub(super) options: Map<String, Value>,
    pub(super) row: Vec<f64>,
    /// Exchange point with the page thread, used while the session waits for a row.
    pub(super) counter: Option<Counter>,
    /// State of the monitors after their last rows, for the page.
    pub(super) latest: Latest,
    /// Command that is notified of alarms and drifts.
    pub(super) hook: Option<Hook>,
    /// Prevents another run from writing the snapshot.
    pub(super) _reservation: Option<Reservation>,
}

/// Result of processing a row.
struct Seen {
    verdict: Verdict,
    before: MonitorTotals,
    after: MonitorTotals,
    /// First row of the current event.
    event_start: Option<u64>,
    is_ready: bool,
    /// State of the monitor and its current event, for the page.
    latest: Option<(KeyState, Option<Event>)>,
}

impl Session<'_> {
    /// Returns the number of rows of this table processed so far.
    pub fn rows(&self) -> u64 {
        self.state.rows
    }

    /// Returns the number of alarms so far.
    pub fn alarms(&self) -> u64 {
        self.state.totals.alarms
    }

    /// Processes the next row; false at the end of the table.
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
        let Self { fleet, stream, records, state, row, .. } = self;
        let key = self.key.map_or("", |key| &stream.kept()[key]);
        let place = fleet.position(key).unwrap_or(fleet.keys().len());
        let (number, time, parts) = (stream.row_number(), stream.time(), self.parts);
        let has_begun = state.tracks.get(place).is_some_and(|track| track.has_begun);
        let accepts = self.args.accept.is_some_and(|row| row <= number) && !state.is_accepted;
        let record = records.as_mut().and_then(|records| records.of(place));
        let is_lent = self.counter.is_some();
        let outcome = fleet.with_pool(key, row, parts, |monitor| {
            if !has_begun {
                monitor.begin_table();
            }
            let before = monitor.totals();
            let mut verdict = monitor.step_numbered(number, row)?;
            if accepts {
                // Too few rows since the drift began; retry at the next row.
                verdict.accepted |= monitor.accept().is_ok();
            }
            record.into_iter().for_each(|record| record.enter(&verdict, time, row, monitor));
            let event_start = monitor.open_event().map(|event| event.start);
            let (after, is_ready) = (monitor.totals(), monitor.is_ready());
            let latest = is_lent.then(|| (KeyState::of(key, monitor), monitor.open_event().copied()));
            Ok(Seen { verdict, before, after, event_start, is_ready, latest })
        });
        match outcome {
            Ok(seen) => {
                state.rows += 1;
                let has_gap = row.iter().any(|x| x.is_nan());
                state.filled_rows += u64::from(has_gap && seen.after.passed_over == seen.before.passed_over);
                state.is_accepted |= accepts && seen.verdict.accepted;
                state.totals.add_since(&seen.before, &seen.after);
                if place == state.tracks.len() {
                    state.tracks.push(Track::default());
                }
                let track = &mut state.tracks[place];
                (track.has_begun, track.is_ready) = (true, seen.is_ready);
                track.in_drift = seen.verdict.drift_since.is_some();
                track.totals.add_since(&seen.before, &seen.after);
                self.tell(&seen);
                self.answer(&seen.verdict)?;
                self.list(place, &seen)?;
                self.keep_latest(place, seen);
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

    /// Makes the data of the page available while the stream waits.
    fn lend(&mut self) {
        if let Some(counter) = &self.counter {
            self.latest.count(self.stream.skipped(), self.fleet.in_memory());
            let (state, latest) = (std::mem::take(&mut self.state), std::mem::take(&mut self.latest));
            *counter.hold() = Some(Lent { state, records: self.records.take(), latest });
            counter.touch();
        }
    }

    fn take_back(&mut self) {
        if let Some(Lent { state, records, latest }) = self.counter.as_ref().and_then(|counter| counter.lock().take()) {
            (self.state, self.records, self.latest) = (state, records, latest);
        }
    }

    /// Updates the page's data about the monitor of the last row.
    fn keep_latest(&mut self, place: usize, seen: Seen) {
        let Some((mut state, event)) = seen.latest else { return };
        let track = &self.state.tracks[place];
        state.in_table = track.totals;
        let named = |event: Event| Occurrence::of_event(&event, &state.key, track.event.clone(), self.stream.columns());
        let open = event.map(named);
        self.latest.enter(place, state, open);
    }

    fn answer(&mut self, verdict: &Verdict) -> Result<()> {
        let cells = verdict_cells(verdict, self.stream.kept(), self.stream.columns());
        Ok(self.answers.write_cells(&cells)?)
    }

    /// Notifies the hook of the first alarm of an event and of the start or end of a drift.
    fn tell(&mut self, seen: &Seen) {
        let Self { hook: Some(hook), stream, .. } = self else { return };
        let verdict = &seen.verdict;
        let (key, row) = (self.key.map_or("", |key| &stream.kept()[key]), verdict.row);
        let time = if self.has_times { &stream.kept()[0] } else { "" };
        let score = Some(verdict.score).filter(|score| score.is_finite());
        let named = |causes: &[Option<eigenhedge::Cause>]| {
            causes.iter().flatten().map(|cause| (stream.columns()[cause.column].as_str(), cause.share)).collect()
        };
        if verdict.alarm && seen.event_start == Some(row) {
            hook.tell(&Notice { kind: "alarm", key, row, time, score, causes: named(&verdict.causes) });
        }
        for (kind, report) in [("drift", &verdict.drift), ("returned", &verdict.returned)] {
            if let Some(report) = report {
                hook.tell(&Notice { kind, key, row, time, score, causes: named(&report.causes) });
            }
        }
    }

    /// Returns the totals of this table over all monitors.
    pub fn totals(&self) -> &MonitorTotals {
        &self.state.totals
    }

    /// Returns each key with its number of alarms and true if it is in drift.
    pub fn key_states(&self) -> Vec<(&str, u64, bool)> {
        let tracks = self.fleet.keys().zip(&self.state.tracks);
        tracks.map(|(key, track)| (key, track.totals.alarms, track.in_drift)).collect()
    }

    /// Lists the event that ended and the change that was found.
    fn list(&mut self, place: usize, seen: &Seen) -> Result<()> {
        let Self { stream, state, .. } = self;
        let verdict = &seen.verdict;
        let key = self.key.map_or("", |key| &stream.kept()[key]);
        let track = &mut state.tracks[place];
        let mut found = Vec::new();
        if let Some(event) = &verdict.event {
            let times = std::mem::take(&mut track.event);
            found.push(Occurrence::of_event(event, key, times, stream.columns()));
        }
        if self.has_times {
            let time = &stream.kept()[0];
            track.recent.push_back((verdict.row, time.clone(), stream.time()));
            track.recent.truncate_front_to(REMEMBERED);
            if let Some(start) = seen.event_start.filter(|_| verdict.alarm) {
                if start == verdict.row {
                    track.event = Times { start: time.clone(), end: String::new(), seconds: stream.time() };
                }
                track.event.end.clone_from(time);
            }
        }
        let times = |first: u64, last: u64| {
            let time = |row: u64| track.recent.iter().find(|(number, ..)| *number == row);
            Times {
                start: time(first).map_or(String::new(), |(_, text, _)| text.clone()),
                end: time(last).map_or(String::new(), |(_, text, _)| text.clone()),
                seconds: time(first).and_then(|(.., seconds)| *seconds),
            }
        };
        let names = stream.columns();
        if let Some(report) = &verdict.drift {
            let times = times(report.since, report.reported);
            found.push(Occurrence::of_drift("drift", report, report.reported, key, times, names));
        }
        if let Some(report) = &verdict.returned {
            let times = times(report.since, verdict.row);
            found.push(Occurrence::of_drift("returned", report, verdict.row, key, times, names));
        }
        if verdict.accepted {
            found.push(Occurrence::of_acceptance(verdict.row, key, times(verdict.row, verdict.row)));
        }
        if let Some(change) = &verdict.change {
            let times = times(change.start, change.reported);
            found.push(Occurrence::of_change(change, key, times, names));
        }
        found.into_iter().try_for_each(|occurrence| self.enter(occurrence))
    }

    fn enter(&mut self, occurrence: Occurrence) -> Result<()> {
        self.events.write_cells(&occurrence.cells(self.key.is_some(), self.has_times))?;
        if self.state.listed.len() < LISTED {
            self.state.listed.push(occurrence);
        }
        Ok(())
    }

    /// Saves a snapshot every `--snapshot-every` rows.
    pub fn save_in_time(&mut self) -> Result<()> {
        match self.args.snapshot_every {
            Some(every) if self.rows().is_multiple_of(every) => self.save(),
            _ => Ok(()),
        }
    }

    /// Returns true if no monitor has completed its warm-up.
    pub fn is_too_short(&self) -> bool {
        !self.state.tracks.iter().any(|track| track.is_ready)
    }

    /// Returns the length of a warm-up with which a too short table can be read again; `None` if that would not help.
    ///
    /// It is a third of the rows. If the length was given and the number of keys was unknown, it is the given length.
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

    /// Returns the error for a table that is too short.
    pub fn too_short(&self) -> anyhow::Error {
        let wanted = self.fleet.fresh().options().warm_up_rows(self.fleet.fresh().width());
        let (source, rows) = (self.stream.source(), self.rows());
        let longest = self.state.tracks.iter().zip(self.fleet.keys()).max_by_key(|(track, _)| track.totals.rows);
        let found = match longest.filter(|_| self.key.is_some()) {
            Some((track, key)) => {
                let (key, most) = (printable(key), track.totals.rows);
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

    /// Ends current events, publishes the results and returns the data of the summary.
    pub fn finish(mut self) -> Result<Finished> {
        let keys: Vec<String> = self.fleet.keys().map(str::to_owned).collect();
        let mut states = Vec::with_capacity(keys.len());
        for (place, key) in keys.into_iter().enumerate() {
            let (before, event, after, mut state) = self.fleet.with(&key, |monitor| {
                let before = monitor.totals();
                let event = monitor.close_event();
                Ok((before, event, monitor.totals(), KeyState::of(&key, monitor)))
            })?;
            let track = &mut self.state.tracks[place];
            track.totals.add_since(&before, &after);
            self.state.totals.add_since(&before, &after);
            state.in_table = track.totals;
            states.push(state);
            let Some(event) = event else { continue };
            let times = std::mem::take(&mut track.event);
            let occurrence = Occurrence::of_event(&event, &key, times, self.stream.columns());
            self.enter(occurrence)?;
        }
        let (limit, in_memory) = (self.fleet.fresh().options().limit, self.fleet.in_memory());
        let Self {
            stream, answers, events, state: State { totals, rows, listed, filled_rows, .. }, records, hook, ..
        } = self;
        answers.finish()?;
        events.finish()?;
        hook.and_then(Hook::finish).iter().for_each(|sentence| say(sentence));
        let (table, keys, open, running) = (TableFacts::of(&stream), states, Vec::new(), None);
        let account = Account { table, keys, totals, rows, listed, open, filled_rows, limit, in_memory, running };
        Ok(Finished { stream, account, records })
    }
}

/// Data of a session after its results are complete.
pub struct Finished {
    pub stream: Stream,
    pub account: Account,
    pub records: Option<Records>,
}

trait TruncateFront {
    /// Removes elements from the front until at most `most` remain.
    fn truncate_front_to(&mut self, most: usize);
}

impl<T> TruncateFront for VecDeque<T> {
    fn truncate_front_to(&mut self, most: usize) {
        while self.len() > most {
            self.pop_front();
        }
    }
}
