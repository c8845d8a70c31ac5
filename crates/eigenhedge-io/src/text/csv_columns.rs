//! Columns, header and times of a CSV table, determined from the first lines.
//!
//! **Header.** Without an option, the first line is a header if columns are selected by name, if it contains the column
//! names of a model, or if its selected cells contain a word and neither a number nor a time. Numbers that look like
//! labels, such as years above measurements, are an error.
//!
//! **Text.** If the table has a header, a column is left out if none of its cells in the first rows is a number. A
//! column of two words is read as 0 and 1 instead. Row counters, and the parts of a date such as year and month, are
//! also left out if no option selects, excludes or copies columns, and so are columns without values in at least
//! [`EMPTY_ROWS`] rows. Without a header, text is an error, unless [`Layout::only_numeric`] is set.

use super::cells::{CellStyle, decimal_sign, unquoted};
use super::contents::{Contents, MOST_UNIT_LINES};
use super::sniff::Look;
use crate::columns::{free_columns, select};
use crate::layout::Selector;
use crate::reader::{Columns, Error, Fault, InputSource, Layout, quoted};
use crate::reading::{Reading, TwoStates};
use crate::recode::text_of;
use crate::time_format::{Found, TimeFormat, is_compact_time_of_day, is_time_of_day, names_time};
use csv::ByteRecord;
use std::cmp::Ordering;

const LIST: &str = " in the header";
const EMPTY_ROWS: usize = 5;

/// Selected columns, properties of the table, and selected columns without numbers in the first lines.
type Settled = (Columns, Reading, Vec<usize>);

pub struct FirstLines<'a> {
    pub input: &'a InputSource,
    pub layout: &'a Layout,
    pub first: &'a ByteRecord,
    pub look: &'a Look,
    pub style: &'a CellStyle,
}

impl FirstLines<'_> {
    pub fn settle(&self, like: Option<&Columns>) -> Result<Settled, Error> {
        let names: Vec<String> = self.first.iter().map(|cell| unquoted(&text_of(cell)).to_owned()).collect();
        match like {
            Some(like) => self.settle_later(names, like),
            None => FirstLines { layout: &self.with_clock(&names), ..*self }.settle_first(names),
        }
    }

    fn settle_later(&self, names: Vec<String>, like: &Columns) -> Result<Settled, Error> {
        let fault = |fault| self.input.fault(fault);
        let count = names.len();
        let is_named = like.names.as_ref().is_some_and(|first| names.iter().all(|name| first.contains(name)));
        let is_wordy = |column: &usize| self.first.get(*column).is_some_and(|cell| self.style.is_word(cell));
        let is_number = |column: &usize| self.first.get(*column).is_some_and(|cell| self.has_number(cell));
        let is_header = || like.selected.iter().any(is_wordy) && !like.selected.iter().any(is_number);
        let has_header = self.layout.header.unwrap_or_else(|| is_named || is_header());
        let columns = if has_header {
            if like.names.is_none() {
                return Err(fault(Fault::Table("must have no header, like the first file".to_owned())));
            }
            like.of_later(names, self.layout, LIST).map_err(fault)?
        } else if like.count != count {
            return Err(fault(Fault::OtherWidth { expected: like.count, found: count }));
        } else {
            like.clone()
        };
        let unit_lines = if has_header { self.unit_lines() as u64 } else { 0 };
        Ok((columns, Reading { has_header, unit_lines, ..self.look.reading.clone() }, Vec::new()))
    }

    fn contents(&self, first: usize) -> Contents<'_> {
        Contents { rows: self.look.lines.get(first..).unwrap_or_default(), style: self.style }
    }

    fn unit_lines(&self) -> usize {
        self.contents(1).unit_lines(|cell| self.form(&[&text_of(cell)]) != Found::Nothing)
    }

    fn settle_first(&self, names: Vec<String>) -> Result<Settled, Error> {
        let Self { input, layout, style, .. } = self;
        let fault = |fault| input.fault(fault);
        let (count, found) = (names.len(), layout.found.as_ref());
        let free = free_columns(Some(&names), count, layout, LIST).map_err(fault)?;
        let has_header = match (layout.header, found) {
            (Some(has_header), _) => has_header,
            (None, Some(found)) => found.has_header,
            (None, None) => self.has_header(&names, free.first().copied())?,
        };
        let unit_lines = match found {
            Some(found) => found.unit_lines.min(MOST_UNIT_LINES as u64) as usize,
            None if has_header => self.unit_lines(),
            None => 0,
        };
        let contents = self.contents(usize::from(has_header) + unit_lines);
        let rows = contents.rows;
        let is_used = layout.keep.len() + layout.columns.len() + layout.exclude.len() > 0;
        // The key alone does not say which other columns are meant.
        let beside_key = layout.keep.len().saturating_sub(usize::from(layout.has_key));
        let is_selected = beside_key + layout.columns.len() + layout.exclude.len() > 0;
        let may_leave_out = found.is_none() && has_header && !is_selected;
        let is_free = |column: &usize| may_leave_out && !layout.is_of_model(&names[*column]);
        let is_counter = |column: &usize| is_free(column) && contents.is_counter(*column, &names[*column]);
        let mut counters: Vec<usize> = (0..count).filter(is_counter).collect();
        if layout.time.is_none() {
            counters.extend(contents.date_parts(&names).into_iter().filter(is_free));
        }
        let free: Vec<usize> = free.into_iter().filter(|column| !counters.contains(column)).collect();
        let known = has_header.then_some(names);
        let times = self.time_column(rows, known.as_deref(), &free)?;
        let has_numbers =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).any(|cell| style.looks_numeric(cell));
        if let (true, None, Some(names), Some(time)) = (layout.leaves_out() && !is_used, found, &known, times.position)
        {
            let free = |column: &usize| *column != time && Some(*column) != times.clock && !counters.contains(column);
            let (values, texts): (Vec<usize>, Vec<usize>) =
                (0..count).filter(free).partition(|column| has_numbers(*column));
            let tagged = texts.iter().find_map(|tag| Some((*tag, contents.tags(time, *tag)?)));
            if let ([value], Some((tag, tags))) = (values.as_slice(), tagged) {
                let [time, tag, value] = [time, tag, *value].map(|column| names[column].clone());
                return Err(fault(Fault::Table(format!(
                    "is a long table: {tags} tags in the column {tag} and one value in each row; --pivot \
                     {time},{tag},{value} makes a column of each tag, --columns {value} reads the rows as they are"
                ))));
            }
        }
        let state = |column: usize| Some(TwoStates { position: column, words: contents.two_states(column)? });
        let states = match found {
            Some(found) => found.states.clone(),
            None if has_header => (0..count).filter(|column| !has_numbers(*column)).filter_map(state).collect(),
            None => Vec::new(),
        };
        let is_state = |column: usize| states.iter().any(|state| state.position == column);
        let holds_text = |column: usize| match found {
            Some(found) => found.left_out.contains(&column),
            None if counters.contains(&column) || !times.is_used && times.position == Some(column) => true,
            None => {
                let mut cells = rows.iter().filter_map(|row| row.get(column));
                match cells.all(|cell| style.is_missing(cell)) {
                    true => rows.len() >= EMPTY_ROWS,
                    false => !has_numbers(column) && !is_state(column) && (has_header || layout.only_numeric),
                }
            }
        };
        let mut columns = select(known, count, &times.layout, LIST, holds_text).map_err(fault)?;
        let wordy = columns.selected.iter().copied().filter(|column| !has_numbers(*column)).collect();
        columns.states = states.into_iter().filter(|state| columns.selected.contains(&state.position)).collect();
        // The shortest of these lines contains the units.
        let lines = &self.look.lines[usize::from(has_header).min(self.look.lines.len())..];
        let units = lines.iter().take(unit_lines).min_by_key(|line| line.as_slice().len());
        let units = units.map(|line| line.iter().map(|cell| text_of(cell.trim_ascii()).into_owned()).collect());
        let own = &self.look.reading.cell_units;
        columns.units = units.or_else(|| own.iter().any(|unit| !unit.is_empty()).then(|| own.clone()));
        let (time_format, unit_lines) = (times.format, unit_lines as u64);
        let reading = Reading { has_header, time_format, unit_lines, step: times.step, ..self.look.reading.clone() };
        Ok((columns, reading, wordy))
    }

    fn has_header(&self, names: &[String], free: Option<usize>) -> Result<bool, Error> {
        let layout = self.layout;
        // All columns are examined, because the text columns are not known yet.
        let every =
            Layout { only_numeric: false, keeps_text: true, model_columns: None, items: None, ..layout.clone() };
        let selected = select(Some(names.to_vec()), names.len(), &every, LIST, |_| false);
        let selected = selected.map_err(|fault| self.input.fault(fault))?.selected;
        // The columns of a model may have numbers as names.
        let model = layout.model_columns.as_ref();
        let of_model = model.is_some_and(|wanted| wanted.iter().all(|name| names.contains(name)));
        if layout.names_columns() || of_model {
            return Ok(true);
        }
        let (words, others): (Vec<usize>, Vec<usize>) =
            selected.into_iter().partition(|column| self.style.is_word(&self.first[*column]));
        let is_time = |column: &usize| Some(*column) == free && self.form(&[&names[*column]]) != Found::Nothing;
        let numbers: Vec<usize> = others.into_iter().filter(|column| self.has_number(&self.first[*column])).collect();
        if model.is_none() && self.are_labels(&numbers) {
            let few: Vec<&str> = numbers.iter().take(3).map(|column| names[*column].as_str()).collect();
            return Err(self.input.fault(Fault::Table(format!(
                "line 1 may be a header or a row: its numbers, {}, …, are unlike those below; --header or \
                 --no-header settles it",
                few.join(", ")
            ))));
        }
        Ok(!words.is_empty() && numbers.is_empty() && !words.iter().any(is_time))
    }

    /// Returns true if a cell contains a number with digits. Words such as `inf` do not count.
    fn has_number(&self, cell: &[u8]) -> bool {
        self.style.looks_numeric(cell) && cell.iter().any(u8::is_ascii_digit)
    }

    /// Returns true if the numbers are in order, and each is whole above fractions or far outside the range below it.
    fn are_labels(&self, columns: &[usize]) -> bool {
        const FEWEST_ROWS: usize = 3;
        const FAR: f64 = 20.0;
        let rows = self.look.lines.get(1..).unwrap_or_default();
        let labels: Vec<f64> = columns.iter().filter_map(|column| self.style.number(&self.first[*column])).collect();
        let is_ordered = |order: Ordering| labels.windows(2).all(|pair| pair[0].partial_cmp(&pair[1]) == Some(order));
        let differs = |(column, label): (&usize, &f64)| {
            let cells: Vec<&[u8]> = rows.iter().filter_map(|row| row.get(*column)).collect();
            let below: Vec<f64> = cells.iter().filter_map(|cell| self.style.number(cell)).collect();
            let least = below.iter().copied().fold(f64::INFINITY, f64::min);
            let most = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let is_whole = decimal_sign(&self.first[*column]).is_none();
            let is_other_type = is_whole && cells.iter().all(|cell| decimal_sign(cell).is_some());
            let is_far = most > least && (label - least).abs().min((label - most).abs()) > FAR * (most - least);
            below.len() >= FEWEST_ROWS && (is_other_type || is_far)
        };
        labels.len() > 1
            && labels.len() == columns.len()
            && (is_ordered(Ordering::Less) || is_ordered(Ordering::Greater))
            && columns.iter().zip(&labels).all(differs)
    }

    /// Returns the time format of these cells: that of the layout if all cells match it, or a detected one.
    fn form(&self, cells: &[&str]) -> Found {
        match &self.layout.time_format {
            None => TimeFormat::find(cells),
            Some(format) if !cells.is_empty() && cells.iter().all(|cell| format.seconds(cell).is_some()) => {
                Found::Format(format.clone())
            }
            Some(_) => Found::Nothing,
        }
    }
}

const SEARCHED: usize = 8;

#[derive(Default)]
struct TimeColumn {
    layout: Layout,
    format: Option<TimeFormat>,
    position: Option<usize>,
    is_used: bool,
    clock: Option<usize>,
    step: Option<f64>,
}

impl FirstLines<'_> {
    fn time_column(&self, rows: &[ByteRecord], names: Option<&[String]>, free: &[usize]) -> Result<TimeColumn, Error> {
        let mut layout = self.layout.clone();
        if let Some(found) = &layout.found {
            let time = found.time.filter(|_| layout.time.is_none()).map(Selector::Position);
            let format = layout.time_format.clone().or_else(|| found.time_format.clone());
            layout.clock =
                layout.clock.take().or(found.clock.filter(|_| layout.time.is_none()).map(Selector::Position));
            layout.time = layout.time.take().or(time);
            return Ok(TimeColumn { layout, format, ..TimeColumn::default() });
        }
        let given = self.position(names, layout.time.as_ref())?;
        let tried = given.as_ref().map_or(free, std::slice::from_ref);
        for (i, &position) in tried.iter().enumerate() {
            let name = names.map(|names| names[position].as_str());
            let is_named = name.is_some_and(names_time);
            if i >= SEARCHED && !is_named {
                continue;
            }
            let cells: Vec<_> = rows.iter().filter_map(|row| row.get(position)).map(text_of).collect();
            let is_there = |cell: &&str| !self.style.is_missing(cell.as_bytes());
            let there: Vec<&str> = cells.iter().map(AsRef::as_ref).filter(is_there).collect();
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
            let is_of_model = name.is_some_and(|name| layout.is_of_model(name));
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
                    let (position, format) = (Some(position), Some(format));
                    return Ok(TimeColumn { layout, format, position, is_used, clock, step });
                }
                Found::Ambiguous { cell, readings } if is_used && (given.is_some() || i == 0 || is_named) => {
                    let label = name.map_or(String::new(), |name| format!(" ({})", quoted(name)));
                    let place = format!("{}, column {position}{label}", self.input.name());
                    return Err(Error::at(place, Fault::ambiguous(&cell, readings)));
                }
                Found::Nothing | Found::Ambiguous { .. } => {}
            }
        }
        Ok(TimeColumn { layout, ..TimeColumn::default() })
    }

    /// Splits a time column `DATE CLOCK` that the table does not have if it has the columns `DATE` and `CLOCK`.
    fn with_clock(&self, names: &[String]) -> Layout {
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

    /// Returns the column of times of day such as `080000`, with the name of a time, next to a column of dates.
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
    use crate::format::{Format, Source};
    use crate::layout::Layout;
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
