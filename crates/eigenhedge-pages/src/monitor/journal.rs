//! Journal of a table: totals, events and page data of its monitors, in bounded memory.

use super::least::Least;
use super::occurrence::{Occurrence, Times, Told};
use super::record::Records;
use super::track::Track;
use eigenhedge::{Error, Incident, Monitor, MonitorTotals, Verdict};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Number of stored times per key, because a change starts before it is detected.
const REMEMBERED: usize = 128;
/// Number of stored times of all keys, exceeded only by [`LEAST_REMEMBERED`] per key.
const REMEMBERED_IN_ALL: usize = 1 << 17;
const LEAST_REMEMBERED: usize = 8;
const LISTED: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    pub rows: u64,
    pub filled_rows: u64,
    pub totals: MonitorTotals,
    /// Ended incidents, events, changes and accepted references. In a full list, an incident displaces a less important
    /// entry.
    pub listed: Vec<Occurrence>,
    pub tracks: Vec<Track>,
    pub(super) least: Least,
    pub(super) records: Option<Records>,
}

#[derive(Debug, Clone, Copy)]
pub struct RowAt<'a> {
    pub number: u64,
    pub cells: &'a [f64],
    pub time: &'a str,
    pub seconds: Option<f64>,
}

#[derive(Debug)]
pub struct Seen {
    pub verdict: Verdict,
    pub begins_event: bool,
    pub opened: Option<Occurrence>,
    pub found: Vec<Occurrence>,
}

impl Journal {
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self { tracks: keys.into_iter().map(Track::new).collect(), ..Self::default() }
    }

    /// Adds a monitor with the totals of its rows. Must be called before the first row.
    pub fn with_monitor(mut self, key: &str, monitor: &Monitor) -> Self {
        let track = Track::of(key, monitor);
        self.rows += track.totals.rows;
        self.totals.add_since(&MonitorTotals::default(), &track.totals);
        self.tracks.push(track);
        self
    }

    pub fn with_least(mut self, least: Least) -> Self {
        self.least = least;
        self
    }

    /// Returns the entries and totals of one key, without charts.
    pub fn of_key(&self, key: &str) -> Self {
        let tracks: Vec<Track> = self.tracks.iter().filter(|track| track.key == key).cloned().collect();
        let mut totals = MonitorTotals::default();
        tracks.iter().for_each(|track| totals.add_since(&MonitorTotals::default(), &track.in_table));
        let listed = self.listed.iter().filter(|one| one.key == key).cloned().collect();
        let filled_rows = tracks.iter().map(|track| track.filled_rows).sum();
        Self { rows: totals.rows, filled_rows, totals, listed, tracks, least: self.least, records: None }
    }

    pub fn with_charts(mut self, width: usize, by_key: bool) -> Self {
        self.records = Some(Records::new(width, by_key));
        self
    }

    pub fn without_charts(mut self) -> Self {
        self.records = None;
        self
    }

    pub fn has_charts(&self, width: usize) -> bool {
        self.records.as_ref().is_some_and(|records| records.fits(width))
    }

    pub fn is_too_short(&self) -> bool {
        !self.tracks.iter().any(|track| track.is_ready)
    }

    pub fn knows_times(&self) -> bool {
        self.tracks.iter().any(|track| !track.recent.is_empty())
    }

    /// `place` is the index of the key. If `accepts` is true and there are enough rows since the incident began, the
    /// most recent rows become the reference.
    pub fn step(
        &mut self,
        (place, key): (usize, &str),
        monitor: &mut Monitor,
        row: &RowAt<'_>,
        (names, accepts): (&[String], bool),
    ) -> Result<Seen, Error> {
        let has_begun = self.tracks.get(place).is_some_and(|track| track.has_begun);
        if !has_begun {
            monitor.begin_table();
        }
        let (before, carried) = (monitor.totals(), monitor.open_incident().copied().filter(|_| !has_begun));
        let mut verdict = monitor.step_numbered(row.number, row.cells)?;
        if accepts && let Ok(closed) = monitor.accept() {
            verdict.accepted = true;
            verdict.closed = verdict.closed.or(closed);
        }
        if place == self.tracks.len() {
            self.tracks.push(Track::new(key));
        }
        // The row numbers of an incident of an earlier table are those of that table.
        let track = &mut self.tracks[place];
        if let Some(incident) = carried {
            track.carried = Some((incident.incident, row.number));
            let times = Times { start: row.time.into(), end: String::new(), seconds: row.seconds };
            track.told = Told { times, reported: row.time.into(), ..Told::default() };
            self.totals.incidents += u64::from(track.tell(&self.least, &incident, None));
        }
        let record = self.records.as_mut().and_then(|records| records.of(place));
        record.into_iter().for_each(|record| record.enter(&verdict, row.seconds, row.cells, monitor));
        self.count(place, &before, row, monitor);
        let begins_event = verdict.alarm && monitor.open_event().is_some_and(|event| event.start == verdict.row);
        let (found, is_told) = self.find(place, &verdict, row, names);
        found.iter().for_each(|occurrence| self.list(occurrence));
        let opened = if is_told { self.open_incident(place, names) } else { None };
        Ok(Seen { verdict, begins_event, opened, found })
    }

    fn count(&mut self, place: usize, before: &MonitorTotals, row: &RowAt<'_>, monitor: &Monitor) {
        let mut after = monitor.totals();
        let has_gap = row.cells.iter().any(|x| x.is_nan());
        self.rows += 1;
        let filled = u64::from(has_gap && after.passed_over == before.passed_over);
        self.filled_rows += filled;
        after.incidents = before.incidents;
        self.totals.add_since(before, &after);
        let track = &mut self.tracks[place];
        track.has_begun = true;
        track.filled_rows += filled;
        track.in_table.add_since(before, &after);
        track.round(row.number, monitor.rounded_columns());
        track.update(monitor);
    }

    /// Returns the entries that a row revealed, and true if the ongoing incident is reported now.
    fn find(&mut self, place: usize, verdict: &Verdict, row: &RowAt<'_>, names: &[String]) -> (Vec<Occurrence>, bool) {
        let most = (REMEMBERED_IN_ALL / self.tracks.len()).clamp(LEAST_REMEMBERED, REMEMBERED);
        let track = &mut self.tracks[place];
        let mut found = Vec::new();
        if let Some(event) = &verdict.event {
            let times = std::mem::take(&mut track.event);
            found.push(Occurrence::of_event(event, &track.key, times, names));
        }
        if !row.time.is_empty() {
            track.remember(verdict.row, row.time, row.seconds, most);
            if let Some(event) = track.open.filter(|_| verdict.alarm) {
                if event.start == verdict.row {
                    track.event = Times { start: row.time.to_owned(), end: String::new(), seconds: row.seconds };
                }
                row.time.clone_into(&mut track.event.end);
            }
        }
        // One row may end an incident and open another. The ended one needs the times so far.
        let least = self.least;
        let ends = |track: &mut Track, closed: &Incident| {
            // An incident that ended just before this table was never marked as reported here.
            track.told.is_told |= least.is_reached(closed, None);
            track.entry(closed, names)
        };
        let is_another = verdict.opened.zip(verdict.closed).is_some_and(|(new, old)| new.incident != old.incident);
        found.extend(verdict.closed.filter(|_| is_another).map(|closed| ends(track, &closed)));
        if let Some(opened) = &verdict.opened {
            let mut times = track.times(opened.start, opened.reported);
            let reported = std::mem::take(&mut times.end);
            track.told = Told { times, reported, ..Told::default() };
        }
        if verdict.incident.is_some() {
            track.told.stuck = track.told.stuck.or(verdict.stuck);
            row.time.clone_into(&mut track.told.times.end);
            if track.incident.is_some_and(|incident| incident.peak == verdict.row) {
                row.time.clone_into(&mut track.told.peak);
            }
        }
        let is_told = verdict.opened.or(track.incident).is_some_and(|one| track.tell(&self.least, &one, row.seconds));
        self.totals.incidents += u64::from(is_told);
        found.extend(verdict.closed.filter(|_| !is_another).map(|closed| ends(track, &closed)));
        let key = track.key.as_str();
        if verdict.accepted {
            found.push(Occurrence::of_acceptance(verdict.row, key, track.times(verdict.row, verdict.row)));
        }
        if let Some(change) = &verdict.change {
            found.push(Occurrence::of_change(change, key, track.times(change.start, change.reported), names));
        }
        (found, is_told)
    }

    /// Makes the most recent rows the reference. Returns the incident that this ends. `next` is the number of the next
    /// row.
    pub fn accept(
        &mut self,
        place: usize,
        monitor: &mut Monitor,
        next: u64,
        names: &[String],
    ) -> Result<Option<Occurrence>, Error> {
        let before = monitor.totals();
        let closed = monitor.accept()?;
        let closed = self.refresh(place, (monitor, &before), closed, names);
        let Some(track) = self.tracks.get(place) else { return Ok(None) };
        // The next row has the usual values of the new reference.
        self.records.as_mut().and_then(|records| records.of(place)).into_iter().for_each(|record| record.usual.clear());
        let row = next.saturating_sub(1);
        let entry = Occurrence::of_acceptance(row, &track.key, track.times(row, row));
        closed.iter().chain([&entry]).for_each(|one| self.list(one));
        Ok(closed)
    }

    /// Records a change between rows. Returns the entry of the incident that it ended.
    fn refresh(
        &mut self,
        place: usize,
        (monitor, before): (&Monitor, &MonitorTotals),
        ended: Option<Incident>,
        names: &[String],
    ) -> Option<Occurrence> {
        let track = self.tracks.get_mut(place)?;
        track.update(monitor);
        track.in_table.add_since(before, &track.totals);
        self.totals.add_since(before, &track.totals);
        ended.map(|one| track.entry(&one, names))
    }

    /// Ends the ongoing event, and an incident that is over but could reopen. Returns their entries.
    pub fn close(&mut self, place: usize, monitor: &mut Monitor, names: &[String]) -> Vec<Occurrence> {
        let before = monitor.totals();
        let (event, incident) = (monitor.close_event(), monitor.close_incident());
        let incident = self.refresh(place, (monitor, &before), incident, names);
        let event =
            self.tracks.get_mut(place).zip(event).map(|(track, event)| {
                Occurrence::of_event(&event, &track.key, std::mem::take(&mut track.event), names)
            });
        let closed: Vec<Occurrence> = incident.into_iter().chain(event).collect();
        closed.iter().for_each(|one| self.list(one));
        closed
    }

    pub fn open_incident(&self, place: usize, names: &[String]) -> Option<Occurrence> {
        self.tracks.get(place)?.open_incident(names)
    }

    pub fn open_incidents(&self, names: &[String]) -> Vec<Occurrence> {
        self.tracks.iter().filter_map(|track| track.open_incident(names)).collect()
    }

    pub fn closing_incidents(&self, names: &[String]) -> Vec<Occurrence> {
        self.tracks.iter().filter_map(|track| track.closing_incident(names)).collect()
    }

    fn list(&mut self, occurrence: &Occurrence) {
        if self.listed.len() == LISTED && occurrence.is_incident() {
            let weakest = |a: &&Occurrence, b: &&Occurrence| {
                (a.is_incident(), a.strength).partial_cmp(&(b.is_incident(), b.strength)).unwrap_or(Ordering::Equal)
            };
            let least = self.listed.iter().min_by(weakest).filter(|one| weakest(one, &occurrence) == Ordering::Less);
            if let Some(place) = least.and_then(|least| self.listed.iter().position(|one| one == least)) {
                self.listed.remove(place);
            }
        }
        let is_listed = occurrence.incident.is_none() || occurrence.is_incident();
        if is_listed && self.listed.len() < LISTED {
            self.listed.push(occurrence.clone());
        }
    }

    pub(super) fn listed_now(&self, names: &[String]) -> Vec<Occurrence> {
        let open = self.tracks.iter().flat_map(|track| track.open_occurrences(names));
        self.listed.iter().cloned().chain(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{Facts, Inside, page};
    use crate::{from_text, to_text};
    use eigenhedge::{Fleet, Limit, MonitorOptions, POOL_PARTS, streams};

    const KEYS: [&str; 3] = ["left", "middle", "right"];

    fn names() -> Vec<String> {
        (0..6).map(|column| format!("sensor {column}")).collect()
    }

    fn facts(by: Option<&str>) -> Facts {
        Facts {
            source: "plant/rows.csv".into(),
            columns: names(),
            time: Some("time".into()),
            by: by.map(str::to_owned),
            first_line: Some(2),
            skipped: 0,
            limit: Limit::default(),
            reference: None,
            in_memory: 3,
            running: None,
        }
    }

    /// Feeds rows to a journal, with a fault from row 1200 on. After the row with index `cut`, the
    /// journal is saved and restored.
    fn recorded(cut: Option<usize>) -> (Fleet<Monitor>, Journal) {
        let monitor = Monitor::new(MonitorOptions { warm_up: Some(150), ..MonitorOptions::default() }, 6).unwrap();
        let mut fleet = Fleet::of_monitors(monitor).unwrap();
        let mut journal = Journal::default().with_charts(6, true);
        for (t, row) in streams::iid(6, 2, 0.3, 1800, 3).rows.iter().enumerate() {
            let mut cells = row.clone();
            cells[4] += if t >= 1200 { 8.0 } else { 0.0 };
            cells[1] = if t % 100 == 50 { f64::NAN } else { cells[1] };
            let (key, time) = (KEYS[t % 3], format!("minute {t}"));
            let row = RowAt { number: t as u64, cells: &cells, time: &time, seconds: Some(60.0 * t as f64) };
            let place = (fleet.position(key).unwrap_or(fleet.keys().len()), key);
            fleet.with_pool(key, POOL_PARTS, |monitor| journal.step(place, monitor, &row, (&names(), false))).unwrap();
            if cut == Some(t) {
                journal = from_text(&to_text(&journal)).unwrap();
            }
        }
        (fleet, journal)
    }

    #[test]
    fn saving_and_restoring_changes_nothing() {
        let text = |cut| to_text(&recorded(cut).1);
        for cut in [0, 1, 700, 1250, 1799] {
            assert_eq!(text(None), text(Some(cut)), "{cut}");
        }
    }

    #[test]
    fn totals_are_those_of_the_monitors() {
        let (mut fleet, mut journal) = recorded(None);
        for (place, key) in KEYS.iter().enumerate() {
            fleet.with(key, |monitor| Ok(_ = journal.close(place, monitor, &names()))).unwrap();
            let monitor = fleet.get(key).unwrap().unwrap();
            assert_eq!(journal.tracks[place].in_table, monitor.totals(), "{key}");
            assert_eq!(journal.of_key(key).totals, monitor.totals(), "{key}");
        }
        let sum = |of: fn(&MonitorTotals) -> u64| journal.tracks.iter().map(|track| of(&track.in_table)).sum::<u64>();
        assert_eq!((journal.rows, journal.totals.rows), (1800, 1800));
        let filled = KEYS.map(|key| journal.of_key(key).filled_rows);
        assert_eq!((journal.filled_rows, filled.iter().sum()), (18, 18), "{filled:?}");
        assert!(filled.iter().all(|rows| *rows > 0), "{filled:?}");
        assert_eq!(journal.totals.alarms, sum(|totals| totals.alarms));
        assert_eq!(journal.totals.events, sum(|totals| totals.events));
        let events = journal.listed.iter().filter(|one| one.is_event()).count();
        assert_eq!(events as u64, journal.totals.events);
    }

    #[test]
    fn a_fault_is_listed_with_its_time_and_cause_and_leads_the_page() {
        let (_, journal) = recorded(None);
        let faults = journal.open_incidents(&names());
        assert_eq!(faults.len(), 3, "{faults:?}");
        for fault in faults {
            assert!((1200..1260).contains(&fault.start), "{fault:?}");
            assert_eq!(fault.start_time, format!("minute {}", fault.start));
            assert_eq!(fault.start_seconds, Some(60.0 * fault.start as f64));
            assert_eq!(fault.causes[0].0, "sensor 4");
        }
        let page = page(&journal, &facts(Some("machine")), &Inside::All);
        assert_eq!(page.title, "rows.csv");
        assert!(
            page.summary[0].starts_with("3 of 3 are not normal at the end; 3 had incidents."),
            "{}",
            page.summary[0]
        );
        assert!(page.html().contains("sensor 4"));
    }

    #[test]
    fn every_reported_incident_is_listed_at_every_row_and_a_stuck_column_is_named() {
        let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(150), ..MonitorOptions::default() }, 6).unwrap();
        let (mut journal, names) = (Journal::default(), names());
        let (mut sentences, mut closing) = (Vec::new(), 0);
        let rows = streams::iid(6, 2, 0.3, 800, 3).rows;
        for (t, row) in rows.iter().enumerate() {
            let mut cells = row.clone();
            if (250..350).contains(&t) {
                cells[4] += if t < 320 { 8.0 } else { 24.0 };
            }
            // Stuck for a while before the peak of the fault.
            if (260..310).contains(&t) {
                cells[0] = rows[260][0];
            }
            let row = RowAt { number: t as u64, cells: &cells, time: "", seconds: None };
            journal.step((0, ""), &mut monitor, &row, (&names, false)).unwrap();
            let (open, over) = (journal.open_incidents(&names), journal.closing_incidents(&names));
            let past = journal.listed.iter().filter(|one| one.is_incident()).count();
            assert_eq!((open.len() + over.len() + past) as u64, journal.totals.incidents, "{t}");
            sentences.extend(open.iter().map(super::super::headline::sentence));
            closing += over.len();
        }
        assert!(journal.totals.incidents > 0 && closing > 10, "{closing}");
        let wanted = "sensor 4 unusual and sensor 0 stuck since row 25";
        assert!(sentences.iter().any(|sentence| sentence.starts_with(wanted)), "{:?}", sentences.last());
    }

    #[test]
    fn times_of_many_keys_take_bounded_memory() {
        let keys: Vec<String> = (0..40_000).map(|key| key.to_string()).collect();
        let mut journal = Journal::new(keys.iter().map(String::as_str));
        let monitor = &mut Monitor::new(MonitorOptions::default(), 6).unwrap();
        for t in 0..200 {
            let row = RowAt { number: t, cells: &[0.0; 6], time: "now", seconds: Some(t as f64) };
            journal.step((7, "7"), monitor, &row, (&names(), false)).unwrap();
        }
        assert_eq!(journal.tracks[7].recent.len(), LEAST_REMEMBERED);
    }
}
