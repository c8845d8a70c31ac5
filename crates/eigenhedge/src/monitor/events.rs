//! Events: alarms that follow each other are one.

use super::causes::{Cause, Causes, NAMED};
use crate::error::Error;
use crate::state::{count, ensure};
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
    /// Rows with an alarm in which a column had moved that was constant in the warm-up.
    pub moved: u64,
    /// The first causes, over all alarms of the event.
    pub causes: [Option<Cause>; NAMED],
}

impl Event {
    /// True if a column was stuck in most of its rows.
    pub fn is_stuck(&self) -> bool {
        2 * self.stuck >= self.alarms
    }

    /// True if a column that was constant in the warm-up had another value in most of its rows.
    pub fn is_moved(&self) -> bool {
        2 * self.moved >= self.alarms
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
}

/// A row with an alarm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alarm {
    pub row: u64,
    /// Position among all rows.
    pub position: u64,
    pub score: f64,
    /// Score over its limit.
    pub ratio: f64,
    pub is_stuck: bool,
    pub is_moved: bool,
}

impl Events {
    /// None yet.
    pub fn new(width: usize) -> Self {
        Self { open: None, last: 0, peak: 0.0, causes: Causes::new(width) }
    }

    /// Ends the event if there were more than `gap` rows between its last alarm and this position.
    pub fn close_before(&mut self, position: u64, gap: u64) -> Option<Event> {
        self.open.filter(|_| position.saturating_sub(self.last) > gap + 1).and_then(|_| self.close())
    }

    /// Ends the event.
    pub fn close(&mut self) -> Option<Event> {
        let event = self.open.take();
        self.peak = 0.0;
        self.causes.clear();
        event
    }

    /// The event that goes on.
    pub fn open(&self) -> Option<&Event> {
        self.open.as_ref()
    }

    /// Enters an alarm.
    pub fn enter(&mut self, alarm: Alarm, causes: &Causes) {
        let Alarm { row, position, score, ratio, is_stuck, is_moved } = alarm;
        self.last = position;
        let event = self.open.get_or_insert(Event {
            start: row,
            end: row,
            peak: row,
            peak_score: score,
            alarms: 0,
            stuck: 0,
            moved: 0,
            causes: [None; NAMED],
        });
        (event.end, event.alarms) = (row, event.alarms + 1);
        event.stuck += u64::from(is_stuck);
        event.moved += u64::from(is_moved);
        if ratio > self.peak {
            (self.peak, event.peak, event.peak_score) = (ratio, row, score);
        }
        self.causes.add(causes);
        event.causes = self.causes.named();
    }

    /// Checks what was read from bytes.
    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        self.causes.check_state(width)?;
        let Some(event) = self.open else { return Ok(()) };
        count("the row of an event", event.end)?;
        ensure(event.start <= event.end, "an event must end after it began")?;
        let fits = event.causes.iter().flatten().all(|cause| cause.column < width);
        ensure(fits, "a cause must be a column")
    }
}
