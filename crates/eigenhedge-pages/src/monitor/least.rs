//! Minimum severity and duration of the incidents that are reported.

use eigenhedge::Incident;
use eigenhedge_io::duration;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Minimum severity: a number, or `minor` (0), `major` (1) or `critical` (3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Severity(pub f64);

impl FromStr for Severity {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = match text {
            "minor" => Some(0.0),
            "major" => Some(1.0),
            "critical" => Some(3.0),
            _ => text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite()),
        };
        number.map(Self).ok_or("minor, major, critical or a number from 0")
    }
}

/// Minimum duration: a number of rows, or a time such as `15min`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Lasting {
    Rows(u64),
    Seconds(f64),
}

impl FromStr for Lasting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rows = text.parse().ok().map(Self::Rows);
        let lasting = rows.or_else(|| duration(text).map(Self::Seconds));
        lasting.ok_or("a duration such as 15min or 2h, or a number of rows")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Least {
    pub severity: Severity,
    pub duration: Lasting,
}

impl Default for Least {
    fn default() -> Self {
        Self { severity: Severity(0.0), duration: Lasting::Rows(0) }
    }
}

impl Least {
    /// An unknown duration reaches no minimum in seconds.
    pub fn is_reached(&self, incident: &Incident, seconds: Option<f64>) -> bool {
        let is_long = match self.duration {
            Lasting::Rows(rows) => incident.rows >= rows,
            Lasting::Seconds(least) => seconds.is_some_and(|seconds| seconds >= least),
        };
        is_long && incident.severity >= self.severity.0
    }
}
