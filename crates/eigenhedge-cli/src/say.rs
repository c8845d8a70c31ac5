//! Messages on standard error.

use std::io::{self, Write};

/// Prints a message to standard error. Ignores errors, because standard error may be closed.
pub fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}
