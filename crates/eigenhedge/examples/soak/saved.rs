//! `soak saved [--cases N | --only NUMBER] --seed S`: saved and continued random configurations.

use crate::saved_states::Case;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Known cases have numbers below this one.
const KNOWN: u64 = 100;

#[derive(Default)]
struct Totals {
    failed: u64,
    /// Number of rejected rows for each error message. Numbers in messages are masked.
    refused: BTreeMap<String, u64>,
}

/// Runs the cases. Returns true if none failed.
pub fn run(cases: std::ops::Range<u64>, seed: u64) -> bool {
    std::panic::set_hook(Box::new(|info| eprintln!("panic: {info}")));
    let (next, totals, start) = (AtomicU64::new(cases.start), Mutex::new(Totals::default()), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..crate::THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases.end {
                        break;
                    }
                    let known = if number < KNOWN { Case::known().into_iter().nth(number as usize) } else { None };
                    let report = known.unwrap_or_else(|| Case::new(seed, number)).check();
                    let Ok(mut totals) = totals.lock() else { break };
                    report.refused.iter().for_each(|text| *totals.refused.entry(shape(text)).or_default() += 1);
                    if !report.violated.is_empty() {
                        totals.failed += 1;
                        report.violated.iter().for_each(|reason| println!("VIOLATION: {reason}"));
                        println!("    {}\n    cargo xtask soak saved --seed {seed} --only {number}", report.name);
                    }
                }
            });
        }
    });
    let Ok(totals) = totals.into_inner() else { return false };
    for (text, count) in &totals.refused {
        println!("{count:>9} × {text}");
    }
    let (count, seconds) = (cases.end - cases.start, start.elapsed().as_secs_f64());
    println!("{count} cases, seed {seed}: {} failed, {seconds:.1} s", totals.failed);
    totals.failed == 0
}

/// Replaces each word with a digit by `#`.
fn shape(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}
