//! Columns, header and times of a CSV table, determined from the first lines.
//!
//! **Header.** The first line is a header if columns are selected by name, if it contains the column names of a model, or if its
//! selected cells contain a word and neither a number nor a time. Numbers that look like labels, such as years over measurements,
//! are refused: an option must say whether they are names.
//!
//! **Text.** If the table has a header, a column is left out if none of its cells in the first rows is a number, or if it is an
//! index of the rows. A column is also left out if at least [`EMPTY_ROWS`] cells are all missing. Without a header, text is an
//! error.

use super::cells::{CellStyle, decimal_sign};
use super::sniff::Look;
use crate::columns::{Columns, select};
use crate::error::{Error, Fault, quoted};
use crate::input_source::InputSource;
use crate::layout::{Layout, Selector};
use crate::recode::text_of;
use crate::selectors::first_free;
use crate::time_format::{Found, TimeFormat};
use csv::ByteRecord;
use std::cmp::Ordering;

const LIST: &str = " in the header";
/// Minimum number of rows from which a column without values counts as empty.
const EMPTY_ROWS: usize = 5;

/// Properties determined from the first lines.
pub struct Settled {
    pub columns: Columns,
    pub has_header: bool,
    pub time_format: Option<TimeFormat>,
    /// Selected columns without a number in the first lines.
    pub wordy: Vec<usize>,
}

/// First lines of a table, with the notation of their cells.
pub struct FirstLines<'a> {
    pub input: &'a InputSource,
    pub layout: &'a Layout,
    pub first: &'a ByteRecord,
    pub look: &'a Look,
    pub style: &'a CellStyle,
}

impl FirstLines<'_> {
    /// Determines the properties of the table. If `like` is given, the table continues one with these columns.
    pub fn settle(&self, like: Option<&Columns>) -> Result<Settled, Error> {
        let names: Vec<String> = self.first.iter().map(|cell| text_of(cell.trim_ascii()).into_owned()).collect();
        match like {
            Some(like) => self.settle_later(names, like),
            None => self.settle_first(names),
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
                return Err(fault(Fault::LaterHeader));
            }
            like.of_later(names, self.layout, LIST).map_err(fault)?
        } else if like.count != count {
            return Err(fault(Fault::OtherWidth { expected: like.count, found: count }));
        } else {
            like.clone()
        };
        Ok(Settled { columns, has_header, time_format: None, wordy: Vec::new() })
    }

    fn settle_first(&self, names: Vec<String>) -> Result<Settled, Error> {
        let Self { input, layout, style, .. } = self;
        let fault = |fault| input.fault(fault);
        let count = names.len();
        let free = first_free(Some(&names), count, layout, LIST).map_err(fault)?;
        let has_header = match (layout.header, &layout.found) {
            (Some(has_header), _) => has_header,
            (None, Some(found)) => found.has_header,
            (None, None) => self.has_header(&names, free)?,
        };
        let rows = self.look.lines.get(usize::from(has_header)..).unwrap_or_default();
        let has_index = has_header && self.has_index(&names, rows);
        let free = if has_index && free == Some(0) { Some(1).filter(|next| *next < count) } else { free };
        let known = has_header.then_some(names);
        let (layout, time_format) = self.with_time(rows, known.as_deref(), free)?;
        let has_numbers =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).any(|cell| style.looks_numeric(cell));
        let holds_text = |column: usize| match &layout.found {
            Some(found) => found.left_out.contains(&column),
            None if has_index && column == 0 => true,
            None => {
                let mut cells = rows.iter().filter_map(|row| row.get(column));
                match cells.all(|cell| style.is_missing(cell)) {
                    true => rows.len() >= EMPTY_ROWS,
                    false => !has_numbers(column) && (has_header || layout.only_numeric),
                }
            }
        };
        let columns = select(known, count, &layout, LIST, holds_text).map_err(fault)?;
        let wordy = columns.selected.iter().copied().filter(|column| !has_numbers(*column)).collect();
        Ok(Settled { columns, has_header, time_format, wordy })
    }

    /// Returns true if the first column is an index of the rows, as pandas writes it: without a name, and each number is
    /// one more than the number before it.
    fn has_index(&self, names: &[String], rows: &[ByteRecord]) -> bool {
        const FEWEST: usize = 3;
        let number = |row: &ByteRecord| self.style.number(row.get(0)?);
        let numbers: Vec<f64> = rows.iter().map_while(number).collect();
        let is_used = self.layout.keep.len() + self.layout.columns.len() + self.layout.exclude.len() > 0;
        names.first().is_some_and(String::is_empty)
            && !is_used
            && numbers.len() == rows.len()
            && numbers.len() >= FEWEST
            && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0)
    }

    /// Returns true if the first line is a header. `free` is the column that may be the time column.
    fn has_header(&self, names: &[String], free: Option<usize>) -> Result<bool, Error> {
        let layout = self.layout;
        // Every column is examined, because the text columns are not known yet.
        let every =
            Layout { only_numeric: false, leave_out_text: false, model_columns: None, items: None, ..layout.clone() };
        let selected = select(Some(names.to_vec()), names.len(), &every, LIST, |_| false);
        let selected = selected.map_err(|fault| self.input.fault(fault))?.selected;
        // The columns of a model may be called 1 and 2.
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
            return Err(self.input.fault(Fault::DoubtfulHeader(few.join(", "))));
        }
        Ok(!words.is_empty() && numbers.is_empty() && !words.iter().any(is_time))
    }

    /// Returns true if a cell contains a number in digits. Words such as `inf` are no numbers here.
    fn has_number(&self, cell: &[u8]) -> bool {
        self.style.looks_numeric(cell) && cell.iter().any(u8::is_ascii_digit)
    }

    /// Returns true if the numbers of the first line, in these columns, look like labels: they ascend or descend, and each differs
    /// from the numbers below it. It is a whole number over fractions, or far outside their range.
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

    /// Returns the time format of these cells: the given format if all cells match it, or else the detected one.
    fn form(&self, cells: &[&str]) -> Found {
        match &self.layout.time_format {
            None => TimeFormat::find(cells),
            Some(format) if !cells.is_empty() && cells.iter().all(|cell| format.seconds(cell).is_some()) => {
                Found::Format(format.clone())
            }
            Some(_) => Found::Nothing,
        }
    }

    /// Returns the layout with its time column, and the time format. The time column is the one that the layout names,
    /// or `free` if that contains times.
    fn with_time(
        &self,
        rows: &[ByteRecord],
        names: Option<&[String]>,
        free: Option<usize>,
    ) -> Result<(Layout, Option<TimeFormat>), Error> {
        let mut layout = self.layout.clone();
        if let Some(found) = &layout.found {
            let time = found.time.filter(|_| layout.time.is_none()).map(Selector::Position);
            layout.time = layout.time.take().or(time);
            let format = layout.time_format.clone().or_else(|| found.time_format.clone());
            return Ok((layout, format));
        }
        let given = match &layout.time {
            None => None,
            Some(time) => {
                // This layout selects only the time column, to find its position.
                let only = Layout { columns: vec![time.clone()], ..Layout::new(layout.format) };
                let found = select(names.map(<[_]>::to_vec), self.first.len(), &only, LIST, |_| false);
                found.map_err(|fault| self.input.fault(fault))?.selected.first().copied()
            }
        };
        let Some(position) = given.or(free) else { return Ok((layout, None)) };
        let cells: Vec<_> = rows.iter().filter_map(|row| row.get(position)).map(text_of).collect();
        let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
        let there: Vec<&str> = cells.iter().copied().filter(|cell| !self.style.is_missing(cell.as_bytes())).collect();
        let mut form = self.form(&there);
        if form == Found::Nothing && given.is_some() {
            // Rows with an invalid time are bad and do not affect the format of the others.
            let times: Vec<&str> = there.iter().copied().filter(|cell| self.form(&[cell]) != Found::Nothing).collect();
            form = self.form(&times);
        }
        let name = names.map(|names| names[position].as_str());
        let is_name = |column: &String| Some(column.as_str()) == name;
        let is_of_model = layout.model_columns.as_ref().is_some_and(|columns| columns.iter().any(is_name));
        match form {
            // Numbers are times only if the user says so, or if they can hardly be anything else.
            Found::Format(format)
                if given.is_none()
                    && format.is_number()
                    && layout.time_format.is_none()
                    && (is_of_model || !format.is_clock(&there, name)) =>
            {
                Ok((layout, None))
            }
            Found::Format(format) => {
                layout.time.get_or_insert(Selector::Position(position));
                Ok((layout, Some(format)))
            }
            Found::Nothing => Ok((layout, None)),
            Found::Ambiguous { cell, readings } => {
                let label = names.map_or(String::new(), |names| format!(" ({})", quoted(&names[position])));
                let place = format!("{}, column {position}{label}", self.input.name());
                Err(Error::at(place, Fault::ambiguous(cell, readings)))
            }
        }
    }
}
