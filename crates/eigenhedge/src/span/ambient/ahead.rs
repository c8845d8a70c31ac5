//! Points that were announced: they lie behind the columns already, and their products are known.
//!
//! Cost: one pass over the columns for all points together, in place of one for each.

use crate::linalg::{Intake, WINDOW};

/// Announced points and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Where the points came from, in order: what arrives must be what was announced.
    addresses: Vec<usize>,
    /// Column that the first would be.
    first: usize,
    /// Points that have arrived.
    arrived: usize,
    pub intake: Intake,
    /// For each point its products with the vectors stored since the announcement.
    since: Vec<f64>,
    stored: usize,
}

/// A copy knows of no points: what lies behind the columns is not copied.
impl Clone for Ahead {
    fn clone(&self) -> Self {
        Self::default()
    }
}

fn address(point: &[f64]) -> usize {
    point.as_ptr().addr()
}

impl Ahead {
    /// These points, which the intake has seen, lie behind so many columns.
    pub fn announce(&mut self, points: &[&[f64]], columns: usize) {
        self.clear();
        self.addresses.extend(points.iter().map(|point| address(point)));
        self.first = columns;
        self.since.resize(points.len() * WINDOW, 0.0);
    }

    /// Nothing is announced any more.
    pub fn clear(&mut self) {
        self.addresses.clear();
        (self.arrived, self.stored) = (0, 0);
    }

    /// Points that are still to come.
    pub fn left(&self) -> usize {
        self.addresses.len() - self.arrived
    }

    /// The column that this point would be, if it is the next of those announced.
    pub fn arrive(&mut self, point: &[f64]) -> Option<usize> {
        if self.addresses.get(self.arrived) != Some(&address(point)) {
            self.clear();
            return None;
        }
        self.arrived += 1;
        Some(self.first + self.arrived - 1)
    }

    /// The point that arrived last, of those announced.
    pub fn present(&self) -> Option<usize> {
        self.arrived.checked_sub(1)
    }

    /// Products of the present point with all stored vectors.
    pub fn products(&self, point: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.intake.products(point));
        out.extend_from_slice(&self.since[point * WINDOW..][..self.stored]);
    }

    /// How far the next point lies behind the last of so many columns; none when nothing is known to come.
    pub fn distance(&self, columns: usize) -> Option<usize> {
        (self.left() > 0).then(|| self.first + self.arrived + 1 - columns)
    }

    /// The present point is stored as it is.
    pub fn store_present(&mut self) {
        let Some(present) = self.present() else { return };
        for later in self.arrived..self.addresses.len() {
            self.since[later * WINDOW + self.stored] = self.intake.between(present, later);
        }
        self.stored += 1;
    }

    /// Something else is stored, which has these products with the points to come.
    pub fn store_other(&mut self, products: &[f64]) {
        for (later, product) in (self.arrived..self.addresses.len()).zip(products) {
            self.since[later * WINDOW + self.stored] = *product;
        }
        self.stored += 1;
    }
}
