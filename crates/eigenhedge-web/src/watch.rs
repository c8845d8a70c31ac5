//! Monitors of a table in memory, in steps, like `eigenhedge monitor --report --events --snapshot`.

use crate::options::{TableOptions, misfit};
use crate::reply::read;
use crate::table::{Results, Saved, Task, detected, sentence};
use eigenhedge::{Fleet, Monitor, SavedKind, checked_bytes};
use eigenhedge_io::{Answers, Form, Layout, Row, Source, Stream, Target, fleet_of_bytes};
use eigenhedge_pages::check_width;
use eigenhedge_pages::monitor::{Inside, Journal, Occurrence, TableMonitors, fresh_monitor, page, text};
use serde_json::Value;

pub struct Watch {
    source: Source,
    options: TableOptions,
    start: Saved,
    /// Known only in a second pass over the table.
    keys: Option<u64>,
    stream: Stream,
    monitors: TableMonitors,
    journal: Journal,
    events: Option<Answers>,
    row: Row,
}

impl Watch {
    pub fn open(source: Source, saved: Saved, options: &Value) -> Result<Self, String> {
        let options = TableOptions::new(&source, options)?;
        Self::begin(source, options, saved, None)
    }

    fn begin(source: Source, options: TableOptions, start: Saved, keys: Option<u64>) -> Result<Self, String> {
        let by_key = options.by.is_some();
        let open = |layout: &Layout| Stream::open(&source, layout).map_err(sentence);
        let (stream, fleet) = match &start {
            None => {
                let stream = open(&options.layout)?;
                let fresh = fresh_monitor(&options.monitor, &stream, misfit).map_err(sentence)?;
                (stream, if by_key { Fleet::of_monitors(fresh) } else { Fleet::new(fresh) })
            }
            Some((name, saved)) => {
                let fleet = opened(name, saved, by_key)?;
                let monitor = fleet.fresh();
                let (missing, model_columns) = (Some(monitor.options().missing), monitor.columns().names.clone());
                let stream = open(&Layout { missing, model_columns, ..options.layout.clone() })?;
                check_width(monitor.width(), "monitor", &stream).map_err(sentence)?;
                (stream, Ok(fleet))
            }
        };
        let monitors = TableMonitors::new(read(fleet)?, &stream, by_key, keys);
        let names = stream.kept_columns();
        let columns = Occurrence::columns(monitors.key.map(|key| &names[key]), monitors.has_times, false);
        let events = Answers::open(&Target::Memory, Form::Csv, columns, false, None).map_err(sentence)?;
        Ok(Self {
            journal: Journal::new(monitors.fleet.keys()).with_charts(stream.columns().len(), by_key),
            events: Some(events.styled(stream.reading().dialect(), false)),
            row: Row::default(),
            source,
            options,
            start,
            keys,
            stream,
            monitors,
        })
    }

    fn list(&mut self, one: &Occurrence) -> Result<(), String> {
        let (Some(events), true) = (&mut self.events, one.is_incident()) else { return Ok(()) };
        let cells = one.cells(self.monitors.key.is_some(), self.monitors.has_times, false);
        events.write(&cells).map_err(sentence)
    }

    /// Starts again if the table has ended during the warm-up.
    fn end(&mut self) -> Result<Option<Results>, String> {
        if self.journal.is_too_short() {
            let Some(rows) = self.monitors.shorter_warm_up(self.journal.rows, self.keys.is_some()) else {
                return Err(sentence(self.monitors.too_short(&self.journal, &self.stream)));
            };
            let (layout, mut monitor, by) =
                (self.options.layout.clone(), self.options.monitor.clone(), self.options.by.clone());
            monitor.warm_up = Some(rows);
            let options = TableOptions { layout, monitor, by };
            *self = Self::begin(self.source.clone(), options, self.start.take(), Some(self.monitors.keys()))?;
            return Ok(None);
        }
        let model = read(self.saved())?;
        let last = read(self.monitors.close(&mut self.journal, self.stream.columns()))?;
        last.iter().try_for_each(|one| self.list(one))?;
        let events = self.events.take().map_or(Ok(Vec::new()), Answers::into_bytes).map_err(sentence)?;
        let started = self.start.as_ref().map(|(name, _)| name.clone());
        let facts = self.monitors.facts(&self.stream, self.options.by.as_ref(), (None, started), None);
        let (page, summary) = (page(&self.journal, &facts, &Inside::All).html(), text(&self.journal, &facts));
        let (page, summary) = (page.into_bytes(), summary.into_bytes());
        Ok(Some([("page", page), ("summary", summary), ("events", events), ("model", model)].into()))
    }

    fn saved(&mut self) -> Result<Vec<u8>, eigenhedge::Error> {
        let TableMonitors { fleet, key, .. } = &mut self.monitors;
        if key.is_some() {
            let mut bytes = Vec::new();
            return fleet.write(&[], &mut bytes).map(|()| bytes);
        }
        checked_bytes(&fleet.get("")?.unwrap_or_else(|| fleet.fresh().clone()))
    }
}

impl Task for Watch {
    fn description(&self) -> Value {
        let (mut description, fresh) = (detected(&self.stream), self.monitors.fleet.fresh());
        let rows = fresh.options().warm_up_rows(fresh.width());
        description["sentence"] = match fresh.is_ready() {
            true => "The reference is that of the opened model.".into(),
            false => format!("The first {rows} rows are the reference.").into(),
        };
        description
    }

    fn step(&mut self, most: u64) -> Result<Option<Results>, String> {
        for _ in 0..most {
            if self.stream.next_row().map_err(sentence)?.is_none() {
                return self.end();
            }
            self.stream.deliver_into(&mut self.row);
            let seen = self.monitors.step(&self.row, &mut self.journal, &mut self.stream).map_err(sentence)?;
            seen.into_iter().flat_map(|seen| seen.found).try_for_each(|one| self.list(&one))?;
        }
        Ok(None)
    }

    fn progress(&self) -> String {
        let (rows, totals) = (self.journal.rows, &self.journal.totals);
        format!("{rows} rows, {} alarms, {} incidents", totals.alarms, totals.incidents)
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }
}

fn opened(name: &str, saved: &[u8], by_key: bool) -> Result<Fleet<Monitor>, String> {
    let refused = |reason: String| format!("{name}: {reason}");
    match SavedKind::of(saved).map_err(|refusal| refused(refusal.to_string()))? {
        SavedKind::Monitors if by_key => fleet_of_bytes(saved.to_vec()).map_err(refused),
        SavedKind::Monitors => Err(refused("holds a monitor for each key: --group-by names them".into())),
        _ => {
            let monitor = Monitor::from_bytes(saved).map_err(|refusal| refused(refusal.to_string()))?;
            if !monitor.is_ready() {
                return Err(refused("must be past its warm-up".into()));
            }
            read(Fleet::new(monitor))
        }
    }
}
