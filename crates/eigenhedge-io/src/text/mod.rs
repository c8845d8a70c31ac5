//! Tables that are lines of text.

mod csv;
mod jsonl;
mod libsvm;
mod line_reader;
mod lines;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use libsvm::Libsvm;
