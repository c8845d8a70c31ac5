//! Batch kernel methods: kernel PCA, kernel ridge regression, and a symmetric eigensolver.

use crate::arrays::{Array1, Array2, Given, Object, Rows, Table, table, transposed};
use crate::classes::{attributes, pickled};
use crate::errors::{apart, check_room, refused};
use crate::interrupt::{alone, each, each_between};
use crate::items::Points;
use crate::learning::square;
use crate::options::{Chosen, Named};
use crate::state::lock;
use eigenhedge::batch::preimage::{Stop, preimages};
use eigenhedge::batch::{Center, KernelPca, KernelRidge, Solver};
use eigenhedge::kernel::{Dictionary, Vectors};
use eigenhedge::{Error, Matrix};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;
use std::sync::Mutex;

#[pyclass(frozen, module = "eigenhedge._core")]
pub struct KernelComponents {
    state: Mutex<KernelPca<Vectors>>,
    points: Points,
}

fn solver(name: &Object<'_>, points: usize, tolerance: f64, max_rank: usize) -> PyResult<Solver> {
    let name = Named { name: "solver", value: name }.one_of(&["auto", "dense", "partial", "cholesky"])?;
    Ok(match name {
        "dense" => Solver::Dense,
        "partial" => Solver::Partial,
        "cholesky" => Solver::Cholesky { tolerance, max_rank },
        _ => Solver::auto(points),
    })
}

#[pymethods]
impl KernelComponents {
    #[new]
    #[pyo3(signature = (x, k, kernel, centered, solver_name, tolerance, max_rank))]
    #[expect(clippy::too_many_arguments, reason = "called by one line of Python only")]
    fn new(
        py: Python<'_>,
        x: &Object<'_>,
        k: usize,
        kernel: &Bound<'_, PyDict>,
        centered: bool,
        solver_name: &Object<'_>,
        tolerance: f64,
        max_rank: usize,
    ) -> PyResult<Self> {
        let kernel = Chosen::new(kernel)?;
        let (points, dictionary) = kernel.rows(x)?;
        let count = points.len();
        let solver = solver(solver_name, count, tolerance, max_rank)?;
        let width = if let Solver::Cholesky { .. } = solver { max_rank.min(count) } else { count };
        check_room("the kernel matrix of the rows", &[3, count, width])?;
        let center = if centered { Center::Mean } else { Center::None };
        let fit = move || KernelPca::fit(dictionary, &points, k, center, solver);
        let pca = kernel.run(py, fit)?;
        Ok(Self { state: Mutex::new(pca), points: kernel.points })
    }

    fn embed<'py>(&self, py: Python<'py>, x: &Object<'py>) -> PyResult<WithNumbers<'py>> {
        let given = Given::new(x, &self.points, None)?;
        let mut x = Rows::given(&given)?;
        let count = x.count();
        let mut state = lock(py, &self.state)?;
        let pca = &mut *state;
        let kept = pca.eigenvalues.len();
        let (mut coordinates, mut losses) = (Vec::with_capacity(count * kept), Vec::with_capacity(count));
        let work = |i: usize| {
            let row = x.row(i);
            coordinates.extend_from_slice(&pca.transform(row)?);
            losses.push(pca.loss(row)?);
            Ok(())
        };
        self.points.told(each(py, count, work))?;
        Ok((table(py, coordinates, count, kept)?, losses.into_pyarray(py)))
    }

    fn invert<'py>(&self, py: Python<'py>, coordinates: Table<'py>) -> PyResult<Array2<'py>> {
        let rows = Rows::of(&coordinates)?.all();
        let (mut dictionary, expansions) = {
            let pca = lock(py, &self.state)?;
            check_room("the weights on the atoms", &[2, rows.len(), pca.coefficients.rows()])?;
            let expansions: Result<Vec<_>, _> = rows.iter().map(|row| pca.expand(row)).collect();
            (pca.dictionary.clone(), expansions.map_err(refused)?)
        };
        let length = dictionary.length();
        let stop = Stop { steps: 200, tolerance: 1e-8 };
        let find = move || preimages(&mut dictionary, &expansions, None::<&[Vec<f64>]>, stop);
        let found = alone(py, find)?.map_err(refused)?;
        table(py, found.iter().flat_map(|found| &found.point).copied().collect(), found.len(), length)
    }

    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py>> {
        let state = lock(py, &self.state)?;
        let atoms = &state.dictionary;
        let entries = (0..atoms.len()).flat_map(|i| atoms.atom(i)).copied().collect();
        table(py, entries, atoms.len(), atoms.length())
    }
}

attributes! { KernelComponents, |components, py| {
    eigenvalues: Array1<'py> = PyArray1::from_slice(py, &lock(py, &components.state)?.eigenvalues);
    scores: Array2<'py> = transposed(py, &lock(py, &components.state)?.scores)?;
    explained_ratio: Array1<'py> = lock(py, &components.state)?.explained_ratio().into_pyarray(py);
    trace_error: f64 = lock(py, &components.state)?.trace_error;
}}

pickled!(KernelComponents, |state| {
    let pca = KernelPca::<Vectors>::checked(state).map_err(refused)?;
    let points = Points::of_kernel(Some(pca.dictionary.kernel()));
    Ok(KernelComponents { state: Mutex::new(pca), points })
});

#[pyclass(frozen, module = "eigenhedge._core")]
pub struct KernelRegression {
    state: Mutex<KernelRidge<Vectors>>,
    points: Points,
}

#[pymethods]
impl KernelRegression {
    #[new]
    fn new(py: Python<'_>, x: &Object<'_>, y: Table<'_>, alpha: f64, kernel: &Bound<'_, PyDict>) -> PyResult<Self> {
        let kernel = Chosen::new(kernel)?;
        let (points, dictionary) = kernel.rows(x)?;
        check_room("the kernel matrix of the rows", &[2, points.len(), points.len()])?;
        let targets = Rows::of(&y)?.all();
        let fit = move || {
            let mut columns = Matrix::zeros(targets.len(), targets.first().map_or(0, Vec::len));
            for (i, row) in targets.iter().enumerate() {
                row.iter().enumerate().for_each(|(j, value)| columns.column_mut(j)[i] = *value);
            }
            KernelRidge::fit_many(dictionary, &points, &columns, alpha)
        };
        let ridge = kernel.run(py, fit)?;
        Ok(Self { state: Mutex::new(ridge), points: kernel.points })
    }

    fn predict<'py>(&self, py: Python<'py>, x: &Object<'py>, with_variance: bool) -> PyResult<WithNumbers<'py>> {
        let given = Given::new(x, &self.points, None)?;
        let mut x = Rows::given(&given)?;
        let count = x.count();
        let mut ridge = lock(py, &self.state)?;
        let ridge = &mut *ridge;
        let outputs = ridge.coefficients.columns();
        let (mut means, mut variances) = (vec![0.0; count * outputs], Vec::new());
        let work = |lot: Range<usize>| {
            let first = lot.start;
            let found = if with_variance {
                let posterior = ridge.posterior(&x.lot(lot)).map_err(apart)?;
                variances.extend_from_slice(&posterior.variances);
                posterior.means
            } else {
                ridge.predict(&x.lot(lot)).map_err(apart)?
            };
            for j in 0..outputs {
                found.column(j).iter().enumerate().for_each(|(i, mean)| means[(first + i) * outputs + j] = *mean);
            }
            Ok(())
        };
        self.points.told(each_between(py, count, (BLOCK, BLOCK), work))?;
        Ok((table(py, means, count, outputs)?, variances.into_pyarray(py)))
    }

    fn leave_one_out<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py>> {
        let ridge = lock(py, &self.state)?;
        check_room("the inverse of the kernel matrix", &[2, ridge.coefficients.rows(), ridge.coefficients.rows()])?;
        let ridge = ridge.clone();
        transposed(py, &alone(py, move || ridge.leave_one_out())?)
    }

    fn log_likelihood<'py>(&self, py: Python<'py>) -> PyResult<Array1<'py>> {
        Ok(lock(py, &self.state)?.log_likelihood().into_pyarray(py))
    }
}

attributes! { KernelRegression, |regression, py| {
    coefficients: Array2<'py> = transposed(py, &lock(py, &regression.state)?.coefficients)?;
}}

pickled!(KernelRegression, |state| {
    let ridge = KernelRidge::<Vectors>::checked(state).map_err(refused)?;
    let points = Points::of_kernel(Some(ridge.dictionary.kernel()));
    Ok(KernelRegression { state: Mutex::new(ridge), points })
});

/// Number of rows that are predicted at once. It is that of the library, so that results are bit-identical.
const BLOCK: usize = KernelRidge::<Vectors>::BLOCK;

/// Returns the eigenvalues of a symmetric matrix in ascending order, and the eigenvectors as rows.
#[pyfunction]
#[pyo3(name = "_symmetric_eigen")]
pub fn symmetric_eigen<'py>(py: Python<'py>, matrix: &Object<'py>) -> PyResult<Eigen<'py>> {
    let matrix = square(matrix)?;
    check_room("the eigenvectors", &[2, matrix.rows(), matrix.rows()])?;
    let decompose = move || {
        let entries =
            (0..matrix.columns()).flat_map(|j| matrix.column(j).iter().enumerate().map(move |(i, x)| (j, i, *x)));
        match entries.into_iter().find(|(.., value)| !value.is_finite()) {
            Some((row, column, value)) => {
                Err(Error::MatrixEntry { what: "kernel matrix", row, column, rule: "finite", value })
            }
            None => Ok(eigenhedge::internals::symmetric_eigen(&matrix)),
        }
    };
    let eigen = alone(py, decompose)?.map_err(refused)?;
    Ok((PyArray1::from_slice(py, &eigen.values), transposed(py, &eigen.vectors)?))
}

type Eigen<'py> = (Array1<'py>, Array2<'py>);

type WithNumbers<'py> = (Array2<'py>, Array1<'py>);
