//! Search for the time column of a CSV table in its first rows.

use super::csv_columns::{FirstLines, LIST};
use crate::columns::select;
use crate::error::{Error, Fault, quoted};
use crate::layout::{Layout, Selector};
use crate::recode::text_of;
use crate::time_format::{Found, TimeFormat, is_compact_time_of_day, is_time_of_day, names_time};
use csv::ByteRecord;

/// Number of leading free columns that are searched regardless of their names.
const SEARCHED: usize = 8;

pub struct TimeColumn {
    pub layout: Layout,
    pub format: Option<TimeFormat>,
    /// Position of the time column, even if it is not used.
    pub position: Option<usize>,
    pub clock: Option<usize>,
    pub left_out: Option<usize>,
    pub step: Option<f64>,
}

impl FirstLines<'_> {
    pub fn time_column(
        &self,
        rows: &[ByteRecord],
        names: Option<&[String]>,
        free: &[usize],
    ) -> Result<TimeColumn, Error> {
        let mut layout = self.layout.clone();
        let nothing =
            |layout| TimeColumn { layout, format: None, position: None, clock: None, left_out: None, step: None };
        if let Some(found) = &layout.found {
            let time = found.time.filter(|_| layout.time.is_none()).map(Selector::Position);
            let format = layout.time_format.clone().or_else(|| found.time_format.clone());
            layout.clock =
                layout.clock.take().or(found.clock.filter(|_| layout.time.is_none()).map(Selector::Position));
            layout.time = layout.time.take().or(time);
            return Ok(TimeColumn { format, ..nothing(layout) });
        }
        let given = self.position(names, layout.time.as_ref())?;
        let tried: Vec<usize> = match given {
            Some(position) => vec![position],
            None => free.to_vec(),
        };
        for (i, &position) in tried.iter().enumerate() {
            let name = names.map(|names| names[position].as_str());
            let is_named = name.is_some_and(names_time);
            if i >= SEARCHED && !is_named {
                continue;
            }
            let cells: Vec<_> = rows.iter().filter_map(|row| row.get(position)).map(text_of).collect();
            let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
            let there: Vec<&str> =
                cells.iter().copied().filter(|cell| !self.style.is_missing(cell.as_bytes())).collect();
            let clock = match given {
                Some(_) => self.position(names, layout.clock.as_ref())?,
                None => self
                    .clock_beside(rows, &there, position, free)
                    .or_else(|| self.compact_clock(rows, names?, position, free)),
            };
            let joined = clock.map(|clock| joined(rows, position, clock));
            let joined: Option<Vec<&str>> = joined.as_ref().map(|cells| cells.iter().map(String::as_str).collect());
            let there = joined.as_deref().unwrap_or(&there);
            let mut form = self.form(there);
            if form == Found::Nothing && given.is_some() {
                // Rows with invalid times are bad and do not affect the format of the others.
                let times: Vec<&str> =
                    there.iter().copied().filter(|cell| self.form(&[cell]) != Found::Nothing).collect();
                form = self.form(&times);
            }
            let is_used = given.is_some() || layout.find_time;
            let is_of_model = name.is_some_and(|name| !self.is_own(name));
            match form {
                // Numbers are times only if the user says so, or if they can only be times.
                Found::Format(format)
                    if given.is_none()
                        && format.is_number()
                        && layout.time_format.is_none()
                        && (is_of_model || i > 0 && !is_named || !format.is_clock(there, name)) => {}
                Found::Format(format) => {
                    let step = format.usual_step(there);
                    if is_used {
                        layout.time.get_or_insert(Selector::Position(position));
                        layout.clock = layout.clock.take().or(clock.map(Selector::Position));
                    }
                    let left_out = Some(position).filter(|_| !is_used);
                    return Ok(TimeColumn {
                        layout,
                        format: Some(format),
                        position: Some(position),
                        clock,
                        left_out,
                        step,
                    });
                }
                Found::Ambiguous { cell, readings } if is_used && (given.is_some() || i == 0 || is_named) => {
                    let label = name.map_or(String::new(), |name| format!(" ({})", quoted(name)));
                    let place = format!("{}, column {position}{label}", self.input.name());
                    return Err(Error::at(place, Fault::ambiguous(&cell, readings)));
                }
                Found::Nothing | Found::Ambiguous { .. } => {}
            }
        }
        Ok(nothing(layout))
    }

    /// Splits a time column `DATE CLOCK` that the table does not have if it has the columns `DATE` and `CLOCK`.
    pub(super) fn with_clock(&self, names: &[String]) -> Layout {
        let mut layout = self.layout.clone();
        let has = |name: &str| names.iter().any(|own| own == name);
        let Some(Selector::Name(both)) = layout.time.clone().filter(|_| layout.clock.is_none()) else { return layout };
        let mut parts = both.match_indices(' ').map(|(at, _)| (&both[..at], &both[at + 1..]));
        if let Some((date, clock)) = parts.find(|(date, clock)| !has(&both) && has(date) && has(clock)) {
            layout.time = Some(Selector::Name(date.to_owned()));
            layout.clock = Some(Selector::Name(clock.to_owned()));
        }
        layout
    }

    fn position(&self, names: Option<&[String]>, selector: Option<&Selector>) -> Result<Option<usize>, Error> {
        let Some(selector) = selector else { return Ok(None) };
        let only = Layout { columns: vec![selector.clone()], ..Layout::new(self.layout.format) };
        let found = select(names.map(<[_]>::to_vec), self.first.len(), &only, LIST, |_| false);
        Ok(found.map_err(|fault| self.input.fault(fault))?.selected.first().copied())
    }

    fn clock_beside(&self, rows: &[ByteRecord], dates: &[&str], position: usize, free: &[usize]) -> Option<usize> {
        let is_clock = |column: &usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(*column)).map(text_of).peekable();
            free.contains(column) && cells.peek().is_some() && cells.all(|cell| is_time_of_day(&cell))
        };
        let beside = [Some(position + 1), position.checked_sub(1)].into_iter().flatten().find(is_clock)?;
        let is_date = match self.form(dates) {
            Found::Format(format) => format.is_date(dates),
            Found::Ambiguous { readings: [(format, _), _], .. } => format.is_date(dates),
            Found::Nothing => false,
        };
        is_date.then_some(beside)
    }

    /// Returns the free column of times of day such as `080000` next to a column of dates. Such digits can be other
    /// numbers, so the column must have the name of a time, and both columns together must hold times.
    fn compact_clock(&self, rows: &[ByteRecord], names: &[String], position: usize, free: &[usize]) -> Option<usize> {
        let is_clock = |column: &usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(*column)).map(text_of);
            free.contains(column) && names_time(&names[*column]) && cells.all(|cell| is_compact_time_of_day(&cell))
        };
        let beside = [Some(position + 1), position.checked_sub(1)].into_iter().flatten().find(is_clock)?;
        let cells = joined(rows, position, beside);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        matches!(self.form(&cells), Found::Format(_)).then_some(beside)
    }
}

fn joined(rows: &[ByteRecord], date: usize, clock: usize) -> Vec<String> {
    let cells = |row: &ByteRecord| {
        Some((text_of(row.get(date)?).trim().to_owned(), text_of(row.get(clock)?).trim().to_owned()))
    };
    let both = rows.iter().filter_map(cells).filter(|(date, clock)| !date.is_empty() && !clock.is_empty());
    both.map(|(date, clock)| format!("{date} {clock}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::format::Format;
    use crate::layout::Layout;
    use crate::source::Source;
    use crate::stream::Stream;

    #[test]
    fn digits_without_separators_are_a_time_of_day_next_to_a_date() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.csv");
        let cases = [
            ("Date,Time,a", ["20240305,080000,1.5", "20240305,081000,2.5"], Some("Date Time")),
            ("Time,Date,a", ["0800,20240305,1.5", "0810,20240305,2.5"], Some("Date Time")),
            ("Date,Flow,a", ["20240305,0800,1.5", "20240306,0810,2.5"], Some("Date")),
            ("Date,Time,a", ["20240305,080000,1.5", "20240306,086100,2.5"], Some("Date")),
            ("Weight,Time,a", ["30240305,0800,1.5", "10240305,0810,2.5"], None),
        ];
        for (header, lines, wanted) in cases {
            std::fs::write(&path, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
            let layout = Layout { find_time: true, ..Layout::new(Format::Csv) };
            let mut stream = Stream::open(&Source::File(path.clone()), &layout).unwrap();
            assert_eq!(stream.kept_columns().first().map(String::as_str), wanted, "{header} {lines:?}");
            stream.next_row().unwrap();
            let is_joined = wanted == Some("Date Time");
            assert_eq!(stream.row().time == Some(1_709_625_600.0), is_joined, "{header} {lines:?}");
        }
    }
}
