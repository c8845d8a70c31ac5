//! `run`: one learner over a table.

mod block;
mod group_summary;
mod groups;
pub(super) mod progress;
mod resume_state;
mod session;

use crate::args::{SummaryForm, typed};
use crate::files::{file_name, judge_place};
use crate::number::exact;
use crate::plan::Plan;
use crate::record::{Heading, page};
use crate::stdout;
use crate::stop::StopSignal;
use crate::summary::{sentences, text};
use crate::table::say_times;
use anyhow::{Context, Result};
use eigenhedge::options::spelled;
use eigenhedge::{Error, Kind, Spec, set_threads};
use eigenhedge_io::{Format, Stream, Target, printable, printable_path, write_whole};
use progress::Progress;
use session::{Finished, Session, Step};

pub use group_summary::inspect;

use std::io::{self, Write};
use std::path::Path;

/// Reads, learns, answers, and sums up.
pub fn run(plan: &Plan) -> Result<()> {
    let keep = &plan.keep;
    keep.threads.into_iter().for_each(set_threads);
    [&keep.report, &keep.plot, &keep.snapshot].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    if plan.target == Target::Standard {
        drop(stdout::output()?);
    }
    if plan.by_group {
        return groups::run(plan);
    }
    let signal = StopSignal::listen()?;
    let mut session = match Session::open(plan, &signal) {
        Err(_) if signal.to_stop() => return stopped_early(),
        outcome => outcome?,
    };
    let mut progress = Progress::new(plan.quiet, &plan.target, session.model().totals().rows);
    let ended = learn(&mut session, &mut progress, &signal);
    progress.finish();
    let ended = ended?;
    let rows = session.rows();
    if rows == 0 {
        return stopped_early();
    }
    session.save(ended)?;
    if waits(plan.keep.snapshot.as_deref(), rows, ended) { Ok(()) } else { close(plan, session.finish()?) }
}

/// True if a run that was stopped after so many rows is to be resumed, so that it has no end yet; says so.
pub(super) fn waits(snapshot: Option<&Path>, rows: u64, ended: bool) -> bool {
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

/// Learns row after row; true if the table came to its end.
fn learn(session: &mut Session<'_>, progress: &mut Progress, signal: &StopSignal) -> Result<bool> {
    loop {
        if signal.to_stop() {
            return Ok(false);
        }
        match session.step() {
            // A wait that was ended is seen as a failure; the stream is still after the last whole row.
            Err(_) if signal.to_stop() => return Ok(false),
            outcome => match outcome? {
                Step::Learned => {
                    progress.tick(session.model(), &session.stream);
                    session.save_in_time()?;
                }
                Step::Refused => {}
                Step::Ended => return Ok(true),
            },
        }
    }
}

/// The answers are there already: they stay even when nobody reads the summary.
fn close(plan: &Plan, finished: Finished) -> Result<()> {
    let Finished { model, stream, recorder, rows, elapsed, standardized } = finished;
    list_skipped(&stream);
    if !plan.quiet {
        say_times(&stream);
    }
    let mut summary = model.summary().timed(elapsed.as_secs_f64());
    summary.skipped_rows += stream.skipped();
    summary.rows_per_second = (summary.seconds > 0.0).then_some(rows as f64 / summary.seconds);
    if let Some(mut recorder) = recorder {
        recorder.close(stream.row_number(), &model, &summary);
        let account = sentences(&summary, model.spec(), standardized);
        let source = stream.source();
        let heading = Heading { source: file_name(&source), columns: stream.columns(), standardized, account };
        let report = page(heading, &recorder, &model, &summary);
        plan.keep.report.iter().try_for_each(|path| write_whole(path, report.html().as_bytes()))?;
        plan.keep.plot.iter().try_for_each(|path| write_whole(path, report.svg().as_bytes()))?;
    }
    let Some(form) = plan.summary else { return Ok(()) };
    let shown = match form {
        SummaryForm::Text => text(&summary, model.spec(), standardized) + &next_step(plan),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    };
    if plan.target == Target::Standard {
        return io::stderr().write_all(shown.as_bytes()).context("standard error cannot be written");
    }
    stdout::print(&shown)
}

/// Where the pictures are, or how to get some.
fn next_step(plan: &Plan) -> String {
    match (&plan.keep.report, &plan.keep.plot) {
        (Some(path), _) => format!("report     {}: open it in a browser\n", printable_path(path)),
        (None, Some(path)) => format!("plot       {}\n", printable_path(path)),
        (None, None) => "next       --report FILE.html draws what happened\n".to_owned(),
    }
}

pub(super) fn stopped_early() -> Result<()> {
    say("stopped before the first row");
    Ok(())
}

/// Says something on standard error, which may be closed.
pub(super) fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "eigenhedge: {sentence}");
}

/// Rows at least this long make a learner without a rank cap slow: some 4 ms a row at 500 columns, 20 ms at 1000.
const LONG_WITHOUT_CAP: usize = 500;

/// Advice for a learner whose time a row grows faster than the square of the number of columns.
fn uncapped(spec: &Spec, length: usize) -> Option<String> {
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

/// Lists the first few rows that were passed over on standard error, which may be closed.
pub(super) fn list_skipped(stream: &Stream) {
    let mut err = io::stderr().lock();
    let mut listed = 0;
    for message in stream.messages() {
        let _ = writeln!(err, "eigenhedge: skipped: {}", printable(message));
        listed += 1;
    }
    if stream.skipped() > listed {
        let _ = writeln!(err, "eigenhedge: skipped: {} more", stream.skipped() - listed);
    }
}

/// A learner that does not fit the table.
fn misfit(error: &Error, format: Format, stream: &Stream) -> String {
    match error {
        // Without the data k was found to fit the space, so it is the row that is too short.
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

/// The library's sentence, with the name of the column if it is about an entry of the row.
pub(super) fn by_name(error: &Error, stream: &Stream) -> String {
    match error {
        Error::Entry { what: "row", index, rule, value } => {
            format!("{} must be {rule}, got {}", stream.label(*index), exact(*value))
        }
        other => sentence(other),
    }
}

/// The library's sentence, with numbers of any size in few characters.
pub(super) fn sentence(error: &Error) -> String {
    match error {
        Error::Norm { norm, bound } => {
            format!("the norm of the row must not exceed the norm bound {}, got {}", exact(*bound), exact(*norm))
        }
        Error::Overflow { largest } => {
            format!("the squared norm of the row must be finite, got a largest entry of {}", exact(*largest))
        }
        other => other.to_string(),
    }
}
