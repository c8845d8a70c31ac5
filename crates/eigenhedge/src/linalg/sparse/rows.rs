//! Storage of sparse vectors with an index of their cells by position.
//!
//! Cost: the products of a vector with all stored vectors take one step for each pair of cells at the same position.

use super::Cells;
use crate::error::Error;
use crate::scratch::Scratch;
use crate::state::{energy, ensure, length};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SparseRows {
    /// End of each vector in the lists of cells.
    ends: Vec<usize>,
    at: Vec<u32>,
    values: Vec<f64>,
    #[serde(skip)]
    index: Scratch<Index>,
}

/// Index of the stored cells: a chain of the cells at each position, starting with the last stored.
#[derive(Debug, Clone, Default)]
struct Index {
    /// First cell of the chain of each position, as one more than its index into `cells`, or zero if there is none.
    last: Vec<u32>,
    cells: Vec<IndexCell>,
}

#[derive(Debug, Clone, Copy)]
struct IndexCell {
    /// Next cell of the chain, which was stored earlier, as one more than its index, or zero at the end.
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
        out.clear();
        out.resize(self.ends.len(), 0.0);
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
        out.clear();
        out.extend((0..self.count()).map(|j| self.cells(j).map(|(i, x)| x * vector[i]).sum::<f64>()));
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
}
