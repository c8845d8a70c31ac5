//! The committed choice: which directions are kept in this trial.

use crate::num::kept;
use crate::random::Random;
use crate::simplex::{Complement, DrawScratch, Multiplicity, Select, draw};

/// Explicit directions by index, and how far the kept directions of the complement overlap with a row.
///
/// A kept direction of the complement is uniformly distributed in it and independent of the row, so its overlap with
/// the row's part in the complement has a known distribution. That overlap is what is drawn, before the row is seen;
/// the direction itself is never needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    pub kept: Vec<usize>,
    /// Cosines between the row's part in the complement and each kept direction there.
    pub overlaps: Vec<f64>,
    probabilities: Vec<f64>,
    marks: Vec<bool>,
    scratch: DrawScratch,
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
        self.probabilities.extend(log_weights.iter().map(|w| kept(*w)));
        let mass = complement_mass(complement);
        // Rounding must not add a stand-in of its own.
        let stand_ins = if mass > 0.0 { ((mass - 1e-9).ceil() as usize).max(1) } else { 0 };
        self.probabilities.extend(std::iter::repeat_n((mass / stand_ins as f64).min(1.0), stand_ins));
        draw(select, &self.probabilities, random, &mut self.kept, &mut self.scratch);
        let probabilities = &self.probabilities;
        self.kept.sort_unstable_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]).then(a.cmp(b)));
        let drawn = self.kept.len();
        self.kept.retain(|i| *i < explicit);
        self.draw_overlaps(drawn - self.kept.len(), complement, random);
        self.marks.clear();
        self.marks.resize(explicit, false);
        for i in &self.kept {
            self.marks[*i] = true;
        }
    }

    /// The first `count` entries of a random unit vector in the complement.
    fn draw_overlaps(&mut self, count: usize, complement: &Complement, random: &mut Random) {
        self.overlaps.clear();
        let Multiplicity::Finite(directions) = complement.multiplicity else { return };
        if count == 0 {
            return;
        }
        self.overlaps.extend((0..count).map(|_| random.normal()));
        let others = random.chi_squared(directions.saturating_sub(count as u64) as f64);
        let norm = (self.overlaps.iter().map(|o| o * o).sum::<f64>() + others).sqrt();
        self.overlaps.iter_mut().for_each(|o| *o /= norm);
    }

    /// Number of explicit directions the choice was made from.
    pub fn explicit(&self) -> usize {
        self.marks.len()
    }

    /// For each of them, whether it is kept.
    pub fn marks(&self) -> &[bool] {
        &self.marks
    }

    /// Share of the row's energy in the complement that is lost.
    pub fn lost_share(&self) -> f64 {
        (1.0 - self.overlaps.iter().map(|o| o * o).sum::<f64>()).max(0.0)
    }
}
