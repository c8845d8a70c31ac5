//! Records and pages of models and monitors. Records are made row by row, in bounded memory.
//!
//! [`run::Recorder`] records a model. [`monitor::Journal`] records one monitor, or one monitor per key. [`run::page`]
//! and [`monitor::page`] turn the records into pages. The command line, the service and the Python package share this
//! crate, so that all three show the same page for a stream.

#![forbid(unsafe_code)]

pub mod monitor;
pub mod number;
pub mod run;
mod saved;

pub use number::counted;
pub use saved::{from_text, to_text};

/// Returns the file name of a source without folders, for the title of a page.
pub fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
}
