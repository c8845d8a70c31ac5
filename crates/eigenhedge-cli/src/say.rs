//! Messages on standard error.

use eigenhedge::Standardize;
use eigenhedge::kernel::VectorKernel;
use eigenhedge_pages::number::readable;
use std::io::{self, Write};

/// Prints a message to standard error. Ignores errors, because standard error may be closed.
pub fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}

pub fn say_short_warm_up(how: Standardize, rows: u64) {
    if let Standardize::Warmup(wanted) = how
        && rows < wanted
    {
        say(&format!("--standardize {how} has used all {rows} rows: the table has fewer than {wanted}"));
    }
}

pub fn say_gamma(kernel: &VectorKernel) {
    let parameters = kernel.parameters();
    let scales = [("--gamma", parameters.gamma), ("--length-scale", parameters.length_scale)];
    for (name, value) in scales.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        say(&format!("{name} {} from the scale of the first rows", readable(value)));
    }
}
