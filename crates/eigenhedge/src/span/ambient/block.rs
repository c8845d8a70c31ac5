//! Points of a block: they lie behind the columns already, and their products are known.
//!
//! Cost: one pass over the columns for all points together, in place of one for each.

use crate::linalg::{Intake, WINDOW};

/// Points that are loaded next, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Number of points.
    points: usize,
    /// Column that the first would be.
    first: usize,
    /// Points that were loaded.
    loaded: usize,
    pub intake: Intake,
    /// For each point its products with the vectors stored since the block began.
    since: Vec<f64>,
    stored: usize,
}

/// A copy has no points: what lies behind the columns is not copied.
impl Clone for Block {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Block {
    /// Begins with so many points, which the intake has seen, behind so many columns.
    pub fn begin(&mut self, points: usize, columns: usize) {
        self.clear();
        (self.points, self.first) = (points, columns);
        self.since.resize(points * WINDOW, 0.0);
    }

    /// Ends the block.
    pub fn clear(&mut self) {
        (self.points, self.loaded, self.stored) = (0, 0, 0);
    }

    /// Points that are still to come.
    pub fn left(&self) -> usize {
        self.points - self.loaded
    }

    /// Goes on to the next point and returns the column that it would be; ends the block if there is none.
    pub fn next_column(&mut self) -> Option<usize> {
        if self.left() == 0 {
            self.clear();
            return None;
        }
        self.loaded += 1;
        Some(self.first + self.loaded - 1)
    }

    /// The loaded point.
    pub fn present(&self) -> Option<usize> {
        self.loaded.checked_sub(1)
    }

    /// Products of the present point with all stored vectors.
    pub fn products(&self, point: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.intake.products(point));
        out.extend_from_slice(&self.since[point * WINDOW..][..self.stored]);
    }

    /// How far the next point lies behind the last of so many columns; none when nothing is known to come.
    pub fn distance(&self, columns: usize) -> Option<usize> {
        (self.left() > 0).then(|| self.first + self.loaded + 1 - columns)
    }

    /// The present point is stored as it is.
    pub fn store_present(&mut self) {
        let Some(present) = self.present() else { return };
        for later in self.loaded..self.points {
            self.since[later * WINDOW + self.stored] = self.intake.between(present, later);
        }
        self.stored += 1;
    }

    /// Something else is stored, which has these products with the points to come.
    pub fn store_other(&mut self, products: &[f64]) {
        for (later, product) in (self.loaded..self.points).zip(products) {
            self.since[later * WINDOW + self.stored] = *product;
        }
        self.stored += 1;
    }
}
