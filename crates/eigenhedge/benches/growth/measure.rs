//! Times per row at several values of one size, with the others fixed.

use super::Samples;
use super::cases::{Axis, Case};
use super::common::{Clock, low};
use eigenhedge::streams;

/// Number of rows timed together. A block contains the periodic work: a decomposition every √n
/// rows, and an eviction every sixteenth of a budget.
const BLOCK: usize = 64;
/// Minimum number of timed blocks. Blocks are added until they take [`SECONDS`] in total.
const BLOCKS: usize = 5;
const SECONDS: f64 = 0.1;
/// Maximum number of timed blocks that end at a measured trial.
const WINDOW: usize = 6;

fn block(step: &mut dyn FnMut(&[f64]), stream: &mut impl Iterator<Item = Vec<f64>>, rows: usize) -> f64 {
    let rows: Vec<Vec<f64>> = stream.take(rows).collect();
    let clock = Clock::start();
    rows.iter().for_each(|row| step(row));
    clock.seconds() / rows.len() as f64
}

/// Returns the seconds per row of a learner after its warm-up.
fn warm(case: &Case, n: usize, k: usize) -> f64 {
    let mut step = (case.make)(n, k);
    let mut stream = streams::signal_and_noise(n, k, 0.3, 3);
    stream.by_ref().take(case.warm.rows(n)).for_each(|row| step(&row));
    let mut seconds = Vec::new();
    while seconds.len() < BLOCKS || seconds.iter().sum::<f64>() * (BLOCK as f64) < SECONDS {
        seconds.push(block(&mut step, &mut stream, BLOCK));
    }
    low(seconds)
}

pub fn lengths(case: &Case) -> Samples {
    case.n.sizes.iter().map(|&n| (n as f64, warm(case, n, case.kept))).collect()
}

pub fn directions(case: &Case, axis: &Axis) -> Samples {
    axis.sizes.iter().map(|&k| (k as f64, warm(case, case.wide, k))).collect()
}

/// Measures the seconds per row at several trials of one run, over the blocks before each trial.
pub fn trials(case: &Case) -> Samples {
    let mut step = (case.make)(case.length, case.kept);
    let mut stream = streams::signal_and_noise(case.length, case.kept, 0.3, 3);
    let mut seen = 0;
    let at = |&t: &usize| {
        // The window grows with t, so it does not change the exponent.
        let blocks = WINDOW.min(t / 4 / BLOCK).max(1);
        stream.by_ref().take(t - seen - blocks * BLOCK).for_each(|row| step(&row));
        seen = t;
        (t as f64, low((0..blocks).map(|_| block(&mut step, &mut stream, BLOCK)).collect()))
    };
    case.t.sizes.iter().map(at).collect()
}
