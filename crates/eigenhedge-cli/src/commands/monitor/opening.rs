//! Start of a session: at the first row of a table, with saved monitors, or from a snapshot.

use super::Outputs;
use super::hook::Hook;
use super::metrics::Metrics;
use super::monitors::{MonitorState, Monitors, Watched};
use super::options::{can_read_again, layout, misfit, plan};
use crate::args::MonitorArgs;
use crate::commands::session::words::sentence;
use crate::commands::session::{FIRST_ROW, Options, ResumeState, Session, Snapshots, first_row};
use crate::files::{MOST_IN_MEMORY, kind_of, read_monitor, scratch_folder};
use crate::live::Shared;
use crate::stop::StopSignal;
use crate::table::{say_reading, source};
use anyhow::{Result, anyhow};
use eigenhedge::{Fleet, Missing, Monitor, MonitorOptions, SavedKind};
use eigenhedge_io::{GroupStore, Layout, Source, Stream, Target, open_fleet, printable_path, verdict_columns};
use eigenhedge_pages::monitor::{FirstRow, Journal, Lasting, Least, Occurrence, TableMonitors, fresh_monitor};
use eigenhedge_pages::{check_width, from_text};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

struct Begun {
    stream: Stream,
    fleet: Fleet<Monitor>,
    before: Option<(ResumeState<MonitorState>, Journal)>,
}

impl Begun {
    fn afresh(args: &MonitorArgs, options: &MonitorOptions, source: &Source, layout: &Layout) -> Result<Self> {
        let Some(path) = &args.start_from else {
            let stream = Stream::open(source, layout)?;
            let fresh = fresh(args, options, layout, &stream)?;
            let fleet = if args.beside.group_by.is_some() { Fleet::of_monitors(fresh)? } else { Fleet::new(fresh)? };
            return Ok(Self { stream, fleet, before: None });
        };
        let name = printable_path(path);
        let mut fleet: Fleet<Monitor> = match (kind_of(path)?, &args.beside.group_by) {
            (SavedKind::Monitors, Some(_)) => open_fleet(path, most(args))?.0,
            (SavedKind::Monitors, None) => {
                return Err(anyhow!("{name}: holds a monitor for each key: --group-by names them"));
            }
            _ => {
                let monitor = read_monitor(path)?;
                if !monitor.is_ready() {
                    return Err(anyhow!("{name}: must be past its warm-up"));
                }
                Fleet::new(monitor)?
            }
        };
        if args.options.names().any(|name| name == "missing") {
            fleet.change(|monitor| {
                monitor.set_missing(options.missing);
                Ok(())
            })?;
        }
        let monitor = fleet.fresh();
        let (missing, model_columns) = (Some(monitor.options().missing), monitor.columns().names.clone());
        let stream = Stream::open(source, &Layout { missing, model_columns, ..layout.clone() })?;
        check_width(monitor.width(), "monitor", &stream)?;
        Ok(Self { stream, fleet, before: None })
    }

    fn resume(args: &MonitorArgs, (source, layout): (&Source, &Layout), plan: &Options, path: &Path) -> Result<Self> {
        let name = printable_path(path);
        let (fleet, saved) = match kind_of(path)? {
            SavedKind::Monitors => open_fleet(path, most(args))?,
            _ => {
                let mut monitor = read_monitor(path)?;
                let saved = std::mem::take(&mut monitor.resume_state);
                let mut fleet = Fleet::new(monitor.clone())?;
                fleet.with("", |member| {
                    *member = monitor;
                    Ok(())
                })?;
                (fleet, saved)
            }
        };
        let before = ResumeState::<MonitorState>::from_bytes(&saved, path, "monitor")?;
        before.agree(path, plan)?;
        let names = fleet.fresh().columns().names.as_deref();
        let stream = Stream::resume(source, layout, &before.stream, names)?;
        let journal: Option<Journal> = from_text(&before.engine.journal);
        let journal = journal.filter(|journal| journal.tracks.iter().map(|track| track.key.as_str()).eq(fleet.keys()));
        match journal {
            Some(journal) if fleet.fresh().width() == stream.columns().len() => {
                Ok(Self { stream, fleet, before: Some((before, journal)) })
            }
            _ => Err(anyhow!("{name}: is damaged: its monitors do not fit the table")),
        }
    }
}

const BLOCK_ROWS: usize = 64;

impl<'a> Monitors<'a> {
    /// `keys` is the number of keys, if an earlier pass over the table found it.
    pub fn session(
        args: &'a MonitorArgs,
        options: &MonitorOptions,
        outputs: &Outputs,
        signal: &StopSignal,
        keys: Option<u64>,
    ) -> Result<Session<'a, Self>> {
        let snapshots = Snapshots::new(args.snapshot.as_deref(), args.snapshot_every)?;
        let source = source(&args.inputs)?;
        let layout = Layout { stop: signal.waits.clone(), ..layout(args, options, &source)? };
        let mut plan = plan(args, options, &layout);
        let at_once = source == Source::Standard;
        let Begun { stream, mut fleet, before } = match &args.resume {
            None => Begun::afresh(args, options, &source, &layout)?,
            Some(path) => Begun::resume(args, (&source, &layout), &plan, path)?,
        };
        if before.is_none() && !args.quiet && keys.is_none() {
            say_reading(&stream);
        }
        if args.snapshot.is_some() || args.resume.is_some() {
            let like = like_model(layout, fleet.fresh().columns().names.clone());
            plan.insert(FIRST_ROW.into(), json!(first_row(&source, &like, Some(stream.reading()))));
        }
        if let (Some(path), Some((before, _))) = (&args.resume, &before) {
            before.agree_on_table(path, &plan)?;
        }
        if args.beside.group_by.is_some() && !fleet.has_store() {
            fleet = fleet.with_store(most(args), Box::new(GroupStore::new(&scratch_folder(args.snapshot.as_deref()))));
        }
        let (width, mut monitors) =
            (stream.columns().len(), TableMonitors::new(fleet, &stream, args.beside.group_by.is_some(), keys));
        let (key, has_times) = (monitors.key, monitors.has_times);
        let positions = before.as_ref().map(|(before, _)| (&before.answers, &before.engine.events));
        let (names, how) = (stream.kept_columns(), (args.answers_as.dialect(&stream), args.beside.safe_cells));
        let position = positions.map(|(answers, _)| answers);
        let answers = outputs.answers.of_stream(verdict_columns(&names), position, at_once, how)?;
        let columns = Occurrence::columns(key.map(|key| &names[key]), has_times, args.events_detail);
        let (position, at_once) = (positions.map(|(_, events)| events), outputs.events.target == Target::Standard);
        let events = outputs.events.of_stream(columns, position, at_once, how)?;
        let least = Least { severity: args.min_severity, duration: args.min_duration };
        if matches!(least.duration, Lasting::Seconds(_)) && !has_times {
            return Err(stream
                .failure("--min-duration must be a number of rows: the table has no times".into())
                .into());
        }
        if let Some(text) = &args.accept {
            let first = FirstRow::from_text(text, &stream);
            let wrong = || stream.failure(format!("--accept must be a row or a time of the table, got {text}"));
            monitors.accept = Some(first.ok_or_else(wrong)?);
        }
        if args.settle > 0 && options.missing == Missing::Fail {
            return Err(stream.failure("--settle needs --missing fill or --missing skip".into()).into());
        }
        monitors.settle = args.settle;
        if let Some((before, _)) = &before {
            (monitors.is_accepted, monitors.current) = (before.engine.is_accepted, before.engine.current.clone());
        }
        let elapsed = before.as_ref().map_or(Duration::ZERO, |(before, _)| before.elapsed());
        let journal = match before {
            None => Journal::new(monitors.fleet.keys()).with_least(least),
            Some((_, journal)) => journal,
        };
        let journal = match records_for(args) {
            None => journal.without_charts(),
            Some(_) if args.resume.is_none() => journal.with_charts(width, key.is_some()),
            Some(_) if journal.has_charts(width) => journal,
            Some(option) => {
                let name = args.resume.as_deref().map(printable_path).unwrap_or_default();
                return Err(anyhow!(
                    "{option} needs what a monitor with --report or --live records, and {name} holds none of it"
                ));
            }
        };
        let engine = Self {
            answers,
            holds: keys.is_none() && can_read_again(args) && outputs.answers.target == Target::Standard,
            held: Vec::new(),
            events,
            watched: Arc::new(Shared::new(Watched { journal, ..Watched::default() })),
            block_rows: if source.is_regular() { BLOCK_ROWS } else { 1 },
            args,
            monitors,
            hook: args.on_alarm.as_deref().map(Hook::new),
            metrics: args.metrics.as_deref().map(Metrics::new),
        };
        Ok(Session::new(engine, stream, snapshots, plan, elapsed))
    }
}

fn records_for(args: &MonitorArgs) -> Option<&'static str> {
    match (&args.report, args.live.live) {
        (Some(_), _) => Some("--report"),
        (None, Some(_)) => Some("--live"),
        (None, None) => None,
    }
}

fn most(args: &MonitorArgs) -> usize {
    args.beside.max_groups.map_or(MOST_IN_MEMORY, |most| most as usize)
}

/// Finds the columns of a model by their names, among others.
fn like_model(layout: Layout, model_columns: Option<Vec<String>>) -> Layout {
    match model_columns {
        None => layout,
        Some(_) => Layout { columns: Vec::new(), exclude: Vec::new(), only_numeric: false, model_columns, ..layout },
    }
}

fn fresh(args: &MonitorArgs, options: &MonitorOptions, layout: &Layout, stream: &Stream) -> Result<Monitor> {
    let (width, mut monitor) = (stream.columns().len(), fresh_monitor(options, stream, misfit)?);
    let Some(path) = &args.train else { return Ok(monitor) };
    let source = source(std::slice::from_ref(path))?;
    let model_columns = monitor.columns().names.clone();
    let layout = Layout {
        keep: Vec::new(),
        time: None,
        clock: None,
        time_format: None,
        find_time: false,
        has_key: false,
        ..layout.clone()
    };
    let layout = like_model(layout, model_columns);
    let mut table = Stream::open(&source, &layout)?;
    check_width(width, "input", &table)?;
    while let Some(row) = table.next_row()? {
        if let Err(error) = monitor.add_to_warm_up(row) {
            table.refuse(sentence(&error))?;
        }
    }
    monitor.end_warm_up().map_err(|error| anyhow!("{}: {}", table.source(), sentence(&error)))?;
    monitor.begin_table();
    Ok(monitor)
}
