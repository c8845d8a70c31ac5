//! Blocks of upcoming points, stored after the columns. Their inner products take one pass over the columns together.

use crate::linalg::{Intake, WINDOW};

#[derive(Debug, Default)]
pub(super) struct UpcomingBlock {
    points: usize,
    first: usize,
    loaded: usize,
    pub intake: Intake,
    /// Inner products of each point with the vectors stored since the start of the block.
    since: Vec<f64>,
    stored: usize,
}

/// Clones as an empty block, because the storage after the columns is not copied.
impl Clone for UpcomingBlock {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl UpcomingBlock {
    pub fn begin(&mut self, points: usize, columns: usize) {
        self.clear();
        (self.points, self.first) = (points, columns);
        self.since.resize(points * WINDOW, 0.0);
    }

    pub fn clear(&mut self) {
        (self.points, self.loaded, self.stored) = (0, 0, 0);
    }

    pub fn left(&self) -> usize {
        self.points - self.loaded
    }

    /// Returns the column index of the next point. If no point is left, ends the block and returns `None`.
    pub fn next_column(&mut self) -> Option<usize> {
        if self.left() == 0 {
            self.clear();
            return None;
        }
        self.loaded += 1;
        Some(self.first + self.loaded - 1)
    }

    pub fn present(&self) -> Option<usize> {
        self.loaded.checked_sub(1)
    }

    /// Writes the inner products of point `point` of the block with all stored vectors to `out`.
    pub fn products(&self, point: usize, out: &mut Vec<f64>) {
        self.intake.products(point).clone_into(out);
        out.extend_from_slice(&self.since[point * WINDOW..][..self.stored]);
    }

    /// Returns the distance in columns from the last of `columns` columns to the next point, if one is left.
    pub fn distance(&self, columns: usize) -> Option<usize> {
        (self.left() > 0).then(|| self.first + self.loaded + 1 - columns)
    }

    /// Records that the loaded point was stored unchanged as a vector of the span.
    pub fn store_present(&mut self) {
        let Some(present) = self.present() else { return };
        for later in self.loaded..self.points {
            self.since[later * WINDOW + self.stored] = self.intake.between(present, later);
        }
        self.stored += 1;
    }

    /// Records that a vector other than the loaded point was stored, with these inner products with the remaining
    /// points.
    pub fn store_other(&mut self, products: &[f64]) {
        for (later, product) in (self.loaded..self.points).zip(products) {
            self.since[later * WINDOW + self.stored] = *product;
        }
        self.stored += 1;
    }
}
