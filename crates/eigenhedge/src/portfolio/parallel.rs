//! Updates of a portfolio's members on several threads.
//!
//! Between two draws, members do not depend on each other. The losses and updates of each member are one piece of work.
//! A member computes the same values on any thread, so no bit of the result depends on the number of threads. The draw, the
//! weights and the coordinates are computed by the calling thread.

use super::Portfolio;
use super::rows::Rows;
use crate::learner::{Learner, Loss, Upcoming};
use crate::linalg::WINDOW;
use crate::span::Ambient;
use crate::subspace::{AnyRule, Instance, Subspace};
use crate::threads::threads;
use crate::workers::{Task, share, wait_until};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

type Member = Box<Subspace<Ambient, AnyRule>>;

/// Minimum row length for which several threads are used.
const LONG: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Incur,
    Update,
    Prefetch,
}

/// Task: one phase of a trial for all members.
struct Trial {
    phase: Phase,
    rows: Arc<Vec<Vec<f64>>>,
    at: usize,
    waiting: Mutex<Vec<(usize, Member)>>,
    done: Mutex<Vec<(usize, Member, Loss)>>,
    /// Number of members that have finished.
    count: AtomicUsize,
}

impl Trial {
    fn step(&self, member: &mut Member) -> Loss {
        let next = match self.phase {
            Phase::Incur => return member.incur(&Instance::from(&self.rows[self.at][..])),
            Phase::Update => {
                member.update(&Instance::from(&self.rows[self.at][..]));
                self.at + 1
            }
            Phase::Prefetch => self.at,
        };
        let upcoming = self.rows.get(next..).unwrap_or_default();
        if !upcoming.is_empty() && member.span().wants_block() {
            let instances: Vec<Instance<'_, [f64]>> =
                upcoming.iter().take(WINDOW).map(|row| Instance::from(&row[..])).collect();
            member.prefetch(Upcoming::of(&instances));
        }
        Loss::default()
    }
}

impl Task for Trial {
    fn help(&self) {
        let next = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some((i, mut member)) = next() {
            let loss = Failing(&self.count).during(|| self.step(&mut member));
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push((i, member, loss));
            self.count.fetch_add(1, Ordering::Release);
        }
    }
}

/// Guard that counts a panicking member as finished, so that no thread waits for it forever.
struct Failing<'a>(&'a AtomicUsize);

/// Value added to the count when a member panics.
const FAILED: usize = usize::MAX / 2;

impl Failing<'_> {
    fn during<T>(self, work: impl FnOnce() -> T) -> T {
        let done = work();
        std::mem::forget(self);
        done
    }
}

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(FAILED, Ordering::Release);
    }
}

impl Portfolio<Ambient> {
    /// Returns true if several threads make the trial faster.
    fn is_shared(&self) -> bool {
        let span = self.members[0].span();
        // A sparse row costs less than its copy for other threads.
        self.members.len() > 1 && threads() > 1 && span.length() >= LONG && !span.is_sparse()
    }

    /// Runs [`Learner::incur`], on several threads if that is faster.
    pub(crate) fn incur_shared(&mut self, instance: &Instance<'_, [f64]>) -> Loss {
        let Some(row) = self.shared_row(instance) else { return self.incur(instance) };
        let losses = self.run(Phase::Incur, row);
        self.charge(losses)
    }

    /// Runs [`Learner::update`], on several threads if that is faster.
    pub(crate) fn update_shared(&mut self, instance: &Instance<'_, [f64]>) {
        let Some(row) = self.shared_row(instance) else { return self.update(instance) };
        self.learn_weights();
        self.run(Phase::Update, row);
        self.end_trial();
    }

    /// Runs [`Learner::prefetch`], on several threads if that is faster.
    pub(crate) fn prefetch_shared(&mut self, upcoming: Upcoming<'_, Instance<'_, [f64]>>) {
        let instances = upcoming.instances();
        let points = || instances.iter().map_while(|instance| point(instance).map(<[f64]>::to_vec));
        if instances.is_empty() || !self.is_shared() {
            self.scratch.0.rows = None;
            return self.prefetch(upcoming);
        }
        let rows = self.scratch.0.rows.get_or_insert_default();
        if rows.rows.len() >= instances.len() && rows.at < rows.rows.len() {
            rows.at = rows.rows.len() - instances.len();
        } else {
            *rows = Rows { rows: Arc::new(points().collect()), at: 0 };
        }
        if self.members.iter().any(|member| member.span().wants_block()) {
            let row = rows.clone();
            self.run(Phase::Prefetch, row);
        }
    }

    /// Returns the current row and the rows after it, if several threads are used.
    fn shared_row(&self, instance: &Instance<'_, [f64]>) -> Option<Rows> {
        if !self.is_shared() || self.fixes_center() {
            return None;
        }
        let own = || Some(Rows { rows: Arc::new(vec![point(instance)?.to_vec()]), at: 0 });
        self.scratch.0.rows.clone().or_else(own)
    }

    /// Runs one phase for all members. Returns their losses.
    fn run(&mut self, phase: Phase, row: Rows) -> Vec<Loss> {
        let members = std::mem::take(&mut self.members);
        let count = members.len();
        let trial = Arc::new(Trial {
            phase,
            rows: row.rows,
            at: row.at,
            waiting: Mutex::new(members.into_iter().enumerate().collect()),
            done: Mutex::new(Vec::with_capacity(count)),
            count: AtomicUsize::new(0),
        });
        share(Arc::<Trial>::clone(&trial));
        trial.help();
        wait_until(|| trial.count.load(Ordering::Acquire) >= count);
        let mut done = std::mem::take(&mut *trial.done.lock().unwrap_or_else(PoisonError::into_inner));
        assert!(done.len() == count, "a member has panicked");
        done.sort_unstable_by_key(|(i, _, _)| *i);
        let (mut losses, mut members) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (_, member, loss) in done {
            members.push(member);
            losses.push(loss);
        }
        self.members = members;
        losses
    }
}

fn point<'a>(instance: &Instance<'a, [f64]>) -> Option<&'a [f64]> {
    match instance {
        Instance::Point(point) => Some(point),
        Instance::Dyads(_) => None,
    }
}
