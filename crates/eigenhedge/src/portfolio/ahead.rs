//! Blocks of rows that the members learn independently, on several threads: their states depend neither on each other
//! nor on the drawn choices. Each member learns a lot of [`LOT`] rows and records its trials ([`Trace`]). The calling
//! thread then computes weights, choices and losses of the lot, while other threads learn the next. The results are
//! bit-identical for any number of threads.

use super::Portfolio;
use crate::learner::{Learner, Loss, Upcoming};
use crate::linalg::WINDOW;
use crate::random::Random;
use crate::scratch::refill;
use crate::span::Ambient;
use crate::subspace::{Drawn, Instance, Subspace, Trace};
use crate::threads::threads;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

const LOT: usize = 32;
const WORTHWHILE: usize = 128;
const LARGEST_CELL: f64 = 1e60;
const LARGEST_ENERGY: f64 = 1e200;
/// Minimum of the largest squared norm so far. Any row whose squared norm underflows is then negligible.
const LEAST_SQUARE: f64 = 1e-200;

pub(crate) struct Ran<'a> {
    pub loss: Loss,
    pub coordinates: &'a [f64],
    pub rank: usize,
    pub square: f64,
}

struct Piece<'a> {
    i: usize,
    member: &'a mut Subspace<Ambient>,
    learned: usize,
}

struct Done {
    member: usize,
    lot: usize,
    traces: Vec<Trace>,
}

struct Work<'a> {
    rows: &'a [&'a [f64]],
    pieces: Mutex<VecDeque<Piece<'a>>>,
    spare: Mutex<Vec<Vec<Trace>>>,
}

impl Work<'_> {
    fn help(&self) -> Option<Done> {
        let next = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Piece { i, member, learned } = next?;
        let mut traces = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let end = (learned + LOT).min(self.rows.len());
        learn(member, self.rows, learned..end, &mut traces);
        if end < self.rows.len() {
            let piece = Piece { i, member, learned: end };
            self.pieces.lock().unwrap_or_else(PoisonError::into_inner).push_back(piece);
        }
        Some(Done { member: i, lot: learned / LOT, traces })
    }
}

impl Portfolio<Ambient> {
    pub(crate) fn runs_ahead(&self, rows: &[&[f64]]) -> bool {
        let span = self.members[0].span();
        let is_plain = |row: &&[f64]| row.len() == span.length() && row.iter().all(|x| x.abs() <= LARGEST_CELL);
        threads() > 1
            && self.members.len() > 1
            && rows.len() * self.members.len() >= WORTHWHILE
            && !self.scratch.0.aligns
            && self.members.iter().all(|member| member.accepts_any_row(LEAST_SQUARE, LARGEST_ENERGY))
            && !span.is_sparse()
            && rows.iter().all(is_plain)
    }

    /// Runs a trial for each row, in order, and calls `each` with its results. One of the threads also runs `beside`.
    /// [`Self::runs_ahead`] must be true.
    pub(crate) fn run_ahead(
        &mut self,
        rows: &[&[f64]],
        random: &mut Random,
        beside: impl FnOnce() + Send,
        mut each: impl FnMut(Ran<'_>),
    ) {
        let mut members = std::mem::take(&mut self.members);
        let pieces = members.iter_mut().enumerate().map(|(i, member)| Piece { i, member, learned: 0 }).collect();
        let spare = std::mem::take(&mut self.scratch.0.spare_traces);
        let work = Work { rows, pieces: Mutex::new(pieces), spare: Mutex::new(spare) };
        let (sender, receiver) = channel();
        let mut drawn = std::mem::take(&mut self.scratch.0.drawn);
        let beside = Mutex::new(Some(beside));
        let run_beside = || {
            let taken = beside.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.into_iter().for_each(|beside| beside());
        };
        thread::scope(|scope| {
            let (work, run_beside) = (&work, &run_beside);
            for _ in 1..threads() {
                let sender = sender.clone();
                let help = move || {
                    run_beside();
                    // The receiver is gone only if the calling thread has panicked.
                    while work.help().is_some_and(|done| sender.send(done).is_ok()) {}
                };
                // If the system cannot start a thread, the others do its work.
                drop(thread::Builder::new().spawn_scoped(scope, help));
            }
            drop(sender);
            let mut lots = vec![vec![Vec::new(); self.specs.len()]; rows.len().div_ceil(LOT)];
            for i in 0..lots.len() {
                while lots[i].iter().any(Vec::is_empty) {
                    let found = receiver.try_recv().ok().or_else(|| work.help()).or_else(|| receiver.recv().ok());
                    // If there is no result, another thread has panicked. The scope then panics too.
                    let Some(Done { member, lot, traces }) = found else { return };
                    lots[lot][member] = traces;
                }
                let traces = std::mem::take(&mut lots[i]);
                for i in 0..traces[0].len() {
                    each(self.settle(i, &traces, random, &mut drawn));
                }
                work.spare.lock().unwrap_or_else(PoisonError::into_inner).extend(traces);
            }
            run_beside();
        });
        self.scratch.0.spare_traces = work.spare.into_inner().unwrap_or_else(PoisonError::into_inner);
        members[self.scratch.0.chosen].show(&drawn);
        self.scratch.0.drawn = drawn;
        self.members = members;
    }

    fn settle<'a>(&mut self, i: usize, traces: &[Vec<Trace>], random: &mut Random, drawn: &'a mut Drawn) -> Ran<'a> {
        let chosen = self.choose_member(random);
        let trace = &traces[chosen][i];
        let mut own = std::mem::take(&mut self.scratch.0.own);
        refill(&mut own, traces.iter().map(|traces| Loss { expected: traces[i].expected, realised: 0.0 }));
        own[chosen].realised = trace.draw(random, drawn);
        let loss = self.charge(own);
        self.learn_weights(traces.iter().map(|traces| traces[i].square).fold(0.0, f64::max));
        Ran { loss, coordinates: &drawn.coordinates, rank: trace.rank, square: trace.square }
    }
}

fn learn(member: &mut Subspace<Ambient>, rows: &[&[f64]], lot: Range<usize>, traces: &mut Vec<Trace>) {
    traces.resize_with(lot.len(), Trace::default);
    let mut upcoming: Vec<Instance<'_, [f64]>> = Vec::new();
    for (i, trace) in lot.clone().zip(traces) {
        if member.span().wants_block() {
            refill(&mut upcoming, rows[i..].iter().take(WINDOW).map(|row| Instance::Point(*row)));
            member.prefetch(Upcoming::of(&upcoming));
        }
        let outcome = member.trial_without_choice(rows[i], trace);
        assert!(outcome.is_ok(), "rows that are within these limits are valid: {outcome:?}");
    }
    if lot.end == rows.len() {
        member.prefetch(Upcoming::of(&[]));
    }
}
