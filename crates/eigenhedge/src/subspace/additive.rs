//! Additive rule: gradient descent on the expected projection.
//!
//! Setting: instances z with `|z|² ≤ Q²` in dimension N. `P̄` is the expected projection, with trace k (at most k for
//! infinite N, where it starts at zero). Its eigenvalues p are the probabilities that directions are kept.
//! Update: `P̄ ← project(P̄ + (η/Q²) z zᵀ)`. The Euclidean projection onto `{0 ≤ P̄ ≤ I, tr P̄ = k}` shifts all
//! eigenvalues by the same number and clips them to [0, 1].
//! Guarantee: without a center and with constant Q², the total expected loss is at most `L* + Q² k(N-k)/(2ηN) + η/(2Q²)
//! Σ |z|⁴`, where L* is the loss of the best fixed subspace and `k(N-k)/N` is k for infinite N. For a comparator that
//! changes, see [`bounds::additive`](crate::bounds::additive).
//! Cost: as for [`super::Tracking`].
//! Numerics: probabilities are stored, not their logarithms, because the projection sets some to exactly 0 or 1.
//! References: Warmuth & Kuzmin, *On-line PCA*, slides 2007 ("two families"); Nie, Kotłowski & Warmuth, JMLR 2016.

use super::frame::Frame;
use super::rule::{Directions, Observed, Rule};
use crate::error::{self, Error};
use crate::linalg::Matrix;
use crate::num::kept;
use crate::scratch::{Scratch, refill};
use crate::simplex::{Complement, Multiplicity, ShiftScratch, Spectrum, shift_and_clip};
use crate::state::{State, ensure, entries, length, within};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Additive {
    eta: f64,
    kept: usize,
    /// Explicit directions. The value of each is the probability that it is kept.
    frame: Frame,
    /// Probability that a direction of the complement is kept.
    common: f64,
    /// Log-probability `log v` that each explicit direction is dropped.
    log_weights: Vec<f64>,
    complement: Complement,
    #[serde(skip)]
    scratch: Scratch<ShiftScratch>,
}

impl Additive {
    pub fn new(eta: f64, kept_count: usize, dimension: Multiplicity) -> Result<Self, Error> {
        let eta = error::positive("eta", eta)?;
        super::check_kept(kept_count, dimension)?;
        let complement = super::uniform(kept_count, dimension);
        Ok(Self {
            eta,
            kept: kept_count,
            frame: Frame::new(dimension),
            common: kept(complement.log_weight),
            log_weights: Vec::new(),
            complement,
            scratch: Scratch::default(),
        })
    }

    fn project(&mut self) {
        let others = self.frame.others();
        self.common = shift_and_clip(&mut self.frame.values, self.common, others, self.kept, &mut self.scratch.0);
    }

    fn weigh(&mut self) {
        self.complement = Complement { log_weight: (-self.common).ln_1p(), multiplicity: self.frame.others() };
        refill(&mut self.log_weights, self.frame.values.iter().map(|p| (-p).ln_1p()));
    }
}

impl State for Additive {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (self.eta, self.kept) == (built.eta, built.kept);
        ensure(parameters, "the parameters of the rule must be those of the learner")?;
        self.frame.check_state(&built.frame)?;
        entries("probabilities of being kept", &self.frame.values, 0.0..=1.0)?;
        within("the common probability of being kept", self.common, 0.0..=1.0)?;
        length("logarithms of probabilities", self.log_weights.len(), self.frame.values.len())?;
        let Self { log_weights, complement, kept, .. } = self;
        Spectrum { log_weights, complement, kept: *kept, dimension: self.frame.dimension }.check()
    }
}

impl Rule for Additive {
    fn directions(&self) -> &dyn Directions {
        &self.frame
    }

    fn directions_mut(&mut self) -> &mut dyn Directions {
        &mut self.frame
    }

    fn grow(&mut self, columns: usize) {
        self.frame.grow(columns);
    }

    fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    fn complement(&self) -> &Complement {
        &self.complement
    }

    fn update(&mut self, instance: &Observed, norm_square: f64) {
        let rate = self.eta / (norm_square / instance.unit_square);
        if self.frame.change_by_dyads(instance, rate, self.common) {
            self.project();
            let common = self.common;
            self.frame.retain(|_, p| p != common);
            self.weigh();
        }
    }

    fn rotation(&mut self, max_pending: usize) -> Option<&Matrix> {
        self.frame.combine(max_pending)
    }

    fn reduce(&mut self, rotation: &Matrix) {
        self.frame.reduce(rotation, self.common);
        self.project();
        self.weigh();
    }
}
