//! Fleets over parts of a table, merged into one.

use super::Fleet;
use crate::error::Error;
use crate::state::length;

impl Fleet {
    /// Adds the learners of another fleet with the same options over the same columns; its keys come behind. A key that both have
    /// gets the learner of its rows in both ([`Run::merge`](crate::Run::merge)), which must be one that does not depend on
    /// their order. Learners of keys that one of them has alone may be any.
    ///
    /// An error about options, columns or learners leaves the fleet as it was.
    pub fn merge(&mut self, other: &mut Self) -> Result<(), Error> {
        let (own, theirs) = (&self.fresh, &other.fresh);
        length("a row of the other fleet", theirs.run.length(), own.run.length())?;
        own.run.check_alike(&theirs.run)?;
        let mut columns = own.columns.clone();
        columns.agree(&theirs.columns)?;
        let keys: Vec<String> = other.keys().map(str::to_owned).collect();
        if let Some(key) = keys.iter().find(|key| self.positions.contains_key(key.as_str())) {
            let mergeable = own.run.check_mergeable().and_then(|()| columns.merge(&theirs.columns));
            mergeable.map_err(|error| match error {
                Error::Merge(sentence) => Error::Merge(format!("key '{key}' is in both fleets, and {sentence}")),
                error => error,
            })?;
        }
        self.fresh.columns.names = columns.names;
        for key in keys {
            let Some(mut snapshot) = other.get(&key)? else { continue };
            // The names are those of all.
            snapshot.columns.names = None;
            self.clock += 1;
            match self.positions.get(&*key).copied() {
                None => _ = self.enter(&key, snapshot)?,
                Some(position) => {
                    let slot = self.fetch(position)?;
                    self.members[slot].snapshot = self.members[slot].snapshot.clone().merge(snapshot)?;
                    self.members[slot].used = self.clock;
                }
            }
        }
        Ok(())
    }
}
