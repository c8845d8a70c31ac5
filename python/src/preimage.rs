//! Pre-images.

use crate::arrays::{Rows, Table, numbers};
use crate::errors::refused;
use crate::interrupt::alone;
use crate::options::kernel;
use eigenhedge::Error;
use eigenhedge::batch::Expansion;
use eigenhedge::batch::preimage::{Criterion, Stop, best_candidate, descend, fixed_point};
use eigenhedge::kernel::{Dictionary, VectorKernel, Vectors};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Found point, squared distance, whether the search converged.
type Found<'py> = (Bound<'py, PyArray1<f64>>, f64, bool);

#[pyfunction]
#[pyo3(name = "_preimage")]
#[expect(clippy::too_many_arguments, reason = "called by one line of Python only")]
pub fn preimage<'py>(
    py: Python<'py>,
    atoms: Table<'py>,
    weights: &Bound<'py, PyAny>,
    kernel_name: &Bound<'py, PyAny>,
    gamma: Option<f64>,
    degree: Option<u32>,
    coef0: Option<f64>,
    start: Option<&Bound<'py, PyAny>>,
    steps: usize,
    tolerance: f64,
) -> PyResult<Found<'py>> {
    let atoms = Rows::of(&atoms)?;
    let length = atoms.length();
    let kernel = kernel(kernel_name, gamma, degree, coef0, length)?;
    let weights = numbers(weights)?;
    let start = start.map(numbers).transpose()?;
    let atoms = atoms.all();
    let find = move || {
        let mut dictionary = Vectors::new(kernel.clone(), length)?;
        atoms.rows().iter().for_each(|atom| dictionary.push(atom));
        let expansion = Expansion::new(&dictionary, weights)?;
        let start = match start {
            Some(start) => start,
            None if dictionary.is_empty() => {
                return Err(Error::Parameter { name: "the number of atoms", rule: "at least 1", value: 0.0 });
            }
            None => {
                let nearest = best_candidate(&mut dictionary, &expansion, &atoms.rows(), Criterion::Distance)?;
                dictionary.atom(nearest.index).to_vec()
            }
        };
        let stop = Stop { steps, tolerance };
        match &kernel {
            VectorKernel::Rbf { .. } => fixed_point(&mut dictionary, &expansion, &start, 1, stop),
            kernel => descend(kernel, &dictionary, &expansion, &start, stop),
        }
    };
    let found = alone(py, find)?.map_err(|error| refused(&error))?;
    Ok((found.point.into_pyarray(py), found.squared_distance, found.converged))
}
