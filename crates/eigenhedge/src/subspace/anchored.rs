//! Anchored learners: the spectrum is a function of the scatter matrix of all rows.
//!
//! Setting: as for [`super::Tracking`]. `C` is the running scatter matrix ([`Scatter`]), with eigenvalues λ.
//! Update, by [`Law`], after `C ← f C + z zᵀ` with a forgetting factor f:
//! - `Exponential`: `log V = cap(-(η/Q²) C)`, follow the regularized leader.
//! - `ProductSets`: Hedge over sets. A set of k eigenvectors is kept with a probability proportional to the product of
//!   the `e^{ηλ/Q²}` of its members. V has the exact probabilities of being dropped.
//! - `Leader`: the limit η → ∞. The top k eigenvectors are kept. Those tied with the k-th share the remaining places
//!   evenly.
//!
//! Guarantee: `Exponential` without forgetting has the bound of [`super::Tracking`] (JMLR Theorem 6, and with a center
//! Theorem 8 and Corollary 9). For `ProductSets` the same bound is conjectured (section 5.1) and proved for sets of
//! experts with an extra factor d. The leader has no bound: a stream can force its loss to N/d times the best loss. A
//! rank cap keeps only the R largest eigenpairs of C. Dropping the eigenvalue λ lowers the potential of the proof,
//! `min_V [η tr(V C)/Q² + Δ(V, V₀)]` with the relative entropy Δ and the uniform start V₀, by at most `ηλ/Q²`, which
//! adds to the constant of the bound ([`Rule::price`]). `ProductSets` and [`Anchored::capped_as_printed`] count every
//! direction seen, so they have no rank cap.
//! Cost: that of [`Scatter`], and O(w k) for `ProductSets` with w columns.
//! Numerics: the error of `log v` is about `η ε λ_max / Q²` with the machine epsilon ε (k times that for
//! `ProductSets`).
//! References: Warmuth & Kuzmin, JMLR 2008, sections 4.1 and 5.1, Algorithm 6 and section 7; Kuzmin & Warmuth, ICML
//! 2007, Algorithm 6.

use super::product_weights::{ProductScratch, drop_by_products};
use super::rule::{Directions, Observed, Rule};
use super::scatter::{CappedScatter, Scatter};
use super::{check_scale, price};
use crate::error::{self, Error};
use crate::linalg::Matrix;
use crate::scratch::{Scratch, refill};
use crate::simplex::{CapScratch, Complement, LimitScratch, Multiplicity, Precision, Spectrum, cap, keep_largest};
use crate::state::{State, ensure, length};
use serde::{Deserialize, Serialize};

/// Share of the largest squared norm up to which `ProductSets` treats a squared residual as rounding. Losses change by
/// less than 1e-9.
const RESOLUTION: f64 = 1e-20;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    Exponential { eta: f64 },
    ProductSets { eta: f64 },
    Leader,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anchored {
    law: Law,
    pub(super) forget: f64,
    as_printed: bool,
    kept: usize,
    dimension: Multiplicity,
    pub(super) scatter: Scatter,
    /// Cost of approximations, which adds to the constant of the regret bound.
    price: f64,
    norm_square: f64,
    log_weights: Vec<f64>,
    complement: Complement,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    cap: CapScratch,
    limit: LimitScratch,
    products: ProductScratch,
}

/// Relative difference from the k-th largest eigenvalue up to which the leader treats eigenvalues as tied.
const TIE: f64 = 1e-12;
/// Rounding error of small eigenvalues, as a share of the largest one.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl Anchored {
    pub fn new(law: Law, forget: f64, kept: usize, dimension: Multiplicity) -> Result<Self, Error> {
        if let Law::Exponential { eta } | Law::ProductSets { eta } = law {
            error::positive("eta", eta)?;
        }
        if matches!((law, dimension), (Law::ProductSets { .. }, Multiplicity::Infinite)) {
            return Err(Error::Unsupported(
                "product-sets needs a finite dimension: among infinitely many directions it keeps none of those seen",
            ));
        }
        error::factor("forget", forget)?;
        super::check_kept(kept, dimension)?;
        Ok(Self {
            law,
            forget,
            as_printed: false,
            kept,
            dimension,
            scatter: Scatter::Full(Box::default()),
            price: 0.0,
            norm_square: 1.0,
            log_weights: Vec::new(),
            complement: super::uniform(kept, dimension),
            scratch: Scratch::default(),
        })
    }

    /// Limits the number of eigenpairs. The regret bound of the exponential law holds with [`Rule::price`] added.
    pub fn with_max_rank(mut self, max_rank: Option<usize>) -> Result<Self, Error> {
        let Some(max_rank) = max_rank else { return Ok(self) };
        if matches!(self.law, Law::ProductSets { .. }) || self.as_printed {
            return Err(Error::Unsupported(
                "max-rank is not for product-sets and as-printed: they count all directions",
            ));
        }
        error::require(max_rank >= self.kept, "max-rank", "at least k", max_rank as f64)?;
        self.scatter = Scatter::Capped(Box::new(CappedScatter::new(max_rank, self.dimension)));
        Ok(self)
    }

    /// Caps only the directions seen so far instead of all N, as in the printed form of ICML Algorithm 6: unseen
    /// directions are dropped. The forms agree once `Σ (1 - e^{-ηλ/Q²}) ≥ k`, summed over the eigenvalues λ of C.
    pub fn capped_as_printed(mut self) -> Result<Self, Error> {
        if !matches!(self.law, Law::Exponential { .. }) {
            return Err(Error::Unsupported("as-printed is for the anchored learner"));
        }
        if matches!(self.scatter, Scatter::Capped(_)) {
            return Err(Error::Unsupported("max-rank is not for as-printed: it counts all directions"));
        }
        self.as_printed = true;
        self.dimension = Multiplicity::Infinite;
        self.complement = Complement::infinite();
        Ok(self)
    }

    fn count_others(&mut self) {
        self.complement.multiplicity = match self.dimension {
            Multiplicity::Finite(n) => Multiplicity::Finite(n - self.scatter.values().len() as u64),
            Multiplicity::Infinite => Multiplicity::Infinite,
        };
    }

    fn weigh(&mut self, norm_square: f64) {
        self.count_others();
        match self.law {
            Law::Exponential { eta } => {
                refill(&mut self.log_weights, self.scatter.values().iter().map(|value| -eta * (value / norm_square)));
                self.complement.log_weight = 0.0;
                let mut nothing = Complement::finite(0.0, 0);
                let rest = if self.as_printed { &mut nothing } else { &mut self.complement };
                if self.as_printed && self.log_weights.len() <= self.kept {
                    self.log_weights.fill(f64::NEG_INFINITY);
                } else {
                    cap(&mut self.log_weights, rest, self.kept, &mut self.scratch.0.cap);
                }
            }
            Law::ProductSets { eta } => {
                refill(&mut self.log_weights, self.scatter.values().iter().map(|value| eta * (value / norm_square)));
                let Working { products, .. } = &mut self.scratch.0;
                drop_by_products(&mut self.log_weights, &mut self.complement, self.kept, products);
            }
            Law::Leader => {
                let values = self.scatter.values();
                let largest = values.iter().fold(0f64, |a, v| a.max(*v));
                let precision = Precision { relative: TIE, absolute: ROUNDING * largest };
                let Working { limit, .. } = &mut self.scratch.0;
                keep_largest(values, &mut self.complement, self.kept, precision, &mut self.log_weights, limit);
            }
        }
    }
}

impl State for Anchored {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = |rule: &Self| (rule.law, rule.forget, rule.as_printed, rule.kept, rule.dimension);
        ensure(parameters(self) == parameters(built), "the parameters of the rule must be those of the learner")?;
        self.scatter.check_state(&built.scatter)?;
        price(self.price)?;
        let values = self.scatter.values();
        check_scale(self.norm_square, values.iter().fold(0f64, |a, v| a.max(v.abs())))?;
        length("logarithms of probabilities", self.log_weights.len(), values.len())?;
        let Self { log_weights, complement, kept, dimension, .. } = self;
        let spectrum = Spectrum { log_weights, complement, kept: *kept, dimension: *dimension };
        spectrum.check()
    }
}

impl Anchored {
    pub(super) fn replace(&mut self, matrix: Matrix, norm_square: f64) {
        self.norm_square = norm_square;
        let dropped = self.scatter.replace(matrix);
        self.add_dropped(dropped);
        self.lead();
        self.weigh(norm_square);
    }

    pub(super) fn capped_pairs(&self) -> Option<(&Matrix, &[f64], usize)> {
        let Scatter::Capped(capped) = &self.scatter else { return None };
        Some(capped.pairs())
    }

    pub(super) fn replace_pairs(&mut self, values: Vec<f64>, dropped: f64, norm_square: f64) {
        self.norm_square = norm_square;
        if let Scatter::Capped(capped) = &mut self.scatter {
            capped.replace_pairs(values);
        }
        self.add_dropped(dropped);
        self.weigh(norm_square);
    }

    /// Replaces the scatter matrix by its largest eigenpairs, as many as the probabilities require.
    pub(super) fn replace_by_leading(&mut self, matrix: Matrix, norm_square: f64) {
        let stored = if self.as_printed { usize::MAX } else { self.kept };
        self.scatter.replace_by_leading(matrix, stored, self.dimension);
        self.weigh_all(norm_square);
    }

    /// If only leading eigenpairs are stored, adds more of them until the least stored direction and all that are not
    /// stored are dropped with certainty.
    pub(super) fn weigh_all(&mut self, norm_square: f64) {
        self.norm_square = norm_square;
        self.weigh(norm_square);
        while let Scatter::Leading(_) = &self.scatter
            && !(self.complement.log_weight == 0.0 && self.log_weights.first().is_some_and(|least| *least == 0.0))
        {
            self.scatter.widen();
            self.weigh(norm_square);
        }
    }

    pub(super) fn best_loss(&self) -> f64 {
        let mut values = self.scatter.values().to_vec();
        values.sort_by(|a, b| b.total_cmp(a));
        (self.scatter.trace() - values.iter().take(self.kept).sum::<f64>()).max(0.0)
    }

    fn lead(&mut self) {
        if self.law == Law::Leader {
            self.scatter.lead(self.kept, self.dimension);
        }
    }

    pub(super) fn add_dropped(&mut self, energy: f64) {
        if let Law::Exponential { eta } = self.law {
            self.price += eta * (energy / self.norm_square);
        }
    }

    pub(super) fn add_price(&mut self, price: f64) {
        if matches!(self.law, Law::Exponential { .. }) {
            self.price += price;
        }
    }
}

impl Rule for Anchored {
    fn directions(&self) -> &dyn Directions {
        self.scatter.directions()
    }

    fn directions_mut(&mut self) -> &mut dyn Directions {
        self.scatter.directions_mut()
    }

    fn grow(&mut self, columns: usize) {
        self.scatter.grow(columns);
        self.log_weights.resize(self.scatter.values().len(), self.complement.log_weight);
        self.count_others();
    }

    fn mean_energy(&self, i: usize, trials: u64) -> Option<f64> {
        let trials = trials as f64;
        let remembered =
            if self.forget < 1.0 { (1.0 - self.forget.powf(trials)) / (1.0 - self.forget) } else { trials };
        Some(self.scatter.values()[i] / remembered)
    }

    fn resolution(&self) -> f64 {
        // Sets are drawn over all columns, so an additional column changes every draw.
        if matches!(self.law, Law::ProductSets { .. }) { RESOLUTION } else { 0.0 }
    }

    fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    fn complement(&self) -> &Complement {
        &self.complement
    }

    fn update(&mut self, instance: &Observed, norm_square: f64) {
        self.norm_square = norm_square;
        if self.law != Law::Leader {
            self.scatter.complete(instance);
        }
        let dropped = self.scatter.add(self.forget.powi(instance.rows), instance, self.kept);
        self.add_dropped(dropped);
        self.lead();
        self.weigh(norm_square);
    }

    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix> {
        self.scatter.combine(max_pending)
    }

    fn price(&self) -> f64 {
        self.price
    }

    fn reduce(&mut self, rotation: &Matrix) {
        self.scatter.reduce(rotation, self.kept);
        self.weigh(self.norm_square);
    }
}
