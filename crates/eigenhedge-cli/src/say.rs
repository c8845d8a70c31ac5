//! Messages on standard error.

use std::io::{self, Write};

/// Prints a message on standard error. Ignores errors, because it may be closed.
pub fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}
