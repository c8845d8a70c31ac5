//! One learner for each key: for sensors, machines or customers whose rows arrive mixed in one stream.
//!
//! Setting: every row comes with a key. All learners have the same options; each learns from the rows of its key alone, as a
//! separate [`Run`] over those rows would, bit for bit.
//!
//! Cost: that of one learner for each row, and one search for the key. Memory: one learner for each key, or for the last
//! `most` keys that were used; the others are put away as bytes in a [`Store`], and fetched when their key comes again. They
//! go a quarter at a time, so that choosing them costs O(1) for each row.

mod merge;
mod saved;

pub use saved::{FleetIndex, is_fleet};

use crate::error::Error;
use crate::learner::Loss;
use crate::model::Columns;
use crate::run::Run;
use crate::snapshot::Snapshot;
use crate::standardize::Standardize;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A place for the learners of keys that have not been used for long.
pub trait Store: Send + Sync {
    /// Puts bytes away; they are found again by the number.
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64>;
    /// The bytes of a number.
    fn get(&mut self, place: u64) -> io::Result<Vec<u8>>;
    /// Forgets them.
    fn free(&mut self, place: u64);
}

/// A learner for each key.
///
/// ```
/// use eigenhedge::{Columns, Fleet, Kind, Run, Spec, streams};
///
/// let mut fleet = Fleet::new(Run::new(Spec::new(Kind::Auto, 2), 20, 0)?, Columns::default())?;
/// for (t, row) in streams::three_subspaces(1).iter().enumerate() {
///     let (loss, _run) = fleet.step(if t % 2 == 0 { "left" } else { "right" }, row)?;
///     assert!(loss.expected <= 4.0); // rows of norm 1, around their running mean
/// }
/// assert_eq!(fleet.keys().collect::<Vec<_>>(), ["left", "right"]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub struct Fleet {
    /// A learner without rows, to be copied for each key; with the columns that all have.
    fresh: Snapshot,
    keys: Vec<Arc<str>>,
    positions: HashMap<Arc<str>, usize>,
    /// Place of the learner of each key.
    places: Vec<Place>,
    members: Vec<Member>,
    /// Learners in memory at most, and the place for the others.
    most: usize,
    store: Option<Box<dyn Store>>,
    clock: u64,
    /// True if coordinates are read behind every row.
    aligns: bool,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Memory(usize),
    Stored(u64),
}

struct Member {
    snapshot: Snapshot,
    /// Position of its key.
    key: usize,
    /// Time of its last use.
    used: u64,
}

/// Positions of these keys, equal ones together, in the order of their first places.
fn together(keys: &[&str]) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut numbered = Vec::with_capacity(keys.len());
    for (position, key) in keys.iter().enumerate() {
        let next = numbers.len();
        numbered.push((*numbers.entry(*key).or_insert(next), position));
    }
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, position)| position).collect()
}

fn cannot_store(error: io::Error) -> Error {
    Error::Store(error.into())
}

impl Fleet {
    /// A fleet whose learners all begin like this run, which has seen no row, over these columns.
    pub fn new(fresh: Run, columns: Columns) -> Result<Self, Error> {
        if fresh.totals().rows > 0 {
            return Err(Error::Unsupported("a fleet begins with a run that has seen no row"));
        }
        if matches!(columns.standardizer.how(), Standardize::Warmup(_)) {
            return Err(Error::Unsupported("a warm-up that sets the scale of columns is not for learners by key"));
        }
        Ok(Self {
            fresh: Snapshot { run: fresh, columns, resume_state: Vec::new() },
            keys: Vec::new(),
            positions: HashMap::new(),
            places: Vec::new(),
            members: Vec::new(),
            most: usize::MAX,
            store: None,
            clock: 0,
            aligns: false,
        })
    }

    /// At most this many learners in memory; the others go to the store.
    #[must_use]
    pub fn with_store(mut self, most: usize, store: Box<dyn Store>) -> Self {
        (self.most, self.store) = (most.max(1), Some(store));
        self
    }

    /// Says if coordinates are read behind the rows that follow ([`Run::ask_for_coordinates`]).
    pub fn ask_for_coordinates(&mut self, asked: bool) {
        self.aligns = asked;
    }

    /// The learner that is copied for each key, with the columns.
    pub fn fresh(&self) -> &Snapshot {
        &self.fresh
    }

    /// The keys, in the order of their first rows.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(|key| &**key)
    }

    /// Learners in memory.
    pub fn in_memory(&self) -> usize {
        self.members.len()
    }

    /// One trial of the learner of a key, with a row in units of the input: its loss, and the run after it. An error leaves
    /// everything as it was.
    pub fn step(&mut self, key: &str, raw: &[f64]) -> Result<(Loss, &Run), Error> {
        self.clock += 1;
        let (slot, loss) = match self.positions.get(key) {
            Some(position) => {
                let slot = self.fetch(*position)?;
                let Snapshot { run, columns, .. } = &mut self.members[slot].snapshot;
                run.ask_for_coordinates(self.aligns);
                (slot, columns.step(run, raw)?)
            }
            None => {
                // The names are those of all.
                let columns = Columns::new(None, self.fresh.columns.standardizer.clone());
                let mut snapshot = Snapshot { columns, ..Snapshot::of(self.fresh.run.clone()) };
                snapshot.run.ask_for_coordinates(self.aligns);
                let loss = snapshot.columns.step(&mut snapshot.run, raw)?;
                (self.enter(key, snapshot)?, loss)
            }
        };
        let member = &mut self.members[slot];
        member.used = self.clock;
        Ok((loss, &member.snapshot.run))
    }

    /// Trials of many rows, each for the learner of its key, as if [`Self::step`] took them in their order; but rows of a key
    /// are learned together, so that each learner comes into the cache, or from the store, once.
    ///
    /// `answer` gets the position of a row and its outcome: its loss and the run after it, or why it was refused. Only an
    /// error of the store ends the trials.
    pub fn step_all(
        &mut self,
        keys: &[&str],
        rows: &[&[f64]],
        mut answer: impl FnMut(usize, Result<(Loss, &Run), Error>),
    ) -> Result<(), Error> {
        if keys.len() != rows.len() {
            return Err(Error::Length { what: "the list of keys", expected: rows.len(), found: keys.len() });
        }
        let known = self.keys.len();
        let mut first_rows = Vec::new();
        for i in together(keys) {
            match self.step(keys[i], rows[i]) {
                Err(error @ Error::Store(_)) => return Err(error),
                outcome => answer(i, outcome),
            }
            first_rows.resize(self.keys.len() - known, i);
        }
        self.order_by_first_rows(known, &first_rows);
        Ok(())
    }

    /// Brings the keys from `known` on into the order of their first rows. It is another one if a new key's row was refused.
    fn order_by_first_rows(&mut self, known: usize, first_rows: &[usize]) {
        if first_rows.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..first_rows.len()).collect();
        order.sort_by_key(|i| first_rows[*i]);
        let moved: Vec<_> = order.iter().map(|i| (self.keys[known + i].clone(), self.places[known + i])).collect();
        for (position, (key, place)) in (known..).zip(moved) {
            if let Place::Memory(slot) = place {
                self.members[slot].key = position;
            }
            self.positions.insert(key.clone(), position);
            (self.keys[position], self.places[position]) = (key, place);
        }
    }

    /// The learner of a key, with the names of the columns; none if there is none.
    pub fn get(&mut self, key: &str) -> Result<Option<Snapshot>, Error> {
        let Some(position) = self.positions.get(key).copied() else { return Ok(None) };
        let mut snapshot = match self.places[position] {
            Place::Memory(slot) => self.members[slot].snapshot.clone(),
            Place::Stored(place) => self.stored(place)?,
        };
        snapshot.columns.names.clone_from(&self.fresh.columns.names);
        Ok(Some(snapshot))
    }

    /// A learner whose bytes are in the store already.
    pub fn insert_stored(&mut self, key: &str, place: u64) -> Result<(), Error> {
        if self.positions.contains_key(key) {
            return Err(Error::State("each key must have one learner"));
        }
        self.insert(key, Place::Stored(place));
        Ok(())
    }

    fn insert(&mut self, key: &str, place: Place) {
        let key: Arc<str> = key.into();
        self.positions.insert(key.clone(), self.keys.len());
        self.keys.push(key);
        self.places.push(place);
    }

    /// A new key with its learner; returns its slot.
    fn enter(&mut self, key: &str, snapshot: Snapshot) -> Result<usize, Error> {
        self.make_room()?;
        let slot = self.members.len();
        self.members.push(Member { snapshot, key: self.keys.len(), used: self.clock });
        self.insert(key, Place::Memory(slot));
        Ok(slot)
    }

    /// The slot of a learner, fetched from the store if it is there.
    fn fetch(&mut self, position: usize) -> Result<usize, Error> {
        let place = match self.places[position] {
            Place::Memory(slot) => return Ok(slot),
            Place::Stored(place) => place,
        };
        let snapshot = self.stored(place)?;
        self.make_room()?;
        if let Some(store) = &mut self.store {
            store.free(place);
        }
        let slot = self.members.len();
        self.members.push(Member { snapshot, key: position, used: self.clock });
        self.places[position] = Place::Memory(slot);
        Ok(slot)
    }

    /// The learner at a place of the store.
    fn stored(&mut self, place: u64) -> Result<Snapshot, Error> {
        let bytes = self.stored_bytes(place)?;
        let snapshot = Snapshot::from_bytes(&bytes)
            .map_err(|refusal| cannot_store(io::Error::new(io::ErrorKind::InvalidData, refusal.to_string())))?;
        let alike = snapshot.run.spec() == self.fresh.run.spec() && snapshot.run.length() == self.fresh.run.length();
        if alike { Ok(snapshot) } else { Err(Error::State("all learners of a fleet must have the same options")) }
    }

    fn stored_bytes(&mut self, place: u64) -> Result<Vec<u8>, Error> {
        let store = self.store.as_mut().ok_or(Error::State("a learner that was put away must have a store"))?;
        store.get(place).map_err(cannot_store)
    }

    /// Puts learners away that have not been used for longest, if there is no room for one more.
    fn make_room(&mut self) -> Result<(), Error> {
        let Some(store) = &mut self.store else { return Ok(()) };
        if self.members.len() < self.most {
            return Ok(());
        }
        let count = self.most.div_ceil(4).min(self.members.len());
        let mut oldest: Vec<(u64, usize)> = self.members.iter().enumerate().map(|(i, m)| (m.used, i)).collect();
        if count < oldest.len() {
            oldest.select_nth_unstable(count);
            oldest.truncate(count);
        }
        // From the last slot on, so that what takes the place of another stays.
        oldest.sort_unstable_by_key(|(_, slot)| std::cmp::Reverse(*slot));
        for (_, slot) in oldest {
            let place = store.put(&self.members[slot].snapshot.to_bytes()?).map_err(cannot_store)?;
            let gone = self.members.swap_remove(slot);
            self.places[gone.key] = Place::Stored(place);
            if let Some(moved) = self.members.get(slot) {
                self.places[moved.key] = Place::Memory(slot);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Refusal;
    use crate::{Kind, RunningCenter, Spec, Standardizer, streams};
    use std::io::Cursor;

    #[derive(Default)]
    struct Shelf {
        bytes: Vec<Option<Vec<u8>>>,
    }

    impl Store for Shelf {
        fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
            self.bytes.push(Some(bytes.to_vec()));
            Ok(self.bytes.len() as u64 - 1)
        }
        fn get(&mut self, place: u64) -> io::Result<Vec<u8>> {
            self.bytes[place as usize].clone().ok_or_else(|| io::Error::other("freed"))
        }
        fn free(&mut self, place: u64) {
            self.bytes[place as usize] = None;
        }
    }

    fn fresh(kind: Kind) -> Run {
        Run::new(Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 2) }, 6, 3).unwrap()
    }

    fn columns() -> Columns {
        Columns::new(None, Standardizer::new(Standardize::Running, 6))
    }

    fn rows() -> Vec<(String, Vec<f64>)> {
        let rows = streams::iid(6, 3, 0.3, 300, 8).rows;
        // Some keys come often, others seldom.
        rows.into_iter().enumerate().map(|(t, row)| (format!("key {}", (t * t + t / 7) % 13), row)).collect()
    }

    #[test]
    fn a_fleet_is_separate_runs_whatever_is_put_away() {
        for kind in [Kind::Auto, Kind::Tracking, Kind::Gha] {
            let mut apart: HashMap<String, (Run, Columns)> = HashMap::new();
            let mut whole = Fleet::new(fresh(kind), columns()).unwrap();
            let mut small = Fleet::new(fresh(kind), columns()).unwrap().with_store(4, Box::new(Shelf::default()));
            [&mut whole, &mut small].into_iter().for_each(|fleet| fleet.ask_for_coordinates(true));
            for (key, row) in rows() {
                let (run, columns) = apart.entry(key.clone()).or_insert_with(|| (fresh(kind), columns()));
                run.ask_for_coordinates(true);
                let wanted = columns.step(run, &row).unwrap();
                for fleet in [&mut whole, &mut small] {
                    let (loss, after) = fleet.step(&key, &row).unwrap();
                    assert_eq!((loss, after.coordinates()), (wanted, run.coordinates()));
                }
                assert!(small.in_memory() <= 4);
            }
            assert_eq!(whole.in_memory(), apart.len());
            for (key, (run, columns)) in apart {
                for fleet in [&mut whole, &mut small] {
                    let snapshot = fleet.get(&key).unwrap().unwrap();
                    assert_eq!((snapshot.run, snapshot.columns), (run.clone(), columns.clone()));
                }
            }
            assert!(whole.get("nobody").unwrap().is_none());
        }
    }

    #[test]
    fn rows_of_a_key_may_be_learned_together() {
        let mut rows = rows();
        // The first row of a key is refused, and one in the middle.
        rows[0].1[2] = f64::NAN;
        rows[40].1[0] = f64::INFINITY;
        let mut one_by_one = Fleet::new(fresh(Kind::Auto), columns()).unwrap();
        let mut together = Fleet::new(fresh(Kind::Auto), columns()).unwrap().with_store(4, Box::new(Shelf::default()));
        [&mut one_by_one, &mut together].into_iter().for_each(|fleet| fleet.ask_for_coordinates(true));
        let told = |outcome: Result<(Loss, &Run), Error>| {
            outcome.map(|(loss, run)| (loss, run.coordinates().to_vec())).map_err(|error| error.to_string())
        };
        for block in rows.chunks(70) {
            let wanted: Vec<_> = block.iter().map(|(key, row)| Some(told(one_by_one.step(key, row)))).collect();
            let mut found = vec![None; block.len()];
            let (keys, rows): (Vec<&str>, Vec<&[f64]>) = block.iter().map(|(key, row)| (&key[..], &row[..])).unzip();
            together.step_all(&keys, &rows, |i, outcome| found[i] = Some(told(outcome))).unwrap();
            assert_eq!(found, wanted);
        }
        let bytes = |fleet: &mut Fleet| {
            let mut bytes = Vec::new();
            fleet.write(b"", &mut bytes).unwrap();
            bytes
        };
        assert!(one_by_one.keys().eq(together.keys()));
        assert!(bytes(&mut one_by_one) == bytes(&mut together));
        assert!(together.step_all(&["a"], &[], |_, _| ()).is_err());
    }

    #[test]
    fn a_fleet_reads_back_and_goes_on_bit_for_bit() {
        let rows = rows();
        let mut fleet = Fleet::new(fresh(Kind::Auto), columns()).unwrap().with_store(4, Box::new(Shelf::default()));
        rows[..200].iter().for_each(|(key, row)| _ = fleet.step(key, row).unwrap());
        let mut bytes = Vec::new();
        fleet.write(b"around", &mut bytes).unwrap();
        assert!(is_fleet(&bytes));
        let FleetIndex { fresh, parts } = Fleet::index(&mut Cursor::new(&bytes)).unwrap();
        assert_eq!(fresh.resume_state, b"around");
        let mut shelf = Shelf::default();
        let part = |(_, at, length): &(String, u64, u64)| Some(bytes[*at as usize..][..*length as usize].to_vec());
        shelf.bytes = parts.iter().map(part).collect();
        let mut again = Fleet::new(fresh.run, fresh.columns).unwrap().with_store(5, Box::new(shelf));
        for (place, (key, ..)) in parts.iter().enumerate() {
            again.insert_stored(key, place as u64).unwrap();
            again.insert_stored(key, place as u64).unwrap_err();
        }
        assert!(fleet.keys().eq(again.keys()));
        for (key, row) in &rows[200..] {
            let wanted = fleet.step(key, row).map(|(loss, run)| (loss, run.coordinates().to_vec())).unwrap();
            let found = again.step(key, row).map(|(loss, run)| (loss, run.coordinates().to_vec())).unwrap();
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn a_row_that_is_refused_changes_nothing() {
        let mut fleet = Fleet::new(fresh(Kind::Auto), columns()).unwrap();
        fleet.step("a", &[1.0; 6]).unwrap();
        for (key, row) in [("a", &[f64::NAN; 6][..]), ("b", &[1.0; 5]), ("b", &[f64::INFINITY; 6])] {
            fleet.step(key, row).unwrap_err();
        }
        assert_eq!(fleet.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(fleet.get("a").unwrap().unwrap().run.totals().rows, 1);
        let warm_up = Columns::new(None, Standardizer::new(Standardize::Warmup(3), 6));
        assert!(Fleet::new(fresh(Kind::Auto), warm_up).is_err());
    }

    #[test]
    fn damage_is_found() {
        let mut fleet = Fleet::new(fresh(Kind::Leader), columns()).unwrap();
        rows()[..40].iter().for_each(|(key, row)| _ = fleet.step(key, row).unwrap());
        let mut bytes = Vec::new();
        fleet.write(b"", &mut bytes).unwrap();
        let refusal = |bytes: &[u8]| Fleet::index(&mut Cursor::new(bytes)).unwrap_err();
        assert_eq!(refusal(b"row,loss"), Refusal::Foreign);
        for cut in [10, 20, 200, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(refusal(&bytes[..cut]), Refusal::Content, "{cut}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(refusal(&longer), Refusal::Content);
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(refusal(&newer), Refusal::Version(9));
        let mut renamed = bytes.clone();
        let key = bytes.windows(4).rposition(|window| window == b"key ").unwrap();
        renamed[key] = b'K';
        assert_eq!(refusal(&renamed), Refusal::Checksum);
    }
}
