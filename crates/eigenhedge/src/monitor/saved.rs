//! Serialization of a monitor.

use super::{Fitted, Monitor};
use crate::columns::Columns;
use crate::error::Error;
use crate::fleet::FleetMember;
use crate::row::check_cells;
use crate::saved::{Refusal, SavedKind, framed, unframed};
use crate::state::{LARGEST, count, ensure, entries, length};

impl FleetMember for Monitor {
    const KIND: SavedKind = SavedKind::Monitors;

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn set_names(&mut self, names: Option<Vec<String>>) {
        self.columns = Columns::new(names, self.columns.standardizer.clone());
    }

    fn width(&self) -> usize {
        self.width
    }

    fn resume_state_mut(&mut self) -> &mut Vec<u8> {
        &mut self.resume_state
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::from_bytes(bytes)
    }

    fn check_fresh(&self) -> Result<(), Error> {
        Ok(())
    }

    fn check_alike(&self, other: &Self) -> Result<(), Error> {
        length("a row of the other fleet", other.width, self.width)?;
        if self.options == other.options {
            return Ok(());
        }
        Err(Error::Merge("the options of the monitors must be the same".to_owned()))
    }

    fn check_mergeable(&self) -> Result<(), Error> {
        Err(Error::Merge("a monitor depends on the order of its rows: watch them in one stream".to_owned()))
    }

    fn merge(self, _: Self) -> Result<Self, Error> {
        self.check_mergeable().map(|()| self)
    }
}

impl Monitor {
    /// Serializes the monitor in the format of saved files. A restored monitor continues with identical results.
    ///
    /// ```
    /// use eigenhedge::{Monitor, MonitorOptions, streams};
    ///
    /// let rows = streams::faults(8, 2, 0.3, 500, 1);
    /// let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(200), ..MonitorOptions::default() }, 8)?;
    /// for row in &rows[..400] {
    ///     monitor.step(row)?;
    /// }
    /// let mut restored = Monitor::from_bytes(&monitor.to_bytes()?)?;
    /// assert_eq!(monitor.step(&rows[400])?.score, restored.step(&rows[400])?.score);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        framed(SavedKind::Monitor, self).map_err(|_| Error::State("a monitor must have a form as bytes"))
    }

    /// Reads a monitor written by [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (monitor, _) = unframed::<Self>(SavedKind::Monitor, bytes)?;
        monitor.check_state().map_err(Refusal::State)?;
        Ok(monitor)
    }

    fn check_state(&self) -> Result<(), Error> {
        self.options.check(self.width)?;
        if let Some(names) = &self.columns.names {
            length("the names of columns", names.len(), self.width)?;
        }
        let mut totals = self.totals;
        totals.counts().into_iter().try_for_each(|number| count("numbers of rows and alarms", *number))?;
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
        self.rounding.check_state(width)?;
        self.incidents.check_state(d, width)?;
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
