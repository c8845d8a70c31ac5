//! Merging of fleets over parts of a table.

use super::{Fleet, FleetMember};
use crate::error::Error;
use crate::state::length;

impl<T: FleetMember> Fleet<T> {
    /// Adds the members of another fleet with the same options and columns. New keys are appended.
    /// If both fleets have a key, its members are merged ([`Model::merge`](crate::Model::merge)).
    /// Their state must then not depend on the order of rows.
    ///
    /// If options or columns differ, or members of a common key depend on the order of rows, the fleet is unchanged.
    /// After any other error, such as one of the store, the merge is incomplete.
    pub fn merge(&mut self, other: &mut Self) -> Result<(), Error> {
        let (own, theirs) = (&self.fresh, &other.fresh);
        length("a row of the other fleet", theirs.width(), own.width())?;
        own.check_alike(theirs)?;
        let mut columns = own.columns().clone();
        columns.agree(theirs.columns())?;
        let keys: Vec<String> = other.keys().map(str::to_owned).collect();
        if let Some(key) = keys.iter().find(|key| self.positions.contains_key(key.as_str())) {
            let mergeable = own.check_mergeable().and_then(|()| columns.merge(theirs.columns()));
            mergeable.map_err(|error| match error {
                Error::Merge(sentence) => Error::Merge(format!("key '{key}' is in both fleets, and {sentence}")),
                error => error,
            })?;
        }
        self.fresh.set_names(columns.names);
        for key in keys {
            let Some(mut member) = other.get(&key)? else { continue };
            // The fleet stores the names for all members.
            member.set_names(None);
            self.clock += 1;
            match self.positions.get(&*key).copied() {
                None => _ = self.enter(&key, member)?,
                Some(position) => {
                    let slot = self.fetch(position)?;
                    self.slots[slot].member = self.slots[slot].member.clone().merge(member)?;
                    self.slots[slot].used = self.clock;
                }
            }
        }
        Ok(())
    }
}
