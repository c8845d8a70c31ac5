//! Follow the perturbed leader: the best subspace for the previous rows after adding random noise.
//!
//! Setting: instances z with `|z|² ≤ Q²`. `C` is the scatter matrix of all rows.
//! Update: `C ← C + z zᵀ`. Before each choice, noise G is drawn, and the top k eigenvectors of `C + (Q²/η) G` are kept.
//! G is symmetric and Gaussian, with variance 1 off the diagonal and 2 on it: up to scale and multiples of I, the only
//! rotation-invariant distribution with independent entries. The noise acts only on the columns of the span, because
//! noise on the complement would couple them to all N dimensions. All other directions have the value 0: they are
//! chosen, uniformly, before directions with a negative perturbed value.
//! Guarantee: none. Whether some noise attains the bound of tracking is open (JMLR sections 5.1 and 9). The mean loss
//! over the noise has no closed form: [`crate::Loss::expected`] is the mean over the complement only, so it is unbiased
//! but random. Between trials the probabilities are those of the leader without noise.
//! Cost per trial: two eigendecompositions, O(w³) for w columns, and about w²/2 random numbers.
//! Numerics: matrix and noise are scaled so that neither overflows. The columns rotate with the rows, so a seed gives
//! the same losses in rotated coordinates and in a feature space. Each column has its own noise, so a residual that may
//! be rounding (at most [`RESOLUTION`] times the largest squared norm) gets none.
//! References: Kalai & Vempala 2005; Warmuth & Kuzmin, JMLR 2008, sections 4.1, 5.1 and 9; Dwork, Talwar, Thakurta &
//! Zhang, STOC 2014 (Gaussian symmetric noise).

use super::check_scale;
use super::rule::{Directions, Observed, Rule};
use super::scatter::restrict;
use crate::error::{self, Error};
use crate::linalg::checks::{orthonormal, shape};
use crate::linalg::{Eigen, Matrix};
use crate::random::Random;
use crate::scratch::{Scratch, zero};
use crate::simplex::{Complement, Multiplicity, Spectrum};
use crate::state::{State, ensure, length};
use serde::{Deserialize, Serialize};

/// Share of the largest squared norm up to which a squared residual may be rounding. It is far below the noise.
const RESOLUTION: f64 = 1e-12;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Perturbed {
    eta: f64,
    kept: usize,
    scatter: Matrix,
    norm_square: f64,
    directions: Matrix,
    log_weights: Vec<f64>,
    complement: Complement,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    perturbed: Matrix,
    eigen: Eigen,
    coordinates: Vec<f64>,
}

impl Perturbed {
    pub fn new(eta: f64, kept: usize, dimension: Multiplicity) -> Result<Self, Error> {
        let eta = error::positive("eta", eta)?;
        super::check_kept(kept, dimension)?;
        Ok(Self { eta, kept, norm_square: 1.0, complement: super::uniform(kept, dimension), ..Self::default() })
    }

    /// Keeps the top k eigenvectors of `signal` times the scatter matrix over Q², plus noise for each entry on and
    /// below the diagonal, where it is called with `true`.
    fn follow(&mut self, signal: f64, mut noise: impl FnMut(bool) -> f64) {
        let Working { perturbed, eigen, .. } = &mut self.scratch.0;
        let size = self.scatter.columns();
        perturbed.resize(size, size);
        for j in 0..size {
            let entries = perturbed.column_mut(j).iter_mut().zip(self.scatter.column(j));
            for (i, (entry, scatter)) in entries.enumerate().skip(j) {
                *entry = signal * (scatter / self.norm_square) + noise(i == j);
            }
        }
        eigen.compute(perturbed.view());
        self.directions.clone_from(&eigen.vectors);
        let positive = eigen.values.iter().filter(|value| **value > 0.0).count();
        self.keep_top(positive);
    }

    fn lead(&mut self) {
        self.follow(1.0, |_| 0.0);
    }

    /// Keeps the last k directions. Directions of the complement replace those beyond the `positive` ones.
    fn keep_top(&mut self, positive: usize) {
        let wanted = self.kept.saturating_sub(positive) as u64;
        let (from_complement, share) = match self.complement.multiplicity {
            Multiplicity::Finite(0) => (0, 0.0),
            Multiplicity::Finite(others) => (wanted.min(others), wanted.min(others) as f64 / others as f64),
            Multiplicity::Infinite => (wanted, 0.0),
        };
        self.complement.log_weight = if share > 0.0 { (-share).ln_1p() } else { 0.0 };
        let size = self.directions.columns();
        let dropped = size + from_complement as usize - self.kept;
        zero(&mut self.log_weights, dropped);
        self.log_weights.resize(size, f64::NEG_INFINITY);
    }
}

impl State for Perturbed {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (self.eta, self.kept) == (built.eta, built.kept);
        ensure(parameters, "the parameters of the rule must be those of the learner")?;
        let columns = self.columns();
        shape("the scatter matrix", &self.scatter, columns, columns)?;
        check_scale(self.norm_square, self.scatter.trace())?;
        shape("the basis of the directions", &self.directions, columns, columns)?;
        orthonormal("the basis of the directions", &self.directions)?;
        length("logarithms of probabilities", self.log_weights.len(), columns)?;
        let Self { log_weights, complement, kept, .. } = self;
        Spectrum { log_weights, complement, kept: *kept, dimension: built.complement.multiplicity }.check()
    }
}

impl Directions for Perturbed {
    fn columns(&self) -> usize {
        self.scatter.columns()
    }

    fn observe(&mut self, columns: &[f64]) -> f64 {
        self.directions.transpose_times(columns, &mut self.scratch.0.coordinates);
        0.0
    }

    fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    fn select(&mut self, order: &[usize], out: &mut Matrix) {
        self.directions.copy_columns(order, out);
    }
}

impl Rule for Perturbed {
    fn directions(&self) -> &dyn Directions {
        self
    }

    fn directions_mut(&mut self) -> &mut dyn Directions {
        self
    }

    fn grow(&mut self, columns: usize) {
        let before = self.scatter.columns();
        self.scatter.resize(columns, columns);
        self.directions.resize(columns, columns);
        for j in before..columns {
            self.directions.column_mut(j)[j] = 1.0;
        }
        self.log_weights.resize(columns, self.complement.log_weight);
        if let Multiplicity::Finite(n) = &mut self.complement.multiplicity {
            *n -= (columns - before) as u64;
        }
    }

    fn perturb(&mut self, random: &mut Random) {
        if self.scatter.columns() == 0 {
            return;
        }
        // Only the ratio of signal and noise matters, so both are scaled to at most 1 and cannot overflow.
        let (signal, scale) = if self.eta > 1.0 { (1.0, 1.0 / self.eta) } else { (self.eta, 1.0) };
        self.follow(signal, |diagonal| scale * random.normal() * if diagonal { std::f64::consts::SQRT_2 } else { 1.0 });
    }

    fn resolution(&self) -> f64 {
        RESOLUTION
    }

    fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    fn complement(&self) -> &Complement {
        &self.complement
    }

    fn update(&mut self, instance: &Observed, norm_square: f64) {
        self.norm_square = norm_square;
        for (k, weight) in instance.weights.iter().enumerate() {
            let point = instance.coordinates.column(k);
            for (j, x) in point.iter().enumerate() {
                let amount = weight * instance.unit_square * x;
                self.scatter.column_mut(j).iter_mut().zip(point).for_each(|(s, y)| *s += amount * y);
            }
        }
        self.lead();
    }

    fn rotation(&mut self, _: usize) -> Option<&Matrix> {
        None
    }

    fn reduce(&mut self, rotation: &Matrix) {
        let lost = (rotation.rows() - rotation.columns()) as u64;
        if let Multiplicity::Finite(n) = &mut self.complement.multiplicity {
            *n += lost;
        }
        restrict(&mut self.scatter, rotation, &mut self.scratch.0.eigen);
        self.lead();
    }
}
