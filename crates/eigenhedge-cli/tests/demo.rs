//! The table of `demo` is correct.

use crate::common::Place;

/// Returns the expected loss, and the mean and deviation of the realised loss, from a line.
fn losses(text: &str, name: &str) -> (f64, f64, f64) {
    let line = text.lines().find(|line| {
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    });
    let line = line.unwrap_or_else(|| panic!("no line for {name} in\n{text}"));
    let mut cells = line[name.len()..].split_whitespace().filter_map(|cell| cell.parse().ok());
    let mut next = || cells.next().unwrap_or(f64::NAN);
    (next(), next(), next())
}

#[test]
fn mixing_beats_the_best_fixed_subspace_and_tracking_without_it() {
    for seed in [1, 2, 3] {
        let outcome = Place::new().run(&format!("demo --seed {seed} --draws 5"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
        let (best, ..) = losses(&outcome.out, "best fixed subspace in hindsight");
        let (steady, ..) = losses(&outcome.out, "tracking");
        let (share, ..) = losses(&outcome.out, "tracking + fixed share");
        let (past, ..) = losses(&outcome.out, "tracking + past average");
        assert!(share < best && past < best, "{}", outcome.out);
        assert!(steady > 3.0 * share, "{}", outcome.out);
        for name in ["follow the leader", "forgetting leader", "anchored"] {
            assert!(losses(&outcome.out, name).0 > 0.0);
        }
    }
}

#[test]
fn realised_losses_lie_within_four_standard_errors_of_the_expected_ones() {
    let outcome = Place::new().run("demo");
    for name in ["tracking", "tracking + fixed share", "tracking + past average", "anchored"] {
        let (expected, mean, deviation) = losses(&outcome.out, name);
        // The tolerance allows for rounding to two decimals.
        assert!((mean - expected).abs() <= 4.0 * deviation / 50f64.sqrt() + 0.02, "{name}\n{}", outcome.out);
    }
}

#[test]
fn the_seed_decides_every_loss() {
    let table = |arguments: &str| {
        let text = Place::new().run(arguments).out;
        ["best fixed subspace in hindsight", "follow the leader", "tracking", "tracking + fixed share", "anchored"]
            .map(|name| format!("{:?}", losses(&text, name)))
    };
    assert_eq!(table("demo --draws 3"), table("demo --draws 3 --seed 1"));
    assert_ne!(table("demo --draws 3"), table("demo --draws 3 --seed 2"));
}

#[test]
fn the_losses_of_the_readme_are_those_of_the_demo() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    let readme = readme.unwrap_or_else(|error| panic!("README.md: {error}"));
    let printed = Place::new().run("demo --no-report").out;
    for name in ["best fixed subspace in hindsight", "follow the leader", "tracking + fixed share", "additive", "auto"]
    {
        let (loss, ..) = losses(&printed, name);
        assert_eq!(losses(&readme, name).0, loss, "{name}");
    }
    let size = printed.split(". ").next().unwrap_or_default();
    assert!(readme.contains(size), "{size}");
}

#[test]
fn no_draws_are_refused() {
    assert_eq!(Place::new().run("demo --draws 0").status, 2);
}
