//! Slow dense oracles of the published updates, with a new eigendecomposition in each trial.
//!
//! For up to 32 columns, the oracles use one-sided Jacobi rotations, which are as accurate for small eigenvalues as for
//! large ones. A backward stable dense solver is not. At `log v = -10⁵` it would lose ten digits of the weights near
//! one. A column in units a million times smaller than those of another column would lose all its digits.

use super::{cap, product};
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::{Matrix, Mixing};

pub trait Oracle {
    /// Returns the expected loss of a row, then learns from it. `rate` is the rate of this update.
    fn step(&mut self, z: &[f64], rate: f64) -> f64;
}

/// Largest cosine between two rows that counts as rounding error.
const ROUNDING: f64 = 1e-15;
/// Maximum size of a matrix that is decomposed by rotations, which are slow for large ones.
const ROTATED: usize = 32;

/// Orthogonalizes `rows` by rotations of pairs of rows. Applies the same rotations to the columns of `basis`.
fn jacobi(rows: &mut [Vec<f64>], basis: &mut Matrix) {
    let n = rows.len();
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) = (dot(&rows[p], &rows[p]), dot(&rows[q], &rows[q]), dot(&rows[p], &rows[q]));
                if c.abs() <= ROUNDING * (a * b).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (b - a) / (2.0 * c);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sin = cos * tangent;
                let (head, tail) = rows.split_at_mut(q);
                for (x, y) in head[p].iter_mut().zip(&mut tail[0]) {
                    (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                }
                let (u, v) = basis.column_pair_mut(p, q);
                for (x, y) in u.iter_mut().zip(v) {
                    (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                }
            }
        }
        if !rotated {
            return;
        }
    }
}

/// Mirror descent with all N eigenvectors. `log V` is diagonalized in each trial.
pub struct DenseTracking {
    kept: usize,
    mixing: Mixing,
    basis: Matrix,
    log_weights: Vec<f64>,
    past: Matrix,
    trials: f64,
}

impl DenseTracking {
    pub fn new(n: usize, kept: usize, mixing: Mixing) -> Self {
        let share = (n - kept) as f64 / n as f64;
        let mut past = Matrix::identity(n);
        (0..n).for_each(|j| past.column_mut(j)[j] = share);
        let basis = Matrix::identity(n);
        Self { kept, mixing, basis, log_weights: vec![share.ln(); n], past, trials: 0.0 }
    }

    fn mix(&mut self) {
        let n = self.log_weights.len();
        self.trials += 1.0;
        match self.mixing {
            Mixing::None => {}
            Mixing::FixedShare { alpha } => {
                let uniform = (n - self.kept) as f64 / n as f64;
                self.log_weights
                    .iter_mut()
                    .for_each(|l| *l = ((1.0 - alpha) * l.exp() + alpha * uniform).ln().min(0.0));
            }
            Mixing::PastAverage { alpha } => {
                let mut mixed = Matrix::zeros(n, n);
                for i in 0..n {
                    let weight = (1.0 - alpha) * self.log_weights[i].exp();
                    let direction = self.basis.column(i).to_vec();
                    for j in 0..n {
                        let column = mixed.column_mut(j);
                        column.iter_mut().zip(&direction).for_each(|(m, d)| *m += weight * d * direction[j]);
                    }
                }
                for j in 0..n {
                    let past = self.past.column(j).to_vec();
                    mixed.column_mut(j).iter_mut().zip(&past).for_each(|(m, p)| *m += alpha / self.trials * p);
                    let mixed = mixed.column(j).to_vec();
                    self.past.column_mut(j).iter_mut().zip(&mixed).for_each(|(p, m)| *p += m);
                }
                let eigen = symmetric_eigen(&mixed);
                self.basis = eigen.vectors;
                self.log_weights = eigen.values.iter().map(|v| v.ln().min(0.0)).collect();
            }
            other => panic!("no oracle for {other:?}"),
        }
    }
}

impl Oracle for DenseTracking {
    fn step(&mut self, z: &[f64], rate: f64) -> f64 {
        let mut a = coordinates(&self.basis, z);
        let loss = a.iter().zip(&self.log_weights).map(|(a, l)| l.exp() * a * a).sum();
        a.iter_mut().for_each(|a| *a *= rate.sqrt());
        self.log_weights.iter_mut().for_each(|l| *l = -*l);
        add_dyad(&mut self.log_weights, &a, &mut self.basis);
        self.log_weights.iter_mut().for_each(|l| *l = -*l);
        cap(&mut self.log_weights, self.kept);
        self.mix();
        loss
    }
}

/// Function from the eigenvalues of a scatter matrix to probabilities.
#[derive(Clone, Copy)]
pub enum Function {
    /// Capped exponential weights: `log V = cap(-rate · C)` for the scatter matrix C.
    Exponential,
    /// Hedge over all sets of k eigenvectors, set by set.
    ProductSets,
    /// Keeps the k largest. Equal eigenvalues at the boundary share evenly.
    Leader,
}

/// Computes the eigenpairs of `diag(values) + a aᵀ` and rotates the basis accordingly.
fn add_dyad(values: &mut [f64], a: &[f64], basis: &mut Matrix) {
    let n = values.len();
    if n > ROTATED {
        let mut matrix = sum(&Matrix::identity(n), |i| values[i]);
        (0..n).for_each(|j| matrix.column_mut(j).iter_mut().zip(a).for_each(|(entry, x)| *entry += x * a[j]));
        let eigen = symmetric_eigen(&matrix);
        values.copy_from_slice(&eigen.values);
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        *basis = product(basis, &eigen.vectors);
        return;
    }
    let row = |i: usize| {
        (0..=n)
            .map(|j| {
                if j == i {
                    values[i].sqrt()
                } else if j == n {
                    a[i]
                } else {
                    0.0
                }
            })
            .collect()
    };
    let mut rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    jacobi(&mut rows, basis);
    values.iter_mut().zip(&rows).for_each(|(value, row)| *value = dot(row, row));
}

fn coordinates(basis: &Matrix, z: &[f64]) -> Vec<f64> {
    (0..z.len()).map(|j| dot(basis.column(j), z)).collect()
}

/// Oracle from a scatter matrix whose eigenvalues are recomputed in every trial.
pub struct DenseScatter {
    kept: usize,
    function: Function,
    rate: f64,
    forget: f64,
    max_rank: usize,
    basis: Matrix,
    values: Vec<f64>,
}

impl DenseScatter {
    pub fn new(n: usize, kept: usize, function: Function) -> Self {
        let (basis, values) = (Matrix::identity(n), vec![0.0; n]);
        Self { kept, function, rate: 1.0, forget: 1.0, max_rank: n, basis, values }
    }

    /// Sets the factor by which the matrix is multiplied at each row.
    pub fn forgetting(self, forget: f64) -> Self {
        Self { forget, ..self }
    }

    /// Sets the maximum number of nonzero eigenvalues of the matrix.
    pub fn capped(self, max_rank: usize) -> Self {
        Self { max_rank, ..self }
    }

    /// Returns the n-th largest eigenvalue, counted from 1.
    fn ranked(&self, n: usize) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(|a, b| b.total_cmp(a));
        values[n - 1]
    }

    /// Returns the sum of all but the n largest eigenvalues.
    pub fn rest(&self, n: usize) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values[..values.len() - n].iter().sum()
    }

    pub fn dropped_projection(&self) -> Matrix {
        let dropped = self.dropped();
        sum(&self.basis, |i| dropped[i])
    }

    fn dropped(&self) -> Vec<f64> {
        let (values, n) = (&self.values, self.values.len());
        match self.function {
            Function::Exponential => {
                let mut log_weights: Vec<f64> = values.iter().map(|v| -self.rate * v).collect();
                cap(&mut log_weights, self.kept);
                log_weights.iter().map(|l| l.exp()).collect()
            }
            Function::Leader => {
                let boundary = self.ranked(self.kept);
                let tie = (1e-12 * boundary).max(4.0 * f64::EPSILON * self.ranked(1));
                let above = values.iter().filter(|v| **v > boundary + tie).count();
                let tied = values.iter().filter(|v| (**v - boundary).abs() <= tie).count();
                let shared = 1.0 - (self.kept - above) as f64 / tied as f64;
                let dropped = |v: &f64| match *v - boundary {
                    over if over > tie => 0.0,
                    over if over >= -tie => shared,
                    _ => 1.0,
                };
                values.iter().map(dropped).collect()
            }
            Function::ProductSets => {
                let sets = || (0..1usize << n).filter(|set| set.count_ones() as usize == self.kept);
                let members = |set: usize| (0..n).filter(move |i| set >> i & 1 == 1);
                let log_weight = |set: usize| members(set).map(|i| self.rate * values[i]).sum::<f64>();
                let largest = sets().map(log_weight).fold(f64::NEG_INFINITY, f64::max);
                let (mut total, mut dropped) = (0.0, vec![0.0; n]);
                for set in sets() {
                    let weight = (log_weight(set) - largest).exp();
                    total += weight;
                    (0..n).filter(|i| set >> i & 1 == 0).for_each(|i| dropped[i] += weight);
                }
                dropped.iter().map(|d| d / total).collect()
            }
        }
    }
}

impl Oracle for DenseScatter {
    fn step(&mut self, z: &[f64], rate: f64) -> f64 {
        let a = coordinates(&self.basis, z);
        let loss = self.dropped().iter().zip(&a).map(|(dropped, a)| dropped * a * a).sum();
        self.values.iter_mut().for_each(|value| *value *= self.forget);
        add_dyad(&mut self.values, &a, &mut self.basis);
        if self.max_rank < z.len() {
            let least = self.ranked(self.max_rank);
            self.values.iter_mut().filter(|value| **value < least).for_each(|value| *value = 0.0);
        }
        self.rate = rate;
        loss
    }
}

/// Computes `Σ value(j) b_j b_jᵀ` over the columns of a basis.
fn sum(basis: &Matrix, value: impl Fn(usize) -> f64) -> Matrix {
    let n = basis.rows();
    let mut sum = Matrix::zeros(n, n);
    for i in 0..basis.columns() {
        let (direction, value) = (basis.column(i), value(i));
        for j in 0..n {
            sum.column_mut(j).iter_mut().zip(direction).for_each(|(s, d)| *s += value * d * direction[j]);
        }
    }
    sum
}

pub struct DenseAdditive {
    kept: usize,
    projection: Matrix,
}

impl DenseAdditive {
    pub fn new(n: usize, kept: usize) -> Self {
        Self { kept, projection: sum(&Matrix::identity(n), |_| kept as f64 / n as f64) }
    }
}

impl Oracle for DenseAdditive {
    fn step(&mut self, z: &[f64], rate: f64) -> f64 {
        let kept: f64 = (0..z.len()).map(|j| z[j] * dot(self.projection.column(j), z)).sum();
        for j in 0..z.len() {
            self.projection.column_mut(j).iter_mut().zip(z).for_each(|(p, x)| *p += rate * x * z[j]);
        }
        let eigen = symmetric_eigen(&self.projection);
        let clipped = |shift: f64, j: usize| (eigen.values[j] + shift).clamp(0.0, 1.0);
        let (mut low, mut high) = (-1.0 - eigen.values[z.len() - 1], 1.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let trace: f64 = (0..z.len()).map(|j| clipped(middle, j)).sum();
            *(if trace < self.kept as f64 { &mut low } else { &mut high }) = middle;
        }
        self.projection = sum(&eigen.vectors, |j| clipped(high, j));
        dot(z, z) - kept
    }
}
