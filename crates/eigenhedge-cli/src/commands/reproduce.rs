//! `reproduce`: the figures of the papers, with checks of their claims.

use crate::args::ReproduceArgs;
use crate::stdout;
use anyhow::{Context, Result, bail};
use eigenhedge_io::printable_path;
use eigenhedge_lab::{REPRODUCTIONS, Reproduction, Setting, Tally, run_all};
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;

const DATA: &str = "EIGENHEDGE_DATA";

pub fn reproduce(args: &ReproduceArgs) -> Result<()> {
    let mut out = stdout::output()?;
    let chosen: Vec<&Reproduction> = match args.name.as_str() {
        "list" => {
            let widest = REPRODUCTIONS.iter().map(|one| one.name.len()).max().unwrap_or(0);
            let lines = REPRODUCTIONS.iter().map(|one| format!("{:widest$}  {}\n", one.name, one.title));
            let text: String = lines.collect();
            return out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(stdout::UNWRITABLE);
        }
        "all" => REPRODUCTIONS.iter().collect(),
        name => Reproduction::from_name(name).into_iter().collect(),
    };
    if let Some(folder) = args.data.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("--data must be a folder, got {}", printable_path(folder));
    }
    let data = args.data.clone().or_else(|| std::env::var_os(DATA).map(PathBuf::from));
    let setting = Setting { data, quick: args.quick, seed: args.seed };
    let shown = io::stderr().is_terminal();
    let progress = |name: &str, done: f64| {
        if shown {
            // Spaces erase the line at the end.
            let line = if done < 1.0 { format!("{name}: {:3.0} %", 100.0 * done) } else { " ".repeat(name.len() + 7) };
            eprint!("\r{line}\r");
        }
    };
    let tally = run_all(&chosen, &setting, &args.out, &progress, &mut out)?;
    let pages = args.out.join(if chosen.len() == 1 { chosen[0].name } else { "*" }).join("index.html");
    writeln!(out, "{} passed, {} failed", tally.passed, tally.failed)
        .and_then(|()| out.flush())
        .context(stdout::UNWRITABLE)?;
    let _ = writeln!(io::stderr(), "Pages: {}", printable_path(&pages));
    verdict(tally)
}

fn verdict(tally: Tally) -> Result<()> {
    match tally.failed {
        0 => Ok(()),
        1 => bail!("1 claim does not hold"),
        failed => bail!("{failed} claims do not hold"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_false_claim_is_a_failure() {
        assert!(verdict(Tally { passed: 9, failed: 0 }).is_ok());
        assert!(verdict(Tally { passed: 9, failed: 1 }).is_err());
    }
}
