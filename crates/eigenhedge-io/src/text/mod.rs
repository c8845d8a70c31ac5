//! Tables that are lines of text.

mod csv;
mod jsonl;
mod libsvm;
mod line_ends;
mod line_reader;

pub use csv::Csv;
pub use jsonl::Jsonl;
pub use libsvm::Libsvm;
