//! Readers of text formats: CSV, TSV, JSON lines, LIBSVM and lines of text.

mod cells;
mod contents;
mod csv;
mod csv_columns;
mod json_row;
mod jsonl;
mod libsvm;
mod line_ends;
mod line_reader;
mod peek;
mod sniff;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use libsvm::Libsvm;
pub use line_reader::PlainLines;

fn number(cell: &[u8]) -> Option<f64> {
    cells::CellStyle::default().number(cell)
}

fn is_missing(cell: &[u8]) -> bool {
    cells::CellStyle::default().is_missing(cell)
}
