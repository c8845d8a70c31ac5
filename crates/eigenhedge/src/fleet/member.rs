//! Members of a fleet: one for each key.

use crate::columns::Columns;
use crate::error::Error;
use crate::model::Model;
use crate::saved::{Refusal, SavedKind};
use crate::standardize::Standardize;

/// Longest key.
pub(super) const LONGEST_KEY: u32 = 1 << 20;

/// A model or a monitor, as a fleet needs it.
pub trait FleetMember: Clone {
    /// The kind of a saved fleet of these.
    const KIND: SavedKind;

    /// Names and scale of the columns.
    fn columns(&self) -> &Columns;

    /// Gives the columns these names.
    fn set_names(&mut self, names: Option<Vec<String>>);

    /// Numbers in a row.
    fn width(&self) -> usize;

    /// The memory of the program around it.
    fn resume_state_mut(&mut self) -> &mut Vec<u8>;

    /// The bytes of a file.
    fn to_bytes(&self) -> Result<Vec<u8>, Error>;

    /// Reads what [`Self::to_bytes`] has written.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal>;

    /// An error if it cannot be copied for each key.
    fn check_fresh(&self) -> Result<(), Error>;

    /// An error, with the name of the option, if another one has other options.
    fn check_alike(&self, other: &Self) -> Result<(), Error>;

    /// An error if it depends on the order of rows.
    fn check_mergeable(&self) -> Result<(), Error>;

    /// The member of the rows of both.
    fn merge(self, other: Self) -> Result<Self, Error>;
}

impl FleetMember for Model {
    const KIND: SavedKind = SavedKind::Models;

    fn columns(&self) -> &Columns {
        self.columns()
    }

    fn set_names(&mut self, names: Option<Vec<String>>) {
        self.set_names(names);
    }

    fn width(&self) -> usize {
        self.length()
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
        if self.totals().rows > 0 {
            return Err(Error::Unsupported("a fleet begins with a model that has seen no row"));
        }
        if matches!(self.columns().standardizer.how(), Standardize::Warmup(_)) {
            return Err(Error::Unsupported("a warm-up that sets the scale of columns is not for models by key"));
        }
        Ok(())
    }

    fn check_alike(&self, other: &Self) -> Result<(), Error> {
        self.check_alike(other)
    }

    fn check_mergeable(&self) -> Result<(), Error> {
        self.check_mergeable()
    }

    fn merge(self, other: Self) -> Result<Self, Error> {
        self.merge(other)
    }
}
