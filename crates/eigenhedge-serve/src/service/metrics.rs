//! Metrics of the service, in Prometheus text format.

use super::connections::Connections;
use super::core::Core;
use super::engine::KeyCounts;
use crate::lock;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const STREAMS: usize = 1000;
const KEYS: usize = 1000;
const LONGEST_KEY: usize = 256;
const CLASSES: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 10.0];

#[derive(Debug)]
pub struct Metrics {
    requests: Mutex<Requests>,
    connections: Arc<Connections>,
}

#[derive(Debug, Default)]
struct Requests {
    statuses: BTreeMap<u16, u64>,
    classes: [u64; CLASSES.len()],
    seconds: f64,
}

impl Metrics {
    pub fn new(connections: Arc<Connections>) -> Self {
        Self { requests: Mutex::default(), connections }
    }

    pub fn count(&self, status: StatusCode, time: Duration) {
        let (mut requests, seconds) = (lock(&self.requests), time.as_secs_f64());
        *requests.statuses.entry(status.as_u16()).or_default() += 1;
        requests.seconds += seconds;
        requests.classes.iter_mut().zip(CLASSES).for_each(|(class, end)| *class += u64::from(seconds <= end));
    }

    pub fn text(&self, core: &Core) -> String {
        let mut out = Text(String::new());
        let Requests { statuses, classes, seconds } = &*lock(&self.requests);
        let count = statuses.values().sum::<u64>() as f64;
        let by_status = statuses.iter().map(|(status, count)| (format!("{{status=\"{status}\"}}"), *count as f64));
        out.metric("requests_total", "counter", "Answers, by status.", by_status);
        out.head("request_seconds", "histogram", "Time to answer a request.");
        for (class, end) in classes.iter().zip(CLASSES) {
            out.line("request_seconds_bucket", &format!("{{le=\"{end}\"}}"), *class as f64);
        }
        out.line("request_seconds_bucket", "{le=\"+Inf\"}", count);
        out.line("request_seconds_sum", "", *seconds);
        out.line("request_seconds_count", "", count);
        out.one("connections", "gauge", "Open connections.", self.connections.count() as f64);
        let store = lock(&core.shared.queue.counts);
        out.one("store_commits_total", "counter", "Commits of the store.", store.commits as f64);
        out.one("store_orders_total", "counter", "Orders that were committed.", store.orders as f64);
        out.one("store_bytes_total", "counter", "Bytes that were committed.", store.bytes as f64);
        out.one("store_failures_total", "counter", "Commits that failed.", store.failures as f64);
        out.one("store_commit_seconds_total", "counter", "Time of all commits.", store.seconds);
        drop(store);
        out.one("store_size_bytes", "gauge", "Bytes of the file of the store.", core.shared.store.size() as f64);
        if let Some(bytes) = resident() {
            out.one("memory_bytes", "gauge", "Memory of the process.", bytes as f64);
        }
        let limit = core.settings.max_memory as f64;
        out.one("memory_limit_bytes", "gauge", "Limit of the memory, apart from 64 MB for the program.", limit);
        out.one("allocated_bytes", "gauge", "Memory in use, as part of it.", super::memory::allocated() as f64);
        streams(core, &mut out);
        out.0
    }
}

type One = Arc<super::stream::Handle>;

fn streams(core: &Core, out: &mut Text) {
    let all = core.all();
    out.one("streams", "gauge", "Streams.", all.len() as f64);
    // A stream that cannot be loaded has no metrics.
    let shown: Vec<&One> = all.iter().filter(|one| one.check_loaded().is_ok()).take(STREAMS).collect();
    let label = |name: &str| format!("{{stream=\"{name}\"}}");
    let mut by_stream = |name: &str, kind: &str, help: &str, value: &dyn Fn(&One) -> u64| {
        out.metric(name, kind, help, shown.iter().map(|one| (label(&one.name), value(one) as f64)));
    };
    let sent = |one: &One, i: usize| one.line.as_ref().map_or(0, |line| line.counts()[i]);
    by_stream("rows_total", "counter", "Rows of all requests.", &|one| one.seen().counts.rows);
    by_stream("skipped_rows_total", "counter", "Rows that were not learned.", &|one| one.seen().counts.skipped);
    by_stream("alarms_total", "counter", "Rows with an alarm since the start.", &|one| one.seen().alarms);
    by_stream("snapshots_total", "counter", "Snapshots since the start.", &|one| one.seen().snapshots);
    by_stream("unloads_total", "counter", "Times that memory was short.", &|one| one.seen().unloads);
    by_stream("incidents_open", "gauge", "Ongoing incidents.", &|one| one.seen().incidents);
    by_stream("silent_keys", "gauge", "Keys without rows.", &|one| one.seen().silent);
    by_stream("last_row_seconds", "gauge", "Time of the last rows.", &|one| one.seen().counts.last_row);
    by_stream("notices_sent_total", "counter", "Notices sent.", &|one| sent(one, 0));
    by_stream("notices_dropped_total", "counter", "Notices dropped.", &|one| sent(one, 1));
    by_stream("notices_held_back", "gauge", "Notices that the next one counts.", &|one| sent(one, 2));
    by_stream("notices_waiting", "gauge", "Notices that wait for the receiver.", &|one| sent(one, 3));
    by_stream("waiting_requests", "gauge", "Requests that wait.", &|one| one.waiting() as u64);
}

pub fn of_keys(stream: &str, mut keys: Vec<KeyCounts>) -> String {
    let mut out = Text(String::new());
    let count = std::iter::once((format!("{{stream=\"{stream}\"}}"), keys.len() as f64));
    out.metric("keys", "gauge", "Keys of the stream, of which some may be left out.", count);
    keys.retain(|one| one.key.len() <= LONGEST_KEY);
    keys.sort_by(|a, b| b.severity.total_cmp(&a.severity));
    keys.truncate(KEYS);
    let escaped = |key: &str| key.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<String> =
        keys.iter().map(|one| format!("{{stream=\"{stream}\",key=\"{}\"}}", escaped(&one.key))).collect();
    let mut metric = |name: &str, kind: &str, help: &str, value: fn(&KeyCounts) -> f64| {
        out.metric(name, kind, help, labels.iter().cloned().zip(keys.iter().map(value)));
    };
    metric("key_rows_total", "counter", "Rows of the key.", |one| one.rows as f64);
    metric("key_alarms_total", "counter", "Rows of the key with an alarm.", |one| one.alarms as f64);
    metric("key_severity", "gauge", "Severity of the ongoing incident, or 0 without one.", |one| one.severity);
    out.0
}

struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP eigenhedge_{name} {help}\n# TYPE eigenhedge_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "eigenhedge_{name}{labels} {value}");
    }

    fn metric(&mut self, name: &str, kind: &str, help: &str, values: impl Iterator<Item = (String, f64)>) {
        self.head(name, kind, help);
        values.for_each(|(labels, value)| self.line(name, &labels, value));
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.metric(name, kind, help, std::iter::once((String::new(), value)));
    }
}

pub fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?)
}
