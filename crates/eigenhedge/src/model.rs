//! A run with the columns of its rows: names and scale, so that it can be used on rows as they come, in units of the input.
//!
//! [`Columns`] is saved beside the run. [`Columns::step`] learns from a row as it comes, and leaves its projection in units of the
//! input. [`Model`] uses what has been learned
//! without learning: a row has coordinates and a loss, coordinates have a row. [`LinearMap`] is the same as plain numbers.
//!
//! Coordinates and losses are in standard units when columns are standardized, rows always in units of the input.

use crate::error::Error;
use crate::learner::Loss;
use crate::registry::Missing;
use crate::row::{check_cells, check_row};
use crate::run::{Embedding, Run};
use crate::scratch::Scratch;
use crate::standardize::{Standardize, Standardizer};
use crate::state::{ensure, length};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The columns of the rows that a run learns from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Their names, each another one; none if they have no names.
    pub names: Option<Vec<String>>,
    /// Their scale.
    pub standardizer: Standardizer,
    /// The row in standard units.
    #[serde(skip)]
    row: Scratch<Vec<f64>>,
}

impl Default for Columns {
    /// Columns without names that are taken as they are.
    fn default() -> Self {
        Self::new(None, Standardizer::new(Standardize::None, 0))
    }
}

impl Columns {
    /// Columns with these names and this scale. Names of which one stands for two columns are no names.
    pub fn new(names: Option<Vec<String>>, standardizer: Standardizer) -> Self {
        Self { names: names.filter(|names| are_distinct(names)), standardizer, row: Scratch::default() }
    }

    /// One trial of a row in units of the input. An error leaves everything as it was.
    pub fn step(&mut self, run: &mut Run, raw: &[f64]) -> Result<Loss, Error> {
        if self.standardizer.how() == Standardize::None {
            return run.step(raw);
        }
        check_cells("row", raw, run.length())?;
        if let Some(index) = self.standardizer.spoiled(raw) {
            return Err(cannot_standardize(raw, index));
        }
        let row = &mut self.row.0;
        self.standardizer.apply(raw, row).map_err(|index| cannot_standardize(raw, index))?;
        let passed_over = run.totals().passed_over;
        let loss = run.step(row)?;
        run.undo_units(&self.standardizer, raw);
        if run.totals().passed_over == passed_over {
            self.standardizer.count_in(raw);
        }
        Ok(loss)
    }

    /// Takes the scale of a warm-up from rows before any of them is learned from; true if it needs more of
    /// them. Rows that will be passed over do not count. An error leaves everything as it was; it names the row.
    pub fn warm_up<R: AsRef<[f64]>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        width: usize,
        missing: Missing,
    ) -> Result<bool, (usize, Error)> {
        let mut scale = self.standardizer.clone();
        for (t, raw) in rows.into_iter().enumerate() {
            if !scale.is_warming_up() {
                break;
            }
            let raw = raw.as_ref();
            let check = if missing == Missing::Fail { check_row } else { check_cells };
            check("row", raw, width).map_err(|error| (t, error))?;
            let is_passed_over = match missing {
                Missing::Fail => false,
                Missing::Skip => raw.iter().any(|x| x.is_nan()),
                Missing::Fill => raw.iter().all(|x| x.is_nan()),
            };
            if is_passed_over {
                continue;
            }
            scale.spoiled(raw).map_or(Ok(()), |index| Err((t, cannot_standardize(raw, index))))?;
            scale.count_in(raw);
        }
        let needs_more = scale.is_warming_up();
        if !needs_more {
            scale.settle();
        }
        self.standardizer = scale;
        Ok(needs_more)
    }

    /// An error if others have other names or another kind of scale; names that one of them lacks are those of the other.
    pub(crate) fn agree(&mut self, other: &Self) -> Result<(), Error> {
        if let (Some(own), Some(found)) = (&self.names, &other.names) {
            length("the columns of the other model", found.len(), own.len())?;
            if let Some(i) = (0..own.len()).find(|i| own[*i] != found[*i]) {
                let sentence = format!("column {i} must be '{}' as in the first model, got '{}'", own[i], found[i]);
                return Err(Error::Merge(sentence));
            }
        }
        if self.names.is_none() {
            self.names.clone_from(&other.names);
        }
        let (own, found) = (self.standardizer.how(), other.standardizer.how());
        if own == found {
            return Ok(());
        }
        Err(Error::Merge(format!("standardize must be {own} as in the first model, got {found}")))
    }

    /// The columns of rows of both: names and scale must be the same.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.agree(other)?;
        self.standardizer.merge(&other.standardizer)
    }

    /// Checks what was read from bytes: it belongs to the run.
    pub(crate) fn check_state(&self, run: &Run) -> Result<(), Error> {
        if let Some(names) = &self.names {
            length("the names of columns", names.len(), run.length())?;
            ensure(are_distinct(names), "each column must have a name of its own")?;
        }
        self.standardizer.check_state(run.length())?;
        let is_ready = !self.standardizer.is_warming_up() || run.totals().rows == 0;
        ensure(is_ready, "the scale of columns must be known before a row is learned from")
    }
}

fn are_distinct(names: &[String]) -> bool {
    names.iter().collect::<HashSet<_>>().len() == names.len()
}

pub(crate) fn cannot_standardize(raw: &[f64], index: usize) -> Error {
    Error::Entry { what: "row", index, rule: "finite once standardized", value: raw[index] }
}

/// The directions and the scale that a run has learned, to use on rows in units of the input without learning.
///
/// ```
/// use eigenhedge::{Columns, Kind, Model, Run, Spec, Standardize, Standardizer};
///
/// let mut run = Run::new(Spec::bare(Kind::Leader, 1), 2, 0)?;
/// let mut columns = Columns::new(None, Standardizer::new(Standardize::Running, 2));
/// for t in 0..100 {
///     let x = f64::from(t % 10);
///     columns.step(&mut run, &[x, 1000.0 * x])?; // two units, and one direction
/// }
/// let mut model = Model::new(&mut run, &columns);
/// let mut coordinates = Vec::new();
/// assert!(model.transform(&[5.0, 5000.0], &mut coordinates)? < 1e-9);
/// assert!((model.reconstruct(&coordinates)?[1] - 5000.0).abs() < 1e-6);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    standardizer: Standardizer,
    embedding: Embedding,
    row: Vec<f64>,
}

impl Model {
    /// The directions that the run would keep now, and the scale of its columns.
    pub fn new(run: &mut Run, columns: &Columns) -> Self {
        Self { standardizer: columns.standardizer.clone(), embedding: run.embedding(), row: Vec::new() }
    }

    /// The basis in which the next row would have coordinates ([`Run::next_embedding`]), and the scale of its columns.
    pub fn next(run: &mut Run, columns: &Columns) -> Self {
        Self { standardizer: columns.standardizer.clone(), embedding: run.next_embedding(), row: Vec::new() }
    }

    /// The directions, in standard units if columns are standardized.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Coordinates of a row, and the squared length of what they leave out.
    pub fn transform(&mut self, raw: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        if self.standardizer.how() == Standardize::None {
            return self.embedding.transform(raw, coordinates);
        }
        check_cells("row", raw, self.standardizer.mean().len())?;
        self.standardizer.apply(raw, &mut self.row).map_err(|index| cannot_standardize(raw, index))?;
        self.embedding.transform(&self.row, coordinates)
    }

    /// The row with these coordinates; through a kernel, one whose features are near it (a pre-image).
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        let mut row = self.embedding.reconstruct(coordinates)?;
        self.standardizer.undo(&mut row);
        Ok(row)
    }

    /// The row that has coordinates 0; none through a kernel.
    pub fn mean(&self) -> Option<Vec<f64>> {
        let mut mean = self.embedding.center()?.to_vec();
        self.standardizer.undo(&mut mean);
        Some(mean)
    }

    /// The number by which each column is divided, of `length` columns; 0 for one that does not count, whatever it holds.
    pub fn scale(&self, length: usize) -> Vec<f64> {
        match self.standardizer.how() {
            Standardize::None => vec![1.0; length],
            _ => self.standardizer.scale().collect(),
        }
    }

    /// The model as plain numbers, under these names of columns; none through a kernel.
    pub fn linear_map(&self, names: Option<&[String]>) -> Option<LinearMap> {
        let (directions, mean) = (self.embedding.components()?, self.mean()?);
        let mut scale = self.scale(mean.len());
        let mut components: Vec<Vec<f64>> = (0..self.embedding.kept()).map(|j| directions.column(j).to_vec()).collect();
        for i in (0..mean.len()).filter(|i| scale[*i] == 0.0) {
            components.iter_mut().for_each(|component| component[i] = 0.0);
        }
        scale.iter_mut().filter(|scale| **scale == 0.0).for_each(|scale| *scale = 1.0);
        Some(LinearMap { columns: names.map(<[String]>::to_vec), mean, scale, components })
    }
}

/// A model as plain numbers: the coordinates of a row `x` are `components · ((x - mean) / scale)`, and the row of coordinates
/// `z` is `mean + scale · (componentsᵀ z)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearMap {
    /// Names of the columns, if they have names.
    pub columns: Option<Vec<String>>,
    /// The row that has coordinates 0.
    pub mean: Vec<f64>,
    /// The number by which each column is divided.
    pub scale: Vec<f64>,
    /// The directions, one after the other.
    pub components: Vec<Vec<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, RunningCenter, Spec, streams};

    fn learned(how: Standardize) -> (Run, Columns, Vec<Vec<f64>>) {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Leader, 2) };
        let mut run = Run::new(spec, 5, 0).unwrap();
        let mut columns = Columns::new(None, Standardizer::new(how, 5));
        let mut rows = streams::iid(5, 2, 0.3, 60, 3).rows;
        for row in &mut rows {
            (0..5).for_each(|i| row[i] = row[i] * 10f64.powi(i as i32 - 2) + 3.0);
            row[4] = 7.0;
        }
        assert_eq!(columns.warm_up(&rows[..20], 5, Missing::Fail), Ok(matches!(how, Standardize::Warmup(_))));
        assert_eq!(columns.warm_up(&rows[20..], 5, Missing::Fail), Ok(false));
        rows.iter().for_each(|row| _ = columns.step(&mut run, row).unwrap());
        (run, columns, rows)
    }

    #[test]
    fn plain_numbers_do_what_the_model_does() {
        for how in [Standardize::None, Standardize::Running, Standardize::Warmup(60)] {
            let (mut run, columns, rows) = learned(how);
            let mut model = Model::new(&mut run, &columns);
            let map = model.linear_map(None).unwrap();
            let mut coordinates = Vec::new();
            for row in &rows {
                model.transform(row, &mut coordinates).unwrap();
                let scaled: Vec<f64> = (0..5).map(|i| (row[i] - map.mean[i]) / map.scale[i]).collect();
                let reconstructed = model.reconstruct(&coordinates).unwrap();
                for (z, component) in coordinates.iter().zip(&map.components) {
                    let wanted: f64 = component.iter().zip(&scaled).map(|(c, x)| c * x).sum();
                    assert!((z - wanted).abs() < 1e-9, "{how:?}: {z} {wanted}");
                }
                for i in 0..5 {
                    let back: f64 = map.components.iter().zip(&coordinates).map(|(c, z)| c[i] * z).sum();
                    let wanted = map.mean[i] + map.scale[i] * back;
                    assert!((reconstructed[i] - wanted).abs() < 1e-9 * map.scale[i].max(1.0), "{how:?}, column {i}");
                }
                assert!((reconstructed[4] - 7.0).abs() < 1e-12, "{how:?}: a constant column comes back");
            }
        }
    }

    #[test]
    fn a_row_that_is_refused_changes_nothing() {
        let (mut run, mut columns, _) = learned(Standardize::Running);
        let before = (run.clone(), columns.clone());
        for bad in [[1e200, 1.0, 1.0, 1.0, 1.0], [f64::NAN, 1.0, 1.0, 1.0, 1.0]] {
            columns.step(&mut run, &bad).unwrap_err();
            assert!(Model::new(&mut run, &columns).transform(&[f64::NAN; 5], &mut Vec::new()).is_err());
        }
        columns.step(&mut run, &[1.0; 4]).unwrap_err();
        let mut warming = Columns::new(None, Standardizer::new(Standardize::Warmup(9), 1));
        let new = warming.clone();
        assert!(matches!(warming.warm_up([[1.0], [f64::NAN]], 1, Missing::Fail), Err((1, _))));
        assert_eq!(warming, new);
        assert_eq!((run, columns), before);
    }

    #[test]
    fn names_that_are_not_distinct_are_none() {
        let names = |names: [&str; 2]| Some(names.map(str::to_owned).to_vec());
        let plain = || Standardizer::new(Standardize::None, 2);
        assert_eq!(Columns::new(names(["a", "a"]), plain()).names, None);
        assert_eq!(Columns::new(names(["a", "b"]), plain()).names, names(["a", "b"]));
    }
}
