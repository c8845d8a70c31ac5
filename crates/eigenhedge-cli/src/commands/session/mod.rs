//! Session that learns from a table: reading, snapshots, progress and signals. What learns is an [`Engine`].

mod block;
mod progress;
mod resume_state;
pub mod words;

use crate::stop::StopSignal;
use anyhow::Result;
pub use block::{Block, step_rows};
use eigenhedge_io::{Position, Reservation, Row, Stream, Target};
pub use progress::Progress;
pub use resume_state::{FIRST_ROW, Options, ResumeState, differs, first_row, spoken, table_options};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};
use words::{stopped_early, waits};

pub trait Engine {
    type State: Serialize;

    fn rows(&self) -> u64;

    fn block_rows(&self) -> usize;

    fn read(&mut self, block: &mut Block, stream: &mut Stream, most: usize) -> Result<()> {
        Ok(block.read(stream, most)?)
    }

    fn learn(&mut self, rows: &[Row], stream: &mut Stream) -> Result<()>;

    fn progress(&mut self) -> String;

    /// Returns the extent of `--out` on disk, and the state of the engine.
    fn sync(&mut self) -> Result<(Position, Self::State)>;

    fn write(&mut self, path: &Path, resume_state: Vec<u8>) -> Result<()>;
}

pub struct Snapshots<'a> {
    path: Option<&'a Path>,
    every: Option<u64>,
    /// Prevents another run from writing the snapshot.
    _reservation: Option<Reservation>,
}

impl<'a> Snapshots<'a> {
    pub fn new(path: Option<&'a Path>, every: Option<u64>) -> Result<Self> {
        Ok(Self { path, every, _reservation: path.map(Reservation::of).transpose()?.flatten() })
    }
}

pub struct Session<'a, E> {
    pub engine: E,
    pub stream: Stream,
    snapshots: Snapshots<'a>,
    options: Options,
    block: Block,
    before: Duration,
    start: Instant,
}

impl<'a, E: Engine> Session<'a, E> {
    pub fn new(engine: E, stream: Stream, snapshots: Snapshots<'a>, options: Options, before: Duration) -> Self {
        Self { engine, stream, snapshots, options, block: Block::default(), before, start: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        self.before + self.start.elapsed()
    }

    pub fn learn(&mut self, quiet: bool, answers: &Target, signal: &StopSignal) -> Result<Outcome> {
        let mut progress = Progress::new(quiet, answers, self.engine.rows());
        let ended = self.learn_rows(&mut progress, signal);
        progress.finish();
        let ended = ended?;
        let rows = self.engine.rows();
        if rows == 0 {
            stopped_early();
            return Ok(Outcome::Left);
        }
        self.save(ended)?;
        Ok(match (waits(self.snapshots.path, rows, ended), ended) {
            (true, _) => Outcome::Left,
            (false, true) => Outcome::Ended,
            (false, false) => Outcome::Stopped,
        })
    }

    /// Returns true at the end of the table, and false after a stop signal.
    fn learn_rows(&mut self, progress: &mut Progress, signal: &StopSignal) -> Result<bool> {
        while !signal.to_stop() {
            match self.step() {
                // An interrupted read fails. The stream is still after the last complete row.
                Err(_) if signal.to_stop() => return Ok(false),
                Err(error) => return Err(error),
                Ok(false) => return Ok(true),
                Ok(true) => progress.tick(self.engine.rows(), &self.stream, || self.engine.progress()),
            }
        }
        Ok(false)
    }

    /// Learns from the next block, which ends where a snapshot is due. Returns false at the end.
    fn step(&mut self) -> Result<bool> {
        let (before, most) = (self.engine.rows(), self.engine.block_rows());
        let most = match self.snapshots.every {
            Some(every) => (every - before % every).min(most as u64) as usize,
            None => most,
        };
        self.engine.read(&mut self.block, &mut self.stream, most)?;
        let rows = self.block.rows();
        if rows.is_empty() {
            return Ok(false);
        }
        self.engine.learn(rows, &mut self.stream)?;
        let rows = self.engine.rows();
        if self.snapshots.every.is_some_and(|every| rows > before && rows.is_multiple_of(every)) {
            self.save(false)?;
        }
        Ok(true)
    }

    /// Syncs the results first, so that the snapshot refers to existing bytes.
    fn save(&mut self, ended: bool) -> Result<()> {
        let Some(path) = self.snapshots.path else { return Ok(()) };
        let seconds = self.elapsed().as_secs_f64();
        let (answers, engine) = self.engine.sync()?;
        let state =
            ResumeState { stream: self.stream.state(), answers, plan: self.options.clone(), seconds, ended, engine };
        self.engine.write(path, serde_json::to_vec(&state)?)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Ended,
    /// A signal stopped the session, which cannot be resumed.
    Stopped,
    /// No row was learned, or the session can be resumed.
    Left,
}
