//! `eigenhedge`: online PCA from the command line.
//!
//! [`args`] is what was typed, [`plan`] is what that means once it has been checked, [`commands`] does it.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod files;
mod number;
mod plan;
mod record;
mod sheet;
mod stop;
mod summary;
mod table;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// Bad data, or a run that failed.
const FAILED: u8 = 1;
/// A command line that cannot mean anything; clap uses the same number.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => commands::demo(&args),
        Command::Run(args) => plan::Plan::new(&args).map_err(Into::into).and_then(|plan| commands::run(&plan)),
        Command::Compare(args) => commands::compare(&args),
        Command::Transform(args) => commands::transform(&args),
        Command::Reconstruct(args) => commands::reconstruct(&args),
        Command::Inspect(args) => commands::inspect(&args),
        Command::Make(args) => commands::make(&args),
        Command::Pair(args) => commands::pair(&args),
        Command::Experts(args) => commands::experts(&args),
        Command::Pca(args) => commands::pca(&args),
        Command::KernelPca(args) => commands::kernel_pca(&args),
        Command::KernelRidge(args) => commands::kernel_ridge(&args),
        Command::Preimage(args) => commands::preimage(&args),
        Command::Completions { shell } => {
            // By way of memory: the generator panics when nobody reads what it writes.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "eigenhedge", &mut script);
            io::Write::write_all(&mut io::stdout(), &script).map_err(Into::into)
        }
        Command::Man { out } => commands::man(&out),
        Command::Reproduce(args) => commands::reproduce(&args),
    };
    match outcome {
        Err(error) if !is_broken_pipe(&error) => {
            eprintln!("eigenhedge: {error:#}");
            ExitCode::from(if error.is::<table::Usage>() { USAGE } else { FAILED })
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
