//! Events: groups of nearby alarms.

use super::causes::{Cause, Causes, NAMED};
use crate::error::Error;
use crate::state::{count, ensure};
use serde::{Deserialize, Serialize};

/// Group of nearby alarms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Index of the first row with an alarm.
    pub start: u64,
    /// Index of the last row with an alarm so far.
    pub end: u64,
    /// Index of the row with the largest ratio of score to limit.
    pub peak: u64,
    /// Score of the row `peak`.
    pub peak_score: f64,
    /// Number of rows with an alarm.
    pub alarms: u64,
    /// Number of alarms in which a column was stuck.
    pub stuck: u64,
    /// Number of alarms in which a column that was constant in the warm-up had a different value.
    pub moved: u64,
    /// Main causes, summed over all alarms of the event, largest share first.
    pub causes: [Option<Cause>; NAMED],
}

impl Event {
    /// Returns true if a column was stuck in at least half of the alarms.
    pub fn is_stuck(&self) -> bool {
        2 * self.stuck >= self.alarms
    }

    /// Returns true if a column that was constant in the warm-up had a different value in at least half of the alarms.
    pub fn is_moved(&self) -> bool {
        2 * self.moved >= self.alarms
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Events {
    pub open: Option<Event>,
    last: u64,
    /// Largest ratio of score to limit in the ongoing event.
    peak: f64,
    causes: Causes,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Alarm {
    pub row: u64,
    pub position: u64,
    pub score: f64,
    pub ratio: f64,
    pub is_stuck: bool,
    pub is_moved: bool,
}

impl Events {
    pub fn new(width: usize) -> Self {
        Self { open: None, last: 0, peak: 0.0, causes: Causes::new(width) }
    }

    /// Ends the event if more than `gap` rows separate its last alarm from `position`. Returns the event if it ended.
    pub fn close_before(&mut self, position: u64, gap: u64) -> Option<Event> {
        self.open.filter(|_| position.saturating_sub(self.last) > gap + 1).and_then(|_| self.close())
    }

    pub fn close(&mut self) -> Option<Event> {
        let event = self.open.take();
        self.peak = 0.0;
        self.causes.clear();
        event
    }

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

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        self.causes.check_state(width)?;
        let Some(event) = self.open else { return Ok(()) };
        count("the row of an event", event.end)?;
        ensure(event.start <= event.end, "an event must end after it began")?;
        let fits = event.causes.iter().flatten().all(|cause| cause.column < width);
        ensure(fits, "a cause must be a column")
    }
}
