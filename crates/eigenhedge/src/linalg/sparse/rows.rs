//! Storage of sparse vectors with an index of their cells by position: the products of a vector with all stored vectors
//! take one step for each pair of cells at the same position.

use crate::error::Error;
use crate::scratch::{Scratch, refill, zero};
use crate::state::{energy, ensure, length};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SparseRows {
    ends: Vec<usize>,
    at: Vec<u32>,
    values: Vec<f64>,
    #[serde(skip)]
    index: Scratch<Index>,
}

/// Chain of the cells at each position, starting with the last stored.
#[derive(Debug, Clone, Default)]
struct Index {
    /// First cell of the chain of each position, plus one, or zero if there is none.
    last: Vec<u32>,
    cells: Vec<IndexCell>,
}

#[derive(Debug, Clone, Copy)]
struct IndexCell {
    /// Index of the next, earlier cell plus one.
    before: u32,
    owner: u32,
    value: f64,
}

impl SparseRows {
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    pub fn has_room(&self, cells: usize) -> bool {
        self.at.len() + cells < u32::MAX as usize
    }

    pub fn cells(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let start = if j == 0 { 0 } else { self.ends[j - 1] };
        let cells = start..self.ends[j];
        self.at[cells.clone()].iter().zip(&self.values[cells]).map(|(i, x)| (*i as usize, *x))
    }

    pub fn row(&self, j: usize) -> Cells {
        let (at, values) = self.cells(j).map(|(i, x)| (i as u32, x)).unzip();
        Cells { at, values }
    }

    pub fn push(&mut self, cells: &Cells) {
        self.at.extend_from_slice(&cells.at);
        self.values.extend_from_slice(&cells.values);
        self.ends.push(self.at.len());
    }

    pub fn clear(&mut self) {
        let index = &mut self.index.0;
        self.at.iter().for_each(|i| {
            if let Some(last) = index.last.get_mut(*i as usize) {
                *last = 0;
            }
        });
        index.cells.clear();
        self.ends.clear();
        self.at.clear();
        self.values.clear();
    }

    fn update_index(&mut self, length: usize) {
        let Index { last, cells } = &mut self.index.0;
        last.resize(length, 0);
        let mut vector = self.ends.partition_point(|end| *end <= cells.len());
        for cell in cells.len()..self.at.len() {
            while self.ends[vector] <= cell {
                vector += 1;
            }
            let last = &mut last[self.at[cell] as usize];
            let before = std::mem::replace(last, cell as u32 + 1);
            cells.push(IndexCell { before, owner: vector as u32, value: self.values[cell] });
        }
    }

    pub fn products(&mut self, cells: &Cells, length: usize, out: &mut Vec<f64>) {
        self.update_index(length);
        let Index { last, cells: indexed } = &self.index.0;
        zero(out, self.ends.len());
        for (i, x) in cells.iter() {
            let mut next = last[i];
            while next > 0 {
                let cell = indexed[next as usize - 1];
                out[cell.owner as usize] += x * cell.value;
                next = cell.before;
            }
        }
    }

    pub fn dense_products(&self, vector: &[f64], out: &mut Vec<f64>) {
        refill(out, (0..self.count()).map(|j| self.cells(j).map(|(i, x)| x * vector[i]).sum::<f64>()));
    }

    pub fn check_state(&self, vector_length: usize) -> Result<(), Error> {
        length("the values of sparse rows", self.values.len(), self.at.len())?;
        let last = self.ends.last().copied().unwrap_or(0);
        ensure(self.ends.is_sorted() && last == self.at.len(), "the cells of sparse rows must be divided into rows")?;
        let positions = |j: usize| self.cells(j).map(|(i, _)| i);
        let ascending = |j: usize| positions(j).is_sorted_by(|a, b| a < b) && positions(j).all(|i| i < vector_length);
        ensure((0..self.count()).all(ascending), "the cells of a sparse row must be in order")?;
        energy("the energy of sparse rows", self.values.iter().map(|x| x * x).sum())
    }
}

/// Positions and values of the filled cells of a vector, by ascending position. All other cells are zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cells {
    pub at: Vec<u32>,
    pub values: Vec<f64>,
}

/// Lists the positions of nonzero cells. Returns false, with a partial list, above `most`.
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

const BLOCK: usize = 16;

const LARGE: f64 = 1.0 / 8.0;

impl Cells {
    /// Returns the at most eight cells of the sum whose square is at least [`LARGE`] times the squared norm of the sum.
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

    pub fn take(&mut self, row: &[f64], at: &[u32]) {
        self.at.clear();
        self.values.clear();
        self.at.extend_from_slice(at);
        self.values.extend(at.iter().map(|i| row[*i as usize]));
    }

    /// Sets the vector to the cells of `row` at the positions `at`, minus `other`.
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
    use crate::Random;

    fn random_cells(length: usize, random: &mut Random) -> (Cells, Vec<f64>) {
        let (mut cells, mut dense) = (Cells::default(), vec![0.0; length]);
        for (i, entry) in dense.iter_mut().enumerate() {
            if random.uniform() < 0.3 {
                *entry = random.normal();
                cells.at.push(i as u32);
                cells.values.push(*entry);
            }
        }
        (cells, dense)
    }

    #[test]
    fn products_equal_those_of_dense_vectors_also_after_clearing_and_reloading() {
        let (mut random, mut rows, mut out) = (Random::seeded(3), SparseRows::default(), Vec::new());
        for round in 0..3 {
            let mut dense = Vec::new();
            for _ in 0..20 {
                let (cells, vector) = random_cells(17, &mut random);
                rows.products(&cells, 17, &mut out);
                let products = |found: &[f64]| {
                    let wanted = |other: &Vec<f64>| crate::num::dot(other, &vector);
                    dense.iter().zip(found).all(|(other, x)| (wanted(other) - x).abs() < 1e-12)
                };
                assert!(out.len() == dense.len() && products(&out), "round {round}");
                rows.dense_products(&vector, &mut out);
                assert!(products(&out));
                rows.push(&cells);
                rows = postcard::from_bytes(&postcard::to_stdvec(&rows).unwrap()).unwrap();
                rows.check_state(17).unwrap();
                dense.push(vector);
            }
            rows.clear();
        }
        rows.push(&Cells { at: vec![3, 3], values: vec![1.0, 1.0] });
        assert!(rows.check_state(17).is_err());
    }

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
