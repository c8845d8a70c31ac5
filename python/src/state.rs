//! A run with what Python keeps beside it.

use eigenhedge::{Embedding, Error, Loss, Run, Snapshot};
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

/// A run, its embedding until the next row, and the time it took.
pub struct State {
    run: Run,
    embedding: Option<Embedding>,
    spent: Duration,
    /// Python's own state, as JSON; see `eigenhedge/_snapshot.py`.
    pub resume_state: Vec<u8>,
}

impl State {
    /// A run with nothing beside it.
    pub fn new(run: Run) -> Self {
        Self { run, embedding: None, spent: Duration::ZERO, resume_state: Vec::new() }
    }

    /// Out of a snapshot.
    pub fn of(snapshot: Snapshot) -> Self {
        Self { resume_state: snapshot.resume_state, ..Self::new(snapshot.run) }
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        Snapshot { run: self.run.clone(), resume_state: self.resume_state.clone() }.to_bytes()
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Time spent learning.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }

    /// One trial.
    pub fn step(&mut self, row: &[f64]) -> Result<Loss, Error> {
        let start = Instant::now();
        let loss = self.run.step(row)?;
        self.embedding = None;
        self.spent += start.elapsed();
        Ok(loss)
    }

    /// A trial for each row; `each` is told of every one. On an error, with the position of the row, those before it have
    /// been learned.
    pub fn step_each(&mut self, rows: &[&[f64]], each: impl FnMut(&Run, Loss)) -> Result<(), (usize, Error)> {
        let start = Instant::now();
        let outcome = self.run.step_each(rows, each);
        self.embedding = None;
        self.spent += start.elapsed();
        outcome
    }

    /// The directions most surely kept now.
    pub fn embedding(&mut self) -> &mut Embedding {
        let Self { run, embedding, .. } = self;
        embedding.get_or_insert_with(|| run.embedding())
    }

    /// Energies along the embedding's directions, and in all.
    pub fn energies(&mut self) -> Option<(Vec<f64>, f64)> {
        self.embedding();
        self.embedding.as_ref().and_then(|embedding| self.run.energies(embedding))
    }
}
