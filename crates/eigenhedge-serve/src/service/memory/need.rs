//! Upper bounds on the memory of requests and learners, from their sizes.

use super::Memory;
use crate::service::options::{Learner, StreamOptions};
use crate::service::problem::Problem;
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use std::collections::HashSet;

/// Maximum length of rows for which a learner has a scatter matrix.
const LONGEST: usize = 4096;
/// Number of copies of a row in a learner: one direction for each of the nine members of `auto`, and scratch.
const COPIES: usize = 10;
/// Number of copies of a request: as rows and as a command, each in a vector that may double.
const OF_REQUEST: usize = 4;
const OF_KEY: usize = 4 << 10;
const NUMBER: usize = 40;
const ESCAPED: usize = 6;

fn length(options: &StreamOptions, width: usize) -> usize {
    match &options.learner {
        Learner::Model(_) => width,
        Learner::Monitor(monitor) => width.saturating_mul(monitor.lags(width) + 1),
    }
}

/// Counts a learner of `width` columns with its scatter matrix.
pub fn check_learner(memory: &Memory, options: &StreamOptions, width: usize) -> Result<(), Problem> {
    let length = length(options, width);
    let matrix = if length > LONGEST { 0 } else { length * length };
    memory.check_stream(8 * (matrix + COPIES * length) as u64)
}

/// Counts the rows of a request, its answers, and the growth of a learner that has learned `learned` rows.
pub fn need_of_rows(options: &StreamOptions, shape: &Shape, rows: &Rows, learned: u64) -> u64 {
    let (count, length) = (rows.count(), length(options, shape.width));
    let (k, atoms) = match &options.learner {
        Learner::Model(setup) => (setup.spec.kept, setup.spec.kernel.as_ref().map(|_| setup.spec.budget)),
        Learner::Monitor(_) => (0, None),
    };
    let texts: usize = rows.texts.iter().map(|text| ESCAPED * text.len()).sum();
    let names = shape.names.iter().flatten().map(String::len).max().unwrap_or(0);
    let kept: usize = shape.kept.iter().map(String::len).sum();
    let answer = NUMBER * (k.min(length) + 14) + ESCAPED * (3 * names + kept);
    let directions = COPIES * length * count.min(length) * 8;
    let square = |atoms: u64| atoms.saturating_mul(atoms);
    let kernel = atoms.map_or(0, |budget| {
        let most = |rows: u64| square(budget.map_or(rows, |budget| rows.min(budget as u64)));
        (8 * COPIES as u64).saturating_mul(most(learned + count as u64) - most(learned))
    });
    let keys = match shape.key {
        None => 0,
        Some(key) => (0..count).map(|i| rows.texts(i).get(key)).collect::<HashSet<_>>().len() * OF_KEY,
    };
    let own = OF_REQUEST * rows.bytes() + texts + keys + directions;
    (own as u64).saturating_add((answer * count) as u64).saturating_add(kernel)
}
