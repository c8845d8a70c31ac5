//! Parsing and formatting of ISO 8601 dates and times.

use chrono::{DateTime, Datelike, NaiveDate, Timelike};

/// Parses a date, or a date and time such as `2024-02-29T12:30:00.5+01:00`, to seconds since 1970-01-01 UTC.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let (date, rest) = text.trim().split_at_checked(10)?;
    let mut parts = date.split('-');
    let (year, month, day) = (whole(parts.next()?, 4)?, whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    if parts.next().is_some() {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month.try_into().ok()?, day.try_into().ok()?)?;
    let midnight = date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp() as f64;
    match rest.strip_prefix(['T', 't', ' ']) {
        None if rest.is_empty() => Some(midnight),
        None => None,
        Some(time) => Some(midnight + time_of_day(time)?),
    }
}

/// Parses a time of day such as `12:30` or `12:30:00.25+01:00` to seconds since midnight UTC, which may be negative.
fn time_of_day(text: &str) -> Option<f64> {
    let zone = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (time, zone) = (text[..zone].trim_end(), &text[zone..]);
    let mut parts = time.split(':');
    let (hour, minute) = (whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    let second = match parts.next() {
        None => 0.0,
        Some(second) => {
            whole(second.get(..2)?, 2)?;
            let fraction = second[2..].strip_prefix(['.', ',']).unwrap_or("0");
            let is_plain = second.len() == 2 || matches!(second.as_bytes()[2], b'.' | b',');
            let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            (is_plain && digits).then(|| format!("{}.{fraction}", &second[..2]).parse::<f64>().ok()).flatten()?
        }
    };
    let is_over = hour > 24 || hour == 24 && (minute > 0 || second > 0.0);
    if parts.next().is_some() || is_over || minute > 59 || !(second < 61.0) {
        return None;
    }
    let shift = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [sign, ..] => {
            let digits = zone[1..].replace(':', "");
            let hours = whole(digits.get(..2)?, 2)?;
            let minutes = if digits.len() == 2 { 0 } else { whole(&digits[2..], 2)? };
            if hours > 14 || minutes > 59 {
                return None;
            }
            let shift = 3600 * hours + 60 * minutes;
            if *sign == b'-' { -shift } else { shift }
        }
    };
    Some((3600 * hour + 60 * minute - shift) as f64 + second)
}

fn whole(text: &str, digits: usize) -> Option<i64> {
    let sound = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if sound { text.parse().ok() } else { None }
}

pub(crate) fn text(seconds: i64, nanoseconds: u32, with_time: bool) -> String {
    let Some(moment) = DateTime::from_timestamp(seconds, nanoseconds) else { return seconds.to_string() };
    let (date, time) = (moment.date_naive(), moment.time());
    let date = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
    if !with_time {
        return date;
    }
    let time = format!("{date}T{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    if nanoseconds == 0 { time } else { format!("{time}.{nanoseconds:09}").trim_end_matches('0').to_owned() }
}

/// Formats seconds since 1970 as an ISO 8601 time in UTC, such as `2024-02-29T12:30:00`, to the millisecond.
pub fn iso_time(seconds: f64) -> String {
    let milliseconds = (seconds * 1e3).round();
    let whole = (milliseconds / 1e3).floor();
    text(whole as i64, (milliseconds - whole * 1e3) as u32 * 1_000_000, true)
}

/// Parses a positive duration such as `90s`, `5min`, `2h` or `1w` to seconds, or returns `None`.
pub fn duration(text: &str) -> Option<f64> {
    const UNITS: [(f64, &[&str]); 6] = [
        (1e-3, &["ms"]),
        (1.0, &["s", "sec"]),
        (60.0, &["m", "min"]),
        (3600.0, &["h", "hour"]),
        (86400.0, &["d", "day"]),
        (604_800.0, &["w"]),
    ];
    let end = text.find(|sign: char| sign.is_ascii_alphabetic())?;
    let number: f64 = text[..end].trim().parse().ok()?;
    let unit = text[end..].trim();
    let is_unit = |name: &&str| unit == *name || unit.strip_suffix('s') == Some(name);
    let (seconds, _) = UNITS.iter().find(|(_, names)| names.iter().any(is_unit))?;
    Some(number * seconds).filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_seconds_since_1970() {
        let cases = [
            ("1970-01-01", 0.0),
            ("2024-02-29", 1_709_164_800.0),
            ("1969-12-31 23:59:59.5", -0.5),
            ("2024-02-29T12:30", 1_709_209_800.0),
            ("2024-02-29T12:30:15Z", 1_709_209_815.0),
            ("2024-02-29T12:30:15.250+01:00", 1_709_206_215.25),
            ("2024-02-29 12:30:15-0530", 1_709_229_615.0),
            ("2024-02-29 12:30:15,250", 1_709_209_815.25),
            ("0001-01-01", -62_135_596_800.0),
            ("2024-02-28T24:00", 1_709_164_800.0),
        ];
        for (text, wanted) in cases {
            assert_eq!(seconds(text), Some(wanted), "{text}");
        }
        let wrong = "1709164800,monday, ,2023-02-29,2024-13-01,2024-1-1,2024-01-01T,2024-01-01T1:00,2024-01-01T10:60,NaN,inf,\
                     2024-01-01T10:00:1,2024-01-01T10:00:00.,2024-01-01T10:00+1,2024-01-01X10:00,2024-01-01T10:00:00é,\
                     2024-01-01T24:30,2024-01-01T24:00:01,2024-01-01T10:00+99:99,2024-01-01T10:00+15:00,2024-01-01T10:00-05:60";
        wrong.split(',').for_each(|text| assert_eq!(seconds(text), None, "{text}"));
    }

    #[test]
    fn seconds_are_written_as_times_that_read_back() {
        assert_eq!(iso_time(0.0), "1970-01-01T00:00:00");
        assert_eq!(iso_time(-0.25), "1969-12-31T23:59:59.75");
        for time in [1_709_210_096.125, 1e9, -86400.5] {
            assert_eq!(seconds(&iso_time(time)), Some(time));
        }
    }

    #[test]
    fn every_day_is_written_as_it_is_read() {
        for day in (-700_000..2_000_000i64).step_by(97).chain(19_780..19_790) {
            let written = text(86400 * day + 3661, 500_000_000, true);
            assert_eq!(seconds(&written), Some((86400 * day + 3661) as f64 + 0.5), "{written}");
            assert_eq!(seconds(&text(86400 * day, 0, false)), Some((86400 * day) as f64));
        }
    }
}
