//! Messages on standard error.

use std::io::{self, Write};

/// Prints a message to standard error. Errors are ignored, because it may be closed.
pub fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}
