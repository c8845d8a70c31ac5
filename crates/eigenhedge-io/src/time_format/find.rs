//! Detection of the format of a time column from some of its cells.
//!
//! With slashes and dashes, the first number can be the day or the month. This is decided by a number above 12, by AM
//! or PM (the month then comes first), or by steps that are regular in only one of the two readings. Otherwise the
//! result is [`Found::Ambiguous`] with both readings.

use super::{Kind, TimeFormat, UNITS, names_time, number, without_zone};
use crate::dates;
use std::sync::OnceLock;

/// Date formats that are tried in addition to ISO 8601. A date may match two of them.
const DATES: [&[&str]; 4] = [
    &["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y-%m-%d", "%Y.%m.%d"],
    &["%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y"],
    &["%d-%b-%y", "%d-%b-%Y", "%d %b %Y", "%d %b %y", "%d. %b %Y", "%d.%b.%Y", "%d/%b/%Y"],
    &["%b %d %Y", "%b %d, %Y", "%Y-%b-%d", "%d%b%Y", "%Y%m%d", "%b %d %H:%M:%S %Y"],
];
const TIMES: [&[&str]; 2] = [
    &["", " %H:%M", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S%.f %p", "T%H:%M:%S%.f", "T%H:%M"],
    &[":%H:%M:%S%.f", ", %H:%M:%S%.f", ", %H:%M", " %H.%M.%S"],
];
/// Formats of dates with digits only, each with its number of characters.
const COMPACT: [(&str, usize); 7] = [
    ("%Y%m%d", 8),
    ("%Y%m%d%H%M", 12),
    ("%Y%m%d %H%M", 13),
    ("%Y%m%dT%H%M", 13),
    ("%Y%m%d%H%M%S", 14),
    ("%Y%m%d %H%M%S", 15),
    ("%Y%m%dT%H%M%S", 15),
];

const EXCEL_DAYS: std::ops::Range<f64> = 36526.0..55153.0;

fn candidates() -> &'static [TimeFormat] {
    static ALL: OnceLock<Vec<TimeFormat>> = OnceLock::new();
    let times = || TIMES.into_iter().flatten();
    let texts = || DATES.into_iter().flatten().flat_map(|date| times().map(move |time| format!("{date}{time}")));
    ALL.get_or_init(|| texts().filter_map(|text| TimeFormat::from_text(&text)).collect())
}

#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Format(TimeFormat),
    /// Cell that matches two formats, with both formats and the date that each gives.
    Ambiguous {
        cell: String,
        readings: [(TimeFormat, String); 2],
    },
    Nothing,
}

enum Steps {
    Regular,
    /// Some steps are negative or much longer than the usual step.
    Irregular,
    Unknown,
}

impl TimeFormat {
    pub(crate) fn find(cells: &[&str]) -> Found {
        let fits = |format: &Self| cells.iter().all(|cell| format.seconds(cell).is_some_and(is_usual));
        if cells.is_empty() {
            return Found::Nothing;
        }
        if cells.iter().all(|cell| Self(Kind::Iso).seconds(cell).is_some()) {
            return Found::Format(Self(Kind::Iso));
        }
        let has_digits = |digits: usize| cells.iter().all(|cell| without_zone(cell).0.len() == digits);
        let mut compact =
            COMPACT.iter().filter(|(_, digits)| has_digits(*digits)).filter_map(|(text, _)| Self::from_text(text));
        if let Some(format) = compact.find(|format| fits(format) && format.years_fit(cells)) {
            return Found::Format(format);
        }
        if let Some(format) = Self::epoch(cells) {
            return Found::Format(format);
        }
        let fitting: Vec<Self> = candidates().iter().filter(|format| fits(format)).take(2).cloned().collect();
        match <[Self; 2]>::try_from(fitting) {
            // AM and PM with numbers are used in English, where the month comes first.
            Ok([_, second]) if second.to_string().contains("%p") => Found::Format(second),
            // The month has a name, so both formats give the same date.
            Ok([_, second]) if second.to_string().contains("%b") => Found::Format(second),
            Ok([first, second]) => match (first.steps(cells), second.steps(cells)) {
                (Steps::Regular, Steps::Irregular) => Found::Format(first),
                (Steps::Irregular, Steps::Regular) => Found::Format(second),
                _ => Self::ambiguous(cells, [first, second]),
            },
            Err(mut fitting) => fitting.pop().map_or(Found::Nothing, Found::Format),
        }
    }

    fn ambiguous(cells: &[&str], both: [Self; 2]) -> Found {
        let differ = |cell: &&&str| both[0].seconds(cell) != both[1].seconds(cell);
        let cell = cells.iter().find(differ).unwrap_or(&cells[0]).trim().to_owned();
        let reading = |format: Self| {
            let date = dates::text(format.seconds(&cell).unwrap_or(0.0) as i64, 0, false);
            (format, date)
        };
        let readings = both.map(reading);
        Found::Ambiguous { cell, readings }
    }

    fn years_fit(&self, cells: &[&str]) -> bool {
        const YEARS: std::ops::Range<f64> = 978_307_200.0..4_102_444_800.0;
        cells.iter().all(|cell| self.seconds(cell).is_some_and(|time| YEARS.contains(&time)))
    }

    pub(crate) fn usual_step(&self, cells: &[&str]) -> Option<f64> {
        let mut steps = self.sorted_steps(cells);
        steps.retain(|step| *step > 0.0);
        steps.get(steps.len() / 2).copied().filter(|_| steps.len() > 1)
    }

    fn sorted_steps(&self, cells: &[&str]) -> Vec<f64> {
        let times: Vec<f64> = cells.iter().filter_map(|cell| self.seconds(cell)).collect();
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        steps
    }

    fn steps(&self, cells: &[&str]) -> Steps {
        const FEWEST: usize = 3;
        let steps = self.sorted_steps(cells);
        if steps.len() < FEWEST {
            return Steps::Unknown;
        }
        let (least, usual, most) = (steps[0], steps[steps.len() / 2], steps[steps.len() - 1]);
        match () {
            () if least > 0.0 && most <= 2.0 * usual => Steps::Regular,
            () if least < 0.0 || usual > 0.0 && most > 10.0 * usual => Steps::Irregular,
            () => Steps::Unknown,
        }
    }

    /// Returns spreadsheet days if all numbers are from 2000 to 2050, or else times since 1970 in a unit by their size.
    fn epoch(cells: &[&str]) -> Option<Self> {
        let numbers = cells.iter().map(|cell| number(cell.trim())).collect::<Option<Vec<f64>>>()?;
        if numbers.iter().all(|number| EXCEL_DAYS.contains(number)) {
            return Some(Self(Kind::Excel));
        }
        let largest = numbers.into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        UNITS.iter().find(|(.., next)| largest < *next).map(|(name, in_second, _)| Self(Kind::Epoch(name, *in_second)))
    }

    /// Returns true if these numbers are surely times, in the years 2001 to 2099 and in order. Fewer than five need the
    /// name of a time. Spreadsheet days need such a name, or regular steps of whole seconds that are shorter than a
    /// day.
    pub(crate) fn is_clock(&self, cells: &[&str], name: Option<&str>) -> bool {
        const FEWEST: usize = 5;
        let times: Vec<f64> = cells.iter().filter_map(|cell| self.seconds(cell)).collect();
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step != 0.0).collect();
        let forward = steps.iter().filter(|step| **step > 0.0).count();
        let fewer = forward.min(steps.len() - forward);
        let is_named = name.is_some_and(names_time);
        let is_whole = || {
            let usual = self.usual_step(cells).unwrap_or(0.0).round();
            let is_usual = |step: &&f64| (step.abs() - usual).abs() < 0.01 * usual.max(1.0);
            usual > 0.0 && usual < 86400.0 && steps.iter().filter(is_usual).count() * 10 >= steps.len() * 9
        };
        times.len() >= if is_named { 1 } else { FEWEST }
            && (fewer * 10 <= steps.len() || fewer == 1 && steps.len() >= FEWEST)
            && (times.len() < 2 || !steps.is_empty())
            && self.years_fit(cells)
            && (is_named || self.0 != Kind::Excel || is_whole())
    }
}

/// Returns true if the year has four digits. A number such as 24 is then not read as a year.
fn is_usual(seconds: f64) -> bool {
    const YEAR: f64 = 365.2425 * 86400.0;
    (-970.0 * YEAR..8030.0 * YEAR).contains(&seconds)
}
