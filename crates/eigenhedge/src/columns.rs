//! Names and scale of the columns of a table, which are saved with a model so that it can be applied to other tables.
//!
//! A model takes rows in the units of the input. If it standardizes columns, coordinates and losses are in standard units.

use crate::error::Error;
use crate::registry::Missing;
use crate::row::{check_cells, check_row};
use crate::standardize::{Standardize, Standardizer};
use crate::state::{ensure, length};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Names and scale of the columns of the input rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Distinct column names, or `None` if the columns are unnamed.
    pub names: Option<Vec<String>>,
    /// Statistics that scale the columns.
    pub standardizer: Standardizer,
}

impl Default for Columns {
    fn default() -> Self {
        Self::new(None, Standardizer::new(Standardize::None, 0))
    }
}

impl Columns {
    /// Creates columns with these names and this scale. The columns are unnamed if `names` is
    /// `None` or contains duplicates.
    pub fn new(names: Option<Vec<String>>, standardizer: Standardizer) -> Self {
        Self { names: names.filter(|names| are_distinct(names)), standardizer }
    }

    /// Writes the raw row in standard units to `row`.
    pub(crate) fn scaled(&self, raw: &[f64], width: usize, row: &mut Vec<f64>) -> Result<(), Error> {
        if self.standardizer.is_warming_up() {
            return Err(Error::Unsupported("a warm-up must set the scale of the columns before a row is learned from"));
        }
        self.standardizer.check_width(width)?;
        check_cells("row", raw, width)?;
        if let Some(index) = self.standardizer.spoiled(raw) {
            return Err(cannot_standardize(raw, index));
        }
        self.standardizer.apply(raw, row).map_err(|index| cannot_standardize(raw, index))
    }

    /// Estimates the scale from warm-up rows, before any row is learned. Returns true if the warm-up needs more rows.
    /// Rows that the `missing` rule skips, and rows after the end of the warm-up, are not used. On an error nothing
    /// changes, and the error comes with the index of the row.
    pub fn warm_up<R: AsRef<[f64]>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        width: usize,
        missing: Missing,
    ) -> Result<bool, (usize, Error)> {
        self.standardizer.check_width(width).map_err(|error| (0, error))?;
        let mut scale = self.standardizer.clone();
        for (t, raw) in rows.into_iter().enumerate() {
            if !scale.is_warming_up() {
                break;
            }
            let raw = raw.as_ref();
            let check = if missing == Missing::Fail { check_row } else { check_cells };
            check("row", raw, width).map_err(|error| (t, error))?;
            if missing.passes_over(raw) {
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

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.agree(other)?;
        self.standardizer.merge(&other.standardizer)
    }

    pub(crate) fn check_state(&self, width: usize, has_rows: bool) -> Result<(), Error> {
        if let Some(names) = &self.names {
            length("the names of columns", names.len(), width)?;
            ensure(are_distinct(names), "each column must have a name of its own")?;
        }
        self.standardizer.check_state(width)?;
        let is_ready = !self.standardizer.is_warming_up() || !has_rows;
        ensure(is_ready, "the scale of columns must be known before a row is learned from")
    }
}

fn are_distinct(names: &[String]) -> bool {
    names.iter().collect::<HashSet<_>>().len() == names.len()
}

pub(crate) fn cannot_standardize(raw: &[f64], index: usize) -> Error {
    Error::Entry { what: "row", index, rule: "finite once standardized", value: raw[index] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_refused_leaves_the_warm_up_as_it_was() {
        let mut warming = Columns::new(None, Standardizer::new(Standardize::Warmup(9), 1));
        let new = warming.clone();
        assert!(matches!(warming.warm_up([[1.0], [f64::NAN]], 1, Missing::Fail), Err((1, _))));
        assert_eq!(warming, new);
        assert!(warming.scaled(&[1.0], 1, &mut Vec::new()).is_err());
        assert_eq!(warming.warm_up([[1.0]; 9], 1, Missing::Fail), Ok(false));
        assert!(warming.scaled(&[1.0], 1, &mut Vec::new()).is_ok());
    }

    #[test]
    fn names_that_are_not_distinct_are_none() {
        let names = |names: [&str; 2]| Some(names.map(str::to_owned).to_vec());
        let plain = || Standardizer::new(Standardize::None, 2);
        assert_eq!(Columns::new(names(["a", "a"]), plain()).names, None);
        assert_eq!(Columns::new(names(["a", "b"]), plain()).names, names(["a", "b"]));
    }
}
