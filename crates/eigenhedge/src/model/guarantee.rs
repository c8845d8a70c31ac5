//! Theorem that covers a learner, and its bound for the rows so far.
//!
//! | learner | theorem |
//! |---|---|
//! | tracking, not centered, given norm bound | JMLR Theorem 6, including the price of mixing and rank cap |
//! | tracking as above, with fixed share, against a comparator that changes | [`bounds::shifting`] |
//! | additive, not centered, given norm bound, also against a comparator that changes | [`bounds::additive`] |
//! | anchored, not centered | JMLR Theorem 6 |
//! | anchored, centered | JMLR Theorem 8; around the running mean Corollary 9, without its first row |
//! | anchored, self-confident rate | [`bounds::self_confident`] |
//! | tracking and anchored in a space of infinite dimension | [`bounds::uncentered`] with its limit D = k |
//!
//! The theorems of the papers are about finite dimensions. Their limits for infinite dimension have names of their own.
//!
//! Around the running mean the first row x₀ only sets the center, and its loss does not count. From then on the learner
//! is that of Theorem 8 with one prior row at x₀ (ε = 1). For a comparator around the mean m of the T - 1 counted rows,
//! the prior row costs `(x₀ - m)ᵀ V (x₀ - m)`, minus the gain from a better center. The difference is at most
//! `|x₀ - m|² (T-1)/T`, which is added to the loss of the comparator. The price of the moving center,
//! `Q² Σ_{t=2}^{T} 1/t`, is at most `Q² log T`. The term R² of Corollary 9, the loss of the first row, does not occur.
//!
//! The bound of anchored also holds if the norm bound is the largest norm so far. Its rates then never increase, which
//! the proof requires, and rows longer than all previous ones have an extra cost ([`Subspace::surprise`]).
//!
//! The bound of anchored also holds for merged runs without a center and with a given rate. The proof telescopes the
//! potential `Φ(C) = min_V [η tr(V C)/Q² + Δ(V, V₀)]` of the scatter matrix C of the rows, where Δ is the divergence
//! from the initial V₀, at most D. Then `Φ(C) + Φ(C') ≤ Φ(C + C') + D`, because each of the two minima is at most the
//! value at the minimizer of the sum. Every merge therefore adds D to the constant. This is not true for tracking,
//! whose proof telescopes with one rate.
//!
//! All theorems concern the expected loss of a drawn subspace. A deterministic choice (`select top`) has none.

use super::Totals;
use crate::bounds::{self, Setting};
use crate::comparators::Best;
use crate::mixing::Mixing;
use crate::registry::{Kind, Spec};
use crate::simplex::{Multiplicity, Select};
use crate::span::Span;
use crate::subspace::{NormBound, RunningCenter, Subspace};

/// Quantities from which a bound is computed, apart from the best loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundInputs {
    pub totals: Totals,
    /// Upper bound on the squared distance of the mean of the counted rows from the initial center, if it is known. A
    /// first row that only sets the center is the initial center.
    pub offset: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Comparator {
    pub loss: f64,
    pub changes: usize,
}

impl Comparator {
    pub fn fixed(loss: f64) -> Self {
        Self { loss, changes: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    pub theorem: &'static str,
    pub bound: f64,
    /// Cost of approximations, included in the bound.
    pub price: f64,
}

/// Reason why there is no bound, or why it cannot be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum Reason {
    #[error("no theorem covers this learner")]
    NoTheorem,
    #[error("no theorem covers this learner with a running center; try center none")]
    Centering,
    #[error("no theorem covers rows that were shortened before they were learned")]
    Clipped,
    #[error("no theorem covers rows whose missing cells were filled in")]
    Filled,
    #[error("no theorem covers batches of rows around a center; try center none")]
    Batches,
    #[error("no theorem covers merged runs with a center or a rate that changes, or rows that were not predicted")]
    Merged,
    #[error("no theorem covers a center that forgets or is learned")]
    ForgettingCenter,
    #[error("the theorem needs a norm bound given in advance: norm-bound Q")]
    RunningNormBound,
    #[error("no theorem covers choices that are not drawn")]
    NotDrawn,
    #[error("the theorem of this learner is about one subspace for all rows")]
    Changes,
    #[error("no theorem covers a budget on atoms")]
    Budget,
    #[error("an approximation was made whose price is not known")]
    Unpriced,
    #[error("no theorem covers this learner with a rate that changes")]
    ChangingRate,
    #[error("the best loss is unknown")]
    UnknownBest,
    #[error("the best loss is not known well enough to tell")]
    WideBracket,
}

/// Maximum relative rounding error of sums over a long run.
const ROUNDING: f64 = 1e-10;

/// Returns true if a total expected loss is at most a bound that increases with the best loss; false means that the
/// implementation or the theorem is wrong. Returns `Err` if the interval of the best loss is too wide to decide.
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

pub(super) fn guarantee<S: Span>(
    spec: &Spec,
    learner: &Subspace<S>,
    inputs: &BoundInputs,
    comparator: Comparator,
) -> Result<Guarantee, Reason> {
    covered(spec)?;
    if learner.clipped() > 0 {
        return Err(Reason::Clipped);
    }
    if inputs.totals.filled_rows > 0 {
        return Err(Reason::Filled);
    }
    if inputs.totals.frozen > 0 {
        return Err(Reason::Batches);
    }
    let fixes_center = spec.center.is_some_and(|center| center.prior == 0.0);
    if inputs.totals.uncharged > u64::from(fixes_center) || inputs.totals.merges > 0 && spec.self_confident {
        return Err(Reason::Merged);
    }
    let price = learner.rule().price();
    if !price.is_finite() {
        return Err(Reason::Unpriced);
    }
    let (norm_square, dimension) = (learner.norm_square(), learner.span().dimension());
    let setting = Setting { norm_square, price, ..Setting::new(spec.eta, spec.kept, dimension) };
    let Comparator { loss, changes } = comparator;
    let (theorem, bound) = match (spec.learner, spec.mixing) {
        (Kind::Additive, _) => {
            ("gradient descent", bounds::additive(&setting, loss, changes, inputs.totals.squares_norm))
        }
        (Kind::Tracking, Mixing::FixedShare { alpha }) if changes > 0 => {
            let finite = "JMLR Theorem 6 with fixed share";
            let theorem = named(dimension, finite, "dimension-free bound with fixed share");
            (theorem, bounds::shifting(&setting, loss, changes, alpha))
        }
        _ if changes > 0 => return Err(Reason::Changes),
        _ => fixed(spec, learner, &setting, inputs, loss)?,
    };
    let bound = bound.ok_or(Reason::NoTheorem)?;
    Ok(Guarantee { theorem, bound, price })
}

fn named(dimension: Multiplicity, finite: &'static str, limit: &'static str) -> &'static str {
    match dimension {
        Multiplicity::Finite(_) => finite,
        Multiplicity::Infinite => limit,
    }
}

fn fixed<S: Span>(
    spec: &Spec,
    learner: &Subspace<S>,
    setting: &Setting,
    inputs: &BoundInputs,
    best: f64,
) -> Result<(&'static str, Option<f64>), Reason> {
    let norm_square = setting.norm_square;
    // Terms for the center: added to the best loss, and to the bound.
    let (moved, added, theorem) = match spec.center {
        None => (0.0, 0.0, named(setting.dimension, "JMLR Theorem 6", "dimension-free bound")),
        Some(RunningCenter { prior: 0.0, .. }) => {
            let rows = inputs.totals.rows.max(1) as f64;
            let offset = inputs.offset.ok_or(Reason::UnknownBest)?;
            let theorem = named(setting.dimension, "JMLR Corollary 9", "dimension-free bound around the running mean");
            (offset * (rows - 1.0) / rows, norm_square * rows.ln(), theorem)
        }
        Some(RunningCenter { prior, .. }) => {
            let offset = inputs.offset.ok_or(Reason::UnknownBest)?;
            let harmonic = 1.0 + (inputs.totals.rows.saturating_sub(1) as f64 / (prior + 1.0)).ln_1p();
            let theorem = named(setting.dimension, "JMLR Theorem 8", "dimension-free bound around a running center");
            (prior * offset, norm_square * harmonic, theorem)
        }
    };
    let (theorem, bound) = if spec.self_confident {
        let best = best + moved + setting.price * learner.scale() + learner.surprise();
        ("self-confident rate", bounds::self_confident(setting, best))
    } else {
        (theorem, bounds::uncentered(setting, best + moved).map(|bound| bound + learner.surprise()))
    };
    Ok((theorem, bound.map(|bound| bound + added)))
}

/// Returns the most fundamental reason why the options exclude every theorem.
fn covered(spec: &Spec) -> Result<(), Reason> {
    let theorem_of_given_norm = matches!(spec.learner, Kind::Tracking | Kind::Additive);
    match spec.learner {
        Kind::Anchored if spec.as_printed => Err(Reason::NoTheorem),
        Kind::Tracking | Kind::Anchored | Kind::Additive => Ok(()),
        _ => Err(Reason::NoTheorem),
    }?;
    match spec.center {
        _ if spec.budget.is_some() => Err(Reason::Budget),
        _ if spec.select == Select::Top => Err(Reason::NotDrawn),
        Some(center) if !center.is_mean() => Err(Reason::ForgettingCenter),
        Some(_) if theorem_of_given_norm => Err(Reason::Centering),
        _ if theorem_of_given_norm && spec.self_confident => Err(Reason::ChangingRate),
        _ if theorem_of_given_norm && spec.norm_bound == NormBound::Running => Err(Reason::RunningNormBound),
        _ => Ok(()),
    }
}
