//! Choice in a trial: the directions that are kept.

use crate::linalg::Matrix;
use crate::num::{dot, kept, kept_all};
use crate::random::Random;
use crate::scratch::refill;
use crate::simplex::{Complement, DrawScratch, Multiplicity, Select, draw};

/// Directions kept in a trial: explicit ones by index, those of the complement only as far as the rows of the trial
/// require. A kept direction of the complement is uniform there and independent of the row, so its overlap with the
/// part of the row in the complement suffices. The generator of the overlaps is split off before the row is seen.
#[derive(Debug, Clone, Default)]
pub(super) struct DrawnDirections {
    pub kept: Vec<usize>,
    deferred: DeferredOverlaps,
    probabilities: Vec<f64>,
    pub marks: Vec<bool>,
    whole: Vec<f64>,
    scratch: DrawScratch,
}

#[derive(Debug, Clone, Default)]
struct DeferredOverlaps {
    count: usize,
    directions: u64,
    random: Option<Random>,
    reached: Matrix,
    overlaps: Matrix,
}

pub(super) fn complement_mass(complement: &Complement) -> f64 {
    match complement.multiplicity {
        Multiplicity::Finite(n) => n as f64 * kept(complement.log_weight),
        Multiplicity::Infinite => 0.0,
    }
}

impl DrawnDirections {
    /// Draws the explicit directions to keep, and how many of the complement. The smallest possible number of
    /// placeholders with equal probability stands for the complement. Each is a uniformly random direction.
    pub fn draw(&mut self, select: Select, log_weights: &[f64], complement: &Complement, random: &mut Random) {
        let explicit = log_weights.len();
        log_weights.clone_into(&mut self.probabilities);
        kept_all(&mut self.probabilities);
        let mass = complement_mass(complement);
        // The tolerance prevents rounding from adding a placeholder.
        let stand_ins = if mass > 0.0 { ((mass - 1e-9).ceil() as usize).max(1) } else { 0 };
        self.probabilities.extend(std::iter::repeat_n((mass / stand_ins as f64).min(1.0), stand_ins));
        draw(select, &self.probabilities, random, &mut self.kept, &mut self.scratch);
        let probabilities = &self.probabilities;
        self.kept.sort_unstable_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]).then(a.cmp(b)));
        let drawn = self.kept.len();
        self.kept.retain(|i| *i < explicit);
        self.deferred.defer(drawn - self.kept.len(), complement, random);
        self.marks.clear();
        self.marks.resize(explicit, false);
        for i in &self.kept {
            self.marks[*i] = true;
        }
    }

    pub fn clear(&mut self) {
        self.kept.clear();
        self.marks.clear();
        self.deferred.count = 0;
    }

    pub fn normals(&mut self, count: usize) -> Option<Vec<f64>> {
        let random = self.deferred.random.as_mut()?;
        Some((0..count).map(|_| random.normal()).collect())
    }

    /// Appends the coordinates of a point in the kept directions of the complement, from its part there. Returns the
    /// squared length of `part` outside the kept directions.
    pub fn reach(&mut self, part: &[f64], coordinates: &mut Vec<f64>) -> f64 {
        let square = dot(part, part);
        if self.deferred.count == 0 || square == 0.0 {
            return square;
        }
        let from = coordinates.len();
        self.deferred.reach(part, coordinates);
        let explained = dot(&coordinates[from..], &coordinates[from..]);
        (square - explained).max(0.0)
    }

    pub fn reach_beyond(&mut self, part: &[f64], more: f64, coordinates: &mut Vec<f64>) -> f64 {
        let mut whole = std::mem::take(&mut self.whole);
        part.clone_into(&mut whole);
        whole.push(more);
        let left = self.reach(&whole, coordinates);
        self.whole = whole;
        left
    }
}

impl DeferredOverlaps {
    fn defer(&mut self, count: usize, complement: &Complement, random: &mut Random) {
        self.reached.resize(0, 0);
        self.overlaps.resize(0, 0);
        self.count = count;
        if let (Multiplicity::Finite(directions), true) = (complement.multiplicity, count > 0) {
            self.directions = directions;
            self.random = Some(random.split());
        }
    }

    fn reach(&mut self, part: &[f64], coordinates: &mut Vec<f64>) {
        let from = coordinates.len();
        coordinates.resize(from + self.count, 0.0);
        let mut add = |amount: f64, overlap: &[f64]| {
            coordinates[from..].iter_mut().zip(overlap).for_each(|(c, o)| *c += amount * o);
        };
        let known = self.reached.columns();
        self.reached.push_column(part);
        for _ in 0..2 {
            for i in 0..known {
                add(remove(&mut self.reached, i, known), self.overlaps.column(i));
            }
        }
        let rest = self.reached.column_mut(known);
        let norm = dot(rest, rest).sqrt();
        if norm * norm > 1e-26 * dot(part, part) {
            rest.iter_mut().for_each(|r| *r /= norm);
            self.settle();
            add(norm, self.overlaps.column(known));
        } else {
            self.reached.resize(part.len(), known);
        }
    }

    fn settle(&mut self) {
        let Some(random) = &mut self.random else { return };
        let earlier = self.overlaps.columns();
        let known = (self.count + earlier) as u64;
        let size = (known + 1).min(self.directions) as usize;
        self.overlaps.resize(size, earlier + 1);
        let vector = self.overlaps.column_mut(earlier);
        vector.iter_mut().for_each(|v| *v = random.normal());
        if let (Some(last), true) = (vector.last_mut(), known < self.directions) {
            // One coordinate represents all directions beyond the known ones.
            *last = random.chi_squared((self.directions - known) as f64).sqrt();
        }
        for _ in 0..2 {
            for i in 0..earlier {
                remove(&mut self.overlaps, i, earlier);
            }
        }
        let vector = self.overlaps.column_mut(earlier);
        let norm = dot(vector, vector).sqrt();
        vector.iter_mut().for_each(|v| *v /= norm);
    }
}

fn remove(matrix: &mut Matrix, i: usize, j: usize) -> f64 {
    let (unit, column) = matrix.column_pair_mut(i, j);
    let amount = dot(unit, column);
    column.iter_mut().zip(unit).for_each(|(c, u)| *c -= amount * *u);
    amount
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outside {
    pub square: f64,
    /// Part in the complement for which the span has no column.
    pub unresolved: f64,
    pub lost: f64,
}

impl Outside {
    /// Returns the loss of a choice, and writes the coordinates in the kept directions to `kept`, from the coordinates
    /// in the explicit directions and the part outside them, in coordinates of the columns.
    pub fn realise(&self, choice: &mut DrawnDirections, coordinates: &[f64], part: &[f64], kept: &mut Vec<f64>) -> f64 {
        refill(kept, choice.kept.iter().map(|i| coordinates[*i]));
        // Directions that became explicit after the choice belonged to the complement when the choice was made.
        let (chosen_from, later) = coordinates.split_at(choice.marks.len());
        let mut loss = self.lost;
        for (a, is_kept) in chosen_from.iter().zip(&choice.marks) {
            loss += if *is_kept { 0.0 } else { a * a };
        }
        let is_empty = self.square == 0.0 && later.is_empty();
        let part = if later.is_empty() { part } else { later };
        if self.unresolved > 0.0 {
            loss += choice.reach_beyond(if is_empty { &[] } else { part }, self.unresolved.sqrt(), kept);
        } else if !is_empty {
            loss += choice.reach(part, kept);
        }
        loss
    }
}

pub(super) fn finish_coordinates(coordinates: &mut Vec<f64>, kept: usize, unit_square: f64) {
    coordinates.resize(kept, 0.0);
    if unit_square != 1.0 {
        let unit = unit_square.sqrt();
        coordinates.iter_mut().for_each(|c| *c *= unit);
    }
}
