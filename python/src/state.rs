//! A model with what Python keeps beside it.

use crate::items::Points;
use eigenhedge::{Average, Embedding, Error, Loss, Matrix, Model};
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

/// A model, the basis of its next row until that comes, and the time that learning took.
pub struct State {
    /// The model; its resume state is Python's own, as JSON: see `eigenhedge/_snapshot.py`.
    pub core: Model,
    next: Option<Embedding>,
    spent: Duration,
    /// The rows that it takes.
    pub points: Points,
}

impl State {
    /// A model with nothing beside it.
    pub fn new(core: Model) -> Self {
        let points = Points::of_kernel(core.spec().kernel.as_ref());
        Self { core, next: None, spent: Duration::ZERO, points }
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.core.to_bytes()
    }

    /// Adds what the learner holds now to an average.
    pub fn add_to(&mut self, average: &mut Average) -> Result<(), Error> {
        self.core.add_to(average)
    }

    /// Time spent learning.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }

    /// Says what is read behind the rows that follow: coordinates, projections.
    pub fn ask(&mut self, coordinates: bool, reconstructions: bool) -> Result<(), Error> {
        self.core.ask_for_coordinates(coordinates);
        self.core.ask_for_reconstructions(reconstructions)
    }

    /// One trial.
    pub fn step(&mut self, row: &[f64]) -> Result<Loss, Error> {
        self.learn(|model| model.step(row))
    }

    /// One trial of several rows, with weights if they are given.
    pub fn step_batch(&mut self, rows: &[&[f64]], weights: Option<&[f64]>) -> Result<Loss, Error> {
        self.learn(|model| model.step_batch(rows, weights))
    }

    /// One trial of a symmetric matrix that counts as so many rows.
    pub fn step_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        self.learn(|model| model.step_matrix(matrix, rows))
    }

    /// The same for a matrix on the scale of the columns.
    pub fn step_scaled_matrix(&mut self, matrix: &Matrix, rows: u64) -> Result<Loss, Error> {
        self.learn(|model| model.step_scaled_matrix(matrix, rows))
    }

    /// A trial for each row; `each` is told of every one. On an error, with the position of the row, those before it have
    /// been learned.
    pub fn step_each(&mut self, rows: &[&[f64]], each: impl FnMut(&Model, Loss)) -> Result<(), (usize, Error)> {
        self.learn(|model| model.step_each(rows, each))
    }

    fn learn<R>(&mut self, work: impl FnOnce(&mut Model) -> R) -> R {
        let start = Instant::now();
        let outcome = work(&mut self.core);
        self.next = None;
        self.spent += start.elapsed();
        outcome
    }

    /// The directions most surely kept now, for rows as they come.
    pub fn embedding(&mut self) -> &mut Embedding {
        self.core.frozen()
    }

    /// The basis in which the next row would have coordinates, for rows as they come.
    pub fn next_embedding(&mut self) -> &mut Embedding {
        let Self { core, next, .. } = self;
        next.get_or_insert_with(|| core.next_embedding())
    }

    /// Energies along the directions, and in all.
    pub fn energies(&mut self) -> Option<(Vec<f64>, f64)> {
        let embedding = self.core.embedding();
        self.core.energies(&embedding)
    }
}
