//! Conversion of texts, sets and other objects to rows of numbers, for kernels.

use eigenhedge::Model;
use eigenhedge::kernel::{Function, TextItems, VectorKernel, item_number};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Objects that are rows for a Python kernel function. A row consists of the number of its object.
#[derive(Clone, Default)]
pub struct Objects(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    next: u64,
    objects: HashMap<u64, Py<PyAny>>,
    /// Number of objects that the model used when unused objects were last dropped.
    needed: usize,
    /// First exception of the kernel function, until it is reported.
    error: Option<PyErr>,
}

/// Unused objects are dropped when more than this number, plus twice `Held::needed`, are stored.
const SPARE: usize = 64;

impl Objects {
    fn held(&self) -> MutexGuard<'_, Held> {
        // No code that holds the lock panics, so the data is valid even if the mutex is poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores an object and returns its row. Arrays are copied, because the caller may change them.
    fn row(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let object = match object.cast::<PyUntypedArray>() {
            Ok(array) => array.call_method0("copy")?,
            Err(_) => object.clone(),
        };
        let mut held = self.held();
        let number = held.next;
        held.next += 1;
        held.objects.insert(number, object.unbind());
        Ok(vec![number as f64])
    }

    fn object(&self, py: Python<'_>, row: &[f64]) -> Option<Py<PyAny>> {
        let number = *row.first()? as u64;
        self.held().objects.get(&number).map(|object| object.clone_ref(py))
    }

    /// Calls the kernel function. If it raises an exception or does not return a number, stores the exception and
    /// returns NaN, so that the model rejects the row.
    fn value(&self, function: &Py<PyAny>, a: &[f64], b: &[f64]) -> f64 {
        Python::attach(|py| {
            let value = function.call1(py, (self.object(py, a), self.object(py, b)));
            value.and_then(|value| value.extract::<f64>(py)).unwrap_or_else(|error| {
                self.held().error.get_or_insert(error);
                f64::NAN
            })
        })
    }

    fn kernel(&self, function: &Bound<'_, PyAny>) -> VectorKernel {
        let (objects, function) = (self.clone(), function.clone().unbind());
        VectorKernel::Function(Function::new(move |a, b| objects.value(&function, a, b)))
    }

    fn forget(&self, run: &Model) {
        let mut held = self.held();
        if held.objects.len() <= 2 * held.needed + SPARE {
            return;
        }
        let needed: HashSet<u64> = run.held_rows().into_iter().filter_map(|row| Some(*row.first()? as u64)).collect();
        held.needed = needed.len();
        let gone: Vec<Py<PyAny>> =
            held.objects.extract_if(|number, _| !needed.contains(number)).map(|(_, o)| o).collect();
        // Destroying an object may run Python code.
        drop(held);
        drop(gone);
    }
}

#[derive(Clone, Default)]
pub enum Points {
    #[default]
    Numbers,
    Texts(TextItems),
    Objects(Objects),
}

impl Points {
    pub fn of_function(function: &Bound<'_, PyAny>) -> (Self, VectorKernel) {
        let objects = Objects::default();
        let kernel = objects.kernel(function);
        (Self::Objects(objects), kernel)
    }

    pub fn of_kernel(kernel: Option<&VectorKernel>) -> Self {
        kernel.and_then(VectorKernel::text_items).map_or(Self::Numbers, Self::Texts)
    }

    pub fn are_items(&self) -> bool {
        !matches!(self, Self::Numbers)
    }

    /// Converts a text, set or object to a row. Returns `None` if rows are numbers.
    pub fn row(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<f64>>> {
        match self {
            Self::Numbers => Ok(None),
            Self::Texts(items) => item_row(*items, object).map(Some),
            Self::Objects(objects) => objects.row(object).map(Some),
        }
    }

    pub fn rows(&self, list: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Vec<f64>>>> {
        if !self.are_items() {
            return Ok(None);
        }
        if list.is_instance_of::<PyString>() || list.is_instance_of::<PyBytes>() {
            let found = list.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "the rows must be a list of texts, sets or objects, got {found}"
            )));
        }
        let row = |(i, object): (usize, PyResult<Bound<'_, PyAny>>)| {
            let located = |error: PyErr| match error.is_instance_of::<PyTypeError>(list.py()) {
                true => PyTypeError::new_err(format!("row {i}: {}", error.value(list.py()))),
                false => error,
            };
            Ok(self.row(&object?).map_err(located)?.unwrap_or_default())
        };
        list.try_iter()?.enumerate().map(row).collect::<PyResult<_>>().map(Some)
    }

    /// Replaces an error by the exception that a kernel function has raised, if there is one.
    pub fn told<T>(&self, outcome: PyResult<T>) -> PyResult<T> {
        match self {
            Self::Objects(objects) => {
                let raised = objects.held().error.take();
                outcome.map_err(|error| raised.unwrap_or(error))
            }
            _ => outcome,
        }
    }

    pub fn forget(&self, run: &Model) {
        if let Self::Objects(objects) = self {
            objects.forget(run);
        }
    }
}

fn item_row(items: TextItems, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let mut row = Vec::new();
    if let Ok(text) = object.cast::<PyString>() {
        items.append(&text.to_cow()?, &mut row);
        return Ok(row);
    }
    let wrong = |what: &str, found: &Bound<'_, PyAny>| {
        let found = found.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{what}, got {found}"))
    };
    let must_be = "must be a text, or a set or list of texts and numbers";
    let list = if object.is_instance_of::<PyBytes>() { None } else { object.try_iter().ok() };
    for item in list.ok_or_else(|| wrong(must_be, object))? {
        let item = item?;
        // Values are spelled as in JSON, so that a set has the same row on the command line.
        row.push(match &item {
            text if text.is_instance_of::<PyString>() => item_number(&text.cast::<PyString>()?.to_cow()?),
            truth if truth.is_instance_of::<PyBool>() => item_number(if truth.is_truthy()? { "true" } else { "false" }),
            number if number.is_instance_of::<PyInt>() || number.is_instance_of::<PyFloat>() => {
                item_number(&number.str()?.to_cow()?)
            }
            number if number.hasattr("item")? => item_number(&number.call_method0("item")?.str()?.to_cow()?),
            other => return Err(wrong("an item must be a text or a number", other)),
        });
    }
    Ok(row)
}
