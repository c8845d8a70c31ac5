//! The committed choice: which directions are kept in this trial.

use crate::linalg::Matrix;
use crate::num::{dot, kept, kept_all};
use crate::random::Random;
use crate::simplex::{Complement, DrawScratch, Multiplicity, Select, draw};

/// Explicit directions by index, and directions of the complement that are settled only as far as rows need them.
///
/// A kept direction of the complement is uniformly distributed in it and independent of the row, so it is enough to
/// settle its overlap with the row's part there. The generator of those overlaps is part of the choice, drawn before
/// the row is seen; the directions themselves are never needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    pub kept: Vec<usize>,
    deferred: Deferred,
    probabilities: Vec<f64>,
    marks: Vec<bool>,
    scratch: DrawScratch,
}

/// The kept directions of the complement, seen from the parts of the complement that rows have reached.
#[derive(Debug, Clone, Default)]
struct Deferred {
    count: usize,
    directions: u64,
    random: Option<Random>,
    /// Orthonormal basis of what rows have reached.
    reached: Matrix,
    /// For each of them: its coordinates in the kept directions, then in as many others as it takes.
    overlaps: Matrix,
}

/// Probability of being kept summed over the complement.
pub(super) fn complement_mass(complement: &Complement) -> f64 {
    match complement.multiplicity {
        Multiplicity::Finite(n) => n as f64 * kept(complement.log_weight),
        Multiplicity::Infinite => 0.0,
    }
}

impl Choice {
    /// Draws the explicit directions and the overlaps of those that are kept besides.
    ///
    /// The complement takes part as just enough stand-ins of equal probability; which directions they stand for is
    /// uniform, so every direction of the complement is kept with its own probability.
    pub fn draw(&mut self, select: Select, log_weights: &[f64], complement: &Complement, random: &mut Random) {
        let explicit = log_weights.len();
        self.probabilities.clear();
        self.probabilities.extend_from_slice(log_weights);
        kept_all(&mut self.probabilities);
        let mass = complement_mass(complement);
        // Rounding must not add a stand-in of its own.
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

    /// Keeps nothing.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.marks.clear();
        self.deferred.count = 0;
    }

    /// Number of explicit directions the choice was made from.
    pub fn explicit(&self) -> usize {
        self.marks.len()
    }

    /// True for those of them that are kept.
    pub fn marks(&self) -> &[bool] {
        &self.marks
    }

    /// So many normal numbers of the choice's own generator; none if no directions of the complement are kept.
    pub fn normals(&mut self, count: usize) -> Option<Vec<f64>> {
        let random = self.deferred.random.as_mut()?;
        Some((0..count).map(|_| random.normal()).collect())
    }

    /// Appends the coordinates in the kept directions of the complement of a point whose part there is given;
    /// returns the squared length of what they miss.
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
}

impl Deferred {
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
        self.reached.resize(part.len(), known + 1);
        self.reached.column_mut(known).copy_from_slice(part);
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

    /// Draws a unit vector of the complement that is orthogonal to those drawn before.
    fn settle(&mut self) {
        let Some(random) = &mut self.random else { return };
        let earlier = self.overlaps.columns();
        let known = (self.count + earlier) as u64;
        let size = (known + 1).min(self.directions) as usize;
        self.overlaps.resize(size, earlier + 1);
        let vector = self.overlaps.column_mut(earlier);
        vector.iter_mut().for_each(|v| *v = random.normal());
        if let (Some(last), true) = (vector.last_mut(), known < self.directions) {
            // All coordinates beyond the known ones are turned into one.
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

/// Makes column `j` orthogonal to the unit column `i`; returns the amount removed.
fn remove(matrix: &mut Matrix, i: usize, j: usize) -> f64 {
    let (unit, column) = matrix.column_pair_mut(i, j);
    let amount = dot(unit, column);
    column.iter_mut().zip(unit).for_each(|(c, u)| *c -= amount * *u);
    amount
}
