//! Metrics of a monitor in Prometheus text format, for a textfile collector.

use anyhow::Result;
use eigenhedge_io::write_whole;
use eigenhedge_pages::monitor::{Journal, Track};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_secs(10);
const KEYS: usize = 1000;

pub struct Metrics<'a> {
    path: &'a Path,
    next: Instant,
}

impl<'a> Metrics<'a> {
    pub fn new(path: &'a Path) -> Self {
        Self { path, next: Instant::now() }
    }

    pub fn tick(&mut self, journal: &Journal) -> Result<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        self.write(journal)
    }

    pub fn write(&mut self, journal: &Journal) -> Result<()> {
        self.next = Instant::now() + PAUSE;
        Ok(write_whole(self.path, text(journal).as_bytes())?)
    }
}

fn text(journal: &Journal) -> String {
    let totals = &journal.totals;
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
        let _ = writeln!(text, "# HELP eigenhedge_{name} {help}\n# TYPE eigenhedge_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "eigenhedge_{name}{labels} {value}");
        }
    };
    let one = |value: u64| vec![(String::new(), value)];
    metric("rows_total", "counter", "Rows that were looked at.", &one(journal.rows));
    metric("scored_rows_total", "counter", "Rows with a score.", &one(totals.scored));
    let by_key = |value: fn(&Track) -> u64| -> Vec<(String, u64)> {
        let shown = journal.tracks.iter().take(KEYS);
        shown.map(|track| (labels(&track.key), value(track))).collect()
    };
    metric("alarms_total", "counter", "Rows with an alarm.", &by_key(|track| track.in_table.alarms));
    metric(
        "in_incident",
        "gauge",
        "1 while an incident is going on.",
        &by_key(|track| u64::from(track.incident.is_some())),
    );
    metric("incidents_total", "counter", "Incidents that were reported.", &one(totals.incidents));
    metric("events_total", "counter", "Events that have ended.", &one(totals.events));
    metric("changes_total", "counter", "Changes of the level of the score.", &one(totals.changes));
    text
}

fn labels(key: &str) -> String {
    match key {
        "" => String::new(),
        key => format!("{{key=\"{}\"}}", key.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
    }
}
