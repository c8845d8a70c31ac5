//! `monitor`: scores, limits, alarms, causes and change points for the rows of a table.

mod hook;
mod inspect;
mod metrics;
mod monitors;
mod opening;
mod options;

use super::session::words::{caution, close_table, say, unless_stopped};
use super::session::{Engine, Outcome};
use crate::args::{MonitorArgs, SummaryForm};
use crate::destination::{Destination, judge_outputs, judge_page};
use crate::files::judge_place;
use crate::live::Live;
use crate::stop::StopSignal;
use crate::table::{Usage, is_dash, source};
use anyhow::Result;
use eigenhedge_io::{Form, Progress, Target, printable_path, write_whole};
use eigenhedge_pages::monitor::{Inside, json, page, text};
use eigenhedge_pages::{counted, file_name};
use monitors::Monitors;
use options::{can_read_again, options};

pub use inspect::inspect;

const LONG_WARM_UP: u64 = 400;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Alarmed(String);

pub struct Outputs {
    pub answers: Destination,
    pub events: Destination,
}

/// If the length of the warm-up was not given, and the table ends before it but can be read again, it is shortened.
pub fn monitor(args: &MonitorArgs) -> Result<()> {
    let mut options = options(args)?;
    let outputs = outputs(args)?;
    let files = [&args.snapshot, &args.events, &args.report, &args.metrics].into_iter().flatten();
    files.filter(|path| !is_dash(path)).try_for_each(|path| judge_place(path))?;
    let printed = if outputs.events.target == Target::Standard { &outputs.events } else { &outputs.answers };
    printed.judge_standard()?;
    let signal = StopSignal::listen()?;
    let mut live = Live::start(args.live.live, file_name(&source(&args.inputs)?.name()))?;
    let mut keys = None;
    let session = loop {
        let opened = Monitors::session(args, &options, &outputs, &signal, keys);
        let Some(mut session) = unless_stopped(&signal, opened)? else { return Ok(()) };
        if let Some(usual) =
            session.engine.monitors.usual_warm_up().filter(|_| keys.is_none() && session.engine.rows() == 0)
        {
            let rows = match session.stream.progress() {
                Progress::Rows(_, rows) if can_read_again(args) && rows <= usual => {
                    session.engine.monitors.shorter_warm_up(rows, false)
                }
                _ => None,
            };
            if !args.quiet && (rows.is_some() || usual > LONG_WARM_UP) {
                let (first, of_few) = (rows.unwrap_or(usual), if rows.is_some() { "the table is short: " } else { "" });
                say(&format!("{of_few}the first {first} rows are the warm-up, which --warm-up changes"));
            }
            if rows.is_some() {
                (options.warm_up, keys) = (rows, Some(1));
                continue;
            }
        }
        if let Some(live) = &mut live {
            session.show(live);
        }
        let outcome = session.learn(args.quiet, &outputs.answers.target, &signal)?;
        let engine = &mut session.engine;
        if let Some(metrics) = &mut engine.metrics {
            metrics.write(&engine.watched.lock().journal)?;
        }
        if outcome == Outcome::Left {
            return Ok(());
        }
        let is_too_short = engine.watched().journal.is_too_short();
        if !is_too_short && engine.watched().journal.totals.scored > 0 {
            break session;
        }
        match engine
            .monitors
            .shorter_warm_up(engine.rows(), keys.is_some())
            .filter(|_| can_read_again(args) && outcome == Outcome::Ended)
        {
            Some(rows) => (options.warm_up, keys) = (Some(rows), Some(engine.monitors.keys())),
            None if is_too_short => {
                return Err(engine.monitors.too_short(&engine.watched().journal, &session.stream).into());
            }
            None => break session,
        }
    };
    live.iter_mut().for_each(Live::rest);
    let unaccepted = args.accept.as_ref().filter(|_| !session.engine.monitors.is_accepted);
    let (stream, facts, journal) = session.finish()?;
    if let Some(row) = unaccepted {
        say(&format!("--accept {row} had no effect on the {} that were read", counted(journal.rows, "row")));
    }
    let skipped = close_table(&stream, &args.table, args.quiet)?;
    let page = journal.has_charts(facts.columns.len()).then(|| page(&journal, &facts, &Inside::All));
    if let (Some(path), Some(page)) = (&args.report, &page) {
        write_whole(path, page.html().as_bytes())?;
    }
    let shown = match args.summary {
        SummaryForm::Text if args.quiet => String::new(),
        SummaryForm::Text => caution(skipped) + &text(&journal, &facts) + &next_steps(args, journal.listed.is_empty()),
        SummaryForm::Json => serde_json::to_string(&json(&journal, facts.skipped, &facts.columns))? + "\n",
    };
    printed.print(&shown)?;
    if let (Some(live), Some(page)) = (live, &page) {
        live.end(page, journal.rows, args.live.live_exit, &signal);
    }
    if args.fail_on_alarm && journal.totals.incidents > 0 {
        return Err(Alarmed(counted(journal.totals.incidents, "incident")).into());
    }
    Ok(())
}

fn next_steps(args: &MonitorArgs, is_quiet: bool) -> String {
    let page = args.report.as_deref().map(printable_path);
    let page = page.map_or(String::new(), |path| format!("{:<11}{path}: open it in a browser\n", "report"));
    let list = match (&args.events, is_quiet) {
        (Some(path), _) => format!("{:<11}{}\n", "list", printable_path(path)),
        (None, false) => {
            format!("{:<11}--events FILE lists incidents; --out FILE has each row's score\n", "next")
        }
        (None, true) => String::new(),
    };
    page + &list
}

fn outputs(args: &MonitorArgs) -> Result<Outputs, Usage> {
    let events = args.events.as_deref();
    let train = args.train.iter().map(|path| ("--train", path));
    let files = [
        ("--out", &args.out.out),
        ("--events", &args.events),
        ("--report", &args.report),
        ("--snapshot", &args.snapshot),
        ("--metrics", &args.metrics),
    ];
    judge_outputs(args.inputs.iter().map(|path| ("the input", path)).chain(train), &files)?;
    judge_page(args.report.as_deref())?;
    let form = events.filter(|path| is_dash(path)).map(|_| Form::Jsonl);
    Ok(Outputs { answers: args.out.destination()?, events: Destination::new("--events", events, form)? })
}
