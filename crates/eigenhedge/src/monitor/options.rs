//! Options of a monitor, and their text forms.

use super::shape::Kept;
use crate::error::{Error, at_least_one, require};
use crate::registry::Missing;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

const USUAL_WARM_UP: usize = 400;
const WARM_UP_PER_NUMBER: usize = 3;
const LEAST_WARM_UP: usize = 20;
const MOST_LAGS: usize = 100;

/// Adaptation after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Mode {
    /// The alarm limit follows the most recent rows. If a column changes slowly within the warm-up, the baseline of
    /// incidents follows the rows slowly.
    #[default]
    Adapt,
    /// Nothing changes after the reference, which is computed from this number of first rows.
    Freeze(u64),
}

crate::error::by_name_or_rows!(Mode, "mode", Adapt => "adapt"; Freeze => "freeze");

/// Rule for the alarm limit. With [`Mode::Freeze`], both rules give one limit, which is computed from the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Limit {
    /// Quantile of recent scores, which this share of later normal rows should exceed.
    Auto(f64),
    /// Conformal rank of recent scores. At most this share of later rows exceed the limit if rows are exchangeable.
    Conformal(f64),
}

impl Default for Limit {
    fn default() -> Self {
        Self::Auto(0.01)
    }
}

impl Limit {
    pub(super) const FORM: &str = "ALPHA, auto:ALPHA or conformal:P with a number between 0 and 1";

    /// Returns the share of normal rows that should exceed the limit.
    pub fn rate(self) -> f64 {
        match self {
            Self::Auto(rate) | Self::Conformal(rate) => rate,
        }
    }

    /// Returns the rule with half the rate, for a row that has two scores.
    pub(super) fn halved(self) -> Self {
        match self {
            Self::Auto(rate) => Self::Auto(0.5 * rate),
            Self::Conformal(rate) => Self::Conformal(0.5 * rate),
        }
    }
}

impl FromStr for Limit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let rate = |number: &str| number.parse().ok().filter(|x: &f64| *x > 0.0 && *x < 1.0);
        let found = match text.split_once(':') {
            Some(("auto", number)) => rate(number).map(Self::Auto),
            Some(("conformal", number)) => rate(number).map(Self::Conformal),
            Some(_) => None,
            None => rate(text).map(Self::Auto),
        };
        found.ok_or_else(|| Error::name("limit", &[Self::FORM], text))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto(x) => write!(out, "auto:{x}"),
            Self::Conformal(x) => write!(out, "conformal:{x}"),
        }
    }
}

/// Rule for the automatic acceptance of a long incident as the new reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Rebaseline {
    /// Only [`Monitor::accept`](super::Monitor::accept) sets a new reference.
    #[default]
    Never,
    /// Number of rows that an incident must last.
    After(u64),
}

crate::error::by_name_or_rows!(Rebaseline, "rebaseline", Never => "never"; After => "after");

/// Setting that can be chosen automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choose<T> {
    /// Automatic choice.
    Auto,
    /// Value set by the user.
    Fixed(T),
}

/// Options of a [`Monitor`](super::Monitor).
///
/// ```
/// use eigenhedge::{Choose, Limit, MonitorOptions};
///
/// let options = MonitorOptions { limit: Limit::Auto(0.001), lags: Choose::Fixed(5), ..MonitorOptions::default() };
/// options.check(8)?;
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MonitorOptions {
    /// Rule for the number of directions to keep.
    pub kept: Kept,
    /// Adaptation after the warm-up.
    pub mode: Mode,
    /// Rule for the alarm limit.
    pub limit: Limit,
    /// Number of previous rows appended to each row, at most 100.
    pub lags: Choose<usize>,
    /// True to score the differences between consecutive rows too. `Auto`: if rows are strongly autocorrelated.
    pub differences: Choose<bool>,
    /// True to standardize each column with its mean and standard deviation over the warm-up rows.
    pub standardize: bool,
    /// Handling of missing cells.
    pub missing: Missing,
    /// Number of warm-up rows without [`Mode::Freeze`]. `None` means 400 rows, or three rows per value of a row
    /// (including lags) if that is more.
    pub warm_up: Option<u64>,
    /// Maximum number of rows between two consecutive alarms of an event.
    pub event_gap: u64,
    /// Average number of rows between false reports of a change, from 10 to 1e9.
    pub change_time: f64,
    /// Average number of rows between false incidents, from 100 to 1e9.
    pub incident_time: f64,
    /// Rule for the automatic acceptance of a long incident as the new reference.
    pub rebaseline: Rebaseline,
}

impl Default for MonitorOptions {
    fn default() -> Self {
        Self {
            kept: Kept::Share(0.85),
            mode: Mode::default(),
            limit: Limit::default(),
            lags: Choose::Fixed(0),
            differences: Choose::Auto,
            standardize: true,
            missing: Missing::Fill,
            warm_up: None,
            event_gap: 5,
            change_time: 10_000.0,
            incident_time: 1000.0,
            rebaseline: Rebaseline::default(),
        }
    }
}

impl MonitorOptions {
    /// Returns an error unless the options are valid for rows of `columns` columns.
    pub fn check(&self, columns: usize) -> Result<(), Error> {
        at_least_one("the number of columns", columns)?;
        let rate = self.limit.rate();
        require(rate > 0.0 && rate < 1.0, "limit", "a rate between 0 and 1", rate)?;
        check_change_time("change-time", self.change_time)?;
        check_incident_time("incident-time", self.incident_time)?;
        let lags = self.lags(columns);
        require(lags <= MOST_LAGS, "lags", "at most 100", lags as f64)?;
        let length = columns.saturating_mul(lags + 1);
        require(length <= super::shape::LARGEST, "columns × (lags + 1)", "at most 4096", length as f64)?;
        match self.kept {
            Kept::Count(k) if k == 0 || k >= length.max(2) => {
                return Err(Error::Kept { kept: k, dimension: length });
            }
            Kept::Share(share) => _ = between_0_and_1("share", share)?,
            Kept::Count(_) => {}
        }
        let (rows, least) = (self.warm_up_rows(columns), self.least_warm_up(columns) as u64);
        require(rows >= least, "warm-up", "at least 20 rows more than the lags", rows as f64).map(drop)
    }

    /// Returns the number of previous rows appended to each row of `columns` columns.
    /// [`Choose::Auto`] gives 5 for 10 columns, 2 for 50, and at most 10.
    pub fn lags(&self, columns: usize) -> usize {
        match self.lags {
            Choose::Fixed(lags) => lags,
            Choose::Auto => ((16.0 / (columns.max(1) as f64).sqrt()) as usize).min(10),
        }
    }

    /// Returns the minimum number of rows for a reference.
    pub fn least_warm_up(&self, columns: usize) -> usize {
        LEAST_WARM_UP + self.lags(columns)
    }

    /// Returns the number of warm-up rows for rows of `columns` columns.
    pub fn warm_up_rows(&self, columns: usize) -> u64 {
        match (self.mode, self.warm_up) {
            (Mode::Freeze(rows), _) | (_, Some(rows)) => rows,
            _ => USUAL_WARM_UP.max(WARM_UP_PER_NUMBER * columns * (self.lags(columns) + 1)) as u64,
        }
    }
}

pub(super) fn between_0_and_1(name: &'static str, number: f64) -> Result<f64, Error> {
    require(number > 0.0 && number < 1.0, name, "between 0 and 1", number)
}

pub(super) fn check_change_time(name: &'static str, rows: f64) -> Result<f64, Error> {
    require((10.0..=1e9).contains(&rows), name, "from 10 to 1e9", rows)
}

pub(super) fn check_incident_time(name: &'static str, rows: f64) -> Result<f64, Error> {
    require((100.0..=1e9).contains(&rows), name, "from 100 to 1e9", rows)
}
