//! A monitor as bytes, in the form of a [`Snapshot`](crate::Snapshot) with another magic number: `89 45 48 4D 0D 0A 1A 0A`.

use super::{Fitted, Monitor};
use crate::error::Error;
use crate::row::check_cells;
use crate::snapshot::{Refusal, framed, unframed};
use crate::state::{LARGEST, count, ensure, entries, length};
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"\x89EHM\r\n\x1a\n";

/// One monitor, or one for each key, and what the program around has to remember.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedMonitors {
    /// The keys and their monitors, in the order of their first rows; one empty key if there is one monitor.
    pub monitors: Vec<(String, Monitor)>,
    /// A monitor of the first rows of all keys, whose reference keys with few rows borrow.
    pub pool: Option<Monitor>,
    /// What the program has to remember, in a form of its own; empty for none.
    pub resume_state: Vec<u8>,
}

/// True if these are the first bytes of saved monitors.
pub fn is_monitor(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

impl SavedMonitors {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing to a growing vector cannot fail, and everything in a monitor has a form.
        framed(&MAGIC, self).unwrap_or_else(|_| unreachable!("a monitor has a form"))
    }

    /// Reads what [`Self::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (saved, _) = unframed::<Self>(&MAGIC, bytes)?;
        let mut monitors = saved.monitors.iter().map(|(_, monitor)| monitor).chain(&saved.pool);
        monitors.try_for_each(Monitor::check_state).map_err(Refusal::State)?;
        Ok(saved)
    }
}

impl Monitor {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        SavedMonitors { monitors: vec![(String::new(), self.clone())], pool: None, resume_state: Vec::new() }.to_bytes()
    }

    /// Reads what [`Self::to_bytes`] has written, or the only monitor of [`SavedMonitors`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut saved = SavedMonitors::from_bytes(bytes)?;
        match (saved.monitors.pop(), saved.monitors.is_empty()) {
            (Some((_, monitor)), true) => Ok(monitor),
            _ => Err(Refusal::State(Error::State("there must be one monitor"))),
        }
    }

    /// Checks what was read from bytes.
    fn check_state(&self) -> Result<(), Error> {
        self.options.check(self.width)?;
        if let Some(names) = &self.columns.names {
            length("the names of columns", names.len(), self.width)?;
        }
        let totals = &self.totals;
        for number in [
            totals.rows,
            totals.warm_up,
            totals.passed_over,
            totals.scored,
            totals.alarms,
            totals.events,
            totals.changes,
            totals.drift_rows,
            totals.drifts,
            totals.accepted,
        ] {
            count("numbers of rows and alarms", number)?;
        }
        self.waiting.iter().try_for_each(|row| check_cells("a row of the warm-up", row, self.width))?;
        let Some(fitted) = &self.fitted else { return Ok(()) };
        self.columns.standardizer.check_state(self.width)?;
        let is_standardized = self.columns.standardizer.mean().len() == self.width;
        ensure(is_standardized == self.options.standardize, "the scale of columns must be as the options say")?;
        ensure(!self.columns.standardizer.is_warming_up(), "the scale of columns must be known behind the warm-up")?;
        fitted.check_state(self.width, self.lags())
    }
}

impl Fitted {
    fn check_state(&self, width: usize, lags: usize) -> Result<(), Error> {
        let d = width * (lags + 1);
        self.levels.check_state(d)?;
        self.flags.check_state(width)?;
        self.drift.check_state(width)?;
        self.last_rows.check_state(width)?;
        self.lags.check_state(width, lags)?;
        if let Some(differences) = &self.differences {
            differences.channel.check_state(d)?;
            differences.lags.check_state(width, lags)?;
            let standardizer = &differences.standardizer;
            standardizer.check_state(width)?;
            ensure(standardizer.mean().len() == width, "differences must have a scale")?;
            let previous = &differences.previous;
            ensure(previous.is_empty() || previous.len() == width, "the row before must be as long as others")?;
            entries("the row before", previous, -LARGEST..=LARGEST)?;
        }
        self.repeats.check_state(width)?;
        self.changes.check_state(width)?;
        self.events.check_state(width)
    }
}
