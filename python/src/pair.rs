//! Learner of pairs of rows, and the average of a learner's distributions.

use crate::arrays::{Array1, Array2, Object, numbers, transposed};
use crate::classes::{attributes, pickled};
use crate::errors::refused;
use crate::model::PyModel;
use crate::options::{self, Named, option};
use crate::state::lock;
use eigenhedge::bounds::{self, Setting};
use eigenhedge::comparators::BestPair;
use eigenhedge::options::Value;
use eigenhedge::registry::defaults;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Average, Mixing, NormBound, Random};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;

type Directions<'py> = (Array2<'py>, Array2<'py>, Array1<'py>);

/// Learner of pairs of rows: finds directions of one stream that correlate with directions of another.
///
/// Before each pair of rows x and y, the learner commits to k pairs of directions ``(u, v)``. Its
/// gain is the sum of ``(u·x)(v·y)`` over these pairs.
///
/// Parameters
/// ----------
/// left, right : int
///     Lengths of the rows of the two streams.
/// k : int
///     Number of pairs of directions kept.
/// eta : float, default=1.0
///     Learning rate, for pairs with ``|x| |y|`` at most 1.
/// alpha : float, default=0.001
///     Share of the uniform distribution that is mixed in after each pair. There is a bound only for 0.
/// center : bool, default=True
///     True to subtract the mean of the previous rows of each stream. The first pair sets the centers.
/// norm_bound : float or "auto", default="auto"
///     Number Q with ``|x| |y| <= Q²`` for all centered pairs, or ``"auto"`` for the smallest such
///     number so far. There is a bound only for a number.
/// seed : int, default=0
///     Seed of the random draws.
///
/// Examples
/// --------
/// >>> from eigenhedge import Pair
/// >>> pair = Pair(2, 3, 1, alpha=0.0, center=False, norm_bound=1.0)
/// >>> gains = [pair.step([1.0, 0.0], [0.0, 1.0, 0.0])[0] for _ in range(20)]
/// >>> abs(gains[0]) < 1e-12, gains[-1] > 0.9
/// (True, True)
#[pyclass(frozen, module = "eigenhedge")]
pub struct Pair {
    state: Mutex<State>,
}

#[derive(Serialize, Deserialize)]
struct State {
    setting: Option<Setting>,
    k: usize,
    learner: eigenhedge::Pair,
    best: Option<BestPair>,
    random: Random,
    rows: u64,
    expected: f64,
    realised: f64,
}

#[pymethods]
impl Pair {
    #[new]
    #[pyo3(signature = (left, right, k, *, eta=defaults::PAIR_ETA, alpha=defaults::PAIR_ALPHA, center=true, norm_bound=None, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        left: &Object<'_>,
        right: &Object<'_>,
        k: &Object<'_>,
        eta: f64,
        alpha: f64,
        center: bool,
        norm_bound: Option<&Object<'_>>,
        #[pyo3(from_py_with = options::seed)] seed: u64,
    ) -> PyResult<Self> {
        let whole = |name, value| Named { name, value }.whole::<usize>();
        let (left, right, k) = (whole("left", left)?, whole("right", right)?, whole("k", k)?);
        let bound = match option("norm-bound", norm_bound)? {
            Some(Value::Number(bound)) => NormBound::Given(bound),
            _ => NormBound::Running,
        };
        let mixing = if alpha == 0.0 { Mixing::None } else { Mixing::FixedShare { alpha } };
        let learner = eigenhedge::Pair::new(left, right, k, eta, mixing).and_then(|pair| pair.with_norm_bound(bound));
        let learner = learner.map_err(refused)?;
        let learner = if center { learner.centered() } else { learner };
        let setting = match bound {
            NormBound::Given(bound) if alpha == 0.0 => {
                let dimension = Multiplicity::Finite((left + right) as u64);
                Some(Setting { norm_square: bound * bound, ..Setting::new(eta, k, dimension) })
            }
            _ => None,
        };
        let (best, random) = (BestPair::new(left, right), Random::seeded(seed));
        let state = State { setting, k, learner, best, random, rows: 0, expected: 0.0, realised: 0.0 };
        Ok(Self { state: Mutex::new(state) })
    }

    /// Run one trial with the rows ``x`` and ``y``.
    ///
    /// Returns
    /// -------
    /// expected_gain, gain : float
    ///     Expected gain over the random choice of directions, and gain of the directions that were drawn.
    fn step(&self, py: Python<'_>, x: &Object<'_>, y: &Object<'_>) -> PyResult<(f64, f64)> {
        let (x, y) = (numbers(x)?, numbers(y)?);
        let mut state = lock(py, &self.state)?;
        let State { learner, best, random, rows, expected, realised, .. } = &mut *state;
        let gain = learner.step(&x, &y, random).map_err(refused)?;
        let (x, y) = learner.last_pair();
        best.iter_mut().for_each(|best| best.add(x, y));
        (*rows, *expected, *realised) = (*rows + 1, *expected + gain.expected, *realised + gain.realised);
        Ok((gain.expected, gain.realised))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = lock(py, &self.state)?;
        Ok(format!("<Pair k={}: rows {}, gain {}>", state.k, state.rows, state.expected))
    }
}

attributes! { Pair, |pair, py| {
    /// tuple (left parts, right parts, probabilities): learned directions as rows, in descending order of their
    /// probability of being kept. Singular vectors have parts of norm √½.
    directions: Directions<'py> = {
        let (left, right, probabilities) = lock(py, &pair.state)?.learner.directions();
        (transposed(py, &left)?, transposed(py, &right)?, probabilities.into_pyarray(py))
    };
    /// tuple (float, float): total expected gain, and total gain of the directions that were drawn.
    gains: (f64, f64) = {
        let state = lock(py, &pair.state)?;
        (state.expected, state.realised)
    };
    /// float or None: total gain of the best fixed directions in hindsight, if left · right is at most 4096².
    best_gain: Option<f64> = lock(py, &pair.state)?.best_gain();
    /// float or None: lower bound on the total expected gain (JMLR section 9), if ``alpha`` is 0, ``norm_bound`` is a
    /// number and ``best_gain`` exists.
    bound: Option<f64> = {
        let state = lock(py, &pair.state)?;
        let known = state.setting.as_ref().zip(state.best_gain());
        known.and_then(|(setting, best)| bounds::pair(setting, best, state.rows))
    };
}}

pickled!(Pair, |state| Ok(Pair { state: Mutex::new(state) }));

impl State {
    fn best_gain(&self) -> Option<f64> {
        self.best.as_ref().map(|best| best.gain(self.k))
    }
}

/// Average of the distributions of a learner, as a fixed predictor for future rows (online-to-batch conversion).
///
/// Add the learner before each row. If rows are independent and identically distributed, the expected loss of the
/// average on a new row exceeds that of the best subspace by at most the regret bound divided by the number of rows.
///
/// Parameters
/// ----------
/// dim : int
///     Length of a row, at most 4096.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from eigenhedge import Average, Model
/// >>> model, average = Model(3, 1, learner="tracking", center=False), Average(3)
/// >>> for row in np.random.default_rng(0).normal(size=(50, 3)) * [3.0, 1.0, 0.1]:
/// ...     average.add(model)
/// ...     _ = model.step(row)
/// >>> average.terms
/// 50
/// >>> average.loss([1.0, 0.0, 0.0]) < average.loss([0.0, 0.0, 1.0])
/// True
#[pyclass(frozen, name = "Average", module = "eigenhedge")]
pub struct LearnerAverage {
    state: Mutex<Average>,
}

#[pymethods]
impl LearnerAverage {
    #[new]
    fn new(dim: usize) -> PyResult<Self> {
        Ok(Self { state: Mutex::new(Average::new(dim).map_err(refused)?) })
    }

    /// Add the current distribution of a model with a single subspace learner, plain rows and no center.
    fn add(&self, py: Python<'_>, model: &PyModel) -> PyResult<()> {
        model.state(py)?.core.add_to(&mut *lock(py, &self.state)?).map_err(refused)
    }

    /// Return the expected loss of the average on the row ``x``.
    fn loss(&self, py: Python<'_>, x: &Object<'_>) -> PyResult<f64> {
        let row = numbers(x)?;
        lock(py, &self.state)?.loss(&row).map_err(refused)
    }

    /// Return the k directions with the highest average probability of being kept, as rows.
    fn components<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Array2<'py>> {
        transposed(py, &lock(py, &self.state)?.subspace(k))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Average: terms {}>", self.terms(py)?))
    }
}

attributes! { LearnerAverage, |average, py| {
    /// int: number of distributions added.
    terms: u64 = lock(py, &average.state)?.terms();
    /// ndarray of shape (dim, dim): average of the expected projections.
    projection: Array2<'py> = transposed(py, &lock(py, &average.state)?.projection())?;
}}

pickled!(LearnerAverage, |average| Ok(LearnerAverage { state: Mutex::new(average) }));
