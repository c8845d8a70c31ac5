//! New vectors behind the columns, with all that one pass over them can tell.
//!
//! Cost: the vectors are read and written once; with products, the columns are read once for all of them.

use super::products::{BLOCK, Products, parts};
use super::{Matrix, passes::Columns};
use crate::num::dot;
use pulp::Arch;
use std::ops::Range;

/// Vectors taken in together, at most.
pub(crate) const WINDOW: usize = 16;

/// Sums over the rows of vectors that were taken in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Intake {
    /// For each vector: its square, its products with the columns, its products with the vectors before it.
    sums: Vec<f64>,
    stride: usize,
    columns: usize,
    partial: Vec<f64>,
    /// A part of the origin as it moves.
    moving: Vec<f64>,
}

/// Where the vectors are taken from and what is taken away from them.
pub(crate) struct Source<'a> {
    /// One for each vector.
    pub points: &'a [&'a [f64]],
    /// Taken away; none stands for zero.
    pub origin: Option<&'a [f64]>,
    /// By how much of each vector the origin moves behind it; empty when it stays.
    pub steps: &'a [f64],
}

impl Intake {
    /// Squared norm of a vector.
    pub fn square(&self, vector: usize) -> f64 {
        self.sums[vector * self.stride]
    }

    /// Products of a vector with the columns that were there.
    pub fn products(&self, vector: usize) -> &[f64] {
        &self.sums[vector * self.stride + 1..][..self.columns]
    }

    /// Product of two vectors.
    pub fn between(&self, earlier: usize, later: usize) -> f64 {
        self.sums[later * self.stride + 1 + self.columns + earlier]
    }
}

impl Matrix {
    /// Puts points behind the columns, where they are columns yet to be, and adds up their squares and, if wanted, their
    /// products.
    pub(crate) fn take_in(&mut self, source: &Source<'_>, products: bool, intake: &mut Intake) {
        let count = source.points.len();
        self.reserve(self.columns + count);
        let (columns, room) = self.columns_and_room();
        (intake.columns, intake.stride) = if products { (columns.count, 1 + columns.count + count) } else { (0, 1) };
        let size = count * intake.stride;
        intake.sums.clear();
        intake.sums.resize(size, 0.0);
        intake.partial.resize(size, 0.0);
        let stride = columns.stride;
        for rows in parts(columns.rows) {
            let mut slots: [&mut [f64]; WINDOW] = std::array::from_fn(|_| &mut [][..]);
            for (slot, column) in slots.iter_mut().zip(room.chunks_mut(stride)).take(count) {
                *slot = &mut column[rows.clone()];
            }
            intake.partial.fill(0.0);
            let Intake { partial, moving, stride, .. } = intake;
            add_part(source, rows, columns, &mut slots[..count], moving, partial, *stride);
            intake.sums.iter_mut().zip(&intake.partial).for_each(|(sum, part)| *sum += part);
        }
    }
}

/// One part: `slots` are the places of its rows.
fn add_part(
    source: &Source<'_>,
    rows: Range<usize>,
    columns: Columns<'_>,
    slots: &mut [&mut [f64]],
    moving: &mut Vec<f64>,
    sums: &mut [f64],
    stride: usize,
) {
    for from in rows.clone().step_by(BLOCK) {
        let block = from..(from + BLOCK).min(rows.end);
        let inner = block.start - rows.start..block.end - rows.start;
        copy_block(source, block.clone(), slots, inner.clone(), moving);
        for (sums, slot) in sums.chunks_mut(stride).zip(&*slots) {
            sums[0] += dot(&slot[inner.clone()], &slot[inner.clone()]);
        }
        if stride == 1 {
            continue;
        }
        let mut vectors: [&[f64]; WINDOW] = [&[]; WINDOW];
        vectors.iter_mut().zip(&*slots).for_each(|(vector, slot)| *vector = slot);
        let right = &vectors[..slots.len()];
        let (offset, count) = (rows.start, columns.count);
        let out = &mut sums[1..];
        Arch::new().dispatch(Products { left: columns, right, rows: block, offset, out, stride, below: false });
        let out = &mut sums[1 + count..];
        Arch::new().dispatch(Products { left: right, right, rows: inner, offset: 0, out, stride, below: true });
    }
}

/// The points minus the origin, which moves behind each of them.
fn copy_block(
    source: &Source<'_>,
    block: Range<usize>,
    slots: &mut [&mut [f64]],
    inner: Range<usize>,
    moving: &mut Vec<f64>,
) {
    let points = source.points.iter().map(|point| &point[block.clone()]);
    let places = slots.iter_mut().map(|slot| &mut slot[inner.clone()]);
    if source.origin.is_none() && source.steps.is_empty() {
        points.zip(places).for_each(|(point, place)| place.copy_from_slice(point));
        return;
    }
    moving.clear();
    match source.origin {
        Some(origin) => moving.extend_from_slice(&origin[block.clone()]),
        None => moving.resize(block.len(), 0.0),
    }
    for (r, (point, place)) in points.zip(places).enumerate() {
        for ((z, x), m) in place.iter_mut().zip(point).zip(&*moving) {
            *z = x - m;
        }
        if let Some(step) = source.steps.get(r) {
            moving.iter_mut().zip(&*place).for_each(|(m, z)| *m += step * z);
        }
    }
}
