//! Events: alarms that follow each other are one.

use super::causes::{Cause, Causes, NAMED};
use crate::error::Error;
use crate::state::{LARGEST, count, ensure, entries, length};
use serde::{Deserialize, Serialize};

/// Alarms that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// First and last row with an alarm.
    pub start: u64,
    /// Last one.
    pub end: u64,
    /// Row with the largest score beside its limit.
    pub peak: u64,
    /// Its score.
    pub peak_score: f64,
    /// Rows with an alarm.
    pub alarms: u64,
    /// Rows with an alarm because a column was stuck.
    pub stuck: u64,
    /// The first causes, over all alarms of the event.
    pub causes: [Option<Cause>; NAMED],
}

impl Event {
    /// True if a column was stuck in most of its rows.
    pub fn is_stuck(&self) -> bool {
        2 * self.stuck >= self.alarms
    }
}

/// The event that goes on, if one does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Events {
    open: Option<Event>,
    /// Position of its last alarm among all rows.
    last: u64,
    /// Largest score over its limit.
    peak: f64,
    causes: Causes,
    /// Column that was stuck.
    stuck: Option<usize>,
}

/// A row with an alarm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alarm {
    pub row: u64,
    /// Position among all rows.
    pub position: u64,
    pub score: f64,
    pub limit: f64,
    pub stuck: Option<usize>,
}

impl Events {
    /// None yet.
    pub fn new(width: usize) -> Self {
        Self { open: None, last: 0, peak: 0.0, causes: Causes::new(width), stuck: None }
    }

    /// Ends the event if there were more than `gap` rows between its last alarm and this position.
    pub fn close_before(&mut self, position: u64, gap: u64) -> Option<Event> {
        self.open.filter(|_| position.saturating_sub(self.last) > gap + 1).and_then(|_| self.close())
    }

    /// Ends the event.
    pub fn close(&mut self) -> Option<Event> {
        let event = self.open.take();
        (self.peak, self.stuck) = (0.0, None);
        self.causes.clear();
        event
    }

    /// The event that goes on.
    pub fn open(&self) -> Option<&Event> {
        self.open.as_ref()
    }

    /// Enters an alarm.
    pub fn enter(&mut self, alarm: Alarm, causes: &Causes) {
        let Alarm { row, position, score, limit, stuck } = alarm;
        self.last = position;
        let event = self.open.get_or_insert(Event {
            start: row,
            end: row,
            peak: row,
            peak_score: score,
            alarms: 0,
            stuck: 0,
            causes: [None; NAMED],
        });
        (event.end, event.alarms) = (row, event.alarms + 1);
        event.stuck += u64::from(stuck.is_some());
        if score / limit > self.peak {
            (self.peak, event.peak, event.peak_score) = (score / limit, row, score);
        }
        self.causes.add(causes);
        self.stuck = self.stuck.or(stuck);
        event.causes = self.causes.named(self.stuck.filter(|_| event.is_stuck()));
    }

    /// Checks what was read from bytes.
    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        length("causes of an event", self.causes.ranks.len(), width)?;
        length("causes of an event", self.causes.shares.len(), width)?;
        entries("causes of an event", &self.causes.ranks, 0.0..=LARGEST)?;
        entries("causes of an event", &self.causes.shares, -LARGEST..=LARGEST)?;
        ensure(self.stuck.is_none_or(|j| j < width), "a column that is stuck must be there")?;
        let Some(event) = self.open else { return Ok(()) };
        count("the row of an event", event.end)?;
        ensure(event.start <= event.end, "an event must end after it began")?;
        let fits = event.causes.iter().flatten().all(|cause| cause.column < width);
        ensure(fits, "a cause must be a column")
    }
}
