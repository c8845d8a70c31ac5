//! Trials of a block of rows. The rows of a key are processed together, and different keys on several threads, with
//! bit-identical results, because models of different keys are independent.

use super::{Fleet, member};
use crate::error::Error;
use crate::learner::Loss;
use crate::model::Model;
use crate::state::length;
use crate::threads::threads;
use std::collections::HashMap;
use std::ops::Range;

/// Smallest number of rows in a block for which threads are started.
const WORTHWHILE: usize = 128;

/// Rows of a key in a block, as indices, with the model of the key and the results.
struct Group<'a> {
    rows: &'a [usize],
    model: &'a mut Model,
    /// Loss of each row and the range of its coordinates in `coordinates`, or the error.
    results: Vec<Result<(Loss, Range<usize>), Error>>,
    coordinates: Vec<f64>,
}

impl<'a> Group<'a> {
    fn new(rows: &'a [usize], model: &'a mut Model) -> Self {
        Self { rows, model, results: Vec::with_capacity(rows.len()), coordinates: Vec::new() }
    }

    fn step_all(&mut self, rows: &[&[f64]], aligns: bool) {
        self.model.ask_for_coordinates(aligns);
        for i in self.rows {
            let result = self.model.step(rows[*i]).map(|loss| {
                let start = self.coordinates.len();
                self.coordinates.extend_from_slice(self.model.coordinates());
                (loss, start..self.coordinates.len())
            });
            self.results.push(result);
        }
    }

    /// Returns the index in the block of the first accepted row.
    fn first_row(&self) -> Option<usize> {
        self.rows.iter().zip(&self.results).find(|(_, result)| result.is_ok()).map(|(row, _)| *row)
    }
}

impl Fleet<Model> {
    /// Runs a trial for each row with the model of its key, with the results of calling [`Self::step`] in order. Each
    /// model is loaded from the store at most once. The models of different keys learn on several threads
    /// ([`set_threads`](crate::set_threads)) if there are at least 128 rows and all models fit into memory.
    ///
    /// `answer` is called with the index of each row and its loss and coordinates ([`Model::coordinates`]), or its error.
    /// Only an error of the store stops the trials.
    pub fn step_all(
        &mut self,
        keys: &[&str],
        rows: &[&[f64]],
        mut answer: impl FnMut(usize, Result<(Loss, &[f64]), Error>),
    ) -> Result<(), Error> {
        length("the list of keys", keys.len(), rows.len())?;
        let order = together(keys);
        let groups: Vec<&[usize]> = order.chunk_by(|a, b| keys[*a] == keys[*b]).collect();
        let known = self.keys.len();
        let mut first_rows = Vec::new();
        if self.is_for_threads(keys, &groups) {
            first_rows = self.step_on_threads(keys, rows, &groups, answer)?;
        } else {
            for i in order {
                match self.step(keys[i], rows[i]) {
                    Err(error @ Error::Store(_)) => return Err(error),
                    outcome => answer(i, outcome.map(|(loss, model)| (loss, model.coordinates()))),
                }
                first_rows.resize(self.keys.len() - known, i);
            }
        }
        self.order_by_first_rows(known, &first_rows);
        Ok(())
    }

    fn is_for_threads(&self, keys: &[&str], groups: &[&[usize]]) -> bool {
        threads() > 1
            && keys.len() >= WORTHWHILE
            && groups.len() > 1
            && self.slots.len() + groups.len() < self.most
            && groups.iter().all(|rows| keys[rows[0]].len() <= member::LONGEST_KEY as usize)
    }

    /// Returns the index of the first accepted row of each new key that has one, in the order of the groups.
    fn step_on_threads(
        &mut self,
        keys: &[&str],
        rows: &[&[f64]],
        groups: &[&[usize]],
        mut answer: impl FnMut(usize, Result<(Loss, &[f64]), Error>),
    ) -> Result<Vec<usize>, Error> {
        let (mut known, mut new): (HashMap<usize, usize>, Vec<usize>) = (HashMap::new(), Vec::new());
        for (g, rows) in groups.iter().enumerate() {
            self.clock += 1;
            match self.positions.get(keys[rows[0]]).copied() {
                None => new.push(g),
                Some(position) => {
                    // There is room for all models, so that no slot moves.
                    let slot = self.fetch(position)?;
                    self.slots[slot].used = self.clock;
                    known.insert(slot, g);
                }
            }
        }
        let mut added: Vec<Model> = new.iter().map(|_| self.new_member()).collect();
        let in_slots = self.slots.iter_mut().enumerate();
        let old = in_slots.filter_map(|(slot, held)| Some((*known.get(&slot)?, &mut held.member)));
        let all = old.chain(new.iter().copied().zip(&mut added));
        let mut work: Vec<(usize, Group<'_>)> = all.map(|(g, model)| (g, Group::new(groups[g], model))).collect();
        learn(&mut work, rows, self.aligns);
        work.sort_unstable_by_key(|(g, _)| *g);
        let mut first_rows = Vec::with_capacity(groups.len());
        for (_, group) in work {
            first_rows.push(group.first_row());
            for (i, result) in group.rows.iter().zip(group.results) {
                answer(*i, result.map(|(loss, place)| (loss, &group.coordinates[place])));
            }
        }
        // A key is added only if one of its rows was accepted.
        let mut of_new_keys = Vec::new();
        for (g, model) in new.into_iter().zip(added) {
            let Some(row) = first_rows[g] else { continue };
            self.enter(keys[groups[g][0]], model)?;
            of_new_keys.push(row);
        }
        Ok(of_new_keys)
    }
}

fn learn(work: &mut [(usize, Group<'_>)], rows: &[&[f64]], aligns: bool) {
    let count = threads().min(work.len());
    let mut shares: Vec<(usize, Vec<&mut Group<'_>>)> = (0..count).map(|_| (0, Vec::new())).collect();
    work.sort_unstable_by_key(|(g, group)| (std::cmp::Reverse(group.rows.len()), *g));
    for (_, group) in work {
        let Some(least) = shares.iter_mut().min_by_key(|(taken, _)| *taken) else { return };
        least.0 += group.rows.len();
        least.1.push(group);
    }
    let learn = |share: Vec<&mut Group<'_>>| share.into_iter().for_each(|group| group.step_all(rows, aligns));
    std::thread::scope(|scope| {
        let mut shares = shares.into_iter().map(|(_, share)| share);
        let own = shares.next();
        for share in shares {
            scope.spawn(move || learn(share));
        }
        own.into_iter().for_each(learn);
    });
}

fn together(keys: &[&str]) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut numbered = Vec::with_capacity(keys.len());
    for (position, key) in keys.iter().enumerate() {
        let next = numbers.len();
        numbered.push((*numbers.entry(*key).or_insert(next), position));
    }
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, position)| position).collect()
}
