//! Outputs of a run besides its answers, as typed: snapshots and pictures.

use crate::live::{LiveAddress, parse_address};
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
    /// Threads for passes over long rows (some 30,000 numbers and more); no result depends on it [default: 1]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// The page while the stream runs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Live page")]
pub struct LiveArgs {
    /// Show the page of --report in a browser while the stream runs, at this address of this machine [default: 127.0.0.1:8750].
    /// The page stays at the end until the program is stopped
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8750",
          value_parser = parse_address)]
    pub live: Option<LiveAddress>,
    /// With --live: end with the stream
    #[arg(long, requires = "live")]
    pub live_exit: bool,
}
