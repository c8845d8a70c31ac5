//! Python bindings of `eigenhedge::bounds`.

use crate::classes::attributes;
use eigenhedge::bounds;
use eigenhedge::simplex::Multiplicity;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;

#[derive(Clone, Copy)]
struct Dimension(Multiplicity);

impl<'py> FromPyObject<'_, 'py> for Dimension {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let is_infinite = object.extract::<f64>().is_ok_and(|n| n == f64::INFINITY)
            || object.extract::<String>().is_ok_and(|text| text == "inf");
        if is_infinite {
            return Ok(Self(Multiplicity::Infinite));
        }
        let wrong = |_| PyValueError::new_err("the dimension must be a whole number or inf");
        object.extract().map(Multiplicity::Finite).map(Self).map_err(wrong)
    }
}

impl From<Dimension> for Multiplicity {
    fn from(dimension: Dimension) -> Self {
        dimension.0
    }
}

/// Argument of a bound whose range is checked.
trait Argument {
    /// Returns a `ValueError` if the value violates the rule for arguments with this name.
    fn check(&self, name: &str) -> PyResult<()>;
}

impl Argument for f64 {
    fn check(&self, name: &str) -> PyResult<()> {
        let (holds, rule) = match name {
            "eta" | "norm_square" | "scale" => (*self > 0.0 && self.is_finite(), "finite and positive"),
            "alpha" => (*self > 0.0 && *self <= 1.0, "greater than 0 and at most 1"),
            _ => (*self >= 0.0 && self.is_finite(), "finite and not negative"),
        };
        check(holds, name, rule, self)
    }
}

/// Gain, which may be negative, unlike other values of `best`.
struct Gain(f64);

impl<'py> FromPyObject<'_, 'py> for Gain {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.extract().map(Self)
    }
}

impl From<Gain> for f64 {
    fn from(gain: Gain) -> Self {
        gain.0
    }
}

impl Argument for Gain {
    fn check(&self, name: &str) -> PyResult<()> {
        check(self.0.is_finite(), name, "finite", self.0)
    }
}

impl Argument for usize {
    fn check(&self, name: &str) -> PyResult<()> {
        check(name != "experts" || *self > 0, name, "at least 1", self)
    }
}

impl Argument for u64 {
    fn check(&self, name: &str) -> PyResult<()> {
        check(*self > 0, name, "at least 1", self)
    }
}

impl Argument for Dimension {
    fn check(&self, _: &str) -> PyResult<()> {
        Ok(())
    }
}

impl Argument for &Setting {
    fn check(&self, _: &str) -> PyResult<()> {
        Ok(())
    }
}

fn check(holds: bool, name: &str, rule: &str, value: impl Display) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err(format!("{name} must be {rule}, got {value}"))) }
}

/// Parameters of a subspace learner on which the bounds depend.
///
/// Parameters
/// ----------
/// eta : float
///     Learning rate, for rows of norm at most 1.
/// k : int
///     Number of directions kept.
/// dimension : int or inf
///     Dimension N of the space. ``"inf"`` and ``float("inf")`` mean infinite dimension.
/// norm_square : float, default=1.0
///     Square Q² of a bound on the norms of rows.
/// price : float, default=0.0
///     Cost of approximations and mixing. It is added to the divergence D in the bound.
///
/// Examples
/// --------
/// >>> from eigenhedge import bounds
/// >>> setting = bounds.Setting(1.0, 2, 20)
/// >>> round(bounds.uncentered(setting, 10.0), 2)
/// 18.82
#[pyclass(frozen, module = "eigenhedge.bounds")]
pub struct Setting(bounds::Setting);

#[pymethods]
impl Setting {
    #[new]
    #[pyo3(signature = (eta, k, dimension, norm_square=1.0, price=0.0))]
    fn new(eta: f64, k: usize, dimension: Dimension, norm_square: f64, price: f64) -> PyResult<Self> {
        for (name, value) in [("eta", eta), ("norm_square", norm_square), ("price", price)] {
            value.check(name)?;
        }
        Ok(Self(bounds::Setting { norm_square, price, ..bounds::Setting::new(eta, k, dimension.0) }))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(f64, usize, Bound<'py, PyAny>, f64, f64)> {
        Ok((self.0.eta, self.0.kept, self.dimension(py)?, self.0.norm_square, self.0.price))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let bounds::Setting { eta, kept, norm_square, price, .. } = self.0;
        let dimension = self.dimension(py)?;
        Ok(format!("Setting({eta:?}, {kept}, {dimension}, norm_square={norm_square:?}, price={price:?})"))
    }
}

attributes! { Setting, |setting, py| {
    eta: f64 = setting.0.eta;
    k: usize = setting.0.kept;
    dimension: Bound<'py, PyAny> = match setting.0.dimension {
        Multiplicity::Finite(n) => n.into_bound_py_any(py)?,
        Multiplicity::Infinite => f64::INFINITY.into_bound_py_any(py)?,
    };
    norm_square: f64 = setting.0.norm_square;
    price: f64 = setting.0.price;
}}

impl<'a> From<&'a Setting> for &'a bounds::Setting {
    fn from(setting: &'a Setting) -> Self {
        &setting.0
    }
}

/// Defines a Python function for each function in `eigenhedge::bounds`, and a function that returns
/// them by name. Each function first checks its arguments, and then the condition after `where`.
/// The text after the condition is the rule in the message.
macro_rules! functions {
    ($($(#[$documentation:meta])*
    fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty
    $(where $least:ident $sign:tt $most:ident, $rule:literal)?;)*) => {
        $($(#[$documentation])*
        #[pyfunction]
        fn $name($($argument: $type),*) -> PyResult<$result> {
            $($argument.check(stringify!($argument))?;)*
            $(check($least $sign $most, stringify!($least), &format!($rule, $most), $least)?;)?
            Ok(bounds::$name($($argument.into()),*))
        })*

        #[pyfunction]
        #[pyo3(name = "_bounds")]
        pub fn all(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
            let functions = PyDict::new(py);
            $(functions.set_item(stringify!($name), wrap_pyfunction!($name, py)?)?;)*
            Ok(functions)
        }
    };
}

functions! {
    /// Return `d log(N/d)` with d = N - k: the divergence of a subspace from the uniform start.
    ///
    /// N is ``dimension``. In infinite dimension, the divergence is k. The result is None unless k < N.
    fn divergence(k: usize, dimension: Dimension) -> Option<f64>;
    /// Return `k log(N/k)`, an upper bound on `divergence` that the papers print.
    ///
    /// N is ``dimension``. The result is None in infinite dimension, and unless 0 < k ≤ N/2.
    fn divergence_by_kept(k: usize, dimension: Dimension) -> Option<f64>;
    /// Return `log C(n, k)`: the divergence of a set of k experts from the uniform distribution over sets.
    ///
    /// n is ``experts``.
    fn set_divergence(k: usize, experts: usize) -> f64 where k <= experts, "at most the number of experts, {}";
    /// Return the bound of Hedge on the expected loss: `(η L* + log n) / (1 - e^-η)` (JMLR Theorem 1).
    ///
    /// Losses must be between 0 and 1. ``best`` is the loss L* of any single expert, and n is ``experts``.
    fn hedge(eta: f64, best: f64, experts: usize) -> f64;
    /// Return the bound of capped Hedge: `(η L* + d log(n/d)) / (1 - e^-η)` (JMLR Theorem 3).
    ///
    /// Here n is ``experts``, d = n - k, and ``best`` is the loss L* of any set of d experts.
    /// Losses must be between 0 and 1, and there is no mixing. The result is None unless k < n.
    fn capped_hedge(eta: f64, best: f64, k: usize, experts: usize) -> Option<f64>;
    /// Return the bound of Hedge over all sets of d experts: `d (η L* + log C(n, d)) / (1 - e^-(ηd))`.
    ///
    /// Here n is ``experts``, d = n - k, and ``best`` is the loss L* of any set of d experts.
    /// Losses must be between 0 and 1. ``eta`` is the rate for the losses of single experts.
    fn set_experts(eta: f64, best: f64, k: usize, experts: usize) -> f64 where k < experts, "less than the number of experts, {}";
    /// Return the lower bound on the total expected gain of the learner `Pair` without mixing.
    ///
    /// ``best`` is the gain of any subspace of k directions. The product of the norms of each pair
    /// of rows is at most Q². The result is None in infinite dimension, and unless k < N.
    fn pair(setting: &Setting, best: Gain, rows: u64) -> Option<f64>;
    /// Return `k log(N/(α d))`: the cost of one change of the comparator under fixed share with rate α.
    ///
    /// Here N is ``dimension``, d = N - k, and α is ``alpha``. The result is None unless k < N.
    fn shift_cost(k: usize, dimension: Dimension, alpha: f64) -> Option<f64>;
    /// Return the bound of tracking with fixed share, relative to a comparator that changes its subspace.
    ///
    /// ``changes`` is the number of its changes, and ``alpha`` is the rate of fixed share. ``best``
    /// is the loss of any partition of the rows into ``changes + 1`` segments, with any subspace
    /// for each segment. The result is None unless k < N.
    fn shifting(setting: &Setting, best: f64, changes: usize, alpha: f64) -> Option<f64>;
    /// Return the bound of the learner `additive`: `L + Q² (k(N-k)/N + 2 S min(k, N-k)) / (2η) + η/(2Q²) Σ|z|⁴`.
    ///
    /// ``best`` is the loss L of the comparator, and ``changes`` is the number S of its changes.
    /// ``squares_norm`` is the square root of Σ|z|⁴ over the rows z. The result is None unless k < N.
    fn additive(setting: &Setting, best: f64, changes: usize, squares_norm: f64) -> Option<f64>;
    /// Return the rate `√(k(N-k)/(N T))` of the learner `additive` for T rows of norm at most Q.
    ///
    /// N is ``dimension``, and T is ``rows``. The learner divides the rate by Q². The result is None unless
    /// 0 < k < N and T > 0.
    fn additive_rate(k: usize, dimension: Dimension, rows: u64) -> Option<f64>;
    /// Return the bound of tracking (without mixing) or anchored: `(η L* + Q² (D + price)) / (1 - e^-η)`.
    ///
    /// This is JMLR Theorem 6, for learners without a center. ``best`` is the loss L* of any
    /// subspace of k directions, and D is `divergence`. The result is None unless k < N.
    fn uncentered(setting: &Setting, best: f64) -> Option<f64>;
    /// Return the bound of anchored with a running center (JMLR Theorem 8).
    ///
    /// ``best`` is the loss of any subspace around any center m. ``prior`` is the number of
    /// imaginary rows at the first center m0, ``offset`` is at least |m - m0|², and ``rows`` is the
    /// number of rows. The result is None unless k < N.
    fn centered(setting: &Setting, best: f64, prior: f64, offset: f64, rows: u64) -> Option<f64>;
    /// Return the bound of anchored whose center is the mean of the earlier rows (JMLR Corollary 9).
    ///
    /// ``best`` is the loss of any subspace around any center. ``first_square`` is at least the
    /// squared distance of the first row from the first center, and ``rows`` is the number of rows.
    /// The result is None unless k < N.
    fn centered_on_the_mean(setting: &Setting, best: f64, first_square: f64, rows: u64) -> Option<f64>;
    /// Return the bound of anchored with ``eta="auto"``: `L* + 2 Q² D + 2 Q √D √(Q² D + L* + Q²)`.
    ///
    /// ``best`` is the loss L* of any subspace of k directions, and D is `divergence`. The result
    /// is None unless k < N.
    fn self_confident(setting: &Setting, best: f64) -> Option<f64>;
    /// Return the learning rate `log(1 + √(2 D Q² / L))` for a best loss of at most L.
    ///
    /// D is ``divergence``, L is ``ceiling``, and Q² is ``scale``. The result is None unless D and L are positive.
    fn tuned_rate(divergence: f64, ceiling: f64, scale: f64) -> Option<f64>;
    /// Return the bound `√(2 L D Q²) + D Q²` on the regret of a learner with the rate `tuned_rate`.
    ///
    /// D is ``divergence``, L is ``ceiling``, and Q² is ``scale``.
    fn tuned_regret(divergence: f64, ceiling: f64, scale: f64) -> f64;
    /// Return `√(Q² L* D)`, a lower bound on the worst-case regret, up to a factor that tends to 1.
    ///
    /// This is equation (19) of the JMLR paper. Q² is ``scale``, L* is ``best``, and D is ``divergence``.
    fn lower_regret(divergence: f64, best: f64, scale: f64) -> f64;
}
