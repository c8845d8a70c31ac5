//! Learners of a comparison, which learn batches of rows in parallel.

use crate::downsample::Downsampler;
use eigenhedge::Model;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

pub struct Contestant {
    pub name: String,
    pub run: Model,
    pub total: f64,
    pub curve: Downsampler,
    pub spent: f64,
}

/// Lets each learner learn all rows. An error has the index of the first rejected row.
pub fn learn_lot(
    contestants: &mut [Contestant],
    rows: &[Vec<f64>],
    (first, centered): (u64, bool),
    clock: fn() -> f64,
) -> Result<(), (usize, eigenhedge::Error)> {
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    let count = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(contestants.len());
    let waiting = Mutex::new(contestants.iter_mut().enumerate());
    let work = || {
        let mut refused = Vec::new();
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((position, contestant)) = next() {
            if let Err((i, error)) = contestant.learn(&rows, (first, centered), clock) {
                refused.push((i, position, error));
            }
        }
        refused
    };
    let refused = thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        own.into_iter().chain(others).min_by_key(|(i, position, _)| (*i, *position))
    });
    refused.map_or(Ok(()), |(i, _, error)| Err((i, error)))
}

impl Contestant {
    fn learn(
        &mut self,
        rows: &[&[f64]],
        (first, centered): (u64, bool),
        clock: fn() -> f64,
    ) -> Result<(), (usize, eigenhedge::Error)> {
        let (start, mut number) = (clock(), first);
        let Self { run, total, curve, spent, .. } = self;
        let outcome = run.step_each(rows, |_, loss| {
            if !(centered && number == 0) {
                *total += loss.expected;
                curve.push(number, &[*total]);
            }
            number += 1;
        });
        *spent += clock() - start;
        outcome
    }
}
