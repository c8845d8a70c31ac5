//! Arrays in and out.

use numpy::ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A table: C-ordered float64, not copied.
pub type Table<'py> = PyReadonlyArray2<'py, f64>;
/// A list of numbers.
pub type List<'py> = PyReadonlyArray1<'py, f64>;

/// A table out of anything that holds numbers in rows: an array of float64 in C order as it is, anything else through
/// `eigenhedge._rows`.
pub fn as_table<'py>(object: &Bound<'py, PyAny>) -> PyResult<Table<'py>> {
    if let Ok(array) = object.cast::<PyArray2<f64>>()
        && array.is_c_contiguous()
    {
        return Ok(array.readonly());
    }
    let made = object.py().import("eigenhedge._rows")?.call_method1("as_rows", (object,))?;
    Ok(made.cast::<PyArray2<f64>>()?.readonly())
}

/// The entries, row after row. Python's side has seen to the order.
pub fn entries<'a>(table: &'a Table<'_>) -> PyResult<&'a [f64]> {
    table.as_slice().map_err(|_| PyTypeError::new_err("the array must be C-ordered"))
}

/// The rows.
pub fn rows<'a>(table: &'a Table<'_>) -> PyResult<Vec<&'a [f64]>> {
    let (count, length) = shape(table);
    let entries = entries(table)?;
    Ok((0..count).map(|i| &entries[i * length..(i + 1) * length]).collect())
}

/// Rows and columns.
pub fn shape(table: &Table<'_>) -> (usize, usize) {
    let shape = table.as_array().dim();
    (shape.0, shape.1)
}

/// Numbers of any kind that Python can turn into float64: an array without a copy, when it is one.
pub enum Numbers<'py> {
    /// An array of float64.
    Array(List<'py>),
    /// Anything else.
    Owned(Vec<f64>),
}

impl<'py> Numbers<'py> {
    /// Reads them.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray1<f64>>() {
            let array = array.readonly();
            return Ok(match array.as_slice() {
                Ok(_) => Self::Array(array),
                Err(_) => Self::Owned(array.as_array().to_vec()),
            });
        }
        let numbers = object.extract::<Vec<f64>>();
        numbers.map(Self::Owned).map_err(|_| {
            let name = object.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
            PyTypeError::new_err(format!("must be a list of numbers, got {name}"))
        })
    }

    /// The numbers.
    pub fn slice(&self) -> &[f64] {
        match self {
            Self::Array(array) => array.as_slice().unwrap_or_default(),
            Self::Owned(numbers) => numbers,
        }
    }
}

/// A table out of rows written one after another.
pub fn table<'py>(
    py: Python<'py>,
    entries: Vec<f64>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = Array2::from_shape_vec((rows, columns), entries);
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// A table whose rows are the columns of a matrix.
pub fn transposed<'py>(py: Python<'py>, matrix: &eigenhedge::matrix::Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let entries = (0..matrix.columns()).flat_map(|j| matrix.column(j)).copied().collect();
    table(py, entries, matrix.columns(), matrix.rows())
}
