//! Saved form of a span of plain vectors.
//!
//! The form of a span without sparse rows is that of earlier versions, in which the origin is an optional value. A span
//! of sparse rows is stored as one more case of this value.

use super::sparse::Sparse;
use super::{Ambient, Deferred, Origin};
use crate::linalg::Matrix;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Form in which a span is read.
#[derive(Deserialize)]
struct Saved {
    dimension: Multiplicity,
    columns: Matrix,
    origin: SavedOrigin,
    combinations: u64,
    length: usize,
    deferred: Deferred,
}

#[derive(Deserialize)]
enum SavedOrigin {
    None,
    Some(Origin),
    Sparse(Option<Origin>, usize, Option<Box<Sparse>>),
}

/// Form in which a span is written.
#[derive(Serialize)]
struct Written<'a> {
    dimension: &'a Multiplicity,
    columns: &'a Matrix,
    origin: WrittenOrigin<'a>,
    combinations: u64,
    length: usize,
    deferred: &'a Deferred,
}

#[derive(Serialize)]
enum WrittenOrigin<'a> {
    None,
    Some(&'a Origin),
    Sparse(&'a Option<Origin>, usize, &'a Option<Box<Sparse>>),
}

impl Serialize for Ambient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { dimension, columns, origin, combinations, length, deferred, sparse, sparse_streak, .. } = self;
        let origin = match origin {
            _ if sparse.is_some() || *sparse_streak > 0 => WrittenOrigin::Sparse(origin, *sparse_streak, sparse),
            None => WrittenOrigin::None,
            Some(origin) => WrittenOrigin::Some(origin),
        };
        let (combinations, length) = (*combinations, *length);
        Written { dimension, columns, origin, combinations, length, deferred }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Ambient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved { dimension, columns, origin, combinations, length, deferred } = Saved::deserialize(deserializer)?;
        let (origin, sparse_streak, sparse) = match origin {
            SavedOrigin::None => (None, 0, None),
            SavedOrigin::Some(origin) => (Some(origin), 0, None),
            SavedOrigin::Sparse(origin, streak, sparse) => (origin, streak, sparse),
        };
        let (scratch, standard) = (Scratch::default(), sparse.is_none() && are_unit_vectors(&columns));
        Ok(Self {
            dimension,
            columns,
            origin,
            combinations,
            scratch,
            length,
            deferred,
            sparse,
            sparse_streak,
            standard,
        })
    }
}

/// Returns true if the columns are all unit vectors of the space, in order.
fn are_unit_vectors(columns: &Matrix) -> bool {
    let is_unit = |j: usize| columns.column(j).iter().enumerate().all(|(i, x)| *x == f64::from(u8::from(i == j)));
    columns.rows() == columns.columns() && (0..columns.columns()).all(is_unit)
}
