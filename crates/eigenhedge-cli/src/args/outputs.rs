//! Outputs of a run besides its answers, as typed: snapshots and pictures.

use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Snapshots, pictures, threads.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Snapshots and reports")]
pub struct KeepArgs {
    /// Draw what happened: one page for a browser, which needs no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// The same pictures as one SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Save the run here at its end, and when it is stopped by a signal; `transform` and others use it as a model
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// Also save it each time so many rows have been learned
    #[arg(long, value_name = "ROWS", requires = "snapshot", value_parser = clap::value_parser!(u64).range(1..))]
    pub snapshot_every: Option<u64>,
    /// Go on where this snapshot was saved; all that decides the outcome must be as it was then
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Begin with this model on a new table: its columns are found by name, its options hold, and its scale, draws and
    /// account go on. Options that are typed must agree with it
    #[arg(long, value_name = "MODEL")]
    pub start_from: Option<PathBuf>,
    /// Threads for the members of `auto` and for passes over long rows (some 30,000 numbers and more) [default: 1]; reading and
    /// writing have threads of their own unless it is 1. No result depends on it
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}
