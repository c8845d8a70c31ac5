//! Memory limits of fleets. Members beyond the limit are stored on disk.

use super::outcome::Places;
use crate::service::memory::measured;
use eigenhedge::{Fleet, FleetMember};
use eigenhedge_io::GroupStore;

/// Approximate growth factor of a member during its first rows.
const GROWTH: u64 = 4;
/// Minimum size that is assumed for a member, in bytes.
const LEAST: u64 = 64 << 10;

pub fn keep_in<T: FleetMember>(fleet: &mut Fleet<T>, places: &Places) {
    if !fleet.has_store() {
        let most = most_in_memory(GROWTH * size(fleet.fresh()), places.fleet_bytes);
        fleet.set_store(most, Box::new(GroupStore::new(&places.folder)));
    }
}

fn size<T: FleetMember>(member: &T) -> u64 {
    measured(|| member.clone()).1.max(0).cast_unsigned()
}

pub fn limit<T: FleetMember>(fleet: &mut Fleet<T>, key: &str, budget: u64, largest: &mut u64) {
    let Ok(bytes) = fleet.with(key, |member| Ok(size(member))) else { return };
    if bytes > *largest {
        *largest = bytes;
        fleet.set_most(most_in_memory(bytes, budget));
    }
}

pub fn few_in_memory(places: &Places) -> usize {
    most_in_memory(LEAST, places.fleet_bytes)
}

fn most_in_memory(bytes: u64, budget: u64) -> usize {
    usize::try_from((budget / bytes.max(LEAST)).max(1)).unwrap_or(usize::MAX)
}
