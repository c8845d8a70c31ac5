//! A run with what Python keeps beside it.

use crate::items::Points;
use eigenhedge::{Average, Columns, Error, Loss, Matrix, Model, Run, Snapshot, Standardize};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Locks a state; the interpreter lock is released while it waits for other threads.
pub fn lock<'a, T>(py: Python<'_>, state: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    state.lock_py_attached(py).map_err(|_| PyRuntimeError::new_err("the model was broken by an earlier failure"))
}

/// A state as bytes, for `pickle`.
pub fn saved<'py, T: Serialize>(py: Python<'py>, state: &T) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = postcard::to_extend(state, Vec::new());
    Ok(PyBytes::new(py, &bytes.map_err(|error| PyRuntimeError::new_err(error.to_string()))?))
}

/// A run over columns, what it has learned until the next row, and the time it took.
pub struct State {
    run: Run,
    /// The columns of its rows.
    pub columns: Columns,
    model: Option<Model>,
    next_model: Option<Model>,
    spent: Duration,
    /// Python's own state, as JSON; see `eigenhedge/_snapshot.py`. It ends with the next row: another program's words about
    /// the run would no longer be true.
    pub resume_state: Vec<u8>,
    /// The rows that it takes.
    pub points: Points,
}

impl State {
    /// A run with nothing beside it.
    pub fn new(run: Run, columns: Columns) -> Self {
        let points = Points::of_kernel(run.spec().kernel.as_ref());
        Self { run, columns, model: None, next_model: None, spent: Duration::ZERO, resume_state: Vec::new(), points }
    }

    /// Out of a snapshot.
    pub fn of(snapshot: Snapshot) -> Self {
        Self { resume_state: snapshot.resume_state, ..Self::new(snapshot.run, snapshot.columns) }
    }

    /// A copy, as it is saved.
    pub fn snapshot(&self) -> Snapshot {
        let (run, columns) = (self.run.clone(), self.columns.clone());
        Snapshot { run, columns, resume_state: self.resume_state.clone() }
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.snapshot().to_bytes()
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Adds what the learner holds now to an average.
    pub fn add_to(&mut self, average: &mut Average) -> Result<(), Error> {
        self.run.add_to(average)
    }

    /// Time spent learning.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }

    /// Says what is read behind the rows that follow: coordinates, projections.
    pub fn ask(&mut self, coordinates: bool, reconstructions: bool) -> Result<(), Error> {
        self.run.ask_for_coordinates(coordinates);
        self.run.ask_for_reconstructions(reconstructions)
    }

    /// One trial.
    pub fn step(&mut self, row: &[f64]) -> Result<Loss, Error> {
        let start = Instant::now();
        let loss = self.columns.step(&mut self.run, row)?;
        self.learned(start);
        Ok(loss)
    }

    /// One trial of several rows, with weights if they are given.
    pub fn step_batch(&mut self, rows: &[&[f64]], weights: Option<&[f64]>) -> Result<Loss, Error> {
        if self.columns.standardizer.how() != Standardize::None {
            return Err(Error::Unsupported("batches and weights need rows that are not standardized by the learner"));
        }
        let start = Instant::now();
        let loss = self.run.step_batch(rows, weights)?;
        self.learned(start);
        Ok(loss)
    }

    /// One trial of a symmetric matrix that counts as so many rows.
    pub fn step_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        let start = Instant::now();
        let loss = self.run.step_matrix(matrix, rows)?;
        self.learned(start);
        Ok(loss)
    }

    /// A trial for each row; `each` is told of every one. On an error, with the position of the row, those before it have
    /// been learned.
    pub fn step_each(&mut self, rows: &[&[f64]], mut each: impl FnMut(&Run, Loss)) -> Result<(), (usize, Error)> {
        let start = Instant::now();
        let Self { run, columns, .. } = self;
        let outcome = match columns.standardizer.how() {
            Standardize::None => run.step_each(rows, each),
            // The scale of a row comes from the rows before it that were not refused.
            _ => rows.iter().enumerate().try_for_each(|(i, row)| {
                let loss = columns.step(run, row).map_err(|error| (i, error))?;
                each(run, loss);
                Ok(())
            }),
        };
        self.learned(start);
        outcome
    }

    fn learned(&mut self, start: Instant) {
        (self.model, self.next_model) = (None, None);
        self.resume_state.clear();
        self.spent += start.elapsed();
    }

    /// The directions most surely kept now, for rows as they come.
    pub fn model(&mut self) -> &mut Model {
        let Self { run, columns, model, .. } = self;
        model.get_or_insert_with(|| Model::new(run, columns))
    }

    /// The basis in which the next row would have coordinates, for rows as they come.
    pub fn next_model(&mut self) -> &mut Model {
        let Self { run, columns, next_model, .. } = self;
        next_model.get_or_insert_with(|| Model::next(run, columns))
    }

    /// Energies along the directions, and in all.
    pub fn energies(&mut self) -> Option<(Vec<f64>, f64)> {
        self.model();
        self.model.as_ref().and_then(|model| self.run.energies(model.embedding()))
    }
}
