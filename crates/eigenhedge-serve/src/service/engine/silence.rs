//! Silent devices: keys without rows for longer than allowed. A stream without keys is one device. Silence is measured in
//! wall-clock time and in stream time, which advances with the rows of all keys: a pause of all keys advances it by at
//! most half of the allowed time. A learned limit is twice the second longest interval of the key, so a single failure
//! does not raise it but regular pauses do. It is at least ten mean intervals and a minute.

use eigenhedge_io::iso_time;
use eigenhedge_pages::monitor::{Occurrence, Times};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

const LEARNED: u64 = 20;
/// Severity of a silence (critical).
const SEVERITY: f64 = 3.0;
const PAST: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SilentAfter {
    Seconds(f64),
    Learned,
}

#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    pub key: &'a str,
    pub row: u64,
    pub time: &'a str,
    pub seconds: Option<f64>,
    pub at: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Silences {
    keys: BTreeMap<String, Device>,
    /// Stream time in seconds.
    clock: f64,
    latest: Option<f64>,
    /// Stream time and wall-clock time until which no further key can become silent.
    due: [f64; 2],
    pub open: BTreeMap<String, Occurrence>,
    pub past: VecDeque<Occurrence>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Device {
    row: u64,
    time: String,
    seconds: f64,
    /// Stream time and wall-clock time of the last row.
    last: [f64; 2],
    intervals: u64,
    sum: f64,
    longest: [f64; 2],
    silences: u64,
}

impl Device {
    fn allowed(&self, after: SilentAfter) -> f64 {
        match after {
            SilentAfter::Seconds(seconds) => seconds,
            SilentAfter::Learned if self.intervals < LEARNED => f64::INFINITY,
            SilentAfter::Learned => (2.0 * self.longest[1]).max(10.0 * self.sum / self.intervals as f64).max(60.0),
        }
    }

    fn learn(&mut self, interval: f64) {
        self.intervals += 1;
        self.sum += interval;
        if interval > self.longest[0] {
            self.longest = [interval, self.longest[0]];
        } else if interval > self.longest[1] {
            self.longest[1] = interval;
        }
    }
}

impl Default for Silences {
    fn default() -> Self {
        let (keys, open, past) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        Self { keys, clock: 0.0, latest: None, due: [f64::INFINITY; 2], open, past }
    }
}

impl Silences {
    pub fn due(&self) -> f64 {
        self.due[1]
    }

    /// Returns the silences that start before the row, its own included, and the silence that it ends.
    pub fn enter(&mut self, after: SilentAfter, row: &Arrival<'_>) -> (Vec<Occurrence>, Option<Occurrence>) {
        let moment = row.seconds.unwrap_or(row.at);
        let is_known = self.keys.contains_key(row.key);
        let opened = self.advance(after, row.key, moment);
        let latest = self.latest.unwrap_or(moment);
        let device = self.keys.entry(row.key.to_owned()).or_default();
        if is_known {
            device.learn((moment - device.seconds).max(0.0));
        }
        let written = if row.time.is_empty() { format!("{}Z", iso_time(row.at.floor())) } else { row.time.to_owned() };
        (device.row, device.time, device.seconds) = (row.row, written, moment);
        device.last = [self.clock - (latest - moment).max(0.0), row.at];
        let allowed = device.allowed(after);
        self.due = std::array::from_fn(|i| self.due[i].min(device.last[i] + allowed));
        let end = (row.row, device.time.clone());
        let ended = self.open.remove(row.key).map(|mut ended| {
            (ended.end, ended.end_time) = end;
            self.end(ended)
        });
        (opened, ended)
    }

    /// Returns the silences that start by then. They do not depend on how rows are split into requests.
    fn advance(&mut self, after: SilentAfter, key: &str, moment: f64) -> Vec<Occurrence> {
        let latest = *self.latest.get_or_insert(moment);
        if moment <= latest {
            return Vec::new();
        }
        self.clock += self.shortened(after, key, moment - latest);
        self.latest = Some(moment);
        self.look(after, None)
    }

    /// Shortens the pause of all keys before a row of `key` to at most half of each limit.
    fn shortened(&self, after: SilentAfter, key: &str, pause: f64) -> f64 {
        let allowed = self.keys.get(key).map_or_else(|| Device::default().allowed(after), |one| one.allowed(after));
        let pause = pause.min(allowed / 2.0);
        // No limit is shorter than the time until the first key can become silent.
        if pause <= (self.due[0] - self.clock) / 2.0 {
            return pause;
        }
        let others = self.keys.iter().filter(|(key, _)| !self.open.contains_key(*key));
        others.map(|(_, device)| device.allowed(after) / 2.0).fold(pause, f64::min)
    }

    fn end(&mut self, mut silence: Occurrence) -> Occurrence {
        silence.incident.iter_mut().for_each(|facts| facts.is_over = true);
        self.past.push_back(silence.clone());
        if self.past.len() > PAST {
            self.past.pop_front();
        }
        silence
    }

    /// Returns the silences that start now. `clock` has the time and the earliest time at which rows could arrive.
    pub fn look(&mut self, after: SilentAfter, clock: Option<(f64, f64)>) -> Vec<Occurrence> {
        if self.clock <= self.due[0] && clock.is_none_or(|(now, _)| now < self.due[1]) {
            return Vec::new();
        }
        let (mut opened, mut due) = (Vec::new(), [f64::INFINITY; 2]);
        for (key, device) in &mut self.keys {
            if self.open.contains_key(key) {
                continue;
            }
            let allowed = device.allowed(after);
            let since = clock.map_or(device.last[1], |(_, since)| device.last[1].max(since));
            let ends = [device.last[0] + allowed, since + allowed];
            if self.clock <= ends[0] && clock.is_none_or(|(now, _)| now <= ends[1]) {
                due = std::array::from_fn(|i| due[i].min(ends[i]));
                continue;
            }
            device.silences += 1;
            let times = Times { start: device.time.clone(), end: String::new(), seconds: Some(device.seconds) };
            let silence = Occurrence::of_silence(key, device.silences, device.row, times, SEVERITY);
            self.open.insert(key.clone(), silence.clone());
            opened.push(silence);
        }
        self.due = due;
        opened
    }

    pub fn forget(&mut self, key: &str) -> Option<Occurrence> {
        let ended = self.open.remove(key)?;
        self.keys.remove(key);
        Some(self.end(ended))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, seconds: f64) -> Arrival<'_> {
        Arrival { key, row: seconds as u64, time: "", seconds: Some(seconds), at: 1e9 }
    }

    #[test]
    fn a_key_is_silent_once_and_until_its_next_row() {
        for after in [SilentAfter::Seconds(600.0), SilentAfter::Learned] {
            let mut silences = Silences::default();
            let mut opened = Vec::new();
            for t in 0..300 {
                let seconds = 60.0 * f64::from(t);
                for key in ["a", "b", "c"] {
                    if key != "b" || !(100..150).contains(&t) {
                        let (silent, ended) = silences.enter(after, &row(key, seconds));
                        assert_eq!(ended.is_some(), key == "b" && t == 150, "{key} {t}");
                        opened.extend(silent.into_iter().map(|one| (one.key, one.start, t)));
                    }
                }
                assert_eq!(silences.look(after, None), []);
            }
            assert_eq!(opened, [("b".to_owned(), 99 * 60, 110)]);
            assert_eq!((silences.open.len(), silences.past.len()), (0, 1));
        }
    }

    #[test]
    fn a_pause_of_all_keys_is_short_for_the_shortest_limit() {
        let mut silences = Silences::default();
        for t in (0..=250).chain(340..=400) {
            for key in ["slow", "fast"] {
                if key == "fast" || t % 10 == 0 {
                    let entered = silences.enter(SilentAfter::Learned, &row(key, 60.0 * f64::from(t)));
                    assert_eq!(entered, (Vec::new(), None), "{key} {t}");
                }
            }
        }
    }

    #[test]
    fn a_pause_of_all_keys_is_not_the_silence_of_one() {
        let (after, mut silences) = (SilentAfter::Seconds(600.0), Silences::default());
        for seconds in [0.0, 60.0, 120.0, 7200.0, 7260.0] {
            for key in ["a", "b"] {
                assert_eq!(silences.enter(after, &row(key, seconds)), (Vec::new(), None));
            }
        }
        // In wall-clock time, the time before the service started does not count.
        assert_eq!(silences.look(after, Some((1e9 + 5000.0, 1e9 + 4500.0))), []);
        assert_eq!(silences.look(after, Some((1e9 + 5101.0, 1e9 + 4500.0))).len(), 2);
        assert!(silences.forget("a").is_some() && silences.open.len() == 1);
    }
}
