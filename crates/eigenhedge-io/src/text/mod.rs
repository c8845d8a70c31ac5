//! Readers of text formats: CSV, TSV, JSON lines, LIBSVM and lines of text.

mod cells;
mod contents;
mod csv;
mod csv_columns;
mod first_lines;
mod jsonl;
mod line_reader;
mod sniff;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use line_reader::{Libsvm, PlainLines};
