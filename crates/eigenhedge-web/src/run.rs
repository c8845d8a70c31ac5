//! Monitors over a table in memory, in steps: what `eigenhedge monitor --report --events --snapshot` does with files.

use crate::options::{TableOptions, misfit};
use crate::reply::{Reply, bytes, read};
use eigenhedge::{Fleet, Monitor, SavedKind, checked_bytes};
use eigenhedge_io::{Answers, Error, Form, Layout, Row, Source, Stream, Target, fleet_of_bytes, printable};
use eigenhedge_pages::monitor::{Inside, Journal, Occurrence, TableMonitors, check_width, fresh_monitor, page, text};
use serde_json::{Value, json};
use std::sync::Arc;

/// Table, its monitors and their record.
pub struct Run {
    source: Source,
    options: TableOptions,
    /// Name and monitors of the file from which the run goes on.
    start: Option<(String, Vec<u8>)>,
    /// Number of keys, if the table is read a second time.
    keys: Option<u64>,
    stream: Stream,
    monitors: TableMonitors,
    journal: Journal,
    events: Option<Answers>,
    row: Row,
    finished: Option<Finished>,
}

/// Results of a table that was read to its end.
pub struct Finished {
    pub page: String,
    pub events: Vec<u8>,
    pub model: Vec<u8>,
    pub summary: String,
}

/// Returns the sentence of an error in a table, with the option that passes over bad rows.
fn sentence(error: Error) -> String {
    let hint = if error.is_row() && !error.is_advised() { "; --on-bad-row skip passes over bad rows" } else { "" };
    let word = error.word().map(|word| format!("; --na-values {word} reads it as a missing cell"));
    format!("{error:#}{}{hint}", word.unwrap_or_default())
}

impl Run {
    /// Opens files as one table. A file whose name ends in `.eh` holds the monitors from which the run goes on.
    pub fn open(files: &[(Arc<str>, Arc<[u8]>)], options: &Value) -> Result<Self, String> {
        let (saved, mut tables): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name.ends_with(".eh"));
        tables.sort_by(|a, b| a.0.cmp(&b.0));
        let mut sources: Vec<Source> =
            tables.into_iter().map(|(name, bytes)| Source::Bytes(name.clone(), bytes.clone())).collect();
        let source = match sources.len() {
            0 => return Err("a table is needed: choose a file of rows".into()),
            1 => sources.remove(0),
            _ => Source::Several(sources),
        };
        let options = TableOptions::new(&source, options)?;
        let start = saved.first().map(|(name, bytes)| (printable(name), bytes.to_vec()));
        Self::begin(source, options, start, None)
    }

    /// Opens the table at its first row, with new monitors or with those of a file.
    fn begin(
        source: Source,
        options: TableOptions,
        start: Option<(String, Vec<u8>)>,
        keys: Option<u64>,
    ) -> Result<Self, String> {
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
                check_width(monitor, &stream).map_err(sentence)?;
                (stream, Ok(fleet))
            }
        };
        let monitors = TableMonitors::new(read(fleet)?, &stream, by_key, keys);
        let names = stream.kept_columns();
        let columns = Occurrence::columns(monitors.key.map(|key| &names[key]), monitors.has_times, false);
        let events = Answers::open(&Target::Memory, Form::Csv, columns, false, None).map_err(sentence)?;
        Ok(Self {
            journal: Journal::new(monitors.fleet.keys()).with_charts(stream.columns().len(), by_key),
            events: Some(events.with_dialect(stream.reading().dialect())),
            row: Row::default(),
            finished: None,
            source,
            options,
            start,
            keys,
            stream,
            monitors,
        })
    }

    /// Returns what was detected in the table.
    pub fn description(&self) -> Value {
        let (stream, fresh) = (&self.stream, self.monitors.fleet.fresh());
        json!({
            "source": stream.source(),
            "readAs": stream.read_as(),
            "names": stream.names(),
            "columns": stream.columns(),
            "leftOut": stream.left_out(),
            "time": stream.kept_columns().first().filter(|_| stream.has_time()),
            "warmUp": fresh.options().warm_up_rows(fresh.width()),
            "isReady": fresh.is_ready(),
        })
    }

    /// Reads rows, at most as many as the input says as text. Returns the progress.
    pub fn step(&mut self, input: &[u8]) -> Reply {
        let most: u64 = String::from_utf8_lossy(input).parse().unwrap_or(1);
        let mut is_done = self.finished.is_some();
        for _ in 0..most {
            if is_done || self.stream.next_row().map_err(sentence)?.is_none() {
                is_done = is_done || self.end()?;
                break;
            }
            self.stream.deliver_into(&mut self.row);
            let seen = self.monitors.step(&self.row, &mut self.journal, &mut self.stream).map_err(sentence)?;
            seen.into_iter().flat_map(|seen| seen.found).try_for_each(|one| self.list(&one))?;
        }
        let share = self.stream.progress().share().unwrap_or(0.0);
        let (rows, totals) = (self.journal.rows, &self.journal.totals);
        let (alarms, incidents) = (totals.alarms, totals.incidents);
        Ok(bytes(&json!({ "done": is_done, "rows": rows, "alarms": alarms, "incidents": incidents, "share": share })))
    }

    fn list(&mut self, one: &Occurrence) -> Result<(), String> {
        let (Some(events), true) = (&mut self.events, one.is_incident()) else { return Ok(()) };
        let cells = one.cells(self.monitors.key.is_some(), self.monitors.has_times, false);
        events.write(&cells).map_err(sentence)
    }

    /// Completes the results. If the table ends during the warm-up, starts again with a shorter one and returns false.
    fn end(&mut self) -> Result<bool, String> {
        if self.journal.is_too_short() {
            let Some(rows) = self.monitors.shorter_warm_up(self.journal.rows, self.keys.is_some()) else {
                return Err(sentence(self.monitors.too_short(&self.journal, &self.stream)));
            };
            let (layout, by) = (self.options.layout.clone(), self.options.by.clone());
            let monitor = self.options.monitor.clone().with_warm_up(Some(rows));
            let options = TableOptions { layout, monitor, by };
            *self = Self::begin(self.source.clone(), options, self.start.take(), Some(self.monitors.keys()))?;
            return Ok(false);
        }
        let model = read(self.saved())?;
        let last = read(self.monitors.close(&mut self.journal, self.stream.columns()))?;
        last.iter().try_for_each(|one| self.list(one))?;
        let events = self.events.take().map_or(Ok(Vec::new()), Answers::into_bytes).map_err(sentence)?;
        let started = self.start.as_ref().map(|(name, _)| name.clone());
        let facts = self.monitors.facts(&self.stream, self.options.by.as_ref(), (None, started), None);
        let (page, summary) = (page(&self.journal, &facts, &Inside::All).html(), text(&self.journal, &facts));
        self.finished = Some(Finished { page, events, model, summary });
        Ok(true)
    }

    /// Returns the monitors as a file: one monitor, or a fleet.
    fn saved(&mut self) -> Result<Vec<u8>, eigenhedge::Error> {
        let TableMonitors { fleet, key, .. } = &mut self.monitors;
        if key.is_some() {
            let mut bytes = Vec::new();
            return fleet.write(&[], &mut bytes).map(|()| bytes);
        }
        checked_bytes(&fleet.get("")?.unwrap_or_else(|| fleet.fresh().clone()))
    }

    pub fn finished(&self) -> Result<&Finished, String> {
        self.finished.as_ref().ok_or_else(|| "the table has not been read to its end".into())
    }
}

/// Reads monitors from a file.
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

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::streams;

    /// Returns a table of six sensors with a fault of the fifth from row 1200 on.
    fn table(rows: usize, decimal: &str) -> Vec<(Arc<str>, Arc<[u8]>)> {
        let mut text = "s0;s1;s2;s3;s4;s5\n".to_owned();
        for (t, row) in streams::iid(6, 2, 0.3, rows, 3).rows.iter().enumerate() {
            let cell = |(j, x): (usize, &f64)| format!("{:.4}", x + if j == 4 && t >= 1200 { 8.0 } else { 0.0 });
            let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
            text += &(cells.join(";").replace('.', decimal) + "\n");
        }
        vec![("rows.csv".into(), text.into_bytes().into())]
    }

    fn finish(files: &[(Arc<str>, Arc<[u8]>)], options: &Value, step: &str) -> Result<Run, String> {
        let mut run = Run::open(files, options)?;
        while !String::from_utf8_lossy(&run.step(step.as_bytes())?).contains("\"done\":true") {}
        Ok(run)
    }

    #[test]
    fn a_fault_is_listed_in_the_dialect_of_the_table_however_long_the_steps() {
        let files = table(1500, ",");
        let [one, other] = ["7", "100000"].map(|step| finish(&files, &json!({ "warm-up": 300 }), step).unwrap());
        let [one, other] = [&one, &other].map(|run| run.finished().unwrap());
        assert_eq!((&one.page, &one.events, &one.model), (&other.page, &other.events, &other.model));
        let events = String::from_utf8(one.events.clone()).unwrap();
        let fault = events.lines().last().unwrap();
        assert!(fault.starts_with("incident;") && fault.contains(";s4;0,"), "{events}");
        assert!(one.page.contains("s4"), "{}", one.summary);
    }

    #[test]
    fn a_saved_monitor_goes_on_and_a_short_table_has_a_short_warm_up() {
        let mut files = table(200, ".");
        let run = finish(&files, &json!({}), "64").unwrap();
        assert_eq!((run.keys, run.options.monitor.warm_up), (Some(1), Some(66)));
        files.push(("saved.eh".into(), run.finished().unwrap().model.clone().into()));
        let on = finish(&files, &json!({}), "64").unwrap();
        assert!(on.finished().unwrap().summary.contains("saved.eh"), "{}", on.finished().unwrap().summary);
    }

    #[test]
    fn errors_are_sentences() {
        let files = table(50, ".");
        let refused = |options: Value| finish(&files, &options, "64").err().unwrap();
        assert_eq!(refused(json!({ "colour": "red" })), "there is no option --colour");
        assert!(refused(json!({ "time": "s9" })).starts_with("rows.csv: there is no column \"s9\""));
        assert!(refused(json!({ "warm-up": "2d" })).contains("the table has no times"));
        assert!(refused(json!({ "warm-up": 60 })).contains("must have more rows than the warm-up, 60, got 50"));
        assert!(Run::open(&[], &json!({})).is_err());
    }
}
