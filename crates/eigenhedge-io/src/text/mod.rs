//! Tables that are lines of text.

mod cells;
mod csv;
mod csv_columns;
mod jsonl;
mod libsvm;
mod line_ends;
mod line_reader;
mod lines;
mod peek;
mod sniff;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use libsvm::Libsvm;
pub use lines::Lines;

/// The number that a cell holds, NaN and infinity included.
fn number(cell: &[u8]) -> Option<f64> {
    cells::CellStyle::default().number(cell)
}

/// True if a cell holds nothing, NaN, or one of the signs for a missing number, in small or capital letters.
fn is_missing(cell: &[u8]) -> bool {
    cells::CellStyle::default().is_missing(cell)
}
