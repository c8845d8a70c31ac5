//! Entries of the list of incidents, events, changes and accepted references.

use eigenhedge::{Cause, Change, Event, Incident, grade};
use eigenhedge_io::{CAUSES, Cell, CellKind, cause_columns};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// As written in the table, or empty if unknown.
    pub start: String,
    pub end: String,
    pub seconds: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub times: Times,
    pub reported: String,
    pub peak: String,
    pub is_told: bool,
    pub stuck: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// `incident` (`unreported` below the minimum severity or duration), `alarms`, `stuck`, `moved`, `rise`, `fall`,
    /// `accepted`.
    pub kind: String,
    pub key: String,
    pub start: u64,
    /// Last row. For a change, the row at which it was reported.
    pub end: u64,
    pub start_time: String,
    pub end_time: String,
    pub start_seconds: Option<f64>,
    /// Row with the largest ratio of score to limit (event) or the greatest severity (incident).
    pub peak: u64,
    /// Severity of an incident, score at the peak of an event, or strength of a change.
    pub strength: f64,
    pub alarms: u64,
    pub incident: Option<IncidentFacts>,
    pub causes: Vec<(String, f64)>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IncidentFacts {
    pub number: u64,
    pub reported: u64,
    pub reported_time: String,
    pub peak_time: String,
    pub is_over: bool,
    pub signs: String,
    pub stuck: String,
    pub rows: u64,
}

impl Occurrence {
    /// `rows` are the first row, the last row and the peak.
    fn new(kind: &str, key: &str, rows: [u64; 3], times: Times, causes: Vec<(String, f64)>) -> Self {
        let ([start, end, peak], Times { start: start_time, end: end_time, seconds: start_seconds }) = (rows, times);
        let (kind, key) = (kind.to_owned(), key.to_owned());
        Self { kind, key, start, end, start_time, end_time, start_seconds, peak, causes, ..Self::default() }
    }

    pub fn of_event(event: &Event, key: &str, times: Times, names: &[String]) -> Self {
        let kind = match (event.is_stuck(), event.is_moved()) {
            (true, _) => "stuck",
            (false, true) => "moved",
            (false, false) => "alarms",
        };
        let rows = [event.start, event.end, event.peak];
        let entry = Self::new(kind, key, rows, times, named(&event.causes, names));
        Self { strength: event.peak_score, alarms: event.alarms, ..entry }
    }

    pub fn of_incident(incident: &Incident, key: &str, told: &Told, names: &[String]) -> Self {
        let rows = [incident.start, incident.end, incident.peak];
        let facts = IncidentFacts {
            number: incident.incident,
            reported: incident.reported,
            reported_time: told.reported.clone(),
            peak_time: told.peak.clone(),
            is_over: incident.is_over,
            signs: incident.signs().map(|sign| sign.name()).collect::<Vec<_>>().join(" "),
            stuck: told.stuck.and_then(|column| names.get(column)).cloned().unwrap_or_default(),
            rows: incident.rows,
        };
        let kind = if told.is_told { "incident" } else { "unreported" };
        let entry = Self::new(kind, key, rows, told.times.clone(), named(&incident.causes, names));
        Self { strength: incident.severity, alarms: incident.alarms, incident: Some(facts), ..entry }
    }

    /// `number` counts the silences of the key; `last` and `times` are those of its last row.
    pub fn of_silence(key: &str, number: u64, last: u64, times: Times, severity: f64) -> Self {
        let signs = "silent".to_owned();
        let facts = IncidentFacts { number, reported: last, signs, ..IncidentFacts::default() };
        let entry = Self::new("incident", key, [last; 3], times, Vec::new());
        Self { strength: severity, incident: Some(facts), ..entry }
    }

    pub fn of_acceptance(row: u64, key: &str, times: Times) -> Self {
        Self::new("accepted", key, [row; 3], times, Vec::new())
    }

    pub fn of_change(change: &Change, key: &str, times: Times, names: &[String]) -> Self {
        let kind = if change.is_rise { "rise" } else { "fall" };
        let rows = [change.start, change.reported, change.reported];
        Self { strength: change.strength, ..Self::new(kind, key, rows, times, named(&change.columns, names)) }
    }

    pub fn is_incident(&self) -> bool {
        self.kind == "incident"
    }

    pub fn is_event(&self) -> bool {
        ["alarms", "stuck", "moved"].contains(&self.kind.as_str())
    }

    /// Returns the columns of a list of entries. `key` is the name of the key column. With `detail`, there is also a
    /// column with the strength of events and changes.
    pub fn columns(key: Option<&String>, has_times: bool, detail: bool) -> Vec<(String, CellKind)> {
        let entry = Self::default();
        let columns = entry.fields(key.is_some(), has_times, detail).into_iter().map(|(name, cell)| {
            let kind = match cell {
                Cell::Whole(_) => CellKind::Whole,
                Cell::Number(_) => CellKind::Number,
                Cell::Text(_) => CellKind::Text,
            };
            (key.filter(|_| name.is_empty()).map_or(name, String::as_str).to_owned(), kind)
        });
        columns.chain(cause_columns()).collect()
    }

    pub fn cells(&self, has_key: bool, has_times: bool, detail: bool) -> Vec<Cell<'_>> {
        let fields = self.fields(has_key, has_times, detail).into_iter().map(|(_, cell)| cell);
        let causes = (0..CAUSES).flat_map(|i| {
            let (name, share) = self.causes.get(i).map_or(("", f64::NAN), |(name, share)| (name, *share));
            [Cell::Text(name), Cell::Number(share)]
        });
        fields.chain(causes).collect()
    }

    /// Returns the names and the cells of the entry without its causes. The key has no name.
    fn fields(&self, has_key: bool, has_times: bool, detail: bool) -> Vec<(&'static str, Cell<'_>)> {
        let facts = self.incident.as_ref();
        let whole = |of: fn(&IncidentFacts) -> u64| Cell::Whole(facts.map(of));
        let text = |of: fn(&IncidentFacts) -> &str| Cell::Text(facts.map_or("", of));
        let is_open = facts.is_some_and(|facts| !facts.is_over);
        let severity = if facts.is_some() { self.strength } else { f64::NAN };
        let strength = if facts.is_some() || self.kind == "accepted" { f64::NAN } else { self.strength };
        let fields = [
            (true, "kind", Cell::Text(&self.kind)),
            (has_key, "", Cell::Text(&self.key)),
            (true, "incident", whole(|facts| facts.number)),
            (true, "start", Cell::Whole(Some(self.start))),
            (true, "reported", whole(|facts| facts.reported)),
            (true, "end", Cell::Whole(Some(self.end).filter(|_| !is_open))),
            (has_times, "start_time", Cell::Text(&self.start_time)),
            (has_times, "reported_time", text(|facts| &facts.reported_time)),
            (has_times, "end_time", Cell::Text(if is_open { "" } else { &self.end_time })),
            (true, "severity", Cell::Number(severity)),
            (true, "grade", Cell::Text(facts.map_or("", |_| grade(severity)))),
            (true, "signs", text(|facts| &facts.signs)),
            (true, "rows", whole(|facts| facts.rows)),
            (true, "alarms", Cell::Whole(Some(self.alarms))),
            (true, "peak", Cell::Whole(Some(self.peak))),
            (has_times, "peak_time", text(|facts| &facts.peak_time)),
            (detail, "strength", Cell::Number(strength)),
        ];
        fields.into_iter().filter(|(is_shown, ..)| *is_shown).map(|(_, name, cell)| (name, cell)).collect()
    }
}

pub(super) fn named(causes: &[Option<Cause>], names: &[String]) -> Vec<(String, f64)> {
    causes.iter().flatten().map(|cause| (names[cause.column].clone(), cause.share)).collect()
}
