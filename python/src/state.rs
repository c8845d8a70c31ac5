//! State of a model object in Python.

use crate::arrays::{Names, Object};
use crate::items::Points;
use eigenhedge::{Embedding, Error, Model, Moments, Principal};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Locks a mutex. The interpreter lock is released while waiting for another thread.
pub fn lock<'a, T>(py: Python<'_>, state: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    state.lock_py_attached(py).map_err(|_| PyRuntimeError::new_err("the model was broken by an earlier failure"))
}

pub fn saved<'py, T: Serialize>(py: Python<'py>, state: &T) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = postcard::to_extend(state, Vec::new());
    Ok(PyBytes::new(py, &bytes.map_err(|error| PyRuntimeError::new_err(error.to_string()))?))
}

pub type Reduced<'py> = (Object<'py>, (Bound<'py, PyBytes>,));

/// Returns the value of `__reduce__` for an object that the static method `restorer` restores from `bytes`.
pub fn reduced<'py>(object: &Object<'py>, restorer: &str, bytes: Bound<'py, PyBytes>) -> PyResult<Reduced<'py>> {
    Ok((object.get_type().getattr(restorer)?, (bytes,)))
}

pub fn restored<T: DeserializeOwned>(data: &[u8]) -> PyResult<T> {
    postcard::from_bytes(data).map_err(|error| PyValueError::new_err(format!("not a saved state: {error}")))
}

/// Model with collected rows that it has not learned yet, and a cached embedding for the next row.
pub struct State {
    pub core: Model,
    /// Moments of the collected rows. The model learns them when a result requires more than their leading directions.
    pub moments: Option<Moments>,
    pub principal: Option<Principal>,
    next: Option<Embedding>,
    pub spent: Duration,
    pub points: Points,
}

impl State {
    pub fn new(core: Model) -> Self {
        let points = Points::of_kernel(core.spec().kernel.as_ref());
        Self { core, moments: None, principal: None, next: None, spent: Duration::ZERO, points }
    }

    /// Learns the collected rows. On an error nothing changes.
    pub fn settle(&mut self) -> Result<(), Error> {
        if let Some(moments) = &self.moments {
            let start = Instant::now();
            self.core = moments.add_to(self.core.clone())?;
            (self.moments, self.principal, self.next) = (None, None, None);
            self.spent += start.elapsed();
        }
        Ok(())
    }

    /// Computes the leading directions of the collected rows, or learns the rows if that is not possible.
    pub fn embed(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        self.principal = self.moments.as_ref().and_then(|moments| moments.principal(&self.core));
        self.spent += start.elapsed();
        if self.principal.is_none() { self.settle() } else { Ok(()) }
    }

    /// Removes and returns the moments of the collected rows, or empty moments.
    pub fn take_moments(&mut self) -> Result<Moments, Error> {
        self.principal = None;
        self.moments.take().map_or_else(|| Moments::for_model(&self.core), Ok)
    }

    pub fn rows(&self) -> u64 {
        self.core.totals().rows + self.moments.as_ref().map_or(0, Moments::rows)
    }

    /// Sets the column names, if a row has been learned and there is one name per column.
    pub fn name(&mut self, names: Names) {
        if names.as_ref().is_some_and(|names| names.len() == self.core.length()) && self.core.totals().rows > 0 {
            self.core.set_names(names);
        }
    }

    pub fn ask(&mut self, coordinates: bool, reconstructions: bool) -> Result<(), Error> {
        self.core.ask_for_coordinates(coordinates);
        self.core.ask_for_reconstructions(reconstructions)
    }

    pub fn learn<R>(&mut self, work: impl FnOnce(&mut Model) -> R) -> R {
        let start = Instant::now();
        let outcome = work(&mut self.core);
        self.next = None;
        self.spent += start.elapsed();
        outcome
    }

    pub fn embedding(&mut self) -> &mut Embedding {
        match &mut self.principal {
            Some(principal) => &mut principal.embedding,
            None => self.core.frozen(),
        }
    }

    pub fn next_embedding(&mut self) -> &mut Embedding {
        let Self { core, next, .. } = self;
        next.get_or_insert_with(|| core.next_embedding())
    }

    /// Returns the energy along each direction and the total energy, if they are known exactly.
    pub fn energies(&mut self) -> Option<(Vec<f64>, f64)> {
        if let Some(principal) = &self.principal {
            return principal.energies.clone();
        }
        let embedding = self.core.embedding();
        self.core.energies(&embedding)
    }
}
