//! Part of a point outside the explicit directions, and the loss of a choice.

use super::choice::DrawnDirections;

/// Squared lengths of the parts of a point outside the explicit directions, in the unit of the instance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outside {
    pub square: f64,
    /// Part in the complement for which the span has no column.
    pub unresolved: f64,
    pub lost: f64,
}

impl Outside {
    /// Returns the loss of a choice for a point with these coordinates in the explicit directions, and writes its
    /// coordinates in the kept directions. `part` is the part of the point outside the explicit directions, in coordinates
    /// of the columns.
    pub fn realise(&self, choice: &mut DrawnDirections, coordinates: &[f64], part: &[f64], kept: &mut Vec<f64>) -> f64 {
        kept.clear();
        kept.extend(choice.kept.iter().map(|i| coordinates[*i]));
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

/// Pads coordinates in the unit of the instance with zeros to length `kept`, and converts them to units of the input.
pub(super) fn finish_coordinates(coordinates: &mut Vec<f64>, kept: usize, unit_square: f64) {
    coordinates.resize(kept, 0.0);
    if unit_square != 1.0 {
        let unit = unit_square.sqrt();
        coordinates.iter_mut().for_each(|c| *c *= unit);
    }
}
