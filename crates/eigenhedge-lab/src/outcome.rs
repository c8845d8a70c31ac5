//! Outcome of a reproduction: tables, charts, sentences and claims.

use eigenhedge_pages::Chart;
use eigenhedge_pages::number::significant;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    pub text: Vec<String>,
    pub claims: Vec<Claim>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Suffix of the file name, empty for the main table.
    pub suffix: &'static str,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<S: Into<String>>(suffix: &'static str, columns: impl IntoIterator<Item = S>) -> Self {
        Self { suffix, columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub fn of<const N: usize>(columns: [&str; N], rows: impl IntoIterator<Item = [f64; N]>) -> Self {
        let mut table = Self::new("", columns);
        rows.into_iter().for_each(|row| table.push(row));
        table
    }

    /// Adds a row of numbers in full precision.
    pub fn push(&mut self, cells: impl IntoIterator<Item = f64>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }
}

/// Claim that an inequality between two measured numbers holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub statement: String,
    pub holds: bool,
}

impl Claim {
    /// Creates the claim `what (left) < than (right)`. If `than` is empty, only its number is shown.
    pub fn less(what: &str, left: f64, than: &str, right: f64) -> Self {
        Self::new(left < right, what, left, "<", than, right)
    }

    pub fn at_most(what: &str, left: f64, than: &str, right: f64) -> Self {
        Self::new(left <= right, what, left, "≤", than, right)
    }

    pub fn at_least(what: &str, left: f64, than: &str, right: f64) -> Self {
        Self::new(left >= right, what, left, "≥", than, right)
    }

    fn new(holds: bool, what: &str, left: f64, sign: &str, than: &str, right: f64) -> Self {
        let (left, right) = (significant(left, 5), significant(right, 5));
        let than = if than.is_empty() { right } else { format!("{than} ({right})") };
        Self { statement: format!("{what} ({left}) {sign} {than}"), holds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_say_both_numbers_and_nan_never_holds() {
        let claim = Claim::less("loss of A", 1.0 / 3.0, "half the loss of B", 0.5);
        assert_eq!((claim.statement.as_str(), claim.holds), ("loss of A (0.33333) < half the loss of B (0.5)", true));
        assert_eq!(Claim::at_most("error", 2.0, "", 1.0).statement, "error (2) ≤ 1");
        assert!(!Claim::at_most("error", 2.0, "", 1.0).holds);
        for claim in [Claim::less, Claim::at_most, Claim::at_least] {
            assert!(!claim("a", f64::NAN, "b", 1.0).holds && !claim("a", 1.0, "b", f64::NAN).holds);
        }
    }
}
