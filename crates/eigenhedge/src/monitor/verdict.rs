//! Verdict of a monitor on a row.

use super::causes::{Cause, NAMED};
use super::changes::Change;
use super::events::Event;
use super::incidents::Incident;
use serde::{Deserialize, Serialize};
use std::fmt;

/// State of a row in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum State {
    /// Neither an alarm nor inside an incident.
    Normal,
    /// With an alarm: the score exceeds the limit, or an incident is reported at this row ([`Verdict::alarm`]).
    Alarm,
    /// Inside an incident, without an alarm.
    Incident,
    /// Without a score and outside incidents: a warm-up row, a skipped row, or a row without all of its lags.
    Unscored,
}

impl State {
    /// Returns the name used in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Alarm => "alarm",
            Self::Incident => "incident",
            Self::Unscored => "unscored",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Verdict of a monitor on a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Index of the row (from 0), or the number that [`Monitor::step_numbered`](super::Monitor::step_numbered) got.
    pub row: u64,
    /// Anomaly score relative to the reference: minus the sum of the logarithms of the tail probabilities of Q, of T²
    /// and of the largest standardized residual, plus a term for each nearly constant column at an unusual value. Like
    /// `q`, `t2` and `limit`, NaN if the row has no score ([`State::Unscored`]).
    pub score: f64,
    /// Q: squared length of the part of the centered row outside the directions.
    pub q: f64,
    /// T²: Hotelling's statistic of the centered row along the directions.
    pub t2: f64,
    /// Score above which this row would be an alarm.
    pub limit: f64,
    /// True if the score exceeds the limit or an incident opens. Up to 250 rows of an incident after its report are not
    /// alarms. With [`Mode::Freeze`](super::Mode::Freeze), incidents have no effect on alarms.
    pub alarm: bool,
    /// Sequence number of the ongoing incident (from 1), if there is one.
    pub incident: Option<u64>,
    /// Incident reported at this row, if any.
    pub opened: Option<Incident>,
    /// Incident that is reported as over at this row, if any. Its last row may be earlier.
    pub closed: Option<Incident>,
    /// Index of the stuck column with the longest run relative to its limit, if any.
    pub stuck: Option<usize>,
    /// Index of the first column that was constant in the warm-up and has a different value in this row, if any.
    pub moved: Option<usize>,
    /// True if `limit` and `causes` refer to the difference between this row and the previous one.
    pub of_differences: bool,
    /// Change point that is reported at this row, if any.
    pub change: Option<Change>,
    /// Event that ended before this row, if any.
    pub event: Option<Event>,
    /// Main causes of the score or of the incident that opens, largest share first.
    pub causes: [Option<Cause>; NAMED],
    /// True if the most recent rows, including this one, became the new reference.
    pub accepted: bool,
}

impl Verdict {
    pub(super) fn without_score(row: u64) -> Self {
        Self {
            row,
            score: f64::NAN,
            q: f64::NAN,
            t2: f64::NAN,
            limit: f64::NAN,
            alarm: false,
            incident: None,
            opened: None,
            closed: None,
            stuck: None,
            moved: None,
            of_differences: false,
            change: None,
            event: None,
            causes: [None; NAMED],
            accepted: false,
        }
    }

    /// Returns the state in one word.
    pub fn state(&self) -> State {
        match (self.alarm, self.incident) {
            (true, _) => State::Alarm,
            (false, Some(_)) => State::Incident,
            (false, None) if self.score.is_nan() => State::Unscored,
            (false, None) => State::Normal,
        }
    }
}
