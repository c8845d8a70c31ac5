//! Anchored learners: the spectrum is a function of the scatter matrix of all rows.
//!
//! Setting: instances z with `|z|² ≤ Q²`. k of N directions are kept, and `d = N - k` are dropped. `C` is the running
//! scatter matrix ([`Scatter`]), with eigenvalues λ. `V` is the matrix whose eigenvalues v are the probabilities that
//! directions are dropped, and η is the rate.
//!
//! Update, by [`Law`], after `C ← f C + z zᵀ` with a forgetting factor f:
//! - `Exponential`: `log V = cap(-(η/Q²) C)`, follow the regularized leader.
//! - `ProductSets`: Hedge over sets. A set of k eigenvectors is kept with a probability
//!   proportional to the product of the `e^{ηλ/Q²}` of its members. V has the exact probabilities
//!   of being dropped under this distribution.
//! - `Leader`: the limit η → ∞. The top k eigenvectors are kept. Eigenvectors whose eigenvalues are
//!   tied with the k-th share the remaining places evenly.
//!
//! Guarantee: `Exponential` without forgetting has the bound of [`super::Tracking`] (JMLR Theorem
//! 6, and with a center Theorem 8 and Corollary 9). For `ProductSets` the same bound is conjectured
//! (JMLR section 5.1). It is proved for sets of experts with an extra factor d. The leader has no
//! bound: a stream can force its loss to N/d times the best loss.
//!
//! A rank cap R keeps only the R largest eigenpairs of C. Dropping the eigenvalue λ lowers the potential of the proof,
//! `min_V [η tr(V C)/Q² + Δ(V, V₀)]` with the relative entropy Δ and the uniform start V₀, by at most `ηλ/Q²`. The
//! bound remains valid with the sum of these terms added to its constant ([`Rule::price`]). `ProductSets` and
//! [`Anchored::capped_as_printed`] count every direction seen, so they have no rank cap.
//!
//! Cost: that of [`Scatter`]. `ProductSets` adds O(w k) for w columns of the span.
//!
//! Numerics: the absolute error of eigenvalues is the rounding error of the largest, so the error of `log v` is about
//! `η ε λ_max / Q²` with the machine epsilon ε (k times that for `ProductSets`).
//!
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

/// Share of the largest squared norm up to which `ProductSets` treats a squared residual as a rounding error. This
/// changes losses by less than 1e-9.
const RESOLUTION: f64 = 1e-20;

/// Map from the eigenvalues λ of the scatter matrix C to probabilities of being kept. Rows have norm at most Q.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Exponential law `log V = cap(-(η/Q²) C)`. The eigenvalues of V are the probabilities of being dropped.
    Exponential { eta: f64 },
    /// Distribution over sets of k eigenvectors, with weights that are products of `e^{ηλ/Q²}`.
    ProductSets { eta: f64 },
    /// Keeps the top k eigenvectors. Eigenvectors tied at the boundary share the remaining places evenly.
    Leader,
}

/// Rule whose spectrum is a function of the scatter matrix of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anchored {
    law: Law,
    pub(super) forget: f64,
    as_printed: bool,
    kept: usize,
    dimension: Multiplicity,
    pub(super) scatter: Scatter,
    /// Cost of dropped eigenvalues and merges, which is added to the constant of the regret bound.
    price: f64,
    /// Divisor Q² of the eigenvalues in the most recent update.
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

/// Difference from the k-th largest eigenvalue, as a share of it, up to which the leader treats eigenvalues as tied.
const TIE: f64 = 1e-12;
/// Rounding error of small eigenvalues, as a share of the largest one.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl Anchored {
    /// Creates a rule that keeps `kept` directions. Each trial multiplies the weights of earlier rows by `forget`.
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

    /// Limits the number of eigenpairs. The regret bound of the exponential law holds with [`Rule::price`] added to its
    /// constant. Returns `Err` for `max_rank < k`, for product sets, and after [`Self::capped_as_printed`].
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

    /// Caps only the directions seen so far instead of all N, as in the printed form of ICML Algorithm 6.
    ///
    /// All unseen directions are dropped. While at most k directions have been seen, all of them are kept. The printed
    /// form agrees with the default once `Σ (1 - e^{-ηλ/Q²}) ≥ k`, summed over the eigenvalues λ of the scatter matrix.
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

    /// Computes the probabilities of all directions from the current eigenvalues, divided by `norm_square`.
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

    /// Returns the directions in coordinates of the columns, their values, and the rank cap. Returns `None` without a
    /// cap.
    pub(super) fn capped_pairs(&self) -> Option<(&Matrix, &[f64], usize)> {
        let Scatter::Capped(capped) = &self.scatter else { return None };
        Some(capped.pairs())
    }

    /// Replaces the values of a rule with a rank cap. The columns of the span become the directions.
    pub(super) fn replace_pairs(&mut self, values: Vec<f64>, dropped: f64, norm_square: f64) {
        self.norm_square = norm_square;
        if let Scatter::Capped(capped) = &mut self.scatter {
            capped.replace_pairs(values);
        }
        self.add_dropped(dropped);
        self.weigh(norm_square);
    }

    /// Replaces the scatter matrix. Computes only the largest eigenpairs that the probabilities require.
    pub(super) fn replace_by_leading(&mut self, matrix: Matrix, norm_square: f64) {
        let stored = if self.as_printed { usize::MAX } else { self.kept };
        self.scatter.replace_by_leading(matrix, stored, self.dimension);
        self.weigh_all(norm_square);
    }

    /// Computes the probabilities with a new divisor of the eigenvalues. If only leading eigenpairs
    /// are stored, computes more of them until the stored direction with the smallest eigenvalue
    /// and all directions that are not stored are dropped with certainty.
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

    /// Returns the loss of the best k-dimensional subspace: the sum of all but the k largest eigenvalues.
    pub(super) fn best_loss(&self) -> f64 {
        let mut values = self.scatter.values().to_vec();
        values.sort_by(|a, b| b.total_cmp(a));
        (self.scatter.trace() - values.iter().take(self.kept).sum::<f64>()).max(0.0)
    }

    /// Stores only the leading eigenpairs if the law is the leader and there are many columns.
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

    /// Adds to [`Rule::price`]. Only the exponential law has a price.
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
