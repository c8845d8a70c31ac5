//! Ticks of a time axis: round dates and times of day, in UTC.

use crate::number::short;
use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};

const STEPS: [f64; 16] = [
    1.0, 5.0, 15.0, 30.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 10800.0, 21600.0, 43200.0, 86400.0, 172800.0, 432000.0,
    1.2096e6,
];
const DAY: f64 = 86400.0;
const MONTHS: [i64; 12] = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000];
/// Times beyond this absolute value (years -6000 to 9900) have no date.
const LAST: f64 = 2.5e11;

/// Returns at most about `wanted` ticks with labels, and none beyond `LAST`.
pub fn ticks(low: f64, high: f64, wanted: usize) -> (Vec<f64>, Vec<String>) {
    if !(low.abs() < LAST && high.abs() < LAST) {
        return (vec![], vec![]);
    }
    let span = high - low;
    let most = wanted as f64;
    if let Some(step) = STEPS.into_iter().find(|step| span / step <= most) {
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first).max(-1.0) as i64 + 1;
        let ticks: Vec<f64> = (0..count).map(|i| (first + i as f64) * step).collect();
        let labels = ticks.iter().map(|tick| label(*tick, step, span)).collect();
        return (ticks, labels);
    }
    let month = |seconds: f64| at(seconds).map_or(0, |date| 12 * i64::from(date.year()) + i64::from(date.month0()));
    let (from, to) = (month(low), month(high));
    let step = MONTHS.into_iter().find(|step| (to - from) as f64 / *step as f64 <= most).unwrap_or(120_000);
    let first = from.div_euclid(step) * step;
    let months = (0..).map(|i| first + i * step).take_while(|month| *month <= to);
    let ticks = months.map(|month| (beginning(month), month)).filter(|(tick, _)| (low..=high).contains(tick));
    let name = |month: i64| {
        let (year, of_year) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        if step % 12 == 0 { format!("{year:04}") } else { format!("{year:04}-{of_year:02}") }
    };
    ticks.map(|(tick, month)| (tick, name(month))).unzip()
}

pub fn moment(seconds: f64) -> String {
    if seconds.abs() < LAST { label(seconds, 1.0, f64::INFINITY) } else { short(seconds) }
}

/// Returns the date for steps of a day or more, else the time of day, with the date if `span` is more than a day.
fn label(seconds: f64, step: f64, span: f64) -> String {
    let time = if step < 60.0 { "%H:%M:%S" } else { "%H:%M" };
    let format = match step >= DAY {
        true => "%Y-%m-%d".to_owned(),
        false if span <= DAY => time.to_owned(),
        false => format!("%Y-%m-%d {time}"),
    };
    at(seconds).map_or(String::new(), |date| date.format(&format).to_string())
}

fn at(seconds: f64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(seconds.floor() as i64, 0)
}

fn beginning(month: i64) -> f64 {
    let (year, month) = (month.div_euclid(12) as i32, month.rem_euclid(12) as u32 + 1);
    let first = NaiveDate::from_ymd_opt(year, month, 1).map(|date| date.and_time(NaiveTime::MIN).and_utc());
    first.map_or(f64::NAN, |first| first.timestamp() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_say_as_much_as_they_must() {
        const NEW_YEAR: f64 = 1_704_067_200.0;
        let cases = [
            (NEW_YEAR + 1.0, NEW_YEAR + 7.0, "00:00:05"),
            (NEW_YEAR, NEW_YEAR + 4.0 * 3600.0, "00:00 01:00 02:00 03:00 04:00"),
            (NEW_YEAR, NEW_YEAR + 1.5 * DAY, "2024-01-01 00:00 2024-01-01 12:00 2024-01-02 00:00 2024-01-02 12:00"),
            (NEW_YEAR + 1.0, NEW_YEAR + 6.0 * DAY, "2024-01-02 2024-01-04 2024-01-06"),
            (NEW_YEAR, NEW_YEAR + 130.0 * DAY, "2024-01 2024-02 2024-03 2024-04 2024-05"),
            (NEW_YEAR, NEW_YEAR + 8.0 * 365.0 * DAY, "2024 2026 2028 2030"),
            (-1.0, 1.0, "23:59:59 00:00:00 00:00:01"),
            (1e12, 2e12, ""),
        ];
        for (low, high, wanted) in cases {
            let (ticks, labels) = ticks(low, high, 5);
            assert_eq!(labels.join(" "), wanted, "{low} to {high}");
            assert!(ticks.iter().all(|tick| (low..=high).contains(tick)) && ticks.is_sorted());
        }
        assert_eq!(moment(NEW_YEAR + 59.0), "2024-01-01 00:00:59");
    }

    #[test]
    fn months_begin_on_their_first_day() {
        for month in (0..36_000).step_by(7) {
            let date = at(beginning(month)).unwrap();
            assert_eq!((12 * i64::from(date.year()) + i64::from(date.month0()), date.day()), (month, 1));
        }
    }
}
