//! Checks of the order of times: steps back, duplicates, and the longest gap.

use crate::saved::count;
use chrono::{DateTime, Datelike, Weekday};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of keys whose last times are stored. Times of further keys are not compared.
const MOST_KEYS: usize = 10_000;
const STEPS: usize = 101;
const LONG: f64 = 10.0;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct TimeOrder {
    /// Most recent time of each key. Without a key column, there is one empty key.
    last: BTreeMap<String, f64>,
    #[serde(deserialize_with = "count")]
    back: u64,
    #[serde(deserialize_with = "count")]
    doubled: u64,
    longest: Option<(f64, u64)>,
    steps: Vec<f64>,
    /// Latest time for charts, in a table without keys (see [`Self::in_order`]).
    #[serde(default)]
    latest: Option<f64>,
    /// Index of the row before which the clock went back by an hour at the end of summer time.
    #[serde(default)]
    summer_end: Option<u64>,
    /// Offset from UTC, in seconds, of the first time of a table with a time zone.
    #[serde(default)]
    pub offset: Option<i32>,
}

const HOUR: f64 = 3600.0;

impl TimeOrder {
    pub fn goes_back(&self) -> bool {
        self.back > 0
    }

    pub fn continue_from(&mut self, offset: i32, last: Option<f64>) {
        self.offset = Some(offset);
        self.last.extend(last.map(|last| (String::new(), last)));
    }

    /// Returns true if most steps go back. Only [`STEPS`] steps forward are counted, so as many decide against it.
    pub fn is_newest_first(&self) -> bool {
        self.steps.len() < STEPS && self.back > self.steps.len() as u64
    }

    pub fn last(&self, key: &str) -> Option<f64> {
        self.last.get(key).copied()
    }

    /// Returns the time for charts: after a step back of about an hour, the latest time until the rows catch up.
    fn in_order(&mut self, time: f64) -> f64 {
        let is_forward = self.steps.len() as u64 > self.back;
        match self.latest {
            Some(latest) if time < latest && latest - time <= HOUR + self.usual().min(HOUR) && is_forward => latest,
            _ => *self.latest.insert(time),
        }
    }

    fn usual(&self) -> f64 {
        let mut steps = self.steps.clone();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or(f64::INFINITY)
    }

    /// Returns true for a step back of an hour on a Sunday in March, April, October or November.
    fn ends_summer(&self, time: f64, step: f64) -> bool {
        let usual = self.usual();
        let date = DateTime::from_timestamp(time.floor() as i64, 0);
        (step + HOUR - usual).abs() <= usual
            && usual < HOUR
            && date.is_some_and(|date| date.weekday() == Weekday::Sun && matches!(date.month(), 3 | 4 | 10 | 11))
    }

    pub fn enter(&mut self, key: &str, time: f64, row: u64) -> f64 {
        let Some(last) = self.last.get_mut(key) else {
            if self.last.len() < MOST_KEYS {
                self.last.insert(key.to_owned(), time);
            }
            self.latest = Some(time);
            return time;
        };
        let step = time - std::mem::replace(last, time);
        if step > 0.0 {
            if self.steps.len() < STEPS {
                self.steps.push(step);
            }
            if self.longest.is_none_or(|(longest, _)| step > longest) {
                self.longest = Some((step, row));
            }
        } else if step == 0.0 {
            self.doubled += 1;
        } else if self.summer_end.is_none() && self.ends_summer(time, step) {
            self.summer_end = Some(row);
        } else {
            self.back += 1;
        }
        if key.is_empty() { self.in_order(time) } else { time }
    }

    pub fn sentence(&self) -> Option<String> {
        let usual = self.usual();
        let counted = |count: u64, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        };
        let is_reversed = self.is_newest_first() && self.back > 10 * self.steps.len() as u64;
        let parts = [
            self.summer_end.map(|row| format!("the clock goes back an hour before row {row}, the end of summer time")),
            match is_reversed {
                true => Some("the newest come first; the first rows in the file are the reference".to_owned()),
                false => counted(self.back, "goes back", "go back"),
            },
            counted(self.doubled, "is doubled", "are doubled"),
            (self.longest.filter(|(gap, _)| *gap > LONG * usual))
                .map(|(gap, row)| format!("longest gap {} before row {row}", spoken(gap))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn spoken(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")];
    let (size, name) = UNITS.into_iter().find(|(size, _)| seconds >= 2.0 * size).unwrap_or(UNITS[3]);
    let number = format!("{:.1}", seconds / size);
    format!("{} {name}", number.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_out_of_order_are_counted_by_key() {
        let mut order = TimeOrder::default();
        for row in 0..100u32 {
            order.enter("", 60.0 * f64::from(row), row.into());
        }
        assert_eq!(order.sentence(), None);
        order.enter("", 60.0, 100);
        order.enter("", 60.0, 101);
        order.enter("", 60.0 + 30.0 * 86400.0, 102);
        assert_eq!(order.sentence().unwrap(), "1 goes back, 1 is doubled, longest gap 30 days before row 102");
        // Minutes over the end of summer time. The time for charts stays constant for an hour.
        let mut clock = TimeOrder::default();
        let start = crate::dates::seconds("2024-10-27T01:00").unwrap();
        let times: Vec<f64> = (0..120).chain(60..200).map(|minute| start + 60.0 * f64::from(minute)).collect();
        let shown: Vec<f64> = (0..).zip(&times).map(|(row, time)| clock.enter("", *time, row)).collect();
        assert_eq!(clock.sentence().unwrap(), "the clock goes back an hour before row 120, the end of summer time");
        assert!(shown.is_sorted() && shown[..120] == times[..120] && shown[180..] == times[180..]);
        let mut newest = TimeOrder::default();
        (0..100).for_each(|row| {
            let _ = newest.enter("", -60.0 * row as f64, row);
        });
        assert!(newest.sentence().unwrap().starts_with("the newest come first"));
        assert!(newest.is_newest_first());
        let mut late = TimeOrder::default();
        (0..2000u32).for_each(|row| {
            let _ = late.enter("", f64::from(row) - 2.0 * f64::from(row % 3), row.into());
        });
        assert!(late.back > STEPS as u64 && !late.is_newest_first());
        let mut keyed = TimeOrder::default();
        for (row, key) in ["a", "b", "c"].iter().cycle().take(60).enumerate() {
            keyed.enter(key, (row / 3) as f64, row as u64);
        }
        assert_eq!(keyed.sentence(), None);
    }
}
