//! Options of `serve`, as typed.

use clap::Args;
use eigenhedge_io::MaxMemory;
use std::path::PathBuf;

// Paragraphs are wrapped to the terminal, so a backslash joins the lines of a paragraph.
const NOTES: &str = "\
A stream is a model or a monitor, or one for each value of a column. Rows are stored before they are answered, so that the \
service loses nothing in a crash. The signals INT and TERM stop it within 5 seconds.

An address that other machines can reach needs --token-file: a file of mode 600 with a scope (read, write or admin) and a token \
of at least 16 characters on each line. The service uses plain HTTP. Put a reverse proxy with TLS in front of it.

Examples:
  eigenhedge serve --store plant
  curl -X PUT localhost:8750/v1/streams/press -d '{\"kind\": \"monitor\"}'
  curl -X POST localhost:8750/v1/streams/press/rows -H 'Content-Type: text/csv' --data-binary @data.csv
  curl localhost:8750/v1/streams/press/summary";

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    pub listen: String,
    /// Folder of the store, created if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "eigenhedge-store")]
    pub store: PathBuf,
    /// File with a scope (read, write or admin) and a token on each line; its mode must be 600
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// With --token-file: a host name of the service, such as that of a proxy; requests for names other than these,
    /// localhost and IP addresses are rejected. May be given more than once
    #[arg(long, value_name = "NAME", requires = "token_file")]
    pub host: Vec<String>,
    /// Memory of the service, such as 512M and at least 32M, apart from 64 MB for the program; idle streams that do not
    /// fit are kept on disk, and other work that does not fit is rejected [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<MaxMemory>,
    /// Maximum number of streams
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_streams: usize,
    /// Maximum size of a request body [default: 32M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_body: Option<MaxMemory>,
    /// HOST:PORT to which incidents may be sent (option `webhook` of a stream). May be given more than once
    #[arg(long, value_name = "HOST:PORT")]
    pub webhook_host: Vec<String>,
    /// File of headers that are sent with incidents, such as tokens: HOST:PORT and NAME: VALUE on each line; its mode
    /// must be 600
    #[arg(long, value_name = "FILE", requires = "webhook_host")]
    pub webhook_headers: Option<PathBuf>,
    /// File of certificates (PEM) of the authorities to trust, instead of those of the system
    #[arg(long, value_name = "FILE", requires = "webhook_host")]
    pub webhook_ca: Option<PathBuf>,
    /// Template file of notices, such as pager.json (option `template` of a stream: pager). May be given more than once
    #[arg(long, value_name = "FILE", requires = "webhook_host")]
    pub webhook_template: Vec<PathBuf>,
    /// File eigenhedge.html to show at /try, where browsers find faults in tables without sending them
    #[arg(long = "try", value_name = "FILE")]
    pub try_page: Option<PathBuf>,
    /// Read the store, print what is in it, and end
    #[arg(long)]
    pub check: bool,
    /// Log each request as a line of JSON on standard error
    #[arg(long)]
    pub log_requests: bool,
}

fn size(text: &str) -> Result<MaxMemory, String> {
    MaxMemory::from_text(text).ok_or_else(|| "must be a number of bytes, such as 512M or 4G".to_owned())
}
