//! Content of an output table: answers, and rows of cells.

/// Answer to an input row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer<'a> {
    /// Number of the row in its table, counted from 0.
    pub row: u64,
    /// Expected loss of the row over the learner's random choice.
    pub expected_loss: f64,
    /// Loss of the row for the choice that the learner drew.
    pub loss: f64,
    /// Coordinates of the row in the kept directions.
    pub coordinates: &'a [f64],
    /// Cells copied from the row, one for each name given to [`crate::Answers::with_texts`].
    pub texts: &'a [String],
}

/// Type of an output column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Integers, some of which may be missing.
    Whole,
    /// Floating-point numbers. A missing number is NaN.
    Number,
    /// Strings.
    Text,
}

/// Cell of a table whose columns have different types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Integer, or `None` if missing.
    Whole(Option<u64>),
    /// Number, or NaN if missing.
    Number(f64),
    /// String.
    Text(&'a str),
}

/// Names and types of the columns of a table.
pub(super) type Columns = Vec<(String, CellKind)>;
