//! Most recent notices of a stream, and the last notice about each ongoing incident.

use super::silence::{Arrival, Silences};
use crate::service::notice_rules::NoticeRules;
use eigenhedge::{Incident, grade};
use eigenhedge_pages::monitor::{Journal, Least, Notice, Occurrence, Seen, sentence};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Notices {
    pub count: u64,
    last: VecDeque<Notice>,
    urgent: VecDeque<(f64, Notice)>,
    told: BTreeMap<String, Told>,
    pub silences: Silences,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Told {
    number: u64,
    reported: f64,
    /// Severity and sentence of the last notice, or `None` before the first.
    notice: Option<(f64, String)>,
}

impl Notices {
    pub const REMEMBERED: usize = 1000;

    pub fn push(&mut self, mut notice: Notice, at: f64) {
        self.count += 1;
        notice.id = self.count;
        if notice.is_urgent() {
            self.urgent.push_back((at, notice));
        } else {
            self.last.push_back(notice);
        }
        if self.urgent.len() > Self::REMEMBERED {
            self.urgent.pop_front();
        }
        if self.last.len() > Self::REMEMBERED {
            self.last.pop_front();
        }
    }

    pub fn after(&self, id: u64) -> impl Iterator<Item = &Notice> {
        let mut found: Vec<&Notice> = self.last.iter().filter(|notice| notice.id > id).collect();
        found.extend(self.urgent_after(id).map(|(_, notice)| notice));
        found.sort_by_key(|notice| notice.id);
        found.into_iter()
    }

    pub fn urgent_after(&self, id: u64) -> impl Iterator<Item = &(f64, Notice)> {
        self.urgent.iter().skip_while(move |(_, notice)| notice.id <= id)
    }

    pub fn open(&self) -> Vec<String> {
        let told = self.told.values().filter_map(|told| told.notice.clone());
        let silent = self.silences.open.values().map(|one| (one.strength, sentence(one)));
        let mut open: Vec<(f64, String)> = told.chain(silent).collect();
        open.sort_by(|a, b| b.0.total_cmp(&a.0));
        open.into_iter().map(|(_, sentence)| sentence).collect()
    }

    pub fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    pub fn refresh(&mut self, journal: &Journal, names: &[String]) {
        if !self.has_told() {
            return;
        }
        for one in journal.open_incidents(names).into_iter().chain(journal.closing_incidents(names)) {
            if let Some(Told { notice: Some((_, told)), .. }) = self.told.get_mut(&one.key) {
                *told = sentence(&one);
            }
        }
    }

    /// Adds the notices of a row. `opened` needs the minimum severity and duration. `worse` needs a higher grade than
    /// in the last notice and a severity that has grown by at least 1. `closed` needs an earlier notice.
    pub fn see(
        &mut self,
        rules: &NoticeRules,
        (journal, place): (&Journal, usize),
        seen: &Seen,
        row: &Arrival<'_>,
        names: &[String],
    ) {
        for notice in seen.notices(row.key, row.time, names) {
            if !notice.is_urgent() || (notice.kind == "closed" && self.ends(row.key, &notice)) {
                self.push(notice, row.at);
            }
        }
        let Some(incident) = journal.tracks.get(place).and_then(|track| track.incident.as_ref()) else { return };
        if let Some(kind) = self.due(&rules.least(journal.tracks.len()), incident, row)
            && let Some(one) = journal.open_incident(place, names)
        {
            let score = Some(seen.verdict.score).filter(|score| score.is_finite());
            let notice = Notice { score, ..Notice::of_incident(kind, &one, row.row, row.time) };
            self.remember(row.key, &notice);
            self.push(notice, row.at);
        }
    }

    fn due(&mut self, least: &Least, incident: &Incident, row: &Arrival<'_>) -> Option<&'static str> {
        let now = row.seconds.unwrap_or(row.at);
        let fresh = || Told { number: incident.incident, reported: now, notice: None };
        let told = self.told.entry(row.key.to_owned()).or_insert_with(fresh);
        if told.number != incident.incident {
            *told = fresh();
        }
        match &told.notice {
            None if least.is_reached(incident, Some(now - told.reported)) => Some("opened"),
            // The severity of an ongoing incident never falls.
            Some((severity, _)) if incident.grade() != grade(*severity) && incident.severity >= severity + 1.0 => {
                Some("worse")
            }
            _ => None,
        }
    }

    fn remember(&mut self, key: &str, notice: &Notice) {
        if let (Some(told), Some(incident)) = (self.told.get_mut(key), &notice.incident) {
            told.notice = Some((incident.severity, incident.sentence.clone()));
        }
    }

    fn ends(&mut self, key: &str, notice: &Notice) -> bool {
        let number = notice.incident.as_ref().map(|incident| incident.number);
        if self.told.get(key).map(|told| told.number) != number {
            return false;
        }
        self.told.remove(key).is_some_and(|told| told.notice.is_some())
    }

    pub fn silence(&mut self, kind: &str, one: &Occurrence, at: f64) {
        let (row, time) = if kind == "opened" { (one.start, &one.start_time) } else { (one.end, &one.end_time) };
        self.push(Notice::of_incident(kind, one, row, time), at);
    }

    pub fn accept(&mut self, key: &str, row: u64, closed: Option<&Occurrence>, at: f64) {
        if let Some(notice) = closed.map(|one| Notice::of_incident("closed", one, row, ""))
            && self.ends(key, &notice)
        {
            self.push(notice, at);
        }
        self.push(Notice::accepted(row, key), at);
    }

    /// Ends the incidents of monitors that were replaced before `row`.
    pub fn restart(&mut self, open: Vec<Occurrence>, row: u64, at: f64) {
        for mut one in open {
            one.incident.iter_mut().for_each(|facts| facts.is_over = true);
            let notice = Notice::of_incident("closed", &one, row, "");
            if self.ends(&one.key, &notice) {
                self.push(notice, at);
            }
        }
        self.told.clear();
    }
}
