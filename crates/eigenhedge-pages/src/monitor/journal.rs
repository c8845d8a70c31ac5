//! Journal of a table: totals, events and page data of its monitors, in bounded memory.

use super::occurrence::{Occurrence, Times};
use super::record::Records;
use super::track::Track;
use eigenhedge::{DriftReport, Error, Monitor, MonitorTotals, Verdict};
use serde::{Deserialize, Serialize};

/// Maximum number of recent rows per key whose times are kept. They are needed because a change starts before it is
/// detected.
const REMEMBERED: usize = 128;
/// Maximum number of rows over all keys whose times are kept.
const REMEMBERED_IN_ALL: usize = 1 << 17;
/// Minimum number of recent rows per key whose times are kept, however many keys there are.
const LEAST_REMEMBERED: usize = 8;
/// Maximum number of events and changes kept for the summary.
const LISTED: usize = 1000;

/// Record of everything that the monitors reported about a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    pub rows: u64,
    /// Number of rows whose missing cells were filled in.
    pub filled_rows: u64,
    pub totals: MonitorTotals,
    /// First complete events, drifts and changes, at most 1000.
    pub listed: Vec<Occurrence>,
    /// State of the monitor of each key, in the order of the keys.
    pub tracks: Vec<Track>,
    pub(super) records: Option<Records>,
}

#[derive(Debug, Clone, Copy)]
pub struct RowAt<'a> {
    pub number: u64,
    pub cells: &'a [f64],
    /// Time as written in the table, or an empty string if unknown.
    pub time: &'a str,
    /// Time in seconds since 1970, or `None` if unknown.
    pub seconds: Option<f64>,
}

#[derive(Debug)]
pub struct Seen {
    pub verdict: Verdict,
    /// True if the row is the first alarm of an event.
    pub begins_event: bool,
    /// Events, drifts and changes that this row revealed.
    pub found: Vec<Occurrence>,
}

impl Journal {
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self { tracks: keys.into_iter().map(Track::new).collect(), ..Self::default() }
    }

    /// Adds a monitor, with the totals of all its rows. This method must be called before the first row of the journal.
    pub fn with_monitor(mut self, key: &str, monitor: &Monitor) -> Self {
        let track = Track::of(key, monitor);
        self.rows += track.totals.rows;
        self.totals.add_since(&MonitorTotals::default(), &track.totals);
        self.tracks.push(track);
        self
    }

    /// Returns the part of the journal that concerns one key, without charts.
    pub fn of_key(&self, key: &str) -> Self {
        let tracks: Vec<Track> = self.tracks.iter().filter(|track| track.key == key).cloned().collect();
        let mut totals = MonitorTotals::default();
        tracks.iter().for_each(|track| totals.add_since(&MonitorTotals::default(), &track.in_table));
        let listed = self.listed.iter().filter(|one| one.key == key).cloned().collect();
        let filled_rows = tracks.iter().map(|track| track.filled_rows).sum();
        Self { rows: totals.rows, filled_rows, totals, listed, tracks, records: None }
    }

    /// Starts recording data for charts of rows with `width` cells. If `by_key` is true, the charts of each key have
    /// less detail than those of a single monitor.
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

    /// Returns true if any recent row had a time.
    pub fn knows_times(&self) -> bool {
        self.tracks.iter().any(|track| !track.recent.is_empty())
    }

    /// Passes a row to the monitor and records the result. `place` is the position of the key. A new key comes after
    /// all others. If `accepts` is true and there are enough rows, the most recent rows become the reference.
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
        let (before, carried) = (monitor.totals(), monitor.open_drift().copied().filter(|_| !has_begun));
        let mut verdict = monitor.step_numbered(row.number, row.cells)?;
        if accepts {
            // There may be too few rows since the drift began. Then the next row tries again.
            verdict.accepted |= monitor.accept().is_ok();
        }
        if place == self.tracks.len() {
            self.tracks.push(Track::new(key));
        }
        // A drift may have begun in another table, whose rows have other numbers.
        let track = &mut self.tracks[place];
        track.carried = track.carried.or(carried.map(|report| (report.since, row.number)));
        verdict.drift_since = verdict.drift_since.map(|since| track.row_here(since));
        let carried = carried.filter(|report| report.since == monitor.open_drift().map_or(u64::MAX, |open| open.since));
        let record = self.records.as_mut().and_then(|records| records.of(place));
        record.into_iter().for_each(|record| record.enter(&verdict, row.seconds, row.cells, monitor));
        self.count(place, &before, row, monitor);
        let begins_event = verdict.alarm && monitor.open_event().is_some_and(|event| event.start == verdict.row);
        let mut found = self.find(place, &verdict, row, names);
        if let Some(report) = carried {
            found.insert(0, self.carry_over(place, &report, names));
        }
        found.iter().for_each(|occurrence| self.list(occurrence));
        Ok(Seen { verdict, begins_event, found })
    }

    /// Counts a drift that began before this table. Returns an entry that starts at the first row of the table.
    fn carry_over(&mut self, place: usize, report: &DriftReport, names: &[String]) -> Occurrence {
        let track = &mut self.tracks[place];
        track.in_table.drifts += 1;
        self.totals.drifts += 1;
        let row = track.row_here(report.since);
        track.drift = track.times(row, row);
        let mut here = *report;
        (here.since, here.reported) = (row, row);
        Occurrence::of_drift("drift", &here, row, &track.key, track.times(row, row), names)
    }

    fn count(&mut self, place: usize, before: &MonitorTotals, row: &RowAt<'_>, monitor: &Monitor) {
        let after = monitor.totals();
        let has_gap = row.cells.iter().any(|x| x.is_nan());
        self.rows += 1;
        let filled = u64::from(has_gap && after.passed_over == before.passed_over);
        self.filled_rows += filled;
        self.totals.add_since(before, &after);
        let track = &mut self.tracks[place];
        track.has_begun = true;
        track.filled_rows += filled;
        track.in_table.add_since(before, &after);
        track.update(monitor);
    }

    /// Returns the events, drifts and changes that a row revealed.
    fn find(&mut self, place: usize, verdict: &Verdict, row: &RowAt<'_>, names: &[String]) -> Vec<Occurrence> {
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
        if let Some(report) = &verdict.drift {
            track.drift = track.times(report.since, report.reported);
        }
        let key = track.key.as_str();
        if let Some(report) = &verdict.drift {
            let times = track.drift.clone();
            found.push(Occurrence::of_drift("drift", report, report.reported, key, times, names));
        }
        if let Some(report) = &verdict.returned {
            let mut here = *report;
            here.since = track.row_here(report.since);
            // The report of a drift that began before this table has no row here.
            here.reported = if here.since == report.since { report.reported } else { here.since };
            let times = track.times_of_drift(here.since, verdict.row);
            found.push(Occurrence::of_drift("returned", &here, verdict.row, key, times, names));
        }
        if verdict.accepted {
            found.push(Occurrence::of_acceptance(verdict.row, key, track.times(verdict.row, verdict.row)));
        }
        if let Some(change) = &verdict.change {
            found.push(Occurrence::of_change(change, key, track.times(change.start, change.reported), names));
        }
        found
    }

    /// Records that the most recent rows before row `next` became the reference of the monitor of a key.
    pub fn accepted(&mut self, place: usize, monitor: &Monitor, next: u64) {
        let Some(track) = self.tracks.get_mut(place) else { return };
        let before = track.totals;
        track.update(monitor);
        track.in_table.add_since(&before, &track.totals);
        self.totals.add_since(&before, &track.totals);
        let row = next.saturating_sub(1);
        let entry = Occurrence::of_acceptance(row, &track.key, track.times(row, row));
        self.list(&entry);
    }

    /// Ends the ongoing event of a monitor at the end of the table. Returns its entry, or `None` if no event is
    /// ongoing.
    pub fn close(&mut self, place: usize, monitor: &mut Monitor, names: &[String]) -> Option<Occurrence> {
        let before = monitor.totals();
        let event = monitor.close_event();
        let track = self.tracks.get_mut(place)?;
        track.update(monitor);
        track.in_table.add_since(&before, &track.totals);
        self.totals.add_since(&before, &track.totals);
        let times = std::mem::take(&mut track.event);
        let occurrence = Occurrence::of_event(&event?, &track.key, times, names);
        self.list(&occurrence);
        Some(occurrence)
    }

    fn list(&mut self, occurrence: &Occurrence) {
        if self.listed.len() < LISTED {
            self.listed.push(occurrence.clone());
        }
    }

    /// Returns the list of entries, including the ongoing events.
    pub(super) fn listed_now(&self, names: &[String]) -> Vec<Occurrence> {
        let open = self.tracks.iter().filter_map(|track| track.open_occurrence(names));
        self.listed.iter().cloned().chain(open).collect()
    }

    /// Returns true if the entry is the ongoing event of its key.
    pub(super) fn is_open(&self, one: &Occurrence) -> bool {
        let is_of = |track: &Track| track.key == one.key && track.open.is_some_and(|event| event.start == one.start);
        self.tracks.iter().any(is_of)
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

    /// Feeds rows to a journal, with a fault for all keys from row 1200 on. If `cut` is given, the journal is saved and
    /// read again after that many rows.
    fn recorded(cut: Option<usize>) -> (Fleet<Monitor>, Journal) {
        let monitor = Monitor::new(MonitorOptions::default().with_warm_up(Some(150)), 6).unwrap();
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
        let events = journal.listed.iter().filter(|one| !one.is_change() && !one.is_drift()).count();
        assert_eq!(events as u64, journal.totals.events);
    }

    #[test]
    fn a_fault_is_listed_with_its_time_and_cause_and_leads_the_page() {
        let (_, journal) = recorded(None);
        let drifts: Vec<&Occurrence> = journal.listed.iter().filter(|one| one.kind == "drift").collect();
        assert_eq!(drifts.len(), 3, "{:?}", journal.listed);
        for drift in drifts {
            assert!((1200..1260).contains(&drift.start), "{drift:?}");
            assert_eq!(drift.start_time, format!("minute {}", drift.start));
            assert_eq!(drift.start_seconds, Some(60.0 * drift.start as f64));
            assert_eq!(drift.causes[0].0, "sensor 4");
        }
        let page = page(&journal, &facts(Some("machine")), &Inside::All);
        assert_eq!(page.title, "rows.csv");
        assert_eq!(page.summary[0], "3 of 3 are in drift at the end; 3 had alarms.");
        assert!(page.html().contains("sensor 4"));
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
