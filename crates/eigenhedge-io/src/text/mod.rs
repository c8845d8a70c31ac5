//! Tables that are lines of text.

mod csv;
mod jsonl;
mod libsvm;
mod line_ends;
mod line_reader;
mod lines;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use libsvm::Libsvm;
pub use lines::Lines;

/// The number that a cell holds, NaN and infinity included.
fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

/// True if a cell holds nothing, NaN, or one of the signs for a missing number, in small or capital letters.
fn is_missing(cell: &[u8]) -> bool {
    const SIGNS: [&str; 7] = ["", "na", "n/a", "null", "none", "-", "?"];
    let cell = cell.trim_ascii();
    SIGNS.iter().any(|sign| cell.eq_ignore_ascii_case(sign.as_bytes())) || number(cell).is_some_and(f64::is_nan)
}
