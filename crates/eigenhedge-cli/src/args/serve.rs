//! Options of `serve`, as typed.

use clap::Args;
use eigenhedge_io::MaxMemory;
use std::path::PathBuf;

// A backslash ends a line of the source, not of the text: paragraphs are wrapped to the terminal.
const NOTES: &str = "\
A stream is a model or a monitor, or one for each value of a column. Rows are in the store before they are answered; after a crash \
the service goes on as if nothing had happened. The signals INT and TERM stop it within 5 seconds.

Other addresses than those of this machine need --token-file: a file of mode 600 with lines of a scope (read, write or admin) and a \
token of at least 16 characters. Put a reverse proxy with TLS before the service: it speaks plain HTTP.

Examples:
  eigenhedge serve --store plant
  curl -X PUT localhost:8750/v1/streams/press -d '{\"kind\": \"monitor\"}'
  curl -X POST localhost:8750/v1/streams/press/rows -H 'Content-Type: text/csv' --data-binary @data.csv
  curl localhost:8750/v1/streams/press/summary";

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub struct ServeArgs {
    /// Address and port to listen at; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    pub listen: String,
    /// Folder of the store, which is made if it is not there
    #[arg(long, value_name = "FOLDER", default_value = "eigenhedge-store")]
    pub store: PathBuf,
    /// Lines of a scope (read, write or admin) and a token; its mode must be 600
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// With --token-file: a name by which the service is known, such as that of a proxy; others are then refused. May be given more
    /// than once
    #[arg(long, value_name = "NAME", requires = "token_file")]
    pub host: Vec<String>,
    /// Memory for learners and requests, such as 512M; members of large fleets beyond it wait in a file
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<MaxMemory>,
    /// Streams at most
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_streams: usize,
    /// Largest body of a request
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_body: Option<MaxMemory>,
    /// HOST:PORT that streams may tell of alarms (option `webhook` of a stream). May be given more than once
    #[arg(long, value_name = "HOST:PORT")]
    pub webhook_host: Vec<String>,
    /// Log each request, as a line of JSON on standard error
    #[arg(long)]
    pub log_requests: bool,
}

fn size(text: &str) -> Result<MaxMemory, String> {
    MaxMemory::from_text(text).ok_or_else(|| "must be a number of bytes, such as 512M or 4G".to_owned())
}
