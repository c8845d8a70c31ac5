//! Arguments of the command `reproduce`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// Options of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each figure becomes a folder with its data (CSV), its picture (SVG) and a page (index.html). Each claim is printed as PASS or \
FAIL; a claim that fails ends with status 1. Without --data, EIGENHEDGE_DATA may name the folder.

Examples:
  eigenhedge reproduce list
  eigenhedge reproduce jmlr-figure-4
  eigenhedge reproduce all --quick")]
pub struct ReproduceArgs {
    /// Name of a figure, `all`, or `list` to list the names
    #[arg(value_name = "list|all|NAME", default_value = "list", value_parser = reproductions(), hide_possible_values = true)]
    pub name: String,
    /// Folder with real data (yaleb32_images.npy, yaleb32_labels.npy) [default: synthetic streams]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use fewer draws and rows: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Seed of the streams and draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
}

fn reproductions() -> PossibleValuesParser {
    ["list", "all"]
        .into_iter()
        .chain(eigenhedge_lab::REPRODUCTIONS.iter().map(|one| one.name))
        .collect::<Vec<_>>()
        .into()
}
