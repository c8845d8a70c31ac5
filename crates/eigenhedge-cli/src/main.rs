//! `eigenhedge`: online PCA from the command line.
#![deny(unsafe_code)]

mod advice;
mod args;
mod commands;
mod destination;
mod files;
mod inputs;
mod live;
mod plan;
mod say;
mod stdout;
mod stop;
mod table;
mod working;

use anyhow::Context;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
#[cfg(feature = "serve")]
use commands::serve;
use commands::{batch, compare, demo, make, merge, model, monitor, pair, reproduce, run, scree};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

const FAILED: u8 = 1;
const USAGE: u8 = 2;

const ALARM: u8 = 3;

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Err(message) => return explain(&advice::with_tip(message)),
        Ok(cli) => execute(cli.command),
    };
    match outcome {
        Err(error) if !is_broken_pipe(&error) => {
            // If a bad row ended the run, the hint names the option that skips such rows.
            let of_table = error.downcast_ref::<eigenhedge_io::Error>();
            let needs_hint = of_table.is_some_and(|error| error.is_row() && !error.is_advised());
            let word = of_table.and_then(eigenhedge_io::Error::word);
            let sign = word
                .map_or(String::new(), |word| format!("; --na-values{} reads it as a missing cell", argument(word)));
            let hint = if needs_hint { "; --on-bad-row skip passes over bad rows" } else { "" };
            complain(&format!("{error:#}{sign}{hint}"));
            ExitCode::from(match () {
                () if error.is::<table::Usage>() => USAGE,
                () if error.is::<monitor::Alarmed>() => ALARM,
                () => FAILED,
            })
        }
        _ => ExitCode::SUCCESS,
    }
}

fn argument(word: &str) -> String {
    let joint = if word.starts_with('-') { '=' } else { ' ' };
    let is_plain = word.chars().all(|sign| sign.is_alphanumeric() || "_-./".contains(sign));
    if is_plain { format!("{joint}{word}") } else { format!("{joint}'{word}'") }
}

fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {}", eigenhedge_io::printable(sentence));
}

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
        Command::Demo(args) => demo::demo(&args),
        Command::Run(args) => plan::Plan::new(*args).and_then(|plan| run::run(&plan)),
        Command::Monitor(args) => monitor::monitor(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Scree(args) => scree::scree(&args),
        Command::Transform(args) => model::transform(&args),
        Command::Reconstruct(args) => model::reconstruct(&args),
        Command::Inspect(args) => model::inspect(&args),
        Command::Merge(args) => merge::merge(&args),
        Command::Export(args) => model::export(&args),
        Command::Make(args) => make::make(&args),
        Command::Pair(args) => pair::pair(&args),
        Command::Experts(args) => pair::experts(&args),
        Command::Pca(args) => batch::pca(&args),
        Command::KernelPca(args) => batch::kernel_pca(&args),
        Command::KernelRidge(args) => batch::kernel_ridge(&args),
        Command::Preimage(args) => batch::preimage(&args),
        Command::Mmd(args) => batch::mmd(&args),
        Command::Completions { shell } => {
            // The generator panics if its output cannot be written, so it writes to a buffer.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "eigenhedge", &mut script);
            stdout::print(&String::from_utf8_lossy(&script))
        }
        Command::Man { out } => {
            let unwritable = || format!("{} cannot be written", eigenhedge_io::printable_path(&out));
            std::fs::create_dir_all(&out).with_context(unwritable)?;
            clap_mangen::generate_to(Cli::command(), &out).with_context(unwritable)
        }
        Command::Reproduce(args) => reproduce::reproduce(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::serve(&args),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    if error.downcast_ref::<eigenhedge_io::Error>().is_some_and(eigenhedge_io::Error::is_broken_pipe) {
        return true;
    }
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == ErrorKind::BrokenPipe)
}
