//! Kinds of columns and lines, recognized by the cells of the first rows.

use super::cells::CellStyle;
use crate::recode::text_of;
use csv::ByteRecord;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub const MOST_UNIT_LINES: usize = 3;
const COUNTED_ROWS: usize = 20;
const COUNTERS: &[&str] = &[
    "", "row", "row_id", "rowid", "nr", "nr.", "no", "no.", "n", "#", "lfd. nr.", "lfdnr", "record", "num", "zeile",
    "ligne",
];
/// Names of such columns whose numbers may have gaps.
const IDENTIFIERS: &[&str] = &["unnamed: 0", "id", "index", "idx"];

const DATE_PARTS: [(&[&str], RangeInclusive<f64>); 6] = [
    (&["year", "yyyy", "yr", "jahr", "année", "año", "ano", "anno"], 1900.0..=2100.0),
    (&["month", "mm", "mo", "monat", "mois", "mes", "mês", "mese"], 1.0..=12.0),
    (&["day", "dd", "dy", "tag", "jour", "día", "dia", "giorno"], 1.0..=31.0),
    (&["hour", "hh", "hr", "stunde", "heure", "hora", "ora"], 0.0..=24.0),
    (&["minute", "min", "mi", "minuto"], 0.0..=59.0),
    (&["second", "sec", "sekunde", "seconde", "segundo", "secondo"], 0.0..=59.0),
];
/// Number of leading entries of `DATE_PARTS` that make a date.
const DAY: usize = 3;

/// Words for 0 and 1. They have this meaning even if the first rows contain only one of them.
const CERTAIN: [&[[&str; 2]]; 4] = [
    &[["off", "on"], ["false", "true"], ["no", "yes"], ["closed", "open"], ["stopped", "running"], ["stop", "run"]],
    &[["aus", "ein"], ["aus", "an"], ["zu", "auf"], ["nein", "ja"], ["falsch", "wahr"]],
    &[["non", "oui"], ["faux", "vrai"], ["arrêt", "marche"]],
    &[["falso", "verdadero"], ["falso", "verdadeiro"], ["desligado", "ligado"]],
];
/// Words for 0 and 1 if the first rows contain both.
const PAIRS: [&[[&str; 2]]; 3] = [
    &[["close", "open"], ["inactive", "active"], ["disabled", "enabled"], ["low", "high"]],
    &[["manual", "auto"], ["man", "auto"], ["normal", "alarm"], ["ok", "alarm"], ["ok", "fault"]],
    &[["non", "sim"], ["no", "si"]],
];

pub struct Contents<'a> {
    pub rows: &'a [ByteRecord],
    pub style: &'a CellStyle,
}

impl Contents<'_> {
    fn cells(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Returns the number of lines of units: words above most columns of numbers, and neither a number nor a time.
    pub fn unit_lines(&self, is_time: impl Fn(&[u8]) -> bool) -> usize {
        let Self { rows, style } = self;
        let lines = rows.len().saturating_sub(2).min(MOST_UNIT_LINES);
        let Some(width) = rows.first().map(ByteRecord::len) else { return 0 };
        let below = &rows[lines..];
        let is_number = |cell: &[u8]| style.number(cell).is_some_and(|x| !x.is_nan());
        let numbers = |column: &usize| {
            let cells = below.iter().filter_map(|row| row.get(*column));
            2 * cells.filter(|cell| is_number(cell)).count() > below.len()
        };
        let (numeric, others): (Vec<usize>, Vec<usize>) = (0..width).partition(numbers);
        let holds_units = |row: &&ByteRecord| {
            let words = numeric.iter().filter_map(|column| row.get(*column)).filter(|cell| style.is_word(cell)).count();
            let has_time = || others.iter().filter_map(|column| row.get(*column)).any(&is_time);
            row.len() == width && 2 * words >= numeric.len() && words > 0 && !row.iter().any(is_number) && !has_time()
        };
        rows[..lines].iter().take_while(holds_units).count()
    }

    /// Returns true if a column numbers the rows: by one, or ascending if it is named as an identifier. With another
    /// name, it must be the first one, and go up by one or in equal steps from near 0, such as the seconds since the
    /// start.
    pub fn is_counter(&self, column: usize, name: &str) -> bool {
        const FEWEST: usize = 3;
        let number = |cell: &[u8]| self.style.number(cell).filter(|x| x.abs() < 1e9);
        let Some(numbers) = self.cells(column).map(number).collect::<Option<Vec<f64>>>() else { return false };
        let is_whole = self.cells(column).all(|cell| !cell.contains(&b'.')) && numbers.iter().all(|x| x.fract() == 0.0);
        let steps_by = |step: f64| is_whole && numbers.windows(2).all(|pair| pair[1] == pair[0] + step);
        let has_name = |names: &[&str]| names.iter().any(|counter| name.eq_ignore_ascii_case(counter));
        numbers.len() >= FEWEST
            && match () {
                () if has_name(IDENTIFIERS) => {
                    is_whole && numbers.windows(2).all(|pair| pair[1] > pair[0]) || steps_by(-1.0)
                }
                () if has_name(COUNTERS) => steps_by(1.0) || steps_by(-1.0),
                () => column == 0 && numbers.len() >= COUNTED_ROWS && (steps_by(1.0) || is_elapsed(&numbers)),
            }
    }

    /// Returns the columns of a year, a month, a day and smaller units, by name, if the first three are there.
    pub fn date_parts(&self, names: &[String]) -> Vec<usize> {
        let is_part = |column: usize, part: &(&[&str], RangeInclusive<f64>)| {
            let is_within =
                |cell: &[u8]| self.style.number(cell).is_some_and(|x| x.fract() == 0.0 && part.1.contains(&x));
            part.0.iter().any(|name| names[column].trim().eq_ignore_ascii_case(name))
                && self.cells(column).all(is_within)
        };
        let found = DATE_PARTS.map(|part| (0..names.len()).find(|column| is_part(*column, &part)));
        let is_date = found[..DAY].iter().all(Option::is_some);
        if is_date { found.into_iter().flatten().collect() } else { Vec::new() }
    }

    pub fn two_states(&self, column: usize) -> Option<[String; 2]> {
        const FEWEST_ROWS: usize = 10;
        const LONGEST: usize = 20;
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        for cell in self.cells(column).filter(|cell| !self.style.is_missing(cell)) {
            *words.entry(text_of(cell.trim_ascii()).to_lowercase()).or_default() += 1;
            if words.len() > 2 {
                return None;
            }
        }
        let known = |pairs: &[&[[&str; 2]]]| {
            let pair =
                pairs.iter().copied().flatten().find(|pair| words.keys().all(|word| pair.contains(&word.as_str())));
            pair.map(|pair| pair.map(str::to_owned))
        };
        let is_plain =
            |word: &str| word.chars().all(|c| c.is_alphabetic() || " _-/".contains(c)) && word.len() <= LONGEST;
        match words.len() {
            0 => None,
            1 => known(&CERTAIN),
            _ => known(&CERTAIN).or_else(|| known(&PAIRS)).or_else(|| {
                let there: usize = words.values().sum();
                let is_usual =
                    there >= FEWEST_ROWS && 2 * there >= self.rows.len() && words.values().all(|count| *count > 1);
                let states: Vec<String> = words.keys().filter(|word| is_plain(word)).cloned().collect();
                <[String; 2]>::try_from(states).ok().filter(|_| is_usual)
            }),
        }
    }

    /// Returns the number of tags if the table is in long format: times repeat, or begin again with each tag.
    pub fn tags(&self, time: usize, tag: usize) -> Option<usize> {
        const FEWEST_ROWS: usize = 8;
        let mut tags: Vec<&[u8]> = self.cells(tag).collect();
        let is_change = |pair: &&[ByteRecord]| pair[0].get(tag) != pair[1].get(tag);
        let pairs: Vec<&[ByteRecord]> = self.rows.windows(2).filter(is_change).collect();
        let first = self.rows.first().and_then(|row| row.get(time));
        let changes = pairs.len();
        let same = pairs.iter().filter(|pair| pair[0].get(time) == pair[1].get(time)).count();
        let restarts = pairs.iter().filter(|pair| pair[1].get(time) == first).count();
        tags.sort_unstable();
        tags.dedup();
        let is_long = 3 * same >= changes && 4 * changes >= self.rows.len() || restarts > 0 && restarts == changes;
        let has_names = tags.iter().all(|tag| !tag.trim_ascii().is_empty());
        (self.rows.len() >= FEWEST_ROWS && tags.len() > 1 && has_names && 2 * tags.len() <= self.rows.len() && is_long)
            .then_some(tags.len())
    }
}

fn is_elapsed(numbers: &[f64]) -> bool {
    const ROUNDED: f64 = 1e-3;
    const EARLY: f64 = 100.0;
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return false };
    let step = (last - first) / (numbers.len() - 1) as f64;
    let is_due = |(i, x): (usize, &f64)| (x - first - step * i as f64).abs() <= ROUNDED * step;
    first.abs() <= EARLY * step && step > 0.0 && numbers.iter().enumerate().all(is_due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_format::{Found, TimeFormat};

    #[test]
    fn a_line_of_units_has_no_time_and_no_number() {
        let below = [["2024-03-05 08:10", "1", "2"], ["2024-03-05 08:20", "3", "4"], ["2024-03-05 08:30", "5", "6"]];
        let style = CellStyle::default();
        let is_time = |cell: &[u8]| TimeFormat::find(&[&text_of(cell)]) != Found::Nothing;
        let cases = [
            (["", "bar", "%"], 1),
            (["yyyy-mm-dd", "[bar]", "[%]"], 1),
            (["last calibration", "2024-01-01", "2023-11-30"], 1),
            (["2024-03-05 08:00", "off", "off"], 0),
            (["2024-03-05 08:00", "(0.22)", "0.03"], 0),
            (["17", "off", "off"], 0),
        ];
        for (line, wanted) in cases {
            let rows: Vec<ByteRecord> = [line].iter().chain(&below).map(|row| row.iter().collect()).collect();
            assert_eq!(Contents { rows: &rows, style: &style }.unit_lines(is_time), wanted, "{line:?}");
        }
    }
}
