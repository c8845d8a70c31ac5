//! `monitor`: scores, limits, alarms, causes and change points for the rows of a table.

mod hook;
mod inspect;
mod metrics;
mod monitors;
mod opening;
mod options;
mod pages;

use super::session::Outcome;
use super::session::words::{list_skipped, unless_stopped};
use crate::args::{MonitorArgs, SummaryForm};
use crate::files::{is_same_file, judge_place};
use crate::live::Live;
use crate::plan::{is_page, suits};
use crate::stdout;
use crate::stop::StopSignal;
use crate::table::{Usage, is_dash, say_times, source, title};
use anyhow::{Context, Result};
use eigenhedge_io::{Form, Target, printable_path, write_whole};
use eigenhedge_pages::counted;
use eigenhedge_pages::monitor::{Inside, json, page, text};
use monitors::{Finished, Monitors};
use options::options;
use pages::MonitorPages;

pub use inspect::inspect;
use std::io::{self, Write};
use std::path::Path;

/// Error that makes the program exit with the alarm status.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Alarmed(String);

/// Targets of the results and of the events.
pub struct Outputs {
    pub answers: (Target, Form),
    pub events: (Target, Form),
}

/// Runs the monitor over a table and prints a summary. If the table ends during the warm-up, it is read again with a
/// shorter warm-up.
pub fn monitor(args: &MonitorArgs) -> Result<()> {
    let mut options = options(args)?;
    let outputs = outputs(args)?;
    let files = [&args.snapshot, &args.events, &args.report, &args.metrics].into_iter().flatten();
    files.filter(|path| !is_dash(path)).try_for_each(|path| judge_place(path))?;
    let prints_rows = [&outputs.answers.0, &outputs.events.0].contains(&&Target::Standard);
    if prints_rows {
        drop(stdout::output()?);
    }
    let signal = StopSignal::listen()?;
    let can_read_again =
        args.snapshot.is_none() && args.resume.is_none() && !args.inputs.iter().any(|path| is_dash(path));
    let mut live = Live::start(args.live.live, &title(&source(&args.inputs)?))?;
    let mut keys = None;
    let session = loop {
        let opened = Monitors::session(args, &options, &outputs, &signal, keys);
        let Some(mut session) = unless_stopped(&signal, opened)? else { return Ok(()) };
        if let Some(live) = &mut live {
            live.follow(MonitorPages::of(&session));
        }
        let outcome = session.learn(args.quiet, &outputs.answers.0, &signal)?;
        let engine = &mut session.engine;
        engine.write_metrics()?;
        if outcome == Outcome::Left {
            return Ok(());
        }
        if !engine.is_too_short() {
            break session;
        }
        match engine.shorter_warm_up(keys.is_some()).filter(|_| can_read_again && outcome == Outcome::Ended) {
            Some(rows) => (options.warm_up, keys) = (Some(rows), Some(engine.keys())),
            None => return Err(engine.too_short(&session.stream)),
        }
    };
    live.iter_mut().for_each(Live::rest);
    let Finished { stream, facts, journal } = session.finish()?;
    list_skipped(&stream);
    if !args.quiet {
        say_times(&stream);
    }
    let page = journal.has_charts(facts.columns.len()).then(|| page(&journal, &facts, &Inside::All));
    if let (Some(path), Some(page)) = (&args.report, &page) {
        write_whole(path, page.html().as_bytes())?;
    }
    let shown = match args.summary {
        SummaryForm::Text if args.quiet => String::new(),
        SummaryForm::Text => text(&journal, &facts) + &next_steps(args, journal.listed.is_empty()),
        SummaryForm::Json => serde_json::to_string(&json(&journal, facts.skipped))? + "\n",
    };
    if prints_rows {
        io::stderr().write_all(shown.as_bytes()).context("standard error cannot be written")?;
    } else {
        stdout::print(&shown)?;
    }
    if let (Some(live), Some(page)) = (live, &page) {
        live.end(page, journal.rows, args.live.live_exit, &signal);
    }
    let (alarms, drifts) = (journal.totals.alarms, journal.totals.drifts);
    if args.fail_on_alarm && alarms + drifts > 0 {
        let events = counted(journal.totals.events, "event");
        let drifts = if drifts > 0 { format!(", {}", counted(drifts, "drift")) } else { String::new() };
        return Err(Alarmed(format!("{} in {events}{drifts}", counted(alarms, "alarm"))).into());
    }
    Ok(())
}

/// Returns lines that name the written files, or suggest options that write files.
fn next_steps(args: &MonitorArgs, is_quiet: bool) -> String {
    let page = args.report.as_deref().map(printable_path);
    let page = page.map_or(String::new(), |path| format!("{:<11}{path}: open it in a browser\n", "report"));
    let list = match (&args.events, is_quiet) {
        (Some(path), _) => format!("{:<11}{}\n", "list", printable_path(path)),
        (None, false) => {
            format!("{:<11}--events FILE lists events, drifts and changes; --out FILE has each row's score\n", "next")
        }
        (None, true) => String::new(),
    };
    page + &list
}

fn outputs(args: &MonitorArgs) -> Result<Outputs, Usage> {
    let target = |path: &Path| if is_dash(path) { Target::Standard } else { Target::File(path.to_owned()) };
    let answers = args.out.as_deref().map_or(Target::Nowhere, target);
    let form = args.out_format.unwrap_or_else(|| args.out.as_deref().map_or(Form::Csv, Form::of_path));
    suits("--out", "answers", form, &answers)?;
    let events = args.events.as_deref().map_or(Target::Nowhere, target);
    let events_form = match (&events, args.events.as_deref()) {
        (Target::Standard, _) => Form::Jsonl,
        (_, path) => path.map_or(Form::Csv, Form::of_path),
    };
    if (&answers, &events) == (&Target::Standard, &Target::Standard) {
        return Err(Usage("--out and --events must not both be -".into()));
    }
    args.report.as_deref().map_or(Ok(()), is_page)?;
    if let Some(path) = args.events.as_deref().filter(|path| has_page_name(path)) {
        return Err(Usage(format!("--events lists events as a table, got {}; --report draws a page", path.display())));
    }
    suits("--events", "events", events_form, &events)?;
    let mut taken: Vec<(&str, &Path)> = args.inputs.iter().map(|path| ("the input", path.as_path())).collect();
    taken.extend(args.train.as_deref().map(|path| ("--train", path)));
    for (option, path) in [
        ("--out", &args.out),
        ("--events", &args.events),
        ("--report", &args.report),
        ("--snapshot", &args.snapshot),
        ("--metrics", &args.metrics),
    ] {
        let may_be_dash = option == "--out" || option == "--events";
        let Some(path) = path.as_deref().filter(|path| !may_be_dash || !is_dash(path)) else { continue };
        if is_dash(path) {
            return Err(Usage(format!("{option} must be a file, got -")));
        }
        if let Some((other, _)) = taken.iter().find(|(_, other)| is_same_file(path, other)) {
            return Err(Usage(format!("{option} must not be {other}, got {}", path.display())));
        }
        taken.push((option, path));
    }
    Ok(Outputs { answers: (answers, form), events: (events, events_form) })
}

fn has_page_name(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"))
}
