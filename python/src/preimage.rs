//! Combinations of features: pre-images, mean features, and distances between mean features.

use crate::arrays::{Array1, Object, numbers};
use crate::options::{Chosen, Named};
use eigenhedge::batch::preimage::{Criterion, Stop, best_candidate, preimages};
use eigenhedge::batch::{Expansion, discrepancy, two_sample_test};
use eigenhedge::kernel::{Dictionary, Vectors};
use eigenhedge::{Error, Random};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Found<'py> = (Array1<'py>, f64, bool);

fn expansion(mut dictionary: Vectors, atoms: &[Vec<f64>], weights: Vec<f64>) -> Result<(Vectors, Expansion), Error> {
    atoms.iter().for_each(|atom| dictionary.push(atom));
    let expansion = Expansion::new(&dictionary, weights)?;
    Ok((dictionary, expansion))
}

#[pyfunction]
#[pyo3(name = "_preimage")]
pub fn preimage<'py>(
    py: Python<'py>,
    atoms: &Object<'py>,
    weights: &Object<'py>,
    kernel: &Bound<'py, PyDict>,
    start: Option<&Object<'py>>,
    steps: usize,
    tolerance: f64,
) -> PyResult<Found<'py>> {
    let kernel = Chosen::new(kernel)?;
    let (atoms, dictionary) = kernel.rows(atoms)?;
    let weights = numbers(weights)?;
    let start = start.map(numbers).transpose()?;
    let find = move || {
        let (mut dictionary, expansion) = expansion(dictionary, &atoms, weights)?;
        let starts = start.as_ref().map(std::slice::from_ref);
        let found = preimages(&mut dictionary, &[expansion], starts, Stop { steps, tolerance });
        found.map(|mut found| found.swap_remove(0))
    };
    let found = kernel.run(py, find)?;
    Ok((found.point.into_pyarray(py), found.squared_distance, found.converged))
}

#[pyfunction]
#[pyo3(name = "_best_candidate")]
pub fn candidate(
    py: Python<'_>,
    atoms: &Object<'_>,
    weights: &Object<'_>,
    candidates: &Object<'_>,
    criterion: &Object<'_>,
    kernel: &Bound<'_, PyDict>,
) -> PyResult<(usize, f64)> {
    let criterion = match (Named { name: "criterion", value: criterion }).one_of(&["distance", "angle"])? {
        "angle" => Criterion::Angle,
        _ => Criterion::Distance,
    };
    let kernel = Chosen::new(kernel)?;
    let (atoms, dictionary) = kernel.rows(atoms)?;
    let ((candidates, _), weights) = (kernel.rows(candidates)?, numbers(weights)?);
    let find = move || {
        let (mut dictionary, expansion) = expansion(dictionary, &atoms, weights)?;
        best_candidate(&mut dictionary, &expansion, &candidates, criterion)
    };
    let best = kernel.run(py, find)?;
    Ok((best.index, best.score))
}

#[pyfunction]
#[pyo3(name = "_kernel_mean")]
pub fn kernel_mean<'py>(
    py: Python<'py>,
    x: &Object<'py>,
    at: &Object<'py>,
    kernel: &Bound<'py, PyDict>,
) -> PyResult<(f64, Array1<'py>)> {
    let kernel = Chosen::new(kernel)?;
    let (atoms, mut dictionary) = kernel.rows(x)?;
    let (others, _) = kernel.rows(at)?;
    let find = move || {
        atoms.iter().for_each(|atom| dictionary.push(atom));
        let mean = Expansion::mean(&dictionary)?;
        let value = |(i, row): (usize, &Vec<f64>)| mean.value(&mut dictionary, row).map_err(|error| error.at(i));
        let values = others.iter().enumerate().map(value).collect::<Result<Vec<f64>, Error>>()?;
        Ok((mean.square, values))
    };
    let (square, values) = kernel.run(py, find)?;
    Ok((square, values.into_pyarray(py)))
}

/// Maximum number of rows of each sample from which γ is computed.
const SCALE_ROWS: usize = 100;

#[pyfunction]
#[pyo3(name = "_mmd")]
pub fn mmd(
    py: Python<'_>,
    x: &Object<'_>,
    y: &Object<'_>,
    splits: &Object<'_>,
    seed: &Object<'_>,
    kernel: &Bound<'_, PyDict>,
) -> PyResult<(f64, Option<f64>, Option<f64>)> {
    let splits = Named { name: "splits", value: splits }.whole::<usize>()?;
    let mut random = Random::seeded(Named { name: "seed", value: seed }.whole::<u64>()?);
    let kernel = Chosen::new(kernel)?;
    let ((first, dictionary), (second, _)) = (kernel.rows(x)?, kernel.rows(y)?);
    // Rows of both samples alternate, because γ is computed from the first rows of this list.
    let both = (0..SCALE_ROWS).flat_map(|i| [first.get(i), second.get(i)].into_iter().flatten());
    let both: Vec<&Vec<f64>> = both.collect();
    let kernel = kernel.scaled_for(&both);
    let dictionary = kernel.dictionary(dictionary.length())?;
    let find = move || match splits {
        0 => Ok((discrepancy(dictionary, &first, &second)?, None)),
        _ => {
            let test = two_sample_test(dictionary, &first, &second, splits, &mut random)?;
            Ok((test.discrepancy, Some(test.p_value)))
        }
    };
    let (found, p_value) = kernel.run(py, find)?;
    Ok((found.biased, found.unbiased, p_value))
}
