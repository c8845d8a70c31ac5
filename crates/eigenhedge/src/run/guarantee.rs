//! Which theorem covers a learner, and what it promises for the rows that came.
//!
//! | learner | theorem |
//! |---|---|
//! | tracking, not centered, norm bound given | JMLR Theorem 6; mixing and rank cap are priced |
//! | anchored, not centered | JMLR Theorem 6 |
//! | anchored, centered | JMLR Theorem 8; around the running mean Corollary 9, without its first row |
//! | anchored, self-confident rate | [`bounds::self_confident`] |
//!
//! Around the running mean the first row x₀ does nothing but fix the center, and is charged to nobody. From then on the
//! learner is that of Theorem 8 with one imaginary row at x₀ (ε = 1). A comparator around the mean m of the T - 1 rows
//! charged pays `(x₀ - m)ᵀ V (x₀ - m)` for the imaginary row, less what a better center saves: at most `|x₀ - m|² (T-1)/T`,
//! which is added to its loss. The price of the moving center, `Q² Σ_{t=2}^{T} 1/t`, is at most `Q² log T`. The term R² of
//! Corollary 9, the loss of the first row, is gone.
//!
//! Anchored keeps its promise when the norm bound is the largest norm so far: its rates then never grow, which is all that
//! the proof asks, and rows longer than all before them are charged ([`Subspace::surprise`]). Tracking does not: its proof
//! telescopes with one rate. Everything else has no theorem.

use super::verdict::Reason;
use crate::bounds::{self, Setting};
use crate::registry::{Kind, Spec};
use crate::simplex::Multiplicity;
use crate::span::Span;
use crate::subspace::{AnyRule, NormBound, Rule, Subspace};
use serde::Serialize;

/// The quantities that bounds depend on, besides the best loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundInputs {
    /// Trials, including a first one that fixes the center.
    pub rows: u64,
    /// Squared distance, or more, of the mean of the rows charged from the first center: from the first row, when that
    /// fixes the center. None when it is not known.
    pub offset: Option<f64>,
}

/// A bound on the total expected loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Guarantee {
    /// Where it comes from.
    pub theorem: &'static str,
    /// The bound.
    pub bound: f64,
}

/// The bound of the theorem that covers the learner, for a comparator that lost `best`.
pub fn guarantee<S: Span>(
    spec: &Spec,
    learner: &Subspace<S, AnyRule>,
    inputs: &BoundInputs,
    best: f64,
) -> Result<Guarantee, Reason> {
    let dimension = learner.span().dimension();
    covered(spec, dimension)?;
    let price = learner.rule().price();
    if !price.is_finite() {
        return Err(Reason::Unpriced);
    }
    let norm_square = learner.norm_square();
    let setting = Setting { norm_square, price, ..Setting::new(spec.eta, spec.kept, dimension) };
    // What is added for the center: to the best loss, and to the bound.
    let (moved, added, theorem) = match spec.center {
        None => (0.0, 0.0, "JMLR Theorem 6"),
        Some(0.0) => {
            let rows = inputs.rows.max(1) as f64;
            let offset = inputs.offset.ok_or(Reason::UnknownBest)?;
            (offset * (rows - 1.0) / rows, norm_square * rows.ln(), "JMLR Corollary 9")
        }
        Some(prior) => {
            let offset = inputs.offset.ok_or(Reason::UnknownBest)?;
            let harmonic = 1.0 + (inputs.rows.saturating_sub(1) as f64 / (prior + 1.0)).ln_1p();
            (prior * offset, norm_square * harmonic, "JMLR Theorem 8")
        }
    };
    let (theorem, bound) = if spec.self_confident {
        let best = best + moved + price * learner.scale() + learner.surprise();
        ("self-confident rate", bounds::self_confident(&setting, best))
    } else {
        (theorem, bounds::uncentered(&setting, best + moved).map(|bound| bound + learner.surprise()))
    };
    let bound = bound.ok_or(Reason::InfiniteDimension)? + added;
    Ok(Guarantee { theorem, bound })
}

/// What the options alone rule out, the most fundamental reason first.
fn covered(spec: &Spec, dimension: Multiplicity) -> Result<(), Reason> {
    match spec.learner {
        Kind::Tracking | Kind::Anchored if spec.budget.is_some() => Err(Reason::Budget),
        Kind::Tracking | Kind::Anchored if dimension == Multiplicity::Infinite => Err(Reason::InfiniteDimension),
        Kind::Tracking if spec.center.is_some() => Err(Reason::Centering),
        Kind::Tracking if spec.self_confident => Err(Reason::ChangingRate),
        Kind::Tracking if spec.norm_bound == NormBound::Running => Err(Reason::RunningNormBound),
        Kind::Anchored if spec.as_printed => Err(Reason::NoTheorem),
        Kind::Tracking | Kind::Anchored => Ok(()),
        _ => Err(Reason::NoTheorem),
    }
}
