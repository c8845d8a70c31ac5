//! A column-major matrix that grows and shrinks in both directions without moving what it holds.
//!
//! Columns start on 64-byte boundaries, so vector loads never straddle a cache line, and faer sees it as a view.

use crate::num::dot;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

const ALIGN: usize = 64;
const LINE: usize = ALIGN / size_of::<f64>();

/// Owned storage; `rows × columns` are in use, the rest is room to grow.
#[derive(Debug, Default)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    /// First aligned entry of `data`.
    start: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let mut matrix = Self::default();
        matrix.resize(rows, columns);
        matrix
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        for i in 0..size {
            matrix.column_mut(i)[i] = 1.0;
        }
        matrix
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Bytes held, used or not.
    pub fn bytes(&self) -> usize {
        self.data.capacity() * size_of::<f64>()
    }

    /// One column.
    pub fn column(&self, j: usize) -> &[f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &self.data[at..at + self.rows]
    }

    /// One column, to write.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &mut self.data[at..at + self.rows]
    }

    /// Two different columns, to write.
    pub fn column_pair_mut(&mut self, first: usize, second: usize) -> (&mut [f64], &mut [f64]) {
        assert!(first != second && first.max(second) < self.columns, "two different columns");
        let low = self.start + first.min(second) * self.stride;
        let high = self.start + first.max(second) * self.stride;
        let (head, tail) = self.data.split_at_mut(high);
        let (a, b) = (&mut head[low..low + self.rows], &mut tail[..self.rows]);
        if first < second { (a, b) } else { (b, a) }
    }

    /// Changes the shape, keeping what both shapes share; new entries are zero.
    pub fn resize(&mut self, rows: usize, columns: usize) {
        let room = (self.data.len() - self.start).checked_div(self.stride).unwrap_or(0);
        if rows > self.stride || columns > room {
            let stride = if rows > self.stride { grown(rows, self.stride).next_multiple_of(LINE) } else { self.stride };
            let room = if columns > room { grown(columns, room) } else { room };
            self.relocate(stride, room);
        }
        let (old_rows, old_columns) = (self.rows, self.columns);
        (self.rows, self.columns) = (rows, columns);
        for j in 0..columns {
            let from = if j < old_columns { old_rows.min(rows) } else { 0 };
            self.column_mut(j)[from..].fill(0.0);
        }
    }

    fn relocate(&mut self, stride: usize, room: usize) {
        let mut data = vec![0.0; stride * room + LINE];
        let start = data.as_ptr().align_offset(ALIGN).min(LINE);
        for j in 0..self.columns {
            let at = start + j * stride;
            data[at..at + self.rows].copy_from_slice(self.column(j));
        }
        (self.stride, self.start, self.data) = (stride, start, data);
    }

    /// `out = Aᵀ x`; `out` is reshaped.
    pub fn transpose_times(&self, x: &[f64], out: &mut Vec<f64>) {
        assert_eq!(x.len(), self.rows, "one entry for each row");
        out.clear();
        out.resize(self.columns, 0.0);
        Arch::new().dispatch(TransposeTimes { matrix: self, x, out });
    }

    /// `x ← x - A c`; returns the squared norm of the result.
    pub fn subtract_times(&self, coefficients: &[f64], x: &mut [f64]) -> f64 {
        assert_eq!((x.len(), coefficients.len()), (self.rows, self.columns), "shapes agree");
        Arch::new().dispatch(SubtractTimes { matrix: self, coefficients, x })
    }

    /// Largest deviation of the columns' Gram matrix from the identity.
    pub fn drift(&self) -> f64 {
        let mut largest = 0f64;
        for j in 0..self.columns {
            for i in 0..=j {
                let target = f64::from(u8::from(i == j));
                largest = largest.max((dot(self.column(i), self.column(j)) - target).abs());
            }
        }
        largest
    }

    /// Gram–Schmidt, each column twice, for columns that are nearly orthonormal already.
    pub fn orthonormalise(&mut self) {
        for j in 0..self.columns {
            for _ in 0..2 {
                for i in 0..j {
                    let (earlier, column) = self.column_pair_mut(i, j);
                    let overlap = dot(earlier, column);
                    column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= overlap * *e);
                }
                let column = self.column_mut(j);
                let inverse = 1.0 / dot(column, column).sqrt();
                column.iter_mut().for_each(|c| *c *= inverse);
            }
        }
    }

    /// A view for faer.
    pub fn view(&self) -> MatRef<'_, f64> {
        if self.columns == 0 || self.rows == 0 {
            return MatRef::from_column_major_slice(&[], self.rows, self.columns);
        }
        let end = self.start + (self.columns - 1) * self.stride + self.rows;
        MatRef::from_column_major_slice_with_stride(&self.data[self.start..end], self.rows, self.columns, self.stride)
    }

    /// A view for faer, to write.
    pub fn view_mut(&mut self) -> MatMut<'_, f64> {
        if self.columns == 0 || self.rows == 0 {
            return MatMut::from_column_major_slice_mut(&mut [], self.rows, self.columns);
        }
        let end = self.start + (self.columns - 1) * self.stride + self.rows;
        MatMut::from_column_major_slice_with_stride_mut(
            &mut self.data[self.start..end],
            self.rows,
            self.columns,
            self.stride,
        )
    }
}

/// Rows handled together, so that the vector stays in the first cache while the columns stream by.
const BLOCK: usize = 2048;

struct TransposeTimes<'a> {
    matrix: &'a Matrix,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for TransposeTimes<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { matrix, x, out } = self;
        for (block, x) in x.chunks(BLOCK).enumerate() {
            let rows = block * BLOCK..block * BLOCK + x.len();
            let mut groups = out.chunks_exact_mut(4);
            let mut j = 0;
            for group in &mut groups {
                let columns = [0, 1, 2, 3].map(|c| &matrix.column(j + c)[rows.clone()]);
                for (out, dot) in group.iter_mut().zip(four_dots(columns, x)) {
                    *out += dot;
                }
                j += 4;
            }
            for out in groups.into_remainder() {
                *out += dot(&matrix.column(j)[rows.clone()], x);
                j += 1;
            }
        }
    }
}

#[inline(always)]
fn four_dots(columns: [&[f64]; 4], x: &[f64]) -> [f64; 4] {
    let mut sums = [[0.0; 8]; 4];
    let (x8, x_rest) = x.as_chunks::<8>();
    let parts = columns.map(|c| c.as_chunks::<8>());
    for (i, x) in x8.iter().enumerate() {
        for c in 0..4 {
            for lane in 0..8 {
                sums[c][lane] += parts[c].0[i][lane] * x[lane];
            }
        }
    }
    let mut dots = [0.0; 4];
    for c in 0..4 {
        let rest: f64 = parts[c].1.iter().zip(x_rest).map(|(a, b)| a * b).sum();
        dots[c] = sums[c].iter().sum::<f64>() + rest;
    }
    dots
}

struct SubtractTimes<'a> {
    matrix: &'a Matrix,
    coefficients: &'a [f64],
    x: &'a mut [f64],
}

impl WithSimd for SubtractTimes<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { matrix, coefficients, x } = self;
        let mut square = 0.0;
        for (block, x) in x.chunks_mut(BLOCK).enumerate() {
            let rows = block * BLOCK..block * BLOCK + x.len();
            let groups = coefficients.chunks_exact(4);
            let rest = groups.remainder();
            for (group, c) in groups.enumerate() {
                let [a0, a1, a2, a3] = [0, 1, 2, 3].map(|i| &matrix.column(4 * group + i)[rows.clone()]);
                for ((((x, a0), a1), a2), a3) in x.iter_mut().zip(a0).zip(a1).zip(a2).zip(a3) {
                    *x -= (c[0] * a0 + c[1] * a1) + (c[2] * a2 + c[3] * a3);
                }
            }
            let done = coefficients.len() - rest.len();
            for (i, c) in rest.iter().enumerate() {
                for (x, a) in x.iter_mut().zip(&matrix.column(done + i)[rows.clone()]) {
                    *x -= c * a;
                }
            }
            square += dot(x, x);
        }
        square
    }
}

/// At least `need`, and a quarter more than what was there, so that growing by ones costs little.
fn grown(need: usize, had: usize) -> usize {
    need.max(had + had / 4)
}

impl Clone for Matrix {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.resize(source.rows, source.columns);
        for j in 0..source.columns {
            self.column_mut(j).copy_from_slice(source.column(j));
        }
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.columns) == (other.rows, other.columns)
            && (0..self.columns).all(|j| self.column(j) == other.column(j))
    }
}

/// What a matrix looks like when it is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Serialize for Matrix {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = (0..self.columns).flat_map(|j| self.column(j)).copied().collect();
        Saved { rows: self.rows, columns: self.columns, entries }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        if saved.rows.checked_mul(saved.columns) != Some(saved.entries.len()) {
            return Err(serde::de::Error::custom("a matrix must hold rows × columns entries"));
        }
        let mut matrix = Self::zeros(saved.rows, saved.columns);
        for j in 0..saved.columns {
            matrix.column_mut(j).copy_from_slice(&saved.entries[j * saved.rows..(j + 1) * saved.rows]);
        }
        Ok(matrix)
    }
}

/// `out = a b` on one thread; `out` is reshaped.
pub(crate) fn multiply(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    out.resize(a.nrows(), b.ncols());
    faer::linalg::matmul::matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_and_shrinking_keeps_the_shared_part_and_zeroes_the_rest() {
        let mut matrix = Matrix::zeros(3, 2);
        for j in 0..2 {
            for (i, entry) in matrix.column_mut(j).iter_mut().enumerate() {
                *entry = (10 * j + i) as f64;
            }
        }
        matrix.resize(2, 2);
        matrix.resize(20, 5);
        assert_eq!(matrix.column(1)[..3], [10.0, 11.0, 0.0]);
        assert!(matrix.column(4).iter().all(|x| *x == 0.0));
        assert_eq!(matrix.column(0).as_ptr().align_offset(ALIGN), 0);
        assert_eq!(matrix, matrix.clone());
    }

    #[test]
    fn a_saved_matrix_with_the_wrong_number_of_entries_is_refused() {
        let text = r#"{"rows":2,"columns":2,"entries":[1.0,2.0,3.0]}"#;
        assert!(serde_json::from_str::<Matrix>(text).is_err());
    }
}
