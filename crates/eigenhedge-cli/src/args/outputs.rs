//! Options of outputs: tables, snapshots, reports, threads and the live page.

use crate::destination::Destination;
use crate::live::parse_address;
use crate::table::Usage;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eigenhedge_io::{Dialect, Form, Stream};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options of the output table, shared by all commands that write one.
#[derive(Debug, Clone, Default, Args)]
pub struct OutArgs {
    /// File for the result of each row; `-` for standard output
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// Format of the results [default: by the file extension, otherwise csv]
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub out_format: Option<Form>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum AnswersAs {
    /// As in the input
    #[default]
    Input,
    /// Commas and points
    Csv,
}

impl AnswersAs {
    pub fn name(self) -> &'static str {
        if self == Self::Input { "input" } else { "csv" }
    }

    pub fn dialect(self, stream: &Stream) -> Dialect {
        if self == Self::Input { stream.reading().dialect() } else { Dialect::default() }
    }
}

impl OutArgs {
    pub fn destination(&self) -> Result<Destination, Usage> {
        match (&self.out, self.out_format) {
            (None, Some(_)) => Err(Usage("--out-format has no effect without --out".into())),
            (path, form) => Destination::new("--out", path.as_deref(), form),
        }
    }

    pub fn destination_or_standard(&self) -> Result<Destination, Usage> {
        let path = self.out.as_deref().unwrap_or("-".as_ref());
        Destination::new("--out", Some(path), self.out_format)
    }
}

fn forms() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(Form::ALL.map(Form::name)).try_map(|name| Form::from_name(&name).ok_or("not a form"))
}

/// Options for reports, plots, snapshots and threads.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Snapshots and reports")]
pub struct KeepArgs {
    /// File for a self-contained HTML page with plots of the run
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// File for the plots of the run as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// File to save the run to, at the end and when a signal stops it; `transform` and other commands use it as a model
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// Also save the run each time this many rows have been learned
    #[arg(long, value_name = "ROWS", requires = "snapshot", value_parser = clap::value_parser!(u64).range(1..))]
    pub snapshot_every: Option<u64>,
    /// Continue from this snapshot; settings that affect the result must match
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Continue this model with a new table. Columns are matched by name. The model keeps its options, scale, random
    /// state and summary. If -k, --standardize or an option of the learner other than --missing is given, it must match
    /// that of the model
    #[arg(long, value_name = "MODEL")]
    pub start_from: Option<PathBuf>,
    /// Number of threads for the members of `auto`, if no results are written per row, for the models of --group-by,
    /// and for long rows (about 30,000 numbers or more) [default: 1]. Without --group-by, reading and writing also use
    /// threads of their own if N, or by default the number of processors, is more than 1. Results do not depend on N
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// Options of the live page.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Live page")]
pub struct LiveArgs {
    /// Show the page of --report in a browser while the stream runs, at this address of the local machine, or at
    /// 127.0.0.1:8750 if no address follows. At the end, the page stays until the program is stopped
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8750",
          value_parser = parse_address)]
    pub live: Option<SocketAddr>,
    /// With --live: exit when the stream ends
    #[arg(long, requires = "live")]
    pub live_exit: bool,
}
