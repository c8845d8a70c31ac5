//! Errors for damaged files.

use crate::error::{Error, Fault};
use crate::input_source::InputSource;

/// Creates the error for a damaged file from the message of a library.
pub fn unsound(input: &InputSource, format: &'static str, reason: impl std::fmt::Display) -> Error {
    // Line breaks in the library's message become spaces.
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    input.fault(Fault::Unsound { format, reason })
}
