//! Engine of `monitor`: the monitors, the writers of results and events, and the journal for the page.

use super::hook::Hook;
use super::metrics::Metrics;
use crate::args::MonitorArgs;
use crate::commands::session::words::say;
use crate::commands::session::{Engine, Session};
use crate::live::{Live, Shared};
use anyhow::Result;
use eigenhedge::Verdict;
use eigenhedge_io::{Answers, Position, Row, Stream, printable_path, save_fleet, verdict_cells, write_private};
use eigenhedge_pages::monitor::{Facts, Inside, Journal, Notice, Occurrence, Seen, TableMonitors, page};
use eigenhedge_pages::{counted, to_text};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, MutexGuard};

pub struct Monitors<'a> {
    pub(super) args: &'a MonitorArgs,
    pub(super) monitors: TableMonitors,
    pub(super) answers: Answers,
    /// True if results on standard output wait for the first score, as the table may be read again.
    pub(super) holds: bool,
    pub(super) held: Vec<(Verdict, Vec<String>)>,
    pub(super) events: Answers,
    pub(super) watched: Arc<Shared<Watched>>,
    pub(super) block_rows: usize,
    pub(super) hook: Option<Hook>,
    pub(super) metrics: Option<Metrics<'a>>,
}

#[derive(Debug, Default)]
pub struct Watched {
    pub journal: Journal,
    pub skipped: u64,
    pub in_memory: usize,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct MonitorState {
    pub events: Position,
    pub journal: String,
    pub is_accepted: bool,
    pub current: Option<(String, u64)>,
}

impl Engine for Monitors<'_> {
    type State = MonitorState;

    fn rows(&self) -> u64 {
        self.watched().journal.rows
    }

    fn block_rows(&self) -> usize {
        self.block_rows
    }

    fn learn(&mut self, rows: &[Row], stream: &mut Stream) -> Result<()> {
        let watched = Arc::clone(&self.watched);
        let mut held = watched.lock();
        for row in rows {
            self.step(row, &mut held.journal, stream)?;
        }
        (held.skipped, held.in_memory) = (stream.skipped(), self.monitors.fleet.in_memory());
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
        let TableMonitors { is_accepted, ref current, .. } = self.monitors;
        Ok((answers, MonitorState { events, journal, is_accepted, current: current.clone() }))
    }

    fn write(&mut self, path: &Path, resume_state: Vec<u8>) -> Result<()> {
        let TableMonitors { fleet, key, .. } = &mut self.monitors;
        if key.is_some() {
            return Ok(save_fleet(path, fleet, &resume_state)?);
        }
        let mut monitor = fleet.get("")?.unwrap_or_else(|| fleet.fresh().clone());
        monitor.resume_state = resume_state;
        Ok(write_private(path, &eigenhedge::checked_bytes(&monitor)?)?)
    }
}

impl Monitors<'_> {
    pub fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock()
    }

    fn step(&mut self, row: &Row, journal: &mut Journal, stream: &mut Stream) -> Result<()> {
        let Some(seen) = self.monitors.step(row, journal, stream)? else { return Ok(()) };
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

    fn release(&mut self, stream: &Stream) -> Result<()> {
        for (verdict, texts) in std::mem::take(&mut self.held) {
            self.answers.write(&verdict_cells(&verdict, &texts, stream.columns()))?;
        }
        Ok(())
    }

    fn list(&mut self, occurrence: &Occurrence) -> Result<()> {
        let detail = self.args.events_detail;
        if !detail && !occurrence.is_incident() {
            return Ok(());
        }
        Ok(self.events.write(&occurrence.cells(self.monitors.key.is_some(), self.monitors.has_times, detail))?)
    }

    fn tell(&mut self, seen: &Seen, row: &Row, stream: &Stream) {
        let (key, time) = self.monitors.key_and_time(row);
        let Some(hook) = &mut self.hook else { return };
        let notices = seen.notices(key, time, stream.columns());
        notices.iter().filter(|one| Notice::URGENT.contains(&one.kind.as_str())).for_each(|one| hook.tell(one));
    }

    fn facts(&self, stream: &Stream, running: Option<u64>) -> Facts {
        let [trained, started] =
            [&self.args.train, &self.args.start_from].map(|path| path.as_deref().map(printable_path));
        self.monitors.facts(stream, self.args.beside.group_by.as_ref(), (trained, started), running)
    }
}

impl Session<'_, Monitors<'_>> {
    pub fn show(&self, live: &mut Live) {
        let fresh = self.engine.monitors.fleet.fresh();
        let facts = self.engine.facts(&self.stream, Some(fresh.options().warm_up_rows(fresh.width())));
        live.follow(Arc::clone(&self.engine.watched), move |Watched { journal, skipped, in_memory }, open| {
            let facts = Facts { skipped: *skipped, in_memory: *in_memory, ..facts.clone() };
            Some((page(journal, &facts, &Inside::Open(open)), journal.rows))
        });
    }

    pub fn finish(self) -> Result<(Stream, Facts, Journal)> {
        let Self { mut engine, stream, .. } = self;
        let mut journal = std::mem::take(&mut engine.watched.lock().journal);
        let last = engine.monitors.close(&mut journal, stream.columns())?;
        last.iter().try_for_each(|occurrence| engine.list(occurrence))?;
        let facts = engine.facts(&stream, None);
        engine.release(&stream)?;
        engine.answers.finish()?;
        engine.events.finish()?;
        engine.hook.and_then(Hook::finish).iter().for_each(|sentence| say(sentence));
        Ok((stream, facts, journal))
    }
}
