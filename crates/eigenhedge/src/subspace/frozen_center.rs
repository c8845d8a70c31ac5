//! Trials of several rows around one center, which moves only after all of them.
//!
//! Setting: rows x of a batch and the center m of the previous rows. The instance is `S = Σ (x - m)(x - m)ᵀ`.
//! Update: that of one trial with this instance. A rule that forgets applies its factor once for each row, and weighs
//! the rows of the batch equally. Then the center moves as if the rows had been learned one by one. A learned center
//! learns its coefficients from these rows with the directions after the batch.
//! Members of a portfolio share the scatter matrix around the mean μ of the batch. With b rows and `d = μ - m`, the
//! matrix S of a member is larger by `b d dᵀ`. A member with a rank cap R, a factor f and the scatter matrix C needs
//! only the R largest eigenpairs of `fᵇC + S`, from its tridiagonal form or from the Gram matrix of rows and directions
//! if that is smaller. Other members need two decompositions.
//! Guarantee: none with a center. Otherwise the bounds hold with the largest eigenvalue of the instance as norm bound.

use super::choice::complement_mass;
use super::{AnyRule, Instance, Subspace, Symmetric, Working};
use crate::error::Error;
use crate::learner::{Learner, Loss};
use crate::linalg::{
    Matrix, add_product, largest_value, lower_square, multiplied, multiply, reduced_pairs, symmetric_eigen, top,
};
use crate::num::{dot, exp, unit};
use crate::row::check_row;
use crate::scratch::refill;
use crate::span::Ambient;

/// Maximum row length for which a whole product is faster than its lower triangle.
const SHORT: usize = 128;
/// Smallest eigenvalue, as a share of the largest, with an accurate direction in a Gram matrix.
const LEAST_FROM_GRAM: f64 = 1e-6;

#[derive(Debug)]
pub(crate) struct Lot {
    mean: Vec<f64>,
    centered: Matrix,
    /// Around the mean. Empty if rows have many more cells than the batch has rows.
    scatter: Matrix,
    trace: f64,
    last_square: Option<(Vec<f64>, f64)>,
    last_pairs: Option<(Before, Pairs)>,
}

#[derive(Debug, PartialEq)]
struct Before {
    forget: f64,
    offset: Vec<f64>,
    directions: Matrix,
    values: Vec<f64>,
    max_rank: usize,
}

/// Largest eigenpairs, in ascending order, and the sum of the other eigenvalues.
#[derive(Debug, Clone)]
struct Pairs {
    values: Vec<f64>,
    vectors: Matrix,
    dropped: f64,
}

impl Lot {
    /// Returns `Err` for an invalid row. No scatter matrix if `length` exceeds the rows plus `largest_span + 1`.
    pub fn new(rows: &[&[f64]], length: usize, largest_span: usize) -> Result<Self, Error> {
        let (mut centered, mut way) = (Matrix::zeros(length, rows.len()), vec![0.0; length]);
        for (j, row) in rows.iter().enumerate() {
            check_row("row", row, length).map_err(|error| error.at(j))?;
            let deviation = centered.column_mut(j);
            deviation.iter_mut().zip(*row).zip(rows[0]).for_each(|((to, x), first)| *to = x - first);
            way.iter_mut().zip(&*deviation).for_each(|(way, x)| *way += x);
        }
        way.iter_mut().for_each(|x| *x /= rows.len() as f64);
        centered.for_each_column(|_, column| column.iter_mut().zip(&way).for_each(|(x, mean)| *x -= mean));
        let mean = way.iter().zip(rows[0]).map(|(way, first)| first + way).collect();
        let mut scatter = Matrix::default();
        if rows.len() + largest_span + 1 >= length {
            if length <= SHORT {
                multiply(&mut scatter, centered.view(), centered.view().transpose());
            } else {
                scatter = lower_square(centered.view());
                scatter.mirror();
            }
        }
        let trace = centered.energy();
        Ok(Self { mean, centered, scatter, trace, last_square: None, last_pairs: None })
    }

    fn rows(&self) -> usize {
        self.centered.columns()
    }

    fn largest_square(&mut self, offset: &[f64]) -> f64 {
        if let Some((_, square)) = self.last_square.as_ref().filter(|(last, _)| last == offset) {
            return *square;
        }
        let (count, mut products) = (self.rows() as f64, Vec::new());
        let square = largest_value(offset.len(), |x, image| {
            let along = count * dot(offset, x);
            refill(image, offset.iter().map(|entry| along * entry));
            if self.scatter.columns() > 0 {
                return self.scatter.add_symmetric_product(x, image);
            }
            self.centered.transpose_times(x, &mut products);
            products.iter_mut().for_each(|product| *product = -*product);
            self.centered.subtract_times(&products, image);
        });
        self.last_square = Some((offset.to_vec(), square));
        square
    }

    fn energies(&self, offset: &[f64], directions: &Matrix) -> Vec<f64> {
        let mut image = Matrix::default();
        let is_whole = self.scatter.columns() > 0;
        if is_whole {
            multiply(&mut image, self.scatter.view(), directions.view());
        } else {
            multiply(&mut image, self.centered.view().transpose(), directions.view());
        }
        let energy = |j: usize| {
            let image = image.column(j);
            let around_mean = dot(image, if is_whole { directions.column(j) } else { image });
            around_mean + self.rows() as f64 * dot(offset, directions.column(j)).powi(2)
        };
        (0..directions.columns()).map(energy).collect()
    }

    /// Returns the largest eigenpairs of `forget · C + S` around the center.
    fn pairs(&mut self, before: Before) -> Pairs {
        if let Some((_, pairs)) = self.last_pairs.as_ref().filter(|(last, _)| *last == before) {
            return pairs.clone();
        }
        // The matrix is F Fᵀ plus the scatter matrix around the mean.
        let mut factor = before.directions.clone();
        factor.scale_columns(|j| (before.forget * before.values[j].max(0.0)).sqrt());
        let root = (self.rows() as f64).sqrt();
        factor.push_column(&before.offset.iter().map(|x| root * x).collect::<Vec<f64>>());
        let trace = self.trace + factor.energy();
        let found = if self.scatter.columns() == 0 { self.gram_pairs(&factor, before.max_rank) } else { None };
        let (mut values, mut vectors) = found.unwrap_or_else(|| {
            let has_scatter = self.scatter.columns() > 0;
            let mut matrix = if has_scatter { self.scatter.clone() } else { lower_square(self.centered.view()) };
            add_product(&mut matrix, factor.view(), factor.view().transpose());
            largest(&matrix, before.max_rank)
        });
        let rounding = f64::EPSILON * values.first().copied().unwrap_or(0.0);
        let stays = values.iter().take_while(|value| **value > rounding).count();
        values.truncate(stays);
        let dropped = (trace - values.iter().sum::<f64>()).max(0.0);
        vectors.resize(vectors.rows(), stays);
        vectors.reverse_columns();
        values.reverse();
        let pairs = Pairs { values, vectors, dropped };
        self.last_pairs = Some((before, pairs.clone()));
        pairs
    }

    /// Like [`Self::pairs`] for F = `factor`, from the Gram matrix of F and the centered rows. `None` if inaccurate.
    fn gram_pairs(&self, factor: &Matrix, kept: usize) -> Option<(Vec<f64>, Matrix)> {
        let mut all = factor.clone();
        (0..self.rows()).for_each(|j| all.push_column(self.centered.column(j)));
        let (values, coordinates) = largest(&lower_square(all.view().transpose()), kept.min(all.columns()));
        if !values.iter().all(|value| *value > LEAST_FROM_GRAM * values[0]) {
            return None;
        }
        let mut vectors = multiplied(all.view(), coordinates.view());
        vectors.for_each_column(|j, column| column.iter_mut().for_each(|x| *x /= values[j].sqrt()));
        vectors.orthonormalise();
        // Rayleigh–Ritz: the best eigenpairs in the span of these vectors.
        let along = multiplied(vectors.view().transpose(), all.view());
        let inner = multiplied(along.view(), along.view().transpose());
        let eigen = symmetric_eigen(&inner);
        let (best, turns) = top(&eigen.values, &eigen.vectors, values.len());
        Some((best, multiplied(vectors.view(), turns.view())))
    }
}

fn largest(matrix: &Matrix, kept: usize) -> (Vec<f64>, Matrix) {
    let kept = kept.min(matrix.columns());
    let found = if 2 * kept <= matrix.columns() { reduced_pairs(matrix, kept) } else { None };
    found.unwrap_or_else(|| {
        let eigen = symmetric_eigen(matrix);
        top(&eigen.values, &eigen.vectors, kept)
    })
}

#[derive(Debug)]
pub(crate) struct Frozen {
    instance: MemberBatch,
    way: Vec<f64>,
    center_weight: f64,
}

#[derive(Debug)]
enum MemberBatch {
    Dyads(Symmetric),
    Shared { offset: Vec<f64>, directions: Matrix },
}

impl Subspace<Ambient> {
    /// Leaves the learned state. Returns `Err` if the instance exceeds a given norm bound or its energy overflows.
    pub(crate) fn freeze(&mut self, lot: &mut Lot) -> Result<Frozen, Error> {
        let (offset, count) = (self.span.measured_from_origin(&lot.mean), lot.rows());
        let forget = self.options.center.map_or(1.0, |center| center.forget);
        let (mut way, mut total, mut center_weight) = (vec![0.0; offset.len()], 0.0, self.center_weight);
        for j in 0..count {
            center_weight = forget * center_weight + 1.0;
            total = forget * total + 1.0;
            way.iter_mut().zip(lot.centered.column(j)).for_each(|(way, x)| *way = forget * *way + x);
        }
        way.iter_mut().zip(&offset).for_each(|(way, x)| *way = (*way + total * x) / center_weight);
        let trace = lot.trace + count as f64 * dot(&offset, &offset);
        let square;
        let instance = match self.shared_directions(trace) {
            Some(directions) => {
                square = lot.largest_square(&offset);
                MemberBatch::Shared { offset, directions }
            }
            None => {
                let mut around = lot.centered.clone();
                around.for_each_column(|_, column| column.iter_mut().zip(&offset).for_each(|(x, more)| *x += more));
                let mut scatter = lower_square(around.view());
                scatter.mirror();
                let symmetric = Symmetric::new(&scatter)?;
                square = symmetric.dyads().iter().map(|(weight, _)| *weight).fold(0.0, f64::max);
                MemberBatch::Dyads(symmetric)
            }
        };
        self.within_bound(square)?;
        self.admit(square);
        (self.scratch.0.row_weight, self.scratch.0.energy) = (1.0, trace);
        Ok(Frozen { instance, way, center_weight })
    }

    /// Returns `None` for rules without a rank cap, sparse rows, extreme norms, and if the complement may be kept.
    fn shared_directions(&self, trace: f64) -> Option<Matrix> {
        let AnyRule::Anchored(rule) = &self.rule else { return None };
        let (rotation, _, _) = rule.capped_pairs()?;
        if self.span.is_sparse() || unit(trace.sqrt()) != 1.0 || complement_mass(self.rule.complement()) > 0.0 {
            return None;
        }
        let (mut directions, mut expanded) = (Matrix::default(), Matrix::default());
        self.span.write_directions(rotation, &mut expanded, &mut directions);
        Some(directions)
    }

    pub(crate) fn incur_frozen(&mut self, frozen: &Frozen, lot: &Lot) -> Loss {
        let (offset, directions) = match &frozen.instance {
            MemberBatch::Dyads(symmetric) => {
                return self.around_center(|own| own.incur(&Instance::Dyads(&symmetric.dyads())));
            }
            MemberBatch::Shared { offset, directions } => (offset, directions),
        };
        let energies = lot.energies(offset, directions);
        let (mut loss, outside) = (Loss::default(), (self.scratch.0.energy - energies.iter().sum::<f64>()).max(0.0));
        let Working { dropped, choice, .. } = &mut self.scratch.0;
        self.rule.log_weights().clone_into(dropped);
        exp(dropped);
        loss.expected = outside + energies.iter().zip(&*dropped).map(|(energy, share)| energy * share).sum::<f64>();
        let is_kept = |i: usize| choice.marks.get(i).copied().unwrap_or(false);
        let missed = energies.iter().enumerate().filter(|(i, _)| !is_kept(*i)).map(|(_, energy)| energy);
        loss.realised = outside + missed.sum::<f64>();
        self.scratch.0.expected = loss.expected;
        loss
    }

    pub(crate) fn learn_frozen(&mut self, frozen: Frozen, lot: &mut Lot) {
        let rows = i32::try_from(lot.rows()).unwrap_or(i32::MAX);
        match frozen.instance {
            MemberBatch::Dyads(symmetric) => {
                self.scratch.0.observed.rows = rows;
                self.around_center(|own| own.update(&Instance::Dyads(&symmetric.dyads())));
                self.scratch.0.observed.rows = 1;
                self.trials += lot.rows() as u64 - 1;
            }
            MemberBatch::Shared { offset, directions } => {
                self.account(1.0, 1.0);
                self.learn_shared(offset, directions, rows, lot);
                self.trials += lot.rows() as u64;
            }
        }
        if !self.options.center.is_some_and(|center| center.learned) {
            self.center_weight = frozen.center_weight;
            self.span.move_origin(&frozen.way);
        }
    }

    fn learn_shared(&mut self, offset: Vec<f64>, directions: Matrix, rows: i32, lot: &mut Lot) {
        let AnyRule::Anchored(rule) = &mut self.rule else { return };
        let Some((_, values, max_rank)) = rule.capped_pairs() else { return };
        let (forget, values) = (rule.forget.powi(rows), values.to_vec());
        let Pairs { values, vectors, dropped } = lot.pairs(Before { forget, offset, directions, values, max_rank });
        if self.aligned.basis.columns() > 0 {
            let rotation = multiplied(self.span.vectors().view().transpose(), vectors.view());
            self.aligned.follow(&rotation);
        }
        self.span.replace_columns(vectors);
        rule.replace_pairs(values, dropped, self.scale);
    }

    fn around_center<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (center, origin) = (self.options.center.take(), self.span.take_origin());
        let outcome = work(self);
        self.options.center = center;
        self.span.restore_origin(origin);
        outcome
    }
}
