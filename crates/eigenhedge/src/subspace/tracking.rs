//! Tracking: mirror descent over subspaces.
//!
//! Setting: instances z in a space of dimension N with `|z|² ≤ Q²`, or symmetric matrices with eigenvalues in `[0,
//! Q²]`. k directions are kept, and `d = N - k` dropped. V is the matrix whose eigenvalues v are the probabilities of
//! being dropped.
//! Update: `log V ← cap(log V - (η/Q²) z zᵀ)` with the rate η, then mixing. The state has the eigenvectors whose `log
//! v` differ from the common one of all others.
//! Guarantee: without mixing, the total expected loss is at most `(η L* + Q² d log(N/d)) / (1 - e^{-η})` for every
//! sequence, where L* is the loss of the best fixed subspace in hindsight (JMLR Theorem 6). For infinite N, `d
//! log(N/d)` is k. The cost of mixing and of the rank cap ([`Rule::price`]) adds to `d log(N/d)`. Fixed share also has
//! a bound relative to a comparator that changes ([`bounds::shifting`](crate::bounds::shifting)).
//! Cost: O(n w) for the coordinates of a row of length n and O(w u²) for the rotation of u uncapped directions in w
//! columns (for n < 512, w ≤ u + max(8, u/3) + 1). Past-average mixing adds one dense eigendecomposition and, without a
//! rank cap, needs all columns ever added.
//! Numerics: weights are logarithms. If a direction and the complement are both at the cap, their weights are
//! bit-identical, and merging them is exact. With fixed share, every direction touched by noise stays slightly
//! different. The cheapest of them may be merged as well, at a cost of at most a given share of the cost of mixing
//! ([`Tracking::with_merging`]).
//! References: Warmuth & Kuzmin, JMLR 2008, Algorithm 5 and section 8; Kuzmin & Warmuth, ICML 2007, Algorithm 3.

use super::frame::Frame;
use super::price;
use super::rule::{Directions, Observed, Rule};
use crate::error::{self, Error};
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Eigen, Matrix, multiplied, multiply};
use crate::mixing::{Blend, Mixing};
use crate::num::kept;
use crate::scratch::{Scratch, refill};
use crate::simplex::{CapScratch, Complement, Multiplicity, Spectrum, cap};
use crate::state::{LARGEST_LOG, State, ensure, entries, nearly, no_limit, within};
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracking {
    eta: f64,
    mixing: Mixing,
    kept: usize,
    uniform: f64,
    frame: Frame,
    complement: Complement,
    past: Option<PastAverage>,
    #[serde(with = "no_limit")]
    max_rank: usize,
    /// Cost of mixing, merging and the rank cap.
    price: f64,
    /// Largest cost of merging directions in a trial, as a share of the cost of mixing.
    merge: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    cap: CapScratch,
    ranking: Vec<f64>,
}

/// Number of directions up to which none is merged below the rank cap: with SIMD, they cost little more than a few.
const FEW: usize = 15;

impl Tracking {
    pub fn new(eta: f64, mixing: Mixing, kept: usize, dimension: Multiplicity) -> Result<Self, Error> {
        let eta = error::positive("eta", eta)?;
        let mixing = mixing.checked()?;
        super::check_kept(kept, dimension)?;
        let complement = super::uniform(kept, dimension);
        let past = matches!(mixing, Mixing::PastAverage { .. }).then(|| PastAverage::new(complement.log_weight));
        let (uniform, frame) = (complement.log_weight, Frame::new(dimension));
        let (max_rank, price, merge, scratch) = (usize::MAX, 0.0, 0.0, Scratch::default());
        Ok(Self { eta, mixing, kept, uniform, frame, complement, past, max_rank, price, merge, scratch })
    }

    /// Merges directions into the complement while that costs at most `share` times the cost of fixed share, except the
    /// last 15 or k + 4.
    pub fn with_merging(mut self, share: f64) -> Result<Self, Error> {
        self.merge = error::not_negative("merge", share)?;
        Ok(self)
    }

    /// Folds the directions least likely to be kept into the complement, which takes over their probability evenly. The
    /// regret bound holds with [`Rule::price`] added.
    pub fn with_max_rank(mut self, max_rank: Option<usize>) -> Result<Self, Error> {
        self.max_rank = max_rank.unwrap_or(usize::MAX);
        error::require(self.max_rank >= self.kept, "max-rank", "at least k", self.max_rank as f64)?;
        Ok(self)
    }

    fn cap(&mut self) {
        self.complement.multiplicity = self.frame.others();
        cap(&mut self.frame.values, &mut self.complement, self.kept, &mut self.scratch.0.cap);
    }

    /// Folds directions into the complement, from the least likely to be kept: all beyond the rank cap, and others
    /// while the cost is within the allowance. The complement's weight is adjusted so that the probabilities of being
    /// kept sum to k. The proof of the theorem telescopes over `log V`, so replacing V by V' adds at most the sum of
    /// the positive eigenvalues of `log V - log V'` to the constant of the bound.
    fn fold(&mut self, allowance: f64) {
        let common = self.complement.log_weight;
        let ranking = &mut self.scratch.0.ranking;
        refill(ranking, self.frame.values.iter().filter(|w| **w != common));
        let explicit = ranking.len();
        let enough = self.max_rank.min(FEW.max(self.kept + 4));
        if explicit <= enough || (explicit <= self.max_rank && allowance == 0.0) {
            return;
        }
        ranking.sort_unstable_by(|a, b| b.total_cmp(a));
        let Multiplicity::Finite(others) = self.frame.others_beyond(explicit) else {
            if explicit > self.max_rank {
                let cut = ranking[explicit - self.max_rank - 1];
                let folded = self.frame.values.iter_mut().filter(|w| **w >= cut);
                // As N grows, a probability p spread over N directions lowers their log v by p in total.
                self.price += folded.map(|w| kept(std::mem::replace(w, common))).sum::<f64>();
            }
            return;
        };
        let (mut dropped, mut price, mut raised) = (0, 0.0, common);
        let mut mass = others as f64 * kept(common);
        for i in 0..explicit - enough {
            mass += kept(ranking[i]);
            let level = (-mass / (others + i as u64 + 1) as f64).ln_1p();
            let lost: f64 = ranking[..=i].iter().map(|w| (w - level).max(0.0)).sum();
            let cost = lost + others as f64 * (common - level).max(0.0);
            if explicit - i <= self.max_rank && cost > allowance {
                break;
            }
            (dropped, price, raised) = (i + 1, cost, level);
        }
        self.price += price;
        if dropped > 0 {
            let cut = ranking[dropped - 1];
            let mut at_the_cut = ranking[..dropped].iter().filter(|w| **w == cut).count();
            for weight in &mut self.frame.values {
                let last = *weight == cut && at_the_cut > 0;
                at_the_cut -= usize::from(last);
                if last || *weight > cut || *weight == common {
                    *weight = raised;
                }
            }
            self.complement.log_weight = raised;
        }
    }

    /// Applies fixed share. Returns the cost.
    fn mix(&mut self) -> f64 {
        let Mixing::FixedShare { alpha } = self.mixing else { return 0.0 };
        let share = Blend::with(self.uniform, alpha);
        let (mut price, explicit) = (0.0, self.frame.values.iter().map(|w| kept(*w)).sum::<f64>());
        // V' has the eigenvectors of V, so the cost is the total decrease of the logarithms.
        for weight in &mut self.frame.values {
            let mixed = share.of(*weight);
            price += (*weight - mixed).max(0.0);
            *weight = mixed;
        }
        let mixed = share.of(self.complement.log_weight);
        let lost = (self.complement.log_weight - mixed).max(0.0);
        price += match self.frame.others() {
            Multiplicity::Finite(others) => others as f64 * lost,
            // Explicit directions lose the share α of their probabilities of being kept. Spread over N → ∞ directions,
            // this mass lowers their log v by the lost mass in total.
            Multiplicity::Infinite => alpha * explicit,
        };
        self.price += price;
        self.complement.log_weight = mixed;
        price
    }
}

impl State for Tracking {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = |rule: &Self| (rule.eta, rule.mixing, rule.kept, rule.max_rank, rule.merge);
        let same = parameters(self) == parameters(built) && nearly(self.uniform, built.uniform);
        ensure(same, "the parameters of the rule must be those of the learner")?;
        self.frame.check_state(&built.frame)?;
        price(self.price)?;
        entries("logarithms of probabilities", &self.frame.values, -LARGEST_LOG..=0.0)?;
        within("the common logarithm of the other probabilities", self.complement.log_weight, -LARGEST_LOG..=0.0)?;
        let (complement, dimension) = (&self.complement, self.frame.dimension);
        let spectrum = Spectrum { log_weights: &self.frame.values, complement, kept: self.kept, dimension };
        match (&self.past, &built.past) {
            (None, None) => spectrum.check(),
            (Some(past), Some(_)) => {
                // After evictions the sum of the past matrices V is incomplete, so the total is not checked.
                spectrum.check_weights()?;
                past.check_state(self.frame.columns())
            }
            _ => Err(Error::State("the mixing must be that of the learner")),
        }
    }
}

impl Rule for Tracking {
    fn directions(&self) -> &dyn Directions {
        &self.frame
    }

    fn directions_mut(&mut self) -> &mut dyn Directions {
        &mut self.frame
    }

    fn grow(&mut self, columns: usize) {
        self.frame.grow(columns);
        if let Some(past) = &mut self.past {
            past.grow(columns);
        }
    }

    fn log_weights(&self) -> &[f64] {
        &self.frame.values
    }

    fn complement(&self) -> &Complement {
        &self.complement
    }

    fn update(&mut self, instance: &Observed, norm_square: f64) {
        let rate = self.eta / (norm_square / instance.unit_square);
        let changed = self.frame.change_by_dyads(instance, -rate, self.complement.log_weight);
        if changed {
            self.cap();
        }
        let paid = self.mix();
        if changed {
            self.fold(self.merge * paid);
            let common = self.complement.log_weight;
            self.frame.retain(|_, weight| weight != common);
        }
        if let (Some(past), Mixing::PastAverage { alpha }) = (&mut self.past, self.mixing) {
            // V' ≥ (1-α) V, and the logarithm is operator monotone. Each of the d dropped directions loses at most
            // -log(1-α).
            self.price += match self.frame.dimension {
                // No finite price is known for folding directions of past matrices.
                _ if self.max_rank != usize::MAX => f64::INFINITY,
                Multiplicity::Finite(n) => -(-alpha).ln_1p() * (n - self.kept as u64) as f64,
                Multiplicity::Infinite => f64::INFINITY,
            };
            past.mix(alpha, self.max_rank, &mut self.frame, &mut self.complement);
        }
        self.complement.multiplicity = self.frame.others();
    }

    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix> {
        // The sum of the past matrices V is in coordinates of the columns. Without a rank cap it needs all columns.
        if self.past.is_some() && self.max_rank == usize::MAX {
            return None;
        }
        let dimension = self.frame.dimension;
        let rotation = self.frame.combine(max_pending)?;
        self.past.iter_mut().for_each(|past| past.combine(rotation, dimension));
        Some(rotation)
    }

    fn price(&self) -> f64 {
        self.price
    }

    fn reduce(&mut self, rotation: &Matrix) {
        self.frame.reduce(rotation, self.complement.log_weight);
        self.frame.values.iter_mut().for_each(|weight| *weight = weight.min(0.0));
        self.cap();
        if let Some(past) = &mut self.past {
            past.reduce(rotation);
        }
    }
}

/// Mixing with the average of all previous matrices V. Update in trial t: `V ← (1-α) V + α · mean(V_0 … V_{t-1})`, with
/// the uniform start V_0. The sum of these matrices is dense in the coordinates of the columns, with a common
/// eigenvalue outside. If d of N directions are dropped, every eigenvalue of the result is at least `α d/(N t)`, so
/// logarithms are not needed. Guarantee: none proved for subspaces. Cost: one dense eigendecomposition per trial over
/// all columns ever added, unless a rank cap folds the least likely directions into the complement. References:
/// Bousquet & Warmuth, JMLR 2002; Warmuth & Kuzmin, JMLR 2008, equation (20).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PastAverage {
    sum: Matrix,
    sum_outside: f64,
    terms: f64,
    #[serde(skip)]
    scratch: Scratch<PastScratch>,
}

#[derive(Debug, Clone, Default)]
struct PastScratch {
    mixed: Matrix,
    scaled: Matrix,
    eigen: Eigen,
}

/// Largest number of terms that can be counted exactly.
const LARGEST_TERMS: f64 = 9e15;

impl PastAverage {
    pub fn new(uniform: f64) -> Self {
        Self { sum: Matrix::default(), sum_outside: uniform.exp(), terms: 1.0, scratch: Scratch::default() }
    }

    pub fn check_state(&self, columns: usize) -> Result<(), Error> {
        within("the number of terms of the past", self.terms, 1.0..=LARGEST_TERMS)?;
        shape("the sum of the past", &self.sum, columns, columns)?;
        // Every term has eigenvalues between 0 and 1.
        let most = (1.0 + 1e-6) * self.terms;
        matrix_entries("sum of the past", &self.sum, -most..=most)?;
        within("the common value of the past", self.sum_outside, 0.0..=most)
    }

    pub fn grow(&mut self, columns: usize) {
        let before = self.sum.columns();
        self.sum.resize(columns, columns);
        for j in before..columns {
            self.sum.column_mut(j)[j] = self.sum_outside;
        }
    }

    pub fn reduce(&mut self, rotation: &Matrix) {
        let half = multiplied(rotation.view().transpose(), self.sum.view());
        multiply(&mut self.sum, half.view(), rotation.view());
    }

    pub fn mix(&mut self, alpha: f64, max_rank: usize, frame: &mut Frame, complement: &mut Complement) {
        let rotation = &frame.rotation;
        let PastScratch { mixed, scaled, eigen } = &mut self.scratch.0;
        let size = self.sum.columns();
        let outside = complement.log_weight.exp();
        // V = v I + Σ (v_i - v) b_i b_iᵀ, with the value v of the complement and the explicit directions b_i.
        mixed.reset(size, size);
        scaled.clone_from(rotation);
        scaled.scale_columns(|j| frame.values[j].exp() - outside);
        matmul(mixed.view_mut(), Accum::Replace, scaled.view(), rotation.view().transpose(), 1.0 - alpha, Par::Seq);
        let share = alpha / self.terms;
        for j in 0..size {
            mixed.column_mut(j)[j] += (1.0 - alpha) * outside;
            for (m, s) in mixed.column_mut(j).iter_mut().zip(self.sum.column(j)) {
                *m += share * s;
            }
        }
        let mixed_outside = (1.0 - alpha) * outside + share * self.sum_outside;
        self.terms += 1.0;
        self.sum_outside += mixed_outside;
        for j in 0..size {
            for (s, m) in self.sum.column_mut(j).iter_mut().zip(mixed.column(j)) {
                *s += m;
            }
        }
        eigen.compute(mixed.view());
        let kept = size.min(max_rank);
        // The complement takes the mean of its own value and the values beyond the rank cap.
        let folded: f64 = eigen.values[kept..].iter().sum();
        let weight = match frame.others_beyond(size) {
            Multiplicity::Finite(others) if kept < size => {
                (folded + others as f64 * mixed_outside) / ((size - kept) as f64 + others as f64)
            }
            _ => mixed_outside,
        };
        complement.log_weight = weight.ln().min(0.0);
        frame.replace(&eigen.vectors, eigen.values[..kept].iter().map(|v| v.max(f64::MIN_POSITIVE).ln().min(0.0)));
    }

    /// Spreads the trace outside the new columns evenly over the other directions.
    pub fn combine(&mut self, rotation: &Matrix, dimension: Multiplicity) {
        let (before, columns) = (self.sum.trace(), self.sum.columns());
        self.reduce(rotation);
        if let Multiplicity::Finite(n) = dimension {
            let outside = before - self.sum.trace() + (n - columns as u64) as f64 * self.sum_outside;
            self.sum_outside = outside / (n - rotation.columns() as u64).max(1) as f64;
        }
    }
}
