//! `eigenhedge`: online PCA from the command line.
//!
//! [`args`] is what was typed, [`plan`] is what that means once it has been checked, [`commands`] does it.
#![deny(unsafe_code)]

mod args;
mod commands;
mod csv_writer;
mod files;
mod number;
mod plan;
mod record;
mod stdout;
mod stop;
mod summary;
mod table;

use anyhow::Context;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Bad data, or a run that failed.
const FAILED: u8 = 1;
/// A command line that cannot mean anything; clap uses the same number.
const USAGE: u8 = 2;

/// A monitor that was told to fail on an alarm, and had one.
const ALARM: u8 = 3;

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Err(message) => return explain(&message),
        Ok(cli) => execute(cli.command),
    };
    match outcome {
        Err(error) if !is_broken_pipe(&error) => {
            // Who reads a pipe must know that one bad row need not end it.
            let of_table = error.downcast_ref::<eigenhedge_io::Error>();
            let needs_hint = of_table.is_some_and(|error| error.is_row() && !error.is_advised());
            let hint = if needs_hint { "; --on-bad-row skip passes over bad rows" } else { "" };
            complain(&format!("{error:#}{hint}"));
            ExitCode::from(match () {
                () if error.is::<table::Usage>() => USAGE,
                () if error.is::<commands::Alarmed>() => ALARM,
                () => FAILED,
            })
        }
        _ => ExitCode::SUCCESS,
    }
}

/// One line on standard error, whatever the names in it hold.
fn complain(sentence: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(io::stderr(), "eigenhedge: {}", eigenhedge_io::printable(sentence));
}

/// Prints the help, the version, or what is wrong with the command line.
fn explain(message: &clap::Error) -> ExitCode {
    if message.use_stderr() {
        let _ = message.print();
        return ExitCode::from(USAGE);
    }
    let printed =
        stdout::output().and_then(|mut out| message.print().and_then(|()| out.flush()).context(stdout::UNWRITABLE));
    match printed {
        Err(error) if !is_broken_pipe(&error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(FAILED)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => commands::demo(&args),
        Command::Run(args) => plan::Plan::new(&args).map_err(Into::into).and_then(|plan| commands::run(&plan)),
        Command::Monitor(args) => commands::monitor(&args),
        Command::Compare(args) => commands::compare(&args),
        Command::Scree(args) => commands::scree(&args),
        Command::Transform(args) => commands::transform(&args),
        Command::Reconstruct(args) => commands::reconstruct(&args),
        Command::Inspect(args) => commands::inspect(&args),
        Command::Merge(args) => commands::merge(&args),
        Command::Export(args) => commands::export(&args),
        Command::Make(args) => commands::make(&args),
        Command::Pair(args) => commands::pair(&args),
        Command::Experts(args) => commands::experts(&args),
        Command::Pca(args) => commands::pca(&args),
        Command::KernelPca(args) => commands::kernel_pca(&args),
        Command::KernelRidge(args) => commands::kernel_ridge(&args),
        Command::Preimage(args) => commands::preimage(&args),
        Command::Mmd(args) => commands::mmd(&args),
        Command::Completions { shell } => {
            // By way of memory: the generator panics when nobody reads what it writes.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "eigenhedge", &mut script);
            stdout::print(&String::from_utf8_lossy(&script))
        }
        Command::Man { out } => commands::man(&out),
        Command::Reproduce(args) => commands::reproduce(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve(&args),
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
