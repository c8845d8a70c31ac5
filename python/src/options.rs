//! Conversion of keyword arguments to [`Options`].

use crate::arrays::{Given, Object, Rows};
use crate::classes::dictionary;
use crate::errors::refused;
use crate::interrupt::alone;
use crate::items::Points;
use crate::spelling::spelling;
use eigenhedge::comparators::BestSubspace;
use eigenhedge::kernel::{KERNELS, VectorKernel, Vectors};
use eigenhedge::options::{Choice, OPTIONS, OptionEntry, Options, Readers, Setup, Type, Value, fill};
use eigenhedge::registry::{REGISTRY, defaults};
use eigenhedge::{Error, Kind, Standardize};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};

/// Converts keyword arguments to options. For a kernel function, also returns the type of its rows.
pub fn given(kept: usize, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<(Options, Option<Points>)> {
    let mut options = Options::new(Kind::Auto, kept);
    let mut points = None;
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let Some(option) = OPTIONS.iter().find(|option| spelling(option.name) == name) else {
            let names: Vec<String> = OPTIONS.iter().map(|option| spelling(option.name)).collect();
            let hint = hint(&name, names.iter().map(String::as_str));
            return Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'{hint}")));
        };
        if option.name == "kernel" && value.is_callable() {
            let (objects, kernel) = Points::of_function(&value);
            (options, points) = (options.with_kernel(kernel), Some(objects));
        } else if !value.is_none() {
            options = options.with(option.name, Named { name: &name, value: &value }.of(option.values)?);
        }
    }
    Ok((options, points))
}

pub fn setup(kept: usize, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<(Setup, Option<Points>)> {
    let (options, points) = given(kept, keywords)?;
    Ok((options.resolve(spelling).map_err(|misuse| PyValueError::new_err(misuse.0))?, points))
}

#[pyfunction]
#[pyo3(name = "_check_options", signature = (k, **options))]
pub fn check_options(k: &Object<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    setup(Named { name: "k", value: k }.whole()?, options).map(drop)
}

const WHOLE: &str = "a whole number, at least 0 and less than 2**64";

pub struct Named<'a, 'py> {
    pub name: &'a str,
    pub value: &'a Object<'py>,
}

impl Named<'_, '_> {
    fn shown(&self) -> String {
        self.value.repr().map_or_else(|_| "?".into(), |text| text.to_string())
    }

    pub fn wrong(&self, rule: &str) -> PyErr {
        PyValueError::new_err(format!("{} must be {rule}, got {}", self.name, self.shown()))
    }

    /// Converts the value to the type of an option, without checking its range.
    fn of(&self, values: Type) -> PyResult<Value> {
        let text = self.value.extract::<String>().ok();
        let is_infinite = || self.value.extract::<f64>().is_ok_and(|value| value == f64::INFINITY);
        let value = match (values, text) {
            (Type::Choice(list), None) => {
                // The words of the option `center` for True and False.
                let word = self.value.extract().map(|yes| if yes { "running" } else { "none" });
                word.ok().filter(|word| list().iter().any(|choice| choice.name == *word)).map(Value::from)
            }
            (Type::Choice(list), Some(text)) => {
                let names: Vec<String> = list().iter().map(Choice::shown).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return match values.parse(&text) {
                    Some(value) => Ok(value),
                    None => Err(self.none_of(&text, &names)),
                };
            }
            (Type::Numbers, Some(text)) => values.parse(&text),
            (Type::Numbers, None) => {
                let numbers = self.value.extract().or_else(|_| self.value.extract().map(|number| vec![number]));
                let numbers: Vec<f64> = numbers.unwrap_or_default();
                let is_list = !numbers.is_empty() && numbers.iter().all(|number| number.is_finite());
                is_list.then(|| Value::list(&numbers))
            }
            (_, Some(text)) => values.word().filter(|word| *word == text).map(Value::from),
            (Type::Flag, None) => self.value.extract().ok().map(Value::Flag),
            (Type::Number(..), None) => self.value.extract().ok().map(Value::Number),
            (Type::Count(_, Some("inf")), None) if is_infinite() => Some(Value::from("inf")),
            (Type::Count(..), None) => self.value.extract().ok().map(Value::Count),
            (Type::Text(..), None) => None,
        };
        value.ok_or_else(|| match values {
            Type::Count(..) if self.value.is_instance_of::<PyInt>() => self.wrong(WHOLE),
            values => self.wrong(&values.description()),
        })
    }

    pub fn whole<T: for<'a, 'py> FromPyObject<'a, 'py>>(&self) -> PyResult<T> {
        self.value.extract().map_err(|_| self.wrong(WHOLE))
    }

    pub fn one_of(&self, names: &[&'static str]) -> PyResult<&'static str> {
        let Ok(text) = self.value.extract::<String>() else { return Err(self.wrong("a name")) };
        names.iter().copied().find(|name| *name == text).ok_or_else(|| self.none_of(&text, names))
    }

    fn none_of(&self, text: &str, names: &[&str]) -> PyErr {
        let hint = hint(text, names.iter().copied());
        PyValueError::new_err(format!("{} must be one of {}, got '{text}'{hint}", self.name, names.join(", ")))
    }
}

pub fn seed(value: &Object<'_>) -> PyResult<u64> {
    Named { name: "seed", value }.whole()
}

pub fn standardize(value: &Object<'_>) -> PyResult<Standardize> {
    let wrong = |_| Named { name: "standardize", value }.wrong("none, running or warmup:ROWS");
    let text: String = value.extract().map_err(wrong)?;
    text.parse().map_err(|error: Error| refused(error))
}

pub fn option(name: &'static str, value: Option<&Object<'_>>) -> PyResult<Option<Value>> {
    let values = OptionEntry::find(name).map(|option| option.values);
    let read = |value: &Object<'_>| values.map(|values| Named { name, value }.of(values)).transpose();
    value.map_or(Ok(None), read)
}

fn hint<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> String {
    let text = text.to_lowercase();
    let nearest = names.map(|name| (strsim::levenshtein(&text, &name.to_lowercase()), name)).min();
    nearest
        .filter(|(distance, name)| 3 * distance <= name.len().max(3))
        .map_or_else(String::new, |(_, name)| format!(": did you mean '{name}'?"))
}

pub struct Chosen {
    pub points: Points,
    setup: Setup,
}

impl Chosen {
    /// Reads the keyword `kernel`, a name or a function, and its parameters. Ignores those that the kernel does not
    /// use, as scikit-learn does.
    pub fn new(keywords: &Bound<'_, PyDict>) -> PyResult<Self> {
        let name: Option<String> = keywords.get_item("kernel")?.and_then(|name| name.extract().ok());
        let name = name.map(|name| if name == "poly" { "polynomial".to_owned() } else { name });
        let reads = KERNELS.iter().find(|entry| name.as_deref() == Some(entry.name));
        let read = PyDict::new(keywords.py());
        for (name, value) in keywords {
            let text: String = name.extract()?;
            if text == "kernel" || reads.is_some_and(|entry| entry.reads.iter().any(|read| spelling(read) == text)) {
                read.set_item(name, value)?;
            }
        }
        let (setup, points) = setup(1, Some(&read))?;
        let points = points.unwrap_or_else(|| setup.text_items().map_or(Points::Numbers, Points::Texts));
        Ok(Self { points, setup })
    }

    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        self.points.told(alone(py, work)?.map_err(refused))
    }

    /// Returns the rows and an empty dictionary.
    pub fn rows(&self, x: &Object<'_>) -> PyResult<(Vec<Vec<f64>>, Vectors)> {
        let given = Given::new(x, &self.points, None)?;
        let mut rows = Rows::given(&given)?;
        Ok((rows.all(), self.dictionary(rows.length())?))
    }

    pub fn scaled_for<R: AsRef<[f64]>>(self, rows: &[R]) -> Self {
        Self { setup: self.setup.with_gamma_of(rows), ..self }
    }

    pub fn dictionary(&self, length: usize) -> PyResult<Vectors> {
        let kernel = self.setup.for_rows(length).map(|setup| setup.spec.kernel);
        let dictionary = kernel.and_then(|kernel| Vectors::new(kernel.unwrap_or(VectorKernel::Linear), length));
        dictionary.map_err(refused)
    }
}

/// Returns γ, computed from the first rows, if the kernel needs it and a distance between rows is positive.
#[pyfunction]
#[pyo3(name = "_median_gamma")]
pub fn median_gamma(rows: &Object<'_>, kernel: &Bound<'_, PyDict>) -> PyResult<Option<f64>> {
    let chosen = Chosen::new(kernel)?;
    if !chosen.setup.lacks_gamma() {
        return Ok(None);
    }
    let given = Given::new(rows, &chosen.points, None)?;
    let mut rows = Rows::given(&given)?;
    let count = rows.count().min(SCALE_ROWS);
    Ok(chosen.setup.clone().with_gamma_of(&rows.lot(0..count)).gamma())
}

/// Returns advice if the kernel matrix of the first rows is nearly the identity or nearly constant.
#[pyfunction]
#[pyo3(name = "_kernel_advice")]
pub fn kernel_advice(rows: &Object<'_>, kernel: &Bound<'_, PyDict>) -> PyResult<Option<&'static str>> {
    let chosen = Chosen::new(kernel)?;
    let given = Given::new(rows, &chosen.points, None)?;
    let mut rows = Rows::given(&given)?;
    let count = rows.count().min(SCALE_ROWS);
    Ok(chosen.dictionary(rows.length())?.kernel().advice(&rows.lot(0..count)))
}

/// Maximum number of rows that are read for γ and for advice. The library uses the first 200 complete ones.
const SCALE_ROWS: usize = 1000;

/// Return a dictionary for each learner: name, family, summary, guarantee, cost, source, reads (names of its options).
#[pyfunction]
pub fn learners(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &eigenhedge::registry::Entry| {
        let reads = OPTIONS.iter().filter(|option| option.is_read_by(entry.kind));
        Ok(dictionary! { py;
            "name": entry.name, "family": format!("{:?}", entry.family).to_lowercase(), "summary": entry.summary,
            "guarantee": entry.guarantee, "cost": entry.cost, "source": entry.source,
            "reads": reads.map(|option| spelling(option.name)).collect::<Vec<_>>(),
        })
    };
    REGISTRY.iter().map(entry).collect()
}

/// Returns the table of options for `eigenhedge.options`. Examples are command-line arguments.
#[pyfunction]
pub fn options(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |option: &OptionEntry| {
        let (kind, choices) = match option.values {
            Type::Number(..) => ("number", Vec::new()),
            Type::Count(..) => ("count", Vec::new()),
            Type::Flag => ("flag", Vec::new()),
            Type::Text(..) => ("text", Vec::new()),
            Type::Numbers => ("numbers", Vec::new()),
            Type::Choice(list) => ("choice", list().iter().map(Choice::shown).collect()),
        };
        let readers = REGISTRY.iter().filter(|entry| option.is_read_by(entry.kind));
        Ok(dictionary! { py;
            "name": spelling(option.name), "type": kind, "word": option.values.word(), "choices": choices,
            "default": option.default, "example": option.example, "rule": option.values.rule(),
            "help": fill(option.help, |name| format!("``{}``", spelling(name))),
            "read_by": readers.map(|entry| entry.name).collect::<Vec<_>>(),
            "needs_kernel": matches!(option.readers, Readers::Features),
        })
    };
    OPTIONS.iter().map(entry).collect()
}

pub fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(dictionary! { py;
        "pair_eta": defaults::PAIR_ETA, "pair_alpha": defaults::PAIR_ALPHA, "experts_eta": defaults::EXPERTS_ETA,
        "longest_exact": BestSubspace::LONGEST, "kernel": defaults::KERNEL, "ridge_alpha": defaults::RIDGE_ALPHA,
        "mmd_splits": defaults::MMD_SPLITS,
    })
}

/// Return a dictionary for each kernel: name, formula, positive_definite (bool), takes_items (True if rows are texts
/// or sets), reads (names of its parameters).
#[pyfunction]
pub fn kernels(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &eigenhedge::kernel::KernelEntry| {
        Ok(dictionary! { py;
            "name": entry.name, "formula": entry.formula, "positive_definite": entry.positive_definite,
            "takes_items": entry.takes_items(),
            "reads": entry.reads.iter().map(|name| spelling(name)).collect::<Vec<_>>(),
        })
    };
    KERNELS.iter().map(entry).collect()
}

/// Set the number of threads for the whole process, 1 by default and at most 256. Results do not depend on it.
///
/// More threads speed up :meth:`Model.learn` with the learner ``"auto"``, and all learners if rows have about
/// 30,000 numbers or more.
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    let count = count.try_into().map_err(|_| PyValueError::new_err("threads must be at least 1, got 0"))?;
    eigenhedge::set_threads(count);
    Ok(())
}
