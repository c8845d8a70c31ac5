//! Monitors with their stream and their answers: begun, or taken up where a snapshot was saved.

use super::occurrence::{CAUSES, Occurrence, cause_columns};
use super::record::Record;
use super::{Outputs, spoken_lags};
use crate::args::{BesideArgs, MonitorArgs};
use crate::commands::run::sentence;
use crate::files::read_monitors;
use crate::record::{from_text, to_text};
use crate::stop::StopSignal;
use crate::table::{self, Usage, say_reading, source, with_beside};
use anyhow::{Context, Result, anyhow};
use eigenhedge::{Columns, Error, Mode, Monitor, MonitorOptions, MonitorTotals, SavedMonitors, Verdict};
use eigenhedge_io::{
    Answers, Cell, CellKind, Layout, Position, Reservation, Source, Stream, StreamState, Target, printable_path,
    write_whole,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// Rows whose times are remembered, for changes that began before they were found.
const REMEMBERED: usize = 128;
/// Events and changes that are remembered for the summary.
const LISTED: usize = 1000;
/// Parts of a warm-up, of which each key gives at most one to the reference of all keys.
const PARTS: u64 = 8;

/// Everything at work.
pub struct Session<'a> {
    args: &'a MonitorArgs,
    pub stream: Stream,
    /// A monitor before its first row, to be copied for each key.
    fresh: Monitor,
    monitors: Vec<(String, Monitor)>,
    places: HashMap<String, usize>,
    /// Place of the key among the texts that go along with a row; none if there is one monitor.
    key: Option<usize>,
    has_times: bool,
    answers: Answers,
    events: Answers,
    state: State,
    /// Data of the page, if one was asked for.
    record: Option<Record>,
    /// A monitor of the first rows of all keys, whose reference keys with few rows borrow; none if it is not needed.
    pool: Option<Monitor>,
    /// Parts of the warm-up, of which each key gives at most one to the pool.
    parts: u64,
    options: Map<String, Value>,
    row: Vec<f64>,
    /// Keeps another run from the snapshot.
    _reservation: Option<Reservation>,
}

/// All that goes along with the monitors and is saved with them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Rows of this table that were looked at.
    rows: u64,
    /// The first events and changes.
    listed: Vec<Occurrence>,
    /// Alarms, events and changes before this table.
    before: MonitorTotals,
    tracks: Vec<Track>,
    /// True once the state was accepted that --accept names.
    is_accepted: bool,
}

/// Times of the rows of one monitor.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Track {
    /// The last rows.
    recent: VecDeque<(u64, String)>,
    /// Of the event that goes on.
    start: String,
    end: String,
}

/// The memory of a session in a snapshot, besides the monitors.
#[derive(Debug, Serialize, Deserialize)]
struct ResumeState {
    stream: StreamState,
    answers: Position,
    events: Position,
    state: State,
    record: Option<String>,
    plan: Map<String, Value>,
}

impl<'a> Session<'a> {
    /// Opens what was typed.
    ///
    /// `keys` is the number of keys if an earlier reading of the table has counted them.
    pub fn open(
        args: &'a MonitorArgs,
        options: &MonitorOptions,
        outputs: &Outputs,
        signal: &StopSignal,
        keys: Option<u64>,
    ) -> Result<Self> {
        let reservation = args.snapshot.as_deref().map(Reservation::of).transpose()?.flatten();
        let source = source(&args.inputs)?;
        let layout = Layout { stop: signal.waits.clone(), ..layout(args, options, &source)? };
        let plan = plan(args, options, &layout);
        let at_once = source == Source::Standard;
        if let Some(path) = &args.resume {
            return Self::resume(args, options, outputs, (&source, &layout), plan, path, reservation);
        }
        let (layout, begun) = match &args.start_from {
            None => (layout, None),
            Some(path) => {
                let monitor = the_only_one(path, read_monitors(path)?)?;
                let (missing, model_columns) = (Some(monitor.options().missing), monitor.columns().names.clone());
                (Layout { missing, model_columns, ..layout }, Some(monitor))
            }
        };
        let stream = Stream::open(&source, &layout)?;
        if !args.quiet && keys.is_none() {
            say_reading(&stream);
        }
        let fresh = match begun {
            Some(mut monitor) => {
                let (width, found) = (monitor.width(), stream.columns().len());
                if found != width {
                    let source = stream.source();
                    return Err(anyhow!("{source}: must have {width} selected columns like the monitor, got {found}"));
                }
                monitor.begin_table();
                monitor
            }
            None => fresh(args, options, &layout, &stream)?,
        };
        let key = key_of(args, &stream)?;
        let has_times = stream.has_time();
        let mut session = Self {
            answers: answers(outputs, &stream, at_once, None)?.with_safe_cells(args.safe_cells),
            events: events(outputs, &stream, key, has_times, None)?.with_safe_cells(args.safe_cells),
            state: State { before: fresh.totals(), ..State::default() },
            record: args.report.as_ref().map(|_| Record::new(stream.columns().len())),
            pool: (key.is_some() && !fresh.is_ready()).then(|| fresh.clone()),
            parts: keys.map_or(PARTS, |keys| keys.clamp(1, PARTS)),
            args,
            stream,
            fresh,
            monitors: Vec::new(),
            places: HashMap::new(),
            key,
            has_times,
            options: plan,
            row: Vec::new(),
            _reservation: reservation,
        };
        if session.key.is_none() {
            session.place_of("");
        }
        Ok(session)
    }

    fn resume(
        args: &'a MonitorArgs,
        options: &MonitorOptions,
        outputs: &Outputs,
        (source, layout): (&Source, &Layout),
        plan: Map<String, Value>,
        path: &Path,
        reservation: Option<Reservation>,
    ) -> Result<Self> {
        let saved = read_monitors(path)?;
        let name = printable_path(path);
        let before: ResumeState = serde_json::from_slice(&saved.resume_state)
            .map_err(|_| anyhow!("{name}: must have been saved by `eigenhedge monitor` to be resumed"))?;
        for (option, now) in &plan {
            if let Some(then) = before.plan.get(option).filter(|then| *then != now) {
                return Err(anyhow!("{option} must be as in {name}, {then}, got {now}"));
            }
        }
        let names = saved.monitors.first().and_then(|(_, monitor)| monitor.columns().names.clone());
        let columns = Columns::new(names, Columns::default().standardizer);
        let stream = Stream::resume(source, layout, &before.stream, &columns)?;
        let width = stream.columns().len();
        let fits = before.state.tracks.len() == saved.monitors.len()
            && saved
                .monitors
                .iter()
                .map(|(_, monitor)| monitor)
                .chain(&saved.pool)
                .all(|monitor| monitor.width() == width);
        if !fits {
            return Err(anyhow!("{name}: is damaged: its monitors do not fit the table"));
        }
        let record = before.record.as_deref().and_then(from_text).filter(|record: &Record| record.fits(width));
        if record.is_none() && args.report.is_some() {
            return Err(anyhow!("--report needs what a monitor with --report records, and {name} holds none of it"));
        }
        let key = key_of(args, &stream)?;
        let has_times = stream.has_time();
        let at_once = *source == Source::Standard;
        Ok(Self {
            answers: answers(outputs, &stream, at_once, Some(&before.answers))?.with_safe_cells(args.safe_cells),
            events: events(outputs, &stream, key, has_times, Some(&before.events))?.with_safe_cells(args.safe_cells),
            fresh: match (key, saved.monitors.first()) {
                (None, Some((_, monitor))) => monitor.clone(),
                _ => fresh(args, options, layout, &stream)?,
            },
            places: saved.monitors.iter().enumerate().map(|(i, (key, _))| (key.clone(), i)).collect(),
            monitors: saved.monitors,
            state: before.state,
            record,
            pool: saved.pool,
            parts: PARTS,
            args,
            stream,
            key,
            has_times,
            options: plan,
            row: Vec::new(),
            _reservation: reservation,
        })
    }

    /// Rows of this table that were looked at.
    pub fn rows(&self) -> u64 {
        self.state.rows
    }

    /// Alarms so far.
    pub fn alarms(&self) -> u64 {
        self.totals().alarms
    }

    fn totals(&self) -> MonitorTotals {
        totals(&self.monitors, &self.state.before)
    }

    /// Place of the monitor of a key, which is made if it is new.
    fn place_of(&mut self, key: &str) -> usize {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        self.monitors.push((key.to_owned(), self.fresh.clone()));
        self.state.tracks.push(Track::default());
        self.places.insert(key.to_owned(), self.monitors.len() - 1);
        self.monitors.len() - 1
    }

    /// Looks at the next row; false if there is none.
    pub fn step(&mut self) -> Result<bool> {
        let Some(next) = self.stream.next_row()? else { return Ok(false) };
        self.row.clear();
        self.row.extend_from_slice(next);
        let place = match self.key {
            None => 0,
            Some(key) => {
                let key = self.stream.kept()[key].clone();
                self.place_of(&key)
            }
        };
        let (_, monitor) = &mut self.monitors[place];
        let number = self.stream.row_number();
        if let Some(pool) = self.pool.as_ref().filter(|pool| pool.is_ready() && !monitor.is_ready()) {
            monitor.borrow_reference(pool);
        }
        match monitor.step_numbered(number, &self.row) {
            Ok(mut verdict) => {
                self.state.rows += 1;
                if let Some(pool) = self.pool.as_mut().filter(|pool| !pool.is_ready() && !monitor.is_ready()) {
                    pool_row(pool, monitor, &self.row, self.parts);
                }
                if self.args.accept.is_some_and(|row| row <= number) && !self.state.is_accepted {
                    // Too few rows since the drift began: the next ones decide.
                    verdict.accepted |= monitor.accept().is_ok();
                    self.state.is_accepted = verdict.accepted;
                }
                if let Some(record) = &mut self.record {
                    record.enter(&verdict, self.stream.time(), monitor);
                }
                self.answer(&verdict)?;
                self.list(place, &verdict)?;
            }
            Err(error @ Error::TooFewRows { .. }) => return Err(anyhow!("{}: {error}", self.stream.source())),
            Err(error) => self.stream.refuse(sentence(&error))?,
        }
        Ok(true)
    }

    fn answer(&mut self, verdict: &Verdict) -> Result<()> {
        let Self { answers, stream, .. } = self;
        let mut cells = vec![Cell::Whole(Some(verdict.row))];
        cells.extend(stream.kept().iter().map(|text| Cell::Text(text)));
        cells.extend([verdict.score, verdict.q, verdict.t2, verdict.limit].map(Cell::Number));
        cells.push(Cell::Whole(Some(u64::from(verdict.alarm))));
        cells.push(Cell::Text(verdict.state().name()));
        cells.push(Cell::Whole(verdict.drift_since));
        cells.push(Cell::Whole(verdict.change.map(|change| change.start)));
        for i in 0..CAUSES {
            let cause = verdict.causes.get(i).copied().flatten();
            let (name, share) = cause.map_or(("", f64::NAN), |cause| (&stream.columns()[cause.column], cause.share));
            cells.extend([Cell::Text(name), Cell::Number(share)]);
        }
        Ok(answers.write_cells(&cells)?)
    }

    /// Enters the event that ended and the change that was found.
    fn list(&mut self, place: usize, verdict: &Verdict) -> Result<()> {
        let Self { stream, monitors, state, .. } = self;
        let (key, monitor) = &monitors[place];
        let track = &mut state.tracks[place];
        let mut found = Vec::new();
        if let Some(event) = &verdict.event {
            let times = (std::mem::take(&mut track.start), std::mem::take(&mut track.end));
            found.push(Occurrence::of_event(event, key, times, stream.columns()));
        }
        if self.has_times {
            let time = &stream.kept()[0];
            track.recent.push_back((verdict.row, time.clone()));
            track.recent.truncate_front_to(REMEMBERED);
            if let Some(event) = monitor.open_event().filter(|_| verdict.alarm) {
                if event.start == verdict.row {
                    track.start.clone_from(time);
                }
                track.end.clone_from(time);
            }
        }
        let time = |row: u64| {
            let known = track.recent.iter().find(|(number, _)| *number == row);
            known.map_or(String::new(), |(_, time)| time.clone())
        };
        let names = stream.columns();
        if let Some(report) = &verdict.drift {
            let times = (time(report.since), time(report.reported));
            found.push(Occurrence::of_drift("drift", report, report.reported, key, times, names));
        }
        if let Some(report) = &verdict.returned {
            let times = (time(report.since), time(verdict.row));
            found.push(Occurrence::of_drift("returned", report, verdict.row, key, times, names));
        }
        if verdict.accepted {
            found.push(Occurrence::of_acceptance(verdict.row, key, time(verdict.row)));
        }
        if let Some(change) = &verdict.change {
            let times = (time(change.start), time(change.reported));
            found.push(Occurrence::of_change(change, key, times, names));
        }
        found.into_iter().try_for_each(|occurrence| self.enter(occurrence))
    }

    fn enter(&mut self, occurrence: Occurrence) -> Result<()> {
        self.events.write_cells(&occurrence.cells(self.key.is_some(), self.has_times))?;
        if self.state.listed.len() < LISTED {
            self.state.listed.push(occurrence);
        }
        Ok(())
    }

    /// Saves a snapshot if it is time for one.
    pub fn save_in_time(&mut self) -> Result<()> {
        match self.args.snapshot_every {
            Some(every) if self.rows().is_multiple_of(every) => self.save(),
            _ => Ok(()),
        }
    }

    /// Saves a snapshot if one was asked for. The answers are safe before it is there.
    pub fn save(&mut self) -> Result<()> {
        let Some(path) = &self.args.snapshot else { return Ok(()) };
        let around = ResumeState {
            stream: self.stream.state(),
            answers: self.answers.sync()?,
            events: self.events.sync()?,
            state: self.state.clone(),
            record: self.record.as_ref().map(to_text),
            plan: self.options.clone(),
        };
        let saved = SavedMonitors {
            monitors: self.monitors.clone(),
            pool: self.pool.clone(),
            resume_state: serde_json::to_vec(&around)?,
        };
        Ok(write_whole(path, &saved.to_bytes())?)
    }

    /// True if no monitor came to the end of its warm-up.
    pub fn is_too_short(&self) -> bool {
        !self.monitors.iter().any(|(_, monitor)| monitor.is_ready())
    }

    /// Rows of the warm-up with which a table that was too short can be read again. None if that would not help.
    ///
    /// It is a third of the rows, or the given number if a pool of few keys could not be filled without their number.
    pub fn shorter_warm_up(&self, knows_keys: bool) -> Option<u64> {
        let options = self.fresh.options();
        if options.warm_up.is_some() || options.mode != Mode::Adapt {
            let given = options.warm_up_rows(self.fresh.width());
            return (self.key.is_some() && !knows_keys && self.rows() > given).then_some(given);
        }
        let least = options.least_warm_up(self.fresh.width()) as u64;
        (self.rows() >= 2 * least).then(|| (self.rows() / 3).max(least))
    }

    /// Keys so far.
    pub fn keys(&self) -> u64 {
        self.monitors.len() as u64
    }

    /// The sentence about a table that is too short.
    pub fn too_short(&self) -> anyhow::Error {
        let wanted = self.fresh.options().warm_up_rows(self.fresh.width());
        let (source, rows) = (self.stream.source(), self.rows());
        let of_key = if self.key.is_some() { " of one key" } else { "" };
        anyhow!(
            "{source}: must have more rows{of_key} than the warm-up, {wanted}, got {rows}; --warm-up takes fewer, and --train \
             another table"
        )
    }

    /// Ends events that go on, makes the answers visible and hands over what the summary needs.
    pub fn finish(mut self) -> Result<Finished> {
        for place in 0..self.monitors.len() {
            let (key, monitor) = &mut self.monitors[place];
            let Some(event) = monitor.close_event() else { continue };
            let track = &mut self.state.tracks[place];
            let times = (std::mem::take(&mut track.start), std::mem::take(&mut track.end));
            let occurrence = Occurrence::of_event(&event, key, times, self.stream.columns());
            self.enter(occurrence)?;
        }
        let totals = self.totals();
        let Self { stream, monitors, answers, events, state, record, .. } = self;
        answers.finish()?;
        events.finish()?;
        Ok(Finished { stream, monitors, totals, rows: state.rows, listed: state.listed, record })
    }
}

/// The rest of a session, when its answers are complete.
pub struct Finished {
    pub stream: Stream,
    pub monitors: Vec<(String, Monitor)>,
    /// Of this table, all monitors together.
    pub totals: MonitorTotals,
    pub rows: u64,
    pub listed: Vec<Occurrence>,
    pub record: Option<Record>,
}

trait TruncateFront {
    /// Drops elements at the front until there are at most so many.
    fn truncate_front_to(&mut self, most: usize);
}

impl<T> TruncateFront for VecDeque<T> {
    fn truncate_front_to(&mut self, most: usize) {
        while self.len() > most {
            self.pop_front();
        }
    }
}

/// Gives the first rows of a key to the reference of all keys.
fn pool_row(pool: &mut Monitor, monitor: &Monitor, row: &[f64], parts: u64) {
    let wanted = pool.options().warm_up_rows(pool.width());
    if monitor.totals().rows > wanted.div_ceil(parts) || pool.add_to_warm_up(row).is_err() {
        return;
    }
    if pool.waiting_rows() >= wanted {
        // A row that cannot be scaled is refused by the monitor of its key.
        let _ = pool.end_warm_up();
    }
}

/// The totals of all monitors since `before`, which each of them began with.
fn totals(monitors: &[(String, Monitor)], before: &MonitorTotals) -> MonitorTotals {
    let mut sum = MonitorTotals::default();
    for (_, monitor) in monitors {
        let own = monitor.totals();
        sum.rows += own.rows - before.rows;
        sum.warm_up += own.warm_up;
        sum.passed_over += own.passed_over - before.passed_over;
        sum.scored += own.scored - before.scored;
        sum.alarms += own.alarms - before.alarms;
        sum.events += own.events - before.events;
        sum.changes += own.changes - before.changes;
        sum.drift_rows += own.drift_rows - before.drift_rows;
        sum.drifts += own.drifts - before.drifts;
        sum.accepted += own.accepted - before.accepted;
    }
    sum
}

/// How the table is laid out. The monitor has a scale of its own.
fn layout(args: &MonitorArgs, options: &MonitorOptions, source: &Source) -> Result<Layout, Usage> {
    let mut table = args.table.clone();
    table.standardize = None;
    let (copy_columns, time, group_by) = (args.copy_columns.clone(), args.time.clone(), args.group_by.clone());
    let (time_format, safe_cells) = (args.time_format.clone(), args.safe_cells);
    let beside = BesideArgs { copy_columns, time, time_format, safe_cells, group_by, max_groups: None };
    let layout = with_beside(table::layout(&table, source)?, &beside)?;
    Ok(Layout { missing: Some(options.missing), ..layout })
}

/// A monitor for this table: as it is made, or after the rows of another table.
fn fresh(args: &MonitorArgs, options: &MonitorOptions, layout: &Layout, stream: &Stream) -> Result<Monitor> {
    let width = stream.columns().len();
    let names = stream.names().map(|_| stream.columns().to_vec());
    let fits = |error: Error| anyhow!("{}: {}", stream.source(), misfit(&error));
    let mut monitor = Monitor::new(options.clone(), width).map_err(fits)?.with_names(names);
    let length = width * (monitor.lags() + 1);
    stream.allow(&format!("monitoring rows of {length} numbers"), 8 * 8 * (length as u128).pow(2))?;
    let Some(path) = &args.train else { return Ok(monitor) };
    let source = source(std::slice::from_ref(path))?;
    let model_columns = monitor.columns().names.clone();
    let mut layout =
        Layout { keep: Vec::new(), time: None, time_format: None, find_time: false, has_key: false, ..layout.clone() };
    if model_columns.is_some() {
        // The columns of the input are found by name, whatever else is there.
        layout = Layout { columns: Vec::new(), exclude: Vec::new(), only_numeric: false, model_columns, ..layout };
    }
    let mut table = Stream::open(&source, &layout)?;
    let found = table.columns().len();
    if found != width {
        return Err(anyhow!("{}: must have {width} selected columns like the input, got {found}", table.source()));
    }
    let mut row = Vec::new();
    while let Some(next) = table.next_row()? {
        row.clear();
        row.extend_from_slice(next);
        if let Err(error) = monitor.add_to_warm_up(&row) {
            table.refuse(sentence(&error))?;
        }
    }
    monitor.end_warm_up().map_err(|error| anyhow!("{}: {}", table.source(), sentence(&error)))?;
    monitor.begin_table();
    Ok(monitor)
}

/// The library's sentence in the words of the command line.
fn misfit(error: &Error) -> String {
    match error {
        Error::Kept { kept, dimension } => {
            format!("-k must be less than the number of selected columns times lags, {dimension}, got {kept}")
        }
        Error::Parameter {
            name: name @ ("lags" | "warm-up" | "change-time" | "drift-time" | "limit" | "share"),
            rule,
            value,
        } => {
            format!("--{name} must be {rule}, got {value}")
        }
        other => other.to_string(),
    }
}

fn key_of(args: &MonitorArgs, stream: &Stream) -> Result<Option<usize>> {
    match args.group_by {
        None => Ok(None),
        Some(_) => stream.first_kept().context("--group-by names a column that is kept").map(Some),
    }
}

fn answers(
    outputs: &Outputs,
    stream: &Stream,
    at_once: bool,
    position: Option<&Position>,
) -> Result<Answers, eigenhedge_io::Error> {
    let mut columns = vec![("row".to_owned(), CellKind::Whole)];
    columns.extend(stream.kept_columns().into_iter().map(|name| (name, CellKind::Text)));
    columns.extend(["score", "q", "t2", "limit"].map(|name| (name.to_owned(), CellKind::Number)));
    columns.push(("alarm".to_owned(), CellKind::Whole));
    columns.push(("state".to_owned(), CellKind::Text));
    columns.extend(["drift_since", "change"].map(|name| (name.to_owned(), CellKind::Whole)));
    columns.extend(cause_columns());
    Answers::of_cells(&outputs.answers.0, outputs.answers.1, columns, at_once, position)
}

fn events(
    outputs: &Outputs,
    stream: &Stream,
    key: Option<usize>,
    has_times: bool,
    position: Option<&Position>,
) -> Result<Answers, eigenhedge_io::Error> {
    let names = stream.kept_columns();
    let columns = Occurrence::columns(key.map(|key| &names[key]), has_times);
    let (target, form) = &outputs.events;
    Answers::of_cells(target, *form, columns, *target == Target::Standard, position)
}

fn the_only_one(path: &Path, mut saved: SavedMonitors) -> Result<Monitor> {
    match (saved.monitors.pop(), saved.monitors.is_empty()) {
        (Some((_, monitor)), true) if monitor.is_ready() => Ok(monitor),
        (Some(_), true) => Err(anyhow!("{}: must be past its warm-up", printable_path(path))),
        _ => Err(anyhow!("{}: must hold one monitor, as `monitor` without --group-by saves it", printable_path(path))),
    }
}

/// Options that decide the outcome, by name.
fn plan(args: &MonitorArgs, options: &MonitorOptions, layout: &Layout) -> Map<String, Value> {
    let file = |path: &Option<std::path::PathBuf>| {
        json!(path.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned()))
    };
    let value = json!({
        "-k": args.k,
        "--share": args.share,
        "--mode": options.mode.to_string(),
        "--limit": options.limit.to_string(),
        "--lags": spoken_lags(options.lags),
        "--differences": format!("{:?}", args.differences).to_lowercase(),
        "--warm-up": options.warm_up,
        "--train": file(&args.train),
        "--missing": options.missing.name(),
        "--event-gap": options.event_gap,
        "--change-time": options.change_time,
        "--drift-time": options.drift_time,
        "--rebaseline": options.rebaseline.to_string(),
        "--accept": args.accept,
        "--standardize": options.standardize,
        "--format": layout.format.name(),
        "--copy-columns": args.copy_columns,
        "--time": args.time,
        "--time-format": args.time_format.as_ref().map(ToString::to_string),
        "--safe-cells": args.safe_cells,
        "--delimiter": args.table.delimiter.map(char::from),
        "--decimal": args.table.decimal.map(char::from),
        "--na-values": args.table.na_values,
        "--group-by": args.group_by,
        "--out": file(&args.out),
        "--events": file(&args.events),
    });
    match value {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}
