//! Python bindings of `eigenhedge::bounds`.

use eigenhedge::bounds;
use eigenhedge::simplex::Multiplicity;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Dimension of a space: a whole number or infinity.
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

/// Parameters of a subspace learner on which the bounds depend.
///
/// Parameters
/// ----------
/// eta : float
///     Learning rate, for rows of norm at most 1.
/// k : int
///     Number of directions kept.
/// dimension : int or inf
///     Dimension N of the space.
/// norm_square : float, default=1.0
///     Squared bound Q² on the norms of rows.
/// price : float, default=0.0
///     Cost of approximations and mixing, which is added to the constant D of the bound.
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
    fn new(eta: f64, k: usize, dimension: Dimension, norm_square: f64, price: f64) -> Self {
        Self(bounds::Setting { norm_square, price, ..bounds::Setting::new(eta, k, dimension.0) })
    }
}

impl<'a> From<&'a Setting> for &'a bounds::Setting {
    fn from(setting: &'a Setting) -> Self {
        &setting.0
    }
}

/// Defines a Python function for each function in `eigenhedge::bounds`, and a function that lists them.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(#[pyfunction]
        fn $name($($argument: $type),*) -> $result {
            bounds::$name($($argument.into()),*)
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
    fn divergence(k: usize, dimension: Dimension) -> Option<f64>;
    fn divergence_by_kept(k: usize, dimension: Dimension) -> Option<f64>;
    fn set_divergence(k: usize, experts: usize) -> f64;
    fn hedge(eta: f64, best: f64, experts: usize) -> f64;
    fn capped_hedge(eta: f64, best: f64, k: usize, experts: usize) -> Option<f64>;
    fn set_experts(eta: f64, best: f64, k: usize, experts: usize) -> f64;
    fn pair(setting: &Setting, best: f64, rows: u64) -> Option<f64>;
    fn shift_cost(k: usize, dimension: Dimension, alpha: f64) -> Option<f64>;
    fn shifting(setting: &Setting, best: f64, changes: usize, alpha: f64) -> Option<f64>;
    fn additive(setting: &Setting, best: f64, changes: usize, squares_norm: f64) -> Option<f64>;
    fn additive_rate(k: usize, dimension: Dimension, rows: u64) -> Option<f64>;
    fn uncentered(setting: &Setting, best: f64) -> Option<f64>;
    fn centered(setting: &Setting, best: f64, prior: f64, offset: f64, rows: u64) -> Option<f64>;
    fn centered_on_the_mean(setting: &Setting, best: f64, first_square: f64, rows: u64) -> Option<f64>;
    fn self_confident(setting: &Setting, best: f64) -> Option<f64>;
    fn tuned_rate(divergence: f64, ceiling: f64, scale: f64) -> Option<f64>;
    fn tuned_regret(divergence: f64, ceiling: f64, scale: f64) -> f64;
    fn lower_regret(divergence: f64, best: f64, scale: f64) -> f64;
}
