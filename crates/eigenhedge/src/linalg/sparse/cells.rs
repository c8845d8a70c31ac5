//! The filled cells of a sparse vector.

/// Positions and values of the filled cells of a vector, by ascending position. All other cells are zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cells {
    pub at: Vec<u32>,
    pub values: Vec<f64>,
}

/// Lists the positions of the nonzero cells. Returns false if the list is incomplete: there are more than `most`.
pub(crate) fn filled_cells(row: &[f64], most: usize, at: &mut Vec<u32>) -> bool {
    at.clear();
    for (block, cells) in row.chunks(BLOCK).enumerate() {
        // Most blocks of a sparse row are empty. Without an early exit the test of a block vectorizes.
        if cells.iter().fold(true, |empty, x| empty & (*x == 0.0)) {
            continue;
        }
        let first = (block * BLOCK) as u32;
        at.extend((first..).zip(cells).filter(|(_, x)| **x != 0.0).map(|(i, _)| i));
        if at.len() > most {
            return false;
        }
    }
    true
}

/// Number of cells that are tested together.
const BLOCK: usize = 16;

/// The largest cells of a sum of two vectors are those whose squares are at least this share of the squared norm.
const LARGE: f64 = 1.0 / 8.0;

impl Cells {
    /// Returns the largest cells of the sum of two vectors, of which there are few.
    pub fn largest_of_sum(a: &[f64], b: &[f64]) -> Self {
        let sum = || a.iter().zip(b).map(|(a, b)| a + b);
        let least = LARGE * sum().map(|x| x * x).sum::<f64>();
        let mut cells = Self::default();
        for (i, x) in (0..).zip(sum()).filter(|(_, x)| *x != 0.0 && x * x >= least) {
            cells.push(i, x);
        }
        cells
    }

    pub fn square(&self) -> f64 {
        self.values.iter().map(|x| x * x).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.at.iter().zip(&self.values).map(|(i, x)| (*i as usize, *x))
    }

    pub fn times(&self, dense: &[f64]) -> f64 {
        self.iter().map(|(i, x)| x * dense[i]).sum()
    }

    fn push(&mut self, at: u32, value: f64) {
        if value != 0.0 {
            self.at.push(at);
            self.values.push(value);
        }
    }

    /// Sets the vector to the cells of `row` at these positions.
    pub fn take(&mut self, row: &[f64], at: &[u32]) {
        self.at.clear();
        self.values.clear();
        self.at.extend_from_slice(at);
        self.values.extend(at.iter().map(|i| row[*i as usize]));
    }

    /// Sets the vector to the cells of `row` at these positions minus another sparse vector.
    pub fn take_difference(&mut self, row: &[f64], at: &[u32], other: &Self) {
        self.at.clear();
        self.values.clear();
        let mut theirs = other.at.iter().copied().zip(other.values.iter().copied()).peekable();
        for i in at.iter().copied() {
            while let Some((place, value)) = theirs.next_if(|(place, _)| *place < i) {
                self.push(place, -value);
            }
            let other = theirs.next_if(|(place, _)| *place == i).map_or(0.0, |(_, value)| value);
            self.push(i, row[i as usize] - other);
        }
        theirs.for_each(|(place, value)| self.push(place, -value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_sparse_vectors_equals_that_of_dense_ones() {
        let rows = [vec![0.0, 2.0, 0.0, -1.0, 5.0, 0.0], vec![1.0, 2.0, 0.0, 3.0, 0.0, -4.0], vec![0.0; 6]];
        for (a, b) in rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b))) {
            let (mut at, mut others, mut other, mut found) = (vec![9], Vec::new(), Cells::default(), Cells::default());
            assert!(filled_cells(a, 6, &mut at) && filled_cells(b, 6, &mut others));
            other.take(b, &others);
            found.take_difference(a, &at, &other);
            let mut dense = vec![0.0; 6];
            found.iter().for_each(|(i, x)| dense[i] = x);
            let wanted: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            assert_eq!(dense, wanted);
            assert!(found.at.is_sorted() && found.values.iter().all(|x| *x != 0.0));
        }
    }

    #[test]
    fn filled_cells_are_listed_up_to_a_limit() {
        let mut row = vec![0.0; 100];
        (row[3], row[63], row[99]) = (1.0, f64::NAN, -2.0);
        let mut at = Vec::new();
        assert!(filled_cells(&row, 3, &mut at));
        assert_eq!(at, [3, 63, 99]);
        assert!(!filled_cells(&row, 2, &mut at));
    }
}
