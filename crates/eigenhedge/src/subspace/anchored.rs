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

use super::rule::{Directions, Observed, Rule};
use super::scatter::{CappedScatter, Scatter};
use super::{check_scale, price};
use crate::error::{self, Error};
use crate::experts::SetDistribution;
use crate::linalg::Matrix;
use crate::num::log_sum_exp;
use crate::scratch::{Scratch, refill, zero};
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

#[derive(Debug, Clone, Default)]
pub(super) struct ProductScratch {
    sets: SetDistribution,
    /// Log-probability of j members among the directions not visited yet.
    reach: Vec<f64>,
    taken: Vec<f64>,
    passed: Vec<f64>,
}

/// Probabilities that directions are dropped if sets of k kept directions have product weights. Setting: weights
/// `e^{g_i}` of w explicit directions, and M further directions of weight 1. The result is the log-probability of each
/// direction not to be in the set. O(w k). Numerics: sets with c of the equivalent further directions enter as the
/// binomial coefficient `C(M, c)` times an entry of the table of the explicit weights. The backward pass adds only
/// positive terms, as logarithms, for both kept and dropped directions, so that v keeps its relative precision at any
/// size. The error of the logarithms is the rounding error of the largest `k g`. Replaces each log-weight of being kept
/// by the log-probability of being dropped.
pub(super) fn drop_by_products(
    log_weights: &mut [f64],
    complement: &mut Complement,
    kept: usize,
    scratch: &mut ProductScratch,
) {
    let Multiplicity::Finite(others) = complement.multiplicity else {
        unreachable!("among infinitely many directions no single one is ever kept");
    };
    let ProductScratch { sets, reach, taken, passed } = scratch;
    sets.fill(log_weights, kept);
    zero(reach, kept + 1);
    let mut binomial = 0.0;
    for drawn in 0..=kept {
        reach[kept - drawn] = binomial + sets.entry(log_weights.len(), kept - drawn);
        let left = others.saturating_sub(drawn as u64);
        binomial += (left as f64 / (drawn + 1) as f64).ln();
    }
    let total = log_sum_exp(reach.iter().copied());
    reach.iter_mut().for_each(|r| *r -= total);
    complement.log_weight = if others == 0 { 0.0 } else { drop_from_block(reach, others as f64) };
    for i in (0..log_weights.len()).rev() {
        let weight = log_weights[i];
        taken.clear();
        passed.clear();
        for (needed, &log_probability) in reach.iter().enumerate() {
            // The ratio of table entries is undefined for a state of probability zero.
            let shift = log_probability - sets.entry(i + 1, needed);
            let possible = log_probability > f64::NEG_INFINITY;
            passed.push(if possible { shift + sets.entry(i, needed) } else { f64::NEG_INFINITY });
            let with = if needed > 0 { weight + sets.entry(i, needed - 1) } else { f64::NEG_INFINITY };
            taken.push(if possible { shift + with } else { f64::NEG_INFINITY });
        }
        log_weights[i] = log_dropped(taken.iter().map(|t| t.exp()).sum(), || log_sum_exp(passed.iter().copied()));
        for (needed, r) in reach.iter_mut().enumerate() {
            let with = taken.get(needed + 1).copied().unwrap_or(f64::NEG_INFINITY);
            *r = log_sum_exp([passed[needed], with].into_iter());
        }
    }
}

/// Returns `log v` of `others` equal directions, for the log-distribution of the number of members among the rest.
fn drop_from_block(reach: &[f64], others: f64) -> f64 {
    let kept = reach.len() - 1;
    let members = |j: usize| (kept - j) as f64 / others;
    let share: f64 = reach.iter().enumerate().map(|(j, r)| r.exp() * members(j)).sum();
    log_dropped(share, || log_sum_exp(reach.iter().enumerate().map(|(j, r)| r + (-members(j).min(1.0)).ln_1p())))
}

/// Returns `log(1 - kept)`, without cancellation.
fn log_dropped(kept: f64, dropped: impl FnOnce() -> f64) -> f64 {
    if kept < 0.5 { (-kept).ln_1p() } else { dropped().min(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::num::kept as kept_of;

    /// Computes the probabilities of being dropped by enumerating all sets of `kept` indices.
    fn enumerated(log_weights: &[f64], kept: usize) -> Vec<f64> {
        let n = log_weights.len();
        let (mut total, mut without) = (0.0, vec![0.0; n]);
        for set in (0..1usize << n).filter(|set| set.count_ones() as usize == kept) {
            let weight = (0..n).filter(|i| set >> i & 1 == 1).map(|i| log_weights[i]).sum::<f64>().exp();
            total += weight;
            (0..n).filter(|i| set >> i & 1 == 0).for_each(|i| without[i] += weight);
        }
        without.iter().map(|w| w / total).collect()
    }

    #[test]
    fn probabilities_equal_enumeration_of_all_sets_with_and_without_a_block() {
        let mut random = Random::seeded(3);
        for case in 0..300 {
            let (explicit, others) = (random.below(8), random.below(5));
            let n = explicit + others;
            if n < 2 {
                continue;
            }
            let kept = 1 + random.below(n - 1);
            let spread = [0.1, 3.0, 30.0][case % 3];
            let mut log_weights: Vec<f64> = (0..explicit).map(|_| spread * random.uniform()).collect();
            let mut all = log_weights.clone();
            all.resize(n, 0.0);
            let wanted = enumerated(&all, kept);
            let mut complement = Complement::finite(0.0, others as u64);
            drop_by_products(&mut log_weights, &mut complement, kept, &mut ProductScratch::default());
            for (i, wanted) in wanted.iter().enumerate() {
                let found = log_weights.get(i).copied().unwrap_or(complement.log_weight).exp();
                assert!((found - wanted).abs() <= 1e-12 * wanted, "case {case}, {i}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn large_weights_and_blocks_keep_the_total_and_the_digits() {
        let mut log_weights = [3000.0, 2000.0, 20.0, 0.0, 0.0];
        let mut complement = Complement::finite(0.0, 1_000_000_000_000);
        drop_by_products(&mut log_weights, &mut complement, 3, &mut ProductScratch::default());
        let total: f64 = log_weights.iter().map(|l| kept_of(*l)).sum::<f64>() + 1e12 * kept_of(complement.log_weight);
        assert!((total - 3.0).abs() <= 1e-9, "{total}");
        // Total weight of all sets without the first direction, divided by that of all sets with the first two.
        let (block, third) = (1e12 + 2.0, 20f64.exp());
        let wanted = -3000.0 + (block * (block - 1.0) / 2.0 + third * block).ln() - (block + third).ln();
        assert!((log_weights[0] - wanted).abs() < 1e-11 * 3000.0, "{} against {wanted}", log_weights[0]);
    }
}
