//! Regret bounds, one pure function per theorem.
//!
//! Setting: `k` of `N` directions (or experts) are kept and `d = N - k` are dropped. `V` is the symmetric matrix whose
//! eigenvalues are the probabilities that the directions are dropped. The expected loss on a row z is `zᵀ V z`. `L*` is
//! the loss of the best fixed subspace in hindsight, and `η` is the learning rate. The papers write `W = V/d`. Their
//! inequalities are multiplied by `d` here. For rows of norm at most Q, a learner divides its rate by Q², and every
//! term that does not come from a loss is multiplied by Q² (`scale` below).
//!
//! Guarantee: under its hypotheses, each bound holds for every sequence of rows. Losses and gains are totals of
//! *expected* values. `best` is L* unless stated otherwise, `D` is the [`divergence`], and functions of a dimension or of
//! sets return `None` unless `k < N`.
//!
//! Outline of the proofs for subspaces: for an instance S with eigenvalues in `[0, Q²]`, each trial satisfies
//!
//! ```text
//! (1 - e^{-η}) tr(V S) ≤ η tr(U S) + Q² (Δ(U, V) - Δ(U, V_after))        Δ(U, V) = -tr(U log V)
//! ```
//!
//! for every projection U of rank d. Summed over the trials, the divergences telescope to the divergence from the
//! uniform start, `D = d log(N/d)` ([`divergence`]). Other changes of `V` add to the divergence:
//!
//! - Mixing, and folding directions into the complement, replace `V` by `V'`. This costs the sum of the positive
//!   eigenvalues of `log V - log V'` ([`Setting::price`]).
//! - A change of the comparator from U to U' costs `tr((U' - U)(-log V))`. The positive part of `U' - U` has rank at
//!   most k, and fixed share keeps `V ≥ α d/N` ([`shift_cost`]).
//!
//! Infinite `N`: the learner and its losses are the limits of those for finite N, trial by trial, and `d log(N/d)`
//! tends to k. The bounds therefore cover kernels of infinite feature dimension with `D = k`.
//!
//! Batches: rows whose losses are computed with the same `V` form one instance, the sum of their outer products, and Q²
//! is a bound on its largest eigenvalue. A row with weight w is the instance `w z zᵀ`. Not covered: forgetting, and the
//! Hebbian learners.
//!
//! References: Freund & Schapire 1997; Warmuth & Kuzmin, JMLR 2008; Kuzmin & Warmuth, ICML 2007; Herbster & Warmuth
//! 1998 (fixed share); Nie, Kotłowski & Warmuth, JMLR 2016 ([`additive`]).

use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};

/// Returns `d log(N/d)`, the divergence of a projection from the uniform start. For infinite N it is k.
pub fn divergence(kept: usize, dimension: Multiplicity) -> Option<f64> {
    let kept = kept as f64;
    let Multiplicity::Finite(n) = dimension else { return Some(kept) };
    let n = n as f64;
    // Computed from k/N, to keep precision when k is much less than N.
    (kept < n).then(|| (n - kept) * -(-kept / n).ln_1p())
}

/// Returns `k log(N/k)`, the larger but simpler term printed in JMLR (4), (7) and ICML (6), (7). Returns `None` unless N
/// is finite and `0 < k ≤ N/2`.
pub fn divergence_by_kept(kept: usize, dimension: Multiplicity) -> Option<f64> {
    let Multiplicity::Finite(n) = dimension else { return None };
    let (n, kept) = (n as f64, kept as f64);
    (0.0 < kept && 2.0 * kept <= n).then(|| kept * (n / kept).ln())
}

/// Returns `log C(n, k)`, the divergence of one set of k experts from the uniform distribution over all sets.
pub fn set_divergence(kept: usize, experts: usize) -> f64 {
    let smaller = kept.min(experts.saturating_sub(kept));
    (1..=smaller).map(|i| ((experts - smaller + i) as f64 / i as f64).ln()).sum()
}

/// Evaluates the common form of the bounds: `(η L* + scale · divergence) / (1 - e^{-η})`.
fn exponential(eta: f64, best: f64, divergence: f64, scale: f64) -> f64 {
    (eta * best + scale * divergence) / -(-eta).exp_m1()
}

/// Returns the bound of Hedge from the uniform start (JMLR Theorem 1): `(η L* + log n) / (1 - e^{-η})`.
///
/// Hypotheses: the losses of the n experts are in `[0, 1]`, and `best` is the loss of any expert. The bound also holds in
/// expectation for the perturbed leader with one dropped expert, whose choices have the same distribution.
pub fn hedge(eta: f64, best: f64, experts: usize) -> f64 {
    exponential(eta, best, (experts as f64).ln(), 1.0)
}

/// Returns the bound of capped Hedge from the uniform start (JMLR Theorem 3): `(η L* + d log(n/d)) / (1 - e^{-η})`.
///
/// Hypotheses: losses are in `[0, 1]`, there is no mixing, and `best` is the loss of any `d = n - k` of the n experts.
pub fn capped_hedge(eta: f64, best: f64, kept: usize, experts: usize) -> Option<f64> {
    let divergence = divergence(kept, Multiplicity::Finite(experts as u64))?;
    Some(exponential(eta, best, divergence, 1.0))
}

/// Returns the bound of Hedge over all sets of `d` experts (JMLR section 4.1): `d (η L* + log C(n, d)) / (1 - e^{-ηd})`,
/// where `η` is the rate for the losses of single experts.
///
/// Hypotheses: losses are in `[0, 1]`, so that the losses of sets are in `[0, d]`. With the rate
/// `tuned_rate(set_divergence(k, n), ceiling, d) / d` the bound becomes JMLR (5), `tuned_regret(set_divergence(k, n),
/// ceiling, d)`. The paper prints `k log(n/k)` instead of `log C(n, k)`, which is larger by at most `k`, and its root
/// sign extends over too many terms. The result is NaN unless `kept < experts`.
pub fn set_experts(eta: f64, best: f64, kept: usize, experts: usize) -> f64 {
    let dropped = experts.saturating_sub(kept) as f64;
    exponential(eta * dropped, best, set_divergence(kept, experts) * dropped, 1.0)
}

/// Returns the lower bound `Q² (d T - 2 B)` on the total expected gain for pairs of rows (JMLR
/// section 9). Here d = N - k, G* is `best`, T is `rows`, and B is the bound of [`uncentered`] for
/// rows of norm 1 and a best loss of `(d T - G*/Q²)/2`. Returns `None` for infinite N.
///
/// Hypotheses: there is no mixing. `|x| |y| ≤ Q²` for all T pairs, with Q known from the start. The dimension N is the
/// sum of the lengths of the two rows. `best` is the gain of any k-dimensional subspace.
pub fn pair(setting: &Setting, best: f64, rows: u64) -> Option<f64> {
    let Multiplicity::Finite(n) = setting.dimension else { return None };
    let most = (n as f64 - setting.kept as f64) * rows as f64;
    let lost = Setting { norm_square: 1.0, ..*setting }.bound((most - best / setting.norm_square) / 2.0)?;
    Some(setting.norm_square * (most - 2.0 * lost))
}

/// Parameters of a subspace learner on which the bounds depend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Learning rate, for rows of norm at most 1.
    pub eta: f64,
    /// Number k of directions kept.
    pub kept: usize,
    /// Dimension N of the space.
    pub dimension: Multiplicity,
    /// Squared bound Q² on the norms of rows, after centering if the learner centers.
    pub norm_square: f64,
    /// Total cost of approximations, added to the divergence: the positive eigenvalues of `log V - log V'` for each
    /// replacement of V by V'.
    pub price: f64,
}

impl Setting {
    /// Creates a setting for rows of norm at most 1, without approximations.
    pub fn new(eta: f64, kept: usize, dimension: Multiplicity) -> Self {
        Self { eta, kept, dimension, norm_square: 1.0, price: 0.0 }
    }

    fn bound(&self, best: f64) -> Option<f64> {
        let divergence = divergence(self.kept, self.dimension)? + self.price;
        Some(exponential(self.eta, best, divergence, self.norm_square))
    }
}

/// Returns `k log(N/(α d))`, the cost of one change of the comparator under fixed share with rate `alpha`. For infinite N
/// it is `k log(1/α)`. Returns `None` unless `0 < α ≤ 1`.
pub fn shift_cost(kept: usize, dimension: Multiplicity, alpha: f64) -> Option<f64> {
    let kept = kept as f64;
    let lowest = match dimension {
        Multiplicity::Finite(n) => (-kept / n as f64).ln_1p(),
        Multiplicity::Infinite => 0.0,
    };
    (alpha > 0.0 && alpha <= 1.0 && lowest.is_finite()).then(|| -kept * (alpha.ln() + lowest))
}

/// Returns the bound of the learner `tracking` with fixed share, relative to a comparator that changes its subspace
/// `changes` times (S): `(η L_S + Q² (D + S k log(N/(α d)) + price)) / (1 - e^{-η})`. Here L_S is `best`, and the price
/// is [`Setting::price`], which includes the cost of fixed share itself. Returns `None` unless `0 < α ≤ 1`.
///
/// Hypotheses: those of [`uncentered`], with fixed share of rate `alpha` after each trial. `best` is the loss of any
/// partition of the trials into S + 1 segments with any subspace for each.
pub fn shifting(setting: &Setting, best: f64, changes: usize, alpha: f64) -> Option<f64> {
    let cost = shift_cost(setting.kept, setting.dimension, alpha)?;
    Setting { price: setting.price + changes as f64 * cost, ..*setting }.bound(best)
}

/// Returns the bound of gradient descent on the expected projection (the learner `additive`), relative to a comparator
/// that changes its subspace `changes` times (S): `L_S + Q² (k(N-k)/N + 2 S min(k, N-k)) / (2η) + η/(2Q²) Σ |z|⁴`. Here
/// L_S is `best`, and z are the rows. For infinite N, `k(N-k)/N` is k. `squares_norm` is the square root of `Σ |z|⁴`, or
/// of the sum of the squared Frobenius norms of matrix instances.
///
/// Hypotheses: no centering, and the same Q² in all trials. `best` is the loss of any partition of
/// the trials into S + 1 segments with any subspace for each.
///
/// Proof: projecting `P̄` onto a convex set does not increase its distance from any point of the set. For every
/// projection P of rank k a trial therefore satisfies `2 (η/Q²) tr((P - P̄) S) ≤ |P - P̄|² - |P - P̄_after|² + (η/Q²)²
/// |S|²` in Frobenius norms, where `tr((P - P̄) S)` is the regret of the trial. At the start `|P - (k/N) I|² =
/// k(N-k)/N`. A change from P to P' costs `|P' - P̄|² - |P - P̄|² = 2 tr((P - P') P̄)`, at most 2 for each positive
/// eigenvalue of `P - P'`.
pub fn additive(setting: &Setting, best: f64, changes: usize, squares_norm: f64) -> Option<f64> {
    let Setting { eta, kept, dimension, norm_square, .. } = *setting;
    let distance = additive_distance(kept, dimension)?;
    let others = match dimension {
        Multiplicity::Finite(n) => n - kept as u64,
        Multiplicity::Infinite => u64::MAX,
    };
    let path = distance + 2.0 * changes as f64 * others.min(kept as u64) as f64;
    Some(best + norm_square * path / (2.0 * eta) + eta / 2.0 * (squares_norm / norm_square) * squares_norm)
}

/// Returns `k(N-k)/N`, the squared distance of every projection from the uniform start.
fn additive_distance(kept: usize, dimension: Multiplicity) -> Option<f64> {
    let kept = kept as f64;
    match dimension {
        Multiplicity::Finite(n) => (kept < n as f64).then(|| kept * (1.0 - kept / n as f64)),
        Multiplicity::Infinite => Some(kept),
    }
}

/// Returns the rate `√(k(N-k)/(N T))` of `additive` for T = `rows` rows of norm at most Q. The learner divides it by
/// Q². The bound [`additive`] is then at most `L* + Q² √(k T (N-k)/N)`. Returns `None` unless `0 < k < N` and
/// `rows > 0`.
pub fn additive_rate(kept: usize, dimension: Multiplicity, rows: u64) -> Option<f64> {
    let rate = (additive_distance(kept, dimension)? / rows as f64).sqrt();
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Returns the bound of learners without centering (JMLR Theorem 6, ICML Theorem 1), including the cost of
/// approximations: `(η L* + Q² (D + price)) / (1 - e^{-η})`.
///
/// For infinite N the limit `D = k` gives a dimension-free bound. This extension is ours. The proof applies the theorem
/// in the span of the rows and N further directions, whose bound and losses converge as N grows.
///
/// Hypotheses: the learner is `tracking` without mixing or `anchored`, without centering. Rows have
/// norm at most Q, or symmetric instances have eigenvalues in `[0, Q²]`. Q is known from the start.
/// `best` (L*) is the loss of any k-dimensional subspace.
///
/// ```
/// use eigenhedge::{bounds::{Setting, uncentered}, simplex::Multiplicity};
/// let setting = Setting::new(1.0, 2, Multiplicity::Finite(20));
/// let exact = (10.0 + 18.0 * (20f64 / 18.0).ln()) / (1.0 - (-1f64).exp());
/// assert!((uncentered(&setting, 10.0).unwrap() - exact).abs() < 1e-12);
/// assert!(uncentered(&Setting { price: 0.5, ..setting }, 10.0).unwrap() > exact);
/// ```
pub fn uncentered(setting: &Setting, best: f64) -> Option<f64> {
    setting.bound(best)
}

/// Returns the bound of the learner `anchored` with a running center (JMLR Theorem 8):
/// `(η L* + Q² D + η ε offset) / (1 - e^{-η}) + Q² (1 + log(1 + (T-1)/(ε+1)))`.
///
/// - `best`: loss L* of any subspace around any center m.
/// - `prior`: `ε = 1/η̃`, the number of prior rows at the initial center `m0`.
/// - `offset`: the squared distance of m from `m0` in the directions that this subspace drops, or its upper bound
///   `|m - m0|²`.
/// - `rows`: the number of rows `T ≥ 1`.
///
/// Hypotheses: every row is within Q/2 of `m0`. The proof only needs each row to be within Q of the center of its
/// trial, which a learner with a given norm bound checks. The last term has no factor `d`: the proof charges `zᵀ V z /
/// (ε + t)` for trial t, and `zᵀ V z ≤ Q²` because the eigenvalues of V are at most 1.
pub fn centered(setting: &Setting, best: f64, prior: f64, offset: f64, rows: u64) -> Option<f64> {
    let harmonic = 1.0 + (rows.saturating_sub(1) as f64 / (prior + 1.0)).ln_1p();
    Some(setting.bound(best + prior * offset)? + setting.norm_square * harmonic)
}

/// Returns the bound of the learner `anchored` around the running mean, with `ε = 0` and T = `rows` (JMLR Corollary 9):
/// `(η L* + Q² D) / (1 - e^{-η}) + Q² log T + R²`.
///
/// Hypotheses: no two rows are further apart than Q. `first_square` is `R²`, the squared distance of the first row from
/// the initial center or any larger number. The learner need not know the location of the rows in advance.
pub fn centered_on_the_mean(setting: &Setting, best: f64, first_square: f64, rows: u64) -> Option<f64> {
    Some(setting.bound(best)? + setting.norm_square * (rows.max(1) as f64).ln() + first_square)
}

/// Returns the bound of the learner `anchored` with the self-confident rate `√(D/(L + Q²))/Q`, where L is the learner's
/// own loss so far: `L* + 2 Q² D + 2 Q √D √(Q² D + L* + Q²)`.
///
/// Hypotheses: those of [`uncentered`] for `anchored`, without approximations. The rate and the price of the setting
/// are not used.
///
/// Proof: follow the regularized leader with nonincreasing rates satisfies `Σ m_t ≤ L* + D/η_T` for the mix losses m_t.
/// The loss of a trial is at most `m_t + (η_t Q²/2) loss_t`, and `Σ loss_t/√(L_{t-1} + Q²) ≤ 2 √L_T`. Hence
/// `L_T ≤ L* + 2 Q √(D (L_T + Q²))`, which is solved for `L_T` (after Auer, Cesa-Bianchi & Gentile 2002).
pub fn self_confident(setting: &Setting, best: f64) -> Option<f64> {
    let (square, divergence) = (setting.norm_square, divergence(setting.kept, setting.dimension)?);
    let root = (square * divergence + best + square).sqrt();
    Some(best + 2.0 * square * divergence + 2.0 * (square * divergence).sqrt() * root)
}

/// Returns the rate `η = log(1 + √(2 scale D / L̂))` (JMLR (3), ICML (6)). Returns `None` unless it
/// is positive and finite.
///
/// - `divergence`: D, the divergence of the comparator from the start.
/// - `ceiling`: L̂, an upper bound on the loss of the best comparator.
/// - `scale`: the largest possible loss of a trial. It is Q² for rows of norm at most Q.
///
/// The rate is for losses divided by `scale`. With the original losses, divide the rate by `scale`.
///
/// ICML (6) prints the root without the scale. For rows of norm above 1, ICML (7) follows only with the scale.
pub fn tuned_rate(divergence: f64, ceiling: f64, scale: f64) -> Option<f64> {
    let rate = (2.0 * scale * divergence / ceiling).sqrt().ln_1p();
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Returns the regret bound with the [`tuned_rate`], `√(2 scale L̂ D) + scale D` (JMLR (3), (4), (5), (7); ICML (7)).
///
/// Hypotheses: those of the theorem to which the divergence D belongs, and a best loss of at most `ceiling` (L̂). With
/// [`centered_on_the_mean`], add the last two terms of that bound.
pub fn tuned_regret(divergence: f64, ceiling: f64, scale: f64) -> f64 {
    (2.0 * scale * ceiling * divergence).sqrt() + scale * divergence
}

/// Returns the lower bound `√(scale L* D)` on the regret (JMLR (19)). Here L* is `best`, and D is `divergence`. For
/// every learner, some sequences have a regret of at least `(1 - o(1))` times this value, in the limit of a large ratio
/// N/d and then of many trials. N is the number of experts or directions, and d is the number of dropped ones.
///
/// Hypotheses: losses are in `[0, scale]`. For subspaces, symmetric instances have eigenvalues in `[0, scale]`.
/// The sequences are independent fair coins.
pub fn lower_regret(divergence: f64, best: f64, scale: f64) -> f64 {
    (scale * best * divergence).sqrt()
}

#[cfg(test)]
mod tests;
