//! Sentences on standard error.

use std::io::{self, Write};

/// Says something on standard error, which may be closed.
pub fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}
