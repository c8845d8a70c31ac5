//! `eigenhedge`: online PCA from the command line.
//!
//! [`args`] is what was typed, [`plan`] is what that means once it has been checked, [`commands`] does it.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod number;
mod plan;
mod summary;

use args::{Cli, Command};
use clap::Parser;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// Bad data, or a run that failed.
const FAILED: u8 = 1;
/// A command line that cannot mean anything; clap uses the same number.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => commands::demo(&args),
        Command::Run(args) => match plan::Plan::new(&args) {
            Ok(plan) => commands::run(&plan),
            Err(usage) => {
                eprintln!("eigenhedge: {usage}");
                return ExitCode::from(USAGE);
            }
        },
    };
    match outcome {
        Err(error) if !is_broken_pipe(&error) => {
            eprintln!("eigenhedge: {error:#}");
            ExitCode::from(FAILED)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Whoever read our output has seen enough: that is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    if error.downcast_ref::<eigenhedge_io::Error>().is_some_and(eigenhedge_io::Error::is_broken_pipe) {
        return true;
    }
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == ErrorKind::BrokenPipe)
}
