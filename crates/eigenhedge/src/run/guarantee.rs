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

use crate::bounds::{self, Setting};
use crate::comparators::Best;
use crate::registry::{Kind, Spec};
use crate::simplex::Multiplicity;
use crate::span::Span;
use crate::subspace::{AnyRule, NormBound, Rule, RunningCenter, Subspace};

/// The quantities that bounds depend on, besides the best loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundInputs {
    /// Trials, including a first one that fixes the center.
    pub rows: u64,
    /// Trials of rows whose missing cells were filled in.
    pub filled_rows: u64,
    /// Squared distance, or more, of the mean of the rows charged from the first center: from the first row, when that
    /// fixes the center. None when it is not known.
    pub offset: Option<f64>,
}

/// A bound on the total expected loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// Where it comes from.
    pub theorem: &'static str,
    /// The bound.
    pub bound: f64,
}

/// The reason why no bound can be stated, or why it cannot be said if it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No theorem covers the learner.
    #[error("no theorem covers this learner")]
    NoTheorem,
    /// No theorem covers the learner with a running center.
    #[error("no theorem covers this learner with a running center")]
    Centering,
    /// Rows were learned from shorter copies.
    #[error("no theorem covers rows that were shortened before they were learned")]
    Clipped,
    /// Rows had missing cells.
    #[error("no theorem covers rows whose missing cells were filled in")]
    Filled,
    /// The center forgets.
    #[error("no theorem covers a center that forgets")]
    ForgettingCenter,
    /// The bound on the norm of rows was not known from the start.
    #[error("the theorem needs a norm bound given in advance")]
    RunningNormBound,
    /// The space has no finite dimension.
    #[error("no theorem covers a space of infinite dimension")]
    InfiniteDimension,
    /// A budget on atoms changes directions, not only weights.
    #[error("no theorem covers a budget on atoms")]
    Budget,
    /// An approximation whose price is not known.
    #[error("an approximation was made whose price is not known")]
    Unpriced,
    /// A rate that changes.
    #[error("no theorem covers this learner with a rate that changes")]
    ChangingRate,
    /// The best loss is not known.
    #[error("the best loss is unknown")]
    UnknownBest,
    /// The best loss is not known well enough to tell.
    #[error("the best loss is not known well enough to tell")]
    WideBracket,
}

/// Rounding error of sums over a long run, at most, as a share of the bound.
const ROUNDING: f64 = 1e-10;

/// Compares a total expected loss with a bound that grows with the best loss. False means that the implementation or the
/// theorem is wrong.
///
/// ```
/// use eigenhedge::comparators::Best;
/// use eigenhedge::internals::{Reason, bound_holds};
/// let holds = |best| bound_holds(7.0, best, |best| Ok(best + 3.0));
/// assert_eq!(holds(Best::Exact(5.0)), Ok(true));
/// assert_eq!(holds(Best::Exact(3.5)), Ok(false));
/// assert_eq!(holds(Best::between(3.0, 5.0)), Err(Reason::WideBracket));
/// assert_eq!(bound_holds(f64::NAN, Best::Exact(5.0), |best| Ok(best)), Ok(false));
/// ```
pub fn bound_holds(
    expected_loss: f64,
    best_loss: Best,
    bound: impl Fn(f64) -> Result<f64, Reason>,
) -> Result<bool, Reason> {
    let within = |best: f64| Ok(expected_loss <= bound(best)? * (1.0 + ROUNDING));
    match (within(best_loss.low())?, within(best_loss.high())?) {
        (true, _) => Ok(true),
        (false, false) => Ok(false),
        (false, true) => Err(Reason::WideBracket),
    }
}

/// The bound of the theorem that covers the learner, for a comparator that lost `best`.
pub(super) fn guarantee<S: Span>(
    spec: &Spec,
    learner: &Subspace<S, AnyRule>,
    inputs: &BoundInputs,
    best: f64,
) -> Result<Guarantee, Reason> {
    let dimension = learner.span().dimension();
    covered(spec, dimension)?;
    if learner.clipped() > 0 {
        return Err(Reason::Clipped);
    }
    if inputs.filled_rows > 0 {
        return Err(Reason::Filled);
    }
    let price = learner.rule().price();
    if !price.is_finite() {
        return Err(Reason::Unpriced);
    }
    let norm_square = learner.norm_square();
    let setting = Setting { norm_square, price, ..Setting::new(spec.eta, spec.kept, dimension) };
    // What is added for the center: to the best loss, and to the bound.
    let (moved, added, theorem) = match spec.center {
        None => (0.0, 0.0, "JMLR Theorem 6"),
        Some(RunningCenter { prior: 0.0, .. }) => {
            let rows = inputs.rows.max(1) as f64;
            let offset = inputs.offset.ok_or(Reason::UnknownBest)?;
            (offset * (rows - 1.0) / rows, norm_square * rows.ln(), "JMLR Corollary 9")
        }
        Some(RunningCenter { prior, .. }) => {
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
        Kind::Tracking | Kind::Anchored if spec.center.is_some_and(|center| !center.is_mean()) => {
            Err(Reason::ForgettingCenter)
        }
        Kind::Tracking if spec.center.is_some() => Err(Reason::Centering),
        Kind::Tracking if spec.self_confident => Err(Reason::ChangingRate),
        Kind::Tracking if spec.norm_bound == NormBound::Running => Err(Reason::RunningNormBound),
        Kind::Anchored if spec.as_printed => Err(Reason::NoTheorem),
        Kind::Tracking | Kind::Anchored => Ok(()),
        _ => Err(Reason::NoTheorem),
    }
}
