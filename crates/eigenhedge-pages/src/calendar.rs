//! Ticks of a time axis: round dates and times of day, in UTC.

/// Possible steps between ticks in seconds, up to two weeks.
const STEPS: [f64; 16] = [
    1.0,
    5.0,
    15.0,
    30.0,
    60.0,
    300.0,
    900.0,
    1800.0,
    3600.0,
    10800.0,
    21600.0,
    43200.0,
    86400.0,
    172_800.0,
    432_000.0,
    1_209_600.0,
];
const DAY: f64 = 86400.0;
/// Possible steps between ticks in months.
const MONTHS: [i64; 12] = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000];
/// Largest absolute time that is shown as a date, in seconds since 1970. Dates range from about the year -6000 to 9900.
const LAST: f64 = 2.5e11;

/// Returns at most about `wanted` ticks between two times, with their labels. There are none outside the calendar.
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
    let month = |seconds: f64| {
        let (year, month, _) = date(seconds);
        12 * year + month - 1
    };
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

/// Formats a time in seconds since 1970, such as `2024-01-01 00:00:59`.
pub fn moment(seconds: f64) -> String {
    if seconds.abs() < LAST { label(seconds, 1.0, f64::INFINITY) } else { crate::number::short(seconds) }
}

/// Returns the label of a tick: its date, or its time of day if steps are shorter than a day. If the axis is longer
/// than a day, times of day come with their date.
fn label(seconds: f64, step: f64, span: f64) -> String {
    let (year, month, day) = date(seconds);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if step >= DAY {
        return date;
    }
    let second = seconds.rem_euclid(DAY) as i64;
    let mut time = format!("{:02}:{:02}", second / 3600, second / 60 % 60);
    if step < 60.0 {
        time += &format!(":{:02}", second % 60);
    }
    if span <= DAY { time } else { format!("{date} {time}") }
}

/// Returns the year, month and day in the Gregorian calendar.
fn date(seconds: f64) -> (i64, i64, i64) {
    // Years are counted from March, in eras of 400 years.
    let days = (seconds / DAY).floor() as i64 + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + 400 * era + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

/// Returns the start of a month in seconds since 1970. Months are counted from January of the year 0.
fn beginning(month: i64) -> f64 {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * ((month + 9) % 12) + 2) / 5 - 719_468;
    DAY * days as f64
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
            assert_eq!(date(beginning(month)), (month.div_euclid(12), month.rem_euclid(12) + 1, 1));
        }
    }
}
