//! Merging of learners based on the scatter matrix, initialization from moments, and sets of rows learned at once.
//!
//! Setting: learners over plain rows without forgetting, whose rule is a function of the scatter matrix. With scatter
//! matrices C and C', total row weights s and t, and means m and m', the scatter matrix of all rows is
//! `C + C' + s t/(s + t) (m - m')(m - m')ᵀ`, or `C + C'` without a center.
//! Exactness: the number of rows, the center and, without a rank cap, the scatter matrix are exact up to rounding. What
//! a rank cap drops adds to the price ([`Rule::price`](super::Rule::price)). The norm bound is the larger of both, and
//! at least the distance between the centers. The loss that tunes a self-confident rate is the sum of both. With a
//! fixed rate, no rank cap, and either no center or a given norm bound, the result is that of all rows in one pass.
//! Sets of kernel features are added to the span in blocks, and their scatter matrix in coordinates of the columns to
//! C. The result is that of single rows, up to residuals that are not resolved. A self-confident rate is tuned to the
//! loss of the best subspace for all rows. Only the leading eigenpairs that determine the probabilities are computed.
//! Cost: O(n w w') for the basis, with rows of length n and w and w' columns, and one decomposition of a matrix with at
//! most min(n, w + w' + 1) columns.

use super::aligned::Aligned;
use super::{AnyRule, Subspace};
use crate::error::{self, Error};
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, add_lower_square, multiplied, multiply};
use crate::num::dot;
use crate::span::{Ambient, Feature, Growth, Span, TakenIn};

/// Summary of rows with which a learner starts, without having predicted them.
#[derive(Debug)]
pub(crate) struct Learned<'a> {
    pub rows: u64,
    pub weight: f64,
    /// Fixed point and displacement from it, or `None` without a center.
    pub mean: Option<(&'a [f64], &'a [f64])>,
    pub scatter: LearnedScatter,
    /// Energy that the scatter matrix does not contain.
    pub dropped: f64,
    pub largest_square: f64,
    pub lost: f64,
}

#[derive(Debug)]
pub(crate) enum LearnedScatter {
    Whole(Matrix),
    Factor(Matrix),
}

impl Subspace<Ambient> {
    pub(crate) fn merge(&mut self, mut other: Self, cost: f64) -> Result<(), Error> {
        if other.trials == 0 {
            return Ok(());
        }
        if self.trials == 0 {
            *self = other;
            return Ok(());
        }
        let (here, there) = (self.center_weight, other.center_weight);
        self.energy = error::add_square(self.energy, other.energy)?;
        self.largest_square = self.largest_square.max(other.largest_square);
        let mut vectors = other.span.vectors().into_owned();
        let mut inner = scatter_rule(&mut other.rule)?.scatter.matrix();
        if self.options.center.is_some() {
            let way = self.span.merge_origin(&other.span, there / (here + there));
            let square = dot(&way, &way);
            let weight = here * (there / (here + there));
            self.energy = error::add_square(self.energy, weight * square)?;
            self.largest_square = self.largest_square.max(square);
            if square > 0.0 {
                let length = square.sqrt();
                let own = vectors.columns();
                vectors.push_column(&way.iter().map(|x| x / length).collect::<Vec<f64>>());
                inner.resize(own + 1, own + 1);
                inner.column_mut(own)[own] = weight * square;
            }
        }
        self.trials += other.trials;
        self.center_weight += other.center_weight;
        self.lost += other.lost;
        self.surprise += other.surprise;
        self.healed += other.healed;
        self.add_scatter(&vectors, Some(&inner))?;
        let (rule, other) = (scatter_rule(&mut self.rule)?, scatter_rule(&mut other.rule)?);
        rule.add_price(cost + other.price);
        Ok(())
    }

    pub(crate) fn begin_with(&mut self, rows: Learned<'_>) -> Result<(), Error> {
        self.trials = rows.rows;
        self.lost = rows.lost;
        self.largest_square = rows.largest_square;
        if let Some((base, way)) = rows.mean {
            self.center_weight = rows.weight;
            self.span.set_origin(base, way);
        }
        match rows.scatter {
            LearnedScatter::Whole(matrix) => {
                self.span.complete();
                self.set_scatter(matrix)?;
            }
            LearnedScatter::Factor(vectors) => self.add_scatter(&vectors, None)?,
        }
        let rule = scatter_rule(&mut self.rule)?;
        rule.add_dropped(rows.dropped);
        self.energy = error::add_square(rule.scatter.trace(), rows.dropped)?;
        Ok(())
    }

    /// Computes `C ← C + X M Xᵀ` for X = `vectors` and M = `inner`, or the identity if `inner` is `None`.
    fn add_scatter(&mut self, vectors: &Matrix, inner: Option<&Matrix>) -> Result<(), Error> {
        let (columns, length) = (self.span.columns(), self.span.length());
        let mut own = scatter_rule(&mut self.rule)?.scatter.matrix();
        if columns < length && columns + vectors.columns() >= length {
            let old = self.span.complete();
            own = if columns > 0 { sandwiched(&old, Some(&own)) } else { Matrix::default() };
        }
        let mut total = sandwiched(&self.span.take_in_vectors(vectors)?, inner);
        for j in 0..own.columns() {
            total.column_mut(j).iter_mut().zip(own.column(j)).for_each(|(entry, more)| *entry += more);
        }
        self.set_scatter(total)
    }

    fn set_scatter(&mut self, matrix: Matrix) -> Result<(), Error> {
        self.rescale();
        scatter_rule(&mut self.rule)?.replace(matrix, self.scale);
        if let Some(rotation) = self.rule.rotation(self.span.max_pending_columns()) {
            self.span.combine(rotation);
        }
        self.aligned = Aligned::default();
        Ok(())
    }
}

impl<D: Dictionary> Subspace<Feature<D>> {
    /// Learns a set of points without a prediction, for a function of the scatter matrix of all rows without budget,
    /// rank cap or clipping, centered at the mean or not. The error contains the index of the point. After an error the
    /// learner must not be used.
    pub(crate) fn learn_set(&mut self, points: &[&D::Point]) -> Result<(), (usize, Error)> {
        let mut rest = points;
        if let (true, Some((first, others))) = (self.fixes_center(), points.split_first()) {
            self.span.load_point(first).map_err(|error| (0, error))?;
            self.span.begin_at(first);
            self.center_weight = 1.0;
            self.span.end_trial();
            rest = others;
        }
        let (mut done, mut total, mut mean) = (points.len() - rest.len(), Matrix::default(), Vec::new());
        let (mut added, mut weight) = (Growth::default(), self.center_weight);
        for block in rest.chunks(Feature::<D>::BLOCK) {
            let taken = self.span.take_in_block(&mut added, block);
            let entered = taken.and_then(|taken| {
                self.enter_norms(&taken, &mut mean, &mut weight)?;
                Ok(taken.coordinates)
            });
            let coordinates = entered.map_err(|(i, error)| (done + i, error))?;
            total.resize(mean.len(), mean.len());
            add_lower_square(&mut total, coordinates.view());
            done += block.len();
        }
        self.span.end_growth(&added);
        self.trials += points.len() as u64;
        let failed = |error| (points.len().saturating_sub(1), error);
        let own = scatter_rule(&mut self.rule).map_err(failed)?.scatter.matrix();
        if self.options.center.is_some() {
            // The old center is the origin of the coordinates. With the coordinates f of the points, C therefore
            // becomes C + Σ f fᵀ - (total weight) · mean meanᵀ.
            self.center_weight += rest.len() as f64;
            for (j, m) in mean.iter().enumerate() {
                let column = total.column_mut(j).iter_mut().zip(&mean).skip(j);
                column.for_each(|(entry, other)| *entry -= self.center_weight * m * other);
            }
            self.span.move_origin(&mean);
        }
        for j in 0..own.columns() {
            total.column_mut(j).iter_mut().zip(own.column(j)).skip(j).for_each(|(entry, more)| *entry += more);
        }
        total.mirror();
        self.rescale();
        let rule = scatter_rule(&mut self.rule).map_err(failed)?;
        rule.replace_by_leading(total, self.scale);
        if self.options.divergence.is_some() {
            self.lost = rule.best_loss();
            self.rescale();
            scatter_rule(&mut self.rule).map_err(failed)?.weigh_all(self.scale);
        }
        self.aligned = Aligned::default();
        Ok(())
    }

    /// Adds the norms of points, each from the mean of the points before it, to the energy and the norm bound.
    fn enter_norms(&mut self, taken: &TakenIn, mean: &mut Vec<f64>, weight: &mut f64) -> Result<(), (usize, Error)> {
        mean.resize(taken.coordinates.rows(), 0.0);
        self.scratch.0.row_weight = 1.0;
        for (j, square) in taken.squares.iter().enumerate() {
            let (point, mut square) = (taken.coordinates.column(j), *square);
            if let Some(center) = self.options.center {
                let step = center.step(*weight, 1.0);
                square = (square - dot(point, point)).max(0.0);
                for (m, x) in mean.iter_mut().zip(point) {
                    square += (x - *m) * (x - *m);
                    *m += step * (x - *m);
                }
                *weight = center.next_weight(*weight, 1.0);
            }
            self.within_bound(square).map_err(|error| (j, error))?;
            self.energy = error::add_square(self.energy, square).map_err(|error| (j, error))?;
            self.largest_square = self.largest_square.max(square);
        }
        Ok(())
    }
}

fn scatter_rule(rule: &mut AnyRule) -> Result<&mut super::Anchored, Error> {
    match rule {
        AnyRule::Anchored(rule) if rule.forget == 1.0 => Ok(rule),
        _ => Err(Error::Merge("the rule must be a function of the scatter matrix of all rows".to_owned())),
    }
}

/// Returns `X M Xᵀ`, or `X Xᵀ` without M = `inner`.
fn sandwiched(x: &Matrix, inner: Option<&Matrix>) -> Matrix {
    if x.columns() == 0 {
        return Matrix::zeros(x.rows(), x.rows());
    }
    let mut half = Matrix::default();
    let left = match inner {
        Some(inner) => {
            multiply(&mut half, x.view(), inner.view());
            half.view()
        }
        None => x.view(),
    };
    multiplied(left, x.view().transpose())
}
