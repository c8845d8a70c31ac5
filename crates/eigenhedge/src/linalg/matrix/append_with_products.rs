//! Appends vectors to a matrix and computes their norms and inner products, in one pass over vectors and columns.

use super::products::{PART, Products};
use super::subtract_projection::{BLOCK, Columns, SubtractTimes};
use super::{Matrix, products};
use crate::num::dot;
use crate::scratch::zero;
use crate::threads::share_out;
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

pub(crate) const WINDOW: usize = 16;

#[derive(Debug, Clone, Default)]
pub(crate) struct Intake {
    /// Per vector: its squared norm and its products with the columns and earlier vectors.
    sums: Vec<f64>,
    stride: usize,
    columns: usize,
    partial: Vec<f64>,
}

pub(crate) struct Source<'a> {
    pub points: &'a [&'a [f64]],
    /// Origin to subtract, as a fixed point plus a displacement. `None` means zero.
    pub origin: Option<(&'a [f64], &'a [f64])>,
    /// After point i, the origin moves by `steps[i]` times the point minus the origin. Empty for a fixed origin.
    pub steps: &'a [f64],
}

type Slots<'a> = [&'a mut [f64]; WINDOW];

impl Intake {
    pub fn square(&self, vector: usize) -> f64 {
        self.sums[vector * self.stride]
    }

    pub fn products(&self, vector: usize) -> &[f64] {
        &self.sums[vector * self.stride + 1..][..self.columns]
    }

    pub fn between(&self, earlier: usize, later: usize) -> f64 {
        self.sums[later * self.stride + 1 + self.columns + earlier]
    }

    fn prepare(&mut self, columns: usize, vectors: usize, products: bool, parts: usize) -> usize {
        (self.columns, self.stride) = if products { (columns, 1 + columns + vectors) } else { (0, 1) };
        let size = vectors * self.stride;
        zero(&mut self.partial, size * parts);
        size
    }

    fn add_up(&mut self, size: usize) {
        zero(&mut self.sums, size);
        for part in self.partial.chunks(size) {
            self.sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }
}

impl Matrix {
    /// Stores the points minus the origin in the spare columns and computes their squared norms. If `products` is true,
    /// also computes their inner products with the columns and with the earlier points.
    pub(crate) fn take_in(&mut self, source: &Source<'_>, products: bool, intake: &mut Intake) {
        let count = source.points.len();
        assert!((1..=WINDOW).contains(&count), "a window of points");
        self.reserve(self.columns + count);
        let (columns, room) = self.columns_and_room();
        let parts = columns.rows.div_ceil(PART);
        let size = intake.prepare(columns.count, count, products, parts);
        let mut slots: Slots<'_> = std::array::from_fn(|_| &mut [][..]);
        for (slot, column) in slots.iter_mut().zip(room.chunks_mut(columns.stride)).take(count) {
            *slot = &mut column[..columns.rows];
        }
        let (mut partial, stride) = (&mut intake.partial[..], intake.stride);
        share_out(parts, columns.rows * (columns.count + count), |share| {
            let rows = share.start * PART..(share.end * PART).min(columns.rows);
            let own_slots = cut(&mut slots, rows.len());
            let own_partial = partial.split_off_mut(..size * share.len()).unwrap_or_default();
            let part = Part { source, columns, stride, first: rows.start };
            move || part.add_all(rows, own_slots, own_partial, size)
        });
        intake.add_up(size);
    }
}

fn cut<'a>(slots: &mut Slots<'a>, rows: usize) -> Slots<'a> {
    std::array::from_fn(|i| {
        let rows = rows.min(slots[i].len());
        slots[i].split_off_mut(..rows).unwrap_or_default()
    })
}

struct Part<'a> {
    source: &'a Source<'a>,
    columns: Columns<'a>,
    stride: usize,
    first: usize,
}

impl Part<'_> {
    fn add_all(&self, rows: Range<usize>, mut slots: Slots<'_>, sums: &mut [f64], size: usize) {
        let slots = &mut slots[..self.source.points.len()];
        let starts = rows.clone().step_by(PART);
        for (from, sums) in starts.zip(sums.chunks_mut(size)) {
            let end = (from + PART).min(rows.end);
            for block in (from..end).step_by(BLOCK).map(|from| from..(from + BLOCK).min(end)) {
                self.copy(block.clone(), slots);
                self.add(block, slots, sums);
            }
        }
    }

    fn inner(&self, block: &Range<usize>) -> Range<usize> {
        block.start - self.first..block.end - self.first
    }

    fn copy(&self, block: Range<usize>, slots: &mut [&mut [f64]]) {
        let Source { points, origin, steps } = self.source;
        let inner = self.inner(&block);
        let points = points.iter().map(|point| &point[block.clone()]);
        let places = slots.iter_mut().map(|slot| &mut slot[inner.clone()]);
        if origin.is_none() && steps.is_empty() {
            return points.zip(places).for_each(|(point, place)| place.copy_from_slice(point));
        }
        let mut moving = [0.0; BLOCK];
        let mut base = None;
        if let Some((fixed, way)) = origin {
            moving[..block.len()].copy_from_slice(&way[block.clone()]);
            base = Some(&fixed[block.clone()]);
        }
        let moving = &mut moving[..block.len()];
        for (r, (point, place)) in points.zip(places).enumerate() {
            Arch::new().dispatch(Place { point, base, moving, step: steps.get(r).copied(), place });
        }
    }

    fn add(&self, block: Range<usize>, slots: &[&mut [f64]], sums: &mut [f64]) {
        let (inner, stride) = (self.inner(&block), self.stride);
        for (sums, slot) in sums.chunks_mut(stride).zip(slots) {
            sums[0] += dot(&slot[inner.clone()], &slot[inner.clone()]);
        }
        if stride == 1 {
            return;
        }
        let mut vectors: [&[f64]; WINDOW] = [&[]; WINDOW];
        vectors.iter_mut().zip(slots).for_each(|(vector, slot)| *vector = slot);
        let right = &vectors[..slots.len()];
        let (left, offset, out) = (self.columns, self.first, &mut sums[1..]);
        Arch::new().dispatch(Products { left, right, rows: block, offset, out, stride, below: false });
        let out = &mut sums[1 + left.count..];
        Arch::new().dispatch(Products { left: right, right, rows: inner, offset: 0, out, stride, below: true });
    }
}

struct Place<'a> {
    point: &'a [f64],
    base: Option<&'a [f64]>,
    moving: &'a mut [f64],
    step: Option<f64>,
    place: &'a mut [f64],
}

impl WithSimd for Place<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { point, base, moving, step, place } = self;
        let (points, way) = (place.iter_mut().zip(point), &*moving);
        match base {
            None => points.zip(way).for_each(|((z, x), m)| *z = x - m),
            Some(base) => points.zip(base).zip(way).for_each(|(((z, x), b), m)| *z = (x - b) - m),
        }
        if let Some(step) = step {
            moving.iter_mut().zip(&*place).for_each(|(m, z)| *m += step * z);
        }
    }
}

impl Matrix {
    /// Writes `x - A c` to the spare column ([`Self::adopt_spare`] appends it). Returns the squared norm of the result.
    pub(crate) fn spare_residual(&mut self, x: &[f64], coefficients: &[f64]) -> f64 {
        assert_eq!((x.len(), coefficients.len()), (self.rows, self.columns), "shapes agree");
        let (columns, residual) = self.columns_and_spare();
        Arch::new().dispatch(SubtractTimes { columns, coefficients, from: Some(x), x: residual })
    }

    pub(crate) fn transpose_times_spare(&mut self, out: &mut Vec<f64>) {
        let (columns, residual) = self.columns_and_spare();
        products::transpose_times(columns, residual, out);
    }

    pub(crate) fn subtract_from_spare(&mut self, coefficients: &[f64]) -> f64 {
        assert_eq!(coefficients.len(), self.columns, "shapes agree");
        let (columns, residual) = self.columns_and_spare();
        Arch::new().dispatch(SubtractTimes { columns, coefficients, from: None, x: residual })
    }

    pub(crate) fn spare(&mut self) -> &[f64] {
        self.columns_and_spare().1
    }

    pub(crate) fn adopt_spare(&mut self) {
        self.columns_and_spare();
        self.columns += 1;
    }

    pub(crate) fn adopt_spare_scaled(&mut self, scale: f64) {
        let (_, residual) = self.columns_and_spare();
        residual.iter_mut().for_each(|x| *x *= scale);
        self.columns += 1;
    }

    /// Overwrites the spare column with the vector stored `distance` columns after it.
    pub(crate) fn draw_spare(&mut self, distance: usize) {
        let (rows, stride) = (self.rows, self.stride);
        let (_, room) = self.columns_and_room();
        room.copy_within(distance * stride..distance * stride + rows, 0);
    }

    /// Computes the inner products of the last column with `count` spare vectors, from `distance` columns after it on.
    pub(crate) fn last_times_spares(&self, distance: usize, count: usize, out: &mut Vec<f64>) {
        let from = self.start + (self.columns - 1) * self.stride;
        let vectors = Columns {
            entries: &self.data[from + distance * self.stride..],
            stride: self.stride,
            rows: self.rows,
            count,
        };
        products::transpose_times(vectors, self.column(self.columns - 1), out);
    }

    fn columns_and_spare(&mut self) -> (Columns<'_>, &mut [f64]) {
        self.reserve(self.columns + 1);
        let (columns, spare) = self.columns_and_room();
        let rows = columns.rows;
        (columns, &mut spare[..rows])
    }
}
