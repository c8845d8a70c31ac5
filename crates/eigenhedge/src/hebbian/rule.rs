//! The three learning rules of Hebbian learners.

use crate::error::{Error, at_least_one, positive, require};
use crate::linalg::Matrix;
use crate::num::dot;
use serde::{Deserialize, Serialize};

/// Learning rule: the update of the weight vectors from the outputs `y_p = w_p·z`. γ is the step size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Rule {
    /// Oja's rule for one vector: `w ← w + γ y (z - y w)`.
    Oja,
    /// APEX: vectors with lateral weights `a_p` and `ỹ_p = y_p + Σ_{j<p} a_pj y_j`:
    /// `w_p ← w_p + γ ỹ_p (z - ỹ_p w_p)` and `a_p ← a_p - γ ỹ_p (y_{<p} + ỹ_p a_p)`. The lateral weights converge to
    /// zero. With a `stage`, each vector but the last learns from this number of rows before it is frozen and the next
    /// starts.
    Apex { stage: Option<u64> },
    /// All vectors at once: `w_p ← w_p + γ y_p (z - β Σ_{j<p} y_j w_j - y_p w_p)` with the deflation weight β. β = 1 is
    /// the generalized Hebbian algorithm. Vector p converges to component p if `(1-β) λ_j < λ_p` for all j < p.
    Simultaneous { beta: f64 },
}

impl Rule {
    pub(super) fn check(&self, components: usize) -> Result<(), Error> {
        match self {
            Self::Oja => require(components <= 1, "components", "1 for Oja's rule", components as f64).map(drop),
            Self::Apex { stage: Some(stage) } => at_least_one("stage", usize::from(*stage > 0)),
            Self::Simultaneous { beta } => positive("beta", *beta).map(drop),
            _ => Ok(()),
        }
    }

    /// Returns the number of trials from which a component has learned, or `None` while it does not learn.
    fn clock(&self, component: usize, components: usize, trial: u64) -> Option<u64> {
        let Self::Apex { stage: Some(stage) } = self else { return Some(trial) };
        let clock = trial.checked_sub(stage.saturating_mul(component as u64)).filter(|clock| *clock > 0)?;
        (clock <= *stage || component + 1 == components).then_some(clock)
    }

    /// Fills an empty step. The step size is divided by `scale`.
    pub(super) fn plan(&self, rate: &Rate, trial: u64, scale: f64, seen: RuleInputs<'_>, step: &mut VectorStep) {
        let RuleInputs { outputs, lateral } = seen;
        for (p, y) in outputs.iter().enumerate() {
            let (response, beta) = match self {
                Self::Oja => (*y, 0.0),
                Self::Apex { .. } => (y + dot(&lateral.column(p)[..p], &outputs[..p]), 0.0),
                Self::Simultaneous { beta } => (*y, *beta),
            };
            let gamma = self.clock(p, outputs.len(), trial).map_or(0.0, |clock| rate.at(clock));
            // Uses the square root, because the inverse of the scale could overflow.
            let relative = response / scale.sqrt();
            step.push.push(gamma * relative / scale.sqrt());
            step.keep.push(1.0 - gamma * relative * relative);
            step.remove.push(beta * y);
        }
    }

    pub(super) fn is_lateral(&self) -> bool {
        matches!(self, Self::Apex { .. })
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RuleInputs<'a> {
    pub outputs: &'a [f64],
    /// Lateral weights. Column p contains `a_p` in its first p entries.
    pub lateral: &'a Matrix,
}

/// Update of the weight vectors `w_1 … w_P` toward a point. The deflated point d starts as `scale` times the point. For
/// each vector in order, `w ← keep·w + push·d` and `d ← d - remove·w`, with the w before the update. This applies
/// equally to vectors, to coefficients over a dictionary and to a triangular factor.
#[derive(Debug, Clone, Default)]
pub struct VectorStep {
    pub scale: f64,
    pub keep: Vec<f64>,
    pub push: Vec<f64>,
    pub remove: Vec<f64>,
}

impl VectorStep {
    pub(super) fn clear(&mut self) {
        self.scale = 1.0;
        self.keep.clear();
        self.push.clear();
        self.remove.clear();
    }

    pub(super) fn is_still(&self) -> bool {
        self.push.iter().all(|push| *push == 0.0)
    }

    pub(super) fn deflates(&self) -> bool {
        self.remove.iter().rev().skip(1).any(|remove| *remove != 0.0)
    }
}

pub(super) fn move_column(column: &mut [f64], point: &mut [f64], keep: f64, push: f64, remove: f64) {
    if remove == 0.0 {
        for (w, d) in column.iter_mut().zip(point) {
            *w = keep * *w + push * *d;
        }
        return;
    }
    for (w, d) in column.iter_mut().zip(point) {
        let before = *w;
        *w = keep * before + push * *d;
        *d -= remove * before;
    }
}

/// Step size γ(t), relative to the square of the norm bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Rate {
    /// Constant step `γ(t) = η`. The vectors follow drift, but keep fluctuating around the solution.
    Constant { eta: f64 },
    /// Decreasing step `γ(t) = η / (1 + (t-1)/half)`. The vectors converge on a stationary stream.
    Decreasing { eta: f64, half: f64 },
}

impl Rate {
    /// Returns the step size γ(t) of a trial. Trials are counted from 1.
    pub fn at(&self, trial: u64) -> f64 {
        match self {
            Self::Constant { eta } => *eta,
            Self::Decreasing { eta, half } => eta / (1.0 + (trial as f64 - 1.0) / half),
        }
    }

    /// Returns the step size η of the first trial.
    pub fn eta(&self) -> f64 {
        match self {
            Self::Constant { eta } | Self::Decreasing { eta, .. } => *eta,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        positive("eta", self.eta())?;
        if let Self::Decreasing { half, .. } = self {
            positive("step-half-life", *half)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_each_other_and_the_last_never_ends() {
        let rule = Rule::Apex { stage: Some(3) };
        let clocks = |p| (1..=9).map(|t| rule.clock(p, 3, t).unwrap_or(0)).collect::<Vec<_>>();
        assert_eq!(clocks(0), [1, 2, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(clocks(1), [0, 0, 0, 1, 2, 3, 0, 0, 0]);
        assert_eq!(clocks(2), [0, 0, 0, 0, 0, 0, 1, 2, 3]);
        assert_eq!(rule.clock(2, 3, 1000), Some(994));
        assert_eq!(Rule::Apex { stage: None }.clock(2, 3, 5), Some(5));
    }

    #[test]
    fn a_decreasing_step_starts_at_eta_and_is_halved_after_half() {
        let rate = Rate::Decreasing { eta: 0.4, half: 10.0 };
        assert_eq!((rate.at(1), rate.at(11)), (0.4, 0.2));
        assert!((rate.at(10_001) * 10_000.0 / 4.0 - 1.0).abs() < 2e-3);
    }
}
