//! Expert learners, the projection onto the capped simplex, and the decomposition into its corners.

use crate::arrays::{Array1, Object, numbers};
use crate::classes::{attributes, pickled};
use crate::errors::refused;
use crate::options::{self, Named, option};
use crate::spelling::spelling;
use crate::state::lock;
use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts as Learners};
use eigenhedge::options::Options;
use eigenhedge::registry::defaults;
use eigenhedge::simplex::{cap_by_sorting, decompose};
use eigenhedge::{Kind, Learner, Random, Spec, trial};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Hedge over sets of experts: in each trial, ``k`` of ``n`` experts are kept, and the losses of the others are charged.
///
/// Parameters
/// ----------
/// n, k : int
///     Number of experts, and number of experts kept, at least 1 and less than ``n``.
/// eta : float
///     Learning rate.
/// mixing : {"none", "fixed-share", "past-average"}, default="none"
///     Distribution that is mixed in after each trial.
/// alpha : float, default=0.001
///     Share of the distribution that is mixed in.
/// select : {"systematic", "corners", "top"}, default="systematic"
///     Method of drawing the set of dropped experts.
/// seed : int, default=0
///     Seed of the random draws.
///
/// Examples
/// --------
/// >>> from eigenhedge import CappedHedge
/// >>> hedge = CappedHedge(4, 2, eta=1.0)
/// >>> expected, loss = hedge.step([0.0, 0.2, 0.8, 1.0])
/// >>> round(expected, 12), hedge.dropped_probabilities.sum().round(12)
/// (1.0, np.float64(2.0))
#[pyclass(frozen, module = "eigenhedge")]
pub struct CappedHedge {
    state: Mutex<(Learners, Random)>,
}

#[pymethods]
impl CappedHedge {
    #[new]
    #[pyo3(signature = (n, k, eta, *, mixing=None, alpha=None, select=None, seed=0))]
    fn new(
        n: &Object<'_>,
        k: &Object<'_>,
        eta: f64,
        mixing: Option<&Object<'_>>,
        alpha: Option<&Object<'_>>,
        select: Option<&Object<'_>>,
        #[pyo3(from_py_with = options::seed)] seed: u64,
    ) -> PyResult<Self> {
        let n = Named { name: "n", value: n }.whole()?;
        let k = Named { name: "k", value: k }.whole()?;
        let Spec { mixing, select, .. } = of_tracking(mixing, alpha, select)?;
        let kind = ExpertKind::CappedHedge;
        let hedge = Learners::new(ExpertSpec { kind, experts: n, kept: k, eta, mixing, select }).map_err(refused)?;
        Ok(Self { state: Mutex::new((hedge, Random::seeded(seed))) })
    }

    /// Run one trial with the losses of the n experts, between 0 and 1.
    ///
    /// Returns
    /// -------
    /// expected_loss, loss : float
    ///     Total loss of the dropped experts: its expectation, and its value for the drawn set.
    fn step(&self, py: Python<'_>, losses: &Object<'_>) -> PyResult<(f64, f64)> {
        step(py, &self.state, losses)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let ExpertSpec { experts, kept, .. } = *lock(py, &self.state)?.0.spec();
        Ok(format!("<CappedHedge n={experts}, k={kept}>"))
    }
}

pickled!(CappedHedge, |state| {
    let (hedge, random): (Learners, Random) = state;
    if hedge.spec().kind != ExpertKind::CappedHedge {
        return Err(PyValueError::new_err("not a saved CappedHedge"));
    }
    Ok(CappedHedge { state: Mutex::new((hedge, random)) })
});

attributes! { CappedHedge, |hedge, py| {
    /// ndarray of shape (n,): probability that each expert is dropped in the next trial. The sum is n - k.
    dropped_probabilities: Array1<'py> = {
        let probabilities: Vec<f64> = lock(py, &hedge.state)?.0.weights().iter().map(|log| log.exp()).collect();
        probabilities.into_pyarray(py)
    };
    /// ndarray of shape (n,): logarithms of ``dropped_probabilities``, which do not underflow.
    log_dropped: Array1<'py> = PyArray1::from_slice(py, lock(py, &hedge.state)?.0.weights());
    /// list of int: indices (from 0) of the experts that were dropped in the most recent trial.
    dropped: Vec<usize> = lock(py, &hedge.state)?.0.dropped().to_vec();
}}

/// Expert learner: in each trial, ``k`` of ``n`` experts are kept, and the losses of the others are charged.
///
/// Parameters
/// ----------
/// n, k : int
///     Number of experts, and number of experts kept.
/// learner : {"capped-hedge", "leader", "perturbed-leader", "product-sets"}, default="capped-hedge"
///     Algorithm.
/// eta : float, default=1.0
///     Learning rate. It has no effect with ``"leader"``.
/// mixing, alpha, select : str, float, str, default=None
///     Options of :class:`CappedHedge`. They require the learner ``"capped-hedge"``.
/// seed : int, default=0
///     Seed of the random draws.
#[pyclass(frozen, module = "eigenhedge")]
pub struct Experts {
    state: Mutex<(Learners, Random)>,
}

#[pymethods]
impl Experts {
    #[new]
    #[pyo3(signature = (n, k, *, learner=None, eta=defaults::EXPERTS_ETA, mixing=None, alpha=None, select=None, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn new(
        n: &Object<'_>,
        k: &Object<'_>,
        learner: Option<&Object<'_>>,
        eta: f64,
        mixing: Option<&Object<'_>>,
        alpha: Option<&Object<'_>>,
        select: Option<&Object<'_>>,
        #[pyo3(from_py_with = options::seed)] seed: u64,
    ) -> PyResult<Self> {
        let names = ExpertKind::ALL.map(ExpertKind::name);
        let name = learner.map_or(Ok(names[0]), |value| Named { name: "learner", value }.one_of(&names))?;
        let kind = name.parse().unwrap_or(ExpertKind::CappedHedge);
        let (experts, kept) = (Named { name: "n", value: n }.whole()?, Named { name: "k", value: k }.whole()?);
        let Spec { mixing, select, .. } = of_tracking(mixing, alpha, select)?;
        let experts = Learners::new(ExpertSpec { kind, experts, kept, eta, mixing, select });
        Ok(Self { state: Mutex::new((experts.map_err(refused)?, Random::seeded(seed))) })
    }

    /// Run one trial. See :meth:`CappedHedge.step`.
    fn step(&self, py: Python<'_>, losses: &Object<'_>) -> PyResult<(f64, f64)> {
        step(py, &self.state, losses)
    }

    /// Return an upper bound on the total expected loss, and the name of its theorem.
    ///
    /// ``best`` is the total loss of the best fixed set of experts to drop. The result is None if no theorem covers
    /// the learner.
    fn bound(&self, py: Python<'_>, best: f64) -> PyResult<Option<(f64, &'static str)>> {
        Ok(lock(py, &self.state)?.0.bound(best))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let ExpertSpec { kind, experts, kept, .. } = *lock(py, &self.state)?.0.spec();
        Ok(format!("<Experts {}: n={experts}, k={kept}>", kind.name()))
    }
}

attributes! { Experts, |experts, py| {
    /// list of int: indices (from 0) of the experts that were dropped in the most recent trial.
    dropped: Vec<usize> = lock(py, &experts.state)?.0.dropped().to_vec();
    /// ndarray of shape (n,), or None: probability that each expert is kept in the next trial. The
    /// value is None for ``"leader"`` and ``"perturbed-leader"``.
    kept_probabilities: Option<Array1<'py>> = {
        lock(py, &experts.state)?.0.kept_probabilities().map(|kept| kept.into_pyarray(py))
    };
}}

pickled!(Experts, |state| Ok(Experts { state: Mutex::new(state) }));

fn step<L: Learner<[f64]>>(py: Python<'_>, state: &Mutex<(L, Random)>, losses: &Object<'_>) -> PyResult<(f64, f64)> {
    let (losses, mut state) = (numbers(losses)?, lock(py, state)?);
    let (learner, random) = &mut *state;
    let loss = trial(learner, &losses[..], random).map_err(refused)?;
    Ok((loss.expected, loss.realised))
}

/// Converts the options by the rules of the learner `tracking`, which is capped Hedge over directions.
fn of_tracking(mixing: Option<&Object<'_>>, alpha: Option<&Object<'_>>, select: Option<&Object<'_>>) -> PyResult<Spec> {
    let mut options = Options::new(Kind::Tracking, 1).with("mixing", "none");
    for (name, value) in [("mixing", mixing), ("alpha", alpha), ("select", select)] {
        options = option(name, value)?.map_or(options.clone(), |value| options.with(name, value));
    }
    Ok(options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?.spec)
}

/// Project weights onto the capped simplex: scale and cap them so that they sum to 1 and none exceeds 1/d.
///
/// Parameters
/// ----------
/// w : array-like of shape (n,)
///     Nonnegative weights, at least one of them positive. If fewer than d are positive, these are
///     set to 1/d and the others share the rest equally.
/// d : int
///     Size of the sets, 1 ≤ d < n.
///
/// Returns
/// -------
/// ndarray of shape (n,)
///     Nearest weights in the capped simplex, in relative entropy.
///
/// Examples
/// --------
/// >>> from eigenhedge import capping
/// >>> capping([0.7, 0.2, 0.1], 2).round(4)
/// array([0.5   , 0.3333, 0.1667])
#[pyfunction]
pub fn capping<'py>(py: Python<'py>, w: &Object<'py>, d: usize) -> PyResult<Array1<'py>> {
    let weights = numbers(w)?;
    let wrong = weights.iter().position(|w| !(*w >= 0.0 && w.is_finite()));
    if let Some(index) = wrong {
        let value = weights[index];
        return Err(PyValueError::new_err(format!("entry {index} of w must be finite and not negative, got {value}")));
    }
    let (n, positive) = (weights.len(), weights.iter().filter(|w| **w > 0.0).count());
    if d == 0 || d >= n {
        return Err(PyValueError::new_err(format!(
            "d must be at least 1 and less than the number of weights {n}, got {d}"
        )));
    }
    if positive == 0 {
        return Err(PyValueError::new_err("w must have a positive entry, got zeros only"));
    }
    let logs: Vec<f64> = weights.iter().map(|w| w.ln()).collect();
    let capped = cap_by_sorting(&logs, &vec![1; n], n - d).map_err(refused)?;
    let scaled: Vec<f64> = capped.log_dropped.iter().map(|log| log.exp() / d as f64).collect();
    Ok(scaled.into_pyarray(py))
}

/// Decompose a point of the capped simplex into a mixture of at most n corners. A corner is a set of d indices.
///
/// Parameters
/// ----------
/// w : array-like of shape (n,)
///     Weights that sum to 1, none greater than 1/d.
/// d : int
///     Size of the sets.
///
/// Returns
/// -------
/// list of (float, list of int)
///     Coefficient and set of each corner. The coefficients sum to 1.
///
/// Examples
/// --------
/// >>> from eigenhedge import corners
/// >>> corners([0.5, 0.25, 0.25], 2)
/// [(0.5, [0, 1]), (0.5, [0, 2])]
#[pyfunction]
pub fn corners(w: &Object<'_>, d: usize) -> PyResult<Vec<(f64, Vec<usize>)>> {
    let weights = numbers(w)?;
    // A weight that exceeds its cap by a rounding error is set to the cap. A larger excess is an error.
    let scaled = |w: &f64| Some(w * d as f64).map(|p| if p > 1.0 && p < 1.0 + 1e-9 { 1.0 } else { p });
    let probabilities: Vec<f64> = weights.iter().filter_map(scaled).collect();
    let total: f64 = probabilities.iter().sum();
    if (total - d as f64).abs() > 1e-6 * (d as f64).max(1.0) {
        return Err(PyValueError::new_err(format!("w must total 1, got {}", total / d as f64)));
    }
    let mixture = decompose(&probabilities).map_err(refused)?;
    Ok(mixture.corners.into_iter().map(|corner| (corner.coefficient, corner.members)).collect())
}
