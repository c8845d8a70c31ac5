//! Members of fleets in memory and on disk.

use super::outcome::Places;
use eigenhedge::{Fleet, FleetMember};
use eigenhedge_io::GroupStore;
use std::sync::atomic::Ordering;

/// Bytes in memory for each byte of a saved member: measured for `auto` over 8 columns, 10 after two rows and 8 after sixty.
const IN_MEMORY: u64 = 10;
/// Growth of a saved member with its first rows, about.
const GROWTH: u64 = 4;
/// Bytes of a saved member, at least.
const LEAST: u64 = 4096;
/// Members in memory, at least.
const FEWEST: u64 = 64;

/// Gives a fleet a place for members that are not in memory.
pub fn keep_in<T: FleetMember>(fleet: &mut Fleet<T>, places: &Places) {
    if !fleet.has_store() {
        let bytes = fleet.fresh().to_bytes().map_or(LEAST, |bytes| bytes.len() as u64);
        let most = most_in_memory((GROWTH * bytes).max(LEAST), places.fleet_bytes.load(Ordering::Relaxed));
        fleet.set_store(most, Box::new(GroupStore::new(&places.folder)));
    }
}

/// Sets the number of members in memory from the largest saved member so far.
pub fn limit<T: FleetMember>(fleet: &mut Fleet<T>, key: &str, budget: u64, largest: &mut u64) {
    let Ok(bytes) = fleet.with(key, |member| Ok(member.to_bytes()?.len() as u64)) else { return };
    if bytes > *largest {
        *largest = bytes;
        fleet.set_most(most_in_memory(bytes.max(LEAST), budget));
    }
}

/// Members in memory before the size of one is known.
pub fn few_in_memory(places: &Places) -> usize {
    most_in_memory(GROWTH * LEAST, places.fleet_bytes.load(Ordering::Relaxed))
}

fn most_in_memory(bytes: u64, budget: u64) -> usize {
    usize::try_from((budget / (IN_MEMORY * bytes)).max(FEWEST)).unwrap_or(usize::MAX)
}

/// Bytes for the members of each of so many fleets.
pub fn share_memory(places: &Places, max_memory: u64, fleets: u64) {
    places.fleet_bytes.store(max_memory / 4 / fleets.max(1), Ordering::Relaxed);
}
