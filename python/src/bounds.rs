//! Python bindings of `eigenhedge::bounds`.

use crate::classes::attributes;
use eigenhedge::bounds;
use eigenhedge::simplex::Multiplicity;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;

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

/// Argument of a bound, as a number whose range is checked, or `None`.
trait Argument {
    fn number(&self) -> Option<f64>;
}

macro_rules! arguments {
    ($($type:ty: |$value:ident| $number:expr;)*) => {
        $(impl Argument for $type {
            fn number(&self) -> Option<f64> {
                let $value = self;
                $number
            }
        })*
    };
}

arguments! {
    f64: |value| Some(*value);
    usize: |value| Some(*value as f64);
    u64: |value| Some(*value as f64);
    Dimension: |_dimension| None;
    &Setting: |_setting| None;
}

/// Returns a `ValueError` if the value violates the rule for arguments of this name.
fn check(function: &str, name: &str, value: f64) -> PyResult<()> {
    let finite = value.is_finite();
    let (holds, rule) = match (function, name) {
        // A gain may be negative.
        ("pair", "best") => (finite, "finite"),
        (_, "eta" | "norm_square" | "scale") => (value > 0.0 && finite, "finite and positive"),
        (_, "alpha") => (value > 0.0 && value <= 1.0, "greater than 0 and at most 1"),
        (_, "experts" | "rows") => (value >= 1.0, "at least 1"),
        _ => (value >= 0.0 && finite, "finite and not negative"),
    };
    if holds { Ok(()) } else { Err(wrong(name, rule, value)) }
}

fn wrong(name: &str, rule: &str, value: impl Display) -> PyErr {
    PyValueError::new_err(format!("{name} must be {rule}, got {value}"))
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
            check("Setting", name, value)?;
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

/// Defines a Python function for each function in `eigenhedge::bounds`, and a function that returns them by name. The
/// text after the condition `where` is the rule in the message.
macro_rules! functions {
    ($($(#[$documentation:meta])*
    fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty
    $(where $least:ident $sign:tt $most:ident, $rule:literal)?;)*) => {
        $($(#[$documentation])*
        #[pyfunction]
        fn $name($($argument: $type),*) -> PyResult<$result> {
            $(if let Some(number) = $argument.number() {
                check(stringify!($name), stringify!($argument), number)?;
            })*
            $(if !($least $sign $most) {
                return Err(wrong(stringify!($least), &format!($rule, $most), $least));
            })?
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
    /// Return `d log(N/d)` with d = N - k: the divergence of a subspace from the uniform start, or k if N is infinite.
    fn divergence(k: usize, dimension: Dimension) -> Option<f64>;
    /// Return `k log(N/k)`, an upper bound on `divergence` that the papers print, for 0 < k ≤ N/2.
    fn divergence_by_kept(k: usize, dimension: Dimension) -> Option<f64>;
    /// Return `log C(n, k)`: the divergence of a set of k of n ``experts`` from the uniform distribution over sets.
    fn set_divergence(k: usize, experts: usize) -> f64 where k <= experts, "at most the number of experts, {}";
    /// Return the bound of Hedge on the expected loss: `(η L* + log n) / (1 - e^-η)` (JMLR Theorem 1).
    ///
    /// Losses must be between 0 and 1. L* is the loss of any single expert, and n is ``experts``.
    fn hedge(eta: f64, best: f64, experts: usize) -> f64;
    /// Return the bound of capped Hedge without mixing: `(η L* + d log(n/d)) / (1 - e^-η)` (JMLR Theorem 3).
    ///
    /// Here n is ``experts``, d = n - k, and L* is the loss of any set of d experts. Losses must be between 0 and 1.
    fn capped_hedge(eta: f64, best: f64, k: usize, experts: usize) -> Option<f64>;
    /// Return the bound of Hedge over all sets of d experts: `d (η L* + log C(n, d)) / (1 - e^-(ηd))`.
    ///
    /// Symbols are those of `capped_hedge`. ``eta`` is the rate for the losses of single experts.
    fn set_experts(eta: f64, best: f64, k: usize, experts: usize) -> f64 where k < experts, "less than the number of experts, {}";
    /// Return the lower bound on the total expected gain of the learner `Pair` without mixing.
    ///
    /// ``best`` is the gain of any subspace of k directions. The product of the norms of each pair of rows is at most Q².
    fn pair(setting: &Setting, best: f64, rows: u64) -> Option<f64>;
    /// Return `k log(N/(α d))` with d = N - k: the cost of a change of the comparator under fixed share with rate α.
    fn shift_cost(k: usize, dimension: Dimension, alpha: f64) -> Option<f64>;
    /// Return the bound of tracking with fixed share of rate ``alpha``, for a comparator that changes its subspace.
    ///
    /// ``best`` is the loss of any partition of the rows into ``changes + 1`` segments, with any subspace for each.
    fn shifting(setting: &Setting, best: f64, changes: usize, alpha: f64) -> Option<f64>;
    /// Return the bound of the learner `additive`: `L + Q² (k(N-k)/N + 2 S min(k, N-k)) / (2η) + η/(2Q²) Σ|z|⁴`.
    ///
    /// S is the number of ``changes`` of the comparator, whose loss is L. ``squares_norm`` is the root of Σ|z|⁴ over the
    /// rows z.
    fn additive(setting: &Setting, best: f64, changes: usize, squares_norm: f64) -> Option<f64>;
    /// Return the rate `√(k(N-k)/(N T))` of the learner `additive` for T rows, which divides it by Q².
    fn additive_rate(k: usize, dimension: Dimension, rows: u64) -> Option<f64>;
    /// Return the bound of tracking (without mixing) or anchored: `(η L* + Q² (D + price)) / (1 - e^-η)`.
    ///
    /// This is JMLR Theorem 6, for learners without a center. L* is the loss of any subspace, and D is `divergence`.
    fn uncentered(setting: &Setting, best: f64) -> Option<f64>;
    /// Return the bound of anchored with a running center (JMLR Theorem 8).
    ///
    /// ``best`` is the loss of any subspace around any center m. ``prior`` is the number of imaginary rows at the first
    /// center m0, and ``offset`` is at least |m - m0|².
    fn centered(setting: &Setting, best: f64, prior: f64, offset: f64, rows: u64) -> Option<f64>;
    /// Return the bound of anchored whose center is the mean of the earlier rows (JMLR Corollary 9).
    ///
    /// ``first_square`` is at least the squared distance of the first row from the first center.
    fn centered_on_the_mean(setting: &Setting, best: f64, first_square: f64, rows: u64) -> Option<f64>;
    /// Return the bound of anchored with ``eta="auto"``: `L* + 2 Q² D + 2 Q √D √(Q² D + L* + Q²)`.
    ///
    /// ``best`` is the loss L* of any subspace of k directions, and D is `divergence`. The result is None unless k < N.
    fn self_confident(setting: &Setting, best: f64) -> Option<f64>;
    /// Return the learning rate `log(1 + √(2 D Q² / L))` for a divergence D and a best loss of at most L, the ceiling.
    fn tuned_rate(divergence: f64, ceiling: f64, scale: f64) -> Option<f64>;
    /// Return the bound `√(2 L D Q²) + D Q²` on the regret of a learner with the rate `tuned_rate`.
    fn tuned_regret(divergence: f64, ceiling: f64, scale: f64) -> f64;
    /// Return `√(Q² L* D)`, a lower bound on the worst-case regret, up to a factor that tends to 1 (JMLR equation 19).
    fn lower_regret(divergence: f64, best: f64, scale: f64) -> f64;
}
