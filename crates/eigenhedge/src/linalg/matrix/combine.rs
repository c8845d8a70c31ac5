//! Product of a tall matrix with a small one, in place: the tall matrix is read and written once, because a few rows at
//! a time stay in the first-level cache. A general product would copy the rows twice.

use super::{LINE, Matrix};
use crate::scratch::zero;
use crate::threads::{share_out, worthwhile};
use faer::{Accum, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};
use std::array;
use std::ops::Range;

impl Matrix {
    /// Computes `A ← A R` in place, for this matrix A and R = `rotation`. `working` is a buffer.
    pub(crate) fn combine(&mut self, rotation: &Matrix, working: &mut Vec<f64>) {
        assert_eq!(self.columns, rotation.rows, "shapes agree");
        assert!(rotation.columns <= self.columns, "no more columns than before");
        let (rows, stride, count) = (self.rows, self.stride, self.columns);
        let entries = &mut self.data[self.start..];
        self.columns = rotation.columns;
        let lines = rows.div_ceil(LINE);
        if worthwhile(lines, rows * count) < 2 {
            return Arch::new().dispatch(Combine { entries, stride, rows, rotation, working });
        }
        let mut columns: Vec<&mut [f64]> = entries.chunks_mut(stride).take(count).collect();
        share_out(lines, rows * count, |share| {
            let own = columns.iter_mut().map(|column| column.split_off_mut(..share.len() * LINE).unwrap_or_default());
            let combine = CombineSome { columns: own.collect(), rotation };
            move || Arch::new().dispatch(combine)
        });
    }
}

trait Grid<V> {
    fn part<const B: usize>(&self, column: usize, row: usize) -> &[V];
    fn put<const B: usize>(&mut self, column: usize, row: usize, values: &[V]);
}

struct Combine<'a> {
    entries: &'a mut [f64],
    stride: usize,
    rows: usize,
    rotation: &'a Matrix,
    working: &'a mut Vec<f64>,
}

struct Strided<'a, V> {
    entries: &'a mut [V],
    stride: usize,
}

impl<V: Copy> Grid<V> for Strided<'_, V> {
    #[inline(always)]
    fn part<const B: usize>(&self, column: usize, row: usize) -> &[V] {
        let at = column * self.stride + row;
        &self.entries[at..at + B]
    }
    #[inline(always)]
    fn put<const B: usize>(&mut self, column: usize, row: usize, values: &[V]) {
        let at = column * self.stride + row;
        self.entries[at..at + B].copy_from_slice(values);
    }
}

impl WithSimd for Combine<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { entries, stride, rows, rotation, working } = self;
        let (stride, lanes) = (stride / S::F64_LANES, rows.div_ceil(S::F64_LANES));
        let grid = Strided { entries: S::as_mut_simd_f64s(entries).0, stride };
        combine(simd, grid, lanes, rotation, working);
    }
}

/// Task that computes `A ← A R` for some rows of A, a multiple of the SIMD width.
struct CombineSome<'a> {
    columns: Vec<&'a mut [f64]>,
    rotation: &'a Matrix,
}

struct Sliced<'a, V> {
    columns: Vec<&'a mut [V]>,
}

impl<V: Copy> Grid<V> for Sliced<'_, V> {
    #[inline(always)]
    fn part<const B: usize>(&self, column: usize, row: usize) -> &[V] {
        &self.columns[column][row..row + B]
    }
    #[inline(always)]
    fn put<const B: usize>(&mut self, column: usize, row: usize, values: &[V]) {
        self.columns[column][row..row + B].copy_from_slice(values);
    }
}

impl WithSimd for CombineSome<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns: Vec<_> = self.columns.into_iter().map(|column| S::as_mut_simd_f64s(column).0).collect();
        let lanes = columns.first().map_or(0, |column| column.len());
        combine(simd, Sliced { columns }, lanes, self.rotation, &mut Vec::new());
    }
}

#[inline(always)]
fn combine<S: Simd>(simd: S, mut grid: impl Grid<S::f64s>, lanes: usize, rotation: &Matrix, working: &mut Vec<f64>) {
    zero(working, rotation.columns() * 3 * S::F64_LANES);
    let working = S::as_mut_simd_f64s(working).0;
    let mut row = 0;
    while row + 3 <= lanes {
        block::<S, 3>(simd, &mut grid, row, rotation, working);
        row += 3;
    }
    while row < lanes {
        block::<S, 1>(simd, &mut grid, row, rotation, working);
        row += 1;
    }
}

#[inline(always)]
fn block<S: Simd, const B: usize>(
    simd: S,
    grid: &mut impl Grid<S::f64s>,
    row: usize,
    rotation: &Matrix,
    working: &mut [S::f64s],
) {
    let columns = rotation.columns();
    let mut j = 0;
    while j + 4 <= columns {
        products::<S, B, 4>(simd, grid, row, rotation, j, &mut working[j * B..(j + 4) * B]);
        j += 4;
    }
    while j < columns {
        products::<S, B, 1>(simd, grid, row, rotation, j, &mut working[j * B..(j + 1) * B]);
        j += 1;
    }
    for j in 0..columns {
        grid.put::<B>(j, row, &working[j * B..(j + 1) * B]);
    }
}

#[inline(always)]
fn products<S: Simd, const B: usize, const C: usize>(
    simd: S,
    grid: &impl Grid<S::f64s>,
    row: usize,
    rotation: &Matrix,
    first: usize,
    out: &mut [S::f64s],
) {
    let mut sums = [[simd.splat_f64s(0.0); B]; C];
    let rows = rotation.rows();
    let mut factors: [&[f64]; C] = [&[]; C];
    for c in 0..C {
        factors[c] = &rotation.column(first + c)[..rows];
    }
    for p in 0..rows {
        let part = grid.part::<B>(p, row);
        for c in 0..C {
            let factor = simd.splat_f64s(factors[c][p]);
            for b in 0..B {
                sums[c][b] = simd.mul_add_e_f64s(part[b], factor, sums[c][b]);
            }
        }
    }
    for c in 0..C {
        for b in 0..B {
            out[c * B + b] = sums[c][b];
        }
    }
}

impl Matrix {
    pub(crate) fn mirror(&mut self) {
        for start in (0..self.columns).step_by(LINE) {
            for i in start + 1..self.rows {
                for j in start..(start + LINE).min(i) {
                    let value = self.column(j)[i];
                    self.column_mut(i)[j] = value;
                }
            }
        }
    }

    /// Computes `y ← y + A x` for this symmetric matrix A. Only the lower triangle is read, once.
    pub(crate) fn add_symmetric_product(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.rows, self.columns), "one entry for each column");
        Arch::new().dispatch(SymmetricProduct { lower: self, x, y });
    }
}

pub(crate) fn add_lower_square(sum: &mut Matrix, a: MatRef<'_, f64>) {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul};
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    matmul(sum.view_mut(), lower, Accum::Add, a, whole, a.transpose(), whole, 1.0, Par::Seq);
}

pub(crate) fn lower_square(a: MatRef<'_, f64>) -> Matrix {
    let mut square = Matrix::zeros(a.nrows(), a.nrows());
    add_lower_square(&mut square, a);
    square
}

/// Computes `out = s x` on one thread, where `lower` holds the lower triangle of the symmetric matrix s. Resizes `out`.
pub(crate) fn symmetric_times(out: &mut Matrix, lower: &Matrix, x: &Matrix) {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul};
    out.resize(lower.rows(), x.columns());
    let (whole, s) = (BlockStructure::Rectangular, lower.view());
    let (below, above) = (BlockStructure::TriangularLower, BlockStructure::StrictTriangularUpper);
    matmul(out.view_mut(), whole, Accum::Replace, s, below, x.view(), whole, 1.0, Par::Seq);
    matmul(out.view_mut(), whole, Accum::Add, s.transpose(), above, x.view(), whole, 1.0, Par::Seq);
}

struct SymmetricProduct<'a> {
    lower: &'a Matrix,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for SymmetricProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { lower, x, y } = self;
        let whole = x.len() - x.len() % STRIP;
        for j in (0..whole).step_by(STRIP) {
            let end = j + STRIP;
            add_triangle(lower, j..end, x, y);
            let columns: [_; STRIP] = array::from_fn(|c| &lower.column(j + c)[end..]);
            let amounts: [_; STRIP] = array::from_fn(|c| x[j + c]);
            let sums = add_strip(simd, columns, amounts, &x[end..], &mut y[end..]);
            y[j..end].iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
        }
        add_triangle(lower, whole..x.len(), x, y);
    }
}

/// Number of columns of a symmetric matrix that are read at a time, which is faster than reading one.
const STRIP: usize = 4;

#[inline(always)]
fn add_triangle(lower: &Matrix, block: Range<usize>, x: &[f64], y: &mut [f64]) {
    for j in block.clone() {
        let column = lower.column(j);
        y[j] += column[j] * x[j];
        for i in j + 1..block.end {
            y[i] += column[i] * x[j];
            y[j] += column[i] * x[i];
        }
    }
}

/// Adds the sum of the columns, multiplied by the amounts, to y. Returns the inner products of the columns with x.
#[inline(always)]
fn add_strip<S: Simd>(
    simd: S,
    columns: [&[f64]; STRIP],
    amounts: [f64; STRIP],
    x: &[f64],
    y: &mut [f64],
) -> [f64; STRIP] {
    let (x, x_rest) = S::as_simd_f64s(x);
    let (y, y_rest) = S::as_mut_simd_f64s(y);
    let lanes = columns.map(|column| &S::as_simd_f64s(column).0[..x.len()]);
    let factors = amounts.map(|amount| simd.splat_f64s(amount));
    let mut sums = [simd.splat_f64s(0.0); STRIP];
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        for c in 0..STRIP {
            *y = simd.mul_add_e_f64s(factors[c], lanes[c][i], *y);
            sums[c] = simd.mul_add_e_f64s(*x, lanes[c][i], sums[c]);
        }
    }
    array::from_fn(|c| {
        let rest = S::as_simd_f64s(columns[c]).1;
        y_rest.iter_mut().zip(rest).for_each(|(y, entry)| *y += amounts[c] * entry);
        simd.reduce_sum_f64s(sums[c]) + x_rest.iter().zip(rest).map(|(x, entry)| x * entry).sum::<f64>()
    })
}
