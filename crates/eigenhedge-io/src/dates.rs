//! Parsing and formatting of ISO 8601 dates and times, and names of months in seven languages.

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

const NAMES: [&[&str]; 12] = [
    &["january", "januar", "janner", "janvier", "enero", "janeiro", "gennaio", "januari"],
    &["february", "februar", "fevrier", "febrero", "fevereiro", "febbraio", "februari"],
    &["march", "marz", "maerz", "mrz", "mars", "marzo", "marco", "maart", "mrt"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maio", "maggio", "mei"],
    &["june", "juni", "juin", "junio", "junho", "giugno"],
    &["july", "juli", "juillet", "julio", "julho", "luglio"],
    &["august", "aout", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "setiembre", "setembro", "settembre"],
    &["october", "oktober", "octobre", "octubre", "outubro", "ottobre"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "decembre", "diciembre", "dezembro", "dicembre"],
];

const ENGLISH: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SHORTEST: usize = 3;

/// Returns a date with its month as an English abbreviation, without words such as `de` and days of the week.
pub(crate) fn in_english(text: &str) -> Option<String> {
    let text = text.replace(" de ", " ");
    let words = text.split(|sign: char| !sign.is_alphabetic()).filter(|word| !word.is_empty());
    // `mar.` may be a Tuesday or March. The month is the last name.
    let (word, month) = words.rev().find_map(|word| Some((word, month_of(word)?)))?;
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    let (before, rest) = (&text[..start], &text[start + word.len()..]);
    let before = before.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    // An abbreviation may end in a period before a space.
    let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with(' ')).unwrap_or(rest);
    Some(format!("{before}{}{rest}", ENGLISH[month]))
}

fn month_of(word: &str) -> Option<usize> {
    let word: String = word.chars().flat_map(char::to_lowercase).map(without_accent).collect();
    NAMES.iter().position(|names| word.len() >= SHORTEST && names.iter().any(|name| name.starts_with(&word)))
}

fn without_accent(sign: char) -> char {
    match sign {
        'ä' | 'à' | 'á' | 'â' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'û' | 'ü' | 'ù' => 'u',
        'ç' => 'c',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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

    #[test]
    fn months_of_seven_languages_are_found_and_no_abbreviation_has_two_meanings() {
        let cases = [
            ("08-Jan-24", "08-Jan-24"),
            ("8. März 2024", "8. Mar 2024"),
            ("8 févr. 2024", "8 Feb 2024"),
            ("15 de diciembre de 2024 10:00", "15 Dec 2024 10:00"),
            ("Juil 3 2024", "Jul 3 2024"),
            ("3-out-2024", "3-Oct-2024"),
            ("3-SEPT-2024", "3-Sep-2024"),
            ("Mon, 8 Jan 2024", "8 Jan 2024"),
            ("mar. 9 janv. 2024 12:30", "9 Jan 2024 12:30"),
            ("Montag, 8. Jänner 2024", "8. Jan 2024"),
            ("Monday, January 8, 2024", "Jan 8, 2024"),
            ("maandag 8 januari 2024", "8 Jan 2024"),
            ("8 mrt 2024", "8 Mar 2024"),
            ("8 augustus 2024", "8 Aug 2024"),
        ];
        cases.into_iter().for_each(|(text, wanted)| assert_eq!(in_english(text).as_deref(), Some(wanted)));
        ["8-mo-24", "monday", "2024-01-08", ""]
            .into_iter()
            .for_each(|text| assert_eq!(in_english(text), None, "{text}"));
        for (month, names) in NAMES.iter().enumerate() {
            for name in *names {
                let least =
                    if *name == "juin" || *name == "juillet" || *name == "juni" || *name == "juli" { 4 } else { 3 };
                for length in least..=name.len() {
                    let found = in_english(&format!("1 {}", &name[..length]));
                    assert_eq!(found.as_deref(), Some(format!("1 {}", ENGLISH[month]).as_str()), "{name}");
                }
            }
        }
    }
}
