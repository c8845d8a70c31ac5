//! Result of a trial.

use crate::arrays::Array1;
use numpy::PyArray1;
use pyo3::prelude::*;

/// Result of one trial: losses and coordinates of the row.
///
/// Attributes
/// ----------
/// expected_loss : float
///     Expected loss over the random choice of the subspace.
/// loss : float
///     Loss for the subspace that was drawn.
/// coordinates : ndarray of shape (k,)
///     Coordinates of the row, in the basis that the option ``coordinates`` selects.
#[pyclass(frozen, module = "eigenhedge")]
pub struct Trial {
    #[pyo3(get)]
    pub expected_loss: f64,
    #[pyo3(get)]
    pub loss: f64,
    pub coordinates: Vec<f64>,
}

#[pymethods]
impl Trial {
    #[new]
    fn new(expected_loss: f64, loss: f64, coordinates: Vec<f64>) -> Self {
        Self { expected_loss, loss, coordinates }
    }

    fn __getnewargs__(&self) -> (f64, f64, Vec<f64>) {
        (self.expected_loss, self.loss, self.coordinates.clone())
    }

    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> Array1<'py> {
        PyArray1::from_slice(py, &self.coordinates)
    }

    fn __repr__(&self) -> String {
        format!("Trial(expected_loss={}, loss={}, coordinates={:?})", self.expected_loss, self.loss, self.coordinates)
    }
}
