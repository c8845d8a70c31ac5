//! Memory limits of fleets (one model or monitor per key). Members that do not fit in memory are stored on disk.

use super::outcome::Places;
use eigenhedge::{Fleet, FleetMember};
use eigenhedge_io::GroupStore;
use std::sync::atomic::Ordering;

/// Ratio of a member's size in memory to its saved size. Measured for `auto` with 8 columns: 10 after two rows and 8
/// after sixty.
const IN_MEMORY: u64 = 10;
/// Approximate factor by which a saved member grows during its first rows.
const GROWTH: u64 = 4;
/// Smallest size that is assumed for a saved member, in bytes.
const LEAST: u64 = 4096;
/// Number of members that may always be in memory.
const FEWEST: u64 = 64;

/// Attaches a disk store to a fleet, for members that do not fit in memory.
pub fn keep_in<T: FleetMember>(fleet: &mut Fleet<T>, places: &Places) {
    if !fleet.has_store() {
        let bytes = fleet.fresh().to_bytes().map_or(LEAST, |bytes| bytes.len() as u64);
        let most = most_in_memory((GROWTH * bytes).max(LEAST), places.fleet_bytes.load(Ordering::Relaxed));
        fleet.set_store(most, Box::new(GroupStore::new(&places.folder)));
    }
}

/// Updates the limit on members in memory if the member of `key` has a larger saved size than `largest`.
pub fn limit<T: FleetMember>(fleet: &mut Fleet<T>, key: &str, budget: u64, largest: &mut u64) {
    let Ok(bytes) = fleet.with(key, |member| Ok(member.to_bytes()?.len() as u64)) else { return };
    if bytes > *largest {
        *largest = bytes;
        fleet.set_most(most_in_memory(bytes.max(LEAST), budget));
    }
}

/// Returns the limit on members in memory before the size of a member is known.
pub fn few_in_memory(places: &Places) -> usize {
    most_in_memory(GROWTH * LEAST, places.fleet_bytes.load(Ordering::Relaxed))
}

fn most_in_memory(bytes: u64, budget: u64) -> usize {
    usize::try_from((budget / (IN_MEMORY * bytes)).max(FEWEST)).unwrap_or(usize::MAX)
}

/// Sets the memory for the members of each fleet: a quarter of `max_memory`, divided equally among the fleets.
pub fn share_memory(places: &Places, max_memory: u64, fleets: u64) {
    places.fleet_bytes.store(max_memory / 4 / fleets.max(1), Ordering::Relaxed);
}
