//! A long matrix whose entries are stored as float32, for half the memory and half the reading.
//!
//! All arithmetic is that of [`Matrix`], on blocks of rows that are widened for it and rounded when they are written back.
//! Points are rounded when they come in, so that everything known of them is about what is stored.

use super::{Intake, Matrix, Source, WINDOW, grown};
use crate::scratch::Scratch;
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Owned storage; `rows × columns` are in use, the rest is room to grow.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    rows: usize,
    columns: usize,
    entries: Vec<f32>,
    scratch: Scratch<Working>,
}

#[derive(Debug, Default)]
struct Working {
    /// Some rows, widened.
    block: Matrix,
    sums: Vec<f64>,
    intake: Intake,
}

/// Rows widened together: few enough that they stay in the first cache.
const BLOCK: usize = 256;

fn blocks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(BLOCK).map(move |from| from..(from + BLOCK).min(rows))
}

/// Float64 out of float32.
struct Widen<'a> {
    numbers: &'a [f32],
    out: &'a mut [f64],
}

impl WithSimd for Widen<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out.iter_mut().zip(self.numbers).for_each(|(out, x)| *out = f64::from(*x));
    }
}

/// Float32 out of float64.
struct Round<'a> {
    numbers: &'a [f64],
    out: &'a mut [f32],
}

impl WithSimd for Round<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out.iter_mut().zip(self.numbers).for_each(|(out, x)| *out = *x as f32);
    }
}

impl Packed {
    /// No columns yet.
    pub fn new(rows: usize) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn reserve(&mut self, columns: usize) {
        if columns * self.rows > self.entries.len() {
            let room = grown(columns, self.entries.len() / self.rows);
            self.entries.resize(room * self.rows, 0.0);
        }
    }

    /// Widens these rows of all columns, and of some vectors behind them that are no columns.
    fn widen(&mut self, rows: Range<usize>, behind: usize) -> &mut Working {
        let working = &mut self.scratch.0;
        working.block.resize(rows.len(), self.columns + behind);
        for j in 0..self.columns + behind {
            let numbers = &self.entries[j * self.rows..][rows.start..rows.end];
            Arch::new().dispatch(Widen { numbers, out: working.block.column_mut(j) });
        }
        working.block.count(self.columns);
        working
    }

    /// Writes columns of the widened rows back, from this column on to this one.
    fn pack(&mut self, rows: Range<usize>, from: usize, to: usize, count: usize) {
        let block = &mut self.scratch.0.block;
        block.count(from + count);
        for j in 0..count {
            let out = &mut self.entries[(to + j) * self.rows..][rows.start..rows.end];
            Arch::new().dispatch(Round { numbers: block.column(from + j), out });
        }
    }

    /// Sums over blocks.
    fn add_up(
        &mut self,
        behind: usize,
        out: &mut Vec<f64>,
        mut sums: impl FnMut(&mut Matrix, Range<usize>, &mut Vec<f64>),
    ) {
        out.clear();
        for rows in blocks(self.rows) {
            let Working { block, sums: part, .. } = self.widen(rows.clone(), behind);
            sums(block, rows, part);
            out.resize(part.len(), 0.0);
            out.iter_mut().zip(part).for_each(|(sum, part)| *sum += *part);
        }
    }

    /// `out = Aᵀ x`.
    pub fn transpose_times(&mut self, x: &[f64], out: &mut Vec<f64>) {
        self.add_up(0, out, |block, rows, sums| block.transpose_times(&x[rows], sums));
    }

    /// The same for what lies behind the last column.
    pub fn transpose_times_spare(&mut self, out: &mut Vec<f64>) {
        self.reserve(self.columns + 1);
        self.add_up(1, out, |block, _, sums| block.transpose_times_spare(sums));
    }

    /// Products of the last column with so many vectors that lie `distance` columns and more behind it.
    pub fn last_times_spares(&mut self, distance: usize, count: usize, out: &mut Vec<f64>) {
        self.add_up(distance + count - 1, out, |block, _, sums| block.last_times_spares(distance, count, sums));
    }

    /// What is left of `x` is put behind the last column; returns its squared norm.
    pub fn spare_residual(&mut self, x: &[f64], coefficients: &[f64]) -> f64 {
        self.reserve(self.columns + 1);
        self.write_spare(0, |block, rows| block.spare_residual(&x[rows], coefficients))
    }

    /// Takes `A c` away from what is there; returns its squared norm.
    pub fn subtract_from_spare(&mut self, coefficients: &[f64]) -> f64 {
        self.write_spare(1, |block, _| block.subtract_from_spare(coefficients))
    }

    fn write_spare(&mut self, behind: usize, mut write: impl FnMut(&mut Matrix, Range<usize>) -> f64) -> f64 {
        let mut square = 0.0;
        for rows in blocks(self.rows) {
            square += write(&mut self.widen(rows.clone(), behind).block, rows.clone());
            self.pack(rows, self.columns, self.columns, 1);
        }
        square
    }

    /// One vector, widened.
    pub fn vector(&self, column: usize, out: &mut Vec<f64>) {
        out.resize(self.rows, 0.0);
        Arch::new().dispatch(Widen { numbers: &self.entries[column * self.rows..][..self.rows], out });
    }

    /// Makes what lies behind the last column the last column.
    pub fn adopt_spare(&mut self) {
        self.columns += 1;
    }

    /// The same, scaled.
    pub fn adopt_spare_scaled(&mut self, scale: f64) {
        let entries = &mut self.entries[self.columns * self.rows..][..self.rows];
        entries.iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
        self.columns += 1;
    }

    /// Copies what lies so many columns behind the first spare one there.
    pub fn draw_spare(&mut self, distance: usize) {
        let (to, from) = (self.columns * self.rows, (self.columns + distance) * self.rows);
        self.entries.copy_within(from..from + self.rows, to);
    }

    /// Puts points behind the columns; see [`Matrix::take_in`].
    pub fn take_in(&mut self, source: &Source<'_>, products: bool, intake: &mut Intake) {
        let count = source.points.len();
        self.reserve(self.columns + count);
        intake.clear();
        for rows in blocks(self.rows) {
            let mut points: [&[f64]; WINDOW] = [&[]; WINDOW];
            points.iter_mut().zip(source.points).for_each(|(part, point)| *part = &point[rows.clone()]);
            let origin = source.origin.map(|origin| &origin[rows.clone()]);
            let part = Source { points: &points[..count], origin, steps: source.steps, rounded: true };
            let Working { block, intake: sums, .. } = if products {
                self.widen(rows.clone(), 0)
            } else {
                self.scratch.0.block.resize(rows.len(), 0);
                &mut self.scratch.0
            };
            let columns = block.columns();
            block.take_in(&part, products, sums);
            intake.add(sums);
            self.pack(rows, columns, self.columns, count);
        }
    }

    /// `A ← A R` in place.
    pub fn combine(&mut self, rotation: &Matrix, working: &mut Vec<f64>) {
        for rows in blocks(self.rows) {
            self.widen(rows.clone(), 0).block.combine(rotation, working);
            self.pack(rows, 0, 0, rotation.columns());
        }
        self.columns = rotation.columns();
    }

    /// The columns, widened.
    pub fn widened(&self) -> Matrix {
        let (mut matrix, mut column) = (Matrix::zeros(self.rows, self.columns), Vec::new());
        for j in 0..self.columns {
            self.vector(j, &mut column);
            matrix.column_mut(j).copy_from_slice(&column);
        }
        matrix
    }

    /// Gram–Schmidt for columns that are nearly orthonormal already.
    pub fn orthonormalise(&mut self) {
        let mut matrix = self.widened();
        matrix.orthonormalise();
        for j in 0..self.columns {
            let out = &mut self.entries[j * self.rows..][..self.rows];
            Arch::new().dispatch(Round { numbers: matrix.column(j), out });
        }
    }

    fn used(&self) -> &[f32] {
        &self.entries[..self.rows * self.columns]
    }
}

impl Clone for Packed {
    fn clone(&self) -> Self {
        let (rows, columns, entries) = (self.rows, self.columns, self.used().to_vec());
        Self { rows, columns, entries, scratch: Scratch::default() }
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.columns) == (other.rows, other.columns) && self.used() == other.used()
    }
}

/// What it looks like when it is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    rows: usize,
    columns: usize,
    entries: Vec<f32>,
}

impl Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { rows: self.rows, columns: self.columns, entries: self.used().to_vec() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved { rows, columns, entries } = Saved::deserialize(deserializer)?;
        if rows == 0 || rows.checked_mul(columns) != Some(entries.len()) {
            return Err(serde::de::Error::custom("a matrix must hold rows × columns entries"));
        }
        Ok(Self { rows, columns, entries, scratch: Scratch::default() })
    }
}
