//! Saved form of a sketch.
//!
//! The form of a sketch without pending sparse rows is that of earlier versions, in which the mean is an optional
//! value. Pending sparse rows are stored as one more case of this value.

use super::mean::Mean;
use super::pending_rows::PendingRows;
use super::sketch::Sketch;
use crate::linalg::Matrix;
use crate::scratch::Scratch;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Form in which a sketch is read.
#[derive(Deserialize)]
struct Saved {
    retained: usize,
    mean: SavedMean,
    rows: u64,
    energies: Vec<f64>,
    shrinkage: f64,
    buffer: Matrix,
}

#[derive(Deserialize)]
enum SavedMean {
    None,
    Some(Mean),
    Sparse(Option<Mean>, usize, Box<PendingRows>),
}

/// Form in which a sketch is written.
#[derive(Serialize)]
struct Written<'a> {
    retained: usize,
    mean: WrittenMean<'a>,
    rows: u64,
    energies: &'a [f64],
    shrinkage: f64,
    buffer: &'a Matrix,
}

#[derive(Serialize)]
enum WrittenMean<'a> {
    None,
    Some(&'a Mean),
    Sparse(&'a Option<Mean>, usize, &'a PendingRows),
}

impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { retained, mean, rows, energies, shrinkage, buffer, pending, sparse_streak, .. } = self;
        let mean = match mean {
            _ if *sparse_streak > 0 || pending.count() > 0 => WrittenMean::Sparse(mean, *sparse_streak, pending),
            None => WrittenMean::None,
            Some(mean) => WrittenMean::Some(mean),
        };
        let (retained, rows, shrinkage) = (*retained, *rows, *shrinkage);
        Written { retained, mean, rows, energies, shrinkage, buffer }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved { retained, mean, rows, energies, shrinkage, buffer } = Saved::deserialize(deserializer)?;
        let (mean, sparse_streak, pending) = match mean {
            SavedMean::None => (None, 0, PendingRows::default()),
            SavedMean::Some(mean) => (Some(mean), 0, PendingRows::default()),
            SavedMean::Sparse(mean, streak, pending) => (mean, streak, *pending),
        };
        let scratch = Scratch::default();
        Ok(Self { retained, mean, rows, energies, shrinkage, buffer, pending, sparse_streak, scratch })
    }
}
