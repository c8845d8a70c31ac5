//! States of random configurations can be read. `cargo xtask soak saved` runs more of them.

use crate::common::saved_states::Case;

/// Number of random cases, which take about five seconds.
const CASES: u64 = 60;
/// Seed and number of random cases that once failed.
const FAILED: [(u64, u64); 1] = [(11, 2588)];

#[test]
fn every_state_is_read_and_goes_on_bit_for_bit() {
    let known = Case::known().into_iter().enumerate().map(|(number, case)| (number as u64, case));
    let numbers = (100..100 + CASES).map(|number| (1, number)).chain(FAILED);
    let random = numbers.map(|(seed, number)| (number, Case::new(seed, number)));
    for (number, case) in known.chain(random) {
        let report = case.check();
        assert!(report.violated.is_empty(), "case {number}, {}: {:?}", report.name, report.violated);
    }
}
