//! Dates and times as text: ISO 8601, or a number of seconds or milliseconds since 1970.

/// Numbers from here on are milliseconds: as seconds they would lie beyond the year 5000.
const MILLISECONDS: f64 = 1e11;

/// Seconds since the beginning of 1970, UTC: of `2024-02-29`, of `2024-02-29T12:30:00.5+01:00` or with a blank for the T,
/// or of a number of seconds or milliseconds.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        let seconds = if number.abs() >= MILLISECONDS { number / 1000.0 } else { number };
        return seconds.is_finite().then_some(seconds);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-');
    let (year, month, day) = (whole(parts.next()?, 4)?, whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    let midnight = 86400.0 * days(year, month, day) as f64;
    match rest.strip_prefix(['T', 't', ' ']) {
        None if rest.is_empty() => Some(midnight),
        None => None,
        Some(time) => Some(midnight + time_of_day(time)?),
    }
}

/// Seconds of `12:30`, `12:30:00`, `12:30:00.25`, with `Z` or `+01:00` behind it.
fn time_of_day(text: &str) -> Option<f64> {
    let zone = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (time, zone) = (text[..zone].trim_end(), &text[zone..]);
    let mut parts = time.split(':');
    let (hour, minute) = (whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    let second = match parts.next() {
        None => 0.0,
        Some(second) => {
            whole(second.get(..2)?, 2)?;
            let fraction = second[2..].strip_prefix('.').unwrap_or("0");
            let is_plain = second.len() == 2 || second.as_bytes()[2] == b'.';
            let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            (is_plain && digits).then(|| second.parse::<f64>().ok()).flatten()?
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
            // Zones reach from 12 hours behind to 14 hours ahead.
            if hours > 14 || minutes > 59 {
                return None;
            }
            let shift = 3600 * hours + 60 * minutes;
            if *sign == b'-' { -shift } else { shift }
        }
    };
    Some((3600 * hour + 60 * minute - shift) as f64 + second)
}

/// The number of exactly so many digits.
fn whole(text: &str, digits: usize) -> Option<i64> {
    let sound = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if sound { text.parse().ok() } else { None }
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since the beginning of 1970, of a date in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March, in eras of 400 years.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `2024-02-29`, or with the time of day behind it when `with_time` is set.
#[cfg_attr(not(feature = "parquet"), allow(dead_code))]
pub(crate) fn text(seconds: i64, nanoseconds: u32, with_time: bool) -> String {
    let days = seconds.div_euclid(86400) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + 400 * era + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if !with_time {
        return date;
    }
    let second = seconds.rem_euclid(86400);
    let time = format!("{date}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if nanoseconds == 0 { time } else { format!("{time}.{nanoseconds:09}").trim_end_matches('0').to_owned() }
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
            ("1709164800", 1_709_164_800.0),
            (" 1709164800123 ", 1_709_164_800.123),
            ("0001-01-01", -62_135_596_800.0),
            ("2024-02-28T24:00", 1_709_164_800.0),
        ];
        for (text, wanted) in cases {
            assert_eq!(seconds(text), Some(wanted), "{text}");
        }
        let wrong = "monday, ,2023-02-29,2024-13-01,2024-1-1,2024-01-01T,2024-01-01T1:00,2024-01-01T10:60,NaN,inf,\
                     2024-01-01T10:00:1,2024-01-01T10:00:00.,2024-01-01T10:00+1,2024-01-01X10:00,2024-01-01T10:00:00é,\
                     2024-01-01T24:30,2024-01-01T24:00:01,2024-01-01T10:00+99:99,2024-01-01T10:00+15:00,2024-01-01T10:00-05:60";
        wrong.split(',').for_each(|text| assert_eq!(seconds(text), None, "{text}"));
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
