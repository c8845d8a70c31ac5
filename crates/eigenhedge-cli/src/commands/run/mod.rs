//! `run`: one learner over a table.

mod block;
mod group_summary;
mod groups;
mod pages;
pub(super) mod progress;
mod resume_state;
mod session;
pub(super) mod words;

use crate::args::SummaryForm;
use crate::files::judge_place;
use crate::live::Live;
use crate::plan::Plan;
use crate::stdout;
use crate::stop::StopSignal;
use crate::table::{say_times, title};
use anyhow::{Context, Result};
use eigenhedge::set_threads;
use eigenhedge_io::{Target, printable_path, write_whole};
use eigenhedge_pages::file_name;
use eigenhedge_pages::run::{Heading, page};
use eigenhedge_pages::run::{sentences, text};
use eigenhedge_report::RunReport;
use pages::RunPages;
use progress::Progress;
use session::{Finished, Session, Step};
use words::{list_skipped, stopped_early, waits};

pub use group_summary::inspect;

use std::io::{self, Write};

/// Learns from a table, writes the results and prints a summary. With `--group-by`, there is one model per key.
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
    let mut live = Live::start(plan.live.live, &title(&plan.source))?;
    let mut session = match Session::open(plan, &signal) {
        Err(_) if signal.to_stop() => return stopped_early(),
        outcome => outcome?,
    };
    live.iter_mut().for_each(|live| live.follow(RunPages::of(&session)));
    let mut progress = Progress::new(plan.quiet, &plan.target, session.learned().model.totals().rows);
    let ended = learn(&mut session, &mut progress, &signal);
    progress.finish();
    let ended = ended?;
    let rows = session.rows();
    if rows == 0 {
        return stopped_early();
    }
    session.save(ended)?;
    if waits(plan.keep.snapshot.as_deref(), rows, ended) {
        return Ok(());
    }
    live.iter_mut().for_each(Live::rest);
    let report = close(plan, session.finish()?)?;
    if let (Some(live), Some(report)) = (live, report) {
        live.end(&report.page(), rows, plan.live.live_exit, &signal);
    }
    Ok(())
}

/// Learns rows. Returns true at the end of the table, and false after a stop signal.
fn learn(session: &mut Session<'_>, progress: &mut Progress, signal: &StopSignal) -> Result<bool> {
    loop {
        if signal.to_stop() {
            return Ok(false);
        }
        match session.step() {
            // An interrupted read fails. The stream is still at the end of the last complete row.
            Err(_) if signal.to_stop() => return Ok(false),
            outcome => match outcome? {
                Step::Learned => {
                    progress.tick(&session.learned().model, &session.stream);
                    session.save_in_time()?;
                }
                Step::Refused => {}
                Step::Ended => return Ok(true),
            },
        }
    }
}

/// Prints the summary, writes the page and the plot, and returns the data of the page. The results are already
/// complete, so they remain even if this fails.
fn close(plan: &Plan, finished: Finished) -> Result<Option<RunReport>> {
    let Finished { model, stream, recorder, rows, elapsed, standardized } = finished;
    list_skipped(&stream);
    if !plan.quiet {
        say_times(&stream);
    }
    let mut summary = model.summary().timed(elapsed.as_secs_f64());
    summary.skipped_rows += stream.skipped();
    summary.rows_per_second = (summary.seconds > 0.0).then_some(rows as f64 / summary.seconds);
    let report = recorder.map(|mut recorder| {
        recorder.close(stream.row_number(), &model, &summary);
        let account = sentences(&summary, model.spec(), standardized);
        let source = stream.source();
        let heading = Heading { source: file_name(&source), columns: stream.columns(), standardized, account };
        page(heading, &recorder, &model, &summary)
    });
    if let Some(report) = &report {
        plan.keep.report.iter().try_for_each(|path| write_whole(path, report.html().as_bytes()))?;
        plan.keep.plot.iter().try_for_each(|path| write_whole(path, report.svg().as_bytes()))?;
    }
    let Some(form) = plan.summary else { return Ok(report) };
    let shown = match form {
        SummaryForm::Text => text(&summary, model.spec(), standardized) + &next_step(plan),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    };
    if plan.target == Target::Standard {
        io::stderr().write_all(shown.as_bytes()).context("standard error cannot be written")?;
    } else {
        stdout::print(&shown)?;
    }
    Ok(report)
}

/// Returns a line that names the written report or plot, or suggests a report.
fn next_step(plan: &Plan) -> String {
    match (&plan.keep.report, &plan.keep.plot) {
        (Some(path), _) => format!("report     {}: open it in a browser\n", printable_path(path)),
        (None, Some(path)) => format!("plot       {}\n", printable_path(path)),
        (None, None) => "next       --report FILE.html draws what happened\n".to_owned(),
    }
}
