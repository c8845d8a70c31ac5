//! Column-major matrix that grows and shrinks in both dimensions, usually without moving its entries. Columns start on
//! 64-byte boundaries, so vector loads never cross a cache line, and faer can view the storage.

mod append_with_products;
mod combine;
mod products;
mod subtract_projection;

pub(crate) use append_with_products::{Intake, Source, WINDOW};
pub(crate) use combine::{add_lower_square, lower_square, symmetric_times};

use crate::num::dot;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;
use serde::{Deserialize, Serialize};
use subtract_projection::{Columns, SubtractTimes};

const ALIGN: usize = 64;
const LINE: usize = ALIGN / size_of::<f64>();

/// Column-major matrix. Only `rows × columns` entries are in use. The rest of the storage is spare.
#[derive(Debug, Default)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    start: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// Creates a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let mut matrix = Self::default();
        matrix.resize(rows, columns);
        matrix
    }

    /// Creates an identity matrix.
    pub fn identity(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        matrix.for_each_column(|i, column| column[i] = 1.0);
        matrix
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the size of the allocation in bytes.
    pub fn bytes(&self) -> usize {
        self.data.capacity() * size_of::<f64>()
    }

    /// Returns column `j`.
    pub fn column(&self, j: usize) -> &[f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &self.data[at..at + self.rows]
    }

    /// Returns column `j`, mutably.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &mut self.data[at..at + self.rows]
    }

    /// Returns columns `first` and `second`, mutably. They must differ.
    pub fn column_pair_mut(&mut self, first: usize, second: usize) -> (&mut [f64], &mut [f64]) {
        assert!(first != second && first.max(second) < self.columns, "two different columns");
        let low = self.start + first.min(second) * self.stride;
        let high = self.start + first.max(second) * self.stride;
        let (head, tail) = self.data.split_at_mut(high);
        let (a, b) = (&mut head[low..low + self.rows], &mut tail[..self.rows]);
        if first < second { (a, b) } else { (b, a) }
    }

    /// Changes the shape. Entries common to both shapes are kept. New entries are zero.
    pub(crate) fn resize(&mut self, rows: usize, columns: usize) {
        let room = (self.data.len() - self.start).checked_div(self.stride).unwrap_or(0);
        if rows > self.stride || columns > room {
            let stride = if rows > self.stride { padded(grown(rows, self.stride)) } else { self.stride };
            let room = if columns > room { grown(columns, room) } else { room };
            self.relocate(stride, room);
        }
        let (old_rows, old_columns) = (self.rows, self.columns);
        (self.rows, self.columns) = (rows, columns);
        if rows > old_rows {
            for j in 0..old_columns.min(columns) {
                self.column_mut(j)[old_rows..].fill(0.0);
            }
        }
        for j in old_columns..columns {
            self.column_mut(j).fill(0.0);
        }
    }

    pub(crate) fn reset(&mut self, rows: usize, columns: usize) {
        self.resize(0, 0);
        self.resize(rows, columns);
    }

    pub(crate) fn for_each_column(&mut self, mut change: impl FnMut(usize, &mut [f64])) {
        for j in 0..self.columns {
            change(j, self.column_mut(j));
        }
    }

    pub(crate) fn scale_columns(&mut self, factor: impl Fn(usize) -> f64) {
        self.for_each_column(|j, column| {
            let factor = factor(j);
            column.iter_mut().for_each(|x| *x *= factor);
        });
    }

    pub(crate) fn trace(&self) -> f64 {
        (0..self.columns).map(|j| self.column(j)[j]).sum()
    }

    pub(crate) fn copy_column(&self, j: usize, out: &mut Vec<f64>) {
        self.column(j).clone_into(out);
    }

    pub(crate) fn copy_columns(&self, order: &[usize], out: &mut Self) {
        out.resize(self.rows, order.len());
        order.iter().enumerate().for_each(|(c, j)| out.column_mut(c).copy_from_slice(self.column(*j)));
    }

    pub(crate) fn reverse_columns(&mut self) {
        for j in 0..self.columns / 2 {
            let (low, high) = self.column_pair_mut(j, self.columns - 1 - j);
            low.swap_with_slice(high);
        }
    }

    pub(crate) fn retain_columns(&mut self, keep: &[bool]) {
        let mut kept = 0;
        for j in (0..self.columns).filter(|j| keep[*j]) {
            if kept < j {
                let (to, from) = self.column_pair_mut(kept, j);
                to.copy_from_slice(from);
            }
            kept += 1;
        }
        self.resize(self.rows, kept);
    }

    pub(crate) fn transpose_of(&mut self, other: &Self) {
        self.resize(other.columns, other.rows);
        if other.rows == 0 {
            return;
        }
        let stride = self.stride.max(1);
        let own = &mut self.data[self.start..];
        let mut j = 0;
        // Copying four columns at a time needs one bounds check for four entries.
        while j + 4 <= other.columns {
            let (a, b, c, d) = (other.column(j), other.column(j + 1), other.column(j + 2), other.column(j + 3));
            let entries = a.iter().zip(b).zip(c.iter().zip(d));
            for (place, ((a, b), (c, d))) in own.chunks_mut(stride).zip(entries) {
                place[j..j + 4].copy_from_slice(&[*a, *b, *c, *d]);
            }
            j += 4;
        }
        for j in j..other.columns {
            let places = own[j..].iter_mut().step_by(stride);
            places.zip(other.column(j)).for_each(|(place, entry)| *place = *entry);
        }
    }

    /// Returns the storage of the columns and the stride between them in entries. Column padding has undefined values.
    pub(crate) fn storage(&self) -> (&[f64], usize) {
        (&self.data[self.start..], self.stride)
    }

    pub(crate) fn storage_mut(&mut self) -> (&mut [f64], usize) {
        (&mut self.data[self.start..], self.stride)
    }

    pub(crate) fn push_column(&mut self, column: &[f64]) {
        self.resize(column.len(), self.columns + 1);
        self.column_mut(self.columns - 1).copy_from_slice(column);
    }

    pub(crate) fn swap_remove_column(&mut self, j: usize) {
        let last = self.columns - 1;
        if j != last {
            let (to, from) = self.column_pair_mut(j, last);
            to.copy_from_slice(from);
        }
        self.columns = last;
    }

    /// Returns a column including its padding to a multiple of a cache line. The values of the padding are undefined.
    pub(crate) fn whole_column(&self, j: usize) -> &[f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &self.data[at..at + self.rows.next_multiple_of(LINE)]
    }

    pub(crate) fn whole_column_mut(&mut self, j: usize) -> &mut [f64] {
        assert!(j < self.columns, "column {j} of {}", self.columns);
        let at = self.start + j * self.stride;
        &mut self.data[at..at + self.rows.next_multiple_of(LINE)]
    }

    fn reserve(&mut self, columns: usize) {
        let room = (self.data.len() - self.start).checked_div(self.stride).unwrap_or(0);
        if columns > room {
            self.relocate(self.stride.max(padded(self.rows)), grown(columns, room));
        }
    }

    fn columns_and_room(&mut self) -> (Columns<'_>, &mut [f64]) {
        let (rows, count, stride) = (self.rows, self.columns, self.stride);
        let (entries, room) = self.data[self.start..].split_at_mut(count * stride);
        (Columns { entries, stride, rows, count }, room)
    }

    fn as_columns(&self) -> Columns<'_> {
        let (rows, count, stride) = (self.rows, self.columns, self.stride);
        Columns { entries: &self.data[self.start..], stride, rows, count }
    }

    fn relocate(&mut self, stride: usize, room: usize) {
        let mut data = vec![0.0; stride * room + LINE];
        let start = data.as_ptr().align_offset(ALIGN).min(LINE);
        for j in 0..self.columns {
            data[start + j * stride..][..self.rows].copy_from_slice(self.column(j));
        }
        (self.stride, self.start, self.data) = (stride, start, data);
    }

    /// Computes `out = Aᵀ x` for this matrix A, and resizes `out`.
    pub fn transpose_times(&self, x: &[f64], out: &mut Vec<f64>) {
        assert_eq!(x.len(), self.rows, "one entry for each row");
        products::transpose_times(self.as_columns(), x, out);
    }

    /// Computes `x ← x - A c` for this matrix A and c = `coefficients`. Returns the squared norm of the result.
    pub fn subtract_times(&self, coefficients: &[f64], x: &mut [f64]) -> f64 {
        assert_eq!((x.len(), coefficients.len()), (self.rows, self.columns), "shapes agree");
        Arch::new().dispatch(SubtractTimes { columns: self.as_columns(), coefficients, from: None, x })
    }

    pub(crate) fn add_times(&self, coefficients: &[f64], x: &mut [f64]) {
        let negative: Vec<f64> = coefficients.iter().map(|c| -c).collect();
        self.subtract_times(&negative, x);
    }

    pub(crate) fn energy(&self) -> f64 {
        (0..self.columns).map(|j| dot(self.column(j), self.column(j))).sum()
    }

    /// Returns the largest absolute entry of the Gram matrix of the columns minus the identity.
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

    /// Computes the Gram matrix of the columns minus the identity. Only the upper triangle of `defect` is defined.
    pub(crate) fn gram_defect(&self, defect: &mut Matrix, working: &mut Vec<f64>) {
        let (columns, count) = (self.as_columns(), self.columns);
        products::add_up(columns, columns, self.rows, true, working);
        defect.resize(count, count);
        for j in 0..count {
            defect.column_mut(j).copy_from_slice(&working[j * count..(j + 1) * count]);
            defect.column_mut(j)[j] -= 1.0;
        }
    }

    /// Orthonormalizes nearly orthonormal columns by two Gram–Schmidt passes. A column near the span of the earlier
    /// ones is replaced by the coordinate unit vector farthest from that span, orthonormalized.
    pub fn orthonormalise(&mut self) {
        self.gram_schmidt(0.5);
    }

    /// Orthonormalizes arbitrary columns. Replaces only those that are almost in the span of the earlier ones.
    pub(crate) fn orthonormalise_any(&mut self) {
        self.gram_schmidt(1e-6);
    }

    fn gram_schmidt(&mut self, least_share: f64) {
        for j in 0..self.columns {
            if !(self.remove_earlier(j) > least_share) {
                self.replace_column(j);
            }
        }
    }

    /// Orthonormalizes column `j` against the earlier ones. Returns its relative length before normalization.
    fn remove_earlier(&mut self, j: usize) -> f64 {
        let mut share = 1.0;
        for _ in 0..2 {
            let before = dot(self.column(j), self.column(j)).sqrt();
            for i in 0..j {
                let (earlier, column) = self.column_pair_mut(i, j);
                let overlap = dot(earlier, column);
                column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= overlap * *e);
            }
            let column = self.column_mut(j);
            let norm = dot(column, column).sqrt();
            share *= norm / before;
            column.iter_mut().for_each(|c| *c /= norm);
        }
        share
    }

    fn replace_column(&mut self, j: usize) {
        let carried = |i: usize| (0..j).map(|earlier| self.column(earlier)[i].powi(2)).sum::<f64>();
        let least = (0..self.rows).min_by(|a, b| carried(*a).total_cmp(&carried(*b)));
        let Some(least) = least else { return };
        self.column_mut(j).fill(0.0);
        self.column_mut(j)[least] = 1.0;
        self.remove_earlier(j);
    }

    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        if self.columns == 0 || self.rows == 0 {
            return MatRef::from_column_major_slice(&[], self.rows, self.columns);
        }
        let end = self.start + (self.columns - 1) * self.stride + self.rows;
        MatRef::from_column_major_slice_with_stride(&self.data[self.start..end], self.rows, self.columns, self.stride)
    }

    pub(crate) fn view_mut(&mut self) -> MatMut<'_, f64> {
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

/// Returns a capacity of at least `need`, and at least 1.25 times `had`, so that repeated growth is cheap.
fn grown(need: usize, had: usize) -> usize {
    need.max(had + had / 4)
}

/// Returns a stride of whole cache lines. For long columns it is an odd multiple, because columns one page apart would
/// compete for the same cache sets.
fn padded(rows: usize) -> usize {
    let lines = rows.div_ceil(LINE);
    LINE * if lines >= 32 { lines | 1 } else { lines }
}

impl Clone for Matrix {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.resize(source.rows, source.columns);
        self.for_each_column(|j, column| column.copy_from_slice(source.column(j)));
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.columns) == (other.rows, other.columns)
            && (0..self.columns).all(|j| self.column(j) == other.column(j))
    }
}

const MOST_EMPTY_ROWS: usize = u32::MAX as usize;
const MOST_EMPTY_COLUMNS: usize = 1 << 12;

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
        // A matrix without entries could claim any shape, and loops over it must end.
        if saved.entries.is_empty() && (saved.rows > MOST_EMPTY_ROWS || saved.columns > MOST_EMPTY_COLUMNS) {
            return Err(serde::de::Error::custom("a matrix without entries must be small"));
        }
        if !saved.entries.iter().all(|x| x.is_finite()) {
            return Err(serde::de::Error::custom("a matrix must hold finite numbers"));
        }
        let mut matrix = Self::zeros(saved.rows, saved.columns);
        matrix.for_each_column(|j, column| column.copy_from_slice(&saved.entries[j * saved.rows..][..saved.rows]));
        Ok(matrix)
    }
}

pub(crate) fn multiply(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    out.resize(a.nrows(), b.ncols());
    faer::linalg::matmul::matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
}

pub(crate) fn add_product(sum: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    faer::linalg::matmul::matmul(sum.view_mut(), Accum::Add, a, b, 1.0, Par::Seq);
}

pub(crate) fn multiplied(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::default();
    multiply(&mut out, a, b);
    out
}

#[cfg(test)]
mod tests;
