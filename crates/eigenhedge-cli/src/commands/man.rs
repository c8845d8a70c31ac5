//! `man`: manual pages, generated from the command-line help.

use crate::args::Cli;
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::fs;
use std::path::Path;

pub fn man(folder: &Path) -> Result<()> {
    let unwritable = || format!("{} cannot be written", eigenhedge_io::printable_path(folder));
    fs::create_dir_all(folder).with_context(unwritable)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(unwritable)
}
