//! Messages about rows and learners, shared by sessions.

use crate::args::{TableArgs, typed};
pub use crate::say::say;
use crate::stop::StopSignal;
use crate::table::say_times;
use anyhow::{Result, anyhow};
use eigenhedge::options::spelled;
use eigenhedge::{Error, Kind, Spec};
use eigenhedge_io::{Format, Stream, printable, printable_path, refusal};
use std::path::Path;

/// About 4 ms per row at this length.
const LONG_WITHOUT_CAP: usize = 500;

pub fn waits(snapshot: Option<&Path>, rows: u64, ended: bool) -> bool {
    match snapshot {
        _ if ended => false,
        Some(path) => {
            let path = printable_path(path);
            say(&format!("stopped after {rows} rows; the same command with --resume {path} goes on"));
            true
        }
        None => {
            say(&format!("stopped after {rows} rows: what follows is about these"));
            false
        }
    }
}

pub fn unless_stopped<T>(signal: &StopSignal, opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Err(_) if signal.to_stop() => {
            stopped_early();
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

pub fn stopped_early() {
    say("stopped before the first row");
}

/// Reports skipped rows and, unless `quiet`, irregular times. Returns a sentence if over a tenth of the rows were bad.
/// Over half are an error, unless allowed.
pub fn close_table(stream: &Stream, args: &TableArgs, quiet: bool) -> Result<Option<String>> {
    let listed = stream.messages().inspect(|message| say(&format!("skipped: {}", printable(message)))).count() as u64;
    if stream.skipped() > listed {
        say(&format!("skipped: {} more", stream.skipped() - listed));
    }
    let (bad, rows) = (stream.bad_rows(), stream.rows_read());
    let share = 100.0 * bad as f64 / rows as f64;
    let sentence = format!("{bad} of {rows} rows ({share:.0} %) were skipped as bad");
    if 2 * bad > rows && !args.allow_skipped {
        let source = stream.source();
        return Err(anyhow!(
            "{source}: {sentence}, so that the result is about the others; --allow-skipped permits that"
        ));
    }
    if !quiet {
        say_times(stream);
    }
    Ok((10 * bad > rows).then_some(sentence))
}

/// Returns the line of a summary about skipped rows.
pub fn caution(skipped: Option<String>) -> String {
    skipped.map_or(String::new(), |sentence| format!("{:<11}{sentence}\n", "caution"))
}

pub fn misfit(error: &Error, format: Format, stream: &Stream) -> String {
    match error {
        // `k` was valid before the table was opened, so the rows have too few columns.
        Error::Kept { kept, dimension } => {
            let is_doubtful = *dimension == 1 && matches!(format, Format::Csv | Format::Tsv);
            let hint = if is_doubtful { " (is --delimiter right?)" } else { "" };
            let left_out = match stream.left_out() {
                none if none.is_empty() => String::new(),
                names => format!("; left out, no numbers: {}", names.join(", ")),
            };
            format!("-k must be less than the number of selected columns, {dimension}, got {kept}{hint}{left_out}")
        }
        Error::Parameter { .. } => spelled(error, typed),
        other => sentence(other),
    }
}

pub fn uncapped(spec: &Spec, length: usize) -> Option<String> {
    let is_exact = matches!(spec.learner, Kind::Leader | Kind::ForgettingLeader | Kind::Anchored);
    let is_slow = is_exact && spec.max_rank.is_none() && spec.kernel.is_none() && length >= LONG_WITHOUT_CAP;
    let enough = spec.kept + 3;
    is_slow.then(|| {
        format!(
            "{} keeps all directions of {length} columns, which is slow; --max-rank {enough} keeps the {enough} strongest",
            spec.learner
        )
    })
}

pub fn by_name(error: &Error, stream: &Stream) -> String {
    refusal(error, |column| stream.label(column))
}

pub fn sentence(error: &Error) -> String {
    match error {
        entry @ Error::Entry { .. } => entry.to_string(),
        other => refusal(other, |column| column.to_string()),
    }
}
