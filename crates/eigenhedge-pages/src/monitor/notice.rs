//! Notices of incidents in a running stream, for the hook of the command line and for the service.

use super::headline::sentence;
use super::journal::Seen;
use super::occurrence::{Occurrence, named};
use eigenhedge::grade;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Number in a stream of the service, from 1, or 0 on the command line.
    #[serde(skip_serializing_if = "is_unnumbered")]
    pub id: u64,
    /// `opened`, `worse` or `closed` for an incident, `alarm`, `rise` or `fall` of the level, or `accepted`.
    pub kind: String,
    pub key: String,
    pub row: u64,
    pub time: String,
    pub score: Option<f64>,
    pub incident: Option<IncidentNotice>,
    pub causes: Vec<(String, f64)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IncidentNotice {
    pub number: u64,
    pub start: u64,
    pub severity: f64,
    pub grade: String,
    pub signs: String,
    pub sentence: String,
}

fn is_unnumbered(id: &u64) -> bool {
    *id == 0
}

impl Notice {
    /// Kinds that are sent to people: the `--on-alarm` command is run, or a webhook is sent.
    pub const URGENT: [&str; 3] = ["opened", "worse", "closed"];

    /// Creates the notice of a reference that was accepted on request before `row`.
    pub fn accepted(row: u64, key: &str) -> Self {
        Self { kind: "accepted".to_owned(), key: key.to_owned(), row, ..Self::default() }
    }

    pub fn of_incident(kind: &str, one: &Occurrence, row: u64, time: &str) -> Self {
        let facts = one.incident.as_ref();
        let incident = IncidentNotice {
            number: facts.map_or(0, |facts| facts.number),
            start: one.start,
            severity: one.strength,
            grade: grade(one.strength).to_owned(),
            signs: facts.map_or_else(String::new, |facts| facts.signs.clone()),
            sentence: sentence(one),
        };
        let (kind, time, causes) = (kind.to_owned(), time.to_owned(), one.causes.clone());
        Self { kind, time, incident: Some(incident), causes, ..Self::accepted(row, &one.key) }
    }

    pub fn is_urgent(&self) -> bool {
        Self::URGENT.contains(&self.kind.as_str())
    }
}

impl Seen {
    /// `time` is the time of the row.
    pub fn notices(&self, key: &str, time: &str, names: &[String]) -> Vec<Notice> {
        let score = Some(self.verdict.score).filter(|score| score.is_finite());
        let notice = |kind: &str, causes: Vec<(String, f64)>| Notice {
            kind: kind.to_owned(),
            time: time.to_owned(),
            score,
            causes,
            ..Notice::accepted(self.verdict.row, key)
        };
        let of_incident =
            |kind: &str, one: &Occurrence| Notice { score, ..Notice::of_incident(kind, one, self.verdict.row, time) };
        let alarm = self.begins_event.then(|| notice("alarm", named(&self.verdict.causes, names)));
        let closed = self.found.iter().filter(|one| one.is_incident()).map(|one| of_incident("closed", one));
        let opened = self.opened.iter().map(|one| of_incident("opened", one));
        let kinds = ["rise", "fall", "accepted"].into_iter();
        let found = kinds.flat_map(|kind| self.found.iter().filter(move |one| one.kind == kind));
        let others = found.map(|one| notice(&one.kind, one.causes.clone()));
        closed.chain(opened).chain(alarm).chain(others).collect()
    }
}
