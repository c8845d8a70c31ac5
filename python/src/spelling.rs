//! Conversion of option names and values to Python.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;

pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    from_json(py, serde_json::to_string(value))
}

pub fn from_json(py: Python<'_>, text: serde_json::Result<String>) -> PyResult<Bound<'_, PyAny>> {
    let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

pub fn spelling(name: &str) -> String {
    name.replace('-', "_")
}
