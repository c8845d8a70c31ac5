//! Notices: what listeners are told while rows arrive, by the program's hook and by the service.

use super::journal::Seen;
use super::occurrence::named;
use eigenhedge::Incident;
use serde::{Deserialize, Serialize};

/// Event of a stream that is reported to users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Number of the notice in a stream of the service, counted from 1. It is 0 in the program, which does not write it.
    #[serde(skip_serializing_if = "is_unnumbered")]
    pub id: u64,
    /// Kind: `opened` and `closed` for an incident, `alarm` at the first row of an event, `rise` or `fall` when the level of the
    /// score changes, `accepted` for a new reference.
    pub kind: String,
    /// Key of the monitor. It is empty for a single monitor.
    pub key: String,
    /// Number of the row, counted from 0.
    pub row: u64,
    /// Time of the row, as in the table. It is empty if there is no time column.
    pub time: String,
    /// Score of the row, or `None` if the score is not finite or the notice is about a reference that was accepted on
    /// request.
    pub score: Option<f64>,
    /// Number, severity and signs of the incident, for `opened` and `closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incident: Option<IncidentNotice>,
    /// Main causes: columns with their shares of the squared deviations.
    pub causes: Vec<(String, f64)>,
}

/// Incident of a notice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IncidentNotice {
    /// Number of the incident, counted from 1 in its stream or key.
    pub number: u64,
    /// Number of the estimated first row.
    pub start: u64,
    pub severity: f64,
    /// Severity in a word: minor, major or critical.
    pub grade: String,
    /// Signs, separated by spaces.
    pub signs: String,
}

fn is_unnumbered(id: &u64) -> bool {
    *id == 0
}

impl Notice {
    /// Kinds for which the command of `--on-alarm` is run.
    pub const URGENT: [&str; 2] = ["opened", "closed"];

    /// Creates the notice of a reference that was accepted on request before `row`.
    pub fn accepted(row: u64, key: &str) -> Self {
        let (kind, key) = ("accepted".to_owned(), key.to_owned());
        Self { id: 0, kind, key, row, time: String::new(), score: None, incident: None, causes: Vec::new() }
    }
}

impl Seen {
    /// Returns the notices that the row causes, without numbers. `time` is the time of the row.
    pub fn notices(&self, key: &str, time: &str, names: &[String]) -> Vec<Notice> {
        let score = Some(self.verdict.score).filter(|score| score.is_finite());
        let notice = |kind: &str, causes: Vec<(String, f64)>| Notice {
            kind: kind.to_owned(),
            time: time.to_owned(),
            score,
            causes,
            ..Notice::accepted(self.verdict.row, key)
        };
        let of_incident = |kind: &str, incident: &Incident| {
            let facts = IncidentNotice {
                number: incident.incident,
                start: incident.start,
                severity: incident.severity,
                grade: incident.grade().to_owned(),
                signs: incident.signs().map(|sign| sign.name()).collect::<Vec<_>>().join(" "),
            };
            Notice { incident: Some(facts), ..notice(kind, named(&incident.causes, names)) }
        };
        let alarm = self.begins_event.then(|| notice("alarm", named(&self.verdict.causes, names)));
        let closed = self.verdict.closed.iter().map(|incident| of_incident("closed", incident));
        let opened = self.verdict.opened.iter().map(|incident| of_incident("opened", incident));
        let kinds = ["rise", "fall", "accepted"].into_iter();
        let found = kinds.flat_map(|kind| self.found.iter().filter(move |one| one.kind == kind));
        let others = found.map(|one| notice(&one.kind, one.causes.clone()));
        closed.chain(opened).chain(alarm).chain(others).collect()
    }
}
