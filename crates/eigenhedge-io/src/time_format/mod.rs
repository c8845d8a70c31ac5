//! Format of the time column: given by the user, or detected from some of its cells.

mod find;

pub(crate) use find::Found;

use crate::dates;
use crate::dates::in_english;
use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, NaiveTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Format of the times in a column.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeFormat(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Iso,
    /// Time since 1970: the name of the unit, and the number of units per second.
    Epoch(&'static str, f64),
    /// Days since 1899-12-30, as in a spreadsheet.
    Excel,
    Pattern(String, Vec<Item<'static>>),
}

/// Name, number per second, and number from which the next smaller unit is assumed (after the year 5000).
const UNITS: [(&str, f64, f64); 4] =
    [("s", 1.0, 1e11), ("ms", 1e3, 1e14), ("us", 1e6, 1e17), ("ns", 1e9, f64::INFINITY)];

const EXCEL_EPOCH: f64 = 25569.0;

/// Offsets from UTC in hours, with the names of time zones at the end of a time.
const ZONES: [(i32, &[&str]); 10] = [
    (0, &[" UTC", " GMT", " WET"]),
    (1, &[" WEST", " BST", " CET", " MEZ"]),
    (2, &[" CEST", " MESZ", " EET"]),
    (3, &[" EEST"]),
    (-4, &[" EDT"]),
    (-5, &[" EST", " CDT"]),
    (-6, &[" MDT"]),
    (-7, &[" MST", " PDT"]),
    (-8, &[" PST"]),
    (0, &["Z", "z"]),
];

const LARGEST_OFFSET: i32 = 14 * 3600;

impl TimeFormat {
    /// Parses `iso`, a unit since 1970 (`s`, `ms`, `us` or `ns`), `excel`, or a `strftime` pattern.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "iso" => return Some(Self(Kind::Iso)),
            "excel" => return Some(Self(Kind::Excel)),
            _ => {}
        }
        if let Some((name, in_second, _)) = UNITS.iter().find(|(name, ..)| *name == text) {
            return Some(Self(Kind::Epoch(name, *in_second)));
        }
        let items = StrftimeItems::new(text).parse_to_owned().ok()?;
        let has_fields = items.iter().any(|item| matches!(item, Item::Numeric(..) | Item::Fixed(_)));
        has_fields.then(|| Self(Kind::Pattern(text.to_owned(), items)))
    }

    /// Parses a time to seconds since 1970, in UTC without a zone. 24:00 is the start of the next day.
    pub(crate) fn seconds(&self, text: &str) -> Option<f64> {
        let (text, offset) = without_zone(text);
        let time = self.local_seconds(text).or_else(|| {
            let at = text.find([' ', 'T']).filter(|at| text[at + 1..].starts_with("24:00"))? + 1;
            let is_whole = text[at + 2..].bytes().all(|byte| matches!(byte, b':' | b'0' | b'.'));
            let midnight = is_whole.then(|| format!("{}00{}", &text[..at], &text[at + 2..]))?;
            self.local_seconds(&midnight).map(|time| time + 86400.0)
        });
        time.map(|time| time - 3600.0 * f64::from(offset))
    }

    /// Parses a time as the clock shows it, without its zone or UTC offset.
    pub(crate) fn clock_seconds(&self, text: &str) -> Option<f64> {
        let text = without_zone(text).0;
        let offset = text.get(11..).and_then(|time| time.find(['Z', 'z', '+', '-'])).map_or(text.len(), |at| 11 + at);
        self.seconds(&text[..offset]).or_else(|| self.seconds(text))
    }

    fn local_seconds(&self, text: &str) -> Option<f64> {
        match &self.0 {
            Kind::Iso => dates::seconds(text),
            Kind::Epoch(_, in_second) => number(text).map(|number| number / in_second),
            // Fractions of a day are exact to microseconds, so the time is rounded to milliseconds.
            Kind::Excel => number(text).map(|days| ((days - EXCEL_EPOCH) * 86400.0 * 1e3).round() / 1e3),
            Kind::Pattern(pattern, items) if pattern.contains("%b") => of_items(&in_english(text)?, items),
            // The fraction of a second may be written with a comma.
            Kind::Pattern(pattern, items) if text.contains(',') && !pattern.contains(',') => {
                of_items(&text.replace(',', "."), items)
            }
            Kind::Pattern(_, items) => of_items(text, items),
        }
    }

    pub(crate) fn rule(&self) -> String {
        match &self.0 {
            Kind::Iso => Self::usual_rule(),
            Kind::Epoch(..) => format!("a number of {}", self.words()),
            Kind::Excel => "a number of days as in a spreadsheet".to_owned(),
            Kind::Pattern(..) => format!("a time of the form {}", self.words()),
        }
    }

    pub(crate) fn usual_rule() -> String {
        "a date such as 2024-02-29 or 2024-02-29T12:30:00, or seconds since 1970".to_owned()
    }

    pub(crate) fn words(&self) -> String {
        match &self.0 {
            Kind::Iso => "ISO 8601".to_owned(),
            Kind::Epoch(name, _) => format!("{name} since 1970"),
            Kind::Excel => "days of a spreadsheet".to_owned(),
            Kind::Pattern(pattern, _) => {
                const SIGNS: [&[(&str, &str)]; 2] = [
                    &[("%b", "mon"), ("%d", "dd"), ("%m", "mm"), ("%Y", "yyyy"), ("%y", "yy")],
                    &[("%H", "hh"), ("%I", "hh"), ("%M", "mm"), ("%S", "ss"), ("%.f", ""), ("%p", "AM/PM")],
                ];
                SIGNS.iter().copied().flatten().fold(pattern.clone(), |words, (sign, word)| words.replace(sign, word))
            }
        }
    }

    /// Returns true for ISO 8601 and for seconds since 1970. Messages do not mention them if the time column was given.
    pub(crate) fn is_usual(&self) -> bool {
        matches!(self.0, Kind::Iso | Kind::Epoch("s", _))
    }

    /// Returns true for numbers: times since 1970, spreadsheet days, or digits without separators.
    pub(crate) fn is_number(&self) -> bool {
        match &self.0 {
            Kind::Iso => false,
            Kind::Epoch(..) | Kind::Excel => true,
            Kind::Pattern(pattern, _) => pattern.starts_with("%Y%m%d") && !pattern.contains([' ', 'T', ':']),
        }
    }

    pub(crate) fn is_local(&self, text: &str) -> bool {
        let has_offset =
            |text: &str| text.ends_with(['Z', 'z']) || text.get(11..).is_some_and(|time| time.contains(['+', '-']));
        match &self.0 {
            Kind::Iso => !has_offset(text.trim()) && !has_zone(text),
            Kind::Epoch(..) => false,
            Kind::Excel => true,
            Kind::Pattern(pattern, _) => !pattern.contains("%z") && !has_zone(text),
        }
    }

    pub(crate) fn is_date(&self, cells: &[&str]) -> bool {
        match &self.0 {
            Kind::Iso => cells.iter().all(|cell| cell.trim().len() == 10),
            Kind::Excel => cells.iter().all(|cell| number(cell.trim()).is_some_and(|days| days.fract() == 0.0)),
            Kind::Epoch(..) => false,
            Kind::Pattern(pattern, _) => !pattern.contains("%M"),
        }
    }
}

pub(crate) fn names_time(name: &str) -> bool {
    const WORDS: [&str; 11] =
        ["time", "date", "epoch", "zeit", "datum", "heure", "fecha", "hora", "horodat", "tijd", "stamp"];
    let name = name.to_lowercase();
    matches!(name.as_str(), "ts" | "t" | "data" | "uhr") || WORDS.iter().any(|word| name.contains(word))
}

/// Returns true if a cell is a time of day such as `7:05`, `23:59:59.5`, `24:00` or `11:30 PM`.
pub(crate) fn is_time_of_day(cell: &str) -> bool {
    const FORMS: [&str; 5] = ["%H:%M", "%H:%M:%S%.f", "%I:%M %p", "%I:%M:%S %p", "%H.%M.%S"];
    let cell = cell.trim();
    let cell = if cell.starts_with("24:00") { &cell.replacen("24", "00", 1) } else { cell };
    cell.contains([':', '.']) && FORMS.iter().any(|form| NaiveTime::parse_from_str(cell, form).is_ok())
}

/// Returns true if a cell is a time of day without separators, such as `0705` or `070500`.
pub(crate) fn is_compact_time_of_day(cell: &str) -> bool {
    let cell = cell.trim();
    let is = |form: &str| NaiveTime::parse_from_str(cell, form).is_ok();
    cell.bytes().all(|byte| byte.is_ascii_digit()) && (cell.len() == 4 && is("%H%M") || cell.len() == 6 && is("%H%M%S"))
}

/// Returns a time without the name of a zone at its end, and the UTC offset of the zone in hours.
fn without_zone(text: &str) -> (&str, i32) {
    let text = text.trim();
    let without = |signs: &[&str]| signs.iter().find_map(|sign| text.strip_suffix(sign));
    ZONES.iter().find_map(|(hours, signs)| Some((without(signs)?, *hours))).unwrap_or((text, 0))
}

fn has_zone(text: &str) -> bool {
    without_zone(text).0.len() < text.trim().len()
}

fn number(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().or_else(|_| text.replace(',', ".").parse());
    number.ok().filter(|number| number.is_finite())
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match &self.0 {
            Kind::Iso => "iso",
            Kind::Epoch(name, _) => name,
            Kind::Excel => "excel",
            Kind::Pattern(pattern, _) => pattern,
        })
    }
}

impl Serialize for TimeFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text).ok_or_else(|| serde::de::Error::custom("a form of times is wrong"))
    }
}

fn of_items(text: &str, items: &[Item<'static>]) -> Option<f64> {
    let mut parsed = Parsed::new();
    parse(&mut parsed, text, items.iter()).ok()?;
    let has_hour = parsed.hour_mod_12().is_some();
    if has_hour && parsed.minute().is_none() {
        parsed.set_minute(0).ok()?;
    }
    let offset = parsed.offset().unwrap_or(0);
    if offset.abs() > LARGEST_OFFSET {
        return None;
    }
    let local = match parsed.to_naive_datetime_with_offset(offset) {
        Ok(local) => local,
        Err(_) if !has_hour => parsed.to_naive_date().ok()?.and_time(NaiveTime::MIN),
        Err(_) => return None,
    };
    let moment: DateTime<_> = local.and_utc();
    let fraction = f64::from(moment.timestamp_subsec_nanos()) / 1e9;
    Some((moment.timestamp() - i64::from(offset)) as f64 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cells: &[&str]) -> String {
        match TimeFormat::find(cells) {
            Found::Format(format) => format.to_string(),
            Found::Ambiguous { cell, readings: [(first, a), (second, b)] } => {
                format!("{cell}: {first} {a}, {second} {b}")
            }
            Found::Nothing => String::new(),
        }
    }

    #[test]
    fn forms_are_found_when_there_is_one() {
        let cases: [(&[&str], &str); 38] = [
            (&["2024-02-29", "2024-02-29T12:30Z"], "iso"),
            (&["29.02.2024 12:30", " 1.3.2024 00:00"], "%d.%m.%Y %H:%M"),
            (&["01.02.2024 12:30:15", "01.02.2024 12:30:15.250"], "%d.%m.%Y %H:%M:%S%.f"),
            (&["01.02.2024 12:30:15,250"], "%d.%m.%Y %H:%M:%S%.f"),
            (&["01.02.2024"], "%d.%m.%Y"),
            (&["01.02.24"], "%d.%m.%y"),
            (&["02/28/2024 1:30 PM", "03/01/2024 11:00 am"], "%m/%d/%Y %I:%M %p"),
            (&["02/03/2024 13:30", "02/13/2024 13:30"], "%m/%d/%Y %H:%M"),
            (&["02/03/2024 13:30", "13/02/2024 13:30"], "%d/%m/%Y %H:%M"),
            (&["2024/02/13 13:30:00"], "%Y/%m/%d %H:%M:%S%.f"),
            (&["1709164800", "1709164801.5"], "s"),
            (&["0", "1709164800123"], "ms"),
            (&["1709164800123456"], "us"),
            (&["1709164800123456789"], "ns"),
            (&["03/04/2024", "05/06/2024"], "03/04/2024: %d/%m/%Y 2024-04-03, %m/%d/%Y 2024-03-04"),
            (&["01/01/2024"], "01/01/2024: %d/%m/%Y 2024-01-01, %m/%d/%Y 2024-01-01"),
            (&["13/01/2024", "01/13/2024"], ""),
            (&["29.02.2023"], ""),
            (&["01.02.2024 24:30"], ""),
            (&["monday"], ""),
            (&["01/08/2024 12:00 AM", "01/08/2024 12:01 AM"], "%m/%d/%Y %I:%M %p"),
            (&["08-Jan-24 00:00:00", "09-Mrz-24 00:00:00"], "%d-%b-%y %H:%M:%S%.f"),
            (&["8 janv. 2024 12:30", "8 août 2024 12:30"], "%d %b %Y %H:%M"),
            (&["08JAN2024:00:00:00"], "%d%b%Y:%H:%M:%S%.f"),
            (&["20240108000000"], "%Y%m%d%H%M%S"),
            (&["20240108", "20240109"], "%Y%m%d"),
            (&["20241308", "20240109"], "s"),
            (&["45299.0416666667", "45299,5"], "excel"),
            (&["2024-01-08 00:00:00 UTC"], "iso"),
            (&["20240108T000000Z"], "%Y%m%dT%H%M%S"),
            (&["20240108 0000", "20240108 2350"], "%Y%m%d %H%M"),
            (&["1/8/2024 12:00:00 AM", "1/8/2024 12:10:00 AM"], "%m/%d/%Y %I:%M:%S%.f %p"),
            (&["Monday, January 8, 2024", "Tuesday, January 9, 2024"], "%b %d, %Y"),
            (&["mar. 9 janv. 2024 12:30"], "%d %b %Y %H:%M"),
            (&["Mon Jan 08 00:00:00 2024"], "%b %d %H:%M:%S %Y"),
            (&["07.01.2024 24:00", "08.01.2024 00:05"], "%d.%m.%Y %H:%M"),
            (&["2024-01-08 24:00:00", "2024-01-09 00:05:00"], "iso"),
            (&["2024-01-08 00:00 CET", "2024-01-08 00:05 CET"], "iso"),
        ];
        for (cells, wanted) in cases {
            assert_eq!(found(cells), wanted, "{cells:?}");
        }
        assert_eq!(found(&[]), "");
        // Hours that cross midnight. Then days that could also be months.
        let hours =
            ["01/02/2024 22:00", "01/02/2024 23:00", "01/03/2024 00:00", "01/03/2024 01:00", "01/03/2024 02:00"];
        assert_eq!(found(&hours), "%m/%d/%Y %H:%M");
        let days = ["01/02/2024", "01/03/2024", "01/04/2024", "01/05/2024", "01/06/2024"];
        assert!(found(&days).starts_with("01/02/2024: "), "{}", found(&days));
    }

    #[test]
    fn given_forms_are_read_as_seconds_since_1970() {
        let cases = [
            ("%d.%m.%Y %H:%M", "29.02.2024 12:30", Some(1_709_209_800.0)),
            ("%d.%m.%Y %H", "29.02.2024 12", Some(1_709_208_000.0)),
            ("%d.%m.%Y", " 29.02.2024 ", Some(1_709_164_800.0)),
            ("%d %b %Y %H:%M:%S %z", "29 Feb 2024 12:30:15 +0100", Some(1_709_206_215.0)),
            ("%d/%m/%Y %H:%M %z", "29/02/2024 12:30 +99:99", None),
            ("%d/%m/%Y %H:%M %z", "29/02/2024 12:30 +15:00", None),
            ("%d.%m.%Y %H:%M", "29.02.2024 24:30", None),
            ("%d.%m.%Y %H:%M", "29.02.2024", None),
            ("ms", "1500", Some(1.5)),
            ("ns", "inf", None),
            ("iso", "1500", None),
            ("excel", "45299.5208333333", Some(1_704_717_000.0)),
            ("%d-%b-%y %H:%M:%S%.f", "08-dez-23 12:30:00", Some(1_702_038_600.0)),
            ("%d %b %Y", "8 de enero de 2024", Some(1_704_672_000.0)),
            ("%d.%m.%Y %H:%M", "28.02.2024 24:00", Some(1_709_164_800.0)),
            ("iso", "2024-02-28T24:00:00", Some(1_709_164_800.0)),
            ("iso", "2024-02-28 24:00:01", None),
            ("iso", "2024-02-29 01:00 CET", Some(1_709_164_800.0)),
            ("%d.%m.%Y %H:%M", "29.02.2024 02:00 MESZ", Some(1_709_164_800.0)),
        ];
        for (format, text, wanted) in cases {
            assert_eq!(TimeFormat::from_text(format).unwrap().seconds(text), wanted, "{format} {text}");
        }
        for wrong in ["", "date", "%", "%Q", "%d.%"] {
            assert_eq!(TimeFormat::from_text(wrong), None, "{wrong:?}");
        }
    }
}
