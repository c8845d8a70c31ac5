//! Conversion between Python objects and rows of numbers.

use crate::items::Points;
use eigenhedge::Missing;
use eigenhedge_io::{Layout, Stream};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList};
use std::ops::Range;
use std::path::PathBuf;

pub type Object<'py> = Bound<'py, PyAny>;
pub type Array1<'py> = Bound<'py, PyArray1<f64>>;
pub type Array2<'py> = Bound<'py, PyArray2<f64>>;

pub type Table<'py> = PyReadonlyArray2<'py, f64>;

pub type Names = Option<Vec<String>>;

/// Converts an object to a table of float64 in C order. Such an array is not copied. `eigenhedge._rows` converts all
/// other objects, including subclasses of arrays such as masked arrays.
pub fn as_table<'py>(object: &Object<'py>) -> PyResult<Table<'py>> {
    as_named_table(object, None)
}

/// Converts an object like [`as_table`], and matches the columns of a table with names by `names`.
pub fn as_named_table<'py>(object: &Object<'py>, names: Option<&[String]>) -> PyResult<Table<'py>> {
    if let Ok(array) = object.cast_exact::<PyArray2<f64>>()
        && let Ok(table) = array.try_readonly()
        && entries(&table).is_some()
    {
        return Ok(table);
    }
    let made = object.py().import("eigenhedge._rows")?.call_method1("as_rows", (object, names))?;
    Ok(made.cast::<PyArray2<f64>>()?.try_readonly()?)
}

pub fn column_names(object: &Object<'_>) -> PyResult<Names> {
    if object.cast_exact::<PyArray2<f64>>().is_ok() {
        return Ok(None);
    }
    object.py().import("eigenhedge._rows")?.call_method1("column_names", (object,))?.extract()
}

fn entries<'a>(table: &'a Table<'_>) -> Option<&'a [f64]> {
    // `as_slice` also succeeds for arrays in Fortran order.
    table.is_c_contiguous().then(|| table.as_slice().ok()).flatten()
}

pub enum Given<'py> {
    Table(Table<'py>),
    Items(Vec<Vec<f64>>),
}

impl<'py> Given<'py> {
    pub fn new(object: &Object<'py>, points: &Points, names: Option<&[String]>) -> PyResult<Self> {
        Ok(match points.rows(object)? {
            Some(rows) => Self::Items(rows),
            None => Self::Table(as_named_table(object, names)?),
        })
    }

    pub fn names(&self, object: &Object<'py>) -> PyResult<Names> {
        match self {
            Self::Table(_) => column_names(object),
            Self::Items(_) => Ok(None),
        }
    }
}

/// Rows of a table or of items. Rows of a table are copied before use, because other threads may write to the array
/// while the interpreter lock is released, and the library must learn the numbers that it has checked.
pub struct Rows<'a> {
    source: Source<'a>,
    count: usize,
    length: usize,
    copy: Vec<f64>,
}

enum Source<'a> {
    Entries(&'a [f64]),
    Items(&'a [Vec<f64>]),
}

impl<'a> Rows<'a> {
    pub fn of(table: &'a Table<'_>) -> PyResult<Self> {
        let entries = entries(table).ok_or_else(|| PyTypeError::new_err("the array must be C-ordered"))?;
        let [count, length] = *table.shape() else { return Err(PyTypeError::new_err("the array must be a table")) };
        Ok(Self { source: Source::Entries(entries), count, length, copy: Vec::new() })
    }

    pub fn given(given: &'a Given<'_>) -> PyResult<Self> {
        match given {
            Given::Table(table) => Self::of(table),
            Given::Items(items) => {
                Ok(Self { source: Source::Items(items), count: items.len(), length: 1, copy: Vec::new() })
            }
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of columns, which is 1 for items.
    pub fn length(&self) -> usize {
        self.length
    }

    pub fn row(&mut self, i: usize) -> &[f64] {
        self.lot(i..i + 1).swap_remove(0)
    }

    pub fn lot(&mut self, lot: Range<usize>) -> Vec<&[f64]> {
        match self.source {
            Source::Entries(entries) => {
                self.copy.clear();
                self.copy.extend_from_slice(&entries[lot.start * self.length..lot.end * self.length]);
                (0..lot.len()).map(|i| &self.copy[i * self.length..(i + 1) * self.length]).collect()
            }
            Source::Items(items) => items[lot].iter().map(Vec::as_slice).collect(),
        }
    }

    pub fn all(&mut self) -> Vec<Vec<f64>> {
        self.lot(0..self.count).into_iter().map(<[f64]>::to_vec).collect()
    }
}

pub fn numbers(object: &Object<'_>) -> PyResult<Vec<f64>> {
    named_numbers(object, None)
}

/// Copies a sequence of numbers. The entries of a pandas Series with text labels are matched by `names`.
pub fn named_numbers(object: &Object<'_>, names: Option<&[String]>) -> PyResult<Vec<f64>> {
    if let Ok(array) = object.cast_exact::<PyArray1<f64>>()
        && let Ok(numbers) = array.try_readonly()?.as_slice()
    {
        return Ok(numbers.to_vec());
    }
    if let Ok(list) = object.cast_exact::<PyList>()
        && let Some(numbers) = list.iter().map(|item| plain_number(&item)).collect()
    {
        return Ok(numbers);
    }
    let made = object.py().import("eigenhedge._rows")?.call_method1("as_numbers", (object, names))?;
    let made = made.cast::<PyArray1<f64>>()?.try_readonly()?;
    Ok(made.as_slice().map_err(|_| PyTypeError::new_err("the array must be contiguous"))?.to_vec())
}

fn plain_number(object: &Object<'_>) -> Option<f64> {
    let is_plain = object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyInt>();
    is_plain.then(|| object.extract().ok()).flatten()
}

pub fn table<'py>(py: Python<'py>, entries: Vec<f64>, rows: usize, columns: usize) -> PyResult<Array2<'py>> {
    let array = numpy::ndarray::Array2::from_shape_vec((rows, columns), entries);
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// Reads the names (if the file has names) and rows of the numeric columns of a file. Missing cells are NaN.
#[pyfunction]
#[pyo3(name = "_read_table")]
pub fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<(Names, Array2<'_>)> {
    let read = || {
        let source = eigenhedge_io::Source::File(path);
        let layout = Layout::new(source.format().map_err(|reason| reason.to_string())?);
        let layout = Layout { find_time: true, missing: Some(Missing::Fill), ..layout };
        let mut stream = Stream::open(&source, &layout).map_err(|error| format!("{error:#}"))?;
        let (mut entries, mut count) = (Vec::new(), 0);
        while let Some(row) = stream.next_row().map_err(|error| format!("{error:#}"))? {
            entries.extend_from_slice(row);
            count += 1;
        }
        Ok((stream.own_names(), entries, count, stream.columns().len()))
    };
    let (names, entries, rows, columns) = py.detach(read).map_err(PyValueError::new_err::<String>)?;
    Ok((names, table(py, entries, rows, columns)?))
}

pub fn transposed<'py>(py: Python<'py>, matrix: &eigenhedge::Matrix) -> PyResult<Array2<'py>> {
    let entries = (0..matrix.columns()).flat_map(|j| matrix.column(j)).copied().collect();
    table(py, entries, matrix.columns(), matrix.rows())
}
