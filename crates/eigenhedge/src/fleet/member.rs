//! Members of a fleet, one per key.

use crate::columns::Columns;
use crate::error::Error;
use crate::model::Model;
use crate::saved::{Refusal, SavedKind};
use crate::standardize::Standardize;

pub(super) const LONGEST_KEY: u32 = 1 << 20;

/// Model or monitor that can be a member of a fleet.
pub trait FleetMember: Clone {
    /// Kind of a saved fleet.
    const KIND: SavedKind;

    /// Returns the names and scale of the columns.
    fn columns(&self) -> &Columns;

    /// Sets the names of the columns.
    fn set_names(&mut self, names: Option<Vec<String>>);

    /// Returns the number of columns.
    fn width(&self) -> usize;

    /// Returns the bytes that the calling program saves with the member, mutably.
    fn resume_state_mut(&mut self) -> &mut Vec<u8>;

    /// Serializes the member in the format of saved files.
    fn to_bytes(&self) -> Result<Vec<u8>, Error>;

    /// Reads a member written by [`Self::to_bytes`].
    fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal>;

    /// Returns `Err` if the member cannot be the template of a fleet.
    fn check_fresh(&self) -> Result<(), Error>;

    /// Returns `Err` if the options of both members differ.
    fn check_alike(&self, other: &Self) -> Result<(), Error>;

    /// Returns `Err` if the state of members depends on the order of rows.
    fn check_mergeable(&self) -> Result<(), Error>;

    /// Merges two members. The result has learned the rows of both.
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
