//! Keyword arguments as [`Options`].

use eigenhedge::kernel::{KERNELS, KernelParameters, VectorKernel};
use eigenhedge::options::{MixingRule, Options, Rate};
use eigenhedge::registry::REGISTRY;
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{Comparators, Kind, NormBound};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An option as Python spells it.
pub fn spelling(name: &str) -> String {
    name.replace('-', "_")
}

/// Options, and what else a learner is built with.
pub struct Given {
    /// Of the learner.
    pub options: Options,
    /// What it compares itself with.
    pub comparators: Comparators,
    /// Seed of its draws.
    pub seed: u64,
}

/// Every keyword.
const KEYWORDS: &[&str] = &[
    "learner",
    "eta",
    "ceiling",
    "mixing",
    "alpha",
    "forget",
    "center",
    "center_prior",
    "norm_bound",
    "kernel",
    "gamma",
    "degree",
    "coef0",
    "feature_dim",
    "as_printed",
    "budget",
    "merge",
    "max_rank",
    "select",
    "seed",
    "hindsight",
    "segments",
];

/// Reads keyword arguments; `None` stands for the default of each.
pub fn given(kept: usize, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Given> {
    let mut given = Given { options: Options::new(Kind::Auto, kept), comparators: Comparators::default(), seed: 0 };
    let Some(keywords) = keywords else { return Ok(given) };
    for (name, value) in keywords {
        let name: String = name.extract()?;
        if !value.is_none() {
            read(&mut given, &name, &value)?;
        } else if !KEYWORDS.contains(&name.as_str()) {
            return Err(unknown_keyword(&name));
        }
    }
    Ok(given)
}

fn read(given: &mut Given, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let Given { options, comparators, seed } = given;
    let named = Named { name, value };
    match name {
        "learner" => {
            let name = named.one_of(REGISTRY.iter().map(|entry| entry.name))?;
            options.learner = Kind::from_name(name).unwrap_or(Kind::Auto);
        }
        "eta" => options.eta = Some(named.or_word("auto", Rate::Auto, Rate::Given)?),
        "ceiling" => options.ceiling = Some(named.number()?),
        "mixing" => {
            let name = named.one_of(MixingRule::NAMES.iter().map(|(name, _)| *name))?;
            options.mixing = MixingRule::NAMES.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule);
        }
        "alpha" => options.alpha = Some(named.number()?),
        "forget" => options.forget = Some(named.number()?),
        "center" => options.center = Some(named.truth()?),
        "center_prior" => options.center_prior = Some(named.number()?),
        "norm_bound" => options.norm_bound = named.or_word("auto", NormBound::Running, NormBound::Given)?,
        "kernel" => options.kernel = Some(named.kernel()?),
        "gamma" => options.parameters.gamma = Some(named.number()?),
        "degree" => options.parameters.degree = Some(named.whole()?),
        "coef0" => options.parameters.coef0 = Some(named.number()?),
        "feature_dim" => options.feature_dim = Some(named.dimension()?),
        "as_printed" => options.as_printed = named.truth()?,
        "budget" => options.budget = Some(named.whole()?),
        "merge" => options.merge = Some(named.number()?),
        "max_rank" => options.max_rank = Some(named.whole()?),
        "select" => {
            let name = named.one_of(Select::ALL.map(Select::name).into_iter())?;
            options.select = Select::from_name(name).unwrap_or_default();
        }
        "seed" => *seed = named.whole()?,
        "hindsight" => comparators.hindsight = named.truth()?,
        "segments" => comparators.segments = named.whole()?,
        _ => return Err(unknown_keyword(name)),
    }
    Ok(())
}

fn unknown_keyword(name: &str) -> PyErr {
    PyTypeError::new_err(format!("unexpected keyword argument '{name}'{}", hint(name, KEYWORDS.iter().copied())))
}

/// A value and what it is called.
pub struct Named<'a, 'py> {
    /// What it is called.
    pub name: &'a str,
    /// The value.
    pub value: &'a Bound<'py, PyAny>,
}

impl Named<'_, '_> {
    fn shown(&self) -> String {
        self.value.repr().map_or_else(|_| "?".into(), |text| text.to_string())
    }

    fn wrong(&self, rule: &str) -> PyErr {
        PyValueError::new_err(format!("{} must be {rule}, got {}", self.name, self.shown()))
    }

    /// A number.
    pub fn number(&self) -> PyResult<f64> {
        self.value.extract().map_err(|_| self.wrong("a number"))
    }

    fn truth(&self) -> PyResult<bool> {
        self.value.extract().map_err(|_| self.wrong("True or False"))
    }

    /// A whole number.
    pub fn whole<T: for<'a, 'py> FromPyObject<'a, 'py>>(&self) -> PyResult<T> {
        self.value.extract().map_err(|_| self.wrong("a whole number that is not negative or too large"))
    }

    fn or_word<T>(&self, word: &str, meaning: T, otherwise: impl Fn(f64) -> T) -> PyResult<T> {
        match self.value.extract::<String>() {
            Ok(text) if text == word => Ok(meaning),
            Ok(_) => Err(self.wrong(&format!("a number or '{word}'"))),
            Err(_) => self.value.extract().map(otherwise).map_err(|_| self.wrong(&format!("a number or '{word}'"))),
        }
    }

    fn dimension(&self) -> PyResult<Multiplicity> {
        match self.value.extract::<u64>() {
            Ok(dimension) => Ok(Multiplicity::Finite(dimension)),
            Err(_) if self.value.extract::<f64>().is_ok_and(|value| value == f64::INFINITY) => {
                Ok(Multiplicity::Infinite)
            }
            Err(_) if self.value.extract::<String>().is_ok_and(|text| text == "inf") => Ok(Multiplicity::Infinite),
            Err(_) => Err(self.wrong("a whole number or 'inf'")),
        }
    }

    /// A name of the list, as the list spells it.
    pub fn one_of(&self, names: impl Iterator<Item = &'static str> + Clone) -> PyResult<&'static str> {
        let Ok(text) = self.value.extract::<String>() else { return Err(self.wrong("a name")) };
        names.clone().find(|name| *name == text).ok_or_else(|| {
            let list: Vec<&str> = names.clone().collect();
            let hint = hint(&text, names);
            PyValueError::new_err(format!("{} must be one of {}, got '{text}'{hint}", self.name, list.join(", ")))
        })
    }

    /// The name of a kernel; `poly` is short for polynomial.
    pub fn kernel(&self) -> PyResult<&'static str> {
        if self.value.extract::<String>().is_ok_and(|text| text == "poly") {
            return Ok("polynomial");
        }
        self.one_of(KERNELS.iter().map(|entry| entry.name))
    }
}

/// The nearest name, when one is near.
fn hint(text: &str, names: impl Iterator<Item = &'static str>) -> String {
    let nearest = names.map(|name| (distance(text, name), name)).min();
    nearest
        .filter(|(distance, name)| 3 * distance <= name.len().max(3))
        .map_or_else(String::new, |(_, name)| format!(": did you mean '{name}'?"))
}

/// Edits that turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = last[0];
        last[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let kept = diagonal + usize::from(x != *y);
            diagonal = last[j + 1];
            last[j + 1] = kept.min(diagonal + 1).min(last[j] + 1);
        }
    }
    last[b.len()]
}

/// A kernel by name, with the parameters it reads; others are left aside, as in scikit-learn.
pub fn kernel(
    name: &Bound<'_, PyAny>,
    gamma: Option<f64>,
    degree: Option<u32>,
    coef0: Option<f64>,
    length: usize,
) -> PyResult<VectorKernel> {
    let name = Named { name: "kernel", value: name }.kernel()?;
    let parameters = KernelParameters { gamma, degree, coef0, length_scale: None };
    let kernel = VectorKernel::from_name(name, &parameters, length);
    let kernel = kernel.ok_or_else(|| PyValueError::new_err(format!("no kernel is called {name}")))?;
    kernel.checked().map_err(|error| crate::errors::refused(&error))
}

/// The registry of learners: name, family, summary, guarantee, cost and source of each, and the options it reads.
#[pyfunction]
pub fn learners(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &eigenhedge::registry::Entry| {
        let found = PyDict::new(py);
        found.set_item("name", entry.name)?;
        found.set_item("family", format!("{:?}", entry.family).to_lowercase())?;
        found.set_item("summary", entry.summary)?;
        found.set_item("guarantee", entry.guarantee)?;
        found.set_item("cost", entry.cost)?;
        found.set_item("source", entry.source)?;
        let reads = entry.reads;
        let named = [
            ("eta", reads.eta),
            ("mixing", reads.mixing),
            ("alpha", reads.mixing),
            ("merge", reads.mixing),
            ("forget", reads.forget),
            ("center", reads.center),
            ("center_prior", reads.center),
            ("max_rank", reads.max_rank),
        ];
        found.set_item("reads", named.iter().filter(|(_, reads)| *reads).map(|(name, _)| *name).collect::<Vec<_>>())?;
        Ok(found)
    };
    REGISTRY.iter().map(entry).collect()
}

/// The registry of kernels: name, formula and parameters of each.
#[pyfunction]
pub fn kernels(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &eigenhedge::kernel::KernelEntry| {
        let found = PyDict::new(py);
        found.set_item("name", entry.name)?;
        found.set_item("formula", entry.formula)?;
        found.set_item("positive_definite", entry.positive_definite)?;
        found.set_item("reads", entry.reads.to_vec())?;
        Ok(found)
    };
    KERNELS.iter().map(entry).collect()
}

/// Lets passes over long rows use so many threads, in this process from now on. No result depends on it.
///
/// Parameters
/// ----------
/// count : int
///     At least 1, which is what a process starts with. More help when rows have some 30,000 numbers or more.
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    let count = count.try_into().map_err(|_| PyValueError::new_err("threads must be at least 1, got 0"))?;
    eigenhedge::set_threads(count);
    Ok(())
}
