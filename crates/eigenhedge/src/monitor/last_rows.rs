//! Buffer of the most recent raw rows, from which a new reference can be computed.

use crate::error::Error;
use crate::state::ensure;
use serde::{Deserialize, Serialize};

/// Maximum number of values in the buffer (8 MiB), unless [`FEWEST_ROWS`] rows need more.
const MOST_NUMBERS: usize = 1 << 20;
/// Minimum capacity of the buffer in rows, however long they are.
const FEWEST_ROWS: usize = 128;

/// Buffer of the most recent raw rows: as many as the warm-up had, or fewer if rows are long.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct LastRows {
    width: usize,
    pub most: usize,
    cells: Vec<f64>,
    oldest: usize,
}

impl LastRows {
    /// Creates a buffer with room for as many rows as `rows`, or fewer if they are long, and fills
    /// it with the last of them.
    pub fn new(rows: &[Vec<f64>], width: usize) -> Self {
        let most = rows.len().min(room(width)).max(1);
        let mut last = Self::empty(width, most);
        rows.iter().skip(rows.len().saturating_sub(most)).for_each(|row| last.push(row));
        last
    }

    pub fn empty(width: usize, most: usize) -> Self {
        Self { width, most, cells: Vec::with_capacity(width * most), oldest: 0 }
    }

    /// Adds a row, replacing the oldest one if the buffer is full.
    pub fn push(&mut self, row: &[f64]) {
        if self.count() < self.most {
            return self.cells.extend_from_slice(row);
        }
        let place = self.oldest * self.width;
        self.cells[place..place + self.width].copy_from_slice(row);
        self.oldest = (self.oldest + 1) % self.most;
    }

    fn count(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// Returns the newest rows, at most `most`, oldest first.
    pub fn newest(&self, most: usize) -> Vec<Vec<f64>> {
        let count = self.count();
        let order = (0..count).map(|i| (self.oldest + i) % count.max(1));
        let row = |place: usize| self.cells[place * self.width..(place + 1) * self.width].to_vec();
        order.skip(count.saturating_sub(most)).map(row).collect()
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        let fits = self.width == width
            && (1..=room(width)).contains(&self.most)
            && self.cells.len().is_multiple_of(width.max(1));
        let count = self.count();
        ensure(fits && count <= self.most, "the last rows must be as long as others")?;
        ensure(self.oldest == 0 || count == self.most && self.oldest < count, "the last rows must be in order")?;
        self.cells.chunks(width.max(1)).try_for_each(|row| crate::row::check_cells("one of the last rows", row, width))
    }
}

fn room(width: usize) -> usize {
    (MOST_NUMBERS / width.max(1)).max(FEWEST_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_rows_come_back_in_order() {
        let rows: Vec<Vec<f64>> = (0..10).map(|t| vec![f64::from(t), -f64::from(t)]).collect();
        let mut last = LastRows::new(&rows[..4], 2);
        for t in 4..10 {
            last.push(&rows[t]);
            assert_eq!(last.newest(100), rows[t - 3..=t]);
            assert_eq!(last.newest(2), rows[t - 1..=t]);
        }
        assert!(last.check_state(2).is_ok() && last.check_state(3).is_err());
    }
}
